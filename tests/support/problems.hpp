// Small step problems built by hand, for the tests of residuals, conversions and solvers.
//
//   ProblemBuilder build;
//   const int crate = build.body(10.0, Vec3(1, 1, 1), Vec3::Zero(), h * gravity);
//   build.contact(crate, -1, corner, Vec3::Zero(), 0.5, 8);
//   StepProblem problem = build.problem();
//
// Bodies are spatial (6 velocities, attitude identity, so body and world axes agree); node() takes any block.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "stickslip/problem.hpp"

namespace stickslip::testing {

inline Mat3 cross_matrix(const Vec3& x) {
    Mat3 result;
    result << 0, -x.z(), x.y(), x.z(), 0, -x.x(), -x.y(), x.x(), 0;
    return result;
}

// Contact frame (n, t1, t2) as rows; t1 from the world axis least aligned with n.
inline Mat3 frame_of(const Vec3& n) {
    int axis = 0;
    n.cwiseAbs().minCoeff(&axis);
    const Vec3 t1 = (Vec3::Unit(axis) - n[axis] * n).normalized();
    Mat3 rows;
    rows << n.transpose(), t1.transpose(), n.cross(t1).transpose();
    return rows;
}

// Deterministic numbers; the distributions of the standard library differ between platforms.
class Random {
public:
    explicit Random(std::uint32_t seed) : engine_(seed) {}
    double uniform(double low, double high) {
        return low + (high - low) * (static_cast<double>(engine_()) / 4294967296.0);
    }
    double normal() {  // sum of twelve: close enough, and the same everywhere
        double sum = -6;
        for (int i = 0; i < 12; ++i) sum += uniform(0, 1);
        return sum;
    }
    int below(int n) { return static_cast<int>(engine_() % static_cast<std::uint32_t>(n)); }
    double log_uniform(double low, double high) { return std::exp(uniform(std::log(low), std::log(high))); }
    VecX vector(int n) {
        VecX x(n);
        for (int i = 0; i < n; ++i) x[i] = normal();
        return x;
    }
    MatX matrix(int rows, int columns) {
        MatX x(rows, columns);
        for (int j = 0; j < columns; ++j)
            for (int i = 0; i < rows; ++i) x(i, j) = normal();
        return x;
    }

private:
    std::mt19937 engine_;
};

class ProblemBuilder {
public:
    using Blocks = std::vector<std::pair<int, MatX>>;  // (node, dim x dof)

    // A node with its diagonal block of A and its part of r [N s]; returns its number.
    int node(const MatX& block, const VecX& r) {
        blocks_.push_back(block);
        r_.push_back(r);
        return static_cast<int>(blocks_.size()) - 1;
    }
    // A spatial body: A = diag(m, J), r = A v0 + impulse [N s] at the centre of mass.
    int body(double mass, const Vec3& inertia, const Vec3& velocity, const Vec3& impulse,
             const Vec3& angular_velocity = Vec3::Zero()) {
        MatX block = MatX::Zero(6, 6);
        block.diagonal() << mass, mass, mass, inertia;
        VecX v0(6), p0 = VecX::Zero(6);
        v0 << velocity, angular_velocity;
        p0.head<3>() = impulse;
        return node(block, block * v0 + p0);
    }
    void couple(int a, int b, const MatX& ab) { couplings_.push_back({a, b, ab}); }

