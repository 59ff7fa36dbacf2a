// A stiff flyball governor (IFToMM benchmark A05; Gonzalez, Dopico, Lugris & Cuadrado 2006): q = (psi, phi1, phi2, s), the angle
// of the shaft about z, of the two rods below the horizontal, and the height of the slider on the shaft. Rods are hinged at the
// distance e from the axis at the top of the shaft, opposite to each other, and carry a ball at their ends; a spring-damper goes
// from the slider, again e from the axis, to the middle of each rod:
//
//   I(q) = I0 + sum 2 b cos phi_i + a cos^2 phi_i,   T = I psi'^2/2 + J (phi1'^2 + phi2'^2)/2 + m s'^2/2
//   length_i = |(L/2 cos phi_i,  H - L/2 sin phi_i - s)|
//
// The angular momentum I psi' is constant. The spring-dampers are compliant rows; what makes the problem stiff is that they
// hardly give: their damped mode has 1e4 1/s, the motion that is asked for 1 s. No joint rows are left in these coordinates.
#include <array>
#include <numbers>

#include "mechanisms/benchmarks.hpp"
#include "mechanisms/two_links.hpp"

namespace stickslip {

namespace {

using std::numbers::pi;

struct Turning {
    double I0, a, b;  // [kg m^2]

    double inertia(const VecX& q) const {
        double sum = I0;
        for (int i = 1; i <= 2; ++i) sum += std::cos(q[i]) * (2 * b + a * std::cos(q[i]));
        return sum;
    }
    double slope(double phi) const { return -2 * std::sin(phi) * (b + a * std::cos(phi)); }
    double bend(double phi) const { return -2 * (b * std::cos(phi) + a * std::cos(2 * phi)); }
};

// From the slider to the middle of rod i: outward, upward.
struct SpringWay {
    int i;
    double half, top;  // [m]

