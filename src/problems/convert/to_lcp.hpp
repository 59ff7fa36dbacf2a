// A step problem with polyhedral cones as a linear complementarity problem [Anitescu-Potra, (2.13)]:
//
//   0 <= z  _|_  M z + q >= 0
//
// Variables of a contact with friction: p_N, beta_1 .. beta_2k, sigma with p_T = sum_j beta_j d_j and
//
//   0 <= p_N     _|_  u_N >= 0
//   0 <= beta_j  _|_  d_j.u_T + sigma >= 0
//   0 <= sigma   _|_  mu p_N - sum_j beta_j >= 0
//
// Contacts of dimension 1 or with mu = 0 have p_N alone. A boxed bilateral row is lambda = lower + z (or upper - z,
// from the bound nearer to zero) with 0 <= z _|_ +-w + y >= 0 and 0 <= y _|_ upper - lower - z >= 0; y is left out
// when the other bound is infinite, and both when the bounds are equal.
//
// Each contact is scaled by s = sqrt(dim / trace(W_ii)): the unknowns are p / s and the rows s u, so that the
// diagonal of M is of order one whatever the masses (sigma, y: their rows and columns likewise).
#pragma once

#include <vector>

#include "math/sparse_square.hpp"
#include "problems/convert/elimination.hpp"
#include "stickslip/problem.hpp"

namespace stickslip {

// Where the variables of one kept row (box) or of one contact sit in z.
struct LcpBlock {
    int row = 0;  // first kept row
    int dim = 1;
    int first = 0;            // first variable
    int variables = 0;        // 0 for a box of width zero
    int directions = 0;       // beta variables; 0 without friction
    double sign = 1;          // lambda = anchor + sign z
    double anchor = 0;        // [N s]
    double width = infinity;  // [N s] upper - lower
    double mu = 0;
    int facets = 0;
    double scale = 1;  // s
};

struct Lcp {
    SparseSquare M;
    RowVec q;
    std::vector<LcpBlock> blocks;  // boxed rows, then contacts
    int size() const { return static_cast<int>(q.size()); }

    // Impulses of the kept rows for the variables z.
    void impulses(const ConstRef& z, RowVec& x) const;
    // The slacks M z + q, from the velocities y of the kept rows rather than from M.
    void slacks(const ConstRef& z, const ConstRef& y, RowVec& w) const;

    RowVec kept_q, entries;  // work of to_lcp
    std::vector<int> touched;
};

// True when contact i needs a disc in space, which no LCP describes.
bool needs_disc(const ContactRows& contacts, int i);
bool needs_any_disc(const StepProblem& problem);

// Throws Error when a contact needs a disc. False, and no matrix, when M would have more than max_entries entries: contacts
// that all share one body make it full.
bool to_lcp(const StepProblem& problem, const Elimination& elimination, Lcp& lcp, double max_entries = infinity);

}  // namespace stickslip
