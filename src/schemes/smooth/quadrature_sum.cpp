#include "schemes/smooth/quadrature_sum.hpp"

#include <algorithm>

namespace stickslip {

void QuadratureSum::begin(const Motion& motion, const MotionPoint& any) {
    applied_ = motor_ = friction_ = 0;
    const int nv = motion.system().nv();
    impulse_.setZero(nv);
    change_.setZero(nv);
    mass_change_.setZero(nv);
    joint_impulse.setZero(any.joints.size());
    contact_impulse.assign(motion.modes().contact.size(), Vec3::Zero());
}

void QuadratureSum::add(const Motion& motion, const MotionPoint& p, double weight, double work_weight) {
    const Nodes& nodes = motion.system().nodes();
    impulse_ += weight * p.force;
    if (motion.rows() > 0) {
        forces_ = weight * p.y;
        p.push.add_transpose_product(nodes, forces_, impulse_);
    }
    change_ += weight * p.a;
    p.mass.add_product(weight, p.a, mass_change_);

    applied_ += work_weight * p.v.dot(p.forces.applied);
    if (p.forces.inertial.size() > 0) applied_ -= work_weight * p.v.dot(p.forces.inertial);
    if (p.joints.size() > 0) {
        motion.joint_forces(p, forces_);
        joint_impulse += work_weight * forces_;
        // Rigid rows do no work of their own; most mechanisms have no others.
        const auto rigid = [](RowKind kind) { return kind == RowKind::holonomic; };
        const bool others = !std::all_of(p.joints.kind.begin(), p.joints.kind.end(), rigid);
        if (others) {
            Gv_.resize(p.joints.size());
            p.joints.jacobian.product(nodes, p.v, Gv_);
        }
        for (int i = 0; i < p.joints.size() && others; ++i) {
            const auto k = static_cast<std::size_t>(i);
            const bool lock =
                p.joints.target[k] == 0 && p.joints.force_lower[k] == -infinity && p.joints.force_upper[k] == infinity;
            switch (p.joints.kind[k]) {
                case RowKind::compliant: applied_ += work_weight * p.damper_force[i] * Gv_[i]; break;
                case RowKind::friction: friction_ -= work_weight * forces_[i] * Gv_[i]; break;
                case RowKind::velocity:
                    if (!lock) motor_ += work_weight * forces_[i] * Gv_[i];
                    break;
                case RowKind::holonomic: break;
            }
        }
    }
    for (int c = 0; c < static_cast<int>(motion.modes().contact.size()); ++c) {
        const Vec3 f = motion.contact_force(c, p);
        contact_impulse[c] += work_weight * f;
        if (motion.modes().mode[c] == ContactMode::slip) friction_ -= work_weight * f.tail<2>().dot(p.slip[c]);
    }
}

void QuadratureSum::add_remembered(const BlockMatrix& mass, const VecX& a, double weight) {
    change_ += weight * a;
    mass.add_product(weight, a, impulse_);
    mass.add_product(weight, a, mass_change_);
}

EnergyFlows QuadratureSum::flows(const System& system, const VecX& q0, const VecX& v0, const VecX& q1, const VecX& v1) {
    w_ = 0.5 * (v0 + v1);
    double kinetic = w_.dot(impulse_);
    if (!system.constant_mass()) {
        system.mass(q0, M0_);
        system.mass(q1, M1_);
        work_ = -mass_change_;
        M0_.add_product(0.5, change_, work_);
        M1_.add_product(0.5, change_, work_);
        kinetic += w_.dot(work_);
        kinetic += 0.25 * (M1_.quadratic(v1) - M0_.quadratic(v1) + M1_.quadratic(v0) - M0_.quadratic(v0));
    }
    EnergyFlows flows;
    flows.applied_work = applied_;
    flows.motor_work = motor_;
    flows.friction_loss = friction_;
    flows.scheme_loss = applied_ + motor_ - friction_ - kinetic;
    return flows;
}

}  // namespace stickslip
