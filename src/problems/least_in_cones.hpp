// The smallest vector of a product of cones with a given image:
//
//   minimise |x|^2 / 2   such that   B x = f,  x in K = K_1 x K_2 x ...      B: n x m of any rank
//
// Its dual has n unknowns and no constraints: x = P_K(B' y), where y is a zero of
//
//   F(y) = B P_K(B' y) - f,   the gradient of the convex function |P_K(B' y)|^2 / 2 - f.y
//
// found by Newton's method with D, the derivative of P_K, in J = B D B' + eps, and steps that lower the function. Where the solution
// lies inside the cones D is the identity, and the first step gives the solution of least norm, B' (B B')^-1 f. Rows of B are scaled to
// unit length; eps stands for the directions in which B has no rows.
//
// Left out: images that only the rims of the cones reach. There y has no limit, and the search ends without a solution.
#pragma once

#include <vector>

#include "math/work_mat.hpp"
#include "stickslip/blocks.hpp"

namespace stickslip {

class LeastInCones {
public:
    // Entries first .. first + size - 1 of x.
    struct Part {
        enum class Cone { all, ray, friction } cone = Cone::all;  // everything, x >= 0, a friction cone
        int first = 0, size = 1;
        double mu = 0;   // of friction,
        int facets = 0;  // as in cones.hpp
    };

    WorkMat B;                // filled by the caller; rows are scaled by solve()
    RowVec x;                 // a point of K: its image is f. After solve() the smallest with the same one
    std::vector<Part> parts;  // of x, in order

    // False if the smallest was not found: x is then what it was.
    bool solve();
    // Of the last solve(): dimensions in which x could move without changing B x, the cones apart.
    int freedom() const { return static_cast<int>(B.cols()) - rank_; }

private:
    void scale_rows();
    void weigh(bool inside);
    bool factor();
    void back_substitute(RowVec& y) const;
    double project();  // trial_ := P_K(B' y), and the value of the function
    void slope(const Part& part, double D[3][3]) const;

    RowVec f_, y_, y_try_, before_, trial_, left_, step_;
    WorkMat weighted_, J_;  // D B', and B D B' with its factor below
    double size_ = 0;       // of the terms of B x, at most
    int rank_ = 0;
};

}  // namespace stickslip
