// Contact problems that come from files: our own step problems and those of the FCLIB collection (HDF5), and the errors
// by which such collections compare solutions.
//
// FCLIB's local form (W, q, mu) is a Delassus problem. Its global form
//   M v = H r + G lambda + f,   G' v + b = 0,   u = H' v + w
// is a step problem with A = M, its velocities reordered so that what M couples lies in one node.
#pragma once

#include <string>
#include <vector>

#include "stickslip/problem.hpp"

namespace stickslip {

enum class ProblemFormat { own, fclib_global, fclib_local };

struct StoredProblem {
    ProblemFormat format = ProblemFormat::own;
    StepProblem step;         // own and fclib_global
    DelassusProblem local;    // fclib_local
    StepSolution step_guess;  // warm if the file has a guess (FCLIB: a `solution` that fits; it is never trusted)
    DelassusSolution local_guess;
    std::vector<int> velocities;  // fclib_global: velocity k here is velocity velocities[k] of the file
};
// Reads any of the three. Refuses by name what is none of them, rolling friction among it.
StoredProblem load_any_problem(const std::string& file);

// FCLIB knows discs (in the plane: intervals) of one dimension per file, and rigid rows. What it cannot hold is refused
// by name; with `polygons_as_discs` polygons become the discs around them.
struct FclibWriting {
    bool polygons_as_discs = false;
    std::vector<int> velocities;  // order of the velocities in the file, as above; empty: as they are
};
// `solution` becomes the group of that name, with u and v computed from its impulses.
void save_fclib(const std::string& file, const StepProblem& problem, const StepSolution* solution = nullptr,
                const FclibWriting& how = {});
void save_fclib(const std::string& file, const DelassusProblem& problem, const DelassusSolution* solution = nullptr,
                const FclibWriting& how = {});

// Errors of a solution, recomputed from its impulses alone, and relative since the units of a stored problem are
// unknown. With q the contact velocity at p = lambda = 0 and, for a step problem, v = A^-1 (r + G' lambda + H' p) and
// W_ii = H_i A^-1 H_i' + S_i:
struct RelativeError {
    double contacts = 0;  // "err_vel": 2-norm over contacts of the natural maps / |q|, as relative_error()
    double joints = 0;    // the same over the bilateral rows
    double natural = 0;   // "fclib_error": 2-norm of p - P_K(p - u~) / max(|q|, |p|, |u|), the stopping test of Siconos
    double scale = 1;     // |q|, or 1 when q = 0
    VecX u, v;            // contact velocities; velocities of a step problem
};
RelativeError relative_errors(const DelassusProblem& problem, const ConstRef& p);
RelativeError relative_errors(const StepProblem& problem, const ConstRef& p, const ConstRef& lambda);

}  // namespace stickslip
