// Bricard's mechanism (IFToMM benchmark A04; Gonzalez, Dopico, Lugris & Cuadrado 2006): five equal rods and the ground in a ring
// of six hinges, each hinge at right angles to the rods that it joins. Each rod has a place and a unit quaternion that is the
// identity at t = 0, so q has 35 entries; velocities are those of the centres in the world and body-frame angular velocities.
//
//   hinge of rods i and j at the arms a, b, axis n of j, across it e1, e2 of i:
//   g = (p_i + R_i a - p_j - R_j b,   L (R_i e1).(R_j n),   L (R_i e2).(R_j n))
//
// Six hinges of five rows take all 30 freedoms by count, yet the ring moves: one row is redundant everywhere. It starts at rest in
// the cube's edges and falls (gravity along -y).
#include <array>

#include "math/so3.hpp"
#include "mechanisms/benchmarks.hpp"

namespace stickslip {

namespace {

constexpr int rods = 5, hinges = 6;

// A rod, or the ground (number -1 or 5).
struct Placed {
    Vec3 p = Vec3::Zero(), v = Vec3::Zero(), omega = Vec3::Zero();
    Mat3 R = Mat3::Identity();

    Placed(int rod, const VecX& q) {
        if (rod < 0 || rod >= rods) return;
        p = q.segment<3>(7 * rod);
        R = read_quaternion(q.data() + 7 * rod + 3).toRotationMatrix();
    }
    Placed(int rod, const VecX& q, const VecX& velocities) : Placed(rod, q) {
        if (rod < 0 || rod >= rods) return;
        v = velocities.segment<3>(6 * rod);
        omega = velocities.segment<3>(6 * rod + 3);
    }
    Vec3 rate(const Vec3& a) const { return R * omega.cross(a); }                      // of R a
    Vec3 second_rate(const Vec3& a) const { return R * omega.cross(omega.cross(a)); }  // at constant omega
};

struct Hinge {
    int before, after;  // rods
    Vec3 arm_before, arm_after;
    Vec3 axis;                   // of the rod after
    std::array<Vec3, 2> across;  // of the rod before
};

struct Ring {
    double L;
    std::array<Hinge, hinges> hinge;
};

Vec3 corner(int i, double L) {
    static constexpr int at[hinges][3] = {{0, 0, 0}, {1, 0, 0}, {1, -1, 0}, {1, -1, 1}, {0, -1, 1}, {0, 0, 1}};
    return L * Vec3(at[i % hinges][0], at[i % hinges][1], at[i % hinges][2]);
}

Vec3 middle(int rod, double L) {
    return rod < 0 || rod >= rods ? Vec3(0, 0, 0) : Vec3((corner(rod, L) + corner(rod + 1, L)) / 2);
}

Ring ring_of(double L) {
    Ring ring{L, {}};
    for (int i = 0; i < hinges; ++i) {
        const int axis = (i + 1) % 3;  // y, z, x, y, z, x
        Hinge& hinge = ring.hinge[i];
        hinge.before = i - 1;
        hinge.after = i;
        hinge.arm_before = corner(i, L) - middle(hinge.before, L);
        hinge.arm_after = corner(i, L) - middle(hinge.after, L);
        hinge.axis = Vec3::Unit(axis);
        hinge.across = {Vec3::Unit((axis + 1) % 3), Vec3::Unit((axis + 2) % 3)};
    }
    return ring;
}

void values_of(const Ring& ring, const VecX& q, VecX& g) {
    for (int i = 0; i < hinges; ++i) {
        const Hinge& hinge = ring.hinge[i];
        const Placed a(hinge.before, q), b(hinge.after, q);
        g.segment<3>(5 * i) = a.p + a.R * hinge.arm_before - b.p - b.R * hinge.arm_after;
        for (int k = 0; k < 2; ++k) g[5 * i + 3 + k] = ring.L * (a.R * hinge.across[k]).dot(b.R * hinge.axis);
    }
}

// d(R a) = -R [a]x dtheta in the body.
void jacobian_of(const Ring& ring, const VecX& q, MatX& G) {
    for (int i = 0; i < hinges; ++i) {
        const Hinge& hinge = ring.hinge[i];
        const Placed a(hinge.before, q), b(hinge.after, q);
        const Vec3 axis = b.R * hinge.axis;
        if (hinge.before >= 0) {
            G.block<3, 3>(5 * i, 6 * hinge.before).setIdentity();
            G.block<3, 3>(5 * i, 6 * hinge.before + 3) = -a.R * hat(hinge.arm_before);
        }
        if (hinge.after < rods) {
            G.block<3, 3>(5 * i, 6 * hinge.after) = -Mat3::Identity();
            G.block<3, 3>(5 * i, 6 * hinge.after + 3) = b.R * hat(hinge.arm_after);
        }
        for (int k = 0; k < 2; ++k) {
            const Vec3& own = hinge.across[k];
            const Vec3 across = a.R * own;
            if (hinge.before >= 0)
                G.block<1, 3>(5 * i + 3 + k, 6 * hinge.before + 3) =
                    ring.L * own.cross(a.R.transpose() * axis).transpose();
            if (hinge.after < rods)
                G.block<1, 3>(5 * i + 3 + k, 6 * hinge.after + 3) =
                    ring.L * hinge.axis.cross(b.R.transpose() * across).transpose();
        }
    }
}

void bias_of(const Ring& ring, const VecX& q, const VecX& v, VecX& c) {
    for (int i = 0; i < hinges; ++i) {
        const Hinge& hinge = ring.hinge[i];
        const Placed a(hinge.before, q, v), b(hinge.after, q, v);
        c.segment<3>(5 * i) = a.second_rate(hinge.arm_before) - b.second_rate(hinge.arm_after);
        const Vec3 axis = b.R * hinge.axis, axis_rate = b.rate(hinge.axis), axis_bend = b.second_rate(hinge.axis);
        for (int k = 0; k < 2; ++k) {
            const Vec3& own = hinge.across[k];
            c[5 * i + 3 + k] =
                ring.L * (a.second_rate(own).dot(axis) + 2 * a.rate(own).dot(axis_rate) + (a.R * own).dot(axis_bend));
        }
    }
}

}  // namespace

Mechanism Bricard::build(const OptionValues& values) const {
    require(m > 0, "m must be positive [kg]", values, "m");
    require(L > 0, "L must be positive [m]", values, "L");
    require(w > 0, "w must be positive [m]", values, "w");
    Mechanism mechanism;
    LagrangianModel& model = mechanism.model;
    model.name = name;
    model.nv = 6 * rods;
    model.constant_mass = MatX::Zero(model.nv, model.nv);
    VecX q = VecX::Zero(7 * rods);
    const double across = m * (L * L + w * w) / 12, along = m * w * w / 6;  // [kg m^2]
    std::array<Vec3, rods> inertia;
    for (int rod = 0; rod < rods; ++rod) {
        const std::string number = std::to_string(rod + 1);
        for (const char* part : {"x", "y", "z", "qw", "qx", "qy", "qz"}) model.coordinates.push_back(part + number);
        model.bodies.push_back("rod " + number);
        model.quaternion_blocks.push_back(7 * rod + 3);
        const Vec3 way = (corner(rod + 1, L) - corner(rod, L)) / L;
        Vec3& J = inertia[rod];
        for (int k = 0; k < 3; ++k) J[k] = way[k] != 0 ? along : across;
        model.constant_mass.diagonal().segment<3>(6 * rod).setConstant(m);
        model.constant_mass.diagonal().segment<3>(6 * rod + 3) = J;
        q.segment<3>(7 * rod) = middle(rod, L);
        q[7 * rod + 3] = 1;
    }
    model.gyroscopic = [inertia](const VecX& v, MatX& F) {
        for (int rod = 0; rod < rods; ++rod)
            F.block<3, 3>(6 * rod + 3, 6 * rod + 3) = hat(inertia[rod].cwiseProduct(Vec3(v.segment<3>(6 * rod + 3))));
    };
    const double weight = m * g;  // [N]
    model.potential = [weight](const VecX& x) {
        double U = 0;
        for (int rod = 0; rod < rods; ++rod) U += weight * x[7 * rod + 1];
        return U;
    };
    model.potential_force = [weight](const VecX&, VecX& k) {
        for (int rod = 0; rod < rods; ++rod) k[6 * rod + 1] = -weight;
    };
    model.slopes = [](double, const VecX&, const VecX&, MatX&, MatX&) {};

    const Ring ring = ring_of(L);
    model.joints = 5 * hinges;
    for (int i = 0; i < hinges; ++i)
        for (const char* row : {" along x", " along y", " along z", " tilt 1", " tilt 2"})
            model.joint_names.push_back("hinge " + std::to_string(i + 1) + row);
    model.joint_value = [ring](double, const VecX& x, VecX& value) { values_of(ring, x, value); };
    model.joint_jacobian = [ring](double, const VecX& x, MatX& G) { jacobian_of(ring, x, G); };
    model.joint_bias = [ring](double, const VecX& x, const VecX& v, VecX& c) { bias_of(ring, x, v, c); };
    model.body_state = [](int rod, const VecX& x, const VecX& v) {
        const Quat R = read_quaternion(x.data() + 7 * rod + 3);
        return BodyState{{x.segment<3>(7 * rod), R}, v.segment<3>(6 * rod), R * Vec3(v.segment<3>(6 * rod + 3))};
    };
    mechanism.state = {0, q, VecX::Zero(model.nv)};
    mechanism.end = 10;
    return mechanism;
}

}  // namespace stickslip
