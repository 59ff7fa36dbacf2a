// [Potra et al. 2006, 7.1]: a ball between walls that close on it. Infinitely many impacts come before the room is gone, ever faster;
// no scheme follows them all, but a run ends, its speeds are bounded, and it says when they would have accumulated.
#include "papers/event_runs.hpp"

namespace stickslip::analytic {
namespace {

struct Walls {
    RunSummary end;
    double fastest = 0;          // [m/s]
    double shortest_flight = 0;  // [s] of event-driven schemes
};

Walls close(const Set& set) {
    Simulation simulation(mechanism("closing-walls", set));
    Walls walls;
    walls.shortest_flight = simulation.step().tolerances.shortest_flight;
    while (simulation.advance()) walls.fastest = std::max(walls.fastest, std::abs(simulation.state().v[0]));
    walls.end = simulation.run();
    return walls;
}

// Each impact turns u into u + 2 c; the next comes when the ball meets the other wall.
TEST(ClosingWalls, TheFirstImpactsAreThoseByHand) {
    const double r = 0.1, w0 = 0.6, c = 0.1;
    for (const char* scheme : {"trapezoidal", "dopri5", "euler"}) {
        Set set{{"run.scheme", scheme}};
        set("run.end", 4.0);
        const std::vector<Event> hits = of_kind(close(set).end, EventKind::impact);
        double t = 0, x = 0, u = 1;
        int side = 1;  // of the wall that is hit next
        std::size_t k = 0;
        for (;; ++k) {
            // side x + u s = w0 - r - c (t + s)
            const double s = (w0 - r - c * t - side * x) / (u + c);
            if (t + s > 4.0) break;
            t += s;
            x += side * u * s;
            u += 2 * c;
            side = -side;
            ASSERT_LT(k, hits.size()) << scheme;
            EXPECT_NEAR(hits[k].t, t, 1e-10) << scheme << " impact " << k;
            EXPECT_NEAR(hits[k].normal_speed_after, u - c, 1e-9) << scheme << " impact " << k;
        }
        EXPECT_EQ(hits.size(), k) << scheme;
        EXPECT_GT(k, 15u);
    }
}

// Rebounds end when impacts come faster than the shortest sub-step tau (by a hundred of them and more): u L is nearly v0 L0, so that is at
// L = sqrt(v0 L0 tau), with the speed sqrt(v0 L0/tau).
TEST(ClosingWalls, AccumulationIsNamedAndSpeedsAreBounded) {
    struct Case {
        const char* scheme;
        double c, v0;
    };
    for (const Case& p : {Case{"trapezoidal", 0.1, 1}, Case{"trapezoidal", 0.17, 0.6}, Case{"euler", 0.1, 1},
                          Case{"dopri5", 0.25, 0.7}}) {
        Set set{{"run.scheme", p.scheme}};
        set("c", p.c)("v0", p.v0)("run.end", 0.5 / p.c);
        const Walls walls = close(set);
        SCOPED_TRACE(p.scheme);
        ASSERT_EQ(walls.end.end, RunEnd::finished) << walls.end.reason;
        const double tau = p.scheme == std::string("dopri5") ? walls.shortest_flight : 1e-4 * 1e-3;  // [s]
        const double t_star = 0.5 / p.c, expected = std::sqrt(p.v0 * 1.0 / tau);
        EXPECT_NEAR(time_of(walls.end, EventKind::accumulation), t_star, 2e-4 * t_star);
        const bool told =
            std::any_of(walls.end.warnings.begin(), walls.end.warnings.end(),
                        [](const std::string& text) { return text.find("impacts accumulated (Zeno)") != text.npos; });
        EXPECT_TRUE(told);
        EXPECT_EQ(walls.end.verdict.status, Trust::doubtful);
        EXPECT_LT(walls.fastest, 2 * expected);
        EXPECT_GT(walls.fastest, expected / 2);
        EXPECT_LT(std::abs(walls.end.imbalance), 1e-9 * walls.end.energy_scale);
        EXPECT_LT(std::abs(walls.end.v[0]), p.c + 1e-9);  // it goes along with one of them
        std::printf("[ walls ] %-11s %ld events, t* = %.6f (%.6f), fastest %.0f m/s (%.0f)\n", p.scheme,
                    walls.end.event_count, time_of(walls.end, EventKind::accumulation), t_star, walls.fastest,
                    expected);
    }
}

// With room left there are finitely many, and the ball goes on between the walls when they have stopped.
TEST(ClosingWalls, WithPlayNothingAccumulates) {
    for (const char* scheme : {"trapezoidal", "dopri5", "euler"}) {
        Set set{{"run.scheme", scheme}};
        set("play", 0.05)("run.end", 6.0);
        const Walls walls = close(set);
        ASSERT_EQ(walls.end.end, RunEnd::finished) << scheme << ": " << walls.end.reason;
        EXPECT_TRUE(of_kind(walls.end, EventKind::accumulation).empty()) << scheme;
        EXPECT_LT(walls.fastest, 1 * 1.0 / 0.05 + 1) << scheme;
        EXPECT_NEAR(walls.end.q[1], 0.125, 1e-4) << scheme;
    }
}

}  // namespace
}  // namespace stickslip::analytic
