// The hybrid scheme: event-driven while events are few, Moreau-Jean through accumulations and transitions.
#pragma once

#include "schemes/event_driven/event_driven.hpp"
#include "schemes/moreau_jean.hpp"
#include "schemes/parts/step_start.hpp"

namespace stickslip {

struct HybridOptions : EventDrivenOptions {
    Choice method{{"hem5", "phem56", "hem4", "dopri5", "rk4"}, 0};
    FromScene h_min{&Tolerances::stepping_step, {}};
    Choice friction{{"transitions", "space", "events"}, 0};
    template <class F>
    void fields(F&& f) {
        f("method", method, "-", "between events");
        common_fields(f);
        // If it is smaller, accumulations take more steps; if larger, bodies sink by up to this times their speed.
        f("h_min", h_min, "s",
          "shortest step of time-stepping; it takes max(h_min, h^(p+1)), h the last step between events");
        f("friction", friction, "-",
          "to time-stepping: transitions between stick and slip; the same and all friction in space, as in the thesis; "
          "or none "
          "(events)");
    }
};

// When an event-driven scheme gives way to time-stepping, besides where it could not go on itself.
struct Switching {
    bool impacts = false;         // at two impacts closer than h*
    bool transitions = false;     // between stick and slip
    bool space_friction = false;  // all friction in space
    bool edges = false;
    FromScene h_min{&Tolerances::stepping_step, {}};  // [s]
};

class Hybrid final : public Scheme {
public:
    struct Work final : SchemeWork {
        explicit Work(int nv) : events(nv) {}
        EventDriven::Work events;
        MoreauJean::Work stepping;

        // Remembered from step to step, besides what these two do.
        SwitchReason reason = SwitchReason::none;  // why time-stepping is at work; none: events are,
        int calm_steps = 0;                        // steps in a row that gave no reason for it,
        double switched = 0;                       // [s] and since when
        int idle = 0;                              // steps of events in a row that did not move time
        void remembered(FieldVisitor& visit) override;
        void edited() override { events.edited(); }

        // What a step that is taken back must restore.
        StepStart start;
        EventDrivenMemory start_events;
        // Rows at the end of a step.
        BilateralRows joints;
        ContactRows contacts;
    };
    Hybrid(const EventDrivenOptions& options, const Switching& switching, std::unique_ptr<SmoothMethod> method);
    std::unique_ptr<SchemeWork> make_work(const System& system) const override {
        return std::make_unique<Work>(system.nv());
    }
    bool locates_collisions() const override { return true; }
    bool averages_loads() const override { return false; }
    double longest_step() const override { return options_.tol == 0 ? options_.step : infinity; }
    StepReport step(const System& system, Solver& solver, State& x, double t_limit, Step& s) const override;

private:
    double stepping_length(const Step& s, const Work& w, double t, double t_limit) const;
    double short_step(const Step& s) const;
    void to_stepping(SwitchReason reason, const ContactId& who, const State& x, Step& s, Work& w) const;
    void to_events(SwitchReason reason, const State& x, Step& s, Work& w) const;
    SwitchReason ready_for_events(const System& system, const State& x, Step& s, Work& w) const;
    bool space_friction(const System& system, const State& x, Step& s, Work& w) const;

    EventDrivenOptions options_;
    Switching switching_;
    int order_;
    EventDriven events_;
    MoreauJean stepping_;
};

}  // namespace stickslip
