#include <algorithm>

#include "collision/finder.hpp"
#include "collision/passing.hpp"
#include "diagnose/contact_shares.hpp"
#include "diagnose/redundancy.hpp"
#include "schemes/parts/parts.hpp"

namespace stickslip {

Step::Step()
    : finder(std::make_unique<ContactFinder>()),
      guard(std::make_unique<PassingGuard>()),
      redundancy(std::make_unique<Redundancy>()),
      shares(std::make_unique<ContactShares>()) {}
Step::~Step() = default;
Step::Step(Step&&) noexcept = default;
Step& Step::operator=(Step&&) noexcept = default;

void StepRecord::at(const System& system, double t, State& x) const {
    x.t = t;
    if (t >= t1 || t1 == t0) {
        x.q = q1;
        x.v = v1;
        return;
    }
    const double s = (t - t0) / (t1 - t0);
    if (path.degree > 0) {
        const auto last = static_cast<std::size_t>(path.degree);
        VecX u = s * path.q[last];
        x.v = path.v[last];
        for (std::size_t k = last; k-- > 0;) {
            if (k > 0) u = s * (u + path.q[k]);
            x.v = s * x.v + path.v[k];
        }
        x.q = q0;
        system.advance(x.q, u);
        return;
    }
    if (middle.t > t0 && t < middle.t) {
        const double a = (t - t0) / (middle.t - t0);
        x.q = q0;
        system.advance(x.q, VecX(a * middle.dq));
        x.v = (1 - a) * v0 + a * middle.v;
        return;
    }
    const bool second = middle.t > t0;
    const double a = second ? (t - middle.t) / (t1 - middle.t) : s;
    x.q = second ? middle.q : q0;
    system.advance(x.q, VecX(a * dq));
    x.v = (1 - a) * (second ? middle.v : v0) + a * v1;
}

void plan_redundancy(const System& system, const State& state, Step& step) {
    BilateralRows joints;
    ContactRows contacts;
    BlockMatrix mass;
    system.mass(state.q, mass);
    system.look_ahead(state.v, 0, *step.finder);
    system.rows(state.t, state.q, *step.finder, joints, contacts);
    step.redundancy->plan(mass, joints);
}

std::unique_ptr<SchemeWork> Scheme::make_work(const System& /*system*/) const { return std::make_unique<SchemeWork>(); }

void Scheme::prepare(const System& system, const State& state, Step& step) const {
    step.memory = {};
    step.memory.v_rate.setZero(system.nv());
    step.scheme_work = make_work(system);
    step.finder->margin = step.tolerances.contact_margin;
    step.ledger.begin(system, state, step.tolerances);
    step.t0 = step.t1 = step.t_weighted = state.t;
    step.q0 = step.q1 = state.q;
    step.v0 = step.v1 = step.v_weighted = state.v;
    step.dq.setZero(system.nv());
    step.terms.v_star.setZero(system.nv());
    plan_redundancy(system, state, step);
}

}  // namespace stickslip
