// Bodies and rows for the tests of the sparse factors: chains, loops, piles; and a slow solver with twice the digits.
#pragma once

#include <cmath>
#include <random>
#include <vector>

#include "stickslip/blocks.hpp"

namespace stickslip::testing {

#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 Wide;
#else
using Wide = long double;
#endif

struct RowSystem {
    BlockMatrix A;
    BlockRows G;
    VecX T, r, b;

    int nv() const { return A.nodes.nv(); }
    int rows() const { return G.rows(); }
    // r and b for a state at rest under gravity-like loads of the bodies' own size
    void load(unsigned seed) {
        std::mt19937 random(seed);
        std::uniform_real_distribution<double> uniform(-1, 1);
        r.resize(nv());
        b = VecX::Zero(rows());
        for (int n = 0; n < A.nodes.size(); ++n)
            for (int k = 0; k < A.nodes.dof(n); ++k)
                r[A.nodes.start[n] + k] = A.block(n)(k, k) * (k == 2 ? -9.81e-3 : 1e-3 * uniform(random));
    }
    MatX dense() const {
        MatX K = MatX::Zero(nv() + rows(), nv() + rows());
        K.topLeftCorner(nv(), nv()) = A.dense();
        K.bottomLeftCorner(rows(), nv()) = G.dense(A.nodes);
        K.topRightCorner(nv(), rows()) = K.bottomLeftCorner(rows(), nv()).transpose();
        K.bottomRightCorner(rows(), rows()).diagonal() = -T;
        return K;
    }
};

inline void add_point_rows(BlockRows& G, int node, const Vec3& arm, const MatX& axes, double sign, int rows) {
    auto J = G.add_block(node, 6);
    Mat3 cross;
    cross << 0, -arm.z(), arm.y(), arm.z(), 0, -arm.x(), -arm.y(), arm.x(), 0;
    J.topLeftCorner(rows, 3) = sign * axes.topRows(rows);
    J.topRightCorner(rows, 3) = -sign * axes.topRows(rows) * cross;
}

// n bodies in a row with ball joints (3 rows) or hinges (5 rows), the first hung from the ground; `closed` adds the joint
// from the last to the ground. Bodies lie on a circle: a straight line would make loops of balls singular.
inline RowSystem chain(int n, bool hinges, bool closed, double compliance, double heaviest = 1, unsigned seed = 1) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(0, 1);
    RowSystem s;
    Nodes nodes;
    for (int i = 0; i < n; ++i) nodes.add(6);
    s.A.shape_diagonal(nodes);
    for (int i = 0; i < n; ++i) {
        const double mass = std::pow(heaviest, uniform(random));
        s.A.block(i).diagonal() << mass, mass, mass, 0.1 * mass, 0.2 * mass, 0.3 * mass;
    }
    const int joints = n + (closed ? 1 : 0), dim = hinges ? 5 : 3;
    for (int j = 0; j < joints; ++j) {
        s.G.begin_group(dim);
        const double angle = 2.0 * j / n;
        const Vec3 arm(0.5 * std::cos(angle), 0.5 * std::sin(angle), 0.1 * std::sin(7 * angle));
        const Mat3 axes = Mat3::Identity();
        if (j < n) {
            add_point_rows(s.G, j, -arm, axes, 1, 3);
            if (hinges) s.G.values_of(j, s.G.blocks.back(), nodes).bottomRightCorner(2, 3) = axes.topRows(2);
        }
        if (j > 0) {
            add_point_rows(s.G, j - 1, arm, axes, -1, 3);
            if (hinges) s.G.values_of(j, s.G.blocks.back(), nodes).bottomRightCorner(2, 3) = -axes.topRows(2);
        }
    }
    s.T = VecX::Constant(s.G.rows(), compliance);
    s.load(seed);
    return s;
}

// A chain of balls in which every tenth body is also tied to the one nine before: closed loops beside each other.
inline RowSystem loops(int n, double compliance) {
    RowSystem s = chain(n, false, false, compliance);
    for (int i = 9; i < n; i += 10) {
        s.G.begin_group(3);
        const double angle = 2.0 * i / n;
        add_point_rows(s.G, i, Vec3(0.3 * std::cos(angle), 0.3, 0.2), Mat3::Identity(), 1, 3);
        add_point_rows(s.G, i - 9, Vec3(0.2, 0.3 * std::sin(angle), -0.1), Mat3::Identity(), -1, 3);
    }
    s.T = VecX::Constant(s.G.rows(), compliance);
    s.b = VecX::Zero(s.G.rows());
    return s;
}

