// The energy ledger. For one stage with mean velocity w = (v0 + v1)/2 and the mass matrix M of the step,
//
//   w.M (v1 - v0) = w.(j + G' lambda + H' p),     j = r - M v0 - (A - M) v1
//
// is the change of kinetic energy when M is constant. Each impulse is booked by its own product with w:
//
//   loads                    + w.(h k_applied)                                     applied_work
//   motors (velocity rows)   + lambda.(G w)                                        motor_work
//                            without target and bounds (rolling, locks) they are rigid rows
//   friction rows, contacts  - lambda.(G w),  - p_T.(D w)                          friction_loss
//   rigid rows               b, T part  - lambda.(b - T lambda)/2                  regularisation_loss
//                            rest       - lambda.(G v0)/2: row turned since v0     scheme_loss
//   normals, h > 0           - p_N.(N v0 + N v1 + s + S p_N)/2                     impact_loss
//                            + p_N.(s + S p_N)/2, s = stabilisation part of c_N    regularisation_loss
//   contacts, h = 0          - p.(H w), - w.(restitution impulse)                  impact_loss
//   springs                  elastic energy comes from the states; its change and the work of the spring part
//                            lambda_s = -h s (phi + a h ((1-g) G v0 + g G v1)) differ by      scheme_loss
//   dampers                  lambda_d = -h d ((1-a) G v0 + a G v1) along G w        applied_work
//   potential forces         U comes from the states; -(U1 - U0) - w.(h k_potential)  scheme_loss
//   implicit and gyroscopic  - w.(j - h k_applied - h k_potential)                 scheme_loss
//   M(q)                     -(v1'(M1 - M) v1 - v0'(M0 - M) v0)/2                   scheme_loss
//   edits                    energy of the state after an edit minus before         edits
//
// `scheme_loss` is the sum of its own formulas above, never a difference of totals; T, U and the elastic energy
// come from the states alone. What is then left is `imbalance`: rounding, or a bug, or an impulse that is not what
// the solver said.
//
// The rounding is that of the velocities, m w eps per step, and it adds up: 3e-12 of the scale after 2e5 steps of a sliding
// box. Compensated sums of the flows were tried and change nothing, since the states themselves are rounded.
#include <algorithm>
#include <cmath>

#include "stickslip/ledger.hpp"

