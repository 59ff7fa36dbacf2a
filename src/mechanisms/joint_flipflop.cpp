// The joint q = 0 with the inconsistent initial velocity eps [Gavrea-Anitescu-Potra, s.9]. The solution is q = 0; schemes
// that impose the joint on (v + v+)/2 reverse the velocity every step, those that impose it on v+ stop at once.
#include "mechanisms/mechanisms.hpp"

namespace stickslip {

Mechanism JointFlipflop::build(const OptionValues& values) const {
    require(m > 0, "m must be positive [kg]", values, "m");
    Mechanism mechanism;
    LagrangianModel& model = mechanism.model;
    model.name = name;
    model.coordinates = {"q"};
    model.nv = 1;
    model.constant_mass = MatX::Constant(1, 1, m);
    model.joints = 1;
    model.joint_names = {"joint"};
    model.joint_value = [](double, const VecX& q, VecX& value) { value[0] = q[0]; };
    model.joint_jacobian = [](double, const VecX&, MatX& G) { G(0, 0) = 1; };
    model.joint_bias = [](double, const VecX&, const VecX&, VecX&) {};
    model.bodies = {"point"};
    model.body_state = [](int, const VecX& q, const VecX& v) {
        return BodyState{{Vec3(q[0], 0, 0), Quat::Identity()}, Vec3(v[0], 0, 0), Vec3::Zero()};
    };
    mechanism.state = {0, VecX::Zero(1), VecX::Constant(1, eps)};
    mechanism.end = 1;
    // The joint takes the velocity at once.
    mechanism.exact = [](double t) { return State{t, VecX::Zero(1), VecX::Zero(1)}; };
    return mechanism;
}

}  // namespace stickslip
