// Event-driven integration: a method of high order between events, which are located, and at each of them the contact laws.
// See the .cpp for the strategy.
#pragma once

#include "base/fields.hpp"
#include "collision/finder.hpp"
#include "problems/residual.hpp"
#include "schemes/event_driven/instant_problem.hpp"
#include "schemes/event_driven/watch.hpp"
#include "schemes/events/bounces.hpp"
#include "schemes/impacts/impact.hpp"

namespace stickslip {

struct EventDrivenOptions {
    double step = 1e-3;
    double tol = 0;
    Choice control{{"plain", "pi"}, 0};
    double safety = 0.9;
    FromScene smallest_step{&Tolerances::smallest_step, {}};
    double longest_step = 0;
    Choice error{{"positions", "both"}, 0};
    Choice drift{{"none", "baumgarte", "projection"}, 2};
    FromScene drift_limit{&Tolerances::drift_limit, {}};
    FromScene baumgarte_time{&Tolerances::baumgarte_time, {}};
    Choice dense{{"hermite", "own"}, 0};
    Choice location{{"exact", "im1", "im2", "im3"}, 0};
    Choice impact = impact_laws();
    double restitution_threshold = 0;
    FromScene closed_gap{&Tolerances::closed_gap, {}};
    FromScene rest_speed{&Tolerances::rest_speed, {}};
    FromScene shortest_flight{&Tolerances::shortest_flight, {}};

    template <class F>
    void common_fields(F&& f) {
        f("step", step, "s", "step size; with tol the first one");
        f("tol", tol, "-", "error allowed per step, 2-norm [m, rad] (error: both also [m/s, rad/s]); 0: fixed steps");
        f("control", control, "-", "of the step size: plain as in Haddouni (2.120), or pi (Gustafsson)");
        f("safety", safety, "-", "factor of the step size that the error estimate allows");
        f("smallest_step", smallest_step, "s", "steps that would have to be shorter end the run");
        // A body at rest has no error that would keep steps short; longer steps could miss events between their samples.
        f("longest_step", longest_step, "s",
          "step control does not go beyond; 0: a thousand times step where contacts or brakes are near, else none");
        f("error", error, "-", "what the error estimate is of: positions, or both positions and velocities");
        f("drift", drift, "-",
          "of joints and closed contacts: none; baumgarte (methods in the acceleration form); or projection of "
          "positions, then "
          "velocities, in the metric of the mass matrix");
        f("drift_limit", drift_limit, "m, rad",
          "projection leaves smaller drift alone (velocities: as much per time scale of the scene)");
        f("baumgarte_time", baumgarte_time, "s", "in which Baumgarte's terms take drift out");
        f("dense", dense, "-", "between the ends of a step: quintic Hermite, or the method's own where it has one");
        f("location", location, "-",
          "of impacts: exact, to rounding; or once per step as in Janin & Lamarque: im1 linear, im2 quadratic in time, "
          "im3 by halves to h^p");
        f("impact", impact, "-", "impact law");
        f("restitution_threshold", restitution_threshold, "m/s", "slower normal impacts do not rebound");
        // If larger, bodies stop visibly above each other; if below the rounding of gaps, a resting contact is lost.
        f("closed_gap", closed_gap, "m", "a contact is closed when its gap is at most this");
        f("rest_speed", rest_speed, "m/s", "and at rest when it approaches or parts slower than this");
        f("shortest_flight", shortest_flight, "s",
          "bounces that would all be over within this time are ended: the accumulation is an event");
    }
    template <class F>
    void fields(F&& f) {
        common_fields(f);
    }
};

struct Hem5Options : EventDrivenOptions {
    double estimator = 0.01;
    template <class F>
    void fields(F&& f) {
        common_fields(f);
        f("estimator", estimator, "-", "c of the error estimate I1^2/(I1 + c I2): larger gives longer steps");
    }
};

struct GeneralizedAlphaOptions : EventDrivenOptions {
    int index = 2;
    double rho = 0.8;
    double newton_tol = 1e-10;
    template <class F>
    void fields(F&& f) {
        f("index", index, "-", "2: velocities end on the joints; 3: positions do");
        f("rho", rho, "-", "spectral radius at infinity: what is left per step of the highest frequencies, 0 to 1");
        f("newton_tol", newton_tol, "-", "residual of Newton's method, as a share of the forces");
        common_fields(f);
    }
};

// What event-driven integration remembers from step to step. The closed contacts and their modes are in StepMemory.
struct EventDrivenMemory {
    double next_step = 0;            // [s] wanted by step control; 0: none yet
    double last_error = 0;           // of the last accepted step, relative to the tolerance; 0: none yet
    VecX acceleration;               // nv: at the end of the last step; of another size or NaN: modes are to be found
    std::vector<Vec2> slip;          // per closed contact: direction of slip in (t1, t2), zero where it sticks
    std::vector<signed char> bound;  // per bilateral row: 0 imposed, -1 or 1 pushes with its lower or upper bound
    std::vector<signed char> side;   // per edge of the system: on which side contacts are
    bool afresh = true;              // methods of several steps start anew
    double taken_over = 0;           // [s] when time-stepping last handed over its contacts
    double last_impact = -infinity;  // [s]
    BounceMemory bounces;

