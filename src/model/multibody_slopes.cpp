// K = -dk/dq and C = -dk/dv of the forces of rigid bodies. Springs and bushings are rows and gravity is constant, which leaves:
//
//   drag:  C = linear + quadratic (|v| 1 + v v'/|v|),  angular
//   load:  a force F at the body's point p and a torque T, both in W. In body axes the torque is R'T + p x R'F, and turning the
//          body by dq turns R'x by (R'x) x dq:  K = -(hat(R'T) + hat(p) hat(R'F)); in a plane, with r = R p:  K = r.F in it
//
// K of a load is not symmetric: such a load has no potential.
#include "math/so3.hpp"
#include "model/multibody.hpp"

namespace stickslip {

namespace {

Vec3 at_time(const std::array<TimeFunction, 3>& x, double t) { return {x[0](t), x[1](t), x[2](t)}; }

}  // namespace

bool MultibodySystem::slopes(double t, const VecX& q, const VecX& v, BlockMatrix& K, BlockMatrix& C) const {
    const auto turns_with_body = [&](const Load& load) {
        return node(load.body) >= 0 && there(load.body) && t >= load.from && t < load.until &&
               (load.point != Vec3::Zero() || (!model_.plane && at_time(load.torque, t) != Vec3::Zero()));
    };
    bool any = !model_.drags.empty();
    for (const Load& load : model_.loads) any = any || turns_with_body(load);
    if (!any) return false;

    K.shape_diagonal(nodes_);
    C.shape_diagonal(nodes_);
    for (const Load& load : model_.loads) {
        if (!turns_with_body(load)) continue;
        const Mat3 R = pose(load.body, q).attitude.toRotationMatrix();
        const Vec3 force = at_time(load.force, t);
        auto block = K.block(node(load.body));
        if (model_.plane) {
            const Vec3 r = R * load.point;
            block(2, 2) += r.dot(force) - plane_n_.dot(r) * plane_n_.dot(force);
        } else {
            const Vec3 torque = R.transpose() * at_time(load.torque, t);
            block.bottomRightCorner<3, 3>() -=
                hat(torque) + hat(load.point).lazyProduct(hat(Vec3(R.transpose() * force)));
        }
    }
    const int d = model_.plane ? 2 : 3;
    for (const Drag& drag : model_.drags) {
        const int n = node(drag.body);
        if (n < 0 || !there(drag.body)) continue;
        const auto u = v.segment(nodes_.start[n], d);
        const double speed = u.norm();
        auto block = C.block(n);
        for (int i = 0; i < d; ++i) {
            block(i, i) += drag.linear + drag.quadratic * speed;
            for (int j = 0; j < d && speed > 0; ++j) block(i, j) += drag.quadratic * u[i] * u[j] / speed;
        }
        for (int i = d; i < nodes_.dof(n); ++i) block(i, i) += drag.angular;
    }
    return true;
}

}  // namespace stickslip
