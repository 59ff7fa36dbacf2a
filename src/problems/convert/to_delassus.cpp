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
    result.start = problem.contacts.jacobian.row;
    result.W = elimination.W();
    result.q = elimination.q();
    result.friction = problem.contacts.friction;
    result.facets = problem.contacts.facets;
    return result;
}

}  // namespace stickslip
