// Both forms of the system of bodies and rows against Gauss with twice the digits.
#include <gtest/gtest.h>

#include "math/block_systems.hpp"
#include "math/kkt.hpp"

using namespace stickslip;
using namespace stickslip::testing;

namespace {

struct Errors {
    double v, force, lambda;  // relative, in the largest entry; force is G' lambda
};

double relative(const VecX& x, const std::vector<Wide>& exact, int first) {
    Wide largest = 0, error = 0;
    for (int i = 0; i < x.size(); ++i) {
        const Wide e = exact[first + i], d = x[i] - e;
        largest = std::max(largest, e < 0 ? -e : e);
        error = std::max(error, d < 0 ? -d : d);
    }
    return static_cast<double>(error / largest);
}

// Unknowns of a body and of the rows that come with it side by side.
std::vector<int> banded_order(const RowSystem& s) {
    std::vector<int> order;
    std::vector<char> done(static_cast<std::size_t>(s.G.groups()), 0);
    for (int n = 0; n < s.A.nodes.size(); ++n) {
        for (int k = s.A.nodes.start[n]; k < s.A.nodes.start[n + 1]; ++k) order.push_back(k);
        for (int g = 0; g < s.G.groups(); ++g) {
            bool ready = !done[g];
            for (const auto& b : s.G.blocks_of(g)) ready = ready && b.node <= n;
            if (!ready) continue;
            done[g] = 1;
            for (int i = s.G.row[g]; i < s.G.row[g + 1]; ++i) order.push_back(s.nv() + i);
        }
    }
    return order;
}

Errors errors(const RowSystem& s, KktSystem::Form form, int refinements = 1) {
    KktSystem kkt;
    kkt.wanted = form;
    kkt.analyse(s.A, s.G);
    EXPECT_TRUE(kkt.factor(s.A, s.G, s.T).ok);
    VecX v = VecX::Zero(s.nv()), lambda = VecX::Zero(s.rows());
    kkt.solve(s.A, s.G, s.T, s.r, s.b, v, lambda, refinements);

    VecX rhs(s.nv() + s.rows());
    rhs << s.r, s.b;
    std::vector<Wide> exact = solve_wide(s.dense(), rhs, banded_order(s));
    for (int i = 0; i < s.rows(); ++i) exact[s.nv() + i] *= -1;  // [v; -lambda]
    std::vector<Wide> force(static_cast<std::size_t>(s.nv()));
    const MatX G = s.G.dense(s.A.nodes);
    for (int i = 0; i < s.rows(); ++i)
        for (int k = 0; k < s.nv(); ++k)
            if (G(i, k) != 0) force[k] += Wide(G(i, k)) * exact[s.nv() + i];
    return {relative(v, exact, 0), relative(G.transpose() * lambda, force, 0), relative(lambda, exact, s.nv())};
}

}  // namespace

const auto both = {KktSystem::Form::kkt, KktSystem::Form::primal};

TEST(Kkt, ChainsOfAHundredJointsAreExactDownToTinyCompliance) {
    for (const auto form : both) {
        for (const bool hinges : {false, true}) {
            for (const double T : {1e-3, 1e-6, 1e-9}) {
                const Errors e = errors(chain(100, hinges, false, T), form);
                EXPECT_LT(e.v, 1e-12) << "hinges " << hinges << " T " << T;
                EXPECT_LT(e.lambda, 1e-12) << "hinges " << hinges << " T " << T;
            }
        }
    }
}

TEST(Kkt, MassRatiosOfAMillionDoNoHarm) {
    for (const auto form : both) {
        for (unsigned seed = 1; seed <= 3; ++seed) {
            for (const bool closed : {false, true}) {
                const Errors e = errors(chain(40, seed == 2, closed && seed != 2, 1e-9, 1e6, seed), form);
                EXPECT_LT(e.v, 1e-12) << "seed " << seed;
                EXPECT_LT(e.lambda, 1e-12) << "seed " << seed;
            }
        }
    }
}

