// Smooth problems on which methods for differential-algebraic equations are measured, as mechanisms.hpp.
#pragma once

#include <initializer_list>

#include "mechanisms/mechanisms.hpp"

namespace stickslip {

// Of parameters that go together, one that was given, so that a refusal points there.
inline const char* given_of(std::initializer_list<const char*> keys, const OptionValues& values) {
    for (const char* key : keys)
        for (const OptionValue& value : values)
            if (value.key == key) return key;
    return *keys.begin();
}

struct SliderCrank {
    static constexpr const char* name = "slider-crank";
    double m1 = 1, m2 = 1, m3 = 1, l1 = 1, l2 = 2, g = 9.81, alpha1_0 = 0, omega1_0 = 4;
    Choice mass_matrix{{"physical", "printed"}, 0};
    template <class F>
    void fields(F&& f) {
        f("m1", m1, "kg", "mass of the crank");
        f("m2", m2, "kg", "mass of the rod");
        f("m3", m3, "kg", "mass of the slider");
        f("l1", l1, "m", "length of the crank");
        f("l2", l2, "m", "length of the rod");
        f("g", g, "m/s^2", "gravity");
        f("alpha1_0", alpha1_0, "rad", "angle of the crank at t = 0; that of the rod from the guide");
        f("omega1_0", omega1_0, "rad/s", "angular velocity of the crank at t = 0");
        f("mass_matrix", mass_matrix, "-", "m2/4 in M22 as uniform rods have it (physical), or m2/2 as printed");
    }
    Mechanism build(const OptionValues& values) const;
};

struct FlexibleSliderCrank {
    static constexpr const char* name = "flexible-slider-crank";
    double m1 = 0.36, m2 = 0.151104, m3 = 0.075552, l1 = 0.15, l2 = 0.3, J1 = 0.002727, J2 = 0.0045339259;
    double E = 2e11, b = 0.008, h = 0.008, rho = 7870, g = 0, Omega = 150;
    double q1_0 = 0, q2_0 = 0, q3_0 = 1.03339863e-5, q4_0 = 1.69327969e-5;
    double v1_0 = 0.444896105, v2_0 = 0.00463434311, v3_0 = -1.78591076e-6, v4_0 = -2.68938672e-6;
    template <class F>
    void fields(F&& f) {
        f("m1", m1, "kg", "mass of the crank");
        f("m2", m2, "kg", "mass of the rod");
        f("m3", m3, "kg", "mass of the slider");
        f("l1", l1, "m", "length of the crank");
        f("l2", l2, "m", "length of the rod, relaxed");
        f("J1", J1, "kg m^2", "moment of inertia of the crank about its hinge on the ground");
        f("J2", J2, "kg m^2", "the same, relaxed rod about its hinge on the crank");
        f("E", E, "N/m^2", "Young's modulus of the rod");
        f("b", b, "m", "width of the rod");
        f("h", h, "m", "height of the rod, in the plane");
        f("rho", rho, "kg/m^3", "density of the rod in its elastic terms");
        f("g", g, "m/s^2", "gravity");
        f("Omega", Omega, "rad/s", "angular velocity of the crank, driven");
        f("q1_0", q1_0, "m", "first bending mode at t = 0, crank and rod in line");
        f("q2_0", q2_0, "m", "second bending mode");
        f("q3_0", q3_0, "m", "stretch of half the rod");
        f("q4_0", q4_0, "m", "stretch of the rod");
        f("v1_0", v1_0, "m/s", "rate of q1 at t = 0");
        f("v2_0", v2_0, "m/s", "rate of q2");
        f("v3_0", v3_0, "m/s", "rate of q3");
        f("v4_0", v4_0, "m/s", "rate of q4");
    }
    Mechanism build(const OptionValues& values) const;
};

struct AndrewsSqueezer {
    static constexpr const char* name = "andrews-squeezer";
    double m1 = 0.04325, m2 = 0.00365, m3 = 0.02373, m4 = 0.00706, m5 = 0.0705, m6 = 0.00706, m7 = 0.05498;
    double I1 = 2.194e-6, I2 = 4.41e-7, I3 = 5.255e-6, I4 = 5.667e-7, I5 = 1.169e-5, I6 = 5.667e-7, I7 = 1.912e-5;
    double xa = -0.06934, ya = -0.00227, xb = -0.03635, yb = 0.03273, xc = 0.014, yc = 0.072, c0 = 4530, l0 = 0.07785;
    double d = 0.028, da = 0.0115, e = 0.02, ea = 0.01421, rr = 0.007, ra = 0.00092, ss = 0.035, sa = 0.01874,
           sb = 0.01043, sc = 0.018, sd = 0.02, ta = 0.02308, tb = 0.00916, u = 0.04, ua = 0.01228, ub = 0.00449,
           zf = 0.02, zt = 0.04, fa = 0.01421, mom = 0.033;
    template <class F>
    void fields(F&& f) {
        f("m1", m1, "kg", "mass of K1, the crank");
        f("m2", m2, "kg", "mass of K2, which the crank drives");
        f("m3", m3, "kg", "mass of K3, which the spring pulls");
        f("m4", m4, "kg", "mass of K4");
        f("m5", m5, "kg", "mass of K5");
        f("m6", m6, "kg", "mass of K6");
        f("m7", m7, "kg", "mass of K7");
        f("I1", I1, "kg m^2", "moment of inertia of K1 about its centre of mass");
        f("I2", I2, "kg m^2", "the same, K2");
        f("I3", I3, "kg m^2", "the same, K3");
        f("I4", I4, "kg m^2", "the same, K4");
        f("I5", I5, "kg m^2", "the same, K5");
        f("I6", I6, "kg m^2", "the same, K6");
        f("I7", I7, "kg m^2", "the same, K7");
        f("xa", xa, "m", "hinge A of K5 and K7 on the ground");
        f("ya", ya, "m", "its height");
        f("xb", xb, "m", "hinge B of K3 on the ground");
        f("yb", yb, "m", "its height");
        f("xc", xc, "m", "end C of the spring on the ground");
        f("yc", yc, "m", "its height");
        f("c0", c0, "N/m", "stiffness of the spring");
        f("l0", l0, "m", "its relaxed length");
        f("d", d, "m", "length of K2");
        f("da", da, "m", "its centre of mass from the crank");
        f("e", e, "m", "length of K4");
        f("ea", ea, "m", "its centre of mass from the common hinge");
        f("rr", rr, "m", "length of the crank K1");
        f("ra", ra, "m", "its centre of mass from the origin");
        f("ss", ss, "m", "hinge B of K3 to the common hinge");
        f("sa", sa, "m", "centre of mass of K3 from B along that way");
        f("sb", sb, "m", "and to its left");
        f("sc", sc, "m", "spring on K3 from B along that way");
        f("sd", sd, "m", "and to its left");
        f("ta", ta, "m", "centre of mass of K5 from A along it");
        f("tb", tb, "m", "and to its left");
        f("u", u, "m", "length of K7");
        f("ua", ua, "m", "its centre of mass from A along it");
        f("ub", ub, "m", "and to its right");
        f("zf", zf, "m", "length of K6");
        f("zt", zt, "m", "length of K5");
        f("fa", fa, "m", "centre of mass of K6 from the common hinge");
        f("mom", mom, "N m", "torque on the crank");
    }
    Mechanism build(const OptionValues& values) const;
};

// A point on a C1 curve: two mechanisms with their own defaults.
struct CurveParameters {
    double m = 1, g = 9.81, curvature = 1, x0 = 2, vx0 = -1;
    template <class F>
    void fields(F&& f) {
        f("m", m, "kg", "mass of the point");
        f("g", g, "m/s^2", "gravity");
        f("curvature", curvature, "1/m", "of the parabola at the edge");
        f("x0", x0, "m", "position at t = 0, on the curve");
        f("vx0", vx0, "m/s", "velocity along x at t = 0, tangential to the curve");
    }
};

struct ParabolaPlane : CurveParameters {
    static constexpr const char* name = "parabola-plane";
    Mechanism build(const OptionValues& values) const;
};

struct PlaneParabola : CurveParameters {
    static constexpr const char* name = "plane-parabola";
    PlaneParabola() { vx0 = -2; }
    Mechanism build(const OptionValues& values) const;
};

struct NFourBar {
    static constexpr const char* name = "n-four-bar";
    int N = 2;
    double m = 1, L = 1, g = 9.81, v_B0x = 1;
    template <class F>
    void fields(F&& f) {
        f("N", N, "-", "number of loops: N couplers and N + 1 rockers");
        f("m", m, "kg", "mass of each rod");
        f("L", L, "m", "length of each rod");
        f("g", g, "m/s^2", "gravity");
        f("v_B0x", v_B0x, "m/s", "velocity of the couplers at t = 0, rockers upright");
    }
    Mechanism build(const OptionValues& values) const;
};

struct Bricard {
    static constexpr const char* name = "bricard";
    double m = 1, L = 1, w = 0.1, g = 9.81;
    template <class F>
    void fields(F&& f) {
        f("m", m, "kg", "mass of each rod");
        f("L", L, "m", "length of each rod");
        f("w", w, "m", "side of their square section");
        f("g", g, "m/s^2", "gravity, along -y");
    }
    Mechanism build(const OptionValues& values) const;
};

struct FlyballGovernor {
    static constexpr const char* name = "flyball-governor";
    double rod_length = 1, section = 0.01, density = 3000, slider_side = 0.1, hinge_offset = 0.05, point_mass = 5;
    double K = 8e5, C = 4e4, rest_length = 0.5, s0 = 0.5, alpha_deg = 30, omega0_over_2pi = 1, shaft_length = 1,
           g = 9.81;
    template <class F>
    void fields(F&& f) {
        f("rod_length", rod_length, "m", "length of the two rods");
        f("section", section, "m", "side of the square section of rods and shaft");
        f("density", density, "kg/m^3", "density of rods, shaft and slider");
        f("slider_side", slider_side, "m", "side of the slider, a cube");
        f("hinge_offset", hinge_offset, "m", "distance of the hinges of the rods from the axis");
        f("point_mass", point_mass, "kg", "mass of each ball, a point at the end of its rod");
        f("K", K, "N/m", "stiffness between slider and the middle of each rod");
        f("C", C, "N s/m", "damping of the same");
        f("rest_length", rest_length, "m", "its relaxed length");
        f("s0", s0, "m", "height of the slider at t = 0");
        f("alpha_deg", alpha_deg, "deg", "angle of the rods below the horizontal at t = 0");
        f("omega0_over_2pi", omega0_over_2pi, "1/s", "turns of the shaft per second at t = 0");
        f("shaft_length", shaft_length, "m", "length of the shaft, at the top of which the rods are hinged");
        f("g", g, "m/s^2", "gravity");
    }
    Mechanism build(const OptionValues& values) const;
};

}  // namespace stickslip
