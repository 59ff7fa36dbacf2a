// Piles of equal discs or spheres with random masses and velocities, as step problems: the family on which pivoting
// solvers are compared (Stewart & Trinkle 1996; Anitescu & Potra 1997). Bodies sit in a jittered close packing on a
// plane; the contacts are the n lowest touching pairs; gravity, a lateral push and random velocities act. Bodies above
// touch nothing and fall freely, as in any scene.
//
//   dim 2   discs, one tangent (two directions of friction)      dim 3   spheres, polygons of `facets`
//
// With joints, every fifth touching pair is connected by a ball joint or, in turn, a hinge at the point where it
// touches; `glued` leaves the contacts of such pairs in place, so that joints hold contacts (rows of W that vanish).
#pragma once

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "support/problems.hpp"

namespace stickslip::testing {

struct Pile {
    int dim = 3;
    int facets = 4;
    int contacts = 20;
    double mu = 0.5;
    double step = 0.01;  // [s]
    bool joints = false;
    bool glued = false;

    StepProblem problem(std::uint32_t seed) const {
        const double r = 0.5;  // [m]
        Random random(1000003u * static_cast<std::uint32_t>(contacts) + 101u * static_cast<std::uint32_t>(dim) + seed);
        std::vector<Vec3> points = packing(r);
        for (Vec3& x : points)
            for (int k = 0; k < 3; ++k)
                if (dim == 3 || k != 1) x[k] += 0.02 * r * random.uniform(-1, 1);

        ProblemBuilder build;
        for (std::size_t i = 0; i < points.size(); ++i) {
            const double mass = random.uniform(0.5, 2);
            const Vec3 velocity(0.02 * random.normal() + 3 * step, dim == 3 ? 0.02 * random.normal() : 0.0,
                                0.02 * random.normal() - 9.81 * step);
            if (dim == 3) {
                build.body(mass, Vec3::Constant(0.4 * mass * r * r), velocity, Vec3::Zero());
            } else {
                MatX block = MatX::Zero(3, 3);
                block.diagonal() << mass, mass, 0.5 * mass * r * r;
                build.node(block, block * Vec3(velocity.x(), velocity.z(), 0));
            }
        }

        using Pair = std::tuple<double, int, int>;  // height, lower body (-1 the plane), upper body
        std::vector<Pair> pairs;
        for (int i = 0; i < static_cast<int>(points.size()); ++i) {
            const Vec3& x = points[i];
            if (x.z() < 1.1 * r) pairs.emplace_back(x.z() - r, -1, i);
            for (int j = 0; j < i; ++j) {
                const Vec3& y = points[j];
                if ((x - y).norm() < 2.1 * r) pairs.emplace_back(std::min(x.z(), y.z()), j, i);
            }
        }
        std::sort(pairs.begin(), pairs.end());

        int placed = 0, touching = 0;
        for (const auto& [height, j, i] : pairs) {
            if (placed == contacts) break;
            Vec3 n = Vec3::UnitZ();
            if (j >= 0) n = (points[i] - points[j]).normalized();
            if (joints && j >= 0 && ++touching % 5 == 0) {
                add_joint(build, i, j, n, r, touching % 10 == 0);
                if (!glued) continue;
            }
            add_contact(build, i, j, n, r);
            ++placed;
        }
        return build.problem();
    }

private:
    std::vector<Vec3> packing(double r) const {
        const int side = std::max(2, static_cast<int>(std::ceil(std::pow(contacts / 2.5, 1.0 / dim))) + 1);
        std::vector<Vec3> points;
        for (int k = 0; k < 4 * side; ++k) {
            const double shift = k % 2 ? r : 0;
            for (int i = 0; i < side; ++i)
                for (int j = 0; j < (dim == 3 ? side : 1); ++j)
                    points.emplace_back(shift + 2 * r * i, dim == 3 ? shift + 2 * r * j : 0.0,
                                        r + k * r * std::sqrt(dim == 3 ? 2.0 : 3.0));
        }
        return points;
    }
    // Velocity of a point at `arm` from the centre along `axis`, in the plane x, z.
    static MatX planar_row(const Vec3& arm, const Vec3& axis) {
        MatX row(1, 3);
        row << axis.x(), axis.z(), arm.x() * axis.z() - arm.z() * axis.x();
        return row;
    }
    static ProblemBuilder::Blocks planar_blocks(int i, int j, const Vec3& n, double r, const Vec3& a, const Vec3& b) {
        MatX upper(2, 3), lower(2, 3);
        upper << planar_row(-r * n, a), planar_row(-r * n, b);
        lower << -planar_row(r * n, a), -planar_row(r * n, b);
        ProblemBuilder::Blocks blocks{{i, upper}};
        if (j >= 0) blocks.emplace_back(j, lower);
        return blocks;
    }
    void add_contact(ProblemBuilder& build, int i, int j, const Vec3& n, double r) const {
        if (dim == 3)
            build.contact(i, j, -r * n, r * n, mu, facets, n);
        else
            build.contact_rows(2, planar_blocks(i, j, n, r, n, Vec3(-n.z(), 0, n.x())), mu, 0);
    }
    void add_joint(ProblemBuilder& build, int i, int j, const Vec3& n, double r, bool hinge) const {
        if (dim == 2) {
            build.joint_rows(2, planar_blocks(i, j, n, r, Vec3::UnitX(), Vec3::UnitZ()));
            return;
        }
        build.point_joint(i, j, -r * n, r * n);
        if (hinge) build.turn_joint(i, j, frame_of(n).topRows(2));  // turns about t2
    }
};

}  // namespace stickslip::testing
