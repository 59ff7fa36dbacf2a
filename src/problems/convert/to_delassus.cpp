#include "problems/convert/to_delassus.hpp"

#include "problems/convert/elimination.hpp"
#include "stickslip/error.hpp"

namespace stickslip {

DelassusProblem to_delassus(const StepProblem& problem) {
    Elimination elimination;
    elimination.compute(problem);
    if (!elimination.boxed().empty())
        throw Error("a Delassus problem holds contacts only, but bilateral row " +
                    std::to_string(elimination.boxed().front()) +
                    " has finite bounds; keep the step problem for motors, limits and brakes");
    DelassusProblem result;
    Nodes rows;
    rows.start = problem.contacts.jacobian.row;
    result.W.shape_diagonal(rows);
    const auto& W = elimination.W();
    for (int i = 0; i < rows.size(); ++i) {
        for (int j = 0; j < rows.size(); ++j) {
            const auto part = W.block(rows.start[i], rows.start[j], rows.dof(i), rows.dof(j));
            if (i == j)
                result.W.block(i) = part;
            else if (!part.isZero(0))
                result.W.block(result.W.add_coupling(i, j)) = part;
        }
    }
    result.q = elimination.q().vec();
    result.friction = problem.contacts.friction;
    result.facets = problem.contacts.facets;
    return result;
}

}  // namespace stickslip
