// Schemes: fill the step problem, let a solver solve it, move the state. They know nothing of files, recorders
// or the outer loop. A scheme object holds options only; what it remembers between steps lies in Step::memory and in the
// scheme's own workspace, so that State plus these two is a snapshot.
#pragma once

#include <array>
#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "stickslip/ledger.hpp"
#include "stickslip/options.hpp"
#include "stickslip/solver.hpp"
#include "stickslip/system.hpp"

namespace stickslip {

class Redundancy;     // diagnose/redundancy.hpp: joint rows that depend on others
class ContactShares;  // diagnose/contact_shares.hpp: contacts that share their load in more ways than one

// Who walks through the fields that live on between steps: a snapshot, which writes or reads them without knowing whose they are.
class FieldVisitor {
public:
    virtual ~FieldVisitor() = default;
    template <class T>
    void operator()(T& number) {
        static_assert(std::is_trivially_copyable_v<T>);
        bytes(&number, sizeof(T));
    }
    void operator()(bool& flag) {
        std::uint8_t byte = flag;
        bytes(&byte, 1);
        flag = byte != 0;
    }
    template <class T>
    void operator()(std::vector<T>& list) {
        if constexpr (requires(T & entry) { entry.fields(*this); }) {
            list.resize(count(list.size(), 1));
            for (T& entry : list) entry.fields(*this);
        } else {
            list.resize(count(list.size(), sizeof(T)));
            bytes(list.data(), list.size() * sizeof(T));
        }
    }
    void operator()(VecX& x) { vector(x); }
    void operator()(RowVec& x) { vector(x); }

private:
    template <class Vector>
    void vector(Vector& x) {
        x.resize(static_cast<Eigen::Index>(count(static_cast<std::size_t>(x.size()), sizeof(double))));
        bytes(x.data(), static_cast<std::size_t>(x.size()) * sizeof(double));
    }
    // Writes or reads so many bytes there; and the length of a list, given as it is now, returned as it is to be. An entry takes
    // at least `entry_size` bytes.
    virtual void bytes(void* data, std::size_t size) = 0;
    virtual std::size_t count(std::size_t now, std::size_t entry_size) = 0;
};

// What every scheme remembers from step to step, besides the contact frames that the finder transports; what only one of them
// does is in its SchemeWork. All of it is in a snapshot. Written by remember() or by the scheme.
struct StepMemory {
    double h = 0;                    // [s] length of the last step; 0 at the start
    VecX v_rate;                     // nv [1/s^2]: (v - v_old) / h_old, zero at the start and after an impact
    std::vector<ContactId> contact;  // sorted: contacts of the last solved problem (events located: the closed ones),
    std::vector<Vec3> impulse;       // [N s] their impulses in their frames
    std::vector<ContactMode> mode;
    std::vector<std::uint32_t> joint;  // ids of the bilateral groups of that problem,
    std::vector<int> joint_row{0};     // their rows: group g owns joint_row[g] .. joint_row[g + 1] - 1 of
    RowVec lambda;                     // [N s] the impulses

    template <class F>
    void fields(F&& f) {
        f(h);
        f(v_rate);
        f(contact);
        f(impulse);
        f(mode);
        f(joint);
        f(joint_row);
        f(lambda);
    }
};

// One contact of the step just taken, as recorders see it. Impulses of all stages of the step are summed.
struct ContactRecord {
    ContactId id;
    ContactMode mode = ContactMode::open;
    double gap = 0;                                                         // [m]
    Vec3 position, normal, tangent;                                         // in W
    Vec3 impulse = Vec3::Zero();                                            // [N s] in the frame (n, t1, t2)
    Vec3 force = Vec3::Constant(std::numeric_limits<double>::quiet_NaN());  // [N] at t1; NaN: impulses only are known
    bool unique = true;  // false: other impulses have the same effect on the bodies; the smallest are given
};

// Time spent in each arrow of the walk [s].
struct StepTimers {
    enum Arrow { find, fill, solve, advance, book, arrows };
    std::array<double, arrows> seconds{};
};

struct StepReport {
    Status status = Status::ok;
    double t = 0;             // [s] reached
    double h = 0;             // [s] length of the accepted step
    SolveReport solve;        // of the worst stage
    int solves = 0;           // problems solved
    int rejected = 0;         // trial steps thrown away
    double retake = 0;        // [s] above 0: the loop should take the step back, and a shorter one: SchemeWork::shorten()
    int unlocated = 0;        // events whose time was not looked for, because sub-steps would get too short
    const char* reason = "";  // one sentence when status is not ok
    const char* remark =
        "";  // one sentence, lasting and without numbers, on what this step did not do; becomes a warning