TEST(Kkt, BodiesSoLightThatTheComplianceIsRoundingBesideThem) {
    // Masses down to 1e-6 at T = 1e-9: T is 1e-15 of 1/m, so the form must keep the rows, and one refinement is not enough.
    for (unsigned seed = 1; seed <= 3; ++seed) {
        for (const bool closed : {false, true}) {
            const RowSystem s = chain(40, seed == 2, closed && seed != 2, 1e-9, 1e-6, seed);
            const Errors e = errors(s, KktSystem::Form::automatic);
            EXPECT_LT(e.v, 1e-12) << "seed " << seed;
            EXPECT_LT(e.lambda, 1e-12) << "seed " << seed;
        }
    }
}

TEST(Kkt, ClosedLoopsOfBallsAndOverconstrainedLoopsOfHinges) {
    for (const auto form : both) {
        for (const bool hinges : {false, true}) {
            const Errors e = errors(chain(60, hinges, true, 1e-9), form);
            EXPECT_LT(e.v, 1e-12);
            EXPECT_LT(e.lambda, hinges ? 1e-9 : 1e-12);
        }
    }
}

TEST(Kkt, RedundantPilesAreRightToNineDigits) {
    for (const auto form : both) {
        for (const double T : {1e-6, 1e-9}) {
            for (const double ratio : {1.0, 1e3, 1e6}) {
                const RowSystem s = pile(27, T, ratio, 5);
                EXPECT_GT(s.rows(), s.nv());
                const Errors e = errors(s, form);
                EXPECT_LT(e.v, 1e-9) << "T " << T << " ratio " << ratio;
                EXPECT_LT(e.force, 1e-9) << "T " << T << " ratio " << ratio;
                EXPECT_LT(e.lambda, 1e-9) << "T " << T << " ratio " << ratio;
            }
        }
    }
}

TEST(Kkt, RigidIndependentRowsNeedNoCompliance) {
    const Errors e = errors(chain(30, true, false, 0), KktSystem::Form::kkt);
    EXPECT_LT(e.lambda, 1e-12);
}

TEST(Kkt, DuplicateRowsShareTheirLoadAndWithoutComplianceAreNamed) {
    RowSystem s = chain(5, false, false, 1e-9), twice = s;
    for (int g = 0; g < s.G.groups(); ++g) {
        twice.G.begin_group(s.G.dim(g));
        for (const auto& block : s.G.blocks_of(g))
            twice.G.add_block(block.node, 6) = s.G.values_of(g, block, s.A.nodes);
    }
    twice.T = VecX::Constant(twice.rows(), 2e-9);
    twice.b = VecX::Zero(twice.rows());
    KktSystem kkt;
    for (const auto form : both) {
        kkt.wanted = form;
        VecX v = VecX::Zero(s.nv()), lambda = VecX::Zero(s.rows()), v2 = v, lambda2 = VecX::Zero(twice.rows());
        kkt.analyse(s.A, s.G);
        ASSERT_TRUE(kkt.factor(s.A, s.G, s.T).ok);
        kkt.solve(s.A, s.G, s.T, s.r, s.b, v, lambda);
        kkt.analyse(twice.A, twice.G);
        ASSERT_TRUE(kkt.factor(twice.A, twice.G, twice.T).ok);
        kkt.solve(twice.A, twice.G, twice.T, twice.r, twice.b, v2, lambda2);
        EXPECT_LT((v - v2).lpNorm<Eigen::Infinity>(), 1e-12 * v.lpNorm<Eigen::Infinity>());
        EXPECT_LT((lambda2.head(s.rows()) - 0.5 * lambda).norm(), 1e-7 * lambda.norm());
    }
    kkt.wanted = KktSystem::Form::kkt;
    twice.T.setZero();
    kkt.analyse(twice.A, twice.G);
    const KktSystem::Status status = kkt.factor(twice.A, twice.G, twice.T);
    EXPECT_FALSE(status.ok);
    EXPECT_GE(status.group, 0);
    EXPECT_EQ(status.node, -1);
}

