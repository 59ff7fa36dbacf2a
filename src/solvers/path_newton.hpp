// Newton's method along the path of its own residual: a step ends where the first contact changes its mode.
//
//   Phi(xi) = H v + S z + c + rho (xi - z) = 0,    v = A^-1 (r + H' z + G' lambda),    z = P(xi) of normal_pieces.hpp,  rho_i = w_i
//
// Inside a piece of P the direction J dxi = -Phi shortens Phi in proportion, so the iterates run along the path Phi(xi) = t Phi(xi_0)
// with t from 1 to 0, as the pivots of Lemke's method do (Eaves 1976; Dirkse & Ferris 1995 for general complementarity problems):
// the step goes to the border, the contact takes the mode behind it, and the direction is computed anew. A full step that meets no border
// is Newton's. Many modes that change at once, in which Newton's method with a line search circles, are so changed one by one, each
// against the others as they then are.
//
// In the Jacobian every closed row gives way by eps w (a proximal term about the point at hand: it slows, and changes no answer):
//
//   M = (S + eps w) D + rho (I - D),   B = D M^-1,   (A + H' B H + G' (T + eps_j)^-1 G) dv = -H' B Phi - ...,   dxi = -M^-1 (Phi + H dv)
//
// Where friction makes the path turn back, which shows when the new direction leads back over the border just crossed, eps is
// raised until it does not: with eps large enough the map is monotone. Following the path backwards instead, as Lemke's method would,
// ran off to infinity on every fifth hard step. When a full step is reached eps falls, so that the end is fast.
//
// Before that come Newton's full steps with a large eps, over all borders at once: from a far start they bring the residual of large
// islands down in a tenth of the factorisations, and come no further where the path begins. They are not asked to lower anything.
//
// Bounded bilateral rows have three pieces each and are crossed in the same way. Measured on 100 hard steps of heaps: all below 1e-4
// of the speeds, 99 below 1e-6, in some 200 crossings on average (docs/solvers.md).
#pragma once

#include "problems/residual.hpp"
#include "solvers/corrected_system.hpp"
#include "solvers/mode_tries.hpp"
#include "solvers/normal_pieces.hpp"
#include "solvers/row_weights.hpp"
#include "solvers/work_meter.hpp"

namespace stickslip {

struct PathNewtonOptions {
    double first_eps = 1e-3;  // of the weight of a row. If larger, more steps; if smaller, redundant rows send p far away
    double least_eps = 1e-8;
    int full_steps = 0;       // with which it begins, at most
    int max_factorisations = 2000;
    int max_idle = 1000;      // crossings without a new best point
    int extra_looks = 0;      // full steps or 20 crossings beyond the tolerance, towards a thousandth of it
};

class PathNewton {
public:
    // Improves `solution`, the best point so far, whose residual is report.residual; true when that is at most tol. `tries` are made at
    // new best points.
    bool improve(const StepProblem& problem, RowWeights& weights, const PathNewtonOptions& options, double tol, WorkMeter& meter,
                 ModeTries& tries, StepSolution& solution, SolveReport& report);

private:
    enum class Bound : signed char { lower = -1, free = 0, upper = 1 };
    // The border that the last step ended at.
    struct Border {
        int contact = -1, joint = -1;
        Vec3 outward = Vec3::Zero();  // of a joint only the sign of the first entry
        bool none() const { return contact < 0 && joint < 0; }
    };

    void start(const StepProblem& problem, const RowWeights& weights, const StepSolution& x);
    // z, D, Phi, v at (xi, eta); returns sqrt(sum Phi_i^2 / w_i).
    double evaluate(const StepProblem& problem, RowWeights& weights);
    void move(double step);
    void find_pieces(const StepProblem& problem);  // of xi and eta
    // Factors, or changes the factored system where few contacts differ from it; `meter` counts what it cost.
    bool prepare(const StepProblem& problem, double eps, WorkMeter& meter);
    bool change(const StepProblem& problem, WorkMeter& meter);
    void linearise(const StepProblem& problem, int i, double* M, double* B) const;
    void direction(const StepProblem& problem);
    bool leads_on(const StepProblem& problem) const;  // the direction does not lead back over the border
    double step_to_border(const StepProblem& problem, Border& border, NormalPiece& contact_to, Bound& joint_to) const;
    // True: `tol` is reached.
    bool take_full_steps(const StepProblem& problem, RowWeights& weights, int most, double tol, WorkMeter& meter, ModeTries& tries,
                         StepSolution& solution, SolveReport& report);
    ContactCone cone(const StepProblem& problem, int i) const;
    bool offer(const StepProblem& problem, StepSolution& solution, SolveReport& report);

    CorrectedSystem system_;
    std::vector<double> joint_B_, contact_B_, D_, M_, weight_, joint_weight_;
    std::vector<double> used_D_;       // that B and M in use were made of
    std::vector<int> lagging_;         // contacts whose D differs from that
    double used_eps_ = 0;              // and their eps; 0: nothing is factored
    std::vector<Bound> used_bound_;
    std::vector<NormalPiece> piece_;
    std::vector<Bound> bound_;
    RowVec xi_, dxi_, z_, phi_, Hv_;            // contacts
    RowVec best_xi_, best_eta_;                 // of the full steps
    RowVec eta_, deta_, lambda_, w_, Gv_;       // bilateral rows: state, its direction, impulse, residual
    VecX v_, dv_;
    Border border_;
    StepSolution point_;
    ResidualWork residual_work_;
    bool looked_ = false;  // residual_work_ knows this problem
};

}  // namespace stickslip
