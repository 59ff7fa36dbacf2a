// A block on a table under a periodic push [Potra et al. 2006, 10.2]:
//
//   m x'' = A cos(w t + phase) + friction,  |friction| <= mu m g,  q = (x, y), table y >= 0
#include <cmath>

#include "mechanisms/mechanisms.hpp"

namespace stickslip {

Mechanism BlockStickSlip::build(const OptionValues& values) const {
    require(m > 0, "m must be positive [kg]", values, "m");
    require(mu >= 0, "mu must not be negative", values, "mu");
    Mechanism mechanism;
    LagrangianModel& model = mechanism.model;
    model.name = name;
    model.coordinates = {"x", "y"};
    model.nv = 2;
    model.constant_mass = m * MatX::Identity(2, 2);
    model.potential = [p = *this](const VecX& q) { return p.m * p.g * q[1]; };
    model.potential_force = [p = *this](const VecX&, VecX& k) { k[1] = -p.m * p.g; };
    model.applied = [p = *this](double t, const VecX&, const VecX&, VecX& k) {
        k[0] = p.A * std::cos(p.w * t + p.phase);
    };
    LagrangianModel::Contact table;
    table.name = "table";
    table.tangents = 1;
    table.friction = mu;
    table.gap = [](const VecX& q) { return q[1]; };
    table.jacobian = [](const VecX&, MatX& H) {
        H(0, 1) = 1;
        H(1, 0) = 1;
    };
    table.bias = [](const VecX&, const VecX&, VecX&) {};
    model.contacts.push_back(table);
    mechanism.state = {0, Vec2(x0, 0), Vec2(v0, 0)};
    mechanism.end = 10;
    if (g > 0 && w != 0) mechanism.exact = [p = *this](double t) { return p.exact_state(t); };
    return mechanism;
}

}  // namespace stickslip
