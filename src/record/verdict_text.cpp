#include "record/verdict_text.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <string_view>

namespace stickslip {

namespace {

constexpr std::string_view status_word = "status ", reason_word = "reason ", remark_word = "remark ";
constexpr std::string_view doubtful_warning = "doubtful: ";

bool read_reason(const std::string& text, Verdict& verdict) {
    const std::size_t kind_end = text.find(' ');
    if (kind_end == std::string::npos) return false;
    char *value_end = nullptr, *limit_end = nullptr;
    const double value = std::strtod(text.c_str() + kind_end, &value_end);
    const double limit = std::strtod(value_end, &limit_end);
    if (value_end == text.c_str() + kind_end || limit_end == value_end || *limit_end != ' ') return false;
    verdict.grounds.push_back({text.substr(0, kind_end), value, limit});
    verdict.reasons.emplace_back(limit_end + 1);
    return true;
}

}  // namespace

std::string verdict_text(const Verdict& verdict, std::size_t room) {
    std::string text;
    bool full = false;
    const auto add = [&](std::string line) {
        for (char& c : line)
            if (c == '\n' || c == '\0') c = ' ';
        full = full || text.size() + line.size() + 1 > room;
        if (!full) text += (text.empty() ? "" : "\n") + line;
    };
    add(fmt::format("{}{}", status_word, to_string(verdict.status)));
    for (std::size_t i = 0; i < verdict.reasons.size() && i < verdict.grounds.size(); ++i) {
        const Verdict::Ground& ground = verdict.grounds[i];
        add(fmt::format("{}{} {} {} {}", reason_word, ground.kind, ground.value, ground.limit, verdict.reasons[i]));
    }
    for (const std::string& remark : verdict.remarks) add(fmt::format("{}{}", remark_word, remark));
    return text;
}

bool read_verdict(const std::vector<std::string>& lines, Verdict& verdict) {
    verdict = {};
    bool known = false;
    for (const std::string& line : lines) {
        if (line.starts_with(status_word)) {
            for (const Trust trust : std::array{Trust::trusted, Trust::doubtful, Trust::refused})
                if (line.substr(status_word.size()) == to_string(trust)) {
                    verdict.status = trust;
                    known = true;
                }
        } else if (line.starts_with(reason_word)) {
            if (!read_reason(line.substr(reason_word.size()), verdict)) return false;
        } else if (line.starts_with(remark_word)) {
            verdict.remarks.push_back(line.substr(remark_word.size()));
        } else {
            return false;
        }
    }
    return known;
}

Verdict verdict_of_warnings(const RunSummary& s) {
    Verdict verdict;
    if (s.end == RunEnd::refused) verdict.reasons.push_back(s.reason);
    for (const std::string& warning : s.warnings)
        if (warning.starts_with(doubtful_warning)) verdict.reasons.push_back(warning.substr(doubtful_warning.size()));
    if (!s.certified || !verdict.reasons.empty()) verdict.status = Trust::doubtful;
    if (s.end == RunEnd::refused) verdict.status = Trust::refused;
    return verdict;
}

}  // namespace stickslip
