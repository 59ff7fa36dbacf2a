// The claim that Poisson's law with friction never gains energy in the plane [Glocker & Pfeiffer 1995, p. 480] and what is wrong with
// it [Anitescu-Potra 1997, end of s.3]: its proof takes  x' eps G eps x <= x' G x  for symmetric G >= 0 and diagonal 0 <= eps <= 1, which
// holds for a common eps only. A body with two rough contacts in the plane then shows that not only the proof but the claim fails.
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "papers/impact_cases.hpp"

namespace stickslip {
namespace {

using testing::Impact;
using testing::strike;

TEST(GlockerPfeiffer, TheInequalityOfTheProofFailsForTwoRestitutions) {
    Eigen::Matrix2d G, eps = Eigen::Matrix2d::Zero();
    G << 4, 2, 2, 4;
    eps.diagonal() << 0.5, 1;
    const Vec2 x(1, -2);
    ASSERT_GT(G.determinant(), 0);
    EXPECT_EQ(x.dot(eps * G * eps * x), 13);
    EXPECT_EQ(x.dot(G * x), 12);  // and the proof needs at least 13
    // With one restitution it holds, whatever x.
    for (const double e : {0.0, 0.5, 1.0}) EXPECT_LE(e * e * x.dot(G * x), x.dot(G * x));
}

// All solutions of  u = u0 + W (given + p)  over the contacts, one tangent each: normal impulses p_N >= 0 beside the given ones, u_N
// >= 0 against them, friction under given + p_N; by trying every choice of open or pressed, stick or slide this or that way.
std::vector<VecX> by_modes(const MatX& W, const VecX& u0, const std::vector<double>& mu, const VecX& given) {
    const int n = static_cast<int>(mu.size());
    const VecX q = u0 + W * given;
    std::vector<VecX> found;
    for (int choice = 0; choice < std::pow(6, n); ++choice) {
        MatX A = MatX::Zero(2 * n, 2 * n);
        VecX right = VecX::Zero(2 * n);
        const auto side_of = [&](int i) { return (choice / static_cast<int>(std::pow(6, i))) % 3 - 1; };
        for (int i = 0; i < n; ++i) {
            const int N = 2 * i, T = N + 1, side = side_of(i);
            const bool pressed = (choice / static_cast<int>(std::pow(6, i))) % 6 >= 3;
            if (pressed) A.row(N) = W.row(N);
            A(N, N) += pressed ? 0 : 1;
            right[N] = pressed ? -q[N] : 0;
            if (side == 0) A.row(T) = W.row(T);
            right[T] = side == 0 ? -q[T] : -side * mu[i] * given[N];
            if (side == 0) continue;
            A(T, T) = 1;
            A(T, N) = side * mu[i];
        }
        const Eigen::FullPivLU<MatX> lu(A);
        if (!lu.isInvertible()) continue;
        const VecX p = lu.solve(right), u = q + W * p;
        bool fits = true;
        for (int i = 0; i < n; ++i) {
            const int N = 2 * i, T = N + 1, side = side_of(i);
            fits = fits && p[N] >= -1e-10 && u[N] >= -1e-10;
            fits = fits && (side == 0 ? std::abs(p[T]) <= mu[i] * (given[N] + p[N]) + 1e-10 : side * u[T] >= -1e-10);
        }
        const auto same = [&](const VecX& other) { return (other - p).norm() < 1e-8; };
        if (fits && std::none_of(found.begin(), found.end(), same)) found.push_back(p);
    }
    return found;
}

// A body of 1 kg and 0.5 kg m^2 strikes with two points at once, of restitution 0.5 and 1. Both phases have one solution each.
TEST(GlockerPfeiffer, ABodyInThePlaneGainsEnergyByPoissonsLaw) {
    Impact impact;
    impact.M = MatX::Identity(3, 3);
    impact.M(2, 2) = 0.5;
    impact.G = MatX(0, 3);
    impact.mu = {1, 0.5};
    impact.e = {0.5, 1};
    impact.v.resize(3);
    impact.v << 0.5, -1.5, -2.5;
    MatX H(4, 3);
    const double points[2][3] = {{-0.8, 0.5, 165}, {-1, 0.2, 270}};  // x, y [m], angle of the normal [degrees]
    for (int i = 0; i < 2; ++i) {
        const double x = points[i][0], y = points[i][1], angle = points[i][2] * std::numbers::pi / 180;
        const double nx = std::cos(angle), ny = std::sin(angle);
        H.row(2 * i) << nx, ny, x * ny - y * nx;
        H.row(2 * i + 1) << -ny, nx, x * nx + y * ny;
        impact.H.emplace_back(H.middleRows(2 * i, 2));
    }
    const MatX inverse = impact.M.inverse(), W = H * inverse * H.transpose();
    EXPECT_LE((H * impact.v)[0], 0);
    EXPECT_LE((H * impact.v)[2], 0);
    const auto compression = by_modes(W, H * impact.v, impact.mu, VecX::Zero(4));
    ASSERT_EQ(compression.size(), 1u);
    const VecX& p_c = compression[0];
    const VecX v_c = impact.v + inverse * H.transpose() * p_c;
    VecX returned = VecX::Zero(4);
    returned[0] = 0.5 * p_c[0];
    returned[2] = p_c[2];
    const auto decompression = by_modes(W, H * v_c, impact.mu, returned);
    ASSERT_EQ(decompression.size(), 1u);
    const VecX v = v_c + inverse * H.transpose() * (returned + decompression[0]);
    EXPECT_NEAR(impact.energy(v) / impact.energy(impact.v), 1.910937, 1e-6);

    const auto ours = strike(impact, "poisson");
    ASSERT_EQ(ours.end.end, RunEnd::finished) << ours.end.reason;
    EXPECT_LT((ours.end.v - v).norm(), 1e-7);
    EXPECT_NEAR(ours.gain, 0.910937 * impact.energy(impact.v), 1e-5);
    EXPECT_EQ(ours.end.impact_gains.count, 1);  // and the run says so
    // What Anitescu & Potra put in its place does not gain.
    EXPECT_LT(strike(impact, "poisson-simple").gain, 0);
}

// As printed, without friction under the impulse that comes back, one contact is enough: of a body of 1 kg and 0.1 kg m^2 with
// mu = e = 1 the compression stops everything, and what comes back, off the centre and without friction, turns it.
TEST(GlockerPfeiffer, AsPrintedOneContactIsEnough) {
    const double angle = 195 * std::numbers::pi / 180, nx = std::cos(angle), ny = std::sin(angle);
    Impact impact;
    impact.M = MatX::Identity(3, 3);
    impact.M(2, 2) = 0.1;
    impact.G = MatX(0, 3);
    impact.mu = {1};
    impact.e = {1};
    impact.v.resize(3);
    impact.v << 1, 1, 0;
    MatX H(2, 3);
    H << nx, ny, -ny + nx, -ny, nx, -nx - ny;  // at (-1, -1)
    impact.H = {H};
    const auto printed = strike(impact, "poisson-printed");
    ASSERT_EQ(printed.end.end, RunEnd::finished) << printed.end.reason;
    EXPECT_NEAR(printed.gain / impact.energy(impact.v), 3.5, 1e-6);
    EXPECT_EQ(printed.end.impact_gains.count, 1);
    EXPECT_EQ(printed.end.impact_law, "poisson-printed");
    EXPECT_LT(strike(impact, "poisson").gain, 1e-9);
}

}  // namespace
}  // namespace stickslip
