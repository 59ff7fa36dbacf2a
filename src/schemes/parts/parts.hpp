// Sentences that several schemes share. Each works on the Step at hand and says what it fills.
#pragma once

#include "base/fields.hpp"
#include "stickslip/scheme.hpp"

namespace stickslip {

struct PushOut;  // push_out.hpp

// Seconds between laps, summed per arrow.
class Stopwatch {
public:
    explicit Stopwatch(StepTimers& timers) : timers_(timers), last_(clock::now()) {}
    void lap(StepTimers::Arrow arrow) {
        const auto now = clock::now();
        timers_.seconds[arrow] += std::chrono::duration<double>(now - last_).count();
        last_ = now;
    }

private:
    using clock = std::chrono::steady_clock;
    StepTimers& timers_;
    clock::time_point last_;
};

// The length of the next step: `h`, cut at t_limit; a remainder below a thousandth of h is swallowed, so that
// rounding of t never leaves a sliver of a step.
double step_length(double t, double h, double t_limit);
// t + h: exactly t_limit when the step reaches it, exactly (n + 1) h when t is n h up to rounding, so that time does not
// gather rounding and a run that ends early takes the same steps as a longer one.
double end_of_step(double t, double h, double t_limit);

// The length to the next multiple of h, so that sub-steps after an event end where the step would have ended; and where that is.
double length_to_grid(double t, double h, double t_limit);
double end_on_grid(double t, double length, double h, double t_limit);

// Looks for redundant joint rows at a state; at the start of a run and after each edit, so that a resumed run finds the same.
void plan_redundancy(const System& system, const State& state, Step& step);

// Opens the step: start state, no contacts, no events.
void begin_step(const State& x, Step& s);
// Rows at (t, q) for a step of length h from velocity v.
void find_rows(const System& system, double t, const VecX& q, const VecX& v, double h, Step& s);
// Notes gaps and joint errors of the rows just found, at a configuration that the motion really passes.
void note_violations(const VecX& v, Step& s);
void note_violations(const VecX& v, const BilateralRows& joints, const ContactRows& contacts,
                     Step& s);  // of these rows

// H v and G v of the rows in s.problem; in s.terms until the next call.
const RowVec& contact_speeds(const VecX& v, Step& s);
const RowVec& joint_speeds(const VecX& v, Step& s);

// Potential and applied IMPULSES of the step, h ((1 - a) k(t0) + a k(t1)) at (q, v), in s.terms.impulses. Loads that switch
// at the ends of the step are taken with their values inside it.
void fill_impulses(const System& system, const State& x, double h, double a, Step& s);
// The same once more in that step, with the forces of the end, at whatever (q, v) and inside_end(t, h), in s.terms.end_forces.
void mix_impulses(double h, double a, Step& s);
// What that rule misses of loads that change faster than the step (load_mean.cpp), in s.terms.load_mean; the forces at both ends, at (q, v),
// are in s.terms.
void find_unseen_loads(const System& system, const State& x, double h, double a, Step& s);
double inside_end(double t, double h);  // [s] t + h, one rounding before it

// s.terms.v_star, the velocity a h ahead as the last step tells it: where gyroscopic forces are linearised.
void extrapolate_velocity(const VecX& v, double h, double a, Step& s);

// A and r of the linearly implicit theta rule (dynamics.cpp), from s.terms.mass, which holds the M of the step.
struct DynamicsWeights {
    double alpha = 1, gamma = 1;  // of v+ in forces and in positions
    bool exact_gyroscopic = false;
    bool slopes = true;     // of the forces
    bool switched = false;  // they lose their negative part in steps in which A would not be positive definite
};
// True if the forces have slopes; they are then in s.terms.stiffness and s.terms.damping.
bool fill_dynamics(const System& system, const State& x, double h, const DynamicsWeights& weights, Step& s);

// How a scheme imposes bilateral rows in a stage of length h; h = 0 is an impact: compliant rows and rows with force bounds
// rest, unless they are impulsive.
struct RowWeights {
    double h = 0;
    double alpha = 1, gamma = 1;  // of v+ in forces and in positions: for compliant rows
    double mean = 0;             // rigid rows and rolling: G v+ = -mean G v; (1 - a)/a asks it of the weighted velocity
    double friction_mean = 0;    // the same for dry friction rows
    double motor_mean = 0;       // and for drives with a largest force, about their target
    double chi = 0;              // share of the position error taken out per step
    double position_weight = 1;  // of v+ in the position update
    double goals_ahead = 0;      // share of h by which the goals of position motors lie ahead of t
    // Rows that lie ahead of q: rigid ones ask G v+ = ahead - turned G v, and joints what StepTerms::joint_stabilisation holds besides.
    double turned = 0;
    const RowVec* ahead = nullptr;  // per bilateral row [m/s, rad/s]
};
// b, T and bounds of the bilateral rows, by kind; the part of b that corrects positions also in s.terms.joint_stabilisation.
void fill_bilateral(const VecX& v, const RowWeights& weights, Step& s);

// Takes the contacts out of s.problem that bodies move past in the next h.
void drop_passed(const System& system, const State& x, double h, Step& s);

// Whether a position motor without a largest force asks for another speed than v has at the rows in s.problem: it starts, or its goal
// has jumped. A step with weights 1 takes the jump at its start, where it belongs, others spread it over the step.
bool servo_jumps(const VecX& v, Step& s);

// The guess: impulses and modes of the contacts that were there in the last step (found by id), scaled to h.
void warm_start(const VecX& v, double h, Step& s);
// Solves s.problem; keeps the guess, to be saved if the step is refused, and the worst report.
void solve_stage(Solver& solver, Step& s, StepReport& report);
// The stage just solved, as the ledger wants it: from one state to another with the problem, the solution, the impulses and the
// stabilisation of s. The vectors must stay where they are until it is booked. Weights are 1 unless the scheme sets them.
struct StageState {
    double t;
    const VecX &q, &v;
};
Stage solved_stage(const Step& s, const StageState& from, const StageState& to);
// The same for an impact at x from v0 to v1.
Stage solved_impact(const Step& s, const State& x, const VecX& v0, const VecX& v1);

// Adds the impulses of the stage just solved, or that fraction of them, to the record of the step.
void note_impulses(Step& s, double fraction = 1);
// Fills the impulses of the stage in `terms`: where others have the same effect the smallest.
void share_impulses(Step& s);
// Events from the contact modes of the last step and of this one, unless `located` without those at which nothing slips; then
// the memory for the next warm start.
void note_mode_changes(double t, Step& s, bool located = false);
void remember(double h, Step& s);
// Moves x.q back behind the joint limits that the step has passed; after the step is booked.
void hold_limits(const System& system, Solver& solver, State& x, Step& s);

// The end of a step of one stage: moves x by s.dq to the velocity of s.solution, notes and remembers, books the stage with the
// weights of its compliant rows, holds the limits (unless the scheme needs the overlap to rebound), pushes out what overlaps.
// s.dq, s.v_weighted and s.t_weighted are the scheme's own.
struct StageEnd {
    double h, t_limit;    // [s]
    double alpha, gamma;  // as in RowWeights
    bool limits_held = true;
    const Choice* projection = nullptr;  // the scheme's option, if it has one
    bool jolt = false;                   // as in Stage
    PushOut* push_out = nullptr;         // its scratch where overlap is to be pushed out
    const VecX* q_end = nullptr;         // q (+) s.dq, where it is known
};
void finish_step(const System& system, Solver& solver, const StageEnd& end, State& x, Step& s, Stopwatch& watch,
                 StepReport& report);

// h (k + F(v*) (v + v+)/2) with the forces at the start, explicit: A and r with that, and its parts in s.terms.impulses. The gyroscopic
// force acts on the mean velocity, on which it does no work; with F(v) v a spinning body gains energy in every step. v* lies half a step
// ahead.
void fill_explicit_rule(const System& system, const State& x, double h, Step& s);
// [m/s] What is to be made up for within a step of length h that a full step would have `full`: gaps may be used up at
// once, phi/h; overlaps and joint errors go at the rate of the full step, or a step cut to nothing would throw bodies apart.
double correcting_speed(double phi, double h, double full);

}  // namespace stickslip
