// Lists and ranges of steps and tolerances as users write them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/fields.hpp"
#include "stickslip/study.hpp"

namespace stickslip {

namespace {

constexpr std::size_t max_values = 64;  // a list longer than this is a slip of the keyboard
constexpr double whole = 1e-9;          // how near a number of divisions must be to a whole one

std::vector<std::string> split(const std::string& text, const std::string& mark) {
    std::vector<std::string> parts;
    for (std::size_t from = 0;;) {
        const auto at = text.find(mark, from);
        std::string part = text.substr(from, at == std::string::npos ? at : at - from);
        part.erase(0, part.find_first_not_of(" \t"));
        part.erase(part.find_last_not_of(" \t") + 1);
        parts.push_back(std::move(part));
        if (at == std::string::npos) return parts;
        from = at + mark.size();
    }
}

double positive(const std::string& text, const Place& place) {
    const double value = parse_number(text, place);
    if (!(value > 0) || !std::isfinite(value))
        throw Error(fmt::format("expected a positive number, got '{}'", text), place);
    return value;
}

// n with coarse = fine * divisor^n, or -1.
int divisions(double coarse, double fine, double divisor) {
    const double n = std::log(coarse / fine) / std::log(divisor);
    return std::abs(n - std::round(n)) < whole && n > -0.5 ? static_cast<int>(std::round(n)) : -1;
}

void check_count(double n, const std::string& text, const Place& place) {
    if (n > max_values)
        throw Error(fmt::format("'{}' has more than {} values; choose a larger divisor, as in 0.1../10..1e-5", text,
                                max_values),
                    place);
}

std::vector<double> range(const std::string& text, const Place& place) {
    const std::vector<std::string> parts = split(text, "..");
    if (parts.size() < 2 || parts.size() > 3 || parts.front().empty() || parts.back().empty())
        throw Error(fmt::format("expected a range like 2^-5..2^-11, 1e-2..1e-4 or 0.1../3..0.1/27, got '{}'", text),
                    place);
    const bool given = parts.size() == 3;
    double from = positive(parts.front(), place), to = positive(parts.back(), place), divisor = 2;
    if (from < to)
        throw Error(
            fmt::format("'{}' rises; ranges run from coarse to fine: {}..{}", text, parts.back(), parts.front()),
            place);
    int n = -1;
    const auto power = [](const std::string& part) { return part.substr(0, part.find('^')); };
    if (given) {
        if (!parts[1].starts_with('/'))
            throw Error(fmt::format("expected a divisor like /3 in the middle of the range, got '{}'", parts[1]),
                        place);
        divisor = parse_number(parts[1].substr(1), place);
        if (!(divisor > 1) || !std::isfinite(divisor))
            throw Error(fmt::format("the divisor of a range must be above 1, got '{}'", parts[1]), place);
        n = divisions(from, to, divisor);
        if (n < 0) {
            const double steps = std::round(std::log(from / to) / std::log(divisor));
            throw Error(fmt::format("dividing {} by {} never gives {}; the nearest it comes to is {:.6g}", parts[0],
                                    divisor, parts[2], from * std::pow(divisor, -steps)),
                        place);
        }
    } else if (parts[0].find('^') != std::string::npos && parts[1].find('^') != std::string::npos &&
               power(parts[0]) == power(parts[1]) && parse_number(power(parts[0]), place) > 1) {
        divisor = parse_number(power(parts[0]), place);
        n = divisions(from, to, divisor);
    }
    for (const double d : {2.0, 10.0})
        if (n < 0) {
            divisor = d;
            n = divisions(from, to, d);
        }
    if (n < 0)
        throw Error(
            fmt::format("neither halves nor tenths lead from {} to {}; name the divisor, as in {}../{:.4g}..{}, "
                        "or list the values",
                        parts[0], parts[1], parts[0], from / to, parts[1]),
            place);
    check_count(n, text, place);
    std::vector<double> values;
    for (int i = 0; i <= n; ++i) values.push_back(i == n ? to : from / std::pow(divisor, i));
    return values;
}

}  // namespace

std::vector<double> parse_steps(const std::string& text, const Place& place) {
    std::vector<double> values;
    for (const std::string& part : split(text, ",")) {
        if (part.find("..") != std::string::npos) {
            for (const double value : range(part, place)) values.push_back(value);
        } else {
            values.push_back(positive(part, place));
        }
        check_count(static_cast<double>(values.size()), text, place);
    }
    std::sort(values.begin(), values.end(), std::greater<>());
    for (std::size_t i = 1; i < values.size(); ++i)
        if (values[i - 1] == values[i]) throw Error(fmt::format("{} stands twice in '{}'", values[i], text), place);
    return values;
}

std::vector<double> parse_times(const std::string& text, const Place& place) {
    std::vector<double> times;
    for (const std::string& part : split(text, ",")) times.push_back(positive(part, place));
    std::sort(times.begin(), times.end());
    for (std::size_t i = 1; i < times.size(); ++i)
        if (times[i - 1] == times[i]) throw Error(fmt::format("{} stands twice in '{}'", times[i], text), place);
    return times;
}

}  // namespace stickslip
