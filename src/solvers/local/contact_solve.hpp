// One contact alone: find p in its cone K with u = W p + q, 0 <= u_N _|_ p_N >= 0 and p_T dissipating most.
// Tried in the order open, stick, slip; each is checked, so the answer is exact to rounding.
//
//   open    q_N >= 0: p = 0
//   stick   p = -W^-1 q in K
//   slip    p_T = -mu p_N d, u_T = s d, u_N = 0. Eliminating p_N = -q_N / (W_NN - mu W_NT d) leaves
//             (M + t I) d = a,  |d| = 1,  t >= 0,   M = mu (q_T W_NT - q_N W_TT),  a = W_NN q_T - q_N W_TN
//           a secular equation in t: beyond the largest real pole |d| falls from above 1 to 0, so the bracket always
//           holds a root. Polygons: the corners and edges of the section are tried in turn.
//
// W may be unsymmetric; it must be positive definite on the cone. A nearly singular W is solved with a
// proximal term around the given p, so that sweeps still have the true solutions as their fixed points.
#pragma once

#include "stickslip/types.hpp"

namespace stickslip {

// W is column-major dim x dim, dim 1 to 3. `p` comes in as the last value and goes out as the solution.
ContactMode solve_contact(int dim, double mu, int facets, const double* W, const double* q, double* p);

}  // namespace stickslip
