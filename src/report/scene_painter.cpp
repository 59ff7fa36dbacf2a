#include "report/scene_painter.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip {

namespace {

using plot::Outline;
using Kind = Outline::Kind;

constexpr std::size_t max_shapes = 500;  // drawn; beyond, the page would grow past what a browser likes

}  // namespace

ScenePainter::ScenePainter(const MultibodySystem& system, const Model& model, const RecordContents& record)
    : s_(system), m_(system.model()), r_(record) {
    int colour = 0;
    for (const RigidBody& body : m_.bodies) colour_.push_back(body.fixed ? -1 : colour++ % plot::colours);
    for (const Event& e : record.events)
        if (is_edit(e.kind) && e.kind != EventKind::drive) edits_.push_back(e);
    make_editions(model);
    shaped_.assign(m_.bodies.size(), false);
    const auto note_shapes = [&](const MultibodySystem& edition) {
        for (const Collider& c : edition.model().collision.colliders)
            if (c.body >= 0 && c.body < std::ssize(shaped_)) shaped_[c.body] = true;
    };
    note_shapes(s_);
    for (const Edition& edition : editions_) note_shapes(*edition.system);
}

Track ScenePainter::track() const {
    Track track;
    track.rows = sampled_rows(r_.q.cols());
    for (const Eigen::Index k : track.rows) {
        MatX points(3, 0);
        const VecX q = r_.q.col(k);
        for (std::size_t b = 0; b < m_.bodies.size(); ++b) {
            if (m_.bodies[b].fixed) continue;
            points.conservativeResize(3, points.cols() + 1);
            points.col(points.cols() - 1) = s_.pose(static_cast<int>(b), q).position;
        }
        track.points.push_back(std::move(points));
    }
    return track;
}

std::vector<Outline> ScenePainter::paint(Eigen::Index row, const ViewAxes& axes, bool moving) const {
    const VecX q = r_.q.col(row);
    const double t = r_.t[row];
    std::vector<Outline> list;
    std::size_t count = 0;
    for (const Collider& c : edition(t).collision.colliders) {
        if (c.body >= std::ssize(m_.bodies)) continue;
        const bool moves = c.body >= 0 && !m_.bodies[c.body].fixed;
        if (moves != moving || !body_there(c.body, t) || ++count > max_shapes) continue;
        const int colour = moves ? colour_[c.body] : -1;
        for (Outline& o : outlines_of(c.shape, s_.pose(c.body, q), axes, colour)) list.push_back(std::move(o));
    }
    if (moving) add_rods(t, q, axes, list);
    return list;
}

std::vector<plot::Ground> ScenePainter::grounds(const ViewAxes& axes) const {
    std::vector<plot::Ground> list;
    const VecX q = r_.q.col(0);
    for (const Collider& c : m_.collision.colliders) {
        plot::Ground ground;
        const bool fixed = c.body < 0 || m_.bodies[c.body].fixed;
        if (fixed && ground_of(c.shape, s_.pose(c.body, q), axes, ground)) list.push_back(ground);
    }
    return list;
}

double ScenePainter::largest_body() const {
    double most = 0;
    for (const RigidBody& body : m_.bodies) most = std::max(most, body.fixed ? 0 : body.radius);
    return most;
}

bool ScenePainter::turns() const {
    const VecX first = r_.q.col(0);
    for (std::size_t b = 0; b < m_.bodies.size(); ++b)
        for (const Eigen::Index k : sampled_rows(r_.q.cols())) {
            const Quat a = s_.pose(static_cast<int>(b), first).attitude;
            if (a.angularDistance(s_.pose(static_cast<int>(b), r_.q.col(k)).attitude) > 0.01) return true;
        }
    return false;
}

std::size_t ScenePainter::left_out() const {
    return m_.collision.colliders.size() > max_shapes ? m_.collision.colliders.size() - max_shapes : 0;
}

