// What the files of this folder offer to the table.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/fields.hpp"
#include "stickslip/mechanism.hpp"

namespace stickslip {

// The sizes of a mechanism, from its parameters by their units: the median of its lengths and of its masses, its gravity, its
// fastest speed.
template <class Parameters>
Scales scales_of_parameters(Parameters parameters) {
    std::vector<double> length, mass, speed{0}, gravity{0};
    parameters.fields([&](const char*, auto& member, const char* unit, const char*) {
        if constexpr (std::is_same_v<std::remove_reference_t<decltype(member)>, double>) {
            const std::string_view of = unit;
            if (member == 0) return;
            for (auto* list : {of == "m"       ? &length
                               : of == "kg"    ? &mass
                               : of == "m/s"   ? &speed
                               : of == "m/s^2" ? &gravity
                                               : nullptr})
                if (list) list->push_back(std::abs(member));
        }
    });
    for (auto* list : {&length, &mass, &speed, &gravity}) std::sort(list->begin(), list->end());
    const auto median = [](const std::vector<double>& list) { return list.empty() ? 0 : list[(list.size() - 1) / 2]; };
    return scales_of(median(length), median(mass), gravity.back(), length.empty() ? 0 : length.back(), speed.back());
}

// Each mechanism is a struct of parameters with `fields` and `build`; this makes its entry's functions.
template <class Parameters>
Mechanism build_mechanism(const OptionValues& values) {
    Parameters parameters;
    assign_fields(parameters, values, std::string("mechanism ") + Parameters::name);
    parameters.fields([&](const char* key, auto& member, const char*, const char*) {
        if constexpr (std::is_same_v<std::remove_reference_t<decltype(member)>, double>)
            require(std::isfinite(member), (std::string(key) + " must be finite").c_str(), values, key);
    });
    Mechanism mechanism = parameters.build(values);
    mechanism.model.scales = scales_of_parameters(parameters);
    return mechanism;
}

struct BlockStickSlip {
    static constexpr const char* name = "block-stick-slip";
    double m = 1, A = 8, w = 1, phase = 0, mu = 0.8, g = 9.81, x0 = 3, v0 = 0;
    template <class F>
    void fields(F&& f) {
        f("m", m, "kg", "mass of the block");
        f("A", A, "N", "amplitude of the push A cos(w t + phase)");
        f("w", w, "rad/s", "its frequency");
        f("phase", phase, "rad", "its phase");
        f("mu", mu, "-", "friction");
        f("g", g, "m/s^2", "gravity");
        f("x0", x0, "m", "position at t = 0");
        f("v0", v0, "m/s", "velocity at t = 0");
    }
    Mechanism build(const OptionValues& values) const;
    State exact_state(double t) const;  // with g > 0 and w != 0
};

struct BouncingBall {
    static constexpr const char* name = "bouncing-ball";
    double m = 1, g = 9.81, e = 0.8, z0 = 1, v0 = 0;
    template <class F>
    void fields(F&& f) {
        f("m", m, "kg", "mass");
        f("g", g, "m/s^2", "gravity");
        f("e", e, "-", "restitution");
        f("z0", z0, "m", "height of the lowest point at t = 0");
        f("v0", v0, "m/s", "upward velocity at t = 0");
    }
    Mechanism build(const OptionValues& values) const;
};

struct ImpactOscillator {
    static constexpr const char* name = "impact-oscillator";
    double m = 1, a = 0.05, w = 1, F = 1, Omega = 1.3, phase = 0, x_max = 0.8, e = 0.8, x0 = 0, v0 = 0;
    template <class Fields>
    void fields(Fields&& f) {
        f("m", m, "kg", "mass");
        f("a", a, "1/s", "half the damping per mass");
        f("w", w, "rad/s", "frequency without damping and drive");
        f("F", F, "N", "amplitude of the drive F cos(Omega t + phase)");
        f("Omega", Omega, "rad/s", "its frequency");
        f("phase", phase, "rad", "its phase");
        f("x_max", x_max, "m", "place of the stop");
        f("e", e, "-", "restitution of the stop");
        f("x0", x0, "m", "position at t = 0");
        f("v0", v0, "m/s", "velocity at t = 0");
    }
    Mechanism build(const OptionValues& values) const;
};

struct ClosingWalls {
    static constexpr const char* name = "closing-walls";
    double m = 1, r = 0.1, w0 = 0.6, c = 0.1, play = 0, e = 1, x0 = 0, v0 = 1;
    template <class F>
    void fields(F&& f) {
        f("m", m, "kg", "mass of the ball");
        f("r", r, "m", "its radius");
        f("w0", w0, "m", "half the distance of the walls at t = 0");
        f("c", c, "m/s", "speed with which each wall closes");
        f("play", play, "m", "room that is left beside the ball when they stop");
        f("e", e, "-", "restitution");
        f("x0", x0, "m", "position of the ball at t = 0");
        f("v0", v0, "m/s", "its velocity at t = 0");
    }
    Mechanism build(const OptionValues& values) const;
};

struct Pendulum {
    static constexpr const char* name = "pendulum";
    double m = 1, L = 1, g = 9.81, theta0 = 1.5707963267948966;
    template <class F>
    void fields(F&& f) {
        f("m", m, "kg", "mass of the bob");
        f("L", L, "m", "length of the rod");
        f("g", g, "m/s^2", "gravity");
        f("theta0", theta0, "rad", "angle from the downward vertical at t = 0, at rest");
    }
    Mechanism build(const OptionValues& values) const;
};

struct DoublePendulumWall {
    static constexpr const char* name = "double-pendulum-wall";
    double m1 = 1, m2 = 1, L1 = 1, L2 = 1, g = 9.81, e1 = 0.1, e2 = 0.1;
    double theta1_0 = 1.0471975511965979, theta2_0 = 0.6283185307179586;
    template <class F>
    void fields(F&& f) {
        f("m1", m1, "kg", "mass of the upper bob");
        f("m2", m2, "kg", "mass of the lower bob");
        f("L1", L1, "m", "length of the upper rod");
        f("L2", L2, "m", "length of the lower rod");
        f("g", g, "m/s^2", "gravity");
        f("e1", e1, "-", "restitution of the upper bob at the wall");
        f("e2", e2, "-", "restitution of the lower bob at the wall");
        f("theta1_0", theta1_0, "rad", "angle of the upper rod from the downward vertical at t = 0, at rest");
        f("theta2_0", theta2_0, "rad", "angle of the lower rod from the downward vertical at t = 0, at rest");
    }
    Mechanism build(const OptionValues& values) const;
};

struct KanePendulum {
    static constexpr const char* name = "kane-pendulum";
    double m = 1, L = 1, g = 0, mu = 0.5, e = 0.7, e_tangential = 0;
    double theta1_0 = 0.3490658503988659, theta2_0 = 0.5235987755982988, omega1_0 = -0.1, omega2_0 = -0.2;
    template <class F>
    void fields(F&& f) {
        f("m", m, "kg", "mass of each rod");
        f("L", L, "m", "length of each rod");
        f("g", g, "m/s^2", "gravity");
        f("mu", mu, "-", "friction of the tip on the floor");
        f("e", e, "-", "restitution");
        f("e_tangential", e_tangential, "-", "tangential restitution, in Newton's law");
        f("theta1_0", theta1_0, "rad", "angle of the upper rod from the downward vertical at t = 0");
        f("theta2_0", theta2_0, "rad", "angle of the lower rod, whose tip touches the floor then");
        f("omega1_0", omega1_0, "rad/s", "angular velocity of the upper rod before the impact");
        f("omega2_0", omega2_0, "rad/s", "angular velocity of the lower rod before the impact");
    }
    Mechanism build(const OptionValues& values) const;
};

struct TwoCarts {
    static constexpr const char* name = "two-carts";
    double m1 = 1, m2 = 1, mu = 0.05, g = 9.81, e = 0.3, x_eq = 0.2, stopper = 0, gamma = 100, delta = 100;
    double x1_0 = 0.1, x2_0 = 5.1, v1_0 = -2, v2_0 = -2;
    template <class F>
    void fields(F&& f) {
        f("m1", m1, "kg", "mass of cart 1");
        f("m2", m2, "kg", "mass of cart 2");
        f("mu", mu, "-", "friction of both carts on the floor");
        f("g", g, "m/s^2", "gravity");
        f("e", e, "-", "restitution of cart 1 at the stopper");
        f("x_eq", x_eq, "m", "position of cart 1 at which the spring is relaxed");
        f("stopper", stopper, "m", "position of the stopper of cart 1");
        f("gamma", gamma, "N/m", "stiffness of the spring between the wall and cart 1");
        f("delta", delta, "N s/m", "damping between the carts");
        f("x1_0", x1_0, "m", "position of cart 1 at t = 0");
        f("x2_0", x2_0, "m", "position of cart 2 at t = 0");
        f("v1_0", v1_0, "m/s", "velocity of cart 1 at t = 0");
        f("v2_0", v2_0, "m/s", "velocity of cart 2 at t = 0");
    }
    Mechanism build(const OptionValues& values) const;
};

struct PainleveRod {
    static constexpr const char* name = "painleve-rod";
    double m = 1, half_length = 0.5, g = 9.81, mu = 2, theta0 = 1.1071487177940904, vx0 = -1, omega0 = 0;
    template <class F>
    void fields(F&& f) {
        f("m", m, "kg", "mass of the rod");
        f("half_length", half_length, "m", "half its length");
        f("g", g, "m/s^2", "gravity");
        f("mu", mu, "-", "friction of its tips");
        f("theta0", theta0, "rad", "angle from the floor at t = 0, tip on the floor");
        f("vx0", vx0, "m/s", "velocity of the centre along x at t = 0; along y so that the tip keeps to the floor");
        f("omega0", omega0, "rad/s", "angular velocity at t = 0");
    }
    Mechanism build(const OptionValues& values) const;
};

struct FourBar {
    static constexpr const char* name = "four-bar";
    double m1 = 1, m2 = 1, m3 = 1, l1 = 0.3, l2 = 0.36055512754639896, l3 = 0.4, d = 0.7, g = 9.81, tau = 6;
    double phi1_0 = 1.0471975511965979;
    template <class F>
    void fields(F&& f) {
        f("m1", m1, "kg", "mass of the crank");
        f("m2", m2, "kg", "mass of the coupler");
        f("m3", m3, "kg", "mass of the rocker");
        f("l1", l1, "m", "length of the crank");
        f("l2", l2, "m", "length of the coupler");
        f("l3", l3, "m", "length of the rocker");
        f("d", d, "m", "distance of the two hinges on the ground");
        f("g", g, "m/s^2", "gravity");
        f("tau", tau, "N m", "torque on the crank");
        f("phi1_0", phi1_0, "rad", "angle of the crank at t = 0, at rest; the others from the closed loop");
    }
    Mechanism build(const OptionValues& values) const;
};

struct ThreeBallChain {
    static constexpr const char* name = "three-ball-chain";
    double m1 = 1, m2 = 1, m3 = 1, R = 0.1, g = 9.81, e1 = 0.5, e2 = 0.5, e3 = 0.5;
    double z1_0 = 0.6, z2_0 = 1, z3_0 = 1.5, v1_0 = 0, v2_0 = 0, v3_0 = 0;
    template <class F>
    void fields(F&& f) {
        f("m1", m1, "kg", "mass of the lowest ball");
        f("m2", m2, "kg", "mass of the middle ball");
        f("m3", m3, "kg", "mass of the highest ball");
        f("R", R, "m", "radius of the balls");
        f("g", g, "m/s^2", "gravity");
        f("e1", e1, "-", "restitution of the lowest ball at the floor");
        f("e2", e2, "-", "restitution between balls 1 and 2");
        f("e3", e3, "-", "restitution between balls 2 and 3");
        f("z1_0", z1_0, "m", "height of the centre of ball 1 at t = 0");
        f("z2_0", z2_0, "m", "the same, ball 2");
        f("z3_0", z3_0, "m", "the same, ball 3");
        f("v1_0", v1_0, "m/s", "upward velocity of ball 1 at t = 0");
        f("v2_0", v2_0, "m/s", "the same, ball 2");
        f("v3_0", v3_0, "m/s", "the same, ball 3");
    }
    Mechanism build(const OptionValues& values) const;
};

struct SliderCrankClearance {
    static constexpr const char* name = "slider-crank-clearance";
    double l1 = 0.153, l2 = 0.306, a = 0.05, b = 0.025, c = 0.001, m1 = 0.038, m2 = 0.038, m3 = 0.076;
    double J1 = 7.4e-5, J2 = 5.9e-4, J3 = 2.7e-6, g = 9.81, eN = 0.4, eT = 0, mu = 0.01, omega1_0 = 150;
    template <class F>
    void fields(F&& f) {
        f("l1", l1, "m", "length of the crank");
        f("l2", l2, "m", "length of the rod");
        f("a", a, "m", "half the length of the slider");
        f("b", b, "m", "half its height");
        f("c", c, "m", "play above and below it when it is centred");
        f("m1", m1, "kg", "mass of the crank");
        f("m2", m2, "kg", "mass of the rod");
        f("m3", m3, "kg", "mass of the slider");
        f("J1", J1, "kg m^2", "moment of inertia of the crank about its middle");
        f("J2", J2, "kg m^2", "the same, rod");
        f("J3", J3, "kg m^2", "the same, slider");
        f("g", g, "m/s^2", "gravity");
        f("eN", eN, "-", "restitution of the corners");
        f("eT", eT, "-", "their tangential restitution (impact law newton, and moreau-jean)");
        f("mu", mu, "-", "friction of the corners");
        f("omega1_0", omega1_0, "rad/s", "angular velocity of the crank at t = 0; the rod keeps the slider in line");
    }
    Mechanism build(const OptionValues& values) const;
};

struct HarmonicConstraint {
    static constexpr const char* name = "harmonic-constraint";
    double m = 1, frequency_hz = 1, x0 = 1, v0 = 0;
    template <class F>
    void fields(F&& f) {
        f("m", m, "kg", "mass");
        f("frequency_hz", frequency_hz, "Hz", "frequency of the oscillator");
        f("x0", x0, "m", "position at t = 0");
        f("v0", v0, "m/s", "velocity at t = 0");
    }
    Mechanism build(const OptionValues& values) const;
};

struct JointFlipflop {
    static constexpr const char* name = "joint-flipflop";
    double m = 1, eps = 1e-3;
    template <class F>
    void fields(F&& f) {
        f("m", m, "kg", "mass");
        f("eps", eps, "m/s", "velocity at t = 0, against the joint");
    }
    Mechanism build(const OptionValues& values) const;
};

// A body that turns about a fixed point: two mechanisms with their own defaults.
struct TopParameters {
    double m = 1, l = 0, I1 = 1, I2 = 2, I3 = 3, g = 0, theta0 = 0;
    double omega1_0 = 0, omega2_0 = 0, omega3_0 = 0;
    template <class F>
    void fields(F&& f) {
        f("m", m, "kg", "mass");
        f("l", l, "m", "distance of the centre of mass from the fixed point, along body axis 3");
        f("I1", I1, "kg m^2", "moment of inertia about the centre of mass, body axis 1");
        f("I2", I2, "kg m^2", "the same, body axis 2");
        f("I3", I3, "kg m^2", "the same, body axis 3");
        f("g", g, "m/s^2", "gravity");
        f("theta0", theta0, "rad", "attitude at t = 0: rotation about the world's x");
        f("omega1_0", omega1_0, "rad/s", "angular velocity at t = 0 in the body, axis 1");
        f("omega2_0", omega2_0, "rad/s", "the same, axis 2");
        f("omega3_0", omega3_0, "rad/s", "the same, axis 3");
    }
};

struct FreeBody : TopParameters {
    static constexpr const char* name = "free-body";
    FreeBody() {
        omega1_0 = 0.01;
        omega2_0 = 5;
        omega3_0 = 0.02;
    }
    Mechanism build(const OptionValues& values) const;
};

struct HeavyTop : TopParameters {
    static constexpr const char* name = "heavy-top";
    HeavyTop() {
        l = 0.3;
        I1 = I2 = 0.01;
        I3 = 0.02;
        g = 9.81;
        theta0 = 0.5235987755982988;
        omega3_0 = 60;
    }
    Mechanism build(const OptionValues& values) const;
};

struct RollingDisc {
    static constexpr const char* name = "rolling-disc";
    double m = 1, a = 0.5, g = 9.81, tilt = 0.5235987755982988, omega1_0 = 0.5, omega2_0 = 0.2, omega3_0 = 8;
    template <class F>
    void fields(F&& f) {
        f("m", m, "kg", "mass of the disc");
        f("a", a, "m", "its radius");
        f("g", g, "m/s^2", "gravity");
        f("tilt", tilt, "rad", "angle of the disc from the vertical at t = 0");
        f("omega1_0", omega1_0, "rad/s", "angular velocity at t = 0 in the body, axis 1");
        f("omega2_0", omega2_0, "rad/s", "the same, axis 2");
        f("omega3_0", omega3_0, "rad/s", "the same, axis 3, the normal of the disc");
    }
    Mechanism build(const OptionValues& values) const;
};

}  // namespace stickslip
