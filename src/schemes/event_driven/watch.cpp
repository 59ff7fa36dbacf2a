#include "schemes/event_driven/watch.hpp"

#include <algorithm>
#include <cmath>

#include "math/roots.hpp"
#include "problems/cones.hpp"
#include "schemes/event_driven/instant_problem.hpp"

namespace stickslip {

namespace {

constexpr double standing = 1e-9;         // [m/s] slip below is none
constexpr double force_rounding = 1e-10;  // share of the largest force at hand

}  // namespace

void on_path(const System& system, const SmoothStep& s, double share, VecX& u, State& x) {
    if (share >= 1) {
        x.t = s.t + s.h;
        x.q = s.q1;
        x.v = s.v1;
        return;
    }
    const auto last = static_cast<std::size_t>(s.degree);
    u = share * s.path_q[last];
    x.v = s.path_v[last];
    for (std::size_t k = last; k-- > 0;) {
        if (k > 0) u = share * (u + s.path_q[k]);
        x.v = share * x.v + s.path_v[k];
    }
    x.t = s.t + share * s.h;
    x.q = s.q0;
    system.advance(x.q, u);
}

void Watch::plan(const System& system, const Motion& motion, const MotionPoint& p) {
    functions_.clear();
    const Modes& modes = motion.modes();
    for (int i = 0; i < static_cast<int>(modes.contact.size()); ++i) {
        const auto k = static_cast<std::size_t>(i);
        const int c = motion.contact_in(i, p);
        functions_.push_back({Kind::take_off, i, modes.contact[k]});
        if (c < 0 || p.contacts.jacobian.dim(c) == 1) continue;
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
            double largest = 1e-12;
            if (motion.rows() > 0) largest = std::max(largest, p.y.cwiseAbs().maxCoeff());
            largest = std::max(largest, p.force.cwiseAbs().maxCoeff());
            return force_rounding * largest;
        }
        case Kind::stop:
        case Kind::row_stop: return standing;
        default: return 1e-13;
    }
}

double Watch::value(const System& system, const Motion& motion, const MotionPoint& p, const Function& f) {
    const Modes& modes = motion.modes();
    const auto k = static_cast<std::size_t>(f.index);
    switch (f.kind) {
        case Kind::none: return infinity;
        case Kind::gap: {
            const auto place = std::lower_bound(p.contacts.id.begin(), p.contacts.id.end(), f.id);
            const bool there = place != p.contacts.id.end() && *place == f.id;
            return there ? p.contacts.gap[place - p.contacts.id.begin()] : infinity;
        }
        case Kind::take_off: return motion.contact_force(f.index, p)[0];
        case Kind::stop: return modes.slip[k].dot(motion.slip_velocity(f.index, p));
        case Kind::release: {
            const int c = motion.contact_in(f.index, p);
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
            int row = 0;
            for (const Motion::Source& source : motion.sources()) {
                if (source.contact < 0 && p.joints.jacobian.row[source.joint_group] + source.first == f.index)
                    return std::min(p.joints.force_upper[k] - p.y[row], p.y[row] - p.joints.force_lower[k]);
                row += source.dim;
            }
            return infinity;
        }
        case Kind::edge: return motion.side(f.index) * system.edge_value(f.index, p.q);
    }
    return infinity;
}

bool Watch::at(const System& system, Motion& motion, const SmoothStep& s, double share, MotionPoint& p) {
    on_path(system, s, share, u_, state_);
    return motion.evaluate(state_.t, state_.q, state_.v, p);
}

double Watch::gap_root(const System& system, const SmoothStep& s, const ContactId& id, double a, double b, double ga,
                       double gb, ContactFinder& finder) {
    const auto gap_at = [&](double share) {
        on_path(system, s, share, u_, state_);
        system.rows(state_.t, state_.q, finder, joints_, contacts_);
        const auto place = std::lower_bound(contacts_.id.begin(), contacts_.id.end(), id);
        const bool there = place != contacts_.id.end() && *place == id;
        return there ? contacts_.gap[place - contacts_.id.begin()] : 1.0;
    };
    if (!(ga > 0)) ga = gap_at(a);
    if (!(gb < 0)) gb = gap_at(b);
    if (!(ga > 0) || !(gb < 0)) return no_event;
    return bracketed_root(gap_at, a, b, ga, gb);
}

