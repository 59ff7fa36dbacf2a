// What counts as closed, at rest, or rounding, in a scene of a given size. Every number with a unit that a scheme compares with is a
// share of a length, speed, time or mass, so that a watch and a crane take the same decisions. Sizes come from the bodies (System::scales).
//
// Below, members have their values for a scene of 1 m, 1 m/s and 1 kg, which are the shares. derived_tolerances() multiplies
// each by the scale of its unit; `run.tolerances` in a scene overrides scales or single tolerances in SI units, and `stickslip
// check --tolerances` prints them.
#pragma once

#include <algorithm>

namespace stickslip {

// The sizes of a model and of the state it starts from (System::scales).
struct Scales {
    double length = 1;   // [m] of a typical body that moves
    double speed = 1;    // [m/s] it has after falling through a twentieth of that
    double mass = 1;     // [kg] of a typical body
    double extent = 1;   // [m] coordinates are about this large at the start: their rounding goes with it
    double fastest = 1;  // [m/s] the same of velocities

    double time() const { return length / speed; }          // [s]
    double acceleration() const { return speed / time(); }  // [m/s^2]
    double force() const { return mass * acceleration(); }  // [N]
    double energy() const { return mass * speed * speed; }  // [J]

    // f(name, member, unit, help), as the options of a scheme.
    template <class F>
    void fields(F&& f) {
        f("length", length, "m", "size of a typical body that moves: lengths below are shares of it");
        f("speed", speed, "m/s", "that speeds are shares of; times are shares of length / speed");
        f("mass", mass, "kg", "that energies are shares of, with the square of the speed");
        f("extent", extent, "m", "size of the coordinates: their rounding is a share of it");
        f("fastest", fastest, "m/s", "size of the velocities: their rounding is a share of it");
    }
};

struct Tolerances {
    Scales scales;

    // Lengths [m].
    double closed_gap = 1e-9;
    double largest_closed_gap = 1e-5;
    double kept_gap = 1e-3;
    double impact_gap = 1e-6;
    double contact_margin = 1e-3;
    double largest_drift = 1e-6;
    double joint_error = 1.8e-6;
    double passed_limit = 1e-10;
    double visible_error = 1e-3;
    double drift_limit = 1e-12;
    double gap_rounding = 1e-14;
    // Speeds [m/s].
    double restitution_threshold = 1e-3;
    double hit_speed = 1e-3;
    double gentle_speed = 1e-3;
    double linearisation_speed = 1e-6;
    double turning_speed = 1e-6;
    double visible_slip = 1e-7;
    double approach_speed = 1e-8;
    double rest_speed = 1e-9;
    double force_residual = 1e-10;
    double slip_rounding = 1e-11;
    double surely_slipping = 1e3;
    // Times [s].
    double instant_span = 1e-3;
    double target_span = 1e-4;
    double short_target_span = 1e-6;
    double baumgarte_time = 1e-2;
    double stepping_step = 5e-9;
    double controlled_step = 1e-7;
    double smallest_step = 1e-9;
    double shortest_flight = 1e-7;
    double shortest_substep = 1e-12;
    // Others.
    double inward_acceleration = 1e-5;  // [m/s^2]
    double closed_gap_rate = 0.1;       // [m/s^3]
    double joint_error_rate = 500;      // [m/s^3]
    double thermal_energy = 4e-21;      // [J]

