#include "scene/formula.hpp"

#include <fmt/format.h>
#include <muParser.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <memory>

#include "base/fields.hpp"
#include "stickslip/edit.hpp"

namespace stickslip {

namespace {

const std::vector<std::string> functions = {"sin",  "cos",  "tan",  "asin", "acos", "atan",  "atan2",
                                            "sinh", "cosh", "tanh", "exp",  "ln",   "log10", "sqrt",
                                            "abs",  "sign", "min",  "max",  "rint", "floor", "mod"};

constexpr std::size_t max_length = 2000;  // longer is no formula but a mistake

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// Past the number that starts at i: digits, point, exponent.
std::size_t skip_number(const std::string& text, std::size_t i) {
    while (i < text.size() && (is_digit(text[i]) || text[i] == '.')) ++i;
    if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
        std::size_t j = i + 1;
        if (j < text.size() && (text[j] == '+' || text[j] == '-')) ++j;
        if (j < text.size() && is_digit(text[j])) {
            while (j < text.size() && is_digit(text[j])) ++j;
            return j;
        }
    }
    return i;
}

[[noreturn]] void refuse(const std::string& text, const std::string& why, const Place& place) {
    const std::string shown = text.size() <= 60 ? text : text.substr(0, 60) + "...";
    throw Error(fmt::format("expected a number or a formula, found '{}': {}", shown, why), place);
}

struct Compiled {
    double t = 0;
    mu::Parser parser;
};

double floor_of(double x) { return std::floor(x); }
double modulo(double a, double b) { return a - b * std::floor(a / b); }

// Once per parser: that costs more than a formula.
void define(Compiled& compiled) {
    compiled.parser.DefineVar("t", &compiled.t);
    compiled.parser.DefineConst("pi", 3.141592653589793238462643);
    compiled.parser.DefineFun("floor", floor_of);
    compiled.parser.DefineFun("mod", modulo);
}

double set_expression(Compiled& compiled, const std::string& text, const Place& place) {
    try {
        compiled.parser.SetExpr(text);
        const double value = compiled.parser.Eval();
        if (compiled.parser.GetNumResults() != 1) refuse(text, "a comma outside of a function's arguments", place);
        return value;
    } catch (const mu::Parser::exception_type& e) {
        std::string why = e.GetMsg();
        if (!why.empty() && why.back() == '.') why.pop_back();
        if (!why.empty()) why[0] = static_cast<char>(std::tolower(why[0]));
        refuse(text, why, place);
    }
}

// Of a formula without t.
double evaluate_closed(const std::string& text, const Place& place) {
    thread_local const auto shared = [] {
        auto compiled = std::make_unique<Compiled>();
        define(*compiled);
        return compiled;
    }();
    return set_expression(*shared, text, place);
}

// Past the word that starts at i.
std::size_t skip_word(const std::string& text, std::size_t i) {
    while (i < text.size() && (is_letter(text[i]) || is_digit(text[i]))) ++i;
    return i;
}

}  // namespace

std::optional<double> Names::find(const std::string& word) const {
    if (indices)
        for (const IndexValue& index : *indices)
            if (index.name == word) return index.value;
    for (const Scene::Parameter& parameter : parameters)
        if (parameter.name == word) return parameter.value;
    return std::nullopt;
}

std::vector<std::string> Names::all() const {
    std::vector<std::string> names;
    if (indices)
        for (const IndexValue& index : *indices) names.push_back(index.name);
    for (const Scene::Parameter& parameter : parameters) names.push_back(parameter.name);
    return names;
}

void check_parameter_name(const std::string& name, const char* what, const Place& place) {
    const auto fine = [&](char c) { return is_letter(c) || is_digit(c); };
    if (name.empty() || name.size() > 60 || !is_letter(name[0]) || !std::all_of(name.begin(), name.end(), fine))
        throw Error(fmt::format("expected {} name of letters, digits and _, found '{}'", what, name.substr(0, 60)),
                    place);
    if (is_formula_word(name))
        throw Error(fmt::format("'{}' has a meaning in formulas, choose another name", name), place);
}

std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words;
    for (std::size_t i = 0; i < text.size();) {
        if (is_digit(text[i]) || text[i] == '.') {
            i = skip_number(text, i);
        } else if (is_letter(text[i])) {
            const std::size_t end = skip_word(text, i);
            words.push_back(text.substr(i, end - i));
            i = end;
        } else {
            ++i;
        }
    }
    return words;
}