TEST(Kkt, NoRowsRowsOfZerosAndNoBodiesAtAll) {
    KktSystem kkt;
    RowSystem s;
    s.A.shape_diagonal(Nodes());
    s.T = s.r = s.b = VecX();
    for (const auto form : {KktSystem::Form::automatic, KktSystem::Form::kkt, KktSystem::Form::primal}) {
        kkt.wanted = form;
        VecX v, lambda;
        kkt.analyse(s.A, s.G);
        EXPECT_TRUE(kkt.factor(s.A, s.G, s.T).ok);
        EXPECT_EQ(kkt.solve(s.A, s.G, s.T, s.r, s.b, v, lambda), 0);

        RowSystem one;
        Nodes nodes;
        nodes.add(6);
        one.A.shape_diagonal(nodes);
        one.A.block(0) = 2 * MatX::Identity(6, 6);
        one.T = one.b = VecX();
        one.r = VecX::LinSpaced(6, 0, 5);
        v = VecX::Zero(6);
        kkt.analyse(one.A, one.G);
        EXPECT_TRUE(kkt.factor(one.A, one.G, one.T).ok);
        kkt.solve(one.A, one.G, one.T, one.r, one.b, v, lambda);
        EXPECT_EQ((v - one.r / 2).norm(), 0);

        one.G.begin_group(2);  // a row without a body: T lambda = b
        one.G.begin_group(1);
        one.G.add_block(0, 6);  // and one of zeros
        one.T = VecX::Constant(3, 0.5);
        one.b = VecX::LinSpaced(3, 1, 3);
        lambda = VecX::Zero(3);
        v.setZero();
        kkt.analyse(one.A, one.G);
        EXPECT_TRUE(kkt.factor(one.A, one.G, one.T).ok);
        kkt.solve(one.A, one.G, one.T, one.r, one.b, v, lambda);
        EXPECT_EQ((lambda - 2 * one.b).norm(), 0);
        EXPECT_EQ((v - one.r / 2).norm(), 0);
    }
}

TEST(Kkt, SwitchingRowsOffAndOnHasTheBitsOfAFreshFactor) {
    const RowSystem piled = pile(30, 1e-7), hung = chain(30, true, true, 1e-7);
    std::mt19937 random(5);
    for (const RowSystem* s : {&piled, &hung}) {
        for (const auto form : both) {
            KktSystem part, full;
            part.wanted = full.wanted = form;
            part.analyse(s->A, s->G);
            full.analyse(s->A, s->G);
            std::vector<char> active(static_cast<std::size_t>(s->rows()), 1);
            ASSERT_TRUE(part.factor(s->A, s->G, s->T, active).ok);
            for (int change = 0; change < 12; ++change) {
                std::vector<int> groups;
                for (int k = 0; k <= change % 3; ++k) {
                    groups.push_back(static_cast<int>(random() % static_cast<unsigned>(s->G.groups())));
                    for (int i = s->G.row[groups.back()]; i < s->G.row[groups.back() + 1]; ++i)
                        active[i] = random() % 2;
                }
                ASSERT_TRUE(part.refactor(s->A, s->G, s->T, active, groups).ok);
                ASSERT_TRUE(full.factor(s->A, s->G, s->T, active).ok);
                EXPECT_LT(part.factors().refactored(), full.factors().refactored());
                VecX v = VecX::Zero(s->nv()), lambda = VecX::Zero(s->rows());
                for (int i = 0; i < s->rows(); ++i) lambda[i] = active[i] ? 0.0 : 1e-3;
                VecX v2 = v, lambda2 = lambda;
                part.solve(s->A, s->G, s->T, s->r, s->b, v, lambda);
                full.solve(s->A, s->G, s->T, s->r, s->b, v2, lambda2);
                EXPECT_TRUE((v.array() == v2.array()).all() && (lambda.array() == lambda2.array()).all());
                // what was asked for: both equations hold, and rows that are off keep their impulse
                VecX f = s->r, w(s->rows());
                s->A.add_product(-1, v, f);
                s->G.add_transpose_product(s->A.nodes, lambda, f);
                EXPECT_LT(f.lpNorm<Eigen::Infinity>(), 1e-12 * (1 + lambda.lpNorm<Eigen::Infinity>()));
                s->G.product(s->A.nodes, v, w);
                for (int i = 0; i < s->rows(); ++i) {
                    if (active[i])
                        EXPECT_NEAR(w[i] + s->T[i] * lambda[i], s->b[i], 1e-12);
                    else
                        EXPECT_EQ(lambda[i], 1e-3);
                }
            }
        }
    }
}

