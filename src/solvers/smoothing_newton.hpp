// Newton's method on the smoothed normal map (normal_map.hpp), the smoothing taken away as it converges:
//
//   Phi = H v + S z + c + y,    v = A^-1 (r + H' z + G' lambda),    D = dz/dxi,  y = rho (xi - z),  rho_i = w_i
//   M = (S + eps w) D + rho (I - D),   B = D M^-1
//   (A + H' B H + G' (T + eps_j)^-1 G) dv = -H' B Phi - G' (T + eps_j)^-1 (G v + T lambda - b),    dxi = -M^-1 (Phi + H dv)
//
// delta, a velocity, is the width of the smoothing (d = delta / rho): z_N u_N = rho d^2, so that the iterates follow a central path.
// The merit is sqrt(sum |Phi_i|^2 / w_i); steps are 0.6^k, and when none lowers it enough the best one is taken all the same and eps,
// which damps directions that redundancy leaves free, is raised. Bounded bilateral rows are clamped and not smoothed.
//
// Dead ends: smoothing De Saxce's map, a monotone line search on the unsmoothed residual, large eps as damping.
#pragma once

#include "problems/residual.hpp"
#include "solvers/row_weights.hpp"
#include "solvers/work_meter.hpp"

namespace stickslip {

struct SmoothingNewtonOptions {
    double least_eps = 1e-5;         // of the contact's weight
    double path = 3;                 // delta shrinks when rms Phi < path delta
    double first_delta = 0.3;        // of the speed at the contacts
    double tangential_width = 3;     // smoothing of friction against that of the normal
    double last_delta = 1e-10;       // of the speed at the contacts
    bool monotone = false;           // never take a step that raises the merit; stop instead
    int max_factorisations = 60;
};

class SmoothingNewton {
public:
    // From `start`; leaves the point of least residual() in `x` and its residual in `res`. Its modes are for the mode solve.
    void run(const StepProblem& problem, RowWeights& weights, const SmoothingNewtonOptions& options, double tol,
             WorkMeter& meter, const StepSolution& start, StepSolution& x, SolveReport& report);

private:
    void begin(const StepProblem& problem, const RowWeights& weights, const StepSolution& start);
    double merit(const StepProblem& problem, RowWeights& weights, const RowVec& xi, const RowVec& lambda, double delta);
    bool direction(const StepProblem& problem, double eps);
    void offer(const StepProblem& problem, RowWeights& weights, StepSolution& x, SolveReport& report);

    StepSystem system_;
    std::vector<double> joint_B_, contact_B_, D_, M_, weight_, joint_weight_;
    RowVec xi_, lambda_, trial_xi_, trial_lambda_, best_xi_, best_lambda_, dxi_, dlambda_;
    RowVec z_, phi_, w_, clamped_, Hv_, Gv_;
    VecX v_, dv_;
    double tangential_width_ = 3;
    StepSolution point_;
    ResidualWork residual_work_;
};

}  // namespace stickslip
