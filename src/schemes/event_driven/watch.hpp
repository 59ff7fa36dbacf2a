// What may end a smooth phase, as functions of time that are positive until then:
//
//   gap         phi of an open contact                                   impact
//   take_off    normal force of a closed contact                         it opens
//   stop        slip of a sliding contact along its direction            it may stick, or slide back
//   release     mu f_N - |f_T| (the gauge of its cone) of a sticking one it slides
//   row_stop    slip of a drive or brake at its bound                    it holds
//   row_release distance of the force of one that holds to its bounds    it gives way
//   edge        value of an edge times the side contacts are on          the face beyond takes over
//
// Along the path of a step they are sampled at least four times, gaps with their rates (a dip between two samples is found by Hermite's
// cubic); a sign change is a root in a bracket (TOMS 748) [Haddouni s.2.1.1, 2.2.8]. The path is of lower order than the step:
// the scheme then takes the step again with the length found, and corrects it until the function itself is zero at its end.
#pragma once

#include "schemes/events/contact_gaps.hpp"
#include "schemes/smooth/method.hpp"

namespace stickslip {

class Watch {
public:
    enum class Kind : unsigned char { none, gap, take_off, stop, release, row_stop, row_release, edge };
    struct Function {
        Kind kind = Kind::none;
        int index = 0;  // entry of Modes, bilateral row, or edge
        ContactId id;   // of contacts
    };
    static constexpr double no_event = 2;  // a fraction beyond the end of the step

    // The functions of these modes, but for gaps. `p` has the rows of the system.
    void plan(const System& system, const Motion& motion, const MotionPoint& p);

    // The first fraction of the step in (0, 1] at which a function vanishes, or no_event; which() says whose. `open` are the
    // open contacts at the start (gap, rate). Functions that are negative from the start on are reported at fraction 0.
    double first(const System& system, Motion& motion, const SmoothStep& s, const ContactGaps& open, int samples,
                 ContactFinder& finder);
    const Function& which() const { return which_; }
    // Others that vanish with it, judged at a solved point.
    void together(const System& system, const Motion& motion, const MotionPoint& p, std::vector<Function>& out) const;

    // The value of a function at a solved point; infinity if its contact is not there.
    static double value(const System& system, const Motion& motion, const MotionPoint& p, const Function& f);
    // Below it a value is rounding, at that point.
    static double rounding(const Motion& motion, const MotionPoint& p, Kind kind);

    // Contacts whose forces are not unique: their signs say nothing, so the caller asks the instant problem. Set by first()
    // when a force changed sign where the rows of the motion are dependent.
    bool doubtful() const { return doubtful_; }
    void trust(double until) { trusted_until_ = until; }  // fractions up to which doubtful signs are overruled

private:
    // What is watched, and the part of the step between two samples.
    struct Part {
        const System& system;
        Motion& motion;
        const SmoothStep& s;
        ContactFinder& finder;
        double from = 0, to = 0;  // fractions of the step
    };
    // The earliest root found so far.
    struct Earliest {
        double fraction = no_event;
        Function function;
        void take(double root, const Function& f) {
            if (!(root < fraction)) return;
            fraction = root;
            function = f;
        }
    };
    const MotionPoint* sample(const Part& part);
    bool at(const Part& part, double fraction, MotionPoint& p);
    double gap_of_shapes(const Part& part, ContactId& id);
    void look_at_gaps(const Part& part, const MotionPoint& p, Earliest& earliest);
    void look_at_modes(const Part& part, const MotionPoint& p, Earliest& earliest);

    std::vector<Function> functions_;
    Function which_;
    std::vector<double> before_, now_;    // values of the functions at both ends of the part
    ContactGaps gaps_before_, gaps_now_;  // and the gaps there
    MotionPoint point_, elsewhere_;
    State state_;
    VecX u_;
    RowVec product_;
    bool doubtful_ = false;
    double trusted_until_ = -1;
};

// The state on the path of a step at a fraction of it.
void on_path(const System& system, const SmoothStep& s, double fraction, VecX& u, State& x);

}  // namespace stickslip
