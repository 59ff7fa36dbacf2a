// Alternating directions on the normal map (normal_pieces.hpp): one factorisation, then back substitutions alone.
//
//   z, y from xi;   (A + H' (S + rho)^-1 H + G' (T + r_j)^-1 G) v = r + H' t + G' t_j
//   t = (S + rho)^-1 (rho z - y - c),   p = t - (S + rho)^-1 H v,   xi += 1.6 (p - z)
//
// with rho_i = rho w_i of row_weights.hpp. At a fixed point p = z and H v + S p + c = -y, Coulomb's law as it is, no shift. Bounded
// bilateral rows are split in the same way, free ones have the small r_j = 1e-6 w_j. There is no proof of convergence; on hard
// steps of heaps it brings the residual to some thousandths of the speeds, from where fewer modes are left to change along a path
// (path_newton.hpp).
//
// Left out, tried and no better: Anderson's acceleration, rho adapted as in OSQP, jumps along the drift.
#pragma once

#include "math/group_products.hpp"
#include "problems/residual.hpp"
#include "solvers/mode_tries.hpp"
#include "solvers/row_weights.hpp"
#include "solvers/work_meter.hpp"

namespace stickslip {

struct AdmmOptions {
    double rho = 0.2;          // of the contact's own weight
    double relaxation = 1.6;
    int block = 60;            // iterations between two looks at the progress
    int max_blocks = 10;
    double least_fall = 0.5;   // of the best residual per block
    int max_idle = 0;          // blocks in a row that may miss it
    bool polish_far = true;    // the modes found are worth a try above the tolerance; not in large heaps, where some are always wrong
};

class Admm {
public:
    // Improves `solution`, the best point so far, whose residual is report.residual; true when that is at most tol. `tries` are made
    // between blocks.
    bool improve(const StepProblem& problem, RowWeights& weights, const AdmmOptions& options, double tol, WorkMeter& meter, ModeTries& tries,
                 StepSolution& solution, SolveReport& report);

private:
    void start(const StepProblem& problem, const RowWeights& weights, const AdmmOptions& options, const StepSolution& x);
    void split_contact(const StepProblem& problem, int i);
    void split(const StepProblem& problem);
    void iterate(const StepProblem& problem, double relaxation);
    double look(const StepProblem& problem, RowWeights& weights);  // leaves the point in x_ and returns its residual

    StepSystem system_;
    BlockColumns columns_;  // of the contacts
    std::vector<double> joint_B_, contact_B_, rho_, joint_rho_;
    RowVec xi_, z_, y_, t_, Hv_;
    RowVec lambda_, clamped_, joint_t_, Gv_;
    VecX v_;
    StepSolution x_;
    Residual residual_;
    ResidualWork residual_work_;
    bool looked_ = false;  // residual_work_ knows this problem
};

}  // namespace stickslip
