// A point that slides without friction over a curve whose curvature jumps where it is smooth otherwise [Haddouni, 4.3.3.4],
// q = (x, y), y up, parabola and plane meet at the edge x = 0 with equal height and slope:
//
//   parabola-plane   phi = y - c x^2/2  (x >= 0),   phi = y            (x <= 0)
//   plane-parabola   phi = y            (x >= 0),   phi = y + c x^2/2  (x <= 0)
//
// Contacts are unilateral with N = dphi/dq not of unit length, so that their force is the multiplier of the literature:
// lambda = m (g + s c x'^2)/(1 + c^2 x^2), s = 1 on the rising and -1 on the falling parabola. It jumps at the edge while the
// velocity does not. From the falling parabola the point takes off where c x'^2 > g at the edge.
// The thesis prints the Jacobians of the second on the wrong sides.
#include "mechanisms/benchmarks.hpp"

namespace stickslip {

namespace {

// phi = y - bend x^2/2
LagrangianModel::Contact face(const char* name, double bend, int side) {
    LagrangianModel::Contact contact;
    contact.name = name;
    contact.edge = 0;
    contact.side = side;
    contact.gap = [bend](const VecX& q) { return q[1] - bend * q[0] * q[0] / 2; };
    contact.jacobian = [bend](const VecX& q, MatX& H) { H.row(0) << -bend * q[0], 1; };
    contact.bias = [bend](const VecX&, const VecX& v, VecX& rate) { rate[0] = -bend * v[0] * v[0]; };
    return contact;
}

// Bend of the curve to the right and to the left of the edge.
Mechanism build_curve(const CurveParameters& p, const char* name, double right, double left, double end,
                      const OptionValues& values) {
    require(p.m > 0, "m must be positive [kg]", values, "m");
    require(p.g >= 0, "g must not be negative [m/s^2]", values, "g");
    require(p.curvature >= 0,
            "curvature must not be negative [1/m]; the other of the two mechanisms bends the other way", values,
            "curvature");
    Mechanism mechanism;
    LagrangianModel& model = mechanism.model;
    model.name = name;
    model.coordinates = {"x", "y"};
    model.nv = 2;
    model.constant_mass = Vec2(p.m, p.m).asDiagonal();
    const double weight = p.m * p.g;  // [N]
    model.potential = [weight](const VecX& q) { return weight * q[1]; };
    model.potential_force = [weight](const VecX&, VecX& k) { k[1] = -weight; };
    model.slopes = [](double, const VecX&, const VecX&, MatX&, MatX&) {};
    model.edges = {{"end of the parabola", [](const VecX& q) { return q[0]; }}};
    model.contacts = {face(right == 0 ? "plane" : "parabola", right, 1),
                      face(left == 0 ? "plane" : "parabola", left, -1)};
    model.bodies = {"point"};
    model.body_state = [](int, const VecX& q, const VecX& v) {
        return BodyState{{Vec3(q[0], q[1], 0), Quat::Identity()}, Vec3(v[0], v[1], 0), Vec3::Zero()};
    };
    const double bend = p.x0 < 0 ? left : right;
    mechanism.state = {0, Vec2(p.x0, bend * p.x0 * p.x0 / 2), Vec2(p.vx0, bend * p.x0 * p.vx0)};
    mechanism.end = end;
    return mechanism;
}

}  // namespace

Mechanism ParabolaPlane::build(const OptionValues& values) const {
    return build_curve(*this, name, curvature, 0, 1, values);
}

Mechanism PlaneParabola::build(const OptionValues& values) const {
    return build_curve(*this, name, 0, -curvature, 2, values);
}

}  // namespace stickslip