    Vec2 way(const VecX& q) const { return {half * std::cos(q[i]), top - half * std::sin(q[i]) - q[3]}; }
    Vec2 rate(const VecX& q, const VecX& v) const {
        return {-half * std::sin(q[i]) * v[i], -half * std::cos(q[i]) * v[i] - v[3]};
    }
    Vec2 second_rate(const VecX& q, const VecX& v) const {
        return v[i] * v[i] * half * Vec2(-std::cos(q[i]), std::sin(q[i]));
    }
};

LagrangianModel::Spring spring_on(const SpringWay& between, const FlyballGovernor& p) {
    LagrangianModel::Spring spring;
    spring.name = "spring " + std::to_string(between.i);
    spring.stiffness = p.K;
    spring.damping = p.C;
    spring.value = [between, relaxed = p.rest_length](const VecX& q) { return between.way(q).norm() - relaxed; };
    spring.gradient = [between](const VecX& q, VecX& G) {
        const Vec2 unit = between.way(q).normalized();
        G[between.i] = -between.half * (unit[0] * std::sin(q[between.i]) + unit[1] * std::cos(q[between.i]));
        G[3] = -unit[1];
    };
    spring.bias = [between](const VecX& q, const VecX& v) {
        const Vec2 way = between.way(q), rate = between.rate(q, v);
        const double length = way.norm(), speed = way.dot(rate) / length;
        return (rate.squaredNorm() - speed * speed + way.dot(between.second_rate(q, v))) / length;
    };
    return spring;
}

}  // namespace

Mechanism FlyballGovernor::build(const OptionValues& values) const {
    require(rod_length > 0, "rod_length must be positive [m]", values, "rod_length");
    require(section > 0, "section must be positive [m]", values, "section");
    require(density > 0, "density must be positive [kg/m^3]", values, "density");
    require(slider_side > 0, "slider_side must be positive [m]", values, "slider_side");
    require(hinge_offset >= 0, "hinge_offset must not be negative [m]", values, "hinge_offset");
    require(point_mass > 0, "point_mass must be positive [kg]", values, "point_mass");
    require(K >= 0, "K must not be negative [N/m]", values, "K");
    require(C >= 0, "C must not be negative [N s/m]", values, "C");
    require(shaft_length > 0, "shaft_length must be positive [m]", values, "shaft_length");
    const double L = rod_length, e = hinge_offset, H = shaft_length, phi0 = alpha_deg * pi / 180;
    const double square = section * section;
    const double rod = density * L * square, slider = density * slider_side * slider_side * slider_side,
                 shaft = density * H * square;                                    // [kg]
    const double across = rod * (L * L + square) / 12, along = rod * square / 6;  // [kg m^2] of a rod
    const Turning turning{
        .I0 = slider * slider_side * slider_side / 6 + shaft * square / 6 + 2 * ((rod + point_mass) * e * e + along),
        .a = (rod / 4 + point_mass) * L * L + across - along,
        .b = e * (rod / 2 + point_mass) * L};
    const double J = across + (rod / 4 + point_mass) * L * L;

    Mechanism mechanism;
    LagrangianModel& model = mechanism.model;
    model.name = name;
    model.coordinates = {"psi", "phi1", "phi2", "s"};
    model.nv = 4;
    model.mass = [=](const VecX& q, MatX& M) {
        M(0, 0) = turning.inertia(q);
        M(1, 1) = M(2, 2) = J;
        M(3, 3) = slider;
    };
    model.coriolis = [turning](const VecX& q, const VecX& v, VecX& f) {
        for (int i = 1; i <= 2; ++i) {
            const double slope = turning.slope(q[i]);
            f[0] -= slope * v[i] * v[0];
            f[i] = slope * v[0] * v[0] / 2;
        }
    };
    const double weight = slider * g, arm = (rod / 2 + point_mass) * g * L;  // [N], [N m]
    const double hinged = 2 * (rod + point_mass) * g * H;                    // [J]
    model.potential = [=](const VecX& q) { return hinged + weight * q[3] - arm * (std::sin(q[1]) + std::sin(q[2])); };
    model.potential_force = [=](const VecX& q, VecX& k) {
        k[1] = arm * std::cos(q[1]);
        k[2] = arm * std::cos(q[2]);
        k[3] = -weight;
    };
    model.slopes = [=](double, const VecX& q, const VecX& v, MatX& stiffness, MatX& damping) {
        for (int i = 1; i <= 2; ++i) {
            const double slope = turning.slope(q[i]), bend = turning.bend(q[i]);
            stiffness(0, i) = bend * v[i] * v[0];
            stiffness(i, i) = -bend * v[0] * v[0] / 2 + arm * std::sin(q[i]);
            damping(0, 0) += slope * v[i];
            damping(0, i) = slope * v[0];
            damping(i, 0) = -slope * v[0];
        }
    };
    for (int i = 1; i <= 2; ++i) {
        const SpringWay between{i, L / 2, H};
        VecX start(4);
        start << 0, phi0, phi0, s0;
        require(between.way(start).norm() > 1e-12 * L,
                "the slider must not start in the middle of the rods (s0, alpha_deg, shaft_length)", values,
                given_of({"s0", "alpha_deg", "rod_length", "shaft_length"}, values));
        model.springs.push_back(spring_on(between, *this));
    }

    model.bodies = {"shaft", "rod 1", "rod 2", "ball 1", "ball 2", "slider"};
    model.body_state = [=](int body, const VecX& q, const VecX& v) {
        if (body == 0 || body == 5)
            return BodyState{{Vec3(0, 0, body == 0 ? H / 2 : q[3]), about_z(q[0])},
                             Vec3(0, 0, body == 0 ? 0 : v[3]),
                             Vec3(0, 0, v[0])};
        const int i = body % 2 == 1 ? 1 : 2;
        const double reach = body <= 2 ? L / 2 : L, azimuth = q[0] + (i == 1 ? 0 : pi);
        const Vec3 out = direction(azimuth), side = left_of(azimuth), up = Vec3::UnitZ();
        const double c = std::cos(q[i]), s = std::sin(q[i]), radius = e + reach * c;
        const Quat down(std::cos(q[i] / 2), 0, std::sin(q[i] / 2), 0);
        return BodyState{{radius * out + (H - reach * s) * up, about_z(azimuth) * down},
                         v[0] * radius * side - reach * v[i] * (s * out + c * up),
                         v[0] * up + v[i] * side};
    };
    mechanism.state = {0, Eigen::Vector4d(0, phi0, phi0, s0), Eigen::Vector4d(2 * pi * omega0_over_2pi, 0, 0, 0)};
    mechanism.end = 10;
    mechanism.step = 1e-4;  // [s] explicit methods are unstable beyond 3e-4, implicit ones follow in 5e-3
    return mechanism;
}

}  // namespace stickslip
