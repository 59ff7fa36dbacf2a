// Painleve's paradox, contact by contact: does pressing a sliding contact together press it apart?
//
// A contact that slides along the unit direction s carries the impulse p_N (N - mu s.D)'. Per unit of p_N its normal velocity
// gains
//
//   value = N B N' - mu (s.D) B N',      B = M^-1, or with joints the inverse of M on what the joints let move
//
// While value > 0 there is exactly one contact force. Where value < 0 there is none if the contact is pressed together without
// it, and two (or separation) if it is not: schemes in impulses then stop the slip by an impact without collision, or
// let go. value vanishes at the friction N B N' / (s.D) B N', beyond which the paradox begins.
//
// Rigid rows (holonomic, and velocity rows without bounds) count as joints; springs and bounded rows cannot
// react at once and do not. They are eliminated by multipliers: B r = lim x_k with
//
//   (M + G' D G) x_k = r + G' l_k,   l_k+1 = l_k - D G x_k,   D = stiffness of each row relative to G M^-1 G'
//
// which takes redundant rows as they come. Left out: that other contacts close by would act too (each contact is judged as
// if it were alone), and polygonal cones, whose friction is not exactly against the slip.
#pragma once

#include <vector>

#include "math/block_lu.hpp"
#include "stickslip/problem.hpp"

namespace stickslip {

struct SlidingContact {
    int contact = 0;               // number in the contact rows
    double slip = 0;               // [m/s]
    double value = 0;              // [1/kg] negative: paradox; 0 if joints hold the contact
    double critical_friction = 0;  // friction at which `value` is zero; infinity if there is none
    bool paradox() const { return value < 0; }
};

class PainleveCheck {
public:
    double slip_speed = 1e-6;  // [m/s] slower contacts stick, contacts opening faster are open
    // Contacts of jointed bodies judged per call; each needs solves with the whole system. More are counted as left out.
    int max_jointed = 16;

    // The closed contacts that slide at velocity v, by number. `mass` is M and symmetric; `contacts` are taken as closed
    // whatever their gap. Looks only at the bodies that slide; allocates nothing once it has seen the sizes.
    const std::vector<SlidingContact>& check(const BlockMatrix& mass, const BilateralRows& joints,
                                             const ContactRows& contacts, const VecX& v);
    int left_out() const { return left_out_; }

private:
    void begin(const BlockMatrix& mass, const BilateralRows& joints);
    bool jointed(const ContactRows& contacts, int i) const;
    void solve_node(const BlockMatrix& mass, int n, double* x);  // x := M_nn^-1 x
    void factor_jointed(const BlockMatrix& mass, const BilateralRows& joints);
    void solve_jointed(const Nodes& nodes, const BilateralRows& joints, VecX& x);  // x := B x

    std::vector<SlidingContact> sliding_;
    int left_out_ = 0;
    RowVec u_;  // H v
    // Local solves: factors of the nodes asked for, laid out as the diagonal blocks of the mass.
    AlignedDoubles factors_;
    std::vector<int> pivots_;
    std::vector<char> factored_;  // per node
    // Nodes with rigid rows or couplings.
    std::vector<char> held_;
    bool whole_ready_ = false;
    BlockLu whole_;
    std::vector<BlockLu::Edge> edges_;
    RowVec stiffness_, multiplier_, speed_;  // per bilateral row
    VecX right_, gained_;                    // nv
    std::vector<double> work_;
};

}  // namespace stickslip
