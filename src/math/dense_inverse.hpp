// The inverse of a dense matrix of a few hundred rows: LU with partial pivoting in panels, then both triangles applied
// to the identity in panels, so that nearly all the work is products of tiles [Golub & Van Loan, s.3.2, 3.4]. Keeps its
// memory; nothing on the heap once the largest matrix has been met.
#pragma once

#include <vector>

#include "math/work_mat.hpp"

namespace stickslip {

class DenseInverse {
public:
    WorkMat& matrix() { return a_; }  // size and fill it, then call factor(), which overwrites it
    // False when a pivot is zero or not finite.
    bool factor();
    void solve(double* x) const;  // x := A^-1 x with the matrix that was factored
    // inverse (n x n, in the top left corner of `to`) of the matrix that was factored
    void invert(WorkMat& to) const;

private:
    WorkMat a_;
    std::vector<int> swaps_;
};

}  // namespace stickslip
