#pragma once

#include "base/fields.hpp"
#include "schemes/parts/project.hpp"
#include "stickslip/scheme.hpp"

namespace stickslip {

struct MoreauJeanOptions {
    double step = 1e-3;
    double theta = 0.5;
    double stabilisation = 0;
    Choice projection = projections();
    double activation_gap = 1e-9;

    template <class F>
    void fields(F&& f) {
        f("step", step, "s", "step size");
        f("theta", theta, "-", "weight of the end velocity; 1/2 keeps energy, 1 damps");
        f("stabilisation", stabilisation, "-", "share of the position error taken out per step, 0 to 1");
        f("projection", projection, "-", projection_help);
        // Smaller than rounding of the gap and a resting body falls freely every other step; larger and bodies stop
        // visibly above each other.
        f("activation_gap", activation_gap, "m", "a contact is active when its gap after half a step is at most this");
    }
};

class MoreauJean final : public Scheme {
public:
    explicit MoreauJean(const MoreauJeanOptions& options) : options_(options) {}
    StepReport step(const System& system, Solver& solver, State& x, double t_limit, Step& s) const override;

private:
    MoreauJeanOptions options_;
};

}  // namespace stickslip
