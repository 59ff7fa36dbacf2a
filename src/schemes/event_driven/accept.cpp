// The accepted step: the state moves, the ledger is booked, the record and the memory are written, drift is taken out.
#include <algorithm>
#include <cmath>

#include "collision/contact_point.hpp"
#include "collision/finder.hpp"
#include "diagnose/contact_shares.hpp"
#include "diagnose/redundancy.hpp"
#include "schemes/event_driven/event_step.hpp"

namespace stickslip {

namespace {

// Of the energy at hand: more than this must not be left over by one step. If smaller, rounding of stiff motions would stop them; if larger, a few
// such steps end the run (ledger_tolerance of the simulation).
constexpr double left_over = 1e-9;

}  // namespace

// Moves the state and books the step. False: the velocities found are not those that the forces give, as where a slip comes to its end and its direction
// turns faster than Newton's method follows. Time-stepping takes such a step back, and takes it.
bool EventStep::move_and_book(double t_end) {
    SmoothStep& smooth = w_.smooth;
    const double before = s_.ledger.imbalance();
    x_.t = t_end;
    x_.q = smooth.q1;
    x_.v = smooth.v1;
    s_.ledger.book(system_, x_, smooth.sum.flows(system_, smooth.q0, smooth.v0, smooth.q1, smooth.v1));
    if (std::abs(s_.ledger.imbalance() - before) <= left_over * s_.ledger.scale() + tolerances_.thermal_energy) return true;
    outcome_.stuck = true;
    return fail(Status::stalled, "the velocities of a step are not those of its forces");
}

bool EventStep::accept() {
    if (report_.status != Status::ok) return false;
    SmoothStep& smooth = w_.smooth;
    double t_end = x_.t + smooth.h;
    if (!event() && adaptive() && h_ >= t_limit_ - x_.t) t_end = t_limit_;
    if (!adaptive()) t_end = end_on_grid(x_.t, smooth.h, options_.step, t_limit_);
    if (!move_and_book(t_end)) return false;
    record();
    remember();
    const double drift_limit = options_.drift_limit.in(tolerances_);
    if (options_.drift.index == 2 && !project(smooth.end, drift_limit, drift_limit / tolerances_.scales.time()))
        report_.remark = "joints could not be brought back all the way by projection";
    stopwatch_.lap(StepTimers::book);
    return true;
}

void EventStep::record() {
    const SmoothStep& smooth = w_.smooth;
    const MotionPoint& end = smooth.end;
    s_.dq = smooth.u;
    s_.path.degree = smooth.degree;
    s_.path.q = smooth.path_q;
    s_.path.v = smooth.path_v;
    for (std::size_t i = 0; i < w_.modes.contact.size(); ++i) {
        const int c = end.place[i];
        s_.contacts.push_back({.id = w_.modes.contact[i],
                               .mode = w_.modes.mode[i],
                               .gap = end.contacts.gap[c],
                               .position = end.contacts.position[c],
                               .normal = end.contacts.normal[c],
                               .tangent = end.contacts.tangent[c],
                               .impulse = smooth.sum.contact_impulse[i],
                               .force = w_.motion.contact_force(static_cast<int>(i), end)});
    }
    if (s_.forces_wanted) mark_shares();
    take_admissible_forces();
    w_.motion.joint_forces(end, s_.multipliers);
    s_.reactions = smooth.sum.joint_impulse;
    s_.redundancy->smallest(s_.problem, s_.reactions);
}

// The motion has the forces of least norm wherever rows depend on each other: which contacts those are is asked of the problem at the
// end of the step, which certify() has left.
void EventStep::mark_shares() {
    share_impulses(s_);
    const ContactRows& rows = s_.problem.contacts;
    for (ContactRecord& record : s_.contacts) {
        const auto found = std::find(rows.id.begin(), rows.id.end(), record.id);
        if (found != rows.id.end()) record.unique = s_.shares->unique(static_cast<int>(found - rows.id.begin()));
    }
}

// Where rows depend on each other the forces of least norm may pull, which no contact does. The problem at the end of the step has
// forces with the same effect that do not, over the span of Tolerances: these are told then, as if they had acted all the step.
void EventStep::take_admissible_forces() {
    const auto pulls = [](const ContactRecord& record) { return record.impulse[0] < 0; };
    if (w_.motion.rank_defect() == 0 || std::none_of(s_.contacts.begin(), s_.contacts.end(), pulls)) return;
    const ContactRows& rows = s_.problem.contacts;
    for (ContactRecord& record : s_.contacts) {
        const auto found = std::find(rows.id.begin(), rows.id.end(), record.id);
        if (found == rows.id.end()) continue;
        const int i = static_cast<int>(found - rows.id.begin());
        record.force.setZero();
        for (int k = 0; k < rows.jacobian.dim(i); ++k)
            record.force[k] = s_.solution.p[rows.jacobian.row[i] + k] / tolerances_.instant_span;
        record.impulse = w_.smooth.h * record.force;
    }
}

// The frames of the contacts at the end become those that later steps transport. The rows at the end stay those of the system if
// transporting the frames to where they are changes nothing.
void EventStep::commit_frames() {
    const ContactRows& contacts = w_.smooth.end.contacts;
    ContactFinder::Frames& frames = w_.frames;
    frames.id.clear();
    frames.tangent.clear();
    bool same = true;
    for (int i = 0; i < contacts.size(); ++i) {
        const Vec3& tangent = contacts.tangent[i];
        if (tangent.isZero(0)) continue;  // joint limits and contacts of Lagrangian systems have no frame
        frames.id.push_back(contacts.id[i]);
        frames.tangent.push_back(tangent);
        const bool matters = contacts.jacobian.dim(i) == 3;  // in the plane the normal alone makes the frame
        same = same && (!matters || transported_tangent(tangent, contacts.normal[i]) == tangent);
    }
    s_.finder->set_frames(frames);
    if (!same) w_.motion.forget();
}

void EventStep::remember() {
    const SmoothStep& smooth = w_.smooth;
    const MotionPoint& end = smooth.end;
    StepMemory& memory = s_.memory;
    commit_frames();
    for (std::size_t i = 0; i < w_.modes.contact.size(); ++i) {
        if (w_.modes.mode[i] != ContactMode::slip || end.contacts.jacobian.dim(end.place[i]) < 3) continue;
        if (end.slip[i].norm() > tolerances_.rest_speed) w_.memory.slip[i] = end.slip[i].normalized();
    }
    memory.v_rate = (x_.v - smooth.v0) / smooth.h;
    memory.h = smooth.h;
    memory.impulse = smooth.sum.contact_impulse;
    memory.joint.assign(s_.problem.joints.id.begin(), s_.problem.joints.id.end());
    memory.joint_row.assign(s_.problem.joints.jacobian.row.begin(), s_.problem.joints.jacobian.row.end());
    memory.lambda = smooth.sum.joint_impulse;
    w_.memory.acceleration = method_.remembers() ? smooth.remembered : end.a;
    w_.memory.afresh = method_.remembers() && smooth.remembered_step == 0;
    if (!adaptive()) return;
    // A step cut short by the end or by a switch says nothing against the next one.
    w_.memory.next_step = h_ < wanted_ && report_.rejected == 0 ? std::max(proposed_, wanted_) : proposed_;
    w_.memory.last_error = error_ / options_.tol;
}

}  // namespace stickslip
