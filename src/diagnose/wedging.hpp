// Wedging: whether bodies can hold themselves by friction alone. The friction cone at q is pointed when
//
//   G' lambda + H' p = 0,   p_i in its friction cone          only with  p_N = 0             [Gavrea-Anitescu-Potra, Def 3.1]
//
// (lambda may be nonzero then: redundant joints, which are told apart). Where it is not pointed there are contact forces of any
// size that nothing outside causes, so how hard a wedge sits cannot follow from the model, nor can its friction. Per island
// of bodies, with the joints eliminated and generalised forces measured in M^-1,
//
//   is 0 in the convex hull of  P M^-1/2 H_i' (n_i + mu_i d),  d in the section of contact i's cone?     P: not carried by G'
//
// by the nearest point of the hull [Wolfe]: each round adds the generator that points most against the point found so
// far (exact for discs and polygons), then takes the nearest point of the simplex. Both answers are certified: 0 in the
// hull gives p, with its residual; otherwise the point is a velocity that opens all contacts, friction or not.
//
// What is searched is the reduced friction cone [Gavrea-Anitescu-Potra, (3.7)], { P H' p }: the contact columns less what
// joints carry. It is pointed exactly when the full cone is, up to redundant joints (Lemma 3.5 and its converse), for every metric,
// since P z = 0 says z in range G' whatever it measures with. Tangents that lie in the range of the joints are not
// columns of it: such a contact drops out of the frictional ones, and its friction acts on the joints alone.
//
// Left out: islands with more than `max_wedging_contacts` contacts or `max_wedging_velocities` velocities.
#pragma once

#include <vector>

#include "stickslip/problem.hpp"

namespace stickslip {

struct Wedge {
    std::vector<int> contacts;  // that carry the self-stress, ascending
    std::vector<double> p;      // [N s] one self-stress, per contact row of the problem; sum of p_N over it is 1
    double residual = 0;        // |G' lambda + H' p| in M^-1, per largest |H_i' p_i|
    double friction = 0;        // largest coefficient among its contacts
};

struct WedgingAnswer {
    std::vector<Wedge> wedges;  // at most one per island
    std::vector<int> held;      // contacts that joints alone can carry: their forces are not determined either
    // Frictional contacts that drop out of the reduced cone: joints carry all their tangents, so friction moves nothing.
    std::vector<int> dropped;
    int left_out = 0;   // contacts in islands too large
    int undecided = 0;  // contacts of islands at the very edge of being wedged

    // Of the reduced friction cone; false also where it was not decided.
    bool pointed() const { return wedges.empty() && held.empty() && left_out == 0 && undecided == 0; }
};

inline constexpr int max_wedging_contacts = 1000;
inline constexpr int max_wedging_velocities = 1500;

// Contacts with a gap of at most `touching` [m] count.
WedgingAnswer find_wedges(const BlockMatrix& M, const BilateralRows& joints, const ContactRows& contacts,
                          double touching);

}  // namespace stickslip
