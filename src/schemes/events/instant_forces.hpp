// Accelerations and contact forces at one instant, with the modes of all contacts given:
//
//   M a = k + F(v) v + G' f_j + N' f_N + D' f_T
//   rigid rows, sticking brakes         G a = dw/dt - dG/dt v      (w: target of a drive)
//   closed contacts                     N a = -dN/dt v,     sticking  D a = -dD/dt v,     sliding  f_T = -mu f_N d
//
// d is the direction of the slip. One linear system; redundant rows are shared by proximal corrections. Sliding friction
// follows its normal force by a fixed point, three rounds of which leave less than the error of a step.
#pragma once

#include "math/kkt.hpp"
#include "schemes/events/contact_gaps.hpp"

namespace stickslip {

class InstantForces {
public:
    // `modes` holds the closed contacts (mode stick or slip); others push nothing.
    void evaluate(const System& system, double t, const VecX& q, const VecX& v, const std::vector<ContactId>& contacts,
                  const std::vector<ContactMode>& modes, Step& s);

    const VecX& acceleration() const { return a_; }
    // [N] What is left before contact i of the list loses its mode: its normal force and, when it sticks,
    // mu f_N - |f_T| (its cone's own gauge for polygons); infinity when the contact is not there.
    double normal_force(std::size_t i) const { return normal_[i]; }
    double stick_margin(std::size_t i) const { return margin_[i]; }
    // [N] The same for bounded rows that stand still: distance of the force to its bounds; infinity for all others.
    double row_margin(int row) const { return row_margin_[row]; }

private:
    struct Source {
        int joint_row = -1;      // of the system's rows, or
        int contact = -1, list;  // its contact and its place in the list
        int dim = 1;
    };
    void find_target_rates(const System& system, double t, const VecX& q, const VecX& v, Step& s);

    KktSystem kkt_;
    JointRows joints_;
    ContactRows contacts_;
    BlockRows rows_;
    std::vector<Source> sources_;
    BlockMatrix mass_, gyroscopic_;
    Forces forces_;
    VecX smooth_, r_, a_, ahead_, dq_;
    RowVec target_rate_, b_, T_, zero_, f_, Gv_, Hv_, push_;
    std::vector<double> normal_, margin_, row_margin_;
};

}  // namespace stickslip
