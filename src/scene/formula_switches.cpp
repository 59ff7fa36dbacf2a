// Where a formula may jump: its comparisons, and the functions sign, floor, rint and mod. Each becomes a formula of its own whose value
// is constant between jumps. Found by scanning the text: an operand of a comparison reaches to the next comparison, comma, ?, :, && or ||
// outside of its own brackets.
#include <string_view>

#include "scene/formula.hpp"

namespace stickslip {

namespace {

constexpr std::string_view comparison_signs = "<>=!";

bool ends_operand(char c) { return std::string_view("<>=!?:,&|").find(c) != std::string_view::npos; }

// The place where the operand that ends before `i` begins.
std::size_t operand_begin(const std::string& text, std::size_t i) {
    int depth = 0;
    while (i > 0) {
        const char c = text[i - 1];
        if (c == ')') ++depth;
        if (c == '(' && --depth < 0) break;
        if (depth == 0 && ends_operand(c)) break;
        --i;
    }
    return i;
}

// Past the operand that begins at i.
std::size_t operand_end(const std::string& text, std::size_t i) {
    int depth = 0;
    while (i < text.size()) {
        const char c = text[i];
        if (c == '(') ++depth;
        if (c == ')' && --depth < 0) break;
        if (depth == 0 && ends_operand(c)) break;
        ++i;
    }
    return i;
}

// The comma of a call's two arguments, in [i, end).
std::size_t comma_in(const std::string& text, std::size_t i, std::size_t end) {
    int depth = 0;
    for (; i < end; ++i) {
        if (text[i] == '(') ++depth;
        if (text[i] == ')') --depth;
        if (text[i] == ',' && depth == 0) return i;
    }
    return end;
}

// The end of the bracket that is open before i.
std::size_t bracket_end(const std::string& text, std::size_t i) {
    int depth = 1;
    for (; i < text.size(); ++i) {
        if (text[i] == '(') ++depth;
        if (text[i] == ')' && --depth == 0) break;
    }
    return i;
}

void add_calls(const std::string& text, const std::string& name, std::vector<std::string>& found) {
    const auto part_of_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
        std::size_t open = at + name.size();
        while (open < text.size() && text[open] == ' ') ++open;
        if ((at > 0 && part_of_word(text[at - 1])) || open == text.size() || text[open] != '(') continue;
        const std::size_t end = bracket_end(text, open + 1);
        const std::string inside = text.substr(open + 1, end - open - 1);
        if (name != "mod") {
            found.push_back(name + "(" + inside + ")");
            continue;
        }
        const std::size_t comma = comma_in(inside, 0, inside.size());
        if (comma < inside.size())
            found.push_back("floor((" + inside.substr(0, comma) + ")/(" + inside.substr(comma + 1) + "))");
    }
}

}  // namespace

std::vector<std::function<double(double)>> compile_switches(const Scene::Formula& formula) {
    const std::string& text = formula.text;
    std::vector<std::string> found;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (comparison_signs.find(text[i]) == std::string_view::npos) continue;
        std::size_t after = i + 1;
        while (after < text.size() && text[after] == '=') ++after;
        const std::size_t begin = operand_begin(text, i), end = operand_end(text, after);
        found.push_back(text.substr(begin, end - begin));
        i = after - 1;
    }
    for (const char* name : {"sign", "floor", "rint", "mod"}) add_calls(text, name, found);
    std::vector<std::function<double(double)>> switches;
    for (const std::string& part : found)
        if (depends_on_time(part)) switches.push_back(compile_formula({part, formula.place, {}}));
    return switches;
}

}  // namespace stickslip
