// The methods between events with the orders they must show, and how errors of whole runs become orders.
#pragma once

#include <functional>

#include "analytic/runs.hpp"

namespace stickslip::analytic {

struct SmoothGate {
    const char* scheme;
    double order;  // to be observed in q and v,
    double force;  // and in multipliers
    int finer;     // halvings of the step after which errors are those of the leading term
    int halvings = 2;
};

// Multipliers come from the accelerations at the end, so all methods are held to the gates of the two that have one.
inline const std::vector<SmoothGate>& smooth_gates() {
    static const std::vector<SmoothGate> gates{
        {"hem3", 2.9, 2.9, 3}, {"hem4", 3.9, 3.9, 4},  {"hem5", 4.8, 3, 2},   {"phem56", 4.8, 4, 2},
        {"rk4", 3.9, 3.9, 4},  {"rkf45", 3.9, 3.9, 4}, {"dopri5", 4.8, 4, 2},
    };
    return gates;
}

// Norms of the errors of a run; the largest of the times looked at.
struct RunErrors {
    double q = 0, v = 0, force = 0;
    void include(double q_error, double v_error, double force_error = 0) {
        q = std::max(q, q_error);
        v = std::max(v, v_error);
        force = std::max(force, force_error);
    }
};

// Goes on until `t`, a time at which a step ends.
inline void walk_to(Simulation& simulation, double t) {
    while (simulation.state().t < t - 1e-12) ASSERT_TRUE(simulation.advance()) << "at " << simulation.state().t;
    ASSERT_NEAR(simulation.state().t, t, 1e-12);
}

// Orders of q, v and, if asked for, multipliers over the halvings of the step.
inline void expect_orders(const SmoothGate& gate, const std::string& what, double h, bool forces,
                          const std::function<RunErrors(double h)>& run_errors) {
    std::vector<double> q, v, force;
    for (int k = gate.finer; k <= gate.finer + gate.halvings; ++k) {
        const RunErrors errors = run_errors(std::ldexp(h, -k));
        q.push_back(errors.q);
        v.push_back(errors.v);
        force.push_back(errors.force);
    }
    const std::string key = std::string(gate.scheme) + "_" + what;
    const std::string in_q = note(key + "_q", q), in_v = note(key + "_v", v), in_force = note(key + "_force", force);
    EXPECT_GE(observed_order(q), gate.order) << in_q;
    EXPECT_GE(observed_order(v), gate.order) << in_v;
    if (forces) {
        EXPECT_GE(observed_order(force), gate.force) << in_force;
    }
}

}  // namespace stickslip::analytic