bool is_formula_word(const std::string& name) {
    return name == "t" || name == "pi" || std::find(functions.begin(), functions.end(), name) != functions.end();
}

bool depends_on_time(const std::string& closed) {
    const auto part_of_word = [&](std::size_t i) {
        return i < closed.size() && (is_letter(closed[i]) || is_digit(closed[i]));
    };
    for (std::size_t i = closed.find('t'); i != std::string::npos; i = closed.find('t', i + 1))
        if (!(i > 0 && part_of_word(i - 1)) && !part_of_word(i + 1)) return true;
    return false;
}

std::string close_formula(const std::string& given, const Names& known, bool of_time, const Place& place) {
    // A leading `=` marks a formula where a word could stand too, and is allowed everywhere.
    const std::string text = !given.empty() && given.front() == '=' ? given.substr(1) : given;
    if (text.size() > max_length) refuse(text, fmt::format("it is longer than {} characters", max_length), place);
    std::string closed;
    for (std::size_t i = 0; i < text.size();) {
        const char c = text[i];
        if (is_digit(c) || c == '.') {
            const std::size_t end = skip_number(text, i);
            double value = 0;
            const auto [last, error] = std::from_chars(text.data() + i, text.data() + end, value);
            const std::string digits = text.substr(i, end - i);
            if (error == std::errc::result_out_of_range)
                refuse(text, digits + " is beyond what a double can hold", place);
            if (error != std::errc() || last != text.data() + end)
                refuse(text, "'" + digits + "' is not a number", place);
            closed += digits;
            i = end;
        } else if (is_letter(c)) {
            const std::size_t end = skip_word(text, i);
            const std::string word = text.substr(i, end - i);
            i = end;
            if (const std::optional<double> value = known.find(word)) {
                closed += fmt::format("({:.17g})", *value);  // 17 digits give the same bits back
                continue;
            }
            if (word == "t" && !of_time)
                refuse(text, "only formulas of loads, motors and brakes may depend on the time t", place);
            if (!is_formula_word(word)) {
                std::vector<std::string> names = known.all();
                if (of_time) names.emplace_back("t");
                names.emplace_back("pi");
                names.insert(names.end(), functions.begin(), functions.end());
                const Error unknown = unknown_name("parameter", word, names);
                refuse(text, unknown.what(), place);
            }
            closed += word;
        } else {
            // `=` alone would assign, quotes would make strings; the rest the parser judges.
            const bool comparison =
                c == '=' && ((i + 1 < text.size() && text[i + 1] == '=') ||
                             (i > 0 && std::string_view("=<>!").find(text[i - 1]) != std::string_view::npos));
            if ((c == '=' && !comparison) ||
                std::string_view("+-*/^()<>=!&|?:, \t\n").find(c) == std::string_view::npos)
                refuse(text, fmt::format("unexpected '{}'", c), place);
            closed += c;
            ++i;
        }
    }
    return closed;
}

double evaluate_number(const std::string& text, const Names& names, const Place& place) {
    for (const char* word :
         {"nan", ".nan", ".NaN", "NaN", "inf", "-inf", "+inf", ".inf", "-.inf", "+.inf", "infinity", "Inf", "-Inf"})
        if (text == word) throw Error(fmt::format("expected a finite number, found '{}'", text), place);
    // A name alone is by far the most frequent formula.
    if (const std::optional<double> known = names.find(text); known && std::isfinite(*known)) return *known;
    double value = 0;
    const auto formula = [&] { return evaluate_closed(close_formula(text, names, false, place), place); };
    // In a formula -3^2 is -9; parse_number would take the sign first.
    const bool plain = text.find_first_not_of("0123456789.+-eE/^") == std::string::npos;
    if (!plain || (text.starts_with('-') && text.find('^') != std::string::npos)) {
        value = formula();
    } else {
        try {
            value = parse_number(text, place);
        } catch (const Error&) {
            value = formula();
        }
    }
    if (!std::isfinite(value))
        throw Error(fmt::format("expected a finite number, found '{}' = {}", text, value), place);
    return value;
}

Scene::Formula Edit::constant(double x) { return {fmt::format("{}", x), {}, x}; }

std::function<double(double)> compile_formula(const Scene::Formula& formula) {
    const auto compiled = std::make_shared<Compiled>();
    define(*compiled);
    set_expression(*compiled, formula.text, formula.place);
    return [compiled](double t) {
        compiled->t = t;
        return compiled->parser.Eval();
    };
}

}  // namespace stickslip
