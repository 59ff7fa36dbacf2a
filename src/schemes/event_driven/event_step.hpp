// One event-driven step in progress: what EventDriven::step is made of. The order of the parts stands in event_driven.cpp.
#pragma once

#include "schemes/event_driven/event_driven.hpp"
#include "schemes/parts/parts.hpp"

namespace stickslip {

class EventStep {
public:
    EventStep(const EventDrivenOptions& options, const SmoothMethod& method, const System& system, Solver& solver,
              State& x, double t_limit, Step& s, EventDriven::Work& w, EventOutcome& outcome);
    StepReport run();

private:
    // start.cpp: the modes, the contacts within reach and the length of the first trial. False: the step ends here.
    bool start();
    bool find_modes();
    bool close_rows();
    void set_length();
    bool is_watched();
    void find_start();
    void list_open();
    void prepare_trial();
    void shorten_before_stop();
    bool slides_in_space() const;
    void find_stops(const MotionPoint& p, const VecX& a);
    void find_hidden_turns(const MotionPoint& p, const VecX& a);
    double graded_span() const;
    double graded_length(const EventDriven::Stop& stop) const;
    double controlled_length(const EventDriven::Stop& stop) const;

    // trial.cpp: a step of the method whose error is allowed. False: the step ends here.
    bool trial();
    bool take(double h, bool again);
    double estimate();
    double next_length(double h, double error) const;
    bool give_up(bool taken, bool finite);
    void release_lost();

    // locate.cpp: the first event on the way, then the step again so that it ends there.
    void watch();
    void locate();
    void correct_length();
    void read_hints();

    // impact_time.cpp: the step again to where a gap closes by im1, im2 or im3. False: not asked for, or they have no answer.
    bool estimate_impact();
    double halve_to_impact(double h);

    // certify.cpp: whether the contact problem agrees with the motion.
    bool agrees_at(double fraction);
    bool certify();
    bool same_accelerations(const MotionPoint& p);
    void list_candidates(const MotionPoint& p);

    // accept.cpp: moves the state, writes the record and the memory. False: the step ends here.
    bool accept();
    bool move_and_book(double t_end);
    void record();
    void mark_shares();
    void take_admissible_forces();
    void commit_frames();
    void remember();

    // decide.cpp: impacts and modes.
    bool redecide();
    void decide_event();
    bool decide();
    bool collide();
    void end_at_impact(const StepReport& collided);
    void lay_to_rest();
    bool decide_modes(const State& x);
    void find_candidates(const MotionPoint& p);
    void find_bounds(const MotionPoint& p);
    bool restore_released(const MotionPoint& p);
    void note_changes();
    void write_modes();
    void set_sides();
    void pass_edge(int edge);
    bool touches(const ContactId& id, double gap, double rate) const;

    // drift.cpp: moves x onto the rows of the motion, by way of p. False: they are not reached.
    bool project(MotionPoint& p, double limit, double velocity_limit);

    bool adaptive() const { return options_.tol > 0; }
    bool undecided() const;
    bool event() const { return fraction_ <= 1; }
    bool fail(Status status, const char* reason);
    StepReport end();

    const EventDrivenOptions& options_;
    const Tolerances& tolerances_;
    const SmoothMethod& method_;
    const System& system_;
    Solver& solver_;
    State& x_;
    double t_limit_;  // [s] that of the loop, or a jump of a load before it
    double jump_ = infinity;  // [s]
    Step& s_;
    EventDriven::Work& w_;
    EventOutcome& outcome_;
    StepReport report_;
    Stopwatch stopwatch_;

    double h_ = 0;                       // [s] length of the trial,
    double wanted_ = 0;                  // [s] the one that step control wanted,
    double proposed_ = 0;                // [s] and the one it proposes for the next step
    double error_ = 0;                   // its error estimate
    double fraction_ = Watch::no_event;  // of the step at which its first event lies
    bool holds_ = true;                  // the modes hold to the end of the step
    int cuts_ = 0;                       // how often a step whose modes did not hold was cut
    bool failed_ = false;
    bool ending_ = false;         // the impacts at the event are the last of an accumulation
    ContactId hit_ = no_contact;  // the contact that collides although its gap is not quite closed
};

}  // namespace stickslip
