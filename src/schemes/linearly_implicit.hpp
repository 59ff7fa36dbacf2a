// The linearly implicit family: `alpha-gamma`, `trapezoidal` in two forms and `linear-implicit-euler` are one scheme with
// weights (a, g) and a choice of where rows are evaluated and of what velocity they bind. See the .cpp for the formulas.
#pragma once

#include "base/fields.hpp"
#include "schemes/events/bounces.hpp"
#include "schemes/events/contact_gaps.hpp"
#include "schemes/events/instant_forces.hpp"
#include "schemes/impacts/impact.hpp"
#include "schemes/parts/project.hpp"
#include "stickslip/scheme.hpp"

namespace stickslip {

struct LinearlyImplicitOptions {
    double step = 1e-3;
    double alpha = 0.5, gamma = 0.5;
    bool end_velocity = false;  // contacts and friction bind v+ (form I) instead of the weighted velocity (form II)
    Choice rows{{"start", "middle"}, 1};
    Choice gyroscopic{{"extrapolated", "exact"}, 0};
    Choice force_jacobian{{"exact", "none", "switched"}, 0};
    Choice collisions{{"locate", "grid"}, 0};
    Choice location{{"end-velocity", "slack", "off"}, 0};
    Choice impact = impact_laws();
    FromScene restitution_threshold{&Tolerances::restitution_threshold, {}};
    FromScene closed_gap{&Tolerances::closed_gap, {}};
    FromScene closed_gap_rate{&Tolerances::closed_gap_rate, {}};
    double stabilisation = 0;
    Choice projection = projections();
    Choice damped_restart{{"auto", "on", "off"}, 0};
    double shortest_substep = 1e-4;

    template <class F>
    void common_fields(F&& f) {
        f("gyroscopic", gyroscopic, "-",
          "gyroscopic force: extrapolated does no work; exact has the smaller error and no energy bound");
        f("force_jacobian", force_jacobian, "-",
          "slopes of the forces in the step: exact, none (explicit forces), or switched: their positive part while the step is too long "
          "for a positive definite matrix, exact below");
        f("collisions", collisions, "-", "locate: the step is cut at the collision; grid: impacts at the end of steps");
        f("location", location, "-",
          "stick-slip and take-off inside the step: by the end velocity, by the slack of the problem, or off");
        f("impact", impact, "-", "impact law");
        f("restitution_threshold", restitution_threshold, "m/s", "slower normal impacts do not rebound");
        // Both make (72) of Potra et al. If they are below the rounding of the gap, a resting contact is lost; if they are too large,
        // bodies stop visibly above each other, or a second collision is merged with the first.
        f("closed_gap", closed_gap, "m", "a contact is closed when its gap is at most this");
        f("closed_gap_rate", closed_gap_rate, "m/s^3", "or at most this times the third power of the step");
        f("stabilisation", stabilisation, "-", "share of the position error taken out per step, 0 to 1");
        f("projection", projection, "-", projection_help);
        f("damped_restart", damped_restart, "-",
          "first steps, and those after impacts, with weights 1: on where springs or dampers are stiff");
        // If it is smaller, accumulating events take many more steps; if larger, events within one step are merged.
        f("shortest_substep", shortest_substep, "-",
          "of a step; when events come faster than this, impacts stop rebounding and transitions are not located");
    }
};

struct AlphaGammaOptions : LinearlyImplicitOptions {
    AlphaGammaOptions() { location.index = 2; }
    template <class F>
    void fields(F&& f) {
        f("step", step, "s", "step size");
        f("alpha", alpha, "-", "weight of the end velocity in forces and rows");
        f("gamma", gamma, "-", "weight of the end velocity in positions");
        f("rows", rows, "-",
          "where rows are evaluated: start as in the paper (first order with joints), or middle, half a step ahead");
        common_fields(f);
    }
};

struct TrapezoidalOptions : LinearlyImplicitOptions {
    Choice form{{"I", "II"}, 1};
    template <class F>
    void fields(F&& f) {
        f("step", step, "s", "step size");
        f("form", form, "-", "contacts and friction bind the end velocity (I) or the mean velocity of the step (II)");
        common_fields(f);
    }
};

struct LinearImplicitEulerOptions : LinearlyImplicitOptions {
    LinearImplicitEulerOptions() {
        alpha = gamma = 1;
        location.index = 2;
    }
    template <class F>
    void fields(F&& f) {
        f("step", step, "s", "step size");
        common_fields(f);
    }
};

class LinearlyImplicit final : public Scheme {
public:
    explicit LinearlyImplicit(const LinearlyImplicitOptions& options) : options_(options) {}
    std::unique_ptr<SchemeWork> make_work(const System& /*system*/) const override {
        return std::make_unique<Scratch>();
    }
    bool locates_collisions() const override { return true; }
    double longest_step() const override { return options_.step; }
    StepReport step(const System& system, Solver& solver, State& x, double t_limit, Step& s) const override;
    std::vector<std::string> advice() const override;

private:
    static constexpr double no_event = 2;  // a fraction beyond the end of the step
    // Contacts up to which forces are extrapolated, and changes of mode looked for in steps that a collision cuts: the forces of
    // piles are not unique, jump from step to step and tell nothing.
    static constexpr int max_watched = 24;
    static constexpr double held = -1;  // stands for a fraction: take the step again, with one more row

