// What a solution is certified by: its residual, plus a bound on everything that rounding may hide in it.
//
// The residual of a solution is computed from sums in which large terms cancel: A v against H' p, H v against c. What double
// precision leaves of such a sum may be zero while the exact sum is not. Here every sum carries the sum of its absolute terms, from
// which a bound on its error follows [Higham, Accuracy and Stability of Numerical Algorithms, s.4.2]:
//
//   |computed - exact| <= n eps sum |terms|
//
// Where this bound is too large for the tolerance, the sums are evaluated once more with twofold precision [Ogita, Rump & Oishi
// 2005], whose bound is smaller by eps. Dynamics are judged with the whole A, couplings included, by iterative refinement.
//
// Beside the natural map each law of a contact is tested by itself, in velocity units (w is the mean diagonal entry of W_ii):
//
//   -u_N             the contact opens or stays closed           min(u_N, w p_N)     one of the two is zero
//   -w p_N           it does not pull                            w dist(p, K)        friction lies in its cone
//   min(|u_T|, w u_T.p_T / |u_T|)                                friction does not drive the slip
//
// That friction opposes slip with all its force is what the natural map says.
//
// An impulse so large that eps |p| w exceeds the tolerance is not certified: it could hide any velocity.
#pragma once

#include <vector>

#include "math/block_factors.hpp"
#include "math/node_inverse.hpp"
#include "stickslip/problem.hpp"

namespace stickslip {

// A sum of products with the sum of its absolute terms.
struct PlainSum {
    double value = 0;
    double size = 0;  // sum of |terms|
    int terms = 0;
};
struct SizedSum : PlainSum {
    double rest = 0;  // what rounding took from value
};

// Memory of certify(); says nothing from one call to the next.
struct CertificateWork {
    NodeInverse inverse;
    BlockFactors factors;           // of a coupled A
    RowVec value, size;             // per velocity: A v - G' lambda - H' p - r, and the sum of its absolute terms,
    std::vector<int> terms;         // per node: whose number this is
    RowVec sum, sum_error;          // of one node: A^-1 balance and what may be wrong in it
    std::vector<SizedSum> balance;  // per velocity: the balance in twofold precision
    VecX error, left;               // per velocity: bound on the error of the balance; what is left of it
    VecX velocity, step;            // [m/s] per velocity: A^-1 balance, and its correction
};

struct Certificate {
    Residual residual;    // as it was evaluated, each law counted
    double rounding = 0;  // [m/s] what may be missing in it; infinity: it cannot be said
    // [m/s] The exact residual is at most this; NaN if any number was.
    double bound() const { return residual.max() + rounding; }
};

// Evaluates as precisely as is needed to compare with `tol`.
Certificate certify(const StepProblem& problem, const StepSolution& solution, double tol, CertificateWork& work);

// The same of a Delassus problem, relative to |q| as relative_error(); the residual is in `contacts`.
Certificate certify(const DelassusProblem& problem, const ConstRef& p, double tol);

}  // namespace stickslip
