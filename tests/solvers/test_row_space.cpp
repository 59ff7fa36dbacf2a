// W of a step problem and of a stored one, seen through RowSpace: products and solutions are compared with dense matrices
// put together here from the definition.
#include <gtest/gtest.h>

#include "problems/convert/to_delassus.hpp"
#include "solvers/row_space.hpp"
#include "support/piles.hpp"
#include "support/problems.hpp"

using namespace stickslip;
using namespace stickslip::testing;

namespace {

MatX dense_W(const StepProblem& problem) {
    const Nodes& nodes = problem.nodes();
    const int nj = problem.joints.size(), nc = problem.contacts.jacobian.rows();
    MatX J(nj + nc, nodes.nv());
    J << problem.joints.jacobian.dense(nodes), problem.contacts.jacobian.dense(nodes);
    MatX W = J * problem.A.dense().partialPivLu().solve(MatX(J.transpose()));
    for (int j = 0; j < nj; ++j) W(j, j) += problem.T[j];
    for (int k = 0; k < nc; ++k) W(nj + k, nj + k) += problem.S[k];
    return W;
}

struct Shifted {
    RowShift shift;
    MatX T;                 // dense, of the rows that take part
    std::vector<int> rows;  // these rows
};

// Random T: per contact SPD with eigenvalues between 1/spread and spread of the contact's own W, and `skew` of it
// unsymmetric. Some contacts are left out in part, some joints wholly.
Shifted random_shift(const RowSpace& space, Random& random, double spread, double skew, bool leave_out) {
    Shifted s;
    s.T = MatX::Zero(space.rows(), space.rows());
    s.shift.joint.resize(static_cast<std::size_t>(space.joints));
    for (int j = 0; j < space.joints; ++j) {
        s.shift.joint[j] =
            leave_out && random.below(3) == 0 ? infinity : space.diagonal[j] * random.log_uniform(1 / spread, spread);
        if (s.shift.joint[j] == infinity) continue;
        s.T(j, j) = s.shift.joint[j];
        s.rows.push_back(j);
    }
    const auto size = static_cast<std::size_t>(space.contacts() * StepSystem::block);
    s.shift.contact.assign(size, 0.0);
    s.shift.inverse.assign(size, 0.0);
    for (int i = 0; i < space.contacts(); ++i) {
        const int dim = space.row[i + 1] - space.row[i];
        const int active = leave_out ? random.below(dim + 1) : dim;
        s.shift.active.push_back(active);
        if (active == 0) continue;
        const MatX Q = random.matrix(active, active).householderQr().householderQ();
        VecX values(active);
        for (int k = 0; k < active; ++k) values[k] = random.log_uniform(1 / spread, spread);
        MatX T = Q * values.asDiagonal() * Q.transpose();
        const MatX twist = random.matrix(active, active);
        T += skew * values.minCoeff() * (twist - twist.transpose());
        T *= space.diagonal[space.joints + i];
        const MatX inverse = T.inverse();
        for (int k = 0; k < active * active; ++k) {
            s.shift.contact[i * StepSystem::block + k] = T.data()[k];
            s.shift.inverse[i * StepSystem::block + k] = inverse.data()[k];
        }
        s.T.block(space.row[i], space.row[i], active, active) = T;
        for (int k = 0; k < active; ++k) s.rows.push_back(space.row[i] + k);
    }
    return s;
}

RowVec row_vector(const VecX& x) {
    RowVec result;
    result = x;
    return result;
}

void expect_image(RowSpace& space, const MatX& W, Random& random) {
    const RowVec x = row_vector(random.vector(space.rows()));
    RowVec y;
    space.image(x, y);
    EXPECT_LE((y.vec() - W * x.vec()).norm(), 1e-11 * (1e-300 + W.norm() * x.norm()));
}

// (W + T) x = b on the rows that take part, x = 0 on the others. Small against |W + T| |x| + |b|; with `exact` also
// close to the dense solution.
void expect_solves(RowSpace& space, const MatX& W, const Shifted& s, Random& random, double tol, const char* what) {
    ASSERT_TRUE(space.factor(s.shift)) << what;
    RowVec x;
    const RowVec b = row_vector(random.vector(space.rows()));
    space.solve(s.shift, b, x);
    ASSERT_TRUE(x.allFinite()) << what;
    const int n = static_cast<int>(s.rows.size());
    MatX M(n, n);
    VecX right(n), found(n);
    VecX elsewhere = x.vec();
    for (int a = 0; a < n; ++a) {
        for (int c = 0; c < n; ++c) M(a, c) = W(s.rows[a], s.rows[c]) + s.T(s.rows[a], s.rows[c]);
        right[a] = b[s.rows[a]];
        found[a] = x[s.rows[a]];
        elsewhere[s.rows[a]] = 0;
    }
    if (elsewhere.size() > 0) {
        EXPECT_EQ(elsewhere.cwiseAbs().maxCoeff(), 0) << what;
    }
    if (n == 0) return;
    const double scale = M.cwiseAbs().maxCoeff() * found.norm() + right.norm();
    EXPECT_LE((M * found - right).norm(), tol * scale) << what;
    const VecX dense = M.partialPivLu().solve(right);
    EXPECT_LE((M * (found - dense)).norm(), 2 * tol * scale) << what;
}

StepProblem jointed(std::uint32_t seed, double skew, bool compliant, bool coupled) {
    RandomProblem make;
    make.nodes = 6;
    make.contacts = 9;
    make.joints = 4;
    make.mass_low = 0.1;
    make.mass_high = 10;
    make.skew = skew;
    make.polygons_only = false;
    StepProblem problem = make.problem(seed);
    Random random(seed + 77);
    if (coupled) {
        // Small against both masses, so that A stays definite; unsymmetric when skew is asked for.
        for (const auto& [a, b] : {std::pair(0, 3), std::pair(4, 1), std::pair(2, 5)}) {
            const MatX ab = 0.005 * random.matrix(problem.nodes().dof(a), problem.nodes().dof(b));
            const MatX ba = ab.transpose() +
                            (skew > 0 ? 0.002 : 0.0) * random.matrix(problem.nodes().dof(b), problem.nodes().dof(a));
            problem.A.block(problem.A.add_coupling(a, b)) = ab;
            problem.A.block(problem.A.add_coupling(b, a)) = ba;
        }
    }
    if (compliant) {
        for (int j = 0; j < problem.T.size(); ++j) problem.T[j] = random.below(2) ? random.log_uniform(1e-6, 1) : 0;
        for (int k = 0; k < problem.S.size(); ++k) problem.S[k] = random.below(2) ? random.log_uniform(1e-6, 1) : 0;
    }
    for (int k = 0; k < problem.c.size(); ++k) problem.c[k] = random.normal();
    for (int j = 0; j < problem.b.size(); ++j) problem.b[j] = random.normal();
    return problem;
}

// A wall: `across` x `up` boxes, four contacts to the box below and to the one beside.
StepProblem wall(int across, int up, std::uint32_t seed) {
    Random random(seed);
    ProblemBuilder build;
    for (int n = 0; n < across * up; ++n)
        build.body(random.uniform(0.5, 2), Vec3(random.uniform(0.1, 0.3), 0.2, 0.25), random.vector(3),
                   Vec3(0, 0, -0.1));
    for (int j = 0; j < up; ++j) {
        for (int i = 0; i < across; ++i) {
            const int n = j * across + i;
            for (int k = 0; k < 4; ++k) {
                const Vec3 below = 0.5 * Vec3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, -1);
                build.contact(n, j > 0 ? n - across : -1, below, below + Vec3(0, 0, 1), 0.6, 0);
                const Vec3 beside = 0.5 * Vec3(-1, k & 1 ? 1 : -1, k & 2 ? 1 : -1);
                if (i > 0) build.contact(n, n - 1, beside, beside + Vec3(1, 0, 0), 0.6, 0, Vec3::UnitX());
            }
        }
    }
    return build.problem();
}

