// Nonsmooth Gauss-Seidel (Jean & Moreau 1992, Jean 1999): contact after contact, each solved exactly with the
// others frozen, until the residual is below the tolerance; then mode polish.
//
//   for each contact i:   u_i = H_i v + S_i p_i + c_i,   q = u_i - W_ii p_i,   p_i := solution of (W_ii, q, cone)
//                         v += A^-1 H_i' (change of p_i)
//   bilateral rows alike: a joint's rows together, boxed rows one by one.
//
// Cheap and robust, and slow where information must travel far (stacks, heavy on light, redundant contacts): there
// the mode solve, tried whenever the modes have settled, takes over. Takes every cone, unsymmetric A, couplings
// (then with full columns of A^-1 H', small systems only).
#pragma once

#include <vector>

#include "problems/residual.hpp"
#include "solvers/delassus_rows.hpp"
#include "solvers/delassus_sweeps.hpp"
#include "solvers/mode_solve.hpp"
#include "stickslip/solver.hpp"

namespace stickslip {

struct NsgsOptions {
    double tol = default_tolerance;
    int max_sweeps = 2000;
    int check_every = 5;
    double relaxation = 1;
    int shuffle = 0;
    bool freeze = false;
    bool polish = true;

    template <class F>
    void fields(F&& f) {
        f("tol", tol, "m/s", "residual at which a step is solved");
        f("max_sweeps", max_sweeps, "-", "sweeps over all contacts before giving up");
        f("check_every", check_every, "-", "sweeps between two looks at the residual");
        f("relaxation", relaxation, "-", "share of each local change taken, in (0, 2); below 1 damps cycles");
        f("shuffle", shuffle, "-", "0: contacts in their order; else the seed of a fixed random order");
        f("freeze", freeze, "-", "leave contacts that no longer move out of most sweeps");
        f("polish", polish, "-", "end with, and try in between, the direct solve with fixed modes (exact stiction)");
    }
};

class NsgsSolver : public Solver {
public:
    explicit NsgsSolver(NsgsOptions options = {});
    void set_tolerance(double /*tol*/, double aim) override { options.tol = aim; }
    SolveReport solve(const StepProblem& problem, StepSolution& solution) override;
    SolveReport solve_local(const DelassusProblem& problem, DelassusSolution& solution) override;

    // The sweeps alone, from the given point, without the shortcut at the start; adds to `report.iterations`.
    void sweep(const StepProblem& problem, StepSolution& solution, int sweeps, SolveReport& report);
    // The same for a stored local problem. With `foresee` it ends as soon as the rate of convergence tells that the
    // sweeps will not do.
    void sweep_local(const DelassusProblem& problem, DelassusSolution& solution, int sweeps, bool foresee,
                     SolveReport& report);
    double local_work() const { return local_.work(); }  // multiplications of one such sweep, of the last problem
    NsgsOptions options;
    WorkMeter* meter = nullptr;  // what sweeps cost is added here, and they end when that is used up
    // At the residual. Who never looks takes the last point as it is, and report.residual says nothing.
    enum class Looks { in_between, at_end, never };
    Looks looks = Looks::in_between;

private:
    void refresh_velocity(const StepProblem& problem, StepSolution& x);
    void sweep_joints(const StepProblem& problem, StepSolution& x);
    int sweep_contacts(const StepProblem& problem, bool all, StepSolution& x);  // number of modes that changed
    void factor_joint_groups(const StepProblem& problem);

    SweepOrder order_;
    DelassusSweeps local_;
    DelassusSolution local_x_;
    MassInverse inverse_;
    DelassusRows joint_rows_, contact_rows_;
    ModeSolver modes_;
    StepSolution x_, trial_;
    ResidualWork residual_work_;
    VecX impulse_;
    std::vector<double> joint_lu_;  // per group: LU of W_gg with a proximal term; same places as W
    std::vector<int> joint_lu_first_, joint_pivot_;
    std::vector<char> joint_direct_;  // the group has no bounds and is solved as one
};

// target = source, keeping the memory of target.
void copy_solution(const StepSolution& source, StepSolution& target);
// What a cold solution holds is no guess: zero.
void reset_solution(StepSolution& solution);

}  // namespace stickslip