TEST(Kkt, CouplingsAndTheAntisymmetricPartOfAAreCorrectedAgainstTheTrueA) {
    RowSystem s = chain(20, false, true, 1e-6);
    std::mt19937 random(2);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (int n = 0; n < 20; ++n) {
        const Vec3 spin(uniform(random), uniform(random), uniform(random));
        Mat3 cross;
        cross << 0, -spin.z(), spin.y(), spin.z(), 0, -spin.x(), -spin.y(), spin.x(), 0;
        s.A.block(n).bottomRightCorner(3, 3) += 1e-3 * cross;
    }
    for (int n = 0; n + 2 < 20; n += 3) {  // stiffness between two bodies, and its transpose
        s.A.add_coupling(n, n + 2);
        s.A.block(s.A.couplings.back()).diagonal().setConstant(-0.02);
        s.A.add_coupling(n + 2, n);
        s.A.block(s.A.couplings.back()).diagonal().setConstant(-0.02);
    }
    for (const auto form : both) {
        EXPECT_LT(errors(s, form, 8).v, 1e-12);
    }
}

TEST(Kkt, TheFormFollowsTheCost) {
    KktSystem kkt;
    const RowSystem hung = chain(50, true, false, 1e-9), piled = pile(64, 1e-6);
    kkt.analyse(hung.A, hung.G);
    EXPECT_EQ(kkt.form(), KktSystem::Form::kkt);
    kkt.analyse(piled.A, piled.G);
    EXPECT_EQ(kkt.form(), KktSystem::Form::primal);
    kkt.analyse(hung.A, hung.G);
    EXPECT_EQ(kkt.form(), KktSystem::Form::kkt);
}

TEST(Kkt, LargePilesAreDissectedTheSameWayEveryTimeAndSolved) {
    const RowSystem s = pile(1000, 1e-6);
    KktSystem first, second;
    VecX v[2], lambda[2];
    for (KktSystem* kkt : {&first, &second}) {
        const int k = kkt == &first ? 0 : 1;
        kkt->analyse(s.A, s.G);
        EXPECT_EQ(kkt->form(), KktSystem::Form::primal);
        EXPECT_TRUE(kkt->factors().dissected());
        ASSERT_TRUE(kkt->factor(s.A, s.G, s.T).ok);
        v[k] = VecX::Zero(s.nv());
        lambda[k] = VecX::Zero(s.rows());
        kkt->solve(s.A, s.G, s.T, s.r, s.b, v[k], lambda[k]);
    }
    EXPECT_TRUE((v[0].array() == v[1].array()).all() && (lambda[0].array() == lambda[1].array()).all());
    VecX f = s.r, w(s.rows());
    s.A.add_product(-1, v[0], f);
    s.G.add_transpose_product(s.A.nodes, lambda[0], f);
    EXPECT_LT(f.lpNorm<Eigen::Infinity>(), 1e-12 * s.r.lpNorm<Eigen::Infinity>());
    s.G.product(s.A.nodes, v[0], w);
    w += s.T.cwiseProduct(lambda[0]) - s.b;
    EXPECT_LT(w.lpNorm<Eigen::Infinity>(), 1e-12 * 9.81e-3);  // of the free fall of load()
}
