// The smooth benchmark mechanisms run by the trapezoidal scheme: they follow their references with the second order, and two runs
// extrapolate to them, which tells wrong equations from coarse steps. All steps divide the times of the references.
#include <tuple>

#include "runs.hpp"
#include "stickslip/mechanism.hpp"

namespace stickslip::analytic {
namespace {

struct Sample {
    double t;
    VecX q, v;
};

// Rows `state`: `before` numbers to skip, t, q, v.
std::vector<Sample> samples(const std::vector<std::vector<double>>& rows, std::size_t before, int nq, int nv,
                            double end) {
    std::vector<Sample> list;
    for (const std::vector<double>& row : rows) {
        if (row[before] > end + 1e-9 || row[before] == 0) continue;
        const double* at = row.data() + before + 1;
        list.push_back({row[before], Eigen::Map<const VecX>(at, nq), Eigen::Map<const VecX>(at + nq, nv)});
    }
    return list;
}

struct Errors {
    std::vector<double> q, v, extrapolated;  // worst over the samples, per step size; extrapolated from two neighbours
    std::string numbers;
};

// Velocities are divided by `speed`, so that errors of q and v are of a kind.
Errors approach(const std::string& name, Set set, const std::vector<Sample>& exact, std::initializer_list<double> steps,
                double speed = 1) {
    Errors errors;
    std::vector<VecX> before;
    for (const double h : steps) {
        Simulation simulation(
            mechanism(name, Set(set)("run.scheme", "trapezoidal")("run.step", h)("run.end", exact.back().t)));
        std::vector<VecX> now;
        double q = 0, v = 0, better = 0;
        for (const Sample& sample : exact) {
            while (simulation.state().t < sample.t - h / 2) {
                if (!simulation.advance()) {
                    ADD_FAILURE() << name << " ends at " << simulation.state().t;
                    return errors;
                }
            }
            EXPECT_NEAR(simulation.state().t, sample.t, 1e-9 * sample.t);
            now.push_back(simulation.state().q);
            q = std::max(q, (now.back() - sample.q).cwiseAbs().maxCoeff());
            v = std::max(v, (simulation.state().v - sample.v).cwiseAbs().maxCoeff() / speed);
            if (!before.empty())
                better =
                    std::max(better, ((4 * now.back() - before[now.size() - 1]) / 3 - sample.q).cwiseAbs().maxCoeff());
        }
        const EnergyLedger& ledger = simulation.step().ledger;
        EXPECT_LE(std::abs(ledger.imbalance()), 1e-12 * ledger.scale()) << name;
        errors.q.push_back(q);
        errors.v.push_back(v);
        if (!before.empty()) errors.extrapolated.push_back(better);
        before = now;
    }
    errors.numbers = name + " " + note("q", errors.q) + "; " + note("v", errors.v) + "; " +
                     note("extrapolated", errors.extrapolated);
    return errors;
}

void expect_second_order(const Errors& errors) {
    ASSERT_GE(errors.q.size(), 2u);
    EXPECT_NEAR(observed_order(errors.q), 2, 0.06) << errors.numbers;
    EXPECT_NEAR(observed_order(errors.v), 2, 0.06) << errors.numbers;
    EXPECT_LT(errors.extrapolated.back(), errors.q.back() / 50) << errors.numbers;
}

TEST(Benchmarks, SliderCrankTurnsAsItsReferenceWithEitherMassMatrix) {
    const Reference reference("slider-crank");
    for (const bool printed : {false, true}) {
        for (const double l2 : {1.0, 2.0}) {
            std::vector<std::vector<double>> rows;
            for (const std::vector<double>& row : reference.rows("state"))
                if (row[0] == printed && row[1] == l2) rows.push_back(row);
            ASSERT_EQ(rows.size(), 12u);
            const Set set = Set{{"mass_matrix", printed ? "printed" : "physical"}}("l2", l2);
            expect_second_order(approach("slider-crank", set, samples(rows, 2, 2, 2, 1), {2.5e-3, 1.25e-3, 6.25e-4}));
        }
    }
}

// The rod's own oscillations have to be resolved for the order to show: 2e4 rad/s.
TEST(Benchmarks, FlexibleSliderCrankTurnsAsItsReference) {
    const Reference reference("flexible-slider-crank");
    const Errors errors =
        approach("flexible-slider-crank", {}, samples(reference.rows("state"), 0, 7, 7, 0.03), {1e-6, 5e-7}, 1e4);
    expect_second_order(errors);
    EXPECT_LT(errors.q.back(), 1e-9) << errors.numbers;
}

TEST(Benchmarks, SqueezerTurnsAsItsReference) {
    const Reference reference("andrews-squeezer");
    expect_second_order(
        approach("andrews-squeezer", {}, samples(reference.rows("state"), 0, 7, 7, 0.03), {1e-5, 5e-6, 2.5e-6}, 1e3));
}

std::vector<Sample> parallelogram(int N, double end) {
    std::vector<Sample> list;
    const Reference reference("n-four-bar");
    for (const std::vector<double>& row : reference.rows("state")) {
        if (row[0] != N || row[1] > end) continue;
        Sample sample{row[1], VecX(2 * (N + 1)), VecX(2 * (N + 1))};
        for (int i = 0; i <= N; ++i) {
            sample.q.segment<2>(2 * i) = Vec2(i + row[4], row[5]);
            sample.v.segment<2>(2 * i) = Vec2(row[6], row[7]);
        }
        list.push_back(sample);
    }
    return list;
}

TEST(Benchmarks, RowOfFourBarsTurnsAsItsReferenceBeforeItIsSingular) {
    for (const int N : {2, 40})
        expect_second_order(approach("n-four-bar", Set()("N", N), parallelogram(N, 0.5), {1e-2, 5e-3, 2.5e-3}));
}

// Ten times (four times in the long row) all bars lie in line and every rocker might turn back alone; the scheme stays with the parallelogram.
TEST(Benchmarks, RowOfFourBarsPassesItsSingularPositions) {
    for (const auto& [N, end, h] : {std::tuple{2, 10.0, 5e-3}, std::tuple{40, 4.0, 1e-2}}) {
        const Errors errors = approach("n-four-bar", Set()("N", N), parallelogram(N, end), {h, h / 2});
        ASSERT_EQ(errors.q.size(), 2u);
        EXPECT_GT(observed_order(errors.q), 1.8) << errors.numbers;
        EXPECT_LT(errors.extrapolated.back(), 1e-4) << errors.numbers;
    }
}

TEST(Benchmarks, BricardFallsAsItsReferenceThoughARowIsRedundant) {
    const Reference reference("bricard-rods");
    expect_second_order(approach("bricard", {}, samples(reference.rows("state"), 0, 35, 30, 2), {1e-2, 5e-3, 2.5e-3}));
}

// The stiff spring-dampers follow at steps a hundred times their time, and the order is that of the slow motion.
TEST(Benchmarks, GovernorTurnsAsItsReferenceWithStiffSprings) {
    const Reference reference("flyball-governor");
    const std::vector<Sample> exact = samples(reference.rows("state"), 0, 4, 4, 3);
    const Errors coarse = approach("flyball-governor", {}, exact, {5e-3, 2.5e-3});
    ASSERT_EQ(coarse.q.size(), 2u);
    EXPECT_GT(observed_order(coarse.q), 1.8) << coarse.numbers;
    expect_second_order(approach("flyball-governor", {}, exact, {1e-4, 5e-5, 2.5e-5}));
}

// Nothing acts about the shaft.
TEST(Benchmarks, GovernorKeepsItsAngularMomentum) {
    const Mechanism governor = make_mechanism("flyball-governor");
    const double exact = Reference("flyball-governor").rows("derived")[0][6];
    std::vector<double> errors;
    for (const double h : {2e-3, 1e-3, 5e-4}) {
        const RunSummary end =
            run(mechanism("flyball-governor", Set{{"run.scheme", "trapezoidal"}}("run.step", h)("run.end", 3.0)));
        MatX M = MatX::Zero(4, 4);
        governor.model.mass(end.q, M);
        errors.push_back(std::abs(M(0, 0) * end.v[0] - exact));
    }
    EXPECT_GT(observed_order(errors), 1.8) << note("errors", errors);
    EXPECT_LT(errors.back(), 1e-3) << note("errors", errors);
}

// Before the edge; then over it, where the scheme changes the contact between two steps and its order suffers.
TEST(Benchmarks, PointSlidesOverTheCurveAsItsReference) {
    for (const std::string name : {"parabola-plane", "plane-parabola"}) {
        const Reference reference(name);
        const double edge = reference.rows("edge")[0][0];
        const auto& rows = reference.rows("state");
        if (name == "parabola-plane")
            expect_second_order(approach(name, {}, samples(rows, 0, 2, 2, edge), {5e-3, 2.5e-3, 1.25e-3}));
        const Errors over = approach(name, {}, samples(rows, 0, 2, 2, 10), {1.25e-3, 6.25e-4, 3.125e-4});
        ASSERT_EQ(over.q.size(), 3u);
        EXPECT_GT(observed_order(over.q), 1) << over.numbers;
        EXPECT_LT(over.q.back(), 1e-4) << over.numbers;
    }
}

// Whatever the scheme, problems hold the contact of the side on which the point is and no other, both push in their turn, and
// what they push upwards is the change of momentum and the weight.
TEST(Benchmarks, OneContactAtATimePushesAtAnEdge) {
    for (const std::string scheme : {"moreau-jean", "euler", "stewart-trinkle", "trapezoidal"}) {
        for (const std::string name : {"parabola-plane", "plane-parabola"}) {
            Simulation simulation(mechanism(name, Set{{"run.scheme", scheme}}));
            const double before = simulation.state().v[1];
            double right = 0, left = 0;
            while (simulation.advance()) {
                ASSERT_LE(simulation.step().problem.contacts.size(), 1) << name << " " << scheme;
                for (const auto& contact : simulation.step().contacts)
                    (contact.id.a == 0 ? right : left) += contact.impulse[0];
            }
            const State& end = simulation.state();
            EXPECT_GT(right, 0.5) << name << " " << scheme;
            EXPECT_GT(left, 0.5) << name << " " << scheme;
            EXPECT_NEAR(right + left, end.v[1] - before + g * end.t, 1e-9) << name << " " << scheme;
        }
    }
}

}  // namespace
}  // namespace stickslip::analytic
