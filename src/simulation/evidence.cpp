#include "simulation/evidence.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip {

namespace {

constexpr std::size_t max_paradoxes_kept = 10;  // contacts named in the verdict; more would only repeat it

// Joint errors in proportion to half the size of the bodies (System::opening_limit). If smaller, runs with ordinary steps are doubted
// for errors that nobody sees; if larger, joints move visibly apart before anybody is told.
constexpr double open_share = 0.01;
// Overlaps in proportion to half the thickness (System::overlap_limit). Time-stepping lets bodies that collide overlap by up to what
// they travel in a step: 5.4 % in scene:capsules. If smaller, shipped scenes are doubted; if larger, bodies sink visibly into each other.
constexpr double deep_share = 0.08;
// In units of visible_error: overlaps of bodies whose size nobody knows, and joint errors whatever the bodies. If smaller, shipped
// mechanisms are doubted for their impacts; if larger, drift of half a percent of the typical body passes.
constexpr double visible_errors = 5;
// Errors below this share of visible_error are not looked at: half sizes are asked for only where something is wrong.
constexpr double unseen = 0.01;

}  // namespace

void Evidence::begin(const Step& step) {
    painleve_.slip_speed = step.tolerances.turning_speed;
    paradoxes_.reserve(max_paradoxes_kept);
    scheme_.see(-step.ledger.flows().scheme_loss);
    stabilisation_.see(-step.ledger.flows().regularisation_loss);
    together_.see(-step.ledger.flows().scheme_loss - step.ledger.flows().regularisation_loss);
}

void Evidence::see(const System& system, const Step& step, bool averages_loads) {
    scheme_.see(-step.ledger.flows().scheme_loss);
    stabilisation_.see(-step.ledger.flows().regularisation_loss);
    together_.see(-step.ledger.flows().scheme_loss - step.ledger.flows().regularisation_loss);
    note_overlap(system, step.violation.gap, step.violation.deepest, step.t0, step.tolerances);
    if (std::max(step.violation.gap, step.violation.joint) > unseen * step.tolerances.visible_error)
        see_drift(system, step.t0, step.problem.joints, step.problem.contacts, step.tolerances);
    const double parting = step.violation.joint_speed * (step.t1 - step.t0),
                 visible = visible_errors * step.tolerances.visible_error;
    if (parting / visible > parting_.badness) parting_ = {parting / visible, parting, visible, step.t0, {}};
    note_paradoxes(system, step);
    note_impacts(step);
    momentum_.see(system, step);
    loads_.see(system, step, averages_loads);
}

void Evidence::note_overlap(const System& system, double overlap, const ContactId& id, double t,
                            const Tolerances& tolerances) {
    if (!(overlap > unseen * tolerances.visible_error)) return;
    const double size = system.overlap_limit(id);
    const double limit = std::isfinite(size) ? deep_share * size : visible_errors * tolerances.visible_error;
    if (overlap / limit > overlap_.badness) overlap_ = {overlap / limit, overlap, limit, t, system.contact_name(id)};
}

void Evidence::see_drift(const System& system, double t, const BilateralRows& joints, const ContactRows& contacts,
                         const Tolerances& tolerances) {
    for (int i = 0; i < contacts.size(); ++i) note_overlap(system, -contacts.gap[i], contacts.id[i], t, tolerances);
    for (int g = 0; g < joints.jacobian.groups(); ++g) {
        const int first = joints.jacobian.row[g];
        for (int i = 0; i < joints.jacobian.dim(g); ++i) {
            const double error = std::abs(joints.value[first + i]);
            if (joints.kind[first + i] != RowKind::holonomic || !(error > unseen * tolerances.visible_error)) continue;
            const double limit =
                std::min(open_share * system.opening_limit(joints.id[g], i), visible_errors * tolerances.visible_error);
            if (error / limit > opening_.badness)
                opening_ = {error / limit, error, limit, t, system.joint_name(joints.id[g])};
        }
    }
}

// Contacts at which the rigid model has no solution or several; the first time each is seen, and what was done then.
void Evidence::note_paradoxes(const System& system, const Step& step) {
    const ContactRows& contacts = step.problem.contacts;
    if (contacts.size() == 0) return;
    const bool given = !step.terms.mass.values.empty();
    if (!given) system.mass(step.q1, mass_);  // schemes that locate events keep their own
    bool any = false;
    const VecX& v_start = step.middle.t > step.t0 ? step.middle.v : step.v0;  // of the problem in `step`
    for (const SlidingContact& sliding :
         painleve_.check(given ? step.terms.mass : mass_, step.problem.joints, contacts, v_start)) {
        // Some schemes list contacts that are still far apart.
        const bool closed = contacts.gap[sliding.contact] <= step.tolerances.kept_gap ||
                            step.solution.p[contacts.jacobian.row[sliding.contact]] > 0;
        if (!sliding.paradox() || !closed) continue;
        any = true;
        const ContactId& id = contacts.id[sliding.contact];
        const bool known = std::any_of(paradoxes_.begin(), paradoxes_.end(),
                                       [&](const Paradox& paradox) { return paradox.contact == id; });
        if (known || paradoxes_.size() >= max_paradoxes_kept) continue;
        paradoxes_.push_back({id, step.t0, contacts.friction[sliding.contact], sliding.critical_friction,
                              step.solution.modes[sliding.contact]});
    }
    if (any) ++paradox_steps_;
}

// Impacts of several contacts at once with friction and restitution: Newton's, Poisson's and other laws give other velocities. A
// contact that has left the problem after its impact did rebound; its friction is not known then and taken as there.
void Evidence::note_impacts(const Step& step) {
    const ContactRows& contacts = step.problem.contacts;
    double t = -infinity;
    int together = 0;
    for (const Event& event : step.events) {
        if (event.kind != EventKind::impact || event.normal_speed_before > -step.tolerances.hit_speed) continue;
        const auto found = std::lower_bound(contacts.id.begin(), contacts.id.end(), event.contact);
        bool differs = event.normal_speed_after > step.tolerances.approach_speed;
        if (found != contacts.id.end() && *found == event.contact) {
            const auto i = static_cast<std::size_t>(found - contacts.id.begin());
            differs = contacts.restitution[i] > 0 && contacts.friction[i] > 0;
        }
        if (!differs) continue;
        together = event.t == t ? together + 1 : 1;
        t = event.t;
        if (together == 2) ++ambiguous_impacts_;
    }
}

}  // namespace stickslip
