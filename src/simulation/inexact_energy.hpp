// Energy that a run may lose or find because its solves are not exact. A solve that leaves a residual w = A_nn^-1 (A v - G' lambda -
// H' p - r) in its dynamics has used impulses A_nn w that nobody booked; their work is at most |w| |A (v0 + v1) / 2|. So much of the
// ledger's imbalance is told by the residuals, and only what is beyond is unaccounted for. With exact dynamics this is rounding.
#pragma once

#include "stickslip/scheme.hpp"

namespace stickslip {

class InexactEnergy {
public:
    // [J] Of the step just taken.
    double of(const StepReport& report, const Step& step) {
        const double w = report.solve.residual.dynamics;
        const Eigen::Index nv = step.problem.nodes().nv();
        if (!(w > exact) || step.v0.size() != nv || step.solution.v.size() != nv) return 0;
        momentum_.setZero(nv);
        step.problem.A.add_product(0.5, step.v0, momentum_);
        double size = momentum_.lpNorm<1>();
        momentum_.setZero();
        step.problem.A.add_product(0.5, step.solution.v, momentum_);
        size += momentum_.lpNorm<1>();
        return report.solves * w * size;
    }
    double sum = 0;  // [J] of the steps so far; in snapshots

private:
    static constexpr double exact = 1e-13;  // [m/s] less is rounding, which the check of the ledger allows anyway
    VecX momentum_;
};

}  // namespace stickslip
