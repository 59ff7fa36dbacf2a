// A thin disc that rolls without slip on the plane z = 0: centre, unit quaternion (body to world, disc normal e3), velocity
// of the centre in the world and angular velocity in the body. With b = R' e_z, s = |(b1, b2)| and the arm to the
// lowest point r_B = -a (b1, b2, 0)/s,
//
//   slip = v + R (omega x r_B) = 0:  two nonholonomic rows, and upwards the rate of the joint z - a s = 0
//   dG/dt v = R (omega x (omega x r_B) + omega x r_B'),    r_B' = -a (1 - c c')(b x omega)/s,  c = (b1, b2, 0)/s
//
// The floor holds the disc down too, and friction is unlimited. Left out: the disc that lies flat (s = 0).
#include <cmath>

#include "math/so3.hpp"
#include "mechanisms/mechanisms.hpp"

namespace stickslip {

namespace {

// The disc at q, as far as its rows need it.
struct Rim {
    Rim(const VecX& q, double a)
        : R(read_quaternion(q.data() + 3).toRotationMatrix()),
          up(R.row(2)),
          s(std::hypot(up[0], up[1])),
          down(up[0] / s, up[1] / s, 0),
          arm(-a * down) {}
    Mat3 turning() const { return R * hat(-arm); }  // the part of omega in the velocity of the lowest point
    Vec3 rate(const Vec3& omega, double a) const {
        Vec3 moving = up.cross(omega);
        moving[2] = 0;
        moving -= down * down.dot(moving);
        return R * omega.cross(omega.cross(arm) - (a / s) * moving);
    }

    Mat3 R;
    Vec3 up;    // e_z in the body
    double s;   // sine of the angle between the normal and the vertical
    Vec3 down;  // in the body, from the lowest point to the centre
    Vec3 arm;   // [m] in the body, from the centre to the lowest point
};

}  // namespace

Mechanism RollingDisc::build(const OptionValues& values) const {
    require(m > 0, "m must be positive [kg]", values, "m");
    require(a > 0, "a must be positive [m]", values, "a");
    require(std::cos(tilt) > 1e-6, "tilt must lie between -pi/2 and pi/2: a disc that lies flat has no lowest point",
            values, "tilt");
    Mechanism mechanism;
    LagrangianModel& model = mechanism.model;
    model.name = name;
    model.coordinates = {"x", "y", "z", "qw", "qx", "qy", "qz"};
    model.nv = 6;
    model.quaternion_blocks = {3};
    const Vec3 J = m * a * a * Vec3(0.25, 0.25, 0.5);
    model.constant_mass = (VecX(6) << m, m, m, J).finished().asDiagonal();
    model.gyroscopic = [J](const VecX& v, MatX& F) {
        F.block<3, 3>(3, 3) = hat(J.cwiseProduct(Vec3(v.segment<3>(3))));
    };
    model.potential = [p = *this](const VecX& q) { return p.m * p.g * q[2]; };
    model.potential_force = [p = *this](const VecX&, VecX& k) { k[2] = -p.m * p.g; };

    model.joints = 1;
    model.joint_names = {"floor"};
    model.joint_value = [r = a](double, const VecX& q, VecX& value) { value[0] = q[2] - r * Rim(q, r).s; };
    model.joint_jacobian = [r = a](double, const VecX& q, MatX& G) {
        G(0, 2) = 1;
        G.block<1, 3>(0, 3) = Rim(q, r).turning().row(2);
    };
    model.joint_bias = [r = a](double, const VecX& q, const VecX& v, VecX& c) {
        c[0] = Rim(q, r).rate(v.segment<3>(3), r)[2];
    };
    model.velocity_rows = 2;
    model.velocity_names = {"rolling along x", "rolling along y"};
    model.velocity_jacobian = [r = a](double, const VecX& q, MatX& G) {
        G(0, 0) = G(1, 1) = 1;
        G.block<2, 3>(0, 3) = Rim(q, r).turning().topRows<2>();
    };
    model.velocity_bias = [r = a](double, const VecX& q, const VecX& v, VecX& c) {
        const Vec3 rate = Rim(q, r).rate(v.segment<3>(3), r);
        c << rate[0], rate[1];
    };

    model.bodies = {"disc"};
    model.body_state = [](int, const VecX& q, const VecX& v) {
        const Quat R = read_quaternion(q.data() + 3);
        return BodyState{{Vec3(q.head<3>()), R}, v.head<3>(), R * Vec3(v.segment<3>(3))};
    };

    // Turned about the world's x from lying flat to `tilt` off the vertical; the lowest point at the origin, rolling.
    const double half = (1.5707963267948966 - tilt) / 2;
    VecX q = VecX::Zero(7), v = VecX::Zero(6);
    q.segment<4>(3) << std::cos(half), std::sin(half), 0, 0;
    v.segment<3>(3) << omega1_0, omega2_0, omega3_0;
    const Rim rim(q, a);
    q.head<3>() = -(rim.R * rim.arm);
    v.head<3>() = -(rim.turning() * v.segment<3>(3));
    mechanism.state = {0, q, v};
    mechanism.end = 3;
    return mechanism;
}

}  // namespace stickslip
