// Many runs of one model: how the error falls with the step (convergence), and what it costs (comparison of schemes).
//
//   error of q   |q - q*| in the 2-norm over all coordinates, SI units; a quaternion and its negative are the same
//   error of v   the same of the velocities;  of v_weighted: against v* at its own time t_weighted
//   order        p of  error = C step^p, by least squares in logarithms, and from row to row
//
// With several times of comparison a row holds the largest error over them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stickslip/options.hpp"

namespace stickslip {

// What is run: MODEL with its overrides, once for each value of one setting.
struct Study {
    std::string model;                 // MODEL of the command line
    OptionValues overrides;            // --set, --scheme, --solver, --end
    std::string setting = "run.step";  // what is refined: run.step, or scheme.tol of schemes with step control
    std::vector<double> values;        // of it, coarse to fine
    std::vector<double> at;            // [s] times of comparison, ascending; empty: the end
    std::string reference;             // exact, self, none or a file; empty: exact if the model has it, else self
    std::string reference_case;        // of a file that holds several
};

// What the runs were compared with.
struct StudyReference {
    std::string kind;    // exact, self, file, none
    bool known = true;   // false: a run for it was refused, the warnings say why, and no error is known
    std::string origin;  // one sentence: where its numbers come from
    double error = 0;    // its own error of q, NaN if nobody knows
    std::string error_origin;
    std::vector<std::string> compared;  // coordinates, when not all of them
    std::vector<std::string> warnings;  // sentences for the user
};

struct StudyError {
    double t = 0;                               // [s]
    double q = 0, q_max = 0, v = 0, v_max = 0;  // 2-norm and largest entry; NaN: not known to the reference
    double t_weighted = 0, v_weighted = 0;      // [s], 2-norm; NaN likewise
};

struct StudyRow {
    double value = 0;  // of the setting
    bool finished = false;
    std::string reason;                                         // when refused
    std::vector<StudyError> at;                                 // for each time reached
    double q = 0, q_max = 0, v = 0, v_max = 0, v_weighted = 0;  // largest over the times; NaN: unknown or refused
    double ratio = 0, order = 0;                                // of q against the row before; NaN in the first
    double order_v = 0, order_v_weighted = 0;                   // likewise
    bool fitted = false;         // its q stands above rounding and the reference's own error
    std::vector<double> joints;  // [m, rad] holonomic rows at the last time, signed
    double joint_max = 0;        // [m, rad] the largest |g| of them
    // Largest |g| [m, rad] and |G v| [m/s, rad/s] of each holonomic row over the ends of all steps, and of all rows.
    std::vector<double> drift_g, drift_dg;
    double drift_g_max = 0, drift_dg_max = 0;
    double speed_max = 0;  // [m/s, rad/s] largest |v| (2-norm) over the ends of all steps and the start
    double gap_min = 0;    // [m] smallest gap of a contact there; NaN: none came near
    double step_mean = 0;  // [s] of the accepted steps; NaN: none was taken
    long impacts = 0, events = 0;
    long steps = 0, rejected = 0, solves = 0;
    double wall_s = 0;
    std::vector<std::string> warnings;  // of the run
};

struct Convergence {
    std::string model, scheme, solver, setting;
    std::string label;                     // of the scheme in a comparison, with its options
    std::vector<double> times;             // [s]
    std::vector<std::string> joint_names;  // of the holonomic rows
    StudyReference reference;
    std::vector<StudyRow> rows;
    double order = 0, order_v = 0, order_v_weighted = 0;  // fitted; NaN with fewer than two rows
    bool finished() const;                                // every run, that of the reference too
};

// Called before each run with what it is, such as "moreau-jean, run.step = 0.001".
using StudyProgress = std::function<void(const std::string& what)>;

// Throws Error on bad input; a run that is refused is a row that says so.
Convergence converge(const Study& study, const StudyProgress& progress = {});

// The same study for several schemes against one reference. A scheme is NAME or NAME:KEY=VALUE:KEY=VALUE. `self` takes the
// scheme whose own estimate is best, and warns if another one tends to something else.
struct Comparison {
    std::vector<Convergence> schemes;
    bool finished() const;
};
Comparison compare(const Study& study, const std::vector<std::string>& schemes, const StudyProgress& progress = {});

// Steps or tolerances: "2^-5..2^-11" (exponents one by one), "1e-2..1e-4" (halves if that fits, else tenths),
// "0.01../3..0.01/27" (thirds; the divisor between), "0.01,0.005". Coarse to fine. Throws Error.
std::vector<double> parse_steps(const std::string& text, const Place& place = {});
// "0.5,1,2" as ascending times [s]. Throws Error.
std::vector<double> parse_times(const std::string& text, const Place& place = {});

std::string study_text(const Convergence& study);
std::string study_csv(const Convergence& study);
std::string study_svg(const Convergence& study);
std::string study_json(const Convergence& study);

enum class Cost { solves, steps, wall };
std::string study_text(const Comparison& study, Cost cost);
std::string study_csv(const Comparison& study);
std::string study_svg(const Comparison& study, Cost cost);
std::string study_json(const Comparison& study);

// Performance profile [Dolan-More] [Haddouni, (3.10)-(3.12)] of the schemes over many problems. A problem p is one model at one
// value of the setting; r_ps = t_ps / min_s t_ps with the cost t_ps of scheme s, infinite where its run was refused or
// its error of q is above the limit (or unknown, when there is a limit). rho_s(tau) is the share of the problems with r_ps <= tau.
struct PerformanceProfile {
    struct Problem {
        std::string model;
        double value = 0;  // of the setting
    };
    Cost cost = Cost::solves;
    double error_limit = 0;  // infinite: every run that finished counts
    std::string setting;
    std::vector<Problem> problems;
    std::vector<std::string> schemes;
    std::vector<std::vector<double>> costs, ratios;  // [scheme][problem]; infinite: not solved
    std::vector<std::vector<std::string>> reasons;   // why not
    double rho(std::size_t scheme, double tau) const;
    bool solved() const;  // each problem by one scheme at least
};
// One comparison per model, of the same schemes. Throws Error if they are not.
PerformanceProfile performance_profile(const std::vector<Comparison>& models, Cost cost, double error_limit);
std::string study_text(const PerformanceProfile& profile);
std::string study_csv(const PerformanceProfile& profile);
std::string study_svg(const PerformanceProfile& profile);
std::string study_json(const PerformanceProfile& profile, const std::vector<Comparison>& models);

}  // namespace stickslip
