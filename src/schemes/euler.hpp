// Explicit Euler with solvable LCPs and located collisions [Anitescu-Potra 1997, s.4]: v+ from M (v+ - v) = h k + G' lambda + H' p
// with the rows at q (+) h v, positions moved by the old velocity. Formulas and the rules for collisions: euler.cpp.
#pragma once

#include "base/fields.hpp"
#include "schemes/events/bounces.hpp"
#include "schemes/events/contact_gaps.hpp"
#include "schemes/impacts/impact.hpp"
#include "schemes/parts/project.hpp"
#include "stickslip/scheme.hpp"

namespace stickslip {

struct EulerOptions {
    double step = 1e-3;
    Choice impact = impact_laws();
    FromScene restitution_threshold{&Tolerances::restitution_threshold, {}};
    double stabilisation = 0;
    Choice projection = projections();
    FromScene closed_gap{&Tolerances::closed_gap, {}};

    template <class F>
    void fields(F&& f) {
        f("step", step, "s", "step size");
        f("impact", impact, "-", "impact law");
        // Zero and a bouncing ball takes infinitely many steps to come to rest.
        f("restitution_threshold", restitution_threshold, "m/s",
          "slower normal impacts do not rebound; below g step/(1-e) a ball hops for ever");
        f("stabilisation", stabilisation, "-", "share of the position error taken out per step, 0 to 1");
        f("projection", projection, "-", projection_help);
        // Smaller than rounding of the gap and a resting contact is lost and hit again every few steps.
        f("closed_gap", closed_gap, "m", "a contact is closed when its gap is at most this");
    }
};

// Time-stepping with solvable LCPs and located collisions.
class Euler final : public Scheme {
public:
    explicit Euler(const EulerOptions& options) : options_(options) {}
    std::unique_ptr<SchemeWork> make_work(const System& /*system*/) const override { return std::make_unique<Work>(); }
    bool locates_collisions() const override { return true; }
    double longest_step() const override { return options_.step; }
    StepReport step(const System& system, Solver& solver, State& x, double t_limit, Step& s) const override;

private:
    struct Work final : SchemeWork {
        ContactGaps before, after;  // at the start of the step and at the configuration looked at
        ImpactWork impact;
        BounceMemory bounces;  // of contacts that rebound after very short sub-steps
        void remembered(FieldVisitor& visit) override { bounces.fields(visit); }
    };
    // One contact step of length h from x, with the contacts in s.problem; leaves the new velocity in s.solution.v.
    void contact_step(const System& system, Solver& solver, const State& x, const VecX& q1, double h, Step& s,
                      StepReport& report) const;
    double first_overlap(const System& system, const State& x, double h, Step& s, Work& w) const;
    void take(const System& system, Solver& solver, State& x, double h, double t1, Step& s, Work& w, Stopwatch& watch,
              StepReport& report) const;
    void collide(const System& system, Solver& solver, ImpactOptions impact, State& x, Step& s, Work& w,
                 Stopwatch& watch, StepReport& report) const;

    EulerOptions options_;
};

}  // namespace stickslip
