// The strip of side views. The scene is built again from the text in the record; its shapes are placed by the recorded
// coordinates. Bodies without shapes are drawn as the lines between their joints, and bodies of mechanisms, whose looks
// nobody has described, as points with the path they took; points that keep their distance are joined by a line.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/multibody.hpp"
#include "plot/text.hpp"
#include "report/outlines.hpp"
#include "report/sections.hpp"
#include "stickslip/load.hpp"

namespace stickslip {

namespace {

using plot::Outline;
using Kind = Outline::Kind;

constexpr std::size_t most_views = 8;
constexpr std::size_t most_sampled = 400;  // rows looked at to find path, window and moments
constexpr double visible = 1e-3;           // share of the size of the whole below which motion is not seen
constexpr std::size_t most_shapes = 500;   // drawn; beyond, the page would grow past what a browser likes

// The overrides stand as comments behind the text: load_model puts them there.
std::unique_ptr<System> system_of(const RecordContents& record) {
    std::string text = mechanics_of(record.source);
    if (text.starts_with("mechanism:")) return nullptr;
    OptionValues overrides;
    const std::string mark = "\n# --set ";
    for (auto at = text.rfind(mark); at != std::string::npos && text.find('\n', at + 1) == std::string::npos;
         at = text.rfind(mark)) {
        const std::string line = text.substr(at + mark.size());
        const auto equals = line.find('=');
        if (equals == std::string::npos) break;
        overrides.insert(overrides.begin(), {line.substr(0, equals), line.substr(equals + 1), {}});
        text.resize(at);
    }
    try {
        std::unique_ptr<System> system = build_model(read_scene_text(text, record.model, overrides)).system;
        if (system->nq() == record.q.rows()) return system;
    } catch (const Error&) {
        // A scene of another version, or one that needs files: points are drawn instead.
    }
    return nullptr;
}

// Positions of what moves, one matrix of 3 x points per sampled row.
struct Track {
    std::vector<Eigen::Index> rows;
    std::vector<MatX> points;