    template <class F>
    void fields(F&& f) {
        f(next_step);
        f(last_error);
        f(acceleration);
        f(slip);
        f(bound);
        f(side);
        f(afresh);
        f(taken_over);
        f(last_impact);
        bounces.fields(f);
    }
};

// What ended an event-driven step, for the hybrid scheme.
struct EventOutcome {
    bool impact = false;
    bool friction = false;  // a contact changed between stick and slip
    bool edge = false;      // a contact passed an edge between two faces
    bool stuck = false;     // the modes could not be decided, or did not hold to the end
    bool reached = false;   // but only those after an impact: the way to it and the impact itself are done
    ContactId who = no_contact;
};

class EventDriven : public Scheme {
public:
    // What an event tells about the modes that follow, where the instant problem alone cannot decide because it is degenerate.
    struct Hints {
        int lost = 0;                     // so many of the first released contacts are geometrically gone
        std::vector<ContactId> released;  // contacts that open
        std::vector<ContactId> stopped;   // contacts that have stopped sliding
        std::vector<Candidate> sliding;   // contacts that begin to slide
        std::vector<std::pair<int, signed char>> giving;  // rows that give way at their lower (-1) or upper bound (1)
        void clear();
    };
    // A slip in space that slows down.
    struct Stop {
        int contact = 0;     // entry of Modes
        double left = 0;     // [s] until it stops, at this rate
        double across = 0;   // [m/s^2] the part of its rate that turns it,
        double rate = 0;     // [m/s^2] and all of it
        double turning = 0;  // [1/s] rate at which it turns towards what drives it
        double hidden = 0;   // [m/s^3] across it, how fast accelerations turn in the axes of the bodies
    };
    struct Work final : SchemeWork {
        explicit Work(int nv) { memory.acceleration.setConstant(nv, std::numeric_limits<double>::quiet_NaN()); }
        EventDrivenMemory memory;
        void remembered(FieldVisitor& visit) override { memory.fields(visit); }
        void edited() override { memory.acceleration.setConstant(std::numeric_limits<double>::quiet_NaN()); }

        Motion motion;
        SmoothStep smooth, half;
        Modes modes, modes_before, rigid;
        std::vector<signed char> bound;
        Watch watch;
        InstantProblem instant;
        std::vector<Candidate> candidates;
        std::vector<Watch::Function> triggers;
        Hints hints;
        std::vector<Stop> stops;
        ContactGaps open;             // open contacts at the start of the step
        RowVec row_speed, row_error;  // J v and the drift of rows
        VecX v_reach;                 // the largest velocities expected in the step
        VecX error_q, error_v;        // of two half steps
        VecX acceleration, dq;
        State there;  // a state on the path
        ResidualWork residual;
        MotionPoint point;
        std::vector<double> reach;  // [m] of the bodies, in the last step
        ContactFinder::Frames frames;
        ImpactWork impact;

        void keep_modes() {  // note_changes() compares with them
            modes_before.contact = modes.contact;
            modes_before.mode = modes.mode;
        }
    };

    EventDriven(const EventDrivenOptions& options, std::unique_ptr<SmoothMethod> method)
        : options_(options), method_(std::move(method)) {}
    std::unique_ptr<SchemeWork> make_work(const System& system) const override {
        return std::make_unique<Work>(system.nv());
    }
    bool locates_collisions() const override { return true; }
    bool averages_loads() const override { return false; }
    double longest_step() const override { return options_.tol == 0 ? options_.step : infinity; }
    StepReport step(const System& system, Solver& solver, State& x, double t_limit, Step& s) const override;
    StepReport step(const System& system, Solver& solver, State& x, double t_limit, Step& s, Work& w,
                    EventOutcome& outcome) const;

private:
    EventDrivenOptions options_;
    std::unique_ptr<SmoothMethod> method_;
};

}  // namespace stickslip
