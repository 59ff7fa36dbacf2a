// Stewart and Trinkle's time-stepping [Stewart-Trinkle 1996; Haddouni s.2.1.2.2]: g + h G v+ = 0 and 0 <= phi + h N v+ _|_ p_N >= 0,
// so that joints do not drift. No restitution. Formulas: stewart_trinkle.cpp.
#pragma once

#include "base/fields.hpp"
#include "stickslip/scheme.hpp"

namespace stickslip {

struct StewartTrinkleOptions {
    double step = 1e-3;

    template <class F>
    void fields(F&& f) {
        f("step", step, "s", "step size");
    }
};

// Time-stepping with joints and gaps at the level of positions, without rebound.
class StewartTrinkle final : public Scheme {
public:
    explicit StewartTrinkle(const StewartTrinkleOptions& options) : options_(options) {}
    double longest_step() const override { return options_.step; }
    StepReport step(const System& system, Solver& solver, State& x, double t_limit, Step& s) const override;

private:
    StewartTrinkleOptions options_;
};

}  // namespace stickslip