// Each action is made on the recorded state nearest to it.
void ScenePainter::make_editions(const Model& model) {
    std::shared_ptr<const Editor> editor = model.editor;
    for (const Action& action : model.actions) {
        if (!editor || r_.t.empty() || action.t > r_.t.back()) return;
        const auto after = std::lower_bound(r_.t.begin(), r_.t.end(), action.t) - r_.t.begin();
        const bool before = after > 0 && action.t - r_.t[after - 1] < r_.t[after] - action.t;
        const Eigen::Index row = after - (before ? 1 : 0);
        if (row >= r_.v.cols()) return;
        try {
            Editor::Edited edited = editor->apply(*action.edit, State{action.t, r_.q.col(row), r_.v.col(row)});
            const auto* system = dynamic_cast<const MultibodySystem*>(edited.system.get());
            if (!system || system->nq() != s_.nq()) return;
            editor = edited.editor;
            editions_.push_back({action.t, std::move(edited.system), system});
        } catch (const Error&) {
            return;  // refused in the run as well, or made after edits that no scene knows of
        }
    }
}

const MultibodyModel& ScenePainter::edition(double t) const {
    const MultibodyModel* model = &m_;
    for (const Edition& edition : editions_)
        if (edition.t <= t) model = &edition.system->model();
    return *model;
}

// The events tell of edits by programs too, which the scene does not know.
bool ScenePainter::there(const Subject& subject, bool at_start, double t) const {
    bool is = at_start;
    for (const Event& e : edits_)
        if (e.t <= t && e.subject == subject) is = e.kind == EventKind::add || e.kind == EventKind::attach;
    return is;
}

bool ScenePainter::body_there(int body, double t) const {
    return body < 0 || there({SubjectKind::body, static_cast<std::uint32_t>(body)}, m_.bodies[body].present, t);
}

// Lines between the joints of bodies without shapes; springs and distance joints.
void ScenePainter::add_rods(double t, const VecX& q, const ViewAxes& axes, std::vector<Outline>& list) const {
    std::vector<std::vector<Vec3>> anchors(m_.bodies.size());
    const auto anchor = [&](int body, const Vec3& point) {
        const Vec3 world = s_.pose(body, q) * point;
        if (body >= 0) anchors[body].push_back(world);
        return world;
    };
    const MultibodyModel& now = edition(t);
    const auto outside = [&](int body) { return body >= std::ssize(m_.bodies); };
    for (const Joint& joint : now.joints) {
        if (joint.kind->is_gear()) continue;
        if (outside(joint.a) || outside(joint.b)) continue;
        if (!there({SubjectKind::joint, joint.id}, joint.present, t)) continue;
        const Vec3 a = anchor(joint.a, joint.point_a), b = anchor(joint.b, joint.point_b);
        if (joint.kind->anchor == JointKind::Anchor::ends) list.push_back({Kind::line, {axes(a), axes(b)}, 0, -1});
    }
    for (const Spring& spring : now.springs) {
        if (outside(spring.a) || outside(spring.b)) continue;
        if (!there({SubjectKind::spring, spring.id}, spring.present, t)) continue;
        const Vec3 a = anchor(spring.a, spring.point_a), b = anchor(spring.b, spring.point_b);
        list.push_back({Kind::line, {axes(a), axes(b)}, 0, -1});
    }
    for (std::size_t b = 0; b < m_.bodies.size(); ++b) {
        if (shaped_[b] || m_.bodies[b].fixed || !body_there(static_cast<int>(b), t)) continue;
        const Vec3 middle = s_.pose(static_cast<int>(b), q).position;
        if (anchors[b].size() < 2) anchors[b].push_back(middle);
        Outline rod{Kind::line, {}, 0, colour_[b]};
        for (const Vec3& x : anchors[b]) rod.points.push_back(axes(x));
        list.push_back(std::move(rod));
        list.push_back({Kind::dot, {axes(middle)}, 0, colour_[b]});
    }
}

}  // namespace stickslip
