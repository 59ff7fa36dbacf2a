// The default solver: a ladder, from the cheapest way that may certify a step to the most robust one. It is given one island
// (island_solver.hpp).
//
//   rest              nothing moves and nothing pushes anew: the impulses of the last step are looked at, not solved for
//   one-node          a single body with at most one contact, in closed form
//   mode-solve        the modes of the last step, or a guess, corrected round by round: one factorisation where they were right
//   nsgs              a few sweeps, in small islands
//   lemke             polygons of up to 100 contacts, exactly
//   admm              one factorisation and many back substitutions (admm.hpp)
//   accelerated-gradient   projections with momentum (accelerated_gradient.hpp), in large islands of loosely packed bodies
//   path-newton       Newton's method that changes modes one by one (path_newton.hpp): what is hard mostly ends here
//   path-newton, interior-point, admm, nsgs, cone-newton   the same from other points, and others, with more patience
//   compliance        contacts that give way a little: that problem is solved exactly, and the compliance told (soft_contacts.hpp)
//
// Each rung starts from the best point by residual() and the best is kept; rungs that find modes end with the mode solve, so that
// stiction is exact and not within the tolerance. Each has a limit of work, counted in factorisations, and a test of its progress; a
// limit for all of them, in multiplications, keeps the longest step near two seconds. Under a budget the ladder ends where that does.
//
// Status is ok only if the residual is at most tol. `report.solver` names the rung that answered.
#pragma once

#include "problems/residual.hpp"
#include "solvers/accelerated_gradient.hpp"
#include "solvers/admm.hpp"
#include "solvers/cone_newton.hpp"
#include "solvers/interior_point.hpp"
#include "solvers/lemke.hpp"
#include "solvers/mode_solve.hpp"
#include "solvers/mode_tries.hpp"
#include "solvers/nsgs.hpp"
#include "solvers/path_newton.hpp"
#include "solvers/soft_contacts.hpp"
#include "solvers/work_meter.hpp"
#include "stickslip/solver.hpp"

namespace stickslip {

struct AutoOptions {
    double tol = default_tolerance;
    int quick_sweeps = 30;
    int local_sweeps = 300;
    int max_sweeps = 3000;
    int newton_rounds = 60;
    double max_work = 3;

    template <class F>
    void fields(F&& f) {
        f("tol", tol, "m/s", "residual at which a step is solved");
        f("quick_sweeps", quick_sweeps, "-", "sweeps of nsgs before anything else, in small islands");
        f("local_sweeps", local_sweeps, "-", "sweeps over stored local problems, fewer if the rate promises nothing");
        f("max_sweeps", max_sweeps, "-", "sweeps of nsgs near the end of the ladder");
        f("newton_rounds", newton_rounds, "-", "rounds of cone-newton");
        f("max_work", max_work, "1e9", "multiplications one island may cost before the best point is taken; some 0.4 s each 1e9");
    }
};

class AutoSolver : public Solver {
public:
    explicit AutoSolver(AutoOptions options = {});
    void set_tolerance(double tol, double aim) override;
    void set_budget(const Budget& budget) override { budget_ = budget; }
    SolveReport solve(const StepProblem& problem, StepSolution& solution) override;
    // Stored local problems: sweeps while they promise to end soon, interior-point, then all the sweeps there are.
    SolveReport solve_local(const DelassusProblem& problem, DelassusSolution& solution) override;

private:
    // The point at hand: what the ladder improves.
    struct Climb {
        const StepProblem& problem;
        StepSolution& best;
        SolveReport& report;
    };
    bool free(const StepProblem& problem, StepSolution& solution, SolveReport& report);
    bool rests(const StepProblem& problem, StepSolution& solution, SolveReport& report);
    bool climb(Climb& climb);
    bool patience(Climb& climb);
    // Runs one rung on a copy of the best point; true when the step is solved.
    template <class Attempt>
    bool attempt(Climb& climb, Attempt&& run);
    bool admm(Climb& climb, const AdmmOptions& options);
    bool gradient(Climb& climb, const AcceleratedGradientOptions& options);
    bool path(Climb& climb, const StepSolution& start, PathNewtonOptions options);
    bool sweeps(Climb& climb, int count);
    void last_sweeps(Climb& climb);
    SolveReport swept(const StepProblem& problem, StepSolution& solution, SolveReport& report);
    bool inner(Climb& climb);
    bool pivots(Climb& climb);
    bool rounds(Climb& climb);
    bool good_enough(Climb& climb);
    void set_goal(double goal);
    void soften(const StepProblem& problem, StepSolution& solution, SolveReport& report);
    bool shares_are_open(const StepProblem& problem, const StepSolution& solution) const;
    void spread(const StepProblem& problem, StepSolution& solution, SolveReport& report);
    void restore_momentum(const StepProblem& problem, StepSolution& solution, Residual& res);

    AutoOptions options_;
    double aim_ = default_tolerance;   // [m/s] what small islands are solved to while that is cheap; else tol will do
    double goal_ = default_tolerance;  // [m/s] of the rung at hand: one of the two
    Budget budget_;
    WorkMeter meter_;
    MassInverse inverse_;
    VecX load_, step_;
    RowVec speed_;
    ModeSolver modes_;
    ModeTries tries_{modes_};
    RowWeights weights_;
    Admm admm_;
    AcceleratedGradient gradient_;
    PathNewton path_;
    NsgsSolver nsgs_;
    ConeNewtonSolver newton_;
    LemkeSolver lemke_;
    InteriorPointSolver interior_;
    SoftContacts soft_;
    DelassusSolution local_;
    StepSolution guess_, x_;
    ResidualWork residual_work_;
};

}  // namespace stickslip
