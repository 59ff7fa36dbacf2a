// Mode solve: guess the mode of every contact and bilateral row, solve the equalities that are left directly,
// check signs and cones, update the modes; a few rounds (primal-dual active set, a semismooth Newton method:
// Hintermueller, Ito & Kunisch 2003; for friction Alart & Curnier 1991).
//
//   open    p = 0
//   stick   u = 0
//   slide   u_N = 0, p_T = -mu p_N u_T/|u_T|        Newton on the direction; with one tangent a sign
//   corner  u_N = 0, p_T = mu p_N d_j               polygon: the corner of most dissipation
//   edge    u_N = 0, u_T.e = 0, p_T.o = mu a p_N    polygon: between two corners, o its normal, e along it
//   row     w = 0, or lambda at a bound
//
// Each linear system is regularised by eps (dp) in every closed row and solved again with the full residual until
// that is rounding: the proximal method of multipliers, p_k+1 : H v + S p + c + eps (p - p_k) = 0. It therefore takes
// redundant rows, and among the many p they allow finds the one nearest to the guess. When that p leaves the
// cone although the velocities are right, p is moved inside the null space of H' by projections (repair below).
#pragma once

#include <vector>

#include "math/group_products.hpp"
#include "problems/residual.hpp"
#include "solvers/delassus_rows.hpp"
#include "solvers/step_system.hpp"
#include "solvers/work_meter.hpp"
#include "stickslip/problem.hpp"

namespace stickslip {

class ModeSolver {
public:
    // Starts from `solution` (v, lambda, p, modes: a guess). Returns true if the residual() of what it leaves in
    // `solution` is at most tol; never leaves something worse than what came in. `res` is that residual.
    bool improve(const StepProblem& problem, StepSolution& solution, double tol, Residual& res);

    // A guess from the problem alone: contacts that the free motion does not open stick (bodies of a stack fall alike).
    void guess(const StepProblem& problem, StepSolution& solution);

    WorkMeter* meter = nullptr;  // what it costs is added here, and it ends when that is used up
    // Impulses of the guess give directions of sliding only: the smallest are found, not the nearest, and left in `solution` even if what
    // came in was more exact.
    bool forget_impulses = false;
    int max_rounds = 15;         // changes of modes before giving up; more rarely helps, the set then cycles
    int max_idle = 15;           // rounds in a row that may pass without fewer changes than ever
    int iterations() const { return iterations_; }          // linear solves of the last call
    double cost() const { return system_.cost(); }          // of one factorisation, as StepSystem counts it
    int factorisations() const { return factorisations_; }  // of the last call; one when the modes were right

private:
    enum class Law : std::uint8_t { open, stick, slide, corner, edge };
    struct Contact {
        Law law = Law::open;
        std::uint8_t tangents = 0;      // directions in which friction acts: 0, 1 (t1) or 2
        int face = 0;                   // corner or facet number
        Vec2 direction = Vec2::Zero();  // of p_T while sliding
    };

    void start(const StepProblem& problem, const StepSolution& solution);
    void evaluate(const StepProblem& problem);
    bool linearise(const StepProblem& problem);  // true if K changed since it was last factored
    double correct(const StepProblem& problem);  // one linear solve with the factors at hand; returns max |dv|
    int update_laws(const StepProblem& problem);
    int update_rows(const StepProblem& problem);
    // Gives contact i the law that p and u call for; false when it stays. Signs within slack are rounding.
    bool classify(const StepProblem& problem, int i, double slack, Contact& contact) const;
    bool repair(const StepProblem& problem);
    bool inside(const StepProblem& problem, double slack) const;  // closed contacts keep their laws
    void finish(const StepProblem& problem);
    double velocity_scale(const StepProblem& problem) const;
    void add_impulses(const StepProblem& problem);

    MassInverse inverse_;
    StepSystem system_;
    BlockColumns columns_;  // of many contacts
    std::vector<Contact> contacts_;
    std::vector<signed char> row_state_;  // per bilateral row: -1 at lower, 0 free, 1 at upper
    std::vector<double> joint_B_, contact_B_, factored_joint_B_, factored_contact_B_;
    RowVec joint_q_, contact_q_;  // see StepSystem
    RowVec w_, u_;                // G v + T lambda - b, H v + S p + c
    RowVec dw_, du_, before_;
    VecX f_;
    StepSolution x_;  // the point being improved
    ResidualWork residual_work_;
    RowVec kept_p_, kept_lambda_;
    VecX kept_v_;
    bool factored_ = false;  // K of the two lists above is factored
    double scale_ = 0;       // [m/s] of the velocities at hand
    double impulse_ = 0;     // [N s] largest impulse at hand
    int iterations_ = 0, factorisations_ = 0;
};

}  // namespace stickslip
