#include "stickslip/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "stickslip/files.hpp"
#include "stickslip/types.hpp"

namespace stickslip {

std::string Place::text() const {
    if (file.empty()) return {};
    if (line <= 0) return file;
    return fmt::format("{}:{}:{}", file, line, column);
}

std::string printable(std::string_view text) {
    std::string shown;
    shown.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const unsigned char c = static_cast<unsigned char>(text[i]);
        // The second set of control characters, U+0080 to U+009F, is 0xc2 and this byte in UTF-8.
        const bool second_set = c == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) >= 0x80 &&
                                static_cast<unsigned char>(text[i + 1]) <= 0x9f;
        if (second_set)
            shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[++i]));
        else if (c < 0x20 || c == 0x7f)
            shown += fmt::format("\\x{:02x}", c);
        else
            shown += text[i];
    }
    return shown;
}

Error::Error(const std::string& message, Place place)
    : std::runtime_error(printable(place.text().empty() ? message : place.text() + ": " + message)),
      place_(std::move(place)) {}

namespace {

// Edits (insert, delete, replace, swap of neighbours) that turn a into b.
int edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<int>> d(a.size() + 1, std::vector<int>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) {
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                d[i][j] = static_cast<int>(i + j);
                continue;
            }
            d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
        }
    }
    return d[a.size()][b.size()];
}

}  // namespace

Error unknown_name(std::string_view what, std::string_view given, const std::vector<std::string>& valid, Place place) {
    const std::string* nearest = nullptr;
    int least = 1 + std::max<int>(1, static_cast<int>(given.size()) / 3);
    for (const std::string& name : valid) {
        const int distance = edit_distance(given, name);
        if (distance < least) {
            least = distance;
            nearest = &name;
        }
    }
    std::string message = fmt::format("no {} '{}'", what, given);
    if (nearest) message += fmt::format(", did you mean '{}'?", *nearest);
    if (valid.empty()) return Error(message, std::move(place));
    constexpr std::size_t most = 24;  // a longer list hides the message
    message += fmt::format(" (valid: {}", fmt::join(valid.begin(), valid.begin() + std::min(valid.size(), most), ", "));
    message += valid.size() > most ? ", ...)" : ")";
    return Error(message, std::move(place));
}

const char* to_string(Status status) {
    switch (status) {
        case Status::ok: return "ok";
        case Status::not_converged: return "not_converged";
        case Status::infeasible: return "infeasible";
        case Status::stalled: return "stalled";
        case Status::diverged: return "diverged";
    }
    return "?";
}

const char* to_string(ContactMode mode) {
    switch (mode) {
        case ContactMode::open: return "open";
        case ContactMode::stick: return "stick";
        case ContactMode::slip: return "slip";
        case ContactMode::impact: return "impact";
    }
    return "?";
}

const char* to_string(EventKind kind) {
    switch (kind) {
        case EventKind::impact: return "impact";
        case EventKind::take_off: return "take-off";
        case EventKind::stick_to_slip: return "stick-to-slip";
        case EventKind::slip_to_stick: return "slip-to-stick";
        case EventKind::load_switch: return "load-switch";
        case EventKind::add: return "add";
        case EventKind::remove: return "remove";
        case EventKind::attach: return "attach";
        case EventKind::cut: return "cut";
        case EventKind::drive: return "drive";
        case EventKind::accumulation: return "accumulation";
        case EventKind::edge: return "edge";
        case EventKind::method_switch: return "method-switch";
    }
    return "?";
}

const char* to_string(SwitchReason reason) {
    switch (reason) {
        case SwitchReason::none: return "none";
        case SwitchReason::impacts: return "impacts";
        case SwitchReason::friction: return "friction";
        case SwitchReason::edge: return "edge";
        case SwitchReason::forces: return "forces";
        case SwitchReason::open: return "open";
        case SwitchReason::closed: return "closed";
    }
    return "?";
}

void assertion_failed(const char* condition, const char* words, const char* file, int line) {
    std::fprintf(stderr, "%s:%d: bug in stickslip: %s (%s)\n", file, line, words, condition);
    std::abort();
}

}  // namespace stickslip
