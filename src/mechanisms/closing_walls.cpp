// A ball between two walls that close on it [Potra et al. 2006, 7.1]: q = (x, w), walls at -w and w,
//
//   w' = -c until w = r + play/2, then 0,     contacts x + w - r >= 0 and w - x - r >= 0 with restitution e
//
// With e = 1 each impact adds 2 c to the speed u. With the room L = 2 (w - r), u L is nearly constant: infinitely many impacts, with
// a speed without bound, come before the time t* at which a room without play would be gone. Their intervals shrink as 1/n^2, not
// geometrically. No scheme can follow them all: what is asked of it is to say so, and at what time.
#include <cmath>

#include "mechanisms/mechanisms.hpp"

namespace stickslip {

Mechanism ClosingWalls::build(const OptionValues& values) const {
    require(m > 0, "m must be positive [kg]", values, "m");
    require(r > 0, "r must be positive [m]", values, "r");
    require(c > 0, "c must be positive [m/s]", values, "c");
    require(play >= 0, "play must not be negative [m]", values, "play");
    require(w0 > r + play / 2, "w0 must be larger than r + play/2: the walls start apart [m]", values, "w0");
    require(std::abs(x0) <= w0 - r, "x0 must lie between the walls [m]", values, "x0");
    require(e >= 0 && e <= 1, "e must lie in [0, 1]", values, "e");
    const double stop = (w0 - r - play / 2) / c;  // [s]
    Mechanism mechanism;
    LagrangianModel& model = mechanism.model;
    model.name = name;
    model.coordinates = {"x", "w"};
    model.nv = 2;
    model.constant_mass = m * MatX::Identity(2, 2);  // that of the walls does not matter
    model.velocity_rows = 1;
    model.velocity_names = {"drive"};
    model.velocity_jacobian = [](double, const VecX&, MatX& G) { G(0, 1) = 1; };
    model.velocity_target = [c = c, stop](double t, VecX& rate) { rate[0] = t < stop ? -c : 0.0; };
    model.velocity_bias = [](double, const VecX&, const VecX&, VecX&) {};
    model.next_discontinuity = [stop](double t) { return t < stop ? stop : infinity; };
    for (const double side : {1.0, -1.0}) {
        LagrangianModel::Contact wall;
        wall.name = side > 0 ? "left wall" : "right wall";
        wall.restitution = e;
        wall.gap = [side, r = r](const VecX& q) { return side * q[0] + q[1] - r; };
        wall.jacobian = [side](const VecX&, MatX& H) {
            H(0, 0) = side;
            H(0, 1) = 1;
        };
        wall.bias = [](const VecX&, const VecX&, VecX&) {};
        model.contacts.push_back(wall);
    }
    mechanism.state = {0, Vec2(x0, w0), Vec2(v0, -c)};
    mechanism.end = stop;
    return mechanism;
}

}  // namespace stickslip
