// Lemke's method for   0 <= z  _|_  w = M z + q >= 0   [Cottle-Pang-Stone, s.4.4; Anitescu-Potra, s.2]:
// complementary pivots on  w = q + M z + d z0  with a covering vector d > 0 until z0 leaves the basis. For copositive
// M, and q that no ray contradicts, it ends with a solution.
//
// Ties are broken lexicographically: q is thought of as q + eps r with an infinitesimal eps and a fixed generic r > 0,
// carried as a second right-hand side. That is the same protection against cycling as the identity matrix of the
// textbook rule, for one column instead of n.
//
// The basis is kept through its kernel alone: with R the rows whose w is not basic and C the basic z (and z0),
// K = [M d](R, C) is square, about three rows per loaded contact whatever the number of facets. K^-1 is updated by
// bordering; every direction is checked against M itself and corrected, and K is factored anew when that was not enough.
// Values move along the direction and are computed afresh every few pivots. M is sparse, so that a pivot costs the order
// of K squared for the update and little else.
//
// A path may start from a guess of the variables that are not zero (a crash basis): these are pivoted in one by one as
// far as they are independent, and d and r are chosen so that they cover what is negative there. For copositive M only
// the path from nothing is promised to end with a solution: it follows when the guess leads to a ray.
#pragma once

#include <vector>

#include "math/dense_inverse.hpp"
#include "math/sparse_square.hpp"
#include "math/work_mat.hpp"
#include "stickslip/blocks.hpp"

namespace stickslip {

class LemkePivots {
public:
    enum class Outcome {
        solved,
        ray,  // no basic variable blocks: for copositive M nothing solves the problem
        pivot_limit,
        lost,  // rounding destroyed the basis
    };
    // M must outlive the call. `crash` lists variables that are thought positive, or is empty. Allocates only when a
    // problem is larger than all before it.
    Outcome solve(const SparseSquare& M, const ConstRef& q, int max_pivots, RowVec& z,
                  const std::vector<int>& crash = {});
    Outcome solve(const Eigen::Ref<const MatX>& M, const ConstRef& q, int max_pivots, RowVec& z);

    int pivots() const { return pivots_; }          // complementary ones, of all paths
    int crash_size() const { return crash_size_; }  // variables of the crash basis that were independent
    int refactors() const { return refactors_; }
    // How far the most negative z or w of the final basis is below zero, relative to the largest violation of q
    // and beyond rounding: not zero means a wrong basis.
    double negative() const { return negative_; }
    // Given the slacks w of the current z (computed from better data), moves z so that the nonbasic ones vanish.
    void refine(const ConstRef& w, RowVec& z);

private:
    struct Basis {
        double negative = infinity;
        std::vector<int> rows, columns;
        WorkMat inverse;
        RowVec z;
    };

    Outcome run(int attempt, int max_pivots);
    void start(const std::vector<int>& crash);
    void cover(int attempt);
    int first_leaving() const;   // for z0, or -1 when nothing is negative
    bool compute(int entering);  // fills t_ and f_; false when the kernel is lost
    bool correct_direction(int entering);
    bool refresh(int rounds);  // values from the data; false when the kernel is lost
    int leaving() const;       // a variable, or -1
    void step(int entering, int leaving);
    void exchange(int entering, int leaving);
    double magnitude() const;
    bool refactor();
    bool finish(RowVec& z);
    void reserve(int k);
    void keep_best(const RowVec& z);
    void add_column(int column, double s, double* y) const;
    void row_entries(int row);                             // fills b_ with [M d](row, C)
    void apply_inverse(const RowVec& x, RowVec& y) const;  // y = K^-1 x, cheap when x has zeros

    // Variables are numbered 0 .. n-1 for z, n for z0, n+1 .. 2n for w.
    bool is_w(int variable) const { return variable > n_; }
    int row_of(int variable) const { return variable - n_ - 1; }

    const SparseSquare* M_ = nullptr;
    SparseSquare own_;
    int n_ = 0;
    int k_ = 0;        // order of the kernel
    double size_ = 1;  // scale of q: the largest violation
    RowVec q_, r_, d_;
    std::vector<int> rows_, columns_;  // R and C
    std::vector<int> row_place_;       // per w: its place in R, -1 when basic
    std::vector<int> column_place_;    // per z and z0: its place in C, -1 when not basic
    WorkMat inverse_;                  // K^-1 in its top left corner: rows as C, columns as R
    RowVec x_, y_, t_;                 // basic z, in the order of C: value, perturbation, direction
    RowVec w_, wy_, f_;                // every w likewise; zero on R
    DenseInverse dense_;
    WorkMat grown_;
    RowVec g_, h_, b_, rhs_, miss_, step_;
    std::vector<int> none_, nonzero_;
    Basis best_;
    int since_refresh_ = 0;
    int pivots_ = 0, crash_size_ = 0, refactors_ = 0;
    double negative_ = 0;
};

}  // namespace stickslip
