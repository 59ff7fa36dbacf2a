// Friction cones of one contact, normal component first:
//
//   disc      K = {p : |p_T| <= mu p_N}                           facets == disc_facets (0)
//   polygon   K = {p : p_T in mu p_N conv{d_0 .. d_2k-1}}         facets == 2k,  d_j = (cos(j pi/k), sin(j pi/k))
//
// The polygon is inscribed in the disc. With one tangent (dimension 2) both are the interval |p_T| <= mu p_N;
// without tangents (dimension 1) the cone is p_N >= 0. With facets == 2 in dimension 3 friction acts along t1 only.
// [Anitescu-Potra, (2.5)] is the polygon with D = [d_0 .. d_2k-1].
#pragma once

#include <vector>

#include "stickslip/types.hpp"

namespace stickslip {

// Directions of a regular polygon, computed once per number of facets; multiples of pi/2 are exact.
struct Polygon {
    int facets = 0;
    std::vector<Vec2> corner;   // d_j
    std::vector<Vec2> outward;  // unit normal of the facet from d_j to d_j+1
    double apothem = 0;         // distance of a facet from the centre, cos(pi / facets)
    double half_edge = 0;       // sin(pi / facets)
};
// Valid for ever. No lock and no allocation when the number was asked before. facets >= 2.
const Polygon& polygon(int facets);

// p becomes its nearest point of the cone; dim = 1, 2, 3 entries. NaN in, NaN out.
void project_cone(int dim, double mu, int facets, double* p);

// s(u_T) = max of -u_T.d over the unit section: |u_T| for the disc, max_j -d_j.u_T for the polygon, 0 in dimension 1.
// `u` starts with the normal component, which is not used.
double section_support(int dim, int facets, const double* u);

// The friction mu p_N that is just enough to hold p = (p_t1, p_t2): |p| for the disc, its gauge for a polygon.
double cone_gauge(const Vec2& p, int dim, int facets);

// The law of one contact as the zero of the natural map, r = p - P_K(p - rho u~) with u~ = u + mu s(u_T) n
// (De Saxce). `u` and `p` have dim entries; returns |r| / rho, a velocity.
double contact_natural_map(int dim, double mu, int facets, double rho, const double* u, const double* p);

// The step rho of the natural map of a row or contact with this weight W (mean diagonal entry); 1 where no mass is behind it, NaN
// for NaN.
inline double natural_step(double weight) { return weight > 0 ? 1 / weight : 1 + 0 * weight; }

}  // namespace stickslip
