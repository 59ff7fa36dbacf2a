// The loop around the steps: who judges a step, who records it, when the run ends.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stickslip/policy.hpp"
#include "stickslip/scheme.hpp"

namespace stickslip {

struct RunSettings {
    Selection scheme{"moreau-jean", {}, {}};
    Selection solver{"auto", {}, {}};
    OptionValues tolerances;  // sizes and single tolerances that are given, in SI units (tolerances.hpp)
    Policy policy = Policy::degrade;
    StepBudget budget;            // of policy budget
    std::optional<bool> certify;  // older name of the policy, which it beats: true is certify, false is budget
    double end = 1;               // [s]
    double record_every = 0;      // [s]; 0 records every step
    bool csv = false;             // a CSV beside the HDF5 record
};

struct Edit;  // edit.hpp

// A model as it stands and how edits change it. Constant: an edit gives a new one.
class Editor {
public:
    virtual ~Editor() = default;
    struct Edited {
        std::shared_ptr<const Editor> editor;
        std::unique_ptr<System> system;
        State state;  // of the new system; velocities as they were, also where a new joint will not have it
        std::vector<Event> events;  // the edit, and what it brought along
    };
    // Throws Error, with the place of the edit, if it cannot be made now.
    virtual Edited apply(const Edit& edit, const State& state) const = 0;
    virtual std::shared_ptr<const Edit> keep(const Edit& edit) const = 0;  // a copy
};

// An edit at its time.
struct Action {
    double t = 0;  // [s]
    std::shared_ptr<const Edit> edit;
};

// A system with its initial state and how to run it: what a scene file or a mechanism becomes.
struct Model {
    std::string name;
    std::string source;  // the scene text or the mechanism with its parameters, kept in the record
    std::unique_ptr<System> system;
    State state;
    RunSettings run;
    std::shared_ptr<const Editor> editor;  // null: a mechanism, which is given as a whole and takes no edits
    std::vector<Action> actions;           // by time; a step ends at each of them
    std::function<State(double t)> exact;  // Mechanism::exact; null where there is no closed form
};

// The tolerances of a run: derived from the system and the state it starts from, but for those that are given.
Tolerances run_tolerances(const Model& model);

class Recorder {
public:
    virtual ~Recorder() = default;
    virtual void begin(const Model& model, const State& state, const Step& step) = 0;
    virtual void write(const System& system, const State& state, const Step& step, const StepReport& report) = 0;
    virtual void end(const struct RunSummary& summary) = 0;
};

enum class RunEnd { finished, refused, interrupted };

// Whether the result of a run can be believed: by what its steps showed, beyond each having solved its contact problem.
enum class Trust { trusted, doubtful, refused };
const char* to_string(Trust trust);

struct Verdict {
    Trust status = Trust::trusted;
    std::vector<std::string>
        reasons;  // why not trusted, a sentence each; the first of a refused run says why it was refused
    struct Ground {
        std::string kind;  // residual, overlap, joint, scheme-energy, momentum, ...: docs/verdict.md lists them
        double value = 0;
        double limit = 0;  // what the value should not have been above
    };
    std::vector<Ground> grounds;  // of each reason
    std::vector<std::string>
        remarks;  // what a user should know although it is no error: laws, forces that are not unique
};

// A step that was taken although it could not be certified.
struct UncertifiedStep {
    double t = 0;                  // [s] its end
    long step = 0;                 // its number; 0: the impact of an edit
    double residual = 0;           // [m/s] of its worst solve
    double tol = 0;                // [m/s] what that was judged by
    int substeps = 1;              // it is one of so many parts into which a step was cut; 1: a whole step
    double compliance = 0;         // [m/s per N s] largest that the solver added to a contact row; 0: none
    std::string solver;            // whose point was taken
    int contacts = 0;              // contacts that are not certified,
    std::vector<ContactId> worst;  // the worst few of them,
    std::vector<std::string> who;  // and their names
    std::string action() const;    // what was done: "one of 4 sub-steps, compliance 1e-06 m/s per N s", "best point"
};

// What `run --json` prints, grouped as it is there; SI units.
struct RunSummary {
    RunEnd end = RunEnd::finished;
    std::string reason;           // one sentence when refused
    std::string refused_problem;  // file with the problem of the refused step
    double refused_residual = 0;  // [m/s] of the refused step
    std::string model, scheme, solver, cone, policy;
    std::string impact_law;  // of the scheme's option `impact`; "newton, inside the step" where it has none
    double t = 0;
    VecX q, v, v_weighted;
    long steps = 0, rejected = 0, solves = 0;
    long certified_steps = 0;
    double wall_s = 0;
    struct Times {
        double mean = 0, p50 = 0, p99 = 0, max = 0;
    };
    Times step_ms;      // by the clock on the wall, without other recorders
    Times step_cpu_ms;  // by processor_time(), which a busy machine does not stretch; not kept in records
    struct {
        double max = 0, mean = 0;
    } residual;             // [m/s] of the steps
    bool certified = true;  // every step within tol, and none refused
    struct {
        long steps = 0;                       // and impacts of edits, that were not certified
        double residual = 0, tol = 0;         // [m/s] of the one that missed its tolerance by the largest factor
        std::vector<UncertifiedStep> listed;  // the first max_uncertified_listed of them
    } uncertified;
    long substepped = 0;        // steps that were certified after being cut into sub-steps
    // Islands that each Rung answered for, of all problems that were solved: steps, impacts, trials, corrections of positions.
    std::array<long, rung_count> ladder{};
    bool deterministic = true;  // false where a budget of time decided
    double gap_violation_max = 0;
    struct {
        double position_max = 0, velocity_max = 0;
    } joint_violation;
    // The group `energy`: at the end, and what changed it.
    Energies energies;
    EnergyFlows flows;
    double imbalance = 0, energy_scale = 0;
    struct {
        double mean = 0;
        int max = 0;
    } contacts;                 // per step
    std::vector<Event> events;  // the first 10000 of them
    long event_count = 0;
    std::array<long, switch_reasons> switches{};  // of the hybrid scheme's method, by SwitchReason
    struct {
        double v = 0, v_weighted = 0;
    } variation;  // sum of |change| from step to step
    struct {
        long count = 0;     // steps whose impacts made energy,
        double energy = 0;  // [J] and how much in all
    } impact_gains;
    long energy_bound_violations = 0;  // EnergyLedger::bound_violations
    long unlocated_events = 0;         // StepReport::unlocated, summed
    long paradox_steps = 0;            // steps with a contact in Painleve's paradox; the warnings name it
    std::string hash;                  // of the final state
    StepTimers timers;
    std::vector<std::string> redundant;   // rigid joint rows that depend on others: "hinge-3 row 4"
    std::vector<std::string> not_unique;  // joints whose reactions are therefore not unique: the smallest are given
    Verdict verdict;
    // Sentences for the user: the reasons of a doubtful verdict, with "doubtful: " before each, then advice and smaller matters.
    std::vector<std::string> warnings;
};

inline constexpr std::size_t max_uncertified_listed = 100;

// One contact problem of a run, as its solver has just left it. A step may have several: stages, impacts, trials.
struct SolvedProblem {
    const StepProblem& problem;
    const StepSolution& guess;  // what the solver was given
    const SolveReport& report;
    long step;      // number of the step it belongs to, from 1
    double t;       // [s] at the start of that step
    double wall_s;  // [s] the solver took
};

class Simulation {
public:
    explicit Simulation(Model model);
    ~Simulation();

