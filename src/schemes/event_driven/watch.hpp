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
    static constexpr double no_event = 2;

    // The functions of these modes, but for gaps. `p` has the rows of the system.
    void plan(const System& system, const Motion& motion, const MotionPoint& p);

    // The first share of the step in (0, 1] at which a function vanishes, or no_event; which() says whose. `open` are the
    // open contacts at the start (gap, rate). Functions that are negative from the start on are reported at share 0.
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
    void trust(double until) { trusted_until_ = until; }  // shares up to which doubtful signs are overruled

private:
    bool at(const System& system, Motion& motion, const SmoothStep& s, double share, MotionPoint& p);
    double gap_root(const System& system, const SmoothStep& s, const ContactId& id, double a, double b, double ga,
                    double gb, ContactFinder& finder);

    std::vector<Function> functions_;
    Function which_;
    std::vector<double> before_, now_;
    ContactGaps gaps_before_, gaps_now_;
    MotionPoint point_;
    State state_;
    VecX u_;
    RowVec product_;
    JointRows joints_;
    ContactRows contacts_;
    bool doubtful_ = false;
    double trusted_until_ = -1;
};

// The state on the path of a step at a share of it.
void on_path(const System& system, const SmoothStep& s, double share, VecX& u, State& x);

}  // namespace stickslip
