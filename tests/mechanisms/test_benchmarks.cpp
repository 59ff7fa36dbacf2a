// The smooth benchmark mechanisms: starts for parameters of all kinds, mass matrices against the bodies that are shown, forces
// and reactions at t = 0 against the references.
#include <gtest/gtest.h>

#include <Eigen/QR>
#include <cmath>

#include "stickslip/mechanism.hpp"
#include "support/problems.hpp"
#include "support/reference.hpp"

namespace stickslip {
namespace {

using testing::Reference;

OptionValues set(std::initializer_list<std::pair<const char*, const char*>> list) {
    OptionValues values;
    for (const auto& [key, value] : list) values.push_back({key, value, {}});
    return values;
}

struct Residual {
    double position, velocity;
};

Residual at_start(const Mechanism& mechanism) {
    const LagrangianModel& model = mechanism.model;
    VecX g = VecX::Zero(model.joints), w = VecX::Zero(model.velocity_rows);
    MatX G = MatX::Zero(model.joints, model.nv), Gv = MatX::Zero(model.velocity_rows, model.nv);
    Residual worst{};
    if (model.joints > 0) {
        model.joint_value(0, mechanism.state.q, g);
        model.joint_jacobian(0, mechanism.state.q, G);
        worst = {g.cwiseAbs().maxCoeff(), (G * mechanism.state.v).cwiseAbs().maxCoeff()};
    }
    if (model.velocity_rows > 0) {
        model.velocity_jacobian(0, mechanism.state.q, Gv);
        if (model.velocity_target) model.velocity_target(0, w);
        worst.velocity = std::max(worst.velocity, (Gv * mechanism.state.v - w).cwiseAbs().maxCoeff());
    }
    return worst;
}

// Accelerations and reactions of M a = k + G' lambda, G a = -dG/dt v, springs as forces; least squares where rows are redundant.
struct Motion {
    VecX acceleration, reaction;
};

Motion motion(const LagrangianModel& model, const State& x) {
    const auto system = make_lagrangian_system(model);
    BlockMatrix M;
    Forces k;
    system->mass(x.q, M);
    system->forces(x.t, x.q, x.v, k);
    VecX force = k.potential + k.applied;
    for (const LagrangianModel::Spring& spring : model.springs) {
        VecX gradient = VecX::Zero(model.nv);
        spring.gradient(x.q, gradient);
        force -= gradient * (spring.stiffness * spring.value(x.q) + spring.damping * gradient.dot(x.v));
    }
    const int rows = model.joints + model.velocity_rows, n = model.nv;
    MatX G = MatX::Zero(model.joints, n), Gv = MatX::Zero(model.velocity_rows, n);
    VecX c = VecX::Zero(model.joints), cv = VecX::Zero(model.velocity_rows);
    if (model.joints > 0) {
        model.joint_jacobian(x.t, x.q, G);
        model.joint_bias(x.t, x.q, x.v, c);
    }
    if (model.velocity_rows > 0) {
        model.velocity_jacobian(x.t, x.q, Gv);
        model.velocity_bias(x.t, x.q, x.v, cv);
    }
    MatX all(rows, n);
    all << G, Gv;
    MatX A = MatX::Zero(n + rows, n + rows);
    A.topLeftCorner(n, n) = M.dense();
    A.topRightCorner(n, rows) = -all.transpose();
    A.bottomLeftCorner(rows, n) = all;
    VecX b(n + rows);
    b << force, -c, -cv;
    const VecX solution = A.completeOrthogonalDecomposition().solve(b);
    return {solution.head(n), solution.tail(rows)};
}

Eigen::Index rank_of(const MatX& G) {
    Eigen::ColPivHouseholderQR<MatX> qr(G);
    return qr.setThreshold(1e-10).rank();
}

std::vector<double> part(const std::vector<double>& row, std::size_t begin, std::size_t count) {
    return {row.begin() + static_cast<std::ptrdiff_t>(begin), row.begin() + static_cast<std::ptrdiff_t>(begin + count)};
}

void expect_near(const VecX& x, const std::vector<double>& expected, double tolerance, double sign = 1) {
    ASSERT_EQ(x.size(), static_cast<Eigen::Index>(expected.size()));
    double scale = 1;
    for (const double e : expected) scale = std::max(scale, std::abs(e));
    for (int i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], sign * expected[i], tolerance * scale) << i;
}

TEST(BenchmarkStart, SliderCrankAcceleratesAsItsReference) {
    const Reference reference("slider-crank");
    for (const std::vector<double>& row : reference.rows("start")) {
        const Mechanism crank = make_mechanism(
            "slider-crank",
            set({{"mass_matrix", row[0] != 0 ? "printed" : "physical"}, {"l2", row[1] == 2 ? "2" : "1"}}));
        expect_near(crank.state.q, part(row, 2, 2), 1e-15);
        expect_near(crank.state.v, part(row, 4, 2), 1e-15);
        const Motion start = motion(crank.model, crank.state);
        expect_near(start.acceleration, part(row, 6, 2), 1e-14);
        expect_near(start.reaction, part(row, 8, 1), 1e-14);
    }
}

// The literature writes M a = f - G' lambda.
TEST(BenchmarkStart, FlexibleSliderCrankAcceleratesAsItsReference) {
    const Reference reference("flexible-slider-crank");
    const Mechanism crank = make_mechanism("flexible-slider-crank");
    const std::vector<double>& start = reference.rows("start")[0];
    expect_near(crank.state.q, part(start, 0, 7), 1e-16);
    expect_near(crank.state.v, part(start, 7, 7), 1e-16);
    expect_near(motion(crank.model, crank.state).acceleration, part(start, 14, 7), 1e-11);
    for (const std::vector<double>& row : reference.rows("state")) {
        State x{row[0], VecX::Zero(7), VecX::Zero(7)};
        for (int i = 0; i < 7; ++i) {
            x.q[i] = row[1 + i];
            x.v[i] = row[8 + i];
        }
        // The stretch of 1e-6 m is good to 1e-15 m of the reference and stands for 1e2 N.
        expect_near(motion(crank.model, x).reaction, part(row, 15, 3), 1e-7, -1);
    }
}

TEST(BenchmarkStart, SqueezerClosesAndAcceleratesAsItsReference) {
    const Reference reference("andrews-squeezer");
    const Mechanism squeezer = make_mechanism("andrews-squeezer");
    const std::vector<double>& start = reference.rows("start")[0];
    expect_near(squeezer.state.q, part(start, 0, 7), 4e-15);
    const Motion first = motion(squeezer.model, squeezer.state);
    expect_near(first.acceleration, part(start, 7, 7), 1e-11);  // rounding of q, as torque over inertias of 1e-6 kg m^2
    expect_near(first.reaction, part(start, 14, 6), 1e-12, -1);
    for (const std::vector<double>& row : reference.rows("state")) {
        State x{row[0], VecX::Zero(7), VecX::Zero(7)};
        for (int i = 0; i < 7; ++i) {
            x.q[i] = row[1 + i];
            x.v[i] = row[8 + i];
        }
        expect_near(motion(squeezer.model, x).reaction, part(row, 15, 6), 1e-9, -1);
        const auto system = make_lagrangian_system(squeezer.model);
        const Energies energy = system->energies(x.t, x.q, x.v);
        EXPECT_NEAR(energy.kinetic + energy.elastic - 0.033 * x.q[0], row[21], 1e-12);
    }
}

// J and weight of the pendulum that the parallelogram is, in any position of it.
TEST(BenchmarkStart, ParallelogramIsAPendulum) {
    for (const char* N : {"1", "2", "7", "40"}) {
        const Mechanism bars = make_mechanism("n-four-bar", set({{"N", N}, {"m", "0.7"}, {"L", "1.3"}, {"g", "3"}}));
        const int n = std::stoi(N);
        const double m = 0.7, L = 1.3, J = ((n + 1) / 3.0 + n) * m * L * L, G = ((n + 1) / 2.0 + n) * m * 3 * L;
        for (const double theta : {0.0, 0.4, 1.3, 2.9, -1.9}) {
            State x = bars.state;
            const double omega = 1.7;
            for (int i = 0; i <= n; ++i) {
                x.q.segment<2>(2 * i) = Vec2(i * L + L * std::sin(theta), L * std::cos(theta));
                x.v.segment<2>(2 * i) = omega * L * Vec2(std::cos(theta), -std::sin(theta));
            }
            const auto system = make_lagrangian_system(bars.model);
            const Energies energy = system->energies(0, x.q, x.v);
            EXPECT_NEAR(energy.kinetic, J * omega * omega / 2, 1e-12 * J);
            EXPECT_NEAR(energy.potential, G * std::cos(theta), 1e-12 * G);
            const VecX a = motion(bars.model, x).acceleration;
            const double turning = G / J * std::sin(theta);
            const Vec2 expected = L * (turning * Vec2(std::cos(theta), -std::sin(theta)) -
                                       omega * omega * Vec2(std::sin(theta), std::cos(theta)));
            for (int i = 0; i <= n; ++i) EXPECT_LT((a.segment<2>(2 * i) - expected).norm(), 1e-10) << theta;
        }
    }
}

TEST(BenchmarkStart, RowsLoseTheirRankWhereTheBarsLieInLine) {
    const Mechanism bars = make_mechanism("n-four-bar", set({{"N", "6"}}));
    const auto rank = [&](double theta) {
        VecX q = bars.state.q;
        for (int i = 0; i <= 6; ++i) q.segment<2>(2 * i) = Vec2(i + std::sin(theta), std::cos(theta));
        MatX G = MatX::Zero(13, 14);
        bars.model.joint_jacobian(0, q, G);
        return rank_of(G);
    };
    EXPECT_EQ(rank(1.0), 13);
    EXPECT_EQ(rank(std::asin(1.0)), 7);
}

TEST(BenchmarkStart, RingOfBricardHasOneRedundantRow) {
    const Reference reference("bricard-rods");
    const Mechanism ring = make_mechanism("bricard");
    for (const std::vector<double>& row : reference.rows("state")) {
        State x{row[0], VecX::Zero(35), VecX::Zero(30)};
        for (int i = 0; i < 35; ++i) x.q[i] = row[1 + i];
        for (int i = 0; i < 30; ++i) x.v[i] = row[36 + i];
        VecX g = VecX::Zero(30);
        MatX G = MatX::Zero(30, 30);
        ring.model.joint_value(0, x.q, g);
        ring.model.joint_jacobian(0, x.q, G);
        EXPECT_LT(g.norm(), 1e-14) << row[0];
        EXPECT_LT((G * x.v).norm(), 1e-12) << row[0];
        EXPECT_EQ(rank_of(G), 29) << row[0];
        const Energies energy = make_lagrangian_system(ring.model)->energies(0, x.q, x.v);
        EXPECT_NEAR(energy.kinetic + energy.potential, -3 * 9.81, 1e-12) << row[0];
    }
}

TEST(BenchmarkStart, GovernorHasTheMomentumOfItsReference) {
    const Reference reference("flyball-governor");
    const Mechanism governor = make_mechanism("flyball-governor");
    const std::vector<double>& derived = reference.rows("derived")[0];
    MatX M = MatX::Zero(4, 4);
    governor.model.mass(governor.state.q, M);
    EXPECT_NEAR(M(0, 0) * governor.state.v[0], derived[6], 1e-13);
    EXPECT_NEAR(M(1, 1), derived[2] + derived[0] / 4 + 5, 1e-14);
    EXPECT_NEAR(M(3, 3), derived[1], 1e-15);
    for (const std::vector<double>& row : reference.rows("state")) {
        M.setZero();
        governor.model.mass(Eigen::Vector4d(row[1], row[2], row[3], row[4]), M);
        EXPECT_NEAR(M(0, 0) * row[5], derived[6], 1e-12) << row[0];
    }
}

// The multiplier of the contact as the literature has it, and its jump at the edge.
TEST(BenchmarkStart, CurvePushesWithTheMultiplierOfItsReference) {
    for (const std::string name : {"parabola-plane", "plane-parabola"}) {
        const Mechanism curve = make_mechanism(name);
        const Reference reference(name);
        const auto multiplier = [&](const LagrangianModel::Contact& contact, const Vec2& q, const Vec2& v) {
            MatX H = MatX::Zero(1, 2);
            VecX bend = VecX::Zero(1), k = VecX::Zero(2);
            contact.jacobian(q, H);
            contact.bias(q, v, bend);
            curve.model.potential_force(q, k);
            return -(bend[0] + H.row(0).dot(k)) / H.row(0).squaredNorm();
        };
        for (const std::vector<double>& row : reference.rows("state")) {
            const Vec2 q(row[1], row[2]), v(row[3], row[4]);
            const LagrangianModel::Contact& contact = curve.model.contacts[q[0] < 0 ? 1 : 0];
            EXPECT_NEAR(contact.gap(q), 0, 1e-14) << name << " " << row[0];
            EXPECT_NEAR(multiplier(contact, q, v), row[5], 1e-13) << name << " " << row[0];
        }
        const std::vector<double>& edge = reference.rows("edge")[0];
        for (std::size_t side = 0; side < 2; ++side)
            EXPECT_NEAR(multiplier(curve.model.contacts[side], Vec2(0, 0), Vec2(edge[1], edge[2])), edge[3 + side],
                        1e-12);
    }
}

// What a linkage's mass matrix says is the kinetic energy of the bodies that it shows.
TEST(BenchmarkMass, IsThatOfTheBodies) {
    testing::Random random(4);
    // mass and inertia about the middle, along the bodies' own axes
    struct Inertia {
        double mass;
        Vec3 J;
    };
    const auto bar = [](double m, double l) { return Inertia{m, Vec3(0, 0, m * l * l / 12)}; };
    const auto point = [](double m) { return Inertia{m, Vec3::Zero()}; };
    const auto disc = [](double m, double J) { return Inertia{m, Vec3(0, 0, J)}; };
    const double rod = 0.3, rod_across = rod * (1 + 1e-4) / 12, rod_along = rod * 1e-4 / 6;
    const Inertia arm{rod, Vec3(rod_along, rod_across, rod_across)};
    const std::vector<std::pair<const char*, std::vector<Inertia>>> all{
        {"slider-crank", {bar(1, 1), bar(1, 2), point(1)}},
        {"andrews-squeezer",
         {disc(0.04325, 2.194e-6), disc(0.00365, 4.41e-7), disc(0.02373, 5.255e-6), disc(0.00706, 5.667e-7),
          disc(0.0705, 1.169e-5), disc(0.00706, 5.667e-7), disc(0.05498, 1.912e-5)}},
        {"flyball-governor", {{0.3, Vec3(0, 0, 0.3e-4 / 6)}, arm, arm, point(5), point(5), {3, Vec3(0, 0, 3e-2 / 6)}}},
    };
    for (const auto& [name, inertias] : all) {
        const Mechanism mechanism = make_mechanism(name);
        const auto system = make_lagrangian_system(mechanism.model);
        ASSERT_EQ(system->body_names().size(), inertias.size());
        for (int trial = 0; trial < 20; ++trial) {
            const VecX q = mechanism.state.q + random.vector(system->nv()), v = random.vector(system->nv());
            double kinetic = 0;
            for (std::size_t b = 0; b < inertias.size(); ++b) {
                const BodyState body = system->body_state(static_cast<int>(b), q, v);
                const Vec3 omega = body.pose.attitude.conjugate() * body.angular_velocity;
                kinetic +=
                    inertias[b].mass * body.velocity.squaredNorm() / 2 + inertias[b].J.dot(omega.cwiseAbs2()) / 2;
            }
            const double expected = system->energies(0, q, v).kinetic;
            EXPECT_NEAR(kinetic, expected, 1e-12 * expected) << name;
        }
    }
}

TEST(BenchmarkParameters, StartsAreConsistentWhateverTheNumbers) {
    const std::vector<std::pair<const char*, OptionValues>> all{
        {"slider-crank", set({{"alpha1_0", "2.5"}, {"l2", "0.9"}, {"omega1_0", "-3"}})},
        {"slider-crank", set({{"alpha1_0", "-1.2"}, {"l1", "0.3"}, {"mass_matrix", "printed"}})},
        {"slider-crank", set({{"alpha1_0", "1.5707963267948966"}, {"l2", "1"}, {"omega1_0", "0"}})},
        {"flexible-slider-crank", set({{"Omega", "-20"}, {"q4_0", "1e-3"}, {"v4_0", "0.3"}, {"l1", "0.2"}})},
        {"flexible-slider-crank", set({{"Omega", "0"}, {"g", "9.81"}, {"E", "1e9"}})},
        {"andrews-squeezer", set({{"rr", "0.008"}, {"ss", "0.033"}})},
        {"andrews-squeezer", set({{"rr", "0.05"}, {"zt", "0.05"}, {"zf", "0.03"}})},
        {"andrews-squeezer", set({{"xa", "-0.06"}, {"ya", "0.01"}, {"d", "0.03"}})},
        {"parabola-plane", set({{"x0", "-3"}, {"vx0", "4"}})},
        {"plane-parabola", set({{"x0", "-3"}, {"curvature", "0.2"}})},
        {"n-four-bar", set({{"N", "1"}, {"L", "0.3"}, {"v_B0x", "-7"}})},
        {"n-four-bar", set({{"N", "40"}})},
        {"bricard", set({{"L", "0.37"}, {"w", "0.2"}})},
        {"flyball-governor", set({{"alpha_deg", "-10"}, {"s0", "0.7"}})},
    };
    for (const auto& [name, values] : all) {
        const Mechanism mechanism = make_mechanism(name, values);
        const Residual residual = at_start(mechanism);
        EXPECT_LT(residual.position, 2e-15) << name;
        EXPECT_LT(residual.velocity, 2e-14) << name;
        for (const LagrangianModel::Contact& contact : mechanism.model.contacts) {
            const bool here = (mechanism.state.q[0] < 0 ? -1 : 1) == contact.side;
            if (!here) continue;
            EXPECT_EQ(contact.gap(mechanism.state.q), 0) << name;
            MatX H = MatX::Zero(1, 2);
            contact.jacobian(mechanism.state.q, H);
            EXPECT_NEAR(H.row(0).dot(mechanism.state.v), 0, 1e-14) << name;
        }
    }
}

TEST(BenchmarkParameters, SenselessOnesAreRefusedByName) {
    const std::vector<std::tuple<const char*, const char*, const char*>> all{
        {"slider-crank", "l2", "0.5"},
        {"slider-crank", "l1", "0"},
        {"slider-crank", "mass_matrix", "best"},
        {"flexible-slider-crank", "l1", "0.3"},
        {"flexible-slider-crank", "rho", "0"},
        {"flexible-slider-crank", "rho", "1e9"},
        {"flexible-slider-crank", "q4_0", "-1"},
        {"andrews-squeezer", "ss", "1"},
        {"andrews-squeezer", "rr", "0.028"},
        {"andrews-squeezer", "zt", "0.2"},
        {"andrews-squeezer", "u", "0.2"},
        {"andrews-squeezer", "zf", "0"},
        {"andrews-squeezer", "c0", "-1"},
        {"parabola-plane", "curvature", "-1"},
        {"plane-parabola", "g", "-1"},
        {"n-four-bar", "N", "0"},
        {"n-four-bar", "N", "-3"},
        {"n-four-bar", "N", "100000"},
        {"n-four-bar", "N", "2.5"},
        {"n-four-bar", "L", "0"},
        {"bricard", "w", "0"},
        {"bricard", "L", "-1"},
        {"flyball-governor", "C", "-1"},
        {"flyball-governor", "density", "0"},
        {"flyball-governor", "rod_length", "0"},
    };
    for (const auto& [name, key, value] : all) {
        try {
            // l2 too short needs a crank that is up.
            OptionValues values{{key, value, Place{std::string("--set ") + key, 0, 0}}};
            if (std::string(name) == "slider-crank" && std::string(key) == "l2")
                values.push_back({"alpha1_0", "1", values[0].place});
            make_mechanism(name, values);
            ADD_FAILURE() << name << " takes " << key << " = " << value;
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find(key), std::string::npos) << error.what();
            EXPECT_NE(error.place().file, "") << error.what();
        }
    }
    EXPECT_THROW(
        make_mechanism("slider-crank", set({{"l2", "1"}, {"alpha1_0", "1.5707963267948966"}, {"l1", "1.0000001"}})),
        Error);
    EXPECT_THROW(make_mechanism("flyball-governor", set({{"alpha_deg", "90"}, {"s0", "0.5"}, {"rest_length", "0"}})),
                 Error);
}

}  // namespace
}  // namespace stickslip
