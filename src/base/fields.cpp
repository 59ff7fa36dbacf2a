#include "base/fields.hpp"

#include <algorithm>

namespace stickslip {

namespace {

// One plain number with nothing behind it, or false.
bool plain_number(std::string_view text, double& x) {
    if (!text.empty() && text.front() == '+') text.remove_prefix(1);
    if (text.empty() || text.front() == '+') return false;
    if (text == "inf" || text == ".inf") return x = INFINITY, true;
    if (text == "-inf" || text == "-.inf") return x = -INFINITY, true;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
    return error == std::errc() && end == text.data() + text.size() && std::isfinite(x);
}

}  // namespace

double parse_number(const std::string& text, const Place& place) {
    double x = 0;
    if (plain_number(text, x)) return x;
    // The two forms step sizes are written in: a fraction and a power.
    for (const char sign : {'/', '^'}) {
        const auto at = text.find(sign);
        double left = 0, right = 0;
        if (at == std::string::npos || !plain_number(std::string_view(text).substr(0, at), left) ||
            !plain_number(std::string_view(text).substr(at + 1), right))
            continue;
        const double value = sign == '/' ? left / right : std::pow(left, right);
        if (std::isfinite(value)) return value;
    }
    throw Error(fmt::format("expected a number (like 0.5, 1e-3, 1/60, 2^-5), got '{}'", text), place);
}

int parse_integer(const std::string& text, const Place& place) {
    int x = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
    if (text.empty() || error != std::errc() || end != text.data() + text.size())
        throw Error(fmt::format("expected a whole number, got '{}'", text), place);
    return x;
}

bool parse_bool(const std::string& text, const Place& place) {
    if (text == "true" || text == "yes" || text == "on") return true;
    if (text == "false" || text == "no" || text == "off") return false;
    throw Error(fmt::format("expected true or false, got '{}'", text), place);
}

std::string to_text(const FromScene& x) {
    if (x.given) return to_text(*x.given);
    Tolerances all;
    std::string text;
    all.fields([&](const char* name, double& member, const char*, const char*) {
        if (&member == &(all.*x.tolerance)) text = fmt::format("tolerances.{}", name);
    });
    return text;
}

void require(bool good, const char* what, const OptionValues& values, const char* key) {
    if (good) return;
    Place place;
    for (const OptionValue& value : values)
        if (value.key == key) place = value.place;
    throw Error(what, place);
}

void assign(Choice& member, const OptionValue& value) {
    const auto found = std::find(member.words.begin(), member.words.end(), value.text);
    if (found == member.words.end())
        throw unknown_name("choice for " + value.key, value.text, member.words, value.place);
    member.index = static_cast<int>(found - member.words.begin());
}

}  // namespace stickslip