    // By the loop, for recorders.
    long number = 0;  // of the step in its run, from 1
    int parts = 1;    // it is one of so many sub-steps into which the loop cut a step; 1: a whole step
};

// What a scheme brings along for itself: scratch that only it knows, and what only it remembers. Made by Scheme::prepare() and
// owned by the Step, so that runs may be nested, interleaved and in different threads. A scheme made of others keeps their
// workspaces inside its own.
class SchemeWork {
public:
    virtual ~SchemeWork() = default;
    // Every field that lives on from step to step, always in the same order.
    virtual void remembered(FieldVisitor& /*visit*/) {}
    // The step has been taken back: the scheme should go on by steps of this length [s], as it asked for.
    virtual void shorten(double /*h*/) {}
    // The system has been edited since the last step.
    virtual void edited() {}
};

// What just happened, as recorders read it. Written by the scheme that takes the step; the loop adds events of its own (edits,
// loads that switch).
struct StepRecord {
    double t0 = 0, t1 = 0;  // [s]
    VecX q0, v0, q1, v1;    // start and end; v1 is after the impact if there was one
    VecX dq;                // nv: the move q0 -> q1; of a step made of two halves that of the second
    VecX v_weighted;        // nv: the velocity that converges, (1 - a) v0 + a v1,
    double t_weighted = 0;  // [s] at t0 + a h

    // The way of the step from schemes with an interpolant of their own, as polynomials in the share x of the step:
    // q0 (+) sum q[k] x^k, v = sum v[k] x^k, k = 0 .. degree (q[0] is zero). Degree 0: straight.
    struct Path {
        int degree = 0;
        std::vector<VecX> q, v;  // at least degree + 1 vectors of nv
    } path;
    // Steps made of two halves: the state between them, and the move of the first.
    struct Middle {
        double t = -infinity;  // [s] -infinity: the step is one piece
        VecX q, v, dq;
    } middle;

    std::vector<ContactRecord> contacts;  // sorted by id; impulses of all stages
    RowVec multipliers;  // [N] bilateral rows at t1, before an impact there; empty: the scheme knows impulses only
    RowVec reactions;    // [N s] bilateral rows, summed over the stages; of redundant ones the smallest
    std::vector<Event> events;  // in order of time

    // Largest errors seen at the configurations of the rows.
    struct Violation {
        double gap = 0;          // [m] deepest overlap
        ContactId deepest;       // and its contact
        double joint = 0;        // [m, rad] largest |g| of holonomic rows
        double joint_speed = 0;  // [m/s, rad/s] largest |G v| of them
    } violation;

    // The state at t0 <= t <= t1 by the step's own interpolant: its path, or q0 (+) s dq and velocities linear; the right
    // value at t1.
    void at(const System& system, double t, State& x) const;
};

// From what a scheme fills the problem, and vectors that the functions of schemes/parts lend it. Whoever fills a problem writes
// them; none lives longer than the step.
struct StepTerms {
    BlockMatrix mass;                // M of the problem, the M inside A
    BlockMatrix stiffness, damping;  // K = -dk/dq and C = -dk/dv, where the forces have slopes
    Forces impulses;                 // nv [N s]: potential and applied ones, as they are in r
    Forces start_forces;             // nv [N]: those at the start of the step,
    Forces end_forces;               // and at its end
    VecX v_star;                     // nv: velocity at which the gyroscopic matrix is taken
    VecX v_old;                      // nv: velocity before the last step
    VecX unit, column;               // nv: of one column of the gyroscopic slope
    RowVec stabilisation;            // per contact: the part of c_N that corrects positions,
    RowVec joint_stabilisation;      // per bilateral row: and that of b
    RowVec contact_speed;            // per contact row [m/s]: H v, by contact_speeds()
    RowVec joint_speed;              // per bilateral row [m/s, rad/s]: G v, by joint_speeds()
    RowVec reaction;                 // per bilateral row [N s]: those of one stage, by note_impulses(),
    RowVec contact_impulse;          // per contact row [N s]: and these; by share_impulses() the smallest
    std::vector<char> wanted;        // per contact: whether it has a row in the problem
    std::vector<double> gains;       // per node [m/s]: what the forces give it, by mix_impulses()
    Forces load;                     // nv [N]: at one time inside the step, by find_unseen_loads(),
    VecX load_mean, load_size;       // nv: what the rule misses of their integral over it [N s]; the largest of each [N]
    bool loads_unseen = false;       // it misses something
    VecX load_piece, load_before;    // nv [N]: means over a piece of it, with more and with fewer points
    double load_doubt = 0;           // share of the loads by which that mean is not known
};

// The move of a state back behind joint limits and onto joints, after the step is booked. Written by hold_limits() and project().
struct StepCorrection {
    ContactRows limits;     // joint limits at the end of the step
    StepProblem problem;    // of the move
    StepSolution solution;  // v is the move
    VecX move;              // nv: it in the units of q
    RowVec contact_speed;   // per contact row of that problem: H v
    RowVec joint_speed;     // per bilateral row: G v
};

// The record of the current step, what lives on to the next, and all scratch memory. Grouped by who writes it.
struct Step : StepRecord {
    Step();
    ~Step();
    Step(Step&&) noexcept;
    Step& operator=(Step&&) noexcept;

