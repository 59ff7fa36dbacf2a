// What the last steps tell of the step ahead: where its move has its middle and its end, and what rows and forces are there.
#pragma once

#include "schemes/moreau_jean.hpp"

namespace stickslip {

// w.q_ahead: where the move of the step has its middle, as far as the steps before it tell.
//   q (+) (1-th) h (v + th h v')    v' extrapolated to the middle of the step
void move_ahead(const System& system, const State& x, double h, double th, Step& s, MoreauJean::Work& w);

// Two steps without impact or jump lead to x.
bool knows_way(const State& x, const JointPath& path);

// The end of the step that move_ahead() foretells: w.mean, w.v_end, w.q_end, and the forces there in w.end_forces. Right to O(h^3).
void find_end_ahead(const System& system, const State& x, double h, MoreauJean::Work& w);

// Coordinates in which the mass varies: w.made_up, the impulse that makes up for the energy which the rule would lose or gain,
//   D = E(q1, v1) - E(q, v) - w.M (v1 - v) + h w.(k + k1)/2,    w.j = -D,   j along M w,   w = (v + v1)/2
// of a step without loads, joints and contacts, with potential and Coriolis forces k; v1 and q1 by find_end_ahead(), k those of
// fill_impulses(). D is O(h^3).
void fill_made_up(const System& system, const State& x, double h, Step& s, MoreauJean::Work& w);

// Bilateral rows ahead, at w.q_ahead, in place of those at q; values and targets stay. What they ask for is in w.carried and
// s.terms.joint_stabilisation.
void take_rows_ahead(const System& system, const State& x, double h, double th, double chi, Step& s,
                     MoreauJean::Work& w);

// The step just taken: without an impact and without a jump of a motor it tells where the next one leads.
void note_path(double t, bool steady, const Step& s, JointPath& path);

}  // namespace stickslip
