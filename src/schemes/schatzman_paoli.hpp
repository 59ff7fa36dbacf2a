// Schatzman and Paoli's time-stepping [Paoli-Schatzman 2002; Haddouni (2.31)]: contact laws with restitution on positions,
// 0 <= phi((q+ + e q_old)/(1 + e)) _|_ p_N >= 0; the velocity is that of half a step ago. Formulas: schatzman_paoli.cpp.
#pragma once

#include "base/fields.hpp"
#include "stickslip/scheme.hpp"

namespace stickslip {

struct SchatzmanPaoliOptions {
    double step = 1e-3;

    template <class F>
    void fields(F&& f) {
        f("step", step, "s", "step size");
    }
};

// Time-stepping in positions: the unknown is the difference quotient of two configurations.
class SchatzmanPaoli final : public Scheme {
public:
    explicit SchatzmanPaoli(const SchatzmanPaoliOptions& options) : options_(options) {}
    int impact_steps() const override { return 2; }
    double longest_step() const override { return options_.step; }
    StepReport step(const System& system, Solver& solver, State& x, double t_limit, Step& s) const override;

private:
    SchatzmanPaoliOptions options_;
};

}  // namespace stickslip