// Spheres of unit radius on a disturbed cubic grid, each touching its lower neighbours and some beside it: three rows
// per contact, 3 to 6 contacts per body, rows far more than velocities.
inline RowSystem pile(int n, double compliance, double heaviest = 1, unsigned seed = 1) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(0, 1);
    RowSystem s;
    Nodes nodes;
    const int side = std::max(1, static_cast<int>(std::ceil(std::cbrt(static_cast<double>(n)))));
    std::vector<Vec3> x;
    for (int i = 0; i < n; ++i) {
        nodes.add(6);
        x.push_back(2.0 * Vec3(i % side, i / side % side, i / (side * side)) +
                    0.4 * Vec3(uniform(random), uniform(random), uniform(random)));
    }
    s.A.shape_diagonal(nodes);
    for (int i = 0; i < n; ++i) {
        const double mass = std::pow(heaviest, uniform(random));
        s.A.block(i).diagonal() << mass, mass, mass, 0.4 * mass, 0.4 * mass, 0.4 * mass;
    }
    const auto touch = [&](int a, int b) {
        const Vec3 between = b >= 0 ? (x[b] - x[a]).eval() : Vec3(0, 0, -2);
        const Vec3 normal = between.normalized();
        int axis = 0;
        normal.cwiseAbs().minCoeff(&axis);
        const Vec3 t = (Vec3::Unit(axis) - normal[axis] * normal).normalized();
        Mat3 frame;
        frame << -normal.transpose(), t.transpose(), normal.cross(t).transpose();
        s.G.begin_group(3);
        add_point_rows(s.G, a, 0.5 * between, frame, 1, 3);
        if (b >= 0) add_point_rows(s.G, b, -0.5 * between, frame, -1, 3);
    };
    for (int i = 0; i < n; ++i) {
        const int ix = i % side, iy = i / side % side, iz = i / (side * side);
        touch(i, iz > 0 ? i - side * side : -1);
        if (ix > 0 && uniform(random) < 0.8) touch(i, i - 1);
        if (iy > 0 && uniform(random) < 0.8) touch(i, i - side);
        if (iz > 0 && ix > 0 && uniform(random) < 0.4) touch(i, i - side * side - 1);
    }
    s.T = VecX::Constant(s.G.rows(), compliance);
    s.load(seed);
    return s;
}

// Gauss with partial pivoting in wide numbers, skipping zeros. Unknowns are taken in the order given, to keep bands.
inline std::vector<Wide> solve_wide(const MatX& K, const VecX& rhs, const std::vector<int>& order) {
    const int n = static_cast<int>(K.rows());
    std::vector<std::vector<Wide>> a(static_cast<std::size_t>(n), std::vector<Wide>(static_cast<std::size_t>(n) + 1));
    std::vector<int> last(static_cast<std::size_t>(n), 0);  // columns behind are zero
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            a[i][j] = K(order[i], order[j]);
            if (a[i][j] != 0) last[i] = j;
        }
        a[i][n] = rhs[order[i]];
    }
    for (int k = 0; k < n; ++k) {
        int best = k;
        const auto size = [](Wide x) { return x < 0 ? -x : x; };
        for (int i = k + 1; i < n; ++i)
            if (size(a[i][k]) > size(a[best][k])) best = i;
        std::swap(a[k], a[best]);
        std::swap(last[k], last[best]);
        for (int i = k + 1; i < n; ++i) {
            if (a[i][k] == 0) continue;
            const Wide f = a[i][k] / a[k][k];
            for (int j = k; j <= last[k]; ++j) a[i][j] -= f * a[k][j];
            a[i][n] -= f * a[k][n];
            last[i] = std::max(last[i], last[k]);
        }
    }
    std::vector<Wide> x(static_cast<std::size_t>(n)), y(static_cast<std::size_t>(n));
    for (int k = n - 1; k >= 0; --k) {
        Wide sum = a[k][n];
        for (int j = k + 1; j <= last[k]; ++j) sum -= a[k][j] * y[j];
        y[k] = sum / a[k][k];
        x[order[k]] = y[k];
    }
    return x;
}

}  // namespace stickslip::testing
