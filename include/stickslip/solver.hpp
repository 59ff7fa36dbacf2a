// Solvers: a step problem in, a solution and a report out. They know nothing of schemes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stickslip/error.hpp"
#include "stickslip/options.hpp"
#include "stickslip/problem.hpp"

namespace stickslip {

struct SolveReport {
    Status status = Status::ok;
    int iterations = 0;       // pivots or sweeps
    Residual residual;        // of the returned solution, each law counted
    double rounding = 0;      // [m/s] what rounding may hide in it; certified is residual.max() + rounding <= tol
    const char* solver = "";  // who gave the answer; differs from the asked one after an escalation
    const char* reason = "";  // one sentence when status is not ok
};

// One sweep of a sweeping solver, for those who look at how it converges.
struct SweepRecord {
    int sweep;        // from 1
    double residual;  // [m/s] after it, by residual()
    int changed;      // contacts that changed their mode in it
};

class Solver {
public:
    virtual ~Solver() = default;
    // `solution` comes in as the guess if solution.warm, and goes out as the best point found.
    virtual SolveReport solve(const StepProblem& problem, StepSolution& solution) = 0;
    // Problems that come as u = W p + q. `tol` then bounds relative_error(), which is report.residual.contacts. A solver
    // whose table entry does not say `local` refuses.
    virtual SolveReport solve_local(const DelassusProblem& problem, DelassusSolution& solution);
    // From now on every solve leaves its sweeps in `history` (null: off, at no cost). False when this one does not sweep.
    virtual bool keep_history(std::vector<SweepRecord>*) { return false; }
};

// One line of the table of solvers: what it is, what it takes, how to make it.
struct SolverEntry {
    const char* name;
    const char* paper;
    const char* summary;
    bool disc, polygon;  // cones it takes
    bool nonsymmetric;   // A (and W) may be unsymmetric
    bool local;          // takes Delassus problems too
    std::vector<FieldInfo> (*options)();
    std::unique_ptr<Solver> (*make)(const OptionValues& values);
};

const std::vector<SolverEntry>& solvers();
// Its answers are judged apart from it: status ok means that residual and rounding together are at most `tol`, by
// problems/certificate.hpp. Whether a problem that was not solved has no solution is asked by find_contradiction().
// Throws Error with the nearest name when there is none, and on wrong options.
std::unique_ptr<Solver> make_solver(const std::string& name, const OptionValues& values = {}, Place place = {});

}  // namespace stickslip