    // A contact with given rows, normal first; facets 0 is the disc.
    int contact_rows(int dim, const Blocks& blocks, double mu, int facets) {
        const auto number = static_cast<std::uint32_t>(problem_.contacts.size());
        problem_.contacts.begin_contact({.a = number}, dim, 0.0, mu, 0.0, facets);
        for (const auto& [n, values] : blocks)
            problem_.contacts.jacobian.add_block(n, static_cast<int>(values.cols())) = values;
        return static_cast<int>(number);
    }
    // A contact of body a against b (-1: the ground) at arms from their centres, normal from b to a.
    int contact(int a, int b, const Vec3& arm_a, const Vec3& arm_b, double mu, int facets,
                const Vec3& normal = Vec3::UnitZ(), int dim = 3) {
        return contact_rows(dim, point_blocks(a, b, arm_a, arm_b, frame_of(normal).topRows(dim)), mu, facets);
    }
    // Bilateral rows; the index of the first one is returned, b, T and bounds are set on the finished problem.
    int joint_rows(int dim, const Blocks& blocks) {
        const int first = problem_.joints.begin_group(static_cast<std::uint32_t>(problem_.joints.jacobian.groups()),
                                                      dim, RowKind::holonomic);
        for (const auto& [n, values] : blocks)
            problem_.joints.jacobian.add_block(n, static_cast<int>(values.cols())) = values;
        return first;
    }
    // The relative velocity of two points along the rows of `axes` (Mat3::Identity(): a ball joint).
    int point_joint(int a, int b, const Vec3& arm_a, const Vec3& arm_b, const MatX& axes = Mat3::Identity()) {
        return joint_rows(static_cast<int>(axes.rows()), point_blocks(a, b, arm_a, arm_b, axes));
    }
    // The relative angular velocity along the rows of `axes`.
    int turn_joint(int a, int b, const MatX& axes) {
        const int dim = static_cast<int>(axes.rows());
        Blocks blocks;
        MatX J = MatX::Zero(dim, 6);
        J.rightCols(3) = axes;
        blocks.emplace_back(a, J);
        if (b >= 0) blocks.emplace_back(b, -J);
        return joint_rows(dim, blocks);
    }

    // Everything so far, sized, with c = S = T = b = 0 and infinite bounds.
    StepProblem problem() const {
        StepProblem result = problem_;
        Nodes nodes;
        for (const MatX& block : blocks_) nodes.add(static_cast<int>(block.rows()));
        result.A.shape_diagonal(nodes);
        for (int n = 0; n < nodes.size(); ++n) result.A.block(n) = blocks_[n];
        for (const auto& [a, b, ab] : couplings_) {
            const int offset = static_cast<int>(result.A.values.size());
            result.A.values.insert(result.A.values.end(), ab.data(), ab.data() + ab.size());
            result.A.couplings.push_back({a, b, offset});
        }
        result.size_to_rows();
        for (int n = 0; n < nodes.size(); ++n) result.r.segment(nodes.start[n], nodes.dof(n)) = r_[n];
        return result;
    }

private:
    struct Coupling {
        int a, b;
        MatX ab;
    };
    static Blocks point_blocks(int a, int b, const Vec3& arm_a, const Vec3& arm_b, const MatX& axes) {
        Blocks blocks;
        MatX J(axes.rows(), 6);
        J << axes, -axes * cross_matrix(arm_a);
        blocks.emplace_back(a, J);
        if (b >= 0) {
            J << -axes, axes * cross_matrix(arm_b);
            blocks.emplace_back(b, J);
        }
        return blocks;
    }

    std::vector<MatX> blocks_;
    std::vector<VecX> r_;
    std::vector<Coupling> couplings_;
    StepProblem problem_;
};

inline Vec3 box_inertia(double mass, const Vec3& edges) {
    const Vec3 s = edges.cwiseProduct(edges) / 12;
    return mass * Vec3(s.y() + s.z(), s.z() + s.x(), s.x() + s.y());
}

// A box standing on the ground with its four lower corners.
struct BoxOnPlane {
    double mass = 2;            // [kg]
    Vec3 edges{0.4, 0.3, 0.2};  // [m]
    double mu = 0.5;
    int facets = 8;
    Vec3 velocity = Vec3::Zero();  // [m/s] at the start of the step
    Vec3 force = Vec3::Zero();     // [N] at the centre of mass, beside the weight
    double step = 1e-3;            // [s]

