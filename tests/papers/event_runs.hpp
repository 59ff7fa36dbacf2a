// Runs of the event-driven schemes, looked at step by step.
#pragma once

#include <functional>

#include "analytic/runs.hpp"

namespace stickslip::analytic {

inline std::vector<Event> of_kind(const RunSummary& summary, EventKind kind) {
    std::vector<Event> events;
    for (const Event& event : summary.events)
        if (event.kind == kind) events.push_back(event);
    return events;
}

inline double time_of(const RunSummary& summary, EventKind kind) {
    const std::vector<Event> events = of_kind(summary, kind);
    return events.empty() ? -1 : events.front().t;
}

// Shows the states at these times, increasing, by the interpolants of the steps; then runs on to the end.
inline void run_through(Simulation& simulation, const std::vector<double>& times,
                        const std::function<void(std::size_t k, const State& x)>& show) {
    std::size_t next = 0;
    State x;
    while (simulation.advance()) {
        for (; next < times.size() && times[next] <= simulation.step().t1; ++next) {
            simulation.step().at(*simulation.model().system, times[next], x);
            show(next, x);
        }
    }
    EXPECT_EQ(next, times.size()) << simulation.model().name << " ended at " << simulation.state().t;
}

}  // namespace stickslip::analytic
