// The energy ledger: every joule that enters or leaves, with a name. See src/diagnose/energy_ledger.cpp for the
// formulas; `imbalance` is what no entry explains and must be rounding.
#pragma once

#include <algorithm>

#include "stickslip/problem.hpp"
#include "stickslip/system.hpp"

namespace stickslip {

// Work done since the start [J].
struct EnergyFlows {
    double applied_work = 0;         // by loads and dampers
    double motor_work = 0;           // by velocity rows
    double friction_loss = 0;        // taken by sliding
    double impact_loss = 0;          // taken by normal impulses, and by all contact impulses of h = 0 stages
    double regularisation_loss = 0;  // taken by T, S and position stabilisation
    double scheme_loss = 0;          // taken by the discretisation itself
    double edits = 0;                // brought in by edits: energy of bodies added and removed, of springs cut
};

// One solved problem as the ledger sees it: M (v1 - v0) = sum of the impulses, over a stage of length h.
struct Stage {
    double t0 = 0, t1 = 0;  // [s]; t1 == t0 is an impact
    const VecX* q0 = nullptr;
    const VecX* v0 = nullptr;
    const VecX* q1 = nullptr;
    const VecX* v1 = nullptr;
    const StepProblem* problem = nullptr;
    const StepSolution* solution = nullptr;
    const Forces* impulses = nullptr;       // [N s] potential and applied impulses that r contains; null at impacts
    const BlockMatrix* mass = nullptr;      // the M inside A
    const RowVec* stabilisation = nullptr;  // the part of c_N due to position stabilisation, per contact; may be null
    const RowVec* joint_stabilisation = nullptr;  // the same of b, per bilateral row; may be null
    double alpha = 1, gamma = 1;                  // weights with which compliant rows were filled
    const VecX* extra = nullptr;  // [N s] restitution impulse given inside r (Poisson), counted as impact
    // The stage ends inside the step that was solved: v1 = v0 + fraction (v+ - v0), so every impulse counts with this fraction.
    double fraction = 1;
    // Normal impulses of a stage with h > 0 are impacts (time-stepping) or the work of rows that turned (located impacts).
    bool impacts_inside = true;
    // An impact in which contacts and joints cannot be told apart: what reactions did besides is counted as impact too.
    bool jolt = false;
};

class EnergyLedger {
public:
    void begin(const System& system, const State& state, const Tolerances& tolerances = {});
    // Books one stage. Allocates nothing after the first call with the same sizes.
    void book(const System& system, const Stage& stage);
    // Books a step of a method that evaluates forces at stages of its own. The flows are work done in this step, computed stage
    // by stage; scheme_loss comes without the potential and elastic energy, which the states give.
    void book(const System& system, const State& end, const EnergyFlows& flows);
    // Books a change of the state that took no time, such as moving back behind a limit, as regularisation, but for the work [J] that
    // drives did in it.
    void move(const System& system, const State& state, double motor_work = 0);
    // Books what an edit changed: `system` and `state` are those after it, at the same time.
    void edit(const System& system, const State& state);

    const Energies& now() const { return now_; }
    const Energies& start() const { return start_; }
    const EnergyFlows& flows() const { return flows_; }
    // Change of the energy of the states minus all booked flows [J].
    double imbalance() const;
    // [J] The largest energy or flow seen so far, potential energy counted from the start: what the run has had at hand.
    double at_hand() const { return scale_; }
    // [J] The yardstick for `imbalance`: the same, and at least the energy of a typical body (Scales), by which things at rest are
    // measured. Neither depends on the origin of the coordinates.
    double scale() const { return std::max(scale_, scene_energy_); }
    // Stages in which contacts and rigid joints did positive work on the weighted velocity, so that the bound on the kinetic
    // energy of [Anitescu-Potra, Theorem 2.3; Gavrea et al., Theorem 5.1] does not hold.
    long bound_violations() const { return bound_violations_; }
    // [J] Work that impacts did so far, negative while they take energy: that of the stages with h = 0, and in time-stepping that
    // of contacts hit faster than Tolerances::hit_speed. Where it rises an impact law made energy.
    double impact_gain() const { return impact_gain_; }

    struct Snapshot {
        Energies start, now;
        EnergyFlows flows;
        double scale = 0;
        long bound_violations = 0;
        double impact_gain = 0;
    };
    Snapshot snapshot() const { return {start_, now_, flows_, scale_, bound_violations_, impact_gain_}; }
    void restore(const Snapshot& s);

private:
    struct WeightedWork {  // [J] of contacts and rigid rows on the weighted velocity
        double sum = 0, scale = 0;
    };
    void book_smooth_impulses(const Stage& s);
    WeightedWork book_joints(const Stage& s, WeightedWork bound);
    WeightedWork book_contacts(const Stage& s, WeightedWork bound);
    void book_states(const System& system, const Stage& s);
    void raise_scale();

    double hit_speed_ = 0;       // [m/s] slower contacts rest or roll, and their rows turn
    double thermal_energy_ = 0;  // [J] of less no mechanics can be asked
    double scene_energy_ = 0;    // [J] of a typical body
    Energies start_, now_;
    EnergyFlows flows_;
    double scale_ = 0;
    long bound_violations_ = 0;
    double impact_gain_ = 0;
    VecX w_, j_, v_end_;  // nv: mean velocity, smooth impulse, end of the step that was solved
    RowVec Gv0_, Gv1_, Hv0_, Hv1_;
    BlockMatrix M_;
};

}  // namespace stickslip