void expect_both_forms(const DelassusProblem& problem, std::uint32_t seed, double spread, double skew, bool leave_out,
                       const char* what) {
    const MatX W = problem.W.dense();
    for (const bool compressed : {false, true}) {
        Random random(seed);
        DelassusSpace space;
        space.prepare(problem, compressed);
        ASSERT_EQ(space.rows(), W.rows());
        expect_image(space, W, random);
        for (int k = 0; k < 3; ++k) {
            const Shifted s = random_shift(space, random, spread, skew, leave_out);
            expect_solves(space, W, s, random, 1e-12, what);
        }
    }
}

}  // namespace

TEST(StepRows, ImageAndFreeVelocityAreThoseOfTheDenseMatrices) {
    for (std::uint32_t seed = 1; seed <= 40; ++seed) {
        const StepProblem problem = jointed(seed, seed % 2 ? 0.0 : 0.3, seed % 3 == 0, seed % 4 >= 2);
        StepRows space;
        ASSERT_TRUE(space.prepare(problem));
        Random random(seed);
        const MatX W = dense_W(problem);
        expect_image(space, W, random);
        const VecX v = problem.A.dense().partialPivLu().solve(problem.r);
        VecX q(space.rows());
        q << problem.joints.jacobian.dense(problem.nodes()) * v - problem.b,
            problem.contacts.jacobian.dense(problem.nodes()) * v + problem.c;
        EXPECT_LE((q - space.q).norm(), 1e-11 * q.norm()) << seed;
        // v of impulses
        const RowVec x = row_vector(random.vector(space.rows()));
        StepSolution solution;
        solution.size_to(problem);
        space.velocities(x, solution);
        VecX force = problem.r;
        problem.joints.jacobian.add_transpose_product(problem.nodes(), x.head(problem.joints.size()), force);
        problem.contacts.jacobian.add_transpose_product(problem.nodes(), x.tail(space.rows() - problem.joints.size()),
                                                        force);
        EXPECT_LE((problem.A.dense() * solution.v - force).norm(), 1e-11 * (force.norm() + 1));
        for (const double d : space.diagonal) EXPECT_GT(d, 0);
    }
}

