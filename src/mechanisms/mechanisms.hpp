// What the files of this folder offer to the table.
#pragma once

#include "base/fields.hpp"
#include "stickslip/mechanism.hpp"

namespace stickslip {

// Each mechanism is a struct of parameters with `fields` and `build`; this makes its entry's functions.
template <class Parameters>
Mechanism build_mechanism(const OptionValues& values) {
    Parameters parameters;
    assign_fields(parameters, values, Parameters::name);
    return parameters.build(values);
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

}  // namespace stickslip
