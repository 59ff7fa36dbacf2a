#include "schemes/event_driven/watch.hpp"

#include <algorithm>
#include <cmath>

#include "problems/cones.hpp"
#include "problems/contact_ids.hpp"
#include "schemes/event_driven/instant_problem.hpp"
#include "schemes/events/gap_closing.hpp"

namespace stickslip {

namespace {

constexpr double force_rounding = 1e-10;  // relative to the largest force at hand,
constexpr double no_force = 1e-12;        // or to this share of the force of the scene
constexpr double edge_rounding = 10;      // times gap_rounding: of gaps and edges
constexpr int root_bits = 40;             // of a sample's part, to which functions of the modes are located

bool holds_shapes(const Modes& modes, const ContactId& id) {
    return std::any_of(modes.contact.begin(), modes.contact.end(),
                       [&](const ContactId& other) { return same_shapes(other, id); });
}

bool is_force(Watch::Kind kind) {
    return kind == Watch::Kind::take_off || kind == Watch::Kind::release || kind == Watch::Kind::row_release;
}

}  // namespace

void on_path(const System& system, const SmoothStep& s, double fraction, VecX& u, State& x) {
    if (fraction >= 1) {
        x.t = s.t + s.h;
        x.q = s.q1;
        x.v = s.v1;
        return;
    }
    const auto last = static_cast<std::size_t>(s.degree);
    u = fraction * s.path_q[last];
    x.v = s.path_v[last];
    for (std::size_t k = last; k-- > 0;) {
        if (k > 0) u = fraction * (u + s.path_q[k]);
        x.v = fraction * x.v + s.path_v[k];
    }
    x.t = s.t + fraction * s.h;
    x.q = s.q0;
    system.advance(x.q, u);
}

void Watch::plan(const System& system, const Motion& motion, const MotionPoint& p) {
    functions_.clear();
    const Modes& modes = motion.modes();
    for (int i = 0; i < static_cast<int>(modes.contact.size()); ++i) {
        const auto k = static_cast<std::size_t>(i);
        const int c = p.place[i];
        functions_.push_back({Kind::take_off, i, modes.contact[k]});
        if (p.contacts.jacobian.dim(c) == 1) continue;
        const bool stuck = modes.mode[k] == ContactMode::stick;
        functions_.push_back({stuck ? Kind::release : Kind::stop, i, modes.contact[k]});
    }
    for (int i = 0; i < p.joints.size(); ++i) {
        if (!gives_way(p.joints, i)) continue;
        const auto k = static_cast<std::size_t>(i);
        if (p.joints.force_lower[k] == p.joints.force_upper[k]) continue;
        const bool gives = k < modes.bound.size() && modes.bound[k] != 0;
        functions_.push_back({gives ? Kind::row_stop : Kind::row_release, i, {}});
    }
    for (int e = 0; e < system.edges(); ++e) functions_.push_back({Kind::edge, e, {}});
    trusted_until_ = -1;
}

double Watch::rounding(const Motion& motion, const MotionPoint& p, Kind kind) {
    switch (kind) {
        case Kind::take_off:
        case Kind::release:
        case Kind::row_release: {
            double largest = no_force * motion.tolerances().scales.force();
            if (motion.rows() > 0) largest = std::max(largest, p.y.cwiseAbs().maxCoeff());
            largest = std::max(largest, p.force.cwiseAbs().maxCoeff());
            return force_rounding * largest;
        }
        case Kind::stop:
        case Kind::row_stop: return motion.tolerances().rest_speed;
        default: return edge_rounding * motion.tolerances().gap_rounding;
    }
}

double Watch::value(const System& system, const Motion& motion, const MotionPoint& p, const Function& f) {
    const Modes& modes = motion.modes();
    const auto k = static_cast<std::size_t>(f.index);
    switch (f.kind) {
        case Kind::none: return infinity;
        case Kind::gap: {
            const int c = find_contact(p.contacts.id, f.id);
            return c >= 0 ? p.contacts.gap[c] : infinity;
        }
        case Kind::take_off: return motion.contact_force(f.index, p)[0];
        case Kind::stop: return modes.slip[k].dot(p.slip[k]);
        case Kind::release: {
            const int c = p.place[f.index];
            const Vec3 force = motion.contact_force(f.index, p);
            return p.contacts.friction[c] * force[0] -
                   cone_gauge(force.tail<2>(), p.contacts.jacobian.dim(c), p.contacts.facets[c]);
        }
        case Kind::row_stop: {
            double speed = -p.joints.target[k];
            const auto group = std::upper_bound(p.joints.jacobian.row.begin(), p.joints.jacobian.row.end(), f.index);
            const int g = static_cast<int>(group - p.joints.jacobian.row.begin()) - 1;
            const Nodes& nodes = system.nodes();
            for (const BlockRows::Block& block : p.joints.jacobian.blocks_of(g)) {
                const auto G = p.joints.jacobian.values_of(g, block, nodes);
                for (int j = 0; j < G.cols(); ++j)
                    speed += G(f.index - p.joints.jacobian.row[g], j) * p.v[nodes.start[block.node] + j];
            }
            return modes.bound[k] < 0 ? speed : -speed;
        }
        case Kind::row_release: {
            const int row = motion.imposed_row(f.index, p);
            if (row < 0) return infinity;
            return std::min(p.joints.force_upper[k] - p.y[row], p.y[row] - p.joints.force_lower[k]);
        }
        case Kind::edge: return motion.side(f.index) * system.edge_value(f.index, p.q);
    }
    return infinity;
}

double Watch::first(const System& system, Motion& motion, const SmoothStep& s, const ContactGaps& open, int samples,
                    ContactFinder& finder) {
    which_ = {};
    doubtful_ = false;
    if (functions_.empty() && open.empty() && !finder.has_candidates()) return no_event;
    gaps_before_ = open;
    before_.assign(functions_.size(), infinity);  // not known yet
    Part part{system, motion, s, finder};
    for (int k = 1; k <= samples; ++k) {
        part.from = part.to;
        part.to = static_cast<double>(k) / samples;
        const MotionPoint* p = sample(part);
        if (!p) return no_event;  // a contact that is lost on the way: the step is tried shorter
        Earliest earliest;
        look_at_gaps(part, *p, earliest);
        look_at_modes(part, *p, earliest);
        if (earliest.fraction <= 1) {
            which_ = earliest.function;
            return earliest.fraction;
        }
        before_.swap(now_);
        gaps_before_.swap(gaps_now_);
    }
    return no_event;
}

bool Watch::at(const Part& part, double fraction, MotionPoint& p) {
    on_path(part.system, part.s, fraction, u_, state_);
    return part.motion.evaluate(state_.t, state_.q, state_.v, p);
}

// The end of the part: that of the step itself is solved already, and gaps alone need no forces. Null: not to be had.
const MotionPoint* Watch::sample(const Part& part) {
    if (part.to >= 1) return &part.s.end;
    if (!functions_.empty()) return at(part, part.to, point_) ? &point_ : nullptr;
    on_path(part.system, part.s, part.to, u_, state_);
    part.motion.read(state_.t, state_.q, point_);
    point_.v = state_.v;
    return &point_;
}

// The least gap, at state_, of the shapes of a contact that is not listed there; whose it is takes its place.
double Watch::gap_of_shapes(const Part& part, ContactId& id) {
    part.motion.read(state_.t, state_.q, elsewhere_);
    const int c = nearest_of_shapes(elsewhere_.contacts, id);
    if (c < 0) return infinity;
    id = elsewhere_.contacts.id[c];
    return elsewhere_.contacts.gap[c];
}

// Gaps of open contacts, with the dips between the samples. Where shapes that lay apart pass from one feature to another, the one that
// closes first may be listed at neither sample: then the least gap of the shapes is followed.
void Watch::look_at_gaps(const Part& part, const MotionPoint& p, Earliest& earliest) {
    static const StepMemory no_memory;
    list_gaps(part.system.nodes(), p.contacts, p.v, no_memory, product_, gaps_now_);
    const double length = part.to - part.from;
    for (const ContactGap& after : gaps_now_) {
        if (part.motion.modes().find(after.id) >= 0) continue;
        const int place = stickslip::find(gaps_before_, after.id);
        const ContactGap* before = place >= 0 ? &gaps_before_[place] : nullptr;
        const bool apart = lie_apart(gaps_before_, after.id, 0) && !holds_shapes(part.motion.modes(), after.id);
        ContactId nearest = after.id;
        const auto gap_at = [&](double fraction) {
            on_path(part.system, part.s, fraction, u_, state_);
            double gap = part.system.gap_on(part.motion.sides(), after.id, state_.q, part.finder);
            nearest = after.id;
            if (apart && gap == infinity) gap = gap_of_shapes(part, nearest);
            return seen_gap(gap, part.motion.tolerances());
        };
        const GapClosing closing = first_closing(before, after, part.from, length, length * part.s.h, no_event, gap_at);
        if (closing.found && apart) gap_at(closing.at);  // whose gap it is there
        if (closing.found)
            earliest.take(closing.at, {Kind::gap, 0, nearest});
        else if (closing.stays_closed && after.gap < -part.motion.tolerances().drift_limit)  // it has never been open
            earliest.take(part.from, {Kind::gap, 0, after.id});
    }
}

void Watch::look_at_modes(const Part& part, const MotionPoint& p, Earliest& earliest) {
    now_.resize(functions_.size());
    for (std::size_t j = 0; j < functions_.size(); ++j) {
        const Function& f = functions_[j];
        now_[j] = value(part.system, part.motion, p, f);
        if (!(now_[j] < -rounding(part.motion, p, f.kind))) continue;
        if (is_force(f.kind) && part.to <= trusted_until_) continue;
        const auto value_at = [&](double fraction) {
            return at(part, fraction, point_) ? value(part.system, part.motion, point_, f) : -1.0;
        };
        double start = before_[j];
        if (!(start < infinity)) start = value_at(part.from);
        double root = part.from;
        if (start > 0) root = bracketed_root(value_at, part.from, part.to, start, now_[j], root_bits);
        if (&p == &point_) at(part, part.to, point_);  // the search has used the memory of the sample
        if (is_force(f.kind) && part.motion.rank_defect() > 0) doubtful_ = true;
        earliest.take(root, f);
    }
}

void Watch::together(const System& system, const Motion& motion, const MotionPoint& p,
                     std::vector<Function>& out) const {
    out.clear();
    for (const Function& f : functions_) {
        const bool same = f.kind == which_.kind && f.index == which_.index;
        // A little more than rounding: the one that was located is only as near to zero as the last correction.
        const bool vanishes =
            f.kind != Kind::edge && std::abs(value(system, motion, p, f)) <= 100 * rounding(motion, p, f.kind);
        if (same || vanishes) out.push_back(f);
    }
}

}  // namespace stickslip
