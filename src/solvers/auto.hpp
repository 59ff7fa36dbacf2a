// The default solver: the cheapest way that certifies the step.
//
//   mode-solve    a warm start with the right modes: one factorisation (ModeSolver); also the first try when cold
//   lemke         polygons only, up to lemke_first variables (off by default: it allocates, and the next two are as fast)
//   nsgs          a few sweeps
//   lemke         up to lemke_last variables: polygons as they are; few discs as polygons that are turned, round by round,
//                 towards the friction they found (many discs: after the next two)
//   interior-point, cone-newton   what sweeps do not reach: walls, stacks, heavy on light, redundancy
//   nsgs          many sweeps, from the best point so far
//
// Each stage starts from the best point by residual() and the best is returned; the answer is always judged against the
// problem's own cones. Status is ok only if the residual is at most tol. `report.solver` names the stage that answered;
// "one-node" is the shortcut for a single body with at most one contact.
#pragma once

#include "problems/residual.hpp"
#include "solvers/cone_newton.hpp"
#include "solvers/interior_point.hpp"
#include "solvers/lemke.hpp"
#include "solvers/mode_solve.hpp"
#include "solvers/nsgs.hpp"
#include "stickslip/solver.hpp"

namespace stickslip {

struct AutoOptions {
    double tol = default_tolerance;
    int quick_sweeps = 30;
    int local_sweeps = 300;
    int max_sweeps = 3000;
    int newton_rounds = 60;
    int lemke_first = 0;
    int lemke_last = 4000;
    int guess_facets = 12;

    template <class F>
    void fields(F&& f) {
        f("tol", tol, "m/s", "residual at which a step is solved");
        f("quick_sweeps", quick_sweeps, "-", "sweeps of nsgs before Newton is tried");
        f("local_sweeps", local_sweeps, "-", "the same for stored local problems, fewer if the rate promises nothing");
        f("max_sweeps", max_sweeps, "-", "sweeps of nsgs when all else failed");
        f("newton_rounds", newton_rounds, "-", "rounds of cone-newton");
        f("lemke_first", lemke_first, "-",
          "polygon problems up to this many complementarity variables go to lemke at once");
        f("lemke_last", lemke_last, "-", "larger problems never go to lemke (dense, cubic cost)");
        f("guess_facets", guess_facets, "-", "facets of the polygons that stand in for discs in hard problems");
    }
};

class AutoSolver : public Solver {
public:
    explicit AutoSolver(AutoOptions options = {});
    SolveReport solve(const StepProblem& problem, StepSolution& solution) override;
    // Stored local problems: sweeps while they promise to end soon, interior-point, then all the sweeps there are.
    SolveReport solve_local(const DelassusProblem& problem, DelassusSolution& solution) override;

private:
    // Runs one stage on a copy of the best point; true when the step is certified.
    template <class Attempt>
    bool attempt(StepSolution& solution, SolveReport& report, Attempt&& run);
    void make_polygons(const StepProblem& problem);
    void turn_polygons(const StepProblem& problem, StepSolution& x, SolveReport& report);

    void restore_momentum(const StepProblem& problem, StepSolution& solution, Residual& res);

    AutoOptions options_;
    MassInverse inverse_;
    VecX load_, step_;
    ModeSolver modes_;
    NsgsSolver nsgs_;
    ConeNewtonSolver newton_;
    LemkeSolver lemke_;
    InteriorPointSolver interior_;
    DelassusSolution local_;
    StepSolution x_;
    ResidualWork residual_work_;
    StepProblem polygons_;
    StepSolution turned_, polished_;
    std::vector<double> turn_;  // [rad] per contact: first corner of its polygon from t1
    RowVec slip_;
};

}  // namespace stickslip
