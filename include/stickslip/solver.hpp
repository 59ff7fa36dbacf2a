// Solvers: a step problem in, a solution and a report out. They know nothing of schemes.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stickslip/error.hpp"
#include "stickslip/options.hpp"
#include "stickslip/problem.hpp"

namespace stickslip {

// Who may answer for an island: the rungs of `auto`, from the cheapest to the last resort, then solvers that are no rung.
enum class Rung : std::uint8_t {
    free,
    rest,
    one_node,
    mode_solve,
    nsgs,
    admm,
    path_newton,
    lemke,
    interior_point,
    cone_newton,
    compliance,
    direct_iterative,
    block_pivot,
    pgs,
    accelerated_gradient,
    other
};
inline constexpr std::size_t rung_count = 16;
const char* to_string(Rung rung);        // as SolveReport::solver spells it: "mode-solve"
Rung rung_named(std::string_view name);  // `other` where there is none of this name

struct SolveReport {
    Status status = Status::ok;
    int iterations = 0;           // pivots or sweeps
    int factorisations = 0;       // of step matrices
    Residual residual;            // of the returned solution, each law counted
    double rounding = 0;          // [m/s] what rounding may hide in it; certified is residual.max() + rounding <= tol
    double tol = 0;               // [m/s] what the island that did worst was judged by
    int uncertified_contacts = 0;  // contacts of the islands that were not certified
    double compliance = 0;        // [m/s per N s] largest that had to be added to a contact row; 0: none was
    const char* solver = "";      // who gave the answer; differs from the asked one after an escalation
    const char* reason = "";      // one sentence when status is not ok
    std::array<int, rung_count> answered{};  // islands that each Rung answered for, certified or not; of make_solver()
};

// What a solve may cost. A solver asks before each unit of work (a factorisation, or sweeps and back substitutions that cost
// as much as one) and ends with its best point once the budget is used up, so it is exceeded by one unit at most.
struct Budget {
    long factorisations = std::numeric_limits<long>::max();  // per island: the same for any number of threads
    double deadline = infinity;                              // [s] of processor_time()
    bool limited() const { return factorisations != std::numeric_limits<long>::max() || deadline < infinity; }
};
// [s] of the calling thread, with the longest of what threads of the library have done for it meanwhile
double processor_time();

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
    // Of every solve from now on.
    virtual void set_budget(const Budget&) {}
    // [m/s] of step problems: a residual of `tol` will do where `aim` cannot be had. Only `auto` knows the difference.
    virtual void set_tolerance(double /*tol*/, double /*aim*/) {}
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
// It solves island by island (problems/islands.hpp), and its answers are judged apart from it: status ok means that residual and
// rounding together are at most `tol`, by problems/certificate.hpp. Without the option `tol` that is default_share of the
// speeds of each island (problems/speed_scale.hpp). Whether a problem that was not solved has no solution is asked by
// find_contradiction().
// Throws Error with the nearest name when there is none, and on wrong options.
std::unique_ptr<Solver> make_solver(const std::string& name, const OptionValues& values = {}, Place place = {});

}  // namespace stickslip
