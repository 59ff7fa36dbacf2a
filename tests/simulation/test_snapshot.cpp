// Snapshots: what they hold, and that bytes which are none are refused and change nothing.
#include <algorithm>

#include "simulation/runs.hpp"

namespace stickslip {
namespace {

using namespace testing;

// A run that has taken some steps.
struct Walked : Simulation {
    Walked(const char* text, int steps, const OptionValues& values = {}) : Simulation(scene_of(text, values)) {
        for (int i = 0; i < steps; ++i) EXPECT_TRUE(advance());
    }
};

TEST(Snapshot, IsTheSameAfterItWasRestored) {
    for (const char* scheme : {"moreau-jean", "trapezoidal", "hem5", "hybrid"}) {
        const OptionValues values{set("run.scheme", scheme)};
        const Bytes bytes = Walked(sliding_box, 20, values).snapshot();
        Simulation other(scene_of(sliding_box, values));
        EXPECT_NE(other.snapshot(), bytes);
        other.restore(bytes);
        EXPECT_EQ(other.snapshot(), bytes) << scheme;
        EXPECT_EQ(other.state().t, 20 * 0x1p-8) << scheme;
    }
}

TEST(Snapshot, RestoredRunGoesOnWithItsStepsItsTimeAndItsLedger) {
    Walked through(sliding_box, 40);
    Simulation resumed(scene_of(sliding_box));
    resumed.restore(through.snapshot());
    long first = 0;
    resumed.watch_solves([&](const SolvedProblem& solved) {
        if (first == 0) first = solved.step;
        EXPECT_GE(solved.t, 40 * 0x1p-8);
    });
    const RunSummary a = through.run(), b = resumed.run();
    EXPECT_EQ(first, 41);
    EXPECT_EQ(a.hash, b.hash);
    EXPECT_EQ(a.flows.friction_loss, b.flows.friction_loss);
    EXPECT_EQ(a.imbalance, b.imbalance);
    EXPECT_EQ(a.steps, b.steps + 40);  // the summary is of the steps taken here
}

TEST(Snapshot, GoesBackInTheSameSimulation) {
    Walked simulation(sliding_box, 10);
    const Bytes early = simulation.snapshot();
    while (simulation.advance()) {
    }
    const Bytes end = simulation.snapshot();
    EXPECT_FALSE(simulation.advance());
    simulation.restore(early);
    EXPECT_EQ(simulation.state().t, 10 * 0x1p-8);
    EXPECT_EQ(simulation.step().v_weighted, simulation.state().v);
    while (simulation.advance()) {
    }
    EXPECT_EQ(simulation.snapshot(), end);
}

// Refused with a sentence, and the simulation is what it was.
void expect_refused(Simulation& simulation, const Bytes& bytes, const std::string& words) {
    const Bytes before = simulation.snapshot();
    try {
        simulation.restore(bytes);
        ADD_FAILURE() << "restored " << bytes.size() << " bytes";
    } catch (const Error& error) {
        EXPECT_TRUE(contains(error.what(), words)) << error.what();
    }
    EXPECT_EQ(simulation.snapshot(), before);
}

TEST(Snapshot, CutShortAnywhereIsRefused) {
    const Bytes bytes = Walked(sliding_box, 20).snapshot();
    Walked simulation(sliding_box, 5);
    for (std::size_t n = 0; n < bytes.size(); ++n) {
        SCOPED_TRACE(std::to_string(n) + " of " + std::to_string(bytes.size()) + " bytes");
        expect_refused(simulation, Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n)), "cut short");
        if (HasFailure()) break;
    }
    simulation.restore(bytes);
    EXPECT_EQ(simulation.snapshot(), bytes);
}

TEST(Snapshot, OfAnotherVersionIsRefused) {
    Bytes bytes = Walked(sliding_box, 20).snapshot();
    Simulation simulation(scene_of(sliding_box));
    for (int i = 0; i < 7; ++i) {
        ++bytes[i];
        expect_refused(simulation, bytes, "not a snapshot of this version");
        --bytes[i];
    }
    expect_refused(simulation, Bytes(1000, 0x7f), "not a snapshot of this version");
}

TEST(Snapshot, OfAnotherModelIsRefused) {
    Simulation box(scene_of(sliding_box));
    expect_refused(box, Walked(cut_pendulum, 10).snapshot(), "other sizes");
    expect_refused(box, Walked(cut_pendulum, 100).snapshot(), "another model");
    expect_refused(box, Simulation(load_model("mechanism:pendulum")).snapshot(), "other sizes");
}

// Schemes remember different things, even where their bytes would fit.
TEST(Snapshot, OfAnotherSchemeIsRefused) {
    for (const char* other : {"euler", "stewart-trinkle", "trapezoidal", "hem5", "hybrid"}) {
        const Bytes bytes = Walked(sliding_box, 20, {set("run.scheme", other)}).snapshot();
        Simulation simulation(scene_of(sliding_box));
        expect_refused(simulation, bytes, std::string("of scheme '") + other + "'");
    }
}

// Whatever a changed byte makes of the lengths inside: an Error or a state, never memory of somebody else.
TEST(Snapshot, WithOneByteChangedIsReadOrRefused) {
    Walked simulation(cut_pendulum, 70);
    const Bytes good = simulation.snapshot();
    long refused = 0;
    for (std::size_t i = 0; i < good.size(); ++i) {
        for (const int flip : {0x01, 0x80}) {
            Bytes bad = good;
            bad[i] = static_cast<std::uint8_t>(bad[i] ^ flip);
            try {
                simulation.restore(bad);
            } catch (const Error&) {
                ++refused;
            }
        }
    }
    EXPECT_GT(refused, 100);
    simulation.restore(good);
    EXPECT_EQ(simulation.snapshot(), good);
    EXPECT_TRUE(simulation.advance());
}

TEST(StateHash, IsFowlerNollVoOverTimePositionsAndVelocities) {
    State state;
    state.t = 0.25;
    state.q = Vec3(1, -2, 3e-300);
    state.v = Vec2(0.1, -0.0);
    std::uint64_t hash = 0xcbf29ce484222325ull;
    for (const double x : {0.25, 1.0, -2.0, 3e-300, 0.1, -0.0}) {
        const auto* bytes = reinterpret_cast<const unsigned char*>(&x);
        for (int i = 0; i < 8; ++i) hash = (hash ^ bytes[i]) * 0x100000001b3ull;
    }
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
    EXPECT_EQ(state_hash(state), text);
    const std::string before = state_hash(state);
    state.v[1] = 0.0;  // another bit
    EXPECT_NE(state_hash(state), before);
}

}  // namespace
}  // namespace stickslip
