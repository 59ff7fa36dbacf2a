// Proximal point outside, semismooth Newton in the velocities inside, for what sweeping cannot reach: stacks, heavy on
// light, closed loops, redundant contacts. With De Saxce's shift s = mu |u_T| frozen the step problem is a convex
// second-order cone problem (Acary, Cadoux, Lemarechal & Malick 2011); one outer round, from (p_k, lambda_k, s_k), solves
//
//   A v = r + G' lambda(v) + H' p(v)
//   p(v)      = argmin over K of  p'(S + eps) p / 2 - p.y,    y = eps p_k - (H v + c + s_k n)
//   lambda(v) = clamp((eps lambda_k - (G v - b)) / (T + eps), lower, upper)
//
// by Newton steps with K = A + G' B_j G + H' B H (B the derivatives of the projections, symmetric and >= 0) and a
// line search on F(v + t dv).dv, which grows with t because F is monotone (as in Drake's SAP, Castro et al. 2022). Then p_k+1 = p(v),
// lambda_k+1 = lambda(v), s_k+1 from u. The proximal eps shrinks from round to round; redundant rows need no care. When the
// modes repeat, the mode solve finishes to rounding.
//
// Left out: a guarantee for the outer iteration on s, which fails where friction can wedge. Polygons: their own
// projection and support function in place of the disc's. The two tangential compliances of a contact are taken as equal.
#pragma once

#include <vector>

#include "problems/residual.hpp"
#include "solvers/mode_solve.hpp"
#include "solvers/step_system.hpp"
#include "stickslip/solver.hpp"

namespace stickslip {

struct ConeNewtonOptions {
    double tol = default_tolerance;
    int max_rounds = 100;
    double first_eps = 1e-2;
    double last_eps = 1e-7;

    template <class F>
    void fields(F&& f) {
        f("tol", tol, "m/s", "residual at which a step is solved");
        f("max_rounds", max_rounds, "-", "outer rounds (impulses and shift updated) before giving up");
        f("first_eps", first_eps, "-",
          "proximal term of the first round, relative to the contact's own Delassus block");
        f("last_eps", last_eps, "-",
          "proximal term of the later rounds; smaller converges faster until rounding spoils it");
    }
};

class ConeNewtonSolver : public Solver {
public:
    explicit ConeNewtonSolver(ConeNewtonOptions options = {});
    void set_tolerance(double /*tol*/, double aim) override { options.tol = aim; }
    SolveReport solve(const StepProblem& problem, StepSolution& solution) override;
    // The rounds alone, without the shortcut of a warm start; `report` keeps counting.
    void rounds(const StepProblem& problem, StepSolution& solution, SolveReport& report);
    ConeNewtonOptions options;
    WorkMeter* meter = nullptr;  // what it costs is added here, and it ends when that is used up

private:
    void impulses(const StepProblem& problem, double t, bool derivatives);        // p, lambda (and B) at v + t dv
    double newton(const StepProblem& problem, double goal, SolveReport& report);  // last change of v
    double line_search(const StepProblem& problem, double first);
    void update_shift(const StepProblem& problem, double fraction);  // s moves towards mu |u_T|
    bool read_modes();

    StepSystem system_;
    ModeSolver modes_;
    ResidualWork residual_work_;
    StepSolution x_, trial_;
    RowVec p_k_, lambda_k_;
    RowVec Hv_, Gv_, H_dv_, G_dv_;
    VecX dv_, Av_, force_;
    std::vector<double> s_;  // per contact [m/s]
    std::vector<double> joint_B_, contact_B_;
    std::vector<ContactMode> mode_, last_modes_;
    double eps_ = 0;
    double scale_ = 0;  // [m/s]
};

}  // namespace stickslip
