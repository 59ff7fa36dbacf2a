// A friction that is certainly small enough: where every mu of the touching contacts is below
//
//   sigma_min(W_NN) / sigma_max(W_NT),     W_NN = N B N',   W_NT = N B D',   B = M^-1 with the joints eliminated
//
// the matrix N B (N - mu s D)' of the sliding contacts is regular for every direction s of slip, so accelerations and normal forces
// are unique [Haddouni, 2.1.1.1, after Blumentals, Brogliato & Bertails-Descoubes 2014]. The thesis calls the second matrix W^TT. In
// space the columns of D are both tangents of each contact; |s| = 1 keeps the norm. The bound is sufficient, not necessary: contacts
// that depend on each other (a box on four corners) have sigma_min = 0 and the bound 0, although the box moves in one way only.
//
// Left out: islands with more than `max_bound_contacts` contacts or `max_bound_velocities` velocities, where dense matrices cost
// seconds.
#pragma once

#include <vector>

#include "stickslip/problem.hpp"

namespace stickslip {

struct IslandFriction {
    std::vector<int> contacts;                // that touch, ascending
    double friction = 0;                      // the largest mu of them
    double normal_least = 0, cross_most = 0;  // [1/kg] sigma_min(W_NN), sigma_max(W_NT)
    double bound = 0;                         // infinity where pressing does not move contacts sideways: W_NT = 0
};

struct FrictionBounds {
    std::vector<IslandFriction> islands;  // with friction
    int left_out = 0;                     // contacts in islands too large
};

inline constexpr int max_bound_contacts = 300;
inline constexpr int max_bound_velocities = 600;

// Contacts with a gap of at most `touching` [m] count.
FrictionBounds friction_bounds(const BlockMatrix& M, const BilateralRows& joints, const ContactRows& contacts,
                               double touching);

}  // namespace stickslip
