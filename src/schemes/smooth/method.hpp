// One step of a method between events: from (t, q, v) with given modes over a length h. A method knows nothing of events, of
// step control or of what is accepted; it fills a SmoothStep.
//
// Positions are integrated in the chart q = q0 (+) u of the step, du/dt = System::chart_rate(u, v): bodies turn with the full
// order of the method [Munthe-Kaas 1999].
#pragma once

#include <memory>

#include "schemes/smooth/quadrature_sum.hpp"

namespace stickslip {

// Which error a method reports: the 2-norm of that of q (in the chart), or of q and v together. Absolute, SI units.
enum class ErrorOf : unsigned char { positions, both };

struct SmoothStep {
    // Given.
    double t = 0, h = 0;  // [s]
    VecX q0, v0;
    bool start_known = false;  // `start` and a0 are known: from the end of the last step, or from the step tried before
    bool switch_before = false, switch_after = false;  // a load switches at the start, at the end
    VecX remembered;  // nv: what a method of several steps keeps of the last one, in and (where take() is true) out
    double remembered_step =
        0;  // [s] length of the step it comes from, in and out; 0: start afresh, as where modes or velocities jump
    double baumgarte = 0;  // [1/s] rate 1/T at which methods in the acceleration form take drift out; 0: none
    ErrorOf error_of = ErrorOf::positions;
    bool own_path = false;  // the method's own dense output, where it has one, instead of Hermite's

    // Found.
    VecX u, q1, v1;     // the end: q1 = q0 (+) u
    VecX a0;            // accelerations at the start,
    MotionPoint start;  // whose equations these are,
    MotionPoint end;    // and at the end, solved, where the next step begins
    double error = 0;   // estimate; NaN: the method has none
    int solves = 0;     // linear systems
    QuadratureSum sum;  // impulses and work
    int degree = 0;     // of the path, as in Step
    std::vector<VecX> path_q, path_v;

    // Scratch of methods.
    MotionPoint stage[2];
    std::vector<VecX> K, A;  // du/dt and dv/dt of the stages
    VecX q_stage, u_stage, v_stage, u_kept, v_kept, work, work2;
    RowVec r;
    std::unique_ptr<SchemeWork>
        method_work;  // of the method, made by its first take() on this step; null: it needs none

    double time(double c) const;  // [s] t + c h; loads that switch at the ends of the step have their values inside it
    void size_paths(int new_degree);  // nv numbers each, not cleared
    // Adds Baumgarte's terms -2 k (J v - w) - k^2 g to the right side of the acceleration form at p.
    void stabilise(const Motion& motion, const MotionPoint& p, RowVec& rate) const;
    // Solves `start`, unless it is known, in the acceleration form; a0.
    bool solve_start(Motion& motion);
    // The same for `end` at (q1, v1).
    bool solve_end(Motion& motion, bool found = false);
    // Solves the acceleration form at p, whose rows are found, with velocity v. False: trouble.
    bool accelerate(Motion& motion, const VecX& v, MotionPoint& p);
    // du/dt and d2u/dt2 at the end, in `work` and `work2`. Where attitudes turn, the second is a difference along the motion;
    // elsewhere it is the acceleration.
    void find_end_rates(const System& system);
    double norm(const VecX& position_error, const VecX& velocity_error) const;
};

class SmoothMethod {
public:
    virtual ~SmoothMethod() = default;
    // False: trouble, see Motion::trouble(); the step is to be tried shorter.
    virtual bool take(Motion& motion, SmoothStep& s) const = 0;
    // The exponent 1/p of step control [Haddouni (2.120)].
    virtual int error_order() const = 0;
    // True: SmoothStep::error is an estimate; else step control takes two half steps.
    virtual bool has_estimate() const = 0;
    virtual int order() const = 0;                    // of q and v
    virtual bool remembers() const { return false; }  // SmoothStep::remembered is its own
};

// The path of a step from its ends: quintic for q through q, v, a at both; quartic for v through v, a and the middle of the
// other [Haddouni (2.131)-(2.133)].
void hermite_path(const System& system, SmoothStep& s);

// The quartic through y0, y1 with slopes d0, d1 (per step) and y at the fraction x of the step, into path[0 .. 4].
void quartic(const VecX& y0, const VecX& d0, const VecX& y1, const VecX& d1, double x, const VecX& y,
             std::vector<VecX>& path);

// Explicit methods on the acceleration form: rk4, rkf45, dopri5.
std::unique_ptr<SmoothMethod> make_runge_kutta(const char* name);
// Half-explicit methods on the velocity form: hem3, hem4, hem5, phem56. `estimator` is c of (2.128) for hem5.
std::unique_ptr<SmoothMethod> make_half_explicit(const char* name, double estimator = 0.01);
// Generalized-alpha in index 3 (positions end on the constraints) or index 2 form (velocities do). `rho` in [0, 1] is the damping
// of the highest frequencies, 1 none; `newton_tol` the residual that Newton's method must reach, relative to the forces.
std::unique_ptr<SmoothMethod> make_generalized_alpha(int index, double rho = 0.8, double newton_tol = 1e-10);
// RATTLE: symmetric, positions and velocities end on the constraints.
std::unique_ptr<SmoothMethod> make_rattle();

}  // namespace stickslip
