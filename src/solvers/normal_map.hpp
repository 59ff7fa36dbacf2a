// The law of a contact in one unknown xi per row instead of the pair (p, u):
//
//   p = z(xi),   u = -y,   y = rho (xi - z(xi)),     z_N = s(xi_N),  z_T = xi_T g / (g + s(|xi_T| - g)),  g = mu z_N
//
// with s(x) = max(x, 0): every xi gives a pair that obeys Coulomb's law exactly, and what is left to solve is u = H v + S p + c
// (Alart & Curnier 1991, in normal form). Smoothed, s(x) = (x + sqrt(x^2 + 4 d^2)) / 2: then z_N u_N = rho d^2, a central path
// without a border to jam at.
#pragma once

#include "stickslip/types.hpp"

namespace stickslip {

// z and its derivative D = dz/dxi (row r, column s at D[r + 3 s]) of one contact of dim rows, disc cones only. `width` is d [N s],
// 0 for the law itself; friction is smoothed by tangential_width mu d. Returns the mode that xi stands for.
ContactMode normal_map(int dim, double mu, double width, double tangential_width, const double* xi, double* z, double* D);

}  // namespace stickslip
