// Projected gradients with momentum, for large islands of loosely packed bodies:
//
//   q = p + b (p - p_before),   p := P(q - u(q)/(L w)),   u(q) = H A^-1 (r + H' q) + S q + c
//
// with P of normal_pieces.hpp, w_N and w_T the normal and the mean tangential entry of W_ii, and L the largest eigenvalue of W in that
// scale. A fixed point obeys Coulomb's law as it is, no shift. One iteration reads H once and needs no back substitution.
//
// Jammed heaps have velocities that hardly depend on the impulses: what is left drifts for a thousand iterations of alternating
// directions until some contact changes its mode. Momentum (Nesterov 1983; Mazhar et al. 2015 for heaps) crosses such stretches in the square
// root of that. Friction without dilation has no potential, though, and with one momentum for all the iteration diverges: some contact always
// swings while the heap as a whole still drifts. Here every contact has its own, which grows with the iterations since its gradient
// last pointed back (the restart of O'Donoghue & Candes 2015, contact by contact).
//
// On 13 hard steps of 500 spheres it reached 1e-3 of the speeds 11 times, in a fifth to a third of the time of a path, on steps of 1000 spheres
// half the residual of alternating directions in half the time. Where bodies touch at many points at once (walls: L of 8 to 12 instead of 3
// to 4) its steps are too short, and it is not tried. Tried and no better: momentum for all contacts with or without restart, pauses without
// momentum, means of iterates, Gauss-Seidel sweeps in place of the gradient, momentum in alternating directions.
#pragma once

#include "problems/residual.hpp"
#include "solvers/row_weights.hpp"
#include "solvers/work_meter.hpp"

namespace stickslip {

struct AcceleratedGradientOptions {
    int block = 500;           // iterations between two looks at the progress
    int max_blocks = 100;
    double least_fall = 0.95;  // of the best residual, in one of max_idle blocks
    int max_idle = 8;
};

class AcceleratedGradient {
public:
    // Whether it suits the island: no bilateral rows, bodies and contacts of one kind, and few contacts per body.
    bool suits(const StepProblem& problem);
    // After suits(). Improves `solution`, the best point so far, whose residual is report.residual; true when that is at most tol.
    bool improve(const StepProblem& problem, RowWeights& weights, const AcceleratedGradientOptions& options, double tol, WorkMeter& meter,
                 StepSolution& solution, SolveReport& report);

private:
    // The rows of one contact, with as many columns for each of two bodies; a fixed one is the node behind the last.
    struct Bodies {
        int first, second;  // their velocities begin here
    };
    template <int Dof, int Dim>
    bool pack(const StepProblem& problem);  // false where a contact or body has other sizes
    void list_loads(const StepProblem& problem);
    template <int Dof, int Dim>
    double largest_eigenvalue(const StepProblem& problem);
    template <int Dof, int Dim>
    void start(const StepProblem& problem);    // loads of q_
    template <int Dof, int Dim>
    void iterate(const StepProblem& problem);  // loads become those of the next q_
    // An iteration is a phase of bodies and one of contacts, each shared out among threads.
    template <int Dof, int Dim>
    void load_bodies(int i, const double* p);  // H_i' p
    template <int Dof>
    void move_bodies(const double* r);         // v_ = A^-1 (r + the sum of loads), r = 0 if null
    template <int Dof, int Dim>
    void move_contact(const StepProblem& problem, int i);
    double look(const StepProblem& problem, RowWeights& weights);  // leaves the point in x_ and returns its residual

    MassInverse inverse_;
    DelassusRows rows_;
    int dim_ = 0;                 // rows of every contact: 3 in space, 2 in the plane
    AlignedDoubles packed_;       // per contact H_i', column-major 2 Dof x Dim
    AlignedDoubles loads_;        // per contact H_i' q, 2 Dof
    std::vector<Bodies> bodies_;  // per contact
    std::vector<int> first_load_, load_;  // per node: where in loads_ those of its contacts begin, in their order
    std::vector<double> weight_, step_;  // per row: w, and 1/(L w) or a little more
    std::vector<int> age_;        // per contact: iterations since its gradient pointed back
    RowVec p_, q_, u_;
    VecX v_;                      // with a node more than the problem has
    StepSolution x_;
    Residual residual_;
    ResidualWork residual_work_;
    bool looked_ = false;  // residual_work_ knows this problem
};

}  // namespace stickslip
