#include "simulation/substeps.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "simulation/policy.hpp"

namespace stickslip {

namespace {

constexpr int most_parts = 4;      // two halvings. With more an attempt that fails costs more than it is worth
// Contacts of the islands that failed, above which parts are not tried: seven more solves of that size would take many seconds.
constexpr int most_contacts = 300;
constexpr int longest_pause = 32;  // steps. If longer, trouble that sub-steps would cure goes on for longer
// Steps that a part may take, since schemes stop at events. If smaller, schemes that locate events are never tried in parts.
constexpr int most_steps_of_a_part = 8;

}  // namespace

void Substeps::Attempt::see(const StepReport& report) {
    if (report.status == Status::ok) return;
    ++uncertified;
    const double share = report.solve.residual.max() / judged_by(report.solve, default_tolerance);
    residual = std::isnan(share) ? infinity : std::max(residual, share);
}

bool Substeps::Attempt::better_than(const Attempt& other) const {
    return std::tie(wrong, uncertified, residual) < std::tie(other.wrong, other.uncertified, other.residual);
}

// The end of the part in which t lies. The last one ends where the whole step did, to the bit: later steps stay on their grid.
double Substeps::next_end(double t) const {
    for (int k = 1; k < memory.parts; ++k) {
        const double end = memory.from + (memory.to - memory.from) * k / memory.parts;
        if (t < end) return end;
    }
    return memory.to;
}

StepReport Substeps::part(const SteppedRun& run) {
    part_start_.keep(run.state, run.step);
    return safe_.take(run, part_start_, next_end(run.state.t));
}

bool Substeps::go_on(const SteppedRun& run, StepReport& report) {
    if (memory.parts == 1) return false;
    report = part(run);
    report.parts = memory.parts;
    if (run.state.t >= memory.to) memory.parts = 1;
    return true;
}

void Substeps::rest() { memory.pause = std::max(0, memory.pause - 1); }

Substeps::Attempt Substeps::attempt(int parts, const SteppedRun& run, const WrongMotion& wrong, StepReport& spent) {
    memory.parts = parts;
    Attempt tried{.parts = parts};
    for (int taken = 0; run.state.t < memory.to; ++taken) {
        if (taken == most_steps_of_a_part * parts) tried.wrong = true;
        if (tried.wrong) break;
        const StepReport report = part(run);
        spent.solves += report.solves;
        spent.rejected += report.rejected + 1;
        tried.see(report);
        tried.wrong = !wrong(report).empty();
    }
    return tried;
}

void Substeps::improve(const SteppedRun& run, const Checkpoint& start, double t_limit, const WrongMotion& wrong,
                       StepReport& report) {
    if (memory.pause > 0) return rest();
    if (report.solve.uncertified_contacts > most_contacts) return;
    memory.from = start.state().t;
    memory.to = run.state.t;
    const double shortest = (memory.to - memory.from) / most_parts;
    if (!(memory.from + shortest > memory.from && memory.to - shortest < memory.to)) return;  // an impact, or too short

    Attempt best;
    best.see(report);
    best.wrong = !wrong(report).empty();
    StepReport spent;
    spent.solves = report.solves;
    spent.rejected = report.rejected + 1;
    for (int parts = 2; parts <= most_parts && (best.wrong || best.uncertified > 0); parts *= 2) {
        start.go_back(run.state, run.step);
        const Attempt tried = attempt(parts, run, wrong, spent);
        if (tried.better_than(best)) best = tried;
    }
    const bool helps = !best.wrong && best.uncertified == 0;
    memory.last_pause = helps ? 0 : std::clamp(2 * memory.last_pause, 2, longest_pause);
    memory.pause = memory.last_pause;
    helped += helps;

    // The best attempt is taken again, now for good. The same start gives the same bits.
    start.go_back(run.state, run.step);
    memory.parts = best.parts;
    if (!go_on(run, report)) report = whole(run, start, t_limit);
    report.solves += spent.solves;
    report.rejected += spent.rejected;
}

}  // namespace stickslip