    // From step to step.
    StepMemory memory;
    std::unique_ptr<SchemeWork> scheme_work;  // of the scheme that prepared this step; null before that

    // Somebody reads the impulses of every step: of those that are not unique the smallest are looked for. False: of events only.
    bool forces_wanted = true;

    // [s] of processor_time(): when the step is to end under a budget of time, told to what is no solve.
    double deadline = infinity;
    double left_out = 0;  // [s] what the step would have taken longer if there had been time

    // Of the run, set before prepare(): without that those of bodies of 1 m, 1 m/s and 1 kg.
    Tolerances tolerances;

    // Sums over the run: stages are booked by whoever solves them, times taken by Stopwatch.
    EnergyLedger ledger;
    StepTimers timers;

    // The last problem solved, by solve_stage(): filled by the scheme,
    StepProblem problem;
    StepSolution guess;     // what the solver was given,
    StepSolution solution;  // and what it returned.
    StepTerms terms;
    StepCorrection correction;
    std::unique_ptr<ContactFinder> finder;
    std::unique_ptr<PassingGuard> guard;
    std::vector<signed char> sides;  // EdgeSides of the rows; written by schemes that stop at edges
    std::unique_ptr<Redundancy> redundancy;
    std::unique_ptr<ContactShares> shares;
};

class Scheme {
public:
    virtual ~Scheme() = default;
    // Begins a run from this state: empty memory, ledger at zero, a workspace of this scheme.
    virtual void prepare(const System& system, const State& state, Step& step) const;
    virtual std::unique_ptr<SchemeWork> make_work(const System& system) const;
    // Sentences about options that are allowed but outside what is proven.
    virtual std::vector<std::string> advice() const { return {}; }
    // Steps over which one impact extends. A gain of energy in one of them does not count if the others took more.
    virtual int impact_steps() const { return 1; }
    // Whether it looks for the time of a collision that it sees at the end of a step. Then bodies may hardly overlap there: the corner of
    // a plate that is clipped on the way must show.
    virtual bool locates_collisions() const { return false; }
    // Whether loads act by their mean over a step, where they change faster than its ends show.
    virtual bool averages_loads() const { return true; }
    // [s] No step is longer; infinity: adaptive schemes, which choose it.
    virtual double longest_step() const { return infinity; }
    // One accepted step, up to one event, never past t_limit.
    virtual StepReport step(const System& system, Solver& solver, State& x, double t_limit, Step& step) const = 0;
};

struct SchemeEntry {
    const char* name;
    const char* paper;
    const char* summary;
    const char* order;  // observed in smooth motion / with contact
    std::vector<FieldInfo> (*options)();
    std::unique_ptr<Scheme> (*make)(const OptionValues& values);
};

const std::vector<SchemeEntry>& schemes();
std::unique_ptr<Scheme> make_scheme(const std::string& name, const OptionValues& values = {}, Place place = {});

// Throws Error, naming the schemes that have it, unless this one has step control: an option `tol`, the error of q allowed
// per step (absolute, 2-norm over all coordinates, SI units).
void require_step_control(const std::string& scheme, Place place = {});

}  // namespace stickslip
