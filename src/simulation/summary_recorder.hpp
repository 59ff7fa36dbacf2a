// The recorder that every simulation has: it gathers the RunSummary step by step. It looks for impacts that make energy and for
// restless velocities, times the steps, and lets Evidence gather what the verdict needs.
#pragma once

#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "simulation/edit_log.hpp"
#include "simulation/evidence.hpp"
#include "simulation/policy.hpp"
#include "simulation/step_times.hpp"
#include "stickslip/simulation.hpp"

namespace stickslip {

// How a run ended: what the steps themselves do not tell.
struct RunOutcome {
    RunEnd end = RunEnd::finished;
    std::string reason;           // one sentence when it did not finish
    std::string refused_problem;  // file with the problem of the refused step
    double refused_residual = 0;  // [m/s] of that step,
    double refused_tol = 0;       // [m/s] and what it was judged by; 0: no step was refused
    double wall_s = 0;
    long substepped = 0;  // RunSummary::substepped
    std::array<long, rung_count> ladder{};  // RunSummary::ladder
};

class SummaryRecorder final : public Recorder {
public:
    SummaryRecorder(const Model& model, const Scheme& scheme, double tol);

    // A step begins at this state; the clocks start.
    void start_step(const State& state, const EnergyLedger& ledger);

    void begin(const Model&, const State&, const Step& step) override { evidence_.begin(step); }
    void write(const System& system, const State& state, const Step& step, const StepReport& report) override;
    void end(const RunSummary&) override {}

    // The summary of the steps seen, completed by what the final state tells. A run that ended well is refused there after all if
    // bodies have passed through each other or a joint has come apart in the last step.
    RunSummary finish(const Model& model, const State& state, Step& step, const EditLog& edits,
                      const RunOutcome& outcome) const;

private:
    void note_energy_and_variation(const State& state, const Step& step, const StepReport& report);
    void note_step(const Step& step, const StepReport& report);
    void note_certificate(const System& system, const Step& step, const StepReport& report);
    void add_warnings(const Tolerances& tolerances, RunSummary& s) const;

    const Scheme& scheme_;
    double tol_;
    RunSummary summary_;
    double residual_sum_ = 0, contact_sum_ = 0;
    Evidence evidence_;
    std::string_view remark_;  // of a step, the last one made,
    long remarks_ = 0;         // in how many steps

    // of the step under way
    std::chrono::steady_clock::time_point clock_start_;
    double processor_start_ = 0;  // [s]
    VecX v_before_, v_weighted_before_;
    double impact_gain_before_ = 0;  // [J] of the ledger
    double impact_work_before_ = 0;  // [J] in the last step
    StepTimes times_, processor_times_;
};

}  // namespace stickslip
