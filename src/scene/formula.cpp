#include "scene/formula.hpp"

#include <fmt/format.h>
#include <muParser.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <memory>

#include "base/fields.hpp"

namespace stickslip {

namespace {

const std::vector<std::string> functions = {"sin",  "cos",  "tan",  "asin", "acos", "atan",  "atan2",
                                            "sinh", "cosh", "tanh", "exp",  "ln",   "log10", "sqrt",
                                            "abs",  "sign", "min",  "max",  "rint"};

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

std::shared_ptr<Compiled> compile(const std::string& text, const Place& place) {
    auto compiled = std::make_shared<Compiled>();
    try {
        compiled->parser.DefineVar("t", &compiled->t);
        compiled->parser.DefineConst("pi", 3.141592653589793238462643);
        compiled->parser.SetExpr(text);
        compiled->parser.Eval();
        if (compiled->parser.GetNumResults() != 1) refuse(text, "a comma outside of a function's arguments", place);
    } catch (const mu::Parser::exception_type& e) {
        std::string why = e.GetMsg();
        if (!why.empty() && why.back() == '.') why.pop_back();
        if (!why.empty()) why[0] = static_cast<char>(std::tolower(why[0]));
        refuse(text, why, place);
    }
    return compiled;
}

}  // namespace

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

std::string close_formula(const std::string& given, const std::vector<Scene::Parameter>& parameters, bool of_time,
                          const Place& place) {
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
            std::size_t end = i;
            while (end < text.size() && (is_letter(text[end]) || is_digit(text[end]))) ++end;
            const std::string word = text.substr(i, end - i);
            i = end;
            const auto parameter = std::find_if(parameters.begin(), parameters.end(),
                                                [&](const Scene::Parameter& p) { return p.name == word; });
            if (parameter != parameters.end()) {
                closed += fmt::format("({:.17g})", parameter->value);  // 17 digits give the same bits back
                continue;
            }
            if (word == "t" && !of_time) refuse(text, "only loads may depend on the time t", place);
            if (!is_formula_word(word)) {
                std::vector<std::string> names;
                for (const Scene::Parameter& p : parameters) names.push_back(p.name);
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

double evaluate_number(const std::string& text, const std::vector<Scene::Parameter>& parameters, const Place& place) {
    for (const char* word :
         {"nan", ".nan", ".NaN", "NaN", "inf", "-inf", "+inf", ".inf", "-.inf", "+.inf", "infinity", "Inf", "-Inf"})
        if (text == word) throw Error(fmt::format("expected a finite number, found '{}'", text), place);
    double value = 0;
    const auto formula = [&] { return compile(close_formula(text, parameters, false, place), place)->parser.Eval(); };
    // In a formula -3^2 is -9; parse_number would take the sign first.
    if (text.starts_with('-') && text.find('^') != std::string::npos) {
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

std::function<double(double)> compile_formula(const Scene::Formula& formula) {
    const auto compiled = compile(formula.text, formula.place);
    return [compiled](double t) {
        compiled->t = t;
        return compiled->parser.Eval();
    };
}

}  // namespace stickslip