    struct Trial {
        enum class Friction { as_form, mean, stop };
        double h = 0;
        double alpha = 0.5, gamma = 0.5;
        Friction friction = Friction::as_form;
        bool located = false;  // it ends at a change of mode
    };

    struct Scratch final : SchemeWork {
        // Remembered from step to step.
        std::vector<double> joint_value;  // per bilateral row: g at the start of the step
        int damped_steps = 2;             // steps still to be taken with weights 1 (option `damped_restart`)
        BounceMemory bounces;
        void remembered(FieldVisitor& visit) override {
            visit(damped_steps);
            bounces.fields(visit);
        }

        // Scratch of one call, kept for its capacity.
        struct Stop {
            ContactId id;  // or a bilateral row
            int row = -1;
            Vec2 direction;  // of the slip at the start
            double speed;    // [m/s] there
            bool now = false;
        };
        struct Release {
            std::size_t place = 0;  // in `closed`, or a bilateral row
            int row = -1;
            bool take_off = false;
            double margin = 0;  // [N] at the start
            bool now = false;
        };
        ContactGaps start, end;
        BilateralRows joints;
        ContactRows contacts;
        const System* rows_of = nullptr;  // whose rows these are, while they are those of the end of the last step, and
        double rows_t = 0;                // when and
        VecX rows_q;                      // where: the next step begins there
        RowVec product, start_speed;  // J v at the end of a trial and at its start, per contact row or bilateral row
        VecX q_rows, q_path, dq, v_end, v_path, acceleration;
        std::vector<Stop> stops;
        std::vector<Release> releases;
        double released_at = infinity;  // [s] when contacts whose margin was gone at the start have lost it
        std::vector<ContactId> closed;
        std::vector<ContactMode> closed_modes;
        InstantForces instant;
        ImpactWork impact;
    };

    // [m] (72) of Potra et al., but never so large that bodies which see daylight between them would hold each other.
    double closed_gap(const Tolerances& t) const {
        const double h = options_.step;
        const double rate = options_.closed_gap_rate.in(t);
        return std::max(options_.closed_gap.in(t), std::min(rate * h * h * h, t.largest_closed_gap));
    }
    void find_start(const System& system, const State& x, double h, Step& s, Scratch& w) const;
    void classify(const State& x, bool damped, Step& s, Scratch& w) const;
    void take_over(const State& x, Step& s, Scratch& w) const;
    bool find_targets(const System& system, const State& x, double h, Step& s, Scratch& w) const;
    void solve(const System& system, Solver& solver, const State& x, const Trial& trial, Step& s, Scratch& w,
               StepReport& report) const;
    // The way from q at the fraction x of the step.
    void along(const Trial& trial, double x, const VecX& v0, const VecX& v1, VecX& dq) const;
    double first_collision(const System& system, const State& x, const Trial& trial, Step& s, Scratch& w) const;
    double first_transition(const System& system, Solver& solver, const State& x, const Trial& trial, Step& s,
                            Scratch& w, StepReport& report) const;
    double first_stop(const System& system, Solver& solver, const State& x, const Trial& trial, Step& s, Scratch& w,
                      StepReport& report) const;
    double first_release(const System& system, const State& x, const Trial& trial, Step& s, Scratch& w) const;
    void accept(const System& system, State& x, const Trial& trial, double fraction, Step& s, Scratch& w) const;
    void collide(const System& system, Solver& solver, State& x, Step& s, Scratch& w, StepReport& report) const;
    bool stiff(const System& system, double h, const Step& s) const;

    LinearlyImplicitOptions options_;
};

}  // namespace stickslip
