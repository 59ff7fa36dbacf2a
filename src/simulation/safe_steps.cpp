#include "simulation/safe_steps.hpp"

#include <algorithm>

namespace stickslip {

namespace {

// How often a step is taken again because bodies were faster than they seemed.
constexpr int most_attempts = 8;
// Of a step: a limit that is nearer than this to its end is none.
constexpr double rounding = 1e-6;

}  // namespace

// The time up to which a step from here is safe, by the velocities at hand.
double SafeSteps::limit(const SteppedRun& run, double t_limit) {
    const double t = run.state.t, left = t_limit - t;
    const double horizon = std::min(left, run.scheme.longest_step());
    run.step.guard->slack_share = run.scheme.locates_collisions() ? PassingGuard::shallow : PassingGuard::deep;
    const StepMemory& memory = run.step.memory;
    held_.clear();
    for (std::size_t i = 0; i < memory.contact.size(); ++i)
        if (memory.mode[i] != ContactMode::open) held_.push_back(memory.contact[i]);
    const double safe = run.system.safe_time(run.state.q, run.state.v, memory.v_rate, held_, horizon, *run.step.guard);
    return safe < (1 - rounding) * horizon ? t + safe : t_limit;
}

// [s] The part of the step just taken, of length h, that is safe by the way the bodies have gone in it.
double SafeSteps::moved_safely(const SteppedRun& run, double h) {
    const Step& s = run.step;
    mean_ = s.dq / h;
    if (s.middle.t > s.t0) mean_ += s.middle.dq / h;
    return run.system.safe_time(s.q0, mean_, none_, held_, h, *run.step.guard);
}

// [s] Where in the step just taken, of length h, two bodies overlapped that are apart at its ends; h: nowhere. The path is the parabola that
// begins with v and ends where the step does, or, of a step in two parts, the straight line of moved_safely().
double SafeSteps::first_clip(const SteppedRun& run, double h) {
    const Step& s = run.step;
    if (s.guard->foreseen) return h;
    const bool parts = s.middle.t > s.t0;
    if (!parts) rate_ = (2 / h) * (s.dq / h - s.v0);
    run.step.guard->clips = true;
    const double clip =
        run.system.safe_time(s.q0, parts ? mean_ : s.v0, parts ? none_ : rate_, held_, h, *run.step.guard);
    run.step.guard->clips = false;
    return clip;
}

StepReport SafeSteps::take(const SteppedRun& run, const Checkpoint& start, double t_limit) {
    const double t = run.state.t;
    double end = limit(run, t_limit);
    int rejected = 0, solves = 0;
    for (int attempt = 0;; ++attempt) {
        run.step.guard->foreseen = false;
        StepReport report = run.scheme.step(run.system, run.solver, run.state, end, run.step);
        report.solves += solves;
        report.rejected += rejected;
        const double h = run.state.t - t;
        if (report.status != Status::ok || !(h > 0) || attempt == most_attempts) return report;
        const double safe = moved_safely(run, h);
        const bool passes = safe < (1 - rounding) * h;
        const double clip = passes ? h : first_clip(run, h);
        const bool clips = clip < (1 - rounding) * h;
        if (!passes && !clips && report.retake == 0) return report;
        start.go_back(run.state, run.step);
        solves = report.solves;
        rejected = report.rejected + 1;
        if (report.retake > 0) run.step.scheme_work->shorten(report.retake);
        if (passes) end = t + std::max(safe, h / 4);
        if (clips) end = t + clip;
    }
}

}  // namespace stickslip