double Watch::first(const System& system, Motion& motion, const SmoothStep& s, const ContactGaps& open, int samples,
                    ContactFinder& finder) {
    which_ = {};
    doubtful_ = false;
    static const StepMemory no_memory;
    gaps_before_ = open;
    before_.assign(functions_.size(), infinity);  // not known yet

    double share_before = 0;
    for (int k = 1; k <= samples; ++k) {
        const double share = static_cast<double>(k) / samples;
        const MotionPoint* p = &s.end;
        if (functions_.empty() && open.empty()) return no_event;
        if (k < samples) {
            if (functions_.empty()) {
                on_path(system, s, share, u_, state_);
                system.rows(state_.t, state_.q, finder, point_.joints, point_.contacts);
                point_.v = state_.v;
            } else if (!at(system, motion, s, share, point_)) {
                return no_event;  // a contact that is lost on the way: the step is tried shorter
            }
            p = &point_;
        }
        double earliest = no_event;
        Function found;

        // Gaps of open contacts.
        list_gaps(system.nodes(), p->contacts, p->v, no_memory, product_, gaps_now_);
        const double span = (share - share_before) * s.h;
        for (const ContactGap& after : gaps_now_) {
            if (motion.modes().find(after.id) >= 0) continue;
            const int place = stickslip::find(gaps_before_, after.id);
            const ContactGap* before = place >= 0 ? &gaps_before_[place] : nullptr;
            double open_from = 0, closed_at = after.gap < 0 ? 1.0 : no_event;  // shares of this part
            if (before) {
                double stationary[2];
                const int n = hermite_extrema(span, before->gap, before->rate, after.gap, after.rate, stationary);
                for (int e = 0; e < n; ++e) {
                    const double g = hermite(stationary[e], span, before->gap, before->rate, after.gap, after.rate);
                    if (g > 0 && before->gap <= 0 && open_from == 0) open_from = stationary[e];
                    if (g < 0 && stationary[e] > open_from && stationary[e] < closed_at &&
                        (before->gap > 0 || open_from > 0))
                        closed_at = stationary[e];
                }
            }
            if (closed_at == no_event) continue;
            const double a = share_before + open_from * (share - share_before);
            const double b = share_before + closed_at * (share - share_before);
            double root = gap_root(system, s, after.id, a, b, open_from == 0 && before ? before->gap : 0.0,
                                   closed_at == 1 ? after.gap : 0.0, finder);
            // It never gets out: closed from the start on.
            if (root == no_event && before && before->gap <= 0 && after.gap < -1e-12) root = share_before;
            if (root < earliest) {
                earliest = root;
                found = {Kind::gap, 0, after.id};
            }
        }

        // The functions of the modes.
        now_.resize(functions_.size());
        for (std::size_t j = 0; j < functions_.size(); ++j) {
            const Function& f = functions_[j];
            now_[j] = value(system, motion, *p, f);
            if (!(now_[j] < -rounding(motion, *p, f.kind))) continue;
            const bool force = f.kind == Kind::take_off || f.kind == Kind::release || f.kind == Kind::row_release;
            if (force && share <= trusted_until_) continue;
            const auto value_at = [&](double x) {
                return at(system, motion, s, x, point_) ? value(system, motion, point_, f) : -1.0;
            };
            const bool ours = p == &point_;
            double start = before_[j];
            if (!(start < infinity)) start = value_at(share_before);
            double root = share_before;
            if (start > 0) root = bracketed_root(value_at, share_before, share, start, now_[j], 40);
            if (ours) at(system, motion, s, share, point_);  // the sample again: the search has used its memory
            if (force && motion.rank_defect() > 0) doubtful_ = true;
            if (root < earliest) {
                earliest = root;
                found = f;
            }
        }
        if (earliest <= 1) {
            which_ = found;
            return earliest;
        }
        share_before = share;
        before_.swap(now_);
        gaps_before_.swap(gaps_now_);
    }
    return no_event;
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
