#include "plot/text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace stickslip::plot {

namespace {

// Length of the valid UTF-8 character at `text[i]`, 0 if there is none: no overlong forms, surrogates, or ends that are
// missing.
std::size_t character_length(std::string_view text, std::size_t i) {
    const auto byte = [&](std::size_t k) -> unsigned { return static_cast<unsigned char>(text[k]); };
    const unsigned c = byte(i);
    if (c < 0x80) return 1;
    const std::size_t n = c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;
    if (n == 0 || i + n > text.size()) return 0;
    for (std::size_t k = i + 1; k < i + n; ++k)
        if ((byte(k) & 0xc0) != 0x80) return 0;
    const unsigned second = byte(i + 1);
    if ((c == 0xe0 && second < 0xa0) || (c == 0xed && second > 0x9f) || (c == 0xf0 && second < 0x90) ||
        (c == 0xf4 && second > 0x8f))
        return 0;
    if (c == 0xef && second == 0xbf && byte(i + 2) >= 0xbe) return 0;  // U+FFFE, U+FFFF are no XML
    return n;
}

constexpr std::string_view replacement = "\xef\xbf\xbd";  // U+FFFD
constexpr std::string_view ellipsis = "\xe2\x80\xa6";

// [em] of DejaVu Sans, in steps that are never too small.
double character_width(unsigned char c) {
    if (c >= 0x80) return 0.66;
    if (std::string_view("ijl|!'.,:;I ()[]ft/\\-").find(static_cast<char>(c)) != std::string_view::npos) return 0.42;
    if (std::string_view("mwMWOQ@%#+=<>~_&").find(static_cast<char>(c)) != std::string_view::npos) return 0.99;
    if (c >= 'A' && c <= 'Z') return 0.77;
    return 0.64;
}

}  // namespace

std::string escape(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t n = character_length(text, i);
        if (n != 1) {
            out += n == 0 ? replacement : text.substr(i, n);
            i += n == 0 ? 1 : n;
            continue;
        }
        const char c = text[i++];
        switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            case '\'': out += "&#39;"; break;
            case '\n':
            case '\r':
            case '\t': out += ' '; break;
            default:
                if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
                    out += replacement;
                else
                    out += c;
        }
    }
    return out;
}

std::string coordinate(double x) {
    // Farther out nobody draws; a browser would round it to single precision anyhow.
    if (!std::isfinite(x) || std::abs(x) > 1e6) return "0";
    const long tenths = std::lround(10 * x);
    const long whole = std::labs(tenths) / 10, rest = std::labs(tenths) % 10;
    std::string text = tenths < 0 ? "-" : "";
    text += std::to_string(whole);
    if (rest) text += "." + std::to_string(rest);
    return text;
}

std::string number(double x, int digits) {
    if (std::isnan(x)) return "not a number";
    if (std::isinf(x)) return x > 0 ? "infinite" : "-infinite";
    if (x == 0) return "0";
    std::string text = fmt::format("{:.{}g}", x, digits);
    const auto e = text.find('e');
    if (e == std::string::npos) return text;
    int exponent = std::atoi(text.c_str() + e + 1);
    // 1.2e+04 has no more digits than 12000
    if (exponent > 0 && exponent < 6) return fmt::format("{:.0f}", std::strtod(text.c_str(), nullptr));
    return fmt::format("{}e{}", text.substr(0, e), exponent);
}

std::string counted(long long n, std::string_view noun) { return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s"); }

std::string power_of_ten(int exponent) {
    static constexpr std::string_view digits[] = {"\xe2\x81\xb0", "\xc2\xb9",     "\xc2\xb2",     "\xc2\xb3",
                                                  "\xe2\x81\xb4", "\xe2\x81\xb5", "\xe2\x81\xb6", "\xe2\x81\xb7",
                                                  "\xe2\x81\xb8", "\xe2\x81\xb9"};
    std::string text = "10";
    if (exponent < 0) text += "\xe2\x81\xbb";
    for (const char c : std::to_string(std::abs(exponent))) text += digits[c - '0'];
    return text;
}

double text_width(std::string_view text, double size) {
    double em = 0;
    for (const char c : text)
        if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) em += character_width(static_cast<unsigned char>(c));
    return em * size;
}

std::string shortened(std::string_view text, double size, double width) {
    if (text_width(text, size) <= width) return std::string(text);
    double used = size;  // the ellipsis
    std::size_t end = 0;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t n = std::max<std::size_t>(1, character_length(text, i));
        used += text_width(text.substr(i, n), size);
        if (used > width) break;
        end = i += n;
    }
    return std::string(text.substr(0, end)).append(ellipsis);
}

}  // namespace stickslip::plot
