// The first event on the way of a trial, the step again so that it ends there, and what the event says about the modes.
#include <algorithm>
#include <cmath>

#include "schemes/event_driven/event_step.hpp"

namespace stickslip {

namespace {

constexpr int max_corrections = 8;   // of the time of an event
constexpr double sample_steps = 25;  // `step`s between two looks at what may happen on the way
constexpr int min_samples = 4, max_samples = 40;
constexpr int max_doubts = 4;               // signs of forces that are not unique, overruled by the instant problem
constexpr double largest_correction = 0.2;  // of a step; larger ones come from functions that are not smooth
constexpr double time_rounding = 1e-16;     // relative

}  // namespace

void EventStep::watch() {
    const SmoothStep& smooth = w_.smooth;
    const int samples =
        std::clamp(static_cast<int>(std::ceil(h_ / (sample_steps * options_.step))), min_samples, max_samples);
    w_.watch.plan(system_, w_.motion, smooth.end);
    fraction_ = w_.watch.first(system_, w_.motion, smooth, w_.open, samples, *s_.finder);
    for (int round = 0; round < max_doubts && fraction_ <= 1 && w_.watch.doubtful(); ++round) {
        const double sample = std::min(1.0, std::ceil(samples * fraction_ + 1e-9) / samples);
        if (!agrees_at(sample)) break;
        w_.watch.trust(sample);
        fraction_ = w_.watch.first(system_, w_.motion, smooth, w_.open, samples, *s_.finder);
    }
    stopwatch_.lap(StepTimers::find);
}

// The step that is accepted: to the event found, or as it was tried.
void EventStep::locate() {
    if (fraction_ <= 0) {  // modes that do not hold even at the start, whatever was decided
        fraction_ = Watch::no_event;
        certify();
        holds_ = false;
    }
    proposed_ = adaptive() ? next_length(h_, error_) : 0;
    if (event()) {
        if (!estimate_impact()) correct_length();
        holds_ = certify();
        read_hints();
    }
    if (!holds_) {
        ++report_.unlocated;
        outcome_.stuck = true;
    }
}

// The step again to the event, its length corrected until the function that vanishes there is zero at its end.
void EventStep::correct_length() {
    SmoothStep& smooth = w_.smooth;
    const Watch::Function f = w_.watch.which();
    const double longest = smooth.h;
    const auto value = [&] { return Watch::value(system_, w_.motion, smooth.end, f); };
    double h = fraction_ * longest, h_before = longest, value_before = value(), best_h = h, best = infinity;
    for (int round = 0; round < max_corrections; ++round) {
        if (!take(h, true)) break;
        const double now = value();
        if (std::abs(now) < best) {
            best = std::abs(now);
            best_h = h;
        } else if (round > 1) {
            break;  // no more digits in it
        }
        if (now == 0) break;
        double slope = (now - value_before) / (h - h_before);
        if (f.kind == Watch::Kind::gap) {
            list_gaps(system_.nodes(), smooth.end.contacts, smooth.v1, s_.memory, w_.row_speed, w_.open);
            const int at = find(w_.open, f.id);
            if (at >= 0 && w_.open[at].rate != 0) slope = w_.open[at].rate;
        }
        h_before = h;
        value_before = now;
        const double change = -now / slope;
        if (!std::isfinite(change) || std::abs(change) > largest_correction * h) break;
        if (std::abs(change) <= time_rounding * (std::abs(x_.t) + h)) break;
        h = std::min(h + change, longest);
    }
    if (smooth.h != best_h) take(best_h, true);
}

void EventStep::read_hints() {
    w_.hints.clear();
    const MotionPoint& end = w_.smooth.end;
    if (w_.watch.which().kind == Watch::Kind::gap) return;
    w_.watch.together(system_, w_.motion, end, w_.triggers);
    for (const Watch::Function& f : w_.triggers) {
        switch (f.kind) {
            case Watch::Kind::take_off: w_.hints.released.push_back(f.id); break;
            case Watch::Kind::stop: w_.hints.stopped.push_back(f.id); break;
            case Watch::Kind::release: {
                const Vec2 against = w_.motion.contact_force(f.index, end).tail<2>();
                if (against.norm() > 0) w_.hints.sliding.push_back({f.id, true, Vec2(-against.normalized())});
                break;
            }
            case Watch::Kind::row_release: {
                const int row = w_.motion.imposed_row(f.index, end);
                if (row < 0) break;
                const double up = end.joints.force_upper[f.index] - end.y[row];
                const double down = end.y[row] - end.joints.force_lower[f.index];
                w_.hints.giving.push_back({f.index, static_cast<signed char>(up < down ? 1 : -1)});
                break;
            }
            case Watch::Kind::edge: pass_edge(f.index); break;
            default: break;
        }
    }
}

}  // namespace stickslip
