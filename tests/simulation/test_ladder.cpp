// Who answered for the islands of a run: each is counted once, under one name, whoever looks.
#include <numeric>

#include "simulation/runs.hpp"
#include "stickslip/threads.hpp"

namespace stickslip {
namespace {

using namespace testing;

long sum(const RunSummary& summary) { return std::accumulate(summary.ladder.begin(), summary.ladder.end(), 0L); }

long of(const RunSummary& summary, Rung rung) { return summary.ladder[static_cast<std::size_t>(rung)]; }

// Boxes that slide side by side and never meet: an island each.
std::string sliding_boxes(int count) {
    std::string text = R"(
stickslip: 1
materials: {default: {friction: 0.5}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
)";
    for (int i = 0; i < count; ++i)
        text += "  box" + std::to_string(i) + ": {pose: [0, " + std::to_string(3 * i) +
                ", 0.5], mass: 2, shapes: [{box: [1, 1, 1]}], velocity: [1, 0, 0]}\n";
    return text + "run: {step: 2^-8, end: 0.5}\n";
}

TEST(LadderCounts, CountsEachIslandOfEachSolveOnce) {
    for (const int boxes : {1, 2, 30}) {
        const int islands = 4 * boxes < 100 ? 1 : boxes;  // few contacts are solved as a whole
        Simulation simulation(scene_of(sliding_boxes(boxes)));
        long solves = 0;
        simulation.watch_solves([&](const SolvedProblem& solved) {
            ++solves;
            EXPECT_EQ(solved.problem.contacts.size(), 4 * boxes);
            EXPECT_EQ(std::accumulate(solved.report.answered.begin(), solved.report.answered.end(), 0), islands);
        });
        const RunSummary summary = simulation.run();
        EXPECT_EQ(solves, 128);
        EXPECT_EQ(sum(summary), islands * solves);
        // It stops after 1/(mu g) = 0.204 s, and from the step after that on nothing changes any more.
        EXPECT_GE(of(summary, Rung::rest), islands * 70);
        EXPECT_EQ(of(summary, Rung::rest) + of(summary, Rung::mode_solve), islands * solves);
    }
}

// Loads at the foot leave more rounding in velocities than the tolerance of a light body at rest is.
TEST(LadderCounts, AHighWallAtRestIsLookedAtAndNotSolvedFor) {
    const std::string wall = R"(
stickslip: 1
materials: {default: {friction: 0.55}}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1]}}]}
  brick-{row}-{column}:
    grid: {row: 18, column: 4}
    pose: ['0.31*(column + mod(row, 2)/5)', 0, (row - 1/2)*0.07]
    density: 2100
    shapes: [{box: [0.3, 0.11, 0.07]}]
run: {step: 1/200, end: 0.5}
)";
    Simulation simulation(scene_of(wall));
    const VecX start = simulation.state().q;
    const RunSummary summary = simulation.run();
    EXPECT_EQ(summary.solves, 100);
    EXPECT_GE(of(summary, Rung::rest), 97);
    EXPECT_LT((summary.q - start).cwiseAbs().maxCoeff(), 1e-14);
}

TEST(LadderCounts, FreeBodiesAreOneIsland) {
    const RunSummary summary = Simulation(scene_of(stone)).run();
    EXPECT_EQ(of(summary, Rung::free), summary.solves);
    EXPECT_EQ(sum(summary), summary.solves);
}

TEST(LadderCounts, SolversByThemselvesCountUnderTheirName) {
    const RunSummary summary =
        Simulation(scene_of(sliding_box, {set("run.solver", "nsgs"), set("run.policy", "budget")})).run();
    EXPECT_EQ(of(summary, Rung::nsgs), summary.solves);
    EXPECT_EQ(sum(summary), summary.solves);
}

TEST(LadderCounts, IsTheSameForEveryRunAndAnyNumberOfThreads) {
    const std::string scene = sliding_boxes(30);  // 120 contacts: enough for threads to be started
    const RunSummary first = Simulation(scene_of(scene)).run(), again = Simulation(scene_of(scene)).run();
    EXPECT_EQ(first.ladder, again.ladder);
    set_threads(4);
    const RunSummary threads = Simulation(scene_of(scene)).run();
    set_threads(1);
    EXPECT_EQ(first.ladder, threads.ladder);
    EXPECT_EQ(sum(first), 30 * first.solves);
}

TEST(LadderCounts, EveryRungHasANameOfItsOwn) {
    for (std::size_t i = 0; i < rung_count; ++i) {
        const auto rung = static_cast<Rung>(i);
        EXPECT_EQ(rung_named(to_string(rung)), rung) << to_string(rung);
    }
    EXPECT_EQ(rung_named("no-such-solver"), Rung::other);
    for (const SolverEntry& solver : solvers())
        EXPECT_EQ(rung_named(solver.name) == Rung::other, std::string(solver.name) == "auto") << solver.name;
}

}  // namespace
}  // namespace stickslip
