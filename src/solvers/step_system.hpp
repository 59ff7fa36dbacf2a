// The matrix that is left when the linearised laws of joints and contacts are eliminated in primal form:
//
//   K = A + G' diag(B_j) G + H' B H,      d lambda = q_j - B_j G dv,      dp_i = q_i - B_i (H dv)_i
//   K dv = (r + G' (lambda + q_j) + H' (p + q) - A v)
//
// B_j >= 0 per bilateral row, B_i a dim x dim matrix per contact (not symmetric for sliding contacts). The
// pattern holds all rows, whatever their B, so that it stays the same while modes change.
#pragma once

#include <vector>

#include "math/block_lu.hpp"
#include "stickslip/problem.hpp"

namespace stickslip {

class StepSystem {
public:
    static constexpr int block = 9;  // numbers kept per contact for B, column-major dim x dim in front

    void analyse(const StepProblem& problem);
    // Typical size of the Delassus diagonal per bilateral row and per contact, from the diagonal of A alone:
    // right to a factor of a few, and only used to scale regularisations.
    const std::vector<double>& joint_scale() const { return joint_scale_; }
    const std::vector<double>& contact_scale() const { return contact_scale_; }

    double free_speed() const { return free_speed_; }  // [m/s] max |r_k / A_kk|, what velocities are compared with

    bool factor(const StepProblem& problem, const std::vector<double>& joint_B, const std::vector<double>& contact_B);
    void solve(VecX& x) const { lu_.solve(x.data()); }
    void solve(double* x, int columns) const { lu_.solve(x, columns); }  // of nv entries, one behind the other
    double work() const { return lu_.work(); }               // multiplications of one factor()
    double solve_work() const { return lu_.solve_work(); }  // and of one solve()
    // What a factor() costs, in multiplications of solve(), which reads its factors from memory and has one use for each. Fitted to
    // islands of 30 to 1000 bodies within a fifth; with multiplications alone a pile of 1000 was thought four times as dear as it is.
    double cost() const { return work() / 8 + 22 * solve_work(); }

private:
    void add_manifold(const BlockRows& H, int g, int end, const std::vector<double>& contact_B);

    BlockLu lu_;
    std::vector<BlockLu::Edge> edges_;
    std::vector<double> inverse_diagonal_;  // 1 / A_kk
    std::vector<double> joint_scale_, contact_scale_;
    double free_speed_ = 0;
    std::vector<double> product_;          // -B J of one block, or of those of a manifold
    std::vector<const double*> manifold_;  // the blocks of a manifold
};

}  // namespace stickslip
