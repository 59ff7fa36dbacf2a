// The laws of one scheme on one model in two runs. The first goes through: every step closes the ledger, is certified, keeps its
// impulses in their cones and its events in its time, and on the way snapshots are taken. The second comes to the same
// snapshots: once in a new object, resumed in the middle, and once in the first object from the start, without allocating.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "problems/speed_scale.hpp"
#include "stickslip/simulation.hpp"
#include "support/allocations.hpp"

namespace stickslip {

// Numbers of steps.
struct LawfulLengths {
    std::vector<long> marks{47, 137, 400, 600};       // snapshots; up to the last of them the run must not allocate
    long through = std::numeric_limits<long>::max();  // the first run; fewer where the model ends before
    bool event_times = false;                         // events must lie in their steps
    long fewest = 100;                                // a shorter run would not say much
};

inline bool was_edited(const Step& step) {
    return std::any_of(step.events.begin(), step.events.end(), [](const Event& e) { return is_edit(e.kind); });
}

// The first contact whose impulse lies outside its cone; empty if there is none.
inline std::string outside_its_cone(const StepProblem& problem, const StepSolution& solution) {
    for (int i = 0; i < problem.contacts.size(); ++i) {
        const int row = problem.contacts.jacobian.row[i], dim = problem.contacts.jacobian.dim(i);
        const double normal = solution.p[row], friction = problem.contacts.friction[i];
        double tangential = 0;
        for (int k = 1; k < dim; ++k) tangential = std::hypot(tangential, solution.p[row + k]);
        const double slack = 1e-9 * (1 + normal);
        if (!(normal >= -slack) || !(tangential <= friction * normal + slack))
            return fmt::format("contact {}: normal impulse {:.17g}, tangential {:.17g}, friction {}", i, normal,
                               tangential, friction);
    }
    return {};
}

// The law that the last step broke, with numbers; empty if it kept all of them.
inline std::string broken_law(const Step& step, bool event_times) {
    const EnergyLedger& ledger = step.ledger;
    if (!(std::abs(ledger.imbalance()) <= 1e-12 * ledger.scale()))
        return fmt::format("ledger: {:.3g} J of {:.3g} J are not accounted for", ledger.imbalance(), ledger.scale());
    if (const std::string what = outside_its_cone(step.problem, step.solution); !what.empty()) return "cones: " + what;
    // Schemes that take whole steps are judged in proportion to speeds and loads.
    VecX velocity;
    RowVec speed;
    const double allowed = std::max(default_tolerance, default_share * judged_speed(step.problem, step.guess, speed_scale(step.problem, velocity, speed)));
    if (const double left = residual(step.problem, step.solution).max(); !(left <= allowed))
        return fmt::format("certificate: residual {:.3g} m/s", left);
    double largest = 0;  // what rounding of the others may leave in a contact without load
    for (const ContactRecord& contact : step.contacts) largest = std::max(largest, contact.impulse[0]);
    for (const ContactRecord& contact : step.contacts)
        if (!(contact.impulse[0] >= -1e-9 - 1e-16 * largest))
            return fmt::format("cones: a contact pulled with {:.3g} N s", contact.impulse[0]);
    for (const Event& event : step.events) {
        if (!event_times) break;
        if (is_edit(event.kind) || event.kind == EventKind::accumulation) continue;  // that lies ahead
        if (!(event.t >= step.t0 && event.t <= step.t1))
            return fmt::format("events: one at {:.17g} s in a step from {:.17g} to {:.17g} s", event.t, step.t0,
                               step.t1);
    }
    return {};
}

class LawfulRun {
public:
    using Bytes = std::vector<std::uint8_t>;

    LawfulRun(std::function<Model()> make, LawfulLengths lengths)
        : make_(std::move(make)), lengths_(lengths), first_(make_()), start_(first_.snapshot()) {}

    void expect_all() {
        go_through();
        if (::testing::Test::HasFatalFailure()) return;
        count_allocations();
        if (::testing::Test::HasFatalFailure()) return;
        resume();
    }

private:
    struct Mark {
        long step;
        Bytes bytes;
    };

    bool is_mark(long step) const {
        return std::find(lengths_.marks.begin(), lengths_.marks.end(), step) != lengths_.marks.end();
    }

    void go_through() {
        while (steps_ < lengths_.through && first_.advance()) {
            ++steps_;
            const std::string broken = broken_law(first_.step(), lengths_.event_times);
            ASSERT_TRUE(broken.empty()) << "step " << steps_ << " at t = " << first_.state().t << " s: " << broken;
            if (is_mark(steps_)) marks_.push_back({steps_, first_.snapshot()});
        }
        if (steps_ < lengths_.marks.back() && !is_mark(steps_)) marks_.push_back({steps_, first_.snapshot()});
        EXPECT_GE(steps_, lengths_.fewest);
        if (steps_ == lengths_.through) return;
        const RunSummary summary = first_.run();
        ASSERT_EQ(summary.end, RunEnd::finished) << "step " << steps_ + 1 << ": " << summary.reason;
        EXPECT_LE(std::abs(summary.imbalance), 1e-12 * summary.energy_scale);
        EXPECT_GE(first_.state().t, first_.model().run.end);
    }

    // From one mark in the middle to the next, in an object that knows nothing.
    void resume() {
        ASSERT_GE(marks_.size(), 2u);
        const std::size_t middle = (marks_.size() - 1) / 2;
        const Mark &from = marks_[middle], &to = marks_[middle + 1];
        Simulation resumed(make_());
        resumed.restore(from.bytes);
        for (long step = from.step + 1; step <= to.step; ++step)
            ASSERT_TRUE(resumed.advance()) << "resumed run ended at step " << step;
        EXPECT_TRUE(resumed.snapshot() == to.bytes)
            << "resumed after step " << from.step << ", other bits after step " << to.step;
    }

    // The first run is the warm-up.
    void count_allocations() {
        first_.restore(start_);
        for (long step = 1; step <= marks_.back().step; ++step) {
            const long before = testing::allocations;
            ASSERT_TRUE(first_.advance()) << "repeated run ended at step " << step;
            const long allocated = testing::allocations - before;
            // An edit builds a new system; that happens between steps.
            if (!was_edited(first_.step())) {
                ASSERT_EQ(allocated, 0) << "allocations in step " << step << " at t = " << first_.state().t << " s";
            }
            for (const Mark& mark : marks_)
                if (mark.step == step) {
                    ASSERT_TRUE(first_.snapshot() == mark.bytes) << "repeated run, other bits after step " << step;
                }
        }
    }

    std::function<Model()> make_;
    LawfulLengths lengths_;
    Simulation first_;
    Bytes start_;
    long steps_ = 0;
    std::vector<Mark> marks_;  // increasing
};

}  // namespace stickslip