    // [m] Largest way of a single point along each axis; what is not visible at the size of the whole counts as none.
    Vec3 extent(double size) const {
        Vec3 most = Vec3::Zero();
        if (points.empty()) return most;
        for (Eigen::Index p = 0; p < points[0].cols(); ++p) {
            Vec3 low = points[0].col(p), high = low;
            for (const MatX& m : points) low = low.cwiseMin(m.col(p)), high = high.cwiseMax(m.col(p));
            most = most.cwiseMax(high - low);
        }
        for (double& x : most)
            if (!(x > visible * std::max(size, spread()))) x = 0;
        return most;
    }
    double spread() const {  // [m] of the points at the start
        if (points.empty() || points[0].cols() == 0) return 0;
        return (points[0].rowwise().maxCoeff() - points[0].rowwise().minCoeff()).norm();
    }
};

ViewAxes choose_axes(const Vec3& motion, const Vec3& gravity, const MultibodyModel* model) {
    if (model && model->plane) return {(*model->plane)[0], (*model->plane)[1]};
    ViewAxes axes;
    if (gravity.norm() > 0) {
        gravity.cwiseAbs().maxCoeff(&axes.up);
        const int a = (axes.up + 1) % 3, b = (axes.up + 2) % 3;
        const int first = std::min(a, b), second = std::max(a, b);
        axes.right = motion[second] > motion[first] * (1 + 1e-9) ? second : first;
        const double most = motion[axes.right], other = motion[first + second - axes.right];
        // From above only where there is hardly anything to see from the side.
        if (other > 0.2 * most && other > 2 * motion[axes.up]) return {first, second};
        return axes;
    }
    // No gravity to say what is up: the axis with least motion points towards us.
    int towards = 2;
    for (const int i : {1, 0})
        if (motion[i] < motion[towards]) towards = i;
    if (motion.maxCoeff() == 0) towards = 1;
    axes.right = towards == 0 ? 1 : 0;
    axes.up = 3 - towards - axes.right;
    return axes;
}

// Rows so that half of the pictures follow the time and half the way that was gone: rest is shown, but not eight times.
std::vector<Eigen::Index> choose_moments(const RecordContents& record, const Track& track, bool moves) {
    const std::size_t n = track.rows.size();
    if (n <= 2 || (moves && n <= most_views)) return track.rows;
    if (!moves) return {track.rows.front(), track.rows.back()};
    std::vector<double> way(n, 0.0);
    for (std::size_t k = 1; k < n; ++k) {
        const double d = (track.points[k] - track.points[k - 1]).norm();
        way[k] = way[k - 1] + (std::isfinite(d) ? d : 0);
    }
    const double t0 = record.t[static_cast<std::size_t>(track.rows.front())];
    const double span = record.t[static_cast<std::size_t>(track.rows.back())] - t0;
    std::vector<Eigen::Index> moments;
    for (std::size_t i = 0, k = 0; i < most_views; ++i) {
        const double wanted = static_cast<double>(i) / (most_views - 1);
        const auto measure = [&](std::size_t j) {
            const double t = span > 0 ? (record.t[static_cast<std::size_t>(track.rows[j])] - t0) / span : 0;
            return way.back() > 0 ? 0.5 * t + 0.5 * way[j] / way.back() : t;
        };
        while (k + 1 < n && measure(k) < wanted - 1e-9) ++k;
        if (moments.empty() || moments.back() != track.rows[k]) moments.push_back(track.rows[k]);
    }
    return moments;
}

std::vector<Eigen::Index> sampled_rows(Eigen::Index n) {
    const Eigen::Index stride =
        std::max<Eigen::Index>(1, (n + most_sampled - 1) / static_cast<Eigen::Index>(most_sampled));
    std::vector<Eigen::Index> rows;
    for (Eigen::Index k = 0; k < n; k += stride) rows.push_back(k);
    if (!rows.empty() && rows.back() != n - 1) rows.push_back(n - 1);
    return rows;
}

struct Window {
    plot::Point low{infinity, infinity}, high{-infinity, -infinity};
    void add(const plot::Point& p, double r = 0) {
        if (!std::isfinite(p.x) || !std::isfinite(p.y)) return;
        low = {std::min(low.x, p.x - r), std::min(low.y, p.y - r)};
        high = {std::max(high.x, p.x + r), std::max(high.y, p.y + r)};
    }
    void add(const Outline& o) {
        for (const plot::Point& p : o.points) add(p, o.radius);
    }
    double size() const { return std::max(high.x - low.x, high.y - low.y); }
    // Air around, and neither side much shorter than the other.
    void finish() {
        if (!(size() >= 0)) return;
        const double most = size() > 0 ? size() : 1, margin = 0.06 * most;
        const double more_x = std::max(0.0, 0.15 * most - (high.x - low.x)) / 2 + margin;
        const double more_y = std::max(0.0, 0.15 * most - (high.y - low.y)) / 2 + margin;
        low = {low.x - more_x, low.y - more_y};
        high = {high.x + more_x, high.y + more_y};
    }
};

// --- scenes ---

class ScenePainter {
public:
    ScenePainter(const MultibodySystem& system, const RecordContents& record)
        : s_(system), m_(system.model()), r_(record) {
        int colour = 0;
        for (const RigidBody& body : m_.bodies) colour_.push_back(body.fixed ? -1 : colour++ % plot::colours);
        shaped_.assign(m_.bodies.size(), false);
        for (const Collider& c : m_.collision.colliders)
            if (c.body >= 0) shaped_[static_cast<std::size_t>(c.body)] = true;
    }

