// Projected Gauss-Seidel in the three variants of [Lacoursiere-Linde, s.15-17, Algorithm 21.1], matrix-free: each row or
// block moves its impulse with the others frozen, v += A^-1 J' (change). Kept as the papers have it, to be compared with:
//
//   all-separate      every row alone, each tangent clamped to its own bound. The cone is a box: |p_k| <= mu p_N along two
//                     axes. Taken: one tangent; polygon 4, whose square has the axes between t1 and t2 and half width
//                     mu p_N / sqrt 2. Other cones are no box and are refused.
//   block-projection  the whole contact solved as sticking; outside its cone, p_T is shortened along its own direction.
//   block-tangents    p_N first, then both tangents as sticking, p_T shortened along its own direction.
//
// What a fixed point solves: all-separate solves the step problem. The other two do so where contacts stick, and where they
// slip only if W_TT is a multiple of one (and, for block-projection, W_NT = 0): they leave friction along W_TT^-1 u_T
// instead of u_T. Then the residual stalls above the tolerance, and only the mode polish ends it, or nothing.
// Nothing promises convergence for any of them [s.15]. Boxed and free bilateral rows are swept one by one.
#pragma once

#include <vector>

#include "base/fields.hpp"
#include "problems/residual.hpp"
#include "solvers/delassus_rows.hpp"
#include "solvers/mode_solve.hpp"
#include "stickslip/solver.hpp"

namespace stickslip {

struct PgsOptions {
    double tol = default_tolerance;  // [m/s]
    Choice variant{{"all-separate", "block-projection", "block-tangents"}, 2};
    int max_sweeps = 2000;
    int check_every = 5;
    double relaxation = 1;
    bool polish = true;

    template <class F>
    void fields(F&& f) {
        f("tol", tol, "m/s", "residual at which a step is solved");
        f("variant", variant, "-", "what is solved at once; all-separate takes one tangent or polygon 4 only");
        f("max_sweeps", max_sweeps, "-", "sweeps over all rows before giving up");
        f("check_every", check_every, "-", "sweeps between two looks at the residual");
        f("relaxation", relaxation, "-", "share of each change taken, in (0, 2); below 1 damps, above 1 may hasten");
        f("polish", polish, "-", "end with the direct solve with fixed modes (exact stiction); false: sweeps alone");
    }
};

class PgsSolver : public Solver {
public:
    explicit PgsSolver(const PgsOptions& options = {});
    void set_tolerance(double /*tol*/, double aim) override { options_.tol = aim; }
    SolveReport solve(const StepProblem& problem, StepSolution& solution) override;
    bool keep_history(std::vector<SweepRecord>* history) override;

private:
    enum Variant { all_separate, block_projection, block_tangents };
    bool holds(const StepProblem& problem, int i) const;
    void refresh_velocity(const StepProblem& problem);
    void sweep_joints(const StepProblem& problem);
    int sweep_contacts(const StepProblem& problem);  // number of contacts that changed state
    void velocity(const StepProblem& problem, int i, double* u) const;
    void move(int i, int first, int dim, const double* next);
    void separate(const StepProblem& problem, int i);
    void project(const StepProblem& problem, int i);
    void tangents(const StepProblem& problem, int i);

    PgsOptions options_;
    std::vector<SweepRecord>* history_ = nullptr;
    MassInverse inverse_;
    DelassusRows joint_rows_, contact_rows_;
    ModeSolver modes_;
    StepSolution x_, trial_;
    ResidualWork residual_work_;
    VecX impulse_;
};

}  // namespace stickslip
