// Primal-dual interior point method on friction cones, with Newton's method on De Saxce's shift as well: for problems
// where sweeps stall and fixed shifts circle (heavy on light, hyperstatic walls and piles, hundreds of contacts).
//
// Each contact is scaled by D = diag(mu, 1, 1) and its own Delassus block, so that its cone is Lorentz' own (lorentz.hpp):
// find z in L, t in L with
//
//   t = W z + q + |t_T| e_0        (De Saxce: u_N + mu |u_T| in place of u_N)
//   z o t = tau e,                 tau -> 0
//
// Newton's step with the scaling of Nesterov and Todd (theta z = t), Mehrotra's predictor and corrector:
//
//   (W + C theta) dz = C wanted - offset,    C dt = W dz + offset,    C = I - turning e_0 d',   d = t_T/|t_T|
//   offset = W z + q + |t_T| e_0 - t,        wanted = tau z^-1 - t - (products of the predictor)
//
// turning = 1 is Newton's method for the problem as it is, not convex, and quadratic near the solution; turning = 0 freezes the
// shift for one step (Acary, Armand & Nguyen 2022 as a convex program). With 0.9 the iteration is seen to jam less often; it
// goes to 1 with tau, and tau is not let far below the offset: both have to arrive together. When the steps become short
// the target tau is raised until the iterates are back near the central path.
//
// theta of a slipping contact has eigenvalues from tau to 1/tau. Stored problems end at 1e-9 and below; in a step problem,
// where theta^-1 enters K, rounding stops at 1e-9 to 1e-7 of the largest velocity, and the mode solve does the rest.
//
// Bilateral rows: free ones as equations with a proximal term, bounded ones with a slack per bound. Polygon cones are
// refused. There is no proof of convergence where friction can wedge; what comes out is judged by the residual.
#pragma once

#include <span>
#include <vector>

#include "problems/residual.hpp"
#include "solvers/lorentz.hpp"
#include "solvers/mode_solve.hpp"
#include "solvers/row_space.hpp"
#include "stickslip/solver.hpp"

namespace stickslip {

struct InteriorPointOptions {
    double tol = default_tolerance;
    int max_steps = 100;
    double max_work = 9;
    bool polish = true;

    template <class F>
    void fields(F&& f) {
        f("tol", tol, "m/s", "residual at which a step is solved; of stored local problems relative to |q|");
        f("max_steps", max_steps, "-", "Newton steps, one factorisation each; 10 to 40 are normal");
        f("max_work", max_work, "1e9", "multiplications in factorisations before giving up, some 0.2 s each 1e9");
        f("polish", polish, "-", "end with a direct solve for the modes found, so that stiction is exact");
    }
};

class InteriorPointSolver : public Solver {
public:
    explicit InteriorPointSolver(InteriorPointOptions options = {});
    void set_tolerance(double /*tol*/, double aim) override { options.tol = aim; }
    SolveReport solve(const StepProblem& problem, StepSolution& solution) override;
    SolveReport solve_local(const DelassusProblem& problem, DelassusSolution& solution) override;
    InteriorPointOptions options;

    struct Tactic {
        double turning, raise, feasible;
    };

private:
    struct Cone {
        int row = 0, size = 0;  // first row; rows that take part
        double scale[3];        // z_k = p_k / scale_k, t_k = scale_k u_k
        Vec3 z, t;
        Vec3 dz, dt;          // step at hand
        Vec3 d;               // slip direction of t
        Vec3 offset, wanted;  // infeasibility W z + q + |t_T| e_0 - t; what theta dz + dt should be
        lorentz::Scaling nt;
    };
    struct Bound {
        double slack = 0, force = 0;    // lambda - lower (or upper - lambda), and the velocity it pays
        double dslack = 0, dforce = 0;  // step at hand
        bool there = false;
    };
    struct Line {            // a bilateral row
        bool fixed = false;  // bounds meet
        double scale = 1;    // z = lambda / scale, y = scale w
        double z = 0, dz = 0, y = 0;
        Bound lower, upper;
    };
    void set_up(const RowSpace& space, const std::vector<double>& friction, const std::vector<int>& facets,
                const double* lower, const double* upper);
    // Ever other tactics until judge(x), the error of the impulses x, is at most tol, or ended(), asked after a way that did
    // not get there, is true. best_ is the best point.
    template <class Judge, class Ended>
    void run(RowSpace& space, std::span<const Tactic> tactics, Judge&& judge, Ended&& ended);
    void forget(const RowSpace& space);  // the best point so far
    void start(RowSpace& space);
    void measure(RowSpace& space);                        // velocities and infeasibilities of the point at hand
    bool advance(RowSpace& space, const Tactic& tactic);  // one step; false when it jammed
    bool linear_step(RowSpace& space, double turning, double target, bool corrected, double feasible);
    ContactMode mode_of(const Cone& cone, int dim) const;
    double reach() const;
    double complementarity() const;  // mean product
    void impulses(RowVec& x) const;

    std::vector<Cone> cones_;
    std::vector<Line> lines_, first_lines_;
    RowShift shift_;
    RowVec x_, y_, b_, dx_, best_;
    std::vector<ContactMode> best_modes_;
    double unit_ = 1;  // [m/s] of the scaled velocities
    double best_error_ = infinity;
    int pairs_ = 0;  // complementary pairs
    int steps_ = 0;
    int short_steps_ = 0;  // in a row
    double last_step_ = 1;

    StepRows step_rows_;
    DelassusSpace delassus_;
    ModeSolver modes_;
    StepSolution trial_;
    ResidualWork residual_work_;
};

}  // namespace stickslip