    Track track() const {
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

    std::vector<Outline> paint(Eigen::Index row, const ViewAxes& axes, bool moving) const {
        const VecX q = r_.q.col(row);
        std::vector<Outline> list;
        std::size_t count = 0;
        for (const Collider& c : m_.collision.colliders) {
            const bool moves = c.body >= 0 && !m_.bodies[static_cast<std::size_t>(c.body)].fixed;
            if (moves != moving || ++count > most_shapes) continue;
            const int colour = moves ? colour_[static_cast<std::size_t>(c.body)] : -1;
            for (Outline& o : outlines_of(c.shape, s_.pose(c.body, q), axes, colour)) list.push_back(std::move(o));
        }
        if (moving) add_rods(q, axes, list);
        return list;
    }

    std::vector<plot::Ground> grounds(const ViewAxes& axes) const {
        std::vector<plot::Ground> list;
        const VecX q = r_.q.col(0);
        for (const Collider& c : m_.collision.colliders) {
            plot::Ground ground;
            const bool fixed = c.body < 0 || m_.bodies[static_cast<std::size_t>(c.body)].fixed;
            if (fixed && ground_of(c.shape, s_.pose(c.body, q), axes, ground)) list.push_back(ground);
        }
        return list;
    }

    double largest_body() const {  // [m]
        double most = 0;
        for (const RigidBody& body : m_.bodies) most = std::max(most, body.fixed ? 0 : body.radius);
        return most;
    }

    // Does a body turn on the spot, visibly?
    bool turns() const {
        const VecX first = r_.q.col(0);
        for (std::size_t b = 0; b < m_.bodies.size(); ++b)
            for (const Eigen::Index k : sampled_rows(r_.q.cols())) {
                const Quat a = s_.pose(static_cast<int>(b), first).attitude;
                if (a.angularDistance(s_.pose(static_cast<int>(b), r_.q.col(k)).attitude) > 0.01) return true;
            }
        return false;
    }

    std::size_t left_out() const {
        return m_.collision.colliders.size() > most_shapes ? m_.collision.colliders.size() - most_shapes : 0;
    }

private:
    // Lines between the joints of bodies without shapes; springs and distance joints.
    void add_rods(const VecX& q, const ViewAxes& axes, std::vector<Outline>& list) const {
        std::vector<std::vector<Vec3>> anchors(m_.bodies.size());
        const auto anchor = [&](int body, const Vec3& point) {
            const Vec3 world = s_.pose(body, q) * point;
            if (body >= 0) anchors[static_cast<std::size_t>(body)].push_back(world);
            return world;
        };
        for (const Joint& joint : m_.joints) {
            const Vec3 a = anchor(joint.a, joint.point_a), b = anchor(joint.b, joint.point_b);
            if (joint.kind == JointKind::distance) list.push_back({Kind::line, {axes(a), axes(b)}, 0, -1});
        }
        for (const Spring& spring : m_.springs) {
            const Vec3 a = anchor(spring.a, spring.point_a), b = anchor(spring.b, spring.point_b);
            list.push_back({Kind::line, {axes(a), axes(b)}, 0, -1});
        }
        for (std::size_t b = 0; b < m_.bodies.size(); ++b) {
            if (shaped_[b] || m_.bodies[b].fixed) continue;
            const Vec3 middle = s_.pose(static_cast<int>(b), q).position;
            if (anchors[b].size() < 2) anchors[b].push_back(middle);
            Outline rod{Kind::line, {}, 0, colour_[b]};
            for (const Vec3& x : anchors[b]) rod.points.push_back(axes(x));
            list.push_back(std::move(rod));
            list.push_back({Kind::dot, {axes(middle)}, 0, colour_[b]});
        }
    }

    const MultibodySystem& s_;
    const MultibodyModel& m_;
    const RecordContents& r_;
    std::vector<int> colour_;
    std::vector<char> shaped_;
};

// --- points ---

class PointPainter {
public:
    explicit PointPainter(const RecordContents& record) {
        const Eigen::Index n = record.q.cols();
        track_.rows = sampled_rows(n);
        const Eigen::Index bodies = record.body_pose.rows() / 7;
        // A mechanism without bodies may still have coordinates that say where it is.
        Eigen::Index axis[3] = {-1, -1, -1};
        bool any = false;
        for (std::size_t i = 0; i < record.coordinate_names.size(); ++i)
            for (int a = 0; a < 3; ++a)
                if (record.coordinate_names[i] == std::string(1, "xyz"[a])) {
                    axis[a] = static_cast<Eigen::Index>(i);
                    any = true;
                }
        for (const Eigen::Index k : track_.rows) {
            MatX points = MatX::Zero(3, bodies > 0 ? bodies : any ? 1 : 0);
            for (Eigen::Index b = 0; b < bodies; ++b) points.col(b) = record.body_pose.block<3, 1>(7 * b, k);
            for (int a = 0; a < 3; ++a)
                if (bodies == 0 && axis[a] >= 0 && axis[a] < record.q.rows()) points(a, 0) = record.q(axis[a], k);
            track_.points.push_back(std::move(points));
        }
        find_rods();
    }

    const Track& track() const { return track_; }