    // f(name, member, unit, help): all but the scales.
    template <class F>
    void fields(F&& f) {
        // If below the rounding of gaps, resting contacts are lost; if larger, bodies stop visibly above each other.
        f("closed_gap", closed_gap, "m", "a contact is closed when its gap is at most this");
        f("largest_closed_gap", largest_closed_gap, "m", "long steps do not raise closed_gap above this");
        f("kept_gap", kept_gap, "m", "a contact that pressed in the last step stays closed up to this");
        f("impact_gap", impact_gap, "m", "contacts nearer than this take part when a new joint snaps shut");
        // If smaller, resting contacts leave the list between steps, with frames and warm starts; if larger, solvers carry
        // contacts that will not close.
        f("contact_margin", contact_margin, "m", "contacts farther apart, beyond what bodies travel, are not listed");
        f("largest_drift", largest_drift, "m", "a larger overlap came from outside, and projection leaves it");
        // If smaller, fast linkages take shorter steps than their motion is worth; if larger, whipping chains gain energy.
        f("joint_error", joint_error, "m", "steps of moreau-jean that leave joints open by more are taken again, shorter");
        f("passed_limit", passed_limit, "m, rad", "a joint limit passed by more is moved back");
        f("visible_error", visible_error, "m", "overlaps and joint errors above it are warned about");
        f("drift_limit", drift_limit, "m, rad", "projection leaves smaller drift alone (velocities: per time scale)");
        f("gap_rounding", gap_rounding, "m, rad", "smaller errors of rows are rounding");
        // If zero, a bouncing ball takes infinitely many steps to come to rest.
        f("restitution_threshold", restitution_threshold, "m/s", "slower normal impacts do not rebound");
        f("hit_speed", hit_speed, "m/s", "slower contacts rest or roll: their friction is no impact");
        // If larger, bodies overlap visibly; if smaller, a pile takes a hundred sub-steps per step.
        f("gentle_speed", gentle_speed, "m/s",
          "a slower touch is not located: bodies overlap by up to the step times it");
        f("linearisation_speed", linearisation_speed, "m/s",
          "smaller errors of linearised forces are left, in moreau-jean");
        f("turning_speed", turning_speed, "m/s", "slower slip may turn within a step");
        f("visible_slip", visible_slip, "m/s", "a slower contact has not begun to slip, or has stopped");
        f("approach_speed", approach_speed, "m/s", "contacts that approach or part slower are at rest");
        f("rest_speed", rest_speed, "m/s", "the same where events are located; slower slip is none");
        f("force_residual", force_residual, "m/s", "contact forces with a smaller residual need no solver");
        f("slip_rounding", slip_rounding, "m/s", "slower slip is rounding and has no direction");
        f("surely_slipping", surely_slipping, "m/s", "faster than anything slips");
        f("instant_span", instant_span, "s", "accelerations are found as changes of velocity over this");
        f("target_span", target_span, "s", "targets of drives are differenced over it,");
        f("short_target_span", short_target_span, "s", "and over this beside a jump");
        f("baumgarte_time", baumgarte_time, "s", "in which Baumgarte's terms take drift out");
        f("stepping_step", stepping_step, "s", "shortest step of time-stepping in hybrid");
        f("controlled_step", controlled_step, "s", "shortest controlled step of moreau-jean, taken whatever its error");
        f("smallest_step", smallest_step, "s", "event-driven steps that would have to be shorter end the run");
        f("shortest_flight", shortest_flight, "s", "bounces that would all be over within this time are ended");
        f("shortest_substep", shortest_substep, "s", "no change of mode is located in a shorter sub-step");
        f("inward_acceleration", inward_acceleration, "m/s^2",
          "a released contact that accelerates inwards more stays");
        f("closed_gap_rate", closed_gap_rate, "m/s^3", "times the third power of the step: closed_gap of long steps");
        f("joint_error_rate", joint_error_rate, "m/s^3", "times the third power of the step: joint_error of long steps");
        f("thermal_energy", thermal_energy, "J", "of less energy no account is asked");
    }
};

// The scales of bodies of this length and mass under this gravity [m/s^2], of which the farthest is `reach` from the origin and the
// fastest has `fastest` at the start. Without gravity speeds are shares of the fastest one, and where nothing moves of a length per
// second. What is zero or not finite is not known, and 1.
Scales scales_of(double length, double mass, double gravity, double reach, double fastest);

// The tolerances of a scene of these sizes.
Tolerances derived_tolerances(const Scales& scales);

}  // namespace stickslip
