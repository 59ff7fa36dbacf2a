// Impulses and work of one step of a method that evaluates the equations of motion at stages i with weights b_i.
//
// With M_i a_i = f_i (all forces, contacts and joints too) and v1 - v0 = h sum b_i a_i, w = (v0 + v1)/2, Mm = (M0 + M1)/2,
//
//   T1 - T0 = w.(h sum b_i f_i) + w.(Mm (h sum b_i a_i) - h sum b_i M_i a_i) + (v1'(M1 - M0) v1 + v0'(M1 - M0) v0)/4
//
// exactly. Flows are the quadrature of the method itself, h sum b_i P_i with the power P_i of each force at its stage:
//
//   applied_work     loads without Coriolis terms; dampers            motor_work      drives (velocity rows with a target or bounds)
//   friction_loss    sliding contacts, brakes                         scheme_loss     these three minus the change of T above
//
// (the ledger then takes the potential and elastic energy from the states). So scheme_loss is the error of the method, of the
// order of its local error, and the imbalance tells whether the velocities are those of the impulses booked.
#pragma once

#include "schemes/smooth/motion.hpp"

namespace stickslip {

class QuadratureSum {
public:
    void begin(const Motion& motion, const MotionPoint& any);
    // A solved point with weight [s]; `work_weight` where the quadrature of the power and of the forces over time (the impulses
    // below) has other weights than v1 - v0.
    void add(const Motion& motion, const MotionPoint& p, double weight) { add(motion, p, weight, weight); }
    void add(const Motion& motion, const MotionPoint& p, double weight, double work_weight);
    // Part of v1 - v0 that is no force of this step but an acceleration remembered from the last ones.
    void add_remembered(const BlockMatrix& mass, const VecX& a, double weight);
    // To be called once v1 is known.
    EnergyFlows flows(const System& system, const VecX& q0, const VecX& v0, const VecX& q1, const VecX& v1);

    RowVec joint_impulse;               // [N s] per bilateral row of the system
    std::vector<Vec3> contact_impulse;  // [N s] per contact of the modes

private:
    double applied_ = 0, motor_ = 0, friction_ = 0;
    VecX impulse_, change_, mass_change_;  // h sum b f, h sum b a, h sum b M a
    RowVec Gv_, forces_;
    BlockMatrix M0_, M1_;
    VecX w_, work_;
};

}  // namespace stickslip
