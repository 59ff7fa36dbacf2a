// Direct-iterative splitting [Lacoursiere-Linde, (96)-(97), Alg. 21.2]: what holds a machine together is solved directly,
// friction in sweeps, in turns.
//
//   direct     given p_T:     A v - G' lambda - N' p_N = r + D' p_T
//              (96)           G v + T lambda - b   complementary to lambda in [lower, upper]
//                             N v + S p_N + c_N    complementary to p_N >= 0
//   iterative  given lambda:  sweeps over the contacts, normal and tangents of each together in its own cone (97)
//
// The direct part is a mixed LCP with the matrix of the sparse LDL' (math/kkt.hpp). Block pivots: all rows on the wrong
// side change sides at once; when that has not lowered their number for a while, one at a time (Judice & Pires 1994:
// ends for every such matrix, where the paper stops after 10 pivots and keeps the best). Only what the changed rows
// reach is factored again. Rows get a proximal compliance, so redundant joints and contacts need no care.
//
// Letters of the paper: nu is p_N, beta is p_T. Other than there: the cone of the sweeps is the problem's own, solved
// exactly per contact, in place of boxes and a projection (98); and the turns go on until residual() is below the tolerance,
// with the mode solve tried whenever the modes repeat, so that stiction is exact. The factor uses the symmetric part of
// A; corrections run against A itself.
// Left out: a guarantee. The splitting may circle where friction moves the joints as much as the normals do.
#pragma once

#include <vector>

#include "math/kkt.hpp"
#include "problems/residual.hpp"
#include "solvers/delassus_rows.hpp"
#include "solvers/mode_solve.hpp"
#include "stickslip/solver.hpp"

namespace stickslip {

struct DirectIterativeOptions {
    double tol = default_tolerance;
    int max_rounds = 100;
    int sweeps = 15;
    int max_pivots = 200;
    bool polish = true;

    template <class F>
    void fields(F&& f) {
        f("tol", tol, "m/s", "residual at which a step is solved");
        f("max_rounds", max_rounds, "-", "turns of direct solve and sweeps before giving up");
        f("sweeps", sweeps, "-", "sweeps over the contacts in each turn; the paper takes 15");
        f("max_pivots", max_pivots, "-", "changes of the active set in one direct solve before going on with the last");
        f("polish", polish, "-", "end with, and try in between, the direct solve with fixed modes (exact stiction)");
    }
};

class DirectIterativeSolver : public Solver {
public:
    explicit DirectIterativeSolver(DirectIterativeOptions options = {});
    void set_tolerance(double /*tol*/, double aim) override { options.tol = aim; }
    SolveReport solve(const StepProblem& problem, StepSolution& solution) override;
    DirectIterativeOptions options;

private:
    enum class Side : signed char { lower = -1, active = 0, upper = 1 };

    void build_rows(const StepProblem& problem);
    bool direct(const StepProblem& problem, SolveReport& report);  // x_ from x_.p_T; false when the factor broke down
    int flip(bool one);  // wrong rows change sides (all, or the last of them); how many were wrong
    void sweep(const StepProblem& problem);
    void keep_better(const StepProblem& problem, const StepSolution& x, StepSolution& solution, SolveReport& report);

    KktSystem kkt_;
    BlockRows rows_;  // joints, then one normal row per contact
    RowVec T_, factor_T_, b_, lower_, upper_, lambda_, w_;
    VecX r_, impulse_;
    std::vector<double> scale_;  // per row: J A^-1 J' + T by the diagonal of A [velocity / impulse]
    std::vector<Side> side_;
    std::vector<char> active_;
    std::vector<int> group_of_;  // per row
    std::vector<int> changed_;   // groups whose rows changed sides since the last factor
    double speed_ = 0;           // [m/s] what velocities are compared with
    bool factored_ = false;

    MassInverse inverse_;
    DelassusRows contact_rows_;
    ModeSolver modes_;
    StepSolution x_, trial_;
    ResidualWork residual_work_;
    std::vector<ContactMode> last_modes_;
};

}  // namespace stickslip