    std::vector<Outline> paint(Eigen::Index row, const ViewAxes& axes) const {
        const auto at = std::lower_bound(track_.rows.begin(), track_.rows.end(), row) - track_.rows.begin();
        const MatX& now = track_.points[static_cast<std::size_t>(at)];
        std::vector<Outline> list;
        for (Eigen::Index p = 0; p < std::min<Eigen::Index>(now.cols(), plot::colours); ++p) {
            Outline path{Kind::line, {}, 0, -1};
            for (std::ptrdiff_t k = 0; k <= at; ++k)
                path.points.push_back(axes(track_.points[static_cast<std::size_t>(k)].col(p)));
            list.push_back(std::move(path));
        }
        for (const auto& [a, b] : rods_) {
            const Vec3 from = a < 0 ? Vec3(Vec3::Zero()) : Vec3(now.col(a));
            list.push_back({Kind::line, {axes(from), axes(now.col(b))}, 0, static_cast<int>(b)});
        }
        for (Eigen::Index p = 0; p < now.cols(); ++p)
            list.push_back({Kind::dot, {axes(now.col(p))}, 0, static_cast<int>(p)});
        return list;
    }

private:
    // Pairs of points, or a point and the origin (-1), whose distance stays within 2 % while they move.
    void find_rods() {
        const Eigen::Index n = track_.points.empty() ? 0 : track_.points[0].cols();
        const double moved = track_.extent(0).norm();
        if (n > 12 || !(moved > 0)) return;
        for (Eigen::Index a = -1; a < n; ++a)
            for (Eigen::Index b = a + 1; b < n; ++b) {
                double low = infinity, high = 0;
                Vec3 turned = Vec3::Zero(), first = Vec3::Zero();
                for (std::size_t k = 0; k < track_.points.size(); ++k) {
                    const MatX& m = track_.points[k];
                    const Vec3 d = a < 0 ? Vec3(m.col(b)) : Vec3(m.col(b) - m.col(a));
                    if (k == 0) first = d;
                    low = std::min(low, d.norm());
                    high = std::max(high, d.norm());
                    turned = turned.cwiseMax((d - first).cwiseAbs());
                }
                if (high > 0 && high - low < 0.02 * high && turned.norm() > 0.1 * high) rods_.emplace_back(a, b);
            }
    }

    Track track_;
    std::vector<std::pair<Eigen::Index, Eigen::Index>> rods_;
};

}  // namespace

void add_motion(const RecordContents& record, plot::Page& page) {
    page.heading(2, "Motion");
    if (record.t.empty() || record.q.cols() == 0) {
        page.paragraph("Nothing was recorded.", "note");
        return;
    }
    static constexpr const char* axis_names[] = {"x", "y", "z"};
    plot::ViewStrip strip;
    Window window;
    std::string note;
    const std::unique_ptr<System> system = system_of(record);
    const auto views = [&](const std::vector<Eigen::Index>& moments, auto&& paint) {
        for (const Eigen::Index k : moments) {
            strip.views.push_back(
                {fmt::format("t = {} s", plot::number(record.t[static_cast<std::size_t>(k)], 4)), paint(k)});
            for (const Outline& o : strip.views.back().outlines) window.add(o);
        }
    };
    ViewAxes axes;
    if (const auto* multibody = dynamic_cast<const MultibodySystem*>(system.get())) {
        const ScenePainter painter(*multibody, record);
        const Track track = painter.track();
        const Vec3 motion = track.extent(painter.largest_body());
        axes = choose_axes(motion, multibody->model().gravity, &multibody->model());
        views(choose_moments(record, track, motion.norm() > 0 || painter.turns()),
              [&](Eigen::Index k) { return painter.paint(k, axes, true); });
        // What stands still belongs into the picture unless it dwarfs what moves.
        const std::vector<Outline> still = painter.paint(0, axes, false);
        for (const Outline& o : still) {
            Window alone;
            alone.add(o);
            if (alone.size() < 2 * window.size()) window.add(o);
        }
        for (auto& view : strip.views) view.outlines.insert(view.outlines.begin(), still.begin(), still.end());
        strip.grounds = painter.grounds(axes);
        if (painter.left_out() > 0) note = fmt::format("{} of the shapes are not drawn. ", painter.left_out());
    } else {
        const PointPainter painter(record);
        if (painter.track().points.empty() || painter.track().points[0].cols() == 0) {
            page.paragraph("The model does not say where its bodies are, so there is no view of it.", "note");
            return;
        }
        const Vec3 motion = painter.track().extent(0);
        axes = choose_axes(motion, Vec3::Zero(), nullptr);
        views(choose_moments(record, painter.track(), motion.norm() > 0),
              [&](Eigen::Index k) { return painter.paint(k, axes); });
        window.add(plot::Point{0, 0});
        note = "Bodies are drawn as points with the path they came; points that keep their distance are joined. ";
    }
    window.finish();
    strip.title = "Side views";
    strip.x_label = axis_names[axes.right];
    strip.y_label = axis_names[axes.up];
    strip.low = window.low;
    strip.high = window.high;
    page.figure(
        plot::draw(strip),
        note + (strip.views.size() > 2 ? "All views have one scale; moments are closer together where more happens."
                                       : "Nothing else was recorded, or nothing moves far enough to be seen."));
}

}  // namespace stickslip