TEST(StepRows, SolvesWhatDenseMatricesSolve) {
    for (std::uint32_t seed = 1; seed <= 60; ++seed) {
        const StepProblem problem = jointed(seed, seed % 2 ? 0.0 : 0.3, seed % 3 == 0, seed % 4 >= 2);
        StepRows space;
        ASSERT_TRUE(space.prepare(problem));
        const MatX W = dense_W(problem);
        Random random(seed);
        for (int k = 0; k < 3; ++k) {
            const Shifted s = random_shift(space, random, k == 0 ? 10 : 1e5, seed % 5 == 0 ? 0.3 : 0, k == 2);
            expect_solves(space, W, s, random, 1e-12, "jointed");
        }
    }
}

TEST(StepRows, SingularMassIsTold) {
    ProblemBuilder build;
    build.node(MatX::Zero(3, 3), VecX::Ones(3));
    build.contact_rows(1, {{0, MatX::Ones(1, 3)}}, 0, 0);
    StepRows space;
    EXPECT_FALSE(space.prepare(build.problem()));
}

TEST(DelassusSpace, RandomStoredProblemsAreSolvedInBothForms) {
    for (std::uint32_t seed = 1; seed <= 40; ++seed) {
        RandomProblem make;
        make.contacts = 10;
        make.joints = seed % 3 == 0 ? 1 : 0;
        make.repeat = 0.5;  // duplicated contacts: W is rank deficient
        make.mass_low = 0.1;
        make.mass_high = 10;
        make.skew = seed % 2 ? 0.0 : 0.3;  // and unsymmetric
        const DelassusProblem problem = to_delassus(make.problem(seed));
        expect_both_forms(problem, seed, 100, seed % 5 == 0 ? 0.3 : 0, seed % 4 == 0, "random");
    }
}

TEST(DelassusSpace, WallsOfBoxesNeedSixRowsOfTwelve) {
    for (std::uint32_t seed = 1; seed <= 4; ++seed) {
        const DelassusProblem problem = to_delassus(wall(3, 3, seed));
        expect_both_forms(problem, seed, 1e3, seed % 2 ? 0.0 : 0.3, seed == 3, "wall");
        DelassusSpace space;
        space.prepare(problem, false);
        const double plain = space.work();
        space.prepare(problem, true);
        EXPECT_LT(space.work(), 0.3 * plain) << "compressed pays: an eighth where fill is complete";
    }
}

TEST(DelassusSpace, ManyContactsBetweenTwoBodiesAreSplitAndStillSolved) {
    // 25 contacts between one pair: 75 rows of rank 6, more than one node of the factor
    Random random(5);
    ProblemBuilder build;
    build.body(1, Vec3(0.1, 0.2, 0.3), random.vector(3), Vec3::Zero());
    build.body(2, Vec3(0.3, 0.2, 0.3), random.vector(3), Vec3::Zero());
    for (int k = 0; k < 25; ++k) {
        const Vec3 arm = 0.4 * random.vector(3);
        build.contact(0, 1, arm, arm + Vec3(0, 0, 1), 0.4, 0, random.vector(3).normalized());
    }
    expect_both_forms(to_delassus(build.problem()), 5, 100, 0, false, "many");
}

TEST(DelassusSpace, ContactsThatNothingMovesAndNoContactsAtAll) {
    DelassusProblem problem;
    DelassusSpace space;
    space.prepare(problem, true);
    EXPECT_EQ(space.rows(), 0);
    RowShift none;
    EXPECT_TRUE(space.factor(none));
    RowVec b, x;
    space.solve(none, b, x);
    EXPECT_EQ(x.size(), 0);

    Nodes nodes;
    for (int i = 0; i < 3; ++i) nodes.add(i + 1);
    problem.W.shape_diagonal(nodes);
    problem.W.add_coupling(0, 2);
    problem.W.add_coupling(2, 0);
    problem.q = VecX::Ones(6);
    problem.friction.assign(3, 0.5);
    problem.facets.assign(3, 0);
    expect_both_forms(problem, 1, 10, 0, false, "W = 0");
}

TEST(DelassusSpace, OneSpaceServesOneProblemAfterTheOther) {
    DelassusSpace space;
    for (std::uint32_t seed = 1; seed <= 6; ++seed) {
        const DelassusProblem problem = to_delassus(seed % 2 ? wall(2, static_cast<int>(seed), seed)
                                                             : Pile{.facets = 0, .contacts = 15}.problem(seed));
        space.prepare(problem, seed % 3 != 0);
        Random random(seed);
        const Shifted s = random_shift(space, random, 100, 0, seed == 4);
        expect_solves(space, problem.W.dense(), s, random, 1e-12, "reused");
    }
}
