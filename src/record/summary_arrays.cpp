#include "record/summary_arrays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "record/record_layout.hpp"
#include "record/verdict_text.hpp"

namespace stickslip {

void SummaryArrays::create(Hdf5File& file) {
    static constexpr std::array<std::uint64_t, summary_counts> counts{};
    static constexpr std::array<double, summary_figures> figures{};
    static constexpr std::array<double, StepTimers::arrows> timers{};
    static constexpr std::array<std::uint8_t, 16> hash{};
    static constexpr std::array<std::uint8_t, reason_length> reason{};
    static constexpr std::array<std::uint8_t, warnings_length> warnings{};
    static constexpr std::array<std::uint8_t, cone_length> cone{};
    static constexpr std::array<std::uint8_t, verdict_length> verdict{};
    counts_ = file.write<std::uint64_t>("summary/counts", counts);
    file.set_attribute("summary/counts", "names",
                         "end\nsteps\nrejected\nsolves\ncertified_steps\ncontacts_max\n"
                         "impact_gains\nenergy_bound_violations\nunlocated_events\nparadox_steps\nsubstepped");
    file.set_attribute("summary/counts", "about", "end: 0 finished, 1 refused, 2 interrupted");
    figures_ = file.write<double>("summary/figures", figures);
    file.set_attribute("summary/figures", "names",
                         "t [s]\nwall [s]\nstep_mean [ms]\nstep_p50 [ms]\nstep_p99 [ms]\nstep_max [ms]\n"
                         "residual_max [m/s]\nresidual_mean [m/s]\ngap_violation_max [m]\n"
                         "joint_violation_position_max [m, rad]\njoint_violation_velocity_max [m/s, rad/s]\n"
                         "contacts_mean [1]\nvariation [m/s, rad/s]\nvariation_weighted [m/s, rad/s]\nimpact_gain [J]");
    timers_ = file.write<double>("summary/timers", timers);
    file.set_attribute("summary/timers", "unit", "s");
    file.set_attribute("summary/timers", "names", "find\nfill\nsolve\nadvance\nbook");
    hash_ = file.write<std::uint8_t>("summary/hash", hash);
    file.set_attribute("summary/hash", "about", "FNV-1a of the final t, q, v; hexadecimal digits, ASCII");
    reason_ = file.write<std::uint8_t>("summary/reason", reason);
    file.set_attribute("summary/reason", "about", "why a run was refused; UTF-8, padded with zeros");
    warnings_ = file.write<std::uint8_t>("summary/warnings", warnings);
    file.set_attribute("summary/warnings", "about", "a line each; UTF-8, padded with zeros");
    cone_ = file.write<std::uint8_t>("summary/cone", cone);
    file.set_attribute("summary/cone", "about", "friction cone; UTF-8, padded with zeros");
    verdict_ = file.write<std::uint8_t>("summary/verdict", verdict);
    file.set_attribute("summary/verdict", "about",
                         "status, then per line a reason (kind value limit sentence) or a remark; UTF-8, padded with "
                         "zeros");
    static constexpr std::array<std::uint64_t, rung_count> ladder{};
    ladder_ = file.write<std::uint64_t>("summary/ladder", ladder);
    std::array<const char*, rung_count> names{};
    for (std::size_t i = 0; i < rung_count; ++i) names[i] = to_string(static_cast<Rung>(i));
    file.set_attribute("summary/ladder", "names", fmt::format("{}", fmt::join(names, "\n")));
    file.set_attribute("summary/ladder", "about", "islands that each rung of the solver answered for");
    static constexpr std::array<std::uint64_t, summary_arrays.size()> checks{};
    checks_ = file.write<std::uint64_t>("summary/checks", checks);
    file.set_attribute("summary/checks", "names", fmt::format("{}", fmt::join(summary_arrays, "\n")));
}

void SummaryArrays::write(const RunSummary& s) {
    const std::array<std::uint64_t, summary_counts> counts{static_cast<std::uint64_t>(s.end),
                                                           static_cast<std::uint64_t>(s.steps),
                                                           static_cast<std::uint64_t>(s.rejected),
                                                           static_cast<std::uint64_t>(s.solves),
                                                           static_cast<std::uint64_t>(s.certified_steps),
                                                           static_cast<std::uint64_t>(s.contacts.max),
                                                           static_cast<std::uint64_t>(s.impact_gains.count),
                                                           static_cast<std::uint64_t>(s.energy_bound_violations),
                                                           static_cast<std::uint64_t>(s.unlocated_events),
                                                           static_cast<std::uint64_t>(s.paradox_steps),
                                                           static_cast<std::uint64_t>(s.substepped)};
    counts_.write_rows(0, counts.size(), counts.data());
    const std::array<double, summary_figures> figures{s.t,
                                                      s.wall_s,
                                                      s.step_ms.mean,
                                                      s.step_ms.p50,
                                                      s.step_ms.p99,
                                                      s.step_ms.max,
                                                      s.residual.max,
                                                      s.residual.mean,
                                                      s.gap_violation_max,
                                                      s.joint_violation.position_max,
                                                      s.joint_violation.velocity_max,
                                                      s.contacts.mean,
                                                      s.variation.v,
                                                      s.variation.v_weighted,
                                                      s.impact_gains.energy};
    figures_.write_rows(0, figures.size(), figures.data());
    timers_.write_rows(0, s.timers.seconds.size(), s.timers.seconds.data());
    std::array<std::uint8_t, 16> hash{};
    std::memcpy(hash.data(), s.hash.data(), std::min(hash.size(), s.hash.size()));
    hash_.write_rows(0, hash.size(), hash.data());
    std::array<std::uint8_t, reason_length> reason{};
    std::memcpy(reason.data(), s.reason.data(), std::min(reason.size(), s.reason.size()));
    reason_.write_rows(0, reason.size(), reason.data());
    const std::string all_warnings = fmt::format("{}", fmt::join(s.warnings, "\n"));
    std::array<std::uint8_t, warnings_length> warnings{};
    std::memcpy(warnings.data(), all_warnings.data(), std::min(warnings.size(), all_warnings.size()));
    warnings_.write_rows(0, warnings.size(), warnings.data());
    std::array<std::uint8_t, cone_length> cone{};
    std::memcpy(cone.data(), s.cone.data(), std::min(cone.size(), s.cone.size()));
    cone_.write_rows(0, cone.size(), cone.data());
    const std::string verdict_lines = verdict_text(s.verdict, verdict_length);
    std::array<std::uint8_t, verdict_length> verdict{};
    std::memcpy(verdict.data(), verdict_lines.data(), verdict_lines.size());
    verdict_.write_rows(0, verdict.size(), verdict.data());
    std::array<std::uint64_t, rung_count> ladder{};
    std::copy(s.ladder.begin(), s.ladder.end(), ladder.begin());
    ladder_.write_rows(0, ladder.size(), ladder.data());
    const std::array<std::uint64_t, summary_arrays.size()> checks{
        fnv1a_words(counts.data(), sizeof(counts)),
        fnv1a_words(figures.data(), sizeof(figures)),
        fnv1a_words(s.timers.seconds.data(), s.timers.seconds.size() * sizeof(double)),
        fnv1a_words(hash.data(), hash.size()),
        fnv1a_words(reason.data(), reason.size()),
        fnv1a_words(warnings.data(), warnings.size()),
        fnv1a_words(cone.data(), cone.size()),
        fnv1a_words(verdict.data(), verdict.size()),
        fnv1a_words(ladder.data(), sizeof(ladder))};
    checks_.write_rows(0, checks.size(), checks.data());
}

void SummaryArrays::abandon() {
    for (Hdf5Dataset* d :
         {&counts_, &figures_, &timers_, &hash_, &reason_, &warnings_, &cone_, &verdict_, &ladder_, &checks_})
        d->abandon();
}

}  // namespace stickslip