    StepProblem problem() const {
        ProblemBuilder build;
        const int box = build.body(mass, box_inertia(mass, edges), velocity, step * (force - mass * Vec3(0, 0, 9.81)));
        for (int i = 0; i < 4; ++i) {
            const Vec3 corner = 0.5 * Vec3(i & 1 ? edges.x() : -edges.x(), i & 2 ? edges.y() : -edges.y(), -edges.z());
            build.contact(box, -1, corner, Vec3::Zero(), mu, facets);
        }
        return build.problem();
    }
};

// Boxes on top of each other, four corners each; masses from the bottom up, repeated when there are fewer.
struct BoxStack {
    int boxes = 5;
    std::vector<double> masses{1.0};  // [kg]
    double edge = 1;                  // [m]
    double mu = 0.5;
    int facets = 8;
    Vec3 push = Vec3::Zero();  // [N] on the topmost box
    double step = 1e-3;        // [s]

    StepProblem problem() const {
        ProblemBuilder build;
        for (int n = 0; n < boxes; ++n) {
            const double m = masses[static_cast<std::size_t>(n) % masses.size()];
            const Vec3 force = -m * Vec3(0, 0, 9.81) + (n + 1 == boxes ? push : Vec3::Zero());
            build.body(m, box_inertia(m, Vec3::Constant(edge)), Vec3::Zero(), step * force);
        }
        for (int n = 0; n < boxes; ++n) {
            for (int i = 0; i < 4; ++i) {
                const Vec3 below = 0.5 * edge * Vec3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, -1);
                build.contact(n, n - 1, below, below + Vec3(0, 0, edge), mu, facets);
            }
        }
        return build.problem();
    }
};

// Random nodes (size 1 to 6), contacts of mixed dimension between random pairs of nodes, some of them repeated so
// that the rows are redundant, some joints, possibly repeated too. c = 0 and b = 0: a solution always exists.
struct RandomProblem {
    int nodes = 4;
    int contacts = 6;
    int joints = 2;
    double mass_low = 1e-3, mass_high = 1e3;  // [kg]
    double repeat = 0.3;                      // chance that a contact copies the rows of an earlier one
    double skew = 0;                          // gyroscopic part of the blocks, relative to the mass
    bool polygons_only = true;                // else discs in half of the spatial contacts
    int largest_node = 6;

    StepProblem problem(std::uint32_t seed) const {
        Random random(seed);
        ProblemBuilder build;
        std::vector<int> dofs;
        for (int n = 0; n < nodes; ++n) {
            const int d = 1 + random.below(largest_node);
            const MatX root = random.matrix(d, d), twist = random.matrix(d, d);
            const double mass = random.log_uniform(mass_low, mass_high);
            const MatX block =
                mass * (MatX::Identity(d, d) + 0.1 * root * root.transpose() + skew * (twist - twist.transpose()));
            build.node(block, mass * random.vector(d));
            dofs.push_back(d);
        }
        const auto rows = [&](int dim) {
            ProblemBuilder::Blocks blocks;
            const int a = random.below(nodes), b = random.below(nodes + 1);
            blocks.emplace_back(a, random.matrix(dim, dofs[a]));
            if (b < nodes && b != a) blocks.emplace_back(b, random.matrix(dim, dofs[b]));
            return blocks;
        };
        std::vector<ProblemBuilder::Blocks> made;
        for (int i = 0; i < contacts; ++i) {
            ProblemBuilder::Blocks blocks = rows(1 + random.below(3));
            if (!made.empty() && random.uniform(0, 1) < repeat)
                blocks = made[random.below(static_cast<int>(made.size()))];
            made.push_back(blocks);
            const int sizes[] = {4, 6, 8, 12};
            const bool disc = !polygons_only && random.below(2) == 0;
            const double mu = random.below(6) == 0 ? 0.0 : random.uniform(0.05, 1.5);
            build.contact_rows(static_cast<int>(blocks[0].second.rows()), blocks, mu,
                               disc ? 0 : sizes[random.below(4)]);
        }
        made.clear();
        for (int j = 0; j < joints; ++j) {
            ProblemBuilder::Blocks blocks = rows(1);
            if (!made.empty() && random.uniform(0, 1) < repeat) blocks = made[random.below(j)];
            made.push_back(blocks);
            build.joint_rows(1, blocks);
        }
        return build.problem();
    }
};

}  // namespace stickslip::testing
