// The normal map of Coulomb's law, piece by piece. A state xi of a contact holds its impulse and its velocity at once:
//
//   z = P(xi) with z_N = max(xi_N, 0), z_T the nearest point to xi_T of the section mu z_N D;   p = z,  u = -rho (xi - z)
//
// which obeys the law as it is, without De Saxce's shift: u_N > 0 only where xi_N < 0, and xi_T - z_T, the direction of sliding turned
// round, lies in the normal cone of the section. P is smooth on pieces, which are the modes of the contact:
//
//   open     xi_N < 0                       z = 0
//   stick    xi_T inside mu xi_N D          z = xi
//   slip     disc, |xi_T| > mu xi_N         z_T = mu xi_N xi_T/|xi_T|
//   corner   polygon or interval            z_T = mu xi_N d_j
//   edge     polygon, from d_j to d_j+1     z_T = mu a xi_N o_j + (e_j.xi_T) e_j,    o_j its outward normal, e_j along it
//
// Without friction a closed contact is `stick` with z_T = 0.
#pragma once

#include <cstdint>

#include "stickslip/types.hpp"

namespace stickslip {

struct NormalPiece {
    enum class Kind : std::uint8_t { open, stick, slip, corner, edge };
    Kind kind = Kind::open;
    int face = 0;  // j of corner and edge
};

// The cone of a contact, as solvers are given it.
struct ContactCone {
    int dim = 1;       // rows: normal first, then tangents
    double mu = 0;     // friction
    int facets = 0;    // 0: disc
    int tangents() const { return dim == 1 || !(mu > 0) ? 0 : dim == 2 || facets == 2 ? 1 : 2; }
};

// z = P(xi); returns the mode.
ContactMode project_state(const ContactCone& cone, const double* xi, double* z);

// Where a straight path leaves a piece.
struct PieceCrossing {
    double at = infinity;     // of the path xi + at dxi
    NormalPiece to;
    Vec3 outward = Vec3::Zero();  // gradient at that place of the function that vanishes between the pieces; grows into `to`
};

NormalPiece piece_at(const ContactCone& cone, const double* xi);

// z and D = dz/dxi (column-major, 3 x 3) by the formula of the piece, also a little outside of it.
void map_piece(const ContactCone& cone, NormalPiece piece, const double* xi, double* z, double* D);

// The first crossing at >= 0 of the path xi + at dxi, whose start lies in the piece or, by rounding, just outside.
PieceCrossing first_crossing(const ContactCone& cone, NormalPiece piece, const double* xi, const double* dxi);

ContactMode mode_of(const ContactCone& cone, NormalPiece piece);

}  // namespace stickslip