    void add(Recorder& recorder);
    // Where a refused step leaves its problem; the folder must exist. Empty: nowhere.
    void set_capsule_folder(const std::string& folder);
    // Shows every problem solved from now on to `show`, which must not change anything.
    void watch_solves(std::function<void(const SolvedProblem&)> show);
    // Runs to `end`, or until `stop` becomes true, or until a step is refused. `progress` is called with t now and then.
    RunSummary run(const std::atomic<bool>* stop = nullptr, const std::function<void(double t)>& progress = {});
    // One step at a time; returns false at the end or when refused.
    bool advance();
    // Takes the steps that run() would take, until the time is at least t. False when the run ended or was refused before.
    bool until(double t);
    // One sentence when a step or an edit was refused, else empty.
    const std::string& refusal() const;
    // Changes the model between two steps (edit.hpp). Ids, warm starts and the ledger go on. A joint whose bodies move
    // apart is an inelastic impact. Throws Error if the edit makes no sense, and has then changed nothing.
    void edit(const Edit& edit);

    const Model& model() const;
    const State& state() const;
    const Step& step() const;

    // State, step memory, ledger and the edits so far as bytes; a run restored from them goes on to the same bits. The
    // edits themselves are not in them: actions come from the model, others must have been made by this Simulation.
    std::vector<std::uint8_t> snapshot() const;
    void restore(const std::vector<std::uint8_t>& bytes);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// FNV-1a over the bits of t, q, v, as 16 hexadecimal digits.
std::string state_hash(const State& state);

}  // namespace stickslip
