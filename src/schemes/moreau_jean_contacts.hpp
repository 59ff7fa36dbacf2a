// The contacts of a Moreau-Jean step: which of them take part, and what they are asked for.
#pragma once

#include <algorithm>

#include "schemes/moreau_jean.hpp"

namespace stickslip {

// Which contacts take part in a step, and how they see their gaps.
struct GapTerms {
    double h, theta;       // [s], [-]
    double closed;         // [m] a gap up to this is none
    double gain;           // [m] what forces close in a step from rest,
    double fall;           // the same; 0: no contact is guarded
    double chi_over_th_h;  // [1/s] stabilisation: against overlap always, towards contact only without rebound,
    double lift;           // [m/s] and not faster than this

    // The gap closes within half a step at constant velocity.
    bool predicted(double phi, double u) const { return phi + h / 2 * u <= closed; }
    // Contacts without rebound that forces, or the impacts of others, may close in this step. What arrives by its own speed in
    // the second half of the step is left out: it is hit in the next one, with the whole of that speed.
    bool guarded(double phi, double u) const {
        const double travel = h * std::max(-u, 0.0);
        return phi <= closed + 2 * travel + fall && (travel <= fall || phi > closed + travel);
    }
};

// A body that another contact bore in the last step, and that arrives with no more speed than the forces of a step give it, is as good as at rest:
// it does not rebound, and takes part before it has fallen. A box would rock from edge to edge for ever, since moving it out of the overlap that
// each fall leaves gives back what the impacts take.
void take_out_rests(const System& system, const State& x, const GapTerms& gaps, Step& s, MoreauJean::Work& w);

// Leaves the contacts that are predicted closed, and those that are guarded. True: one that is left out arrives. `hits`: one that takes part
// is hit.
bool keep_predicted_active(const System& system, const VecX& q, const VecX& v, const GapTerms& gaps, Step& s, bool& hits);

// c_N = e N v + chi phi/(th h), c_T = e_T D v. Contacts that are only guarded may use up their gap:
// phi + h ((1-th) N v + th N v+) >= 0, which never asks for a rebound.
void fill_restitution(const System& system, const State& x, const GapTerms& gaps, Step& s, MoreauJean::Work& w);

// Where a body was hit, (v+ - v)/h is that of the blow and tells nothing of the next step: gyroscopic forces taken at velocities extrapolated by
// it turned the momentum of capsules that rebounded from a wall by 4 %. To be called when the step is finished.
void forget_blows(Step& s);

}  // namespace stickslip
