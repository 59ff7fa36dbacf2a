// Generalized-alpha and RATTLE on problems with known solutions, driven step by step without a scheme around them.
#include "schemes/smooth_runs.hpp"
#include "support/count_malloc.hpp"

namespace stickslip::testing {

namespace {

struct Case {
    const char* name;
    SmoothProblem (*make)();
    int steps;  // of the coarsest run that is asymptotic for rho = 0.8
};

const std::vector<Case>& cases() {
    static const std::vector<Case> all = {
        {"pendulum", [] { return pendulum_problem(); }, 200},
        {"four-bar", [] { return four_bar_problem(); }, 400},
        {"heavy top", [] { return heavy_top_problem(); }, 400},
        {"held top", [] { return held_top_problem(); }, 400},
        {"rolling disc", [] { return rolling_disc_problem(); }, 200},
        {"disc that rolls in a bowl", [] { return bowl_problem(ContactMode::stick, 1); }, 200},
        {"disc that slides in a bowl", [] { return bowl_problem(ContactMode::slip, 0.3); }, 200},
        {"damped oscillator", [] { return oscillator_problem(40, 3, 1); }, 200},
    };
    return all;
}

struct Orders {
    double q, v, multipliers;
};

Orders observe(const SmoothMethod& method, const SmoothProblem& problem, int steps, int longer_every = 0) {
    const SmoothError coarse = error_of(run_smooth(method, problem, steps, longer_every), problem);
    const SmoothError fine = error_of(run_smooth(method, problem, 2 * steps, longer_every), problem);
    return {std::log2(coarse.q / fine.q), std::log2(coarse.v / fine.v),
            problem.multipliers.size() > 0 ? std::log2(coarse.multipliers / fine.multipliers) : 2.0};
}

void expect_order_two(const Orders& observed, const std::string& what) {
    EXPECT_GE(observed.q, 1.95) << what;
    EXPECT_GE(observed.v, 1.95) << what;
    EXPECT_GE(observed.multipliers, 1.9) << what;
}

// How far the end of one step is from the solution, and what the method says.
void compare_estimate(SmoothProblem problem, double h, double share) {
    problem.end.t = problem.start.t + h;
    const State exact = run_smooth(*make_half_explicit("hem5"), problem, 20).end;
    for (const int index : {2, 3}) {
        const SmoothRun run = run_smooth(*make_generalized_alpha(index, 0.8), problem, 1);
        double truth = 0;
        if (problem.quaternions.empty()) {
            truth = (run.end.q - exact.q).norm();
        } else {
            const Quat turn = read_quaternion(exact.q.data() + 3).conjugate() * read_quaternion(run.end.q.data() + 3);
            truth = std::hypot((run.end.q - exact.q).head<3>().norm(), 2 * turn.vec().norm());
        }
        EXPECT_NEAR(run.error / truth, 1, share) << index;
    }
}

}  // namespace

TEST(GeneralizedAlpha, is_of_order_two_in_positions_velocities_and_multipliers) {
    for (const Case& c : cases()) {
        const SmoothProblem problem = c.make();
        for (const int index : {2, 3})
            for (const double rho : {0.0, 0.8}) {
                // rho = 0 errs several times more and is asymptotic later.
                const int steps = rho == 0 ? 4 * c.steps : c.steps;
                expect_order_two(
                    observe(*make_generalized_alpha(index, rho), problem, steps),
                    std::string(c.name) + ", index " + std::to_string(index) + ", rho " + std::to_string(rho));
            }
    }
}

TEST(GeneralizedAlpha, keeps_its_order_when_steps_change) {
    const SmoothProblem pendulum = pendulum_problem(), top = held_top_problem();
    for (const int index : {2, 3})
        for (const double rho : {0.0, 0.5, 0.8}) {
            const std::string what = "index " + std::to_string(index) + ", rho " + std::to_string(rho);
            expect_order_two(observe(*make_generalized_alpha(index, rho), pendulum, 1200, 3), "pendulum, " + what);
            expect_order_two(observe(*make_generalized_alpha(index, rho), top, 1200, 3), "top, " + what);
        }
}

TEST(GeneralizedAlpha, multipliers_converge_without_damping_too) {
    for (const int index : {2, 3}) {
        expect_order_two(observe(*make_generalized_alpha(index, 1), pendulum_problem(), 400), "pendulum");
        expect_order_two(observe(*make_generalized_alpha(index, 1), four_bar_problem(), 400), "four-bar");
    }
}

TEST(GeneralizedAlpha, ends_every_step_on_the_constraints_of_its_index) {
    for (const Case& c : cases()) {
        const SmoothProblem problem = c.make();
        for (const double rho : {0.0, 0.8, 1.0}) {
            EXPECT_LT(run_smooth(*make_generalized_alpha(3, rho), problem, c.steps).g, 2e-15) << c.name;
            EXPECT_LT(run_smooth(*make_generalized_alpha(2, rho), problem, c.steps).speed, 2e-14) << c.name;
        }
    }
}

TEST(GeneralizedAlpha, books_every_joule) {
    for (const Case& c : cases()) {
        const SmoothProblem problem = c.make();
        for (const int index : {2, 3})
            for (const double rho : {0.0, 0.8, 1.0})
                EXPECT_LT(run_smooth(*make_generalized_alpha(index, rho), problem, c.steps, 3).imbalance, 1e-13)
                    << c.name << index << rho;
    }
}

TEST(GeneralizedAlpha, estimates_the_error_of_a_step) {
    for (const double h : {1e-2, 1e-3}) {
        SmoothProblem pendulum = pendulum_problem();
        pendulum.start = make_mechanism("pendulum").exact(0.4);
        compare_estimate(std::move(pendulum), h, 10 * h);
    }
    compare_estimate(held_top_problem(), 1e-3, 0.1);
    compare_estimate(held_top_problem(), 1e-4, 0.01);
}

TEST(GeneralizedAlpha, goes_on_with_the_same_bits_from_what_it_remembers) {
    const SmoothProblem whole = held_top_problem(0.5);
    for (const int index : {2, 3}) {
        const auto method = make_generalized_alpha(index, 0.8);
        const System& system = *whole.system;
        const auto go = [&](State& x, VecX& remembered, int steps, bool forget) {
            Step step;
            plan_redundancy(system, x, step);
            Motion motion;
            SmoothStep s;
            s.h = s.remembered_step = 1e-3;
            s.remembered = remembered;
            for (int k = 0; k < steps; ++k) {
                motion.begin(system, whole.modes, x, step);
                s.t = x.t;
                s.q0 = x.q;
                s.v0 = x.v;
                ASSERT_TRUE(method->take(motion, s));
                x = {x.t + s.h, s.q1, s.v1};
                s.start = s.end;
                s.a0 = s.end.a;
                s.start_known = !forget;
            }
            remembered = s.remembered;
        };
        State straight = whole.start, resumed = whole.start;
        VecX a, b;
        go(straight, a, 40, false);
        go(resumed, b, 17, false);
        go(resumed, b, 23, true);
        EXPECT_EQ(straight.q, resumed.q);
        EXPECT_EQ(straight.v, resumed.v);
        EXPECT_EQ(a, b);
    }
}

// Steps of 100 periods of the spring: the high frequency is neither resolved nor does it grow, and the bob is where the rod of
// the pendulum would have it, to the sag of the spring and the error of the method.
TEST(GeneralizedAlpha, swings_on_a_stiff_spring_as_on_a_rod) {
    constexpr double stiffness = 1e10, weight = 9.81;
    LagrangianModel model;
    model.name = "bob on a spring";
    model.coordinates = {"x", "y"};
    model.nv = 2;
    model.constant_mass = MatX::Identity(2, 2);
    model.potential = [](const VecX& q) { return weight * q[1]; };
    model.potential_force = [](const VecX&, VecX& k) { k[1] = -weight; };
    model.springs.push_back({.name = "spring",
                             .stiffness = stiffness,
                             .damping = 0,
                             .value = [](const VecX& q) { return (q.squaredNorm() - 1) / 2; },
                             .gradient = [](const VecX& q, VecX& G) { G = q; },
                             .bias = [](const VecX&, const VecX& v) { return v.squaredNorm(); }});
    SmoothProblem problem = pendulum_problem();
    problem.multipliers.resize(0);
    problem.system = make_lagrangian_system(std::move(model));
    const SmoothProblem rod = pendulum_problem();
    const auto method = make_generalized_alpha(3, 0.8);
    const SmoothRun sprung = run_smooth(*method, problem, 400);
    const SmoothError rigid = error_of(run_smooth(*method, rod, 400), rod);
    EXPECT_LT(error_of(sprung, problem).q, 1.1 * rigid.q);
    EXPECT_LT(sprung.solves, 400 * 8);
    EXPECT_LT(sprung.imbalance, 1e-12);
}

TEST(GeneralizedAlpha, refuses_a_step_whose_forces_are_not_finite) {
    for (const double force : {infinity, std::nan("")}) {
        LagrangianModel model;
        model.name = "pushed";
        model.coordinates = {"x"};
        model.nv = 1;
        model.constant_mass = MatX::Identity(1, 1);
        model.applied = [force](double t, const VecX&, const VecX&, VecX& k) { k[0] = t > 0.5 ? force : 0.0; };
        const auto system = make_lagrangian_system(std::move(model));
        for (const auto& method : {make_generalized_alpha(3), make_generalized_alpha(2), make_rattle()}) {
            State x{0, VecX::Zero(1), VecX::Zero(1)};
            Step step;
            plan_redundancy(*system, x, step);
            Motion motion;
            const Modes modes;
            motion.begin(*system, modes, x, step);
            SmoothStep s;
            s.h = 1;
            s.q0 = x.q;
            s.v0 = x.v;
            EXPECT_FALSE(method->take(motion, s) && s.v1.allFinite());
            EXPECT_EQ(s.remembered.size(), 0);
        }
    }
}

TEST(Rattle, is_of_order_two) {
    for (const Case& c : cases()) expect_order_two(observe(*make_rattle(), c.make(), c.steps), c.name);
}

TEST(Rattle, ends_every_step_on_both_constraints) {
    for (const Case& c : cases()) {
        const SmoothRun run = run_smooth(*make_rattle(), c.make(), c.steps);
        EXPECT_LT(run.g, 2e-15) << c.name;
        EXPECT_LT(run.speed, 2e-14) << c.name;
        EXPECT_LT(run.imbalance, 1e-13) << c.name;
    }
}

// 1e5 steps of 5 ms, 211 swings: the energy moves within a swing and comes back, to rounding (a walk of 1e5 steps).
TEST(Rattle, keeps_the_energy_of_a_pendulum_in_bounds) {
    SmoothProblem problem = pendulum_problem();
    problem.end.t = 5;
    const SmoothRun few = run_smooth(*make_rattle(), problem, 1000);
    problem.end.t = 500;
    const SmoothRun many = run_smooth(*make_rattle(), problem, 100000);
    const double swing = few.highest - few.lowest;
    EXPECT_LT(swing, 5e-3);
    EXPECT_LT(many.highest - many.lowest, 1.001 * swing);
}

TEST(Rattle, is_reversible_with_gyroscopic_and_velocity_dependent_forces) {
    for (const auto make : {held_top_problem, four_bar_problem}) {
        SmoothProblem problem = make(0.5);
        problem.end.t = 0.1;
        SmoothProblem back = held_top_problem();
        const SmoothRun there = run_smooth(*make_rattle(), problem, 100);
        back.system = std::move(problem.system);
        back.quaternions = problem.quaternions;
        back.start = {0, there.end.q, -there.end.v};
        back.end = {0.1, problem.start.q, -problem.start.v};
        back.multipliers.resize(0);
        const SmoothError e = error_of(run_smooth(*make_rattle(), back, 100), back);
        EXPECT_LT(e.q, 1e-12);
        EXPECT_LT(e.v, 1e-11);
    }
}

#if STICKSLIP_COUNTS_MALLOC
TEST(ImplicitMethods, ask_for_no_memory_once_warm) {
    for (const Case& c : cases()) {
        const SmoothProblem problem = c.make();
        for (const auto& method : {make_generalized_alpha(3), make_generalized_alpha(2), make_rattle()}) {
            State x = problem.start;
            Step step;
            plan_redundancy(*problem.system, x, step);
            Motion motion;
            SmoothStep s;
            s.h = (problem.end.t - x.t) / c.steps;
            long before = 0;
            for (int k = 0; k < 20; ++k) {
                if (k == 5) before = allocations;
                motion.begin(*problem.system, problem.modes, x, step);
                s.t = x.t;
                s.q0 = x.q;
                s.v0 = x.v;
                ASSERT_TRUE(method->take(motion, s));
                x.t += s.h;
                x.q = s.q1;
                x.v = s.v1;
                s.start = s.end;
                s.a0 = s.end.a;
                s.start_known = true;
            }
            EXPECT_EQ(allocations - before, 0) << c.name;
        }
    }
}
#endif

}  // namespace stickslip::testing