namespace stickslip {

void EnergyLedger::begin(const System& system, const State& state) {
    start_ = now_ = system.energies(state.t, state.q, state.v);
    flows_ = {};
    scale_ = std::max({now_.kinetic, std::abs(now_.potential), now_.elastic});
}

void EnergyLedger::move(const System& system, const State& state) {
    const Energies before = now_;
    now_ = system.energies(state.t, state.q, state.v);
    flows_.regularisation_loss -=
        (now_.kinetic - before.kinetic) + (now_.potential - before.potential) + (now_.elastic - before.elastic);
}

void EnergyLedger::edit(const System& system, const State& state) {
    const Energies before = now_;
    now_ = system.energies(state.t, state.q, state.v);
    flows_.edits +=
        (now_.kinetic - before.kinetic) + (now_.potential - before.potential) + (now_.elastic - before.elastic);
    scale_ = std::max({scale_, now_.kinetic, std::abs(now_.potential), now_.elastic, std::abs(flows_.edits)});
}

void EnergyLedger::restore(const Snapshot& s) {
    start_ = s.start;
    now_ = s.now;
    flows_ = s.flows;
    scale_ = s.scale;
}

double EnergyLedger::imbalance() const {
    const double change =
        (now_.kinetic - start_.kinetic) + (now_.potential - start_.potential) + (now_.elastic - start_.elastic);
    const double booked = flows_.applied_work + flows_.motor_work - flows_.friction_loss - flows_.impact_loss -
                          flows_.regularisation_loss - flows_.scheme_loss + flows_.edits;
    return change - booked;
}

void EnergyLedger::book(const System& system, const Stage& s) {
    const StepProblem& problem = *s.problem;
    const StepSolution& solution = *s.solution;
    const VecX &v0 = *s.v0, &v1 = *s.v1;
    const Nodes& nodes = problem.nodes();
    const bool impact = s.t1 == s.t0;
    const double h = s.t1 - s.t0;

    w_ = 0.5 * (v0 + v1);

    // Smooth impulses: j = r - M v0 - (A - M) v1, split into loads, potential forces and what the scheme added.
    if (!impact) {
        j_ = problem.r;
        s.mass->add_product(-1, v0, j_);
        problem.A.add_product(-1, v1, j_);
        s.mass->add_product(1, v1, j_);
        const double potential = w_.dot(s.impulses->potential), applied = w_.dot(s.impulses->applied);
        flows_.applied_work += applied;
        flows_.scheme_loss -= (w_.dot(j_) - applied - potential) + potential;
    } else if (s.extra) {
        flows_.impact_loss -= w_.dot(*s.extra);
    }

    // Bilateral rows.
    const JointRows& joints = problem.joints;
    Gw_.resize(joints.size());
    Gv0_.resize(joints.size());
    Gv1_.resize(joints.size());
    joints.jacobian.product(nodes, v0, Gv0_);
    joints.jacobian.product(nodes, v1, Gv1_);
    for (int i = 0; i < joints.size(); ++i) {
        const double lambda = solution.lambda[i];
        const double Gw = 0.5 * (Gv0_[i] + Gv1_[i]);
        // Rolling has no motor: its rows do no work, what is left of it is due to the row having turned.
        const bool lock = joints.kind[i] == RowKind::velocity && joints.target[i] == 0 &&
                          joints.force_lower[i] == -infinity && joints.force_upper[i] == infinity;
        switch (lock ? RowKind::holonomic : joints.kind[i]) {
            case RowKind::velocity: flows_.motor_work += lambda * Gw; break;
            case RowKind::friction: flows_.friction_loss -= lambda * Gw; break;
            case RowKind::holonomic:
                flows_.regularisation_loss -= 0.5 * lambda * Gv1_[i];
                (impact ? flows_.impact_loss : flows_.scheme_loss) -= 0.5 * lambda * Gv0_[i];
                break;
            case RowKind::compliant: {
                const double damper = -h * joints.damping[i] * ((1 - s.alpha) * Gv0_[i] + s.alpha * Gv1_[i]);
                flows_.applied_work += damper * Gw;
                flows_.scheme_loss -= (lambda - damper) * Gw;
                break;
            }
        }
    }

    // Contacts.
    const ContactRows& contacts = problem.contacts;
    Hw_.resize(contacts.jacobian.rows());
    contacts.jacobian.product(nodes, w_, Hw_);
    for (int i = 0; i < contacts.size(); ++i) {
        const int first = contacts.jacobian.row[i];
        const double normal = -solution.p[first] * Hw_[first];
        double tangential = 0;
        for (int k = first + 1; k < contacts.jacobian.row[i + 1]; ++k) tangential -= solution.p[k] * Hw_[k];
        if (impact) {
            flows_.impact_loss += normal + tangential;
            continue;
        }
        const double given = (s.stabilisation ? (*s.stabilisation)[i] : 0.0) + problem.S[first] * solution.p[first];
        flows_.friction_loss += tangential;
        flows_.regularisation_loss += 0.5 * solution.p[first] * given;
        flows_.impact_loss += normal - 0.5 * solution.p[first] * given;
    }

    // Energies of the state; the parts whose work is already in the states move to the scheme.
    const Energies before = now_;
    now_ = system.energies(s.t1, *s.q1, v1);
    flows_.scheme_loss -= (now_.potential - before.potential) + (now_.elastic - before.elastic);
    if (!impact && !system.constant_mass()) {
        system.mass(*s.q1, M_);
        double change = M_.quadratic(v1) - s.mass->quadratic(v1);
        system.mass(*s.q0, M_);
        change -= M_.quadratic(v0) - s.mass->quadratic(v0);
        flows_.scheme_loss -= 0.5 * change;
    }
    scale_ = std::max({scale_, now_.kinetic, std::abs(now_.potential), now_.elastic, std::abs(flows_.applied_work),
                       std::abs(flows_.motor_work), std::abs(flows_.friction_loss), std::abs(flows_.impact_loss)});
}

}  // namespace stickslip
