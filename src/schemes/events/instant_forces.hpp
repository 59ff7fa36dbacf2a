// Accelerations and contact forces at one instant, with the modes of all contacts given: the equations of smooth/motion.hpp,
//
//   M a = f + J' y,   J a = dw/dt - dJ/dt v,   sliding friction in f:  f_T = -mu f_N d, d the direction of the slip
//
// solved as one sparse symmetric system, so that piles can be asked too. Redundant rows are shared by proximal corrections. Sliding
// friction follows its normal force by a fixed point, three rounds of which leave less than the error of a step.
#pragma once

#include "math/kkt.hpp"
#include "schemes/events/contact_gaps.hpp"
#include "schemes/smooth/motion.hpp"

namespace stickslip {

class InstantForces {
public:
    // `modes` holds the closed contacts (mode stick or slip); others push nothing.
    void evaluate(const System& system, double t, const VecX& q, const VecX& v, const std::vector<ContactId>& contacts,
                  const std::vector<ContactMode>& modes, Step& s);

    const VecX& acceleration() const { return p_.a; }
    // [N] What is left before contact i of the list loses its mode: its normal force and, when it sticks,
    // mu f_N - |f_T| (its cone's own gauge for polygons); infinity when the contact is not there.
    double normal_force(std::size_t i) const { return normal_[i]; }
    double stick_margin(std::size_t i) const { return margin_[i]; }
    // [N] The same for bounded rows that stand still: distance of the force to its bounds; infinity for all others.
    double row_margin(int row) const { return row_margin_[row]; }

private:
    void set_modes(const Nodes& nodes, const VecX& v, const std::vector<ContactId>& contacts,
                   const std::vector<ContactMode>& modes);
    void solve(const Nodes& nodes);
    bool add_friction(const Nodes& nodes);
    void read_margins(std::size_t contacts);

    Motion motion_;
    MotionPoint p_;
    Modes modes_;
    std::vector<int> listed_;  // per contact of the modes: its place in the caller's list
    KktSystem kkt_;
    VecX r_;
    RowVec b_, T_, zero_, Gv_, Hv_;
    std::vector<double> normal_, margin_, row_margin_;
};

}  // namespace stickslip
