// Pivots where all else stalls: the discs become polygons, and round by round each polygon is turned so that a corner
// lies where friction pointed in the last solution. At a slipping contact that corner is the friction of the disc itself,
// inside a polygon sticking is sticking: a fixed point solves the problem with discs, and near one the mode solver ends
// the search. Every round is a solvable LCP. The answer is judged against the discs.
#pragma once

#include "problems/residual.hpp"
#include "solvers/lemke.hpp"
#include "solvers/mode_solve.hpp"

namespace stickslip {

bool has_disc(const ContactRows& contacts, int i);
bool has_disc(const StepProblem& problem);
bool has_polygon(const StepProblem& problem);  // with a section of more than two corners
// Complementarity variables of the polyhedral problem, discs counted with `facets` facets.
int lcp_size(const StepProblem& problem, int facets);

class TurnedPolygons {
public:
    int facets = 12;  // of the polygons that stand in for discs

    // Improves x, whose residual is found first, until that is at most tol or the meter is used up.
    void improve(const StepProblem& problem, LemkeSolver& lemke, ModeSolver& modes, double tol, WorkMeter& meter, StepSolution& x,
                 SolveReport& report);

private:
    void make_polygons(const StepProblem& problem);
    void turn_to_friction(const StepProblem& problem, double tol, double fraction);
    void turn_back(const StepProblem& problem);

    StepProblem polygons_;
    StepSolution turned_, polished_;
    std::vector<double> turn_;  // [rad] per contact: first corner of its polygon from t1
    RowVec slip_;
    ResidualWork residual_work_;
};

}  // namespace stickslip
