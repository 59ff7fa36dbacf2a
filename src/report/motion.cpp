// The strip of side views. The scene is built again from the text in the record; its shapes are placed by the recorded
// coordinates (scene_painter.hpp). Bodies without shapes are drawn as the lines between their joints, and bodies of mechanisms, whose looks
// nobody has described, as points with the path they took; points that keep their distance are joined by a line.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plot/text.hpp"
#include "report/scene_painter.hpp"
#include "report/sections.hpp"
#include "stickslip/load.hpp"

namespace stickslip {

namespace {

using plot::Outline;
using Kind = Outline::Kind;

constexpr std::size_t max_views = 8;

// The overrides stand as comments behind the text: load_model puts them there.
Model model_of(const RecordContents& record) {
    std::string text = mechanics_of(record.source);
    if (text.starts_with("mechanism:")) return {};
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
        Model model = build_model(read_scene_text(text, record.model, overrides));
        if (model.system->nq() == record.q.rows()) return model;
    } catch (const Error&) {
        // A scene of another version, or one that needs files: points are drawn instead.
    }
    return {};
}

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

// Gravity says what is a side; without it only the axis can be named along which we look.
std::string title_of(const ViewAxes& axes, const Vec3& gravity) {
    const int towards = 3 - axes.right - axes.up;
    if (gravity.norm() == 0) return fmt::format("Views along {}", "xyz"[towards]);
    int vertical = 2;
    gravity.cwiseAbs().maxCoeff(&vertical);
    return vertical == towards ? "Views from above" : "Side views";
}

// Rows so that half of the pictures follow the time and half the way that was gone: rest is shown, but not eight times.
std::vector<Eigen::Index> choose_moments(const RecordContents& record, const Track& track, bool moves) {
    const std::size_t n = track.rows.size();
    if (n <= 2 || (moves && n <= max_views)) return track.rows;
    if (!moves) return {track.rows.front(), track.rows.back()};
    std::vector<double> way(n, 0.0);
    for (std::size_t k = 1; k < n; ++k) {
        const double d = (track.points[k] - track.points[k - 1]).norm();
        way[k] = way[k - 1] + (std::isfinite(d) ? d : 0);
    }
    const double t0 = record.t[track.rows.front()];
    const double span = record.t[track.rows.back()] - t0;
    std::vector<Eigen::Index> moments;
    for (std::size_t i = 0, k = 0; i < max_views; ++i) {
        const double wanted = static_cast<double>(i) / (max_views - 1);
        const auto measure = [&](std::size_t j) {
            const double t = span > 0 ? (record.t[track.rows[j]] - t0) / span : 0;
            return way.back() > 0 ? 0.5 * t + 0.5 * way[j] / way.back() : t;
        };
        while (k + 1 < n && measure(k) < wanted - 1e-9) ++k;
        if (moments.empty() || moments.back() != track.rows[k]) moments.push_back(track.rows[k]);
    }
    return moments;
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
    bool joined() const { return !rods_.empty(); }

    std::vector<Outline> paint(Eigen::Index row, const ViewAxes& axes) const {
        const auto at = std::lower_bound(track_.rows.begin(), track_.rows.end(), row) - track_.rows.begin();
        const MatX& now = track_.points[at];
        std::vector<Outline> list;
        for (Eigen::Index p = 0; p < std::min<Eigen::Index>(now.cols(), plot::colours); ++p) {
            Outline path{Kind::line, {}, 0, -1};
            for (std::ptrdiff_t k = 0; k <= at; ++k) path.points.push_back(axes(track_.points[k].col(p)));
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
    const Model model = model_of(record);
    const auto views = [&](const std::vector<Eigen::Index>& moments, auto&& paint) {
        for (const Eigen::Index k : moments) {
            strip.views.push_back({fmt::format("t = {} s", plot::number(record.t[k], 4)), paint(k)});
            for (const Outline& o : strip.views.back().outlines) window.add(o);
        }
    };
    ViewAxes axes;
    Vec3 gravity = Vec3::Zero();
    if (const auto* multibody = dynamic_cast<const MultibodySystem*>(model.system.get())) {
        const ScenePainter painter(*multibody, model, record);
        const Track track = painter.track();
        const Vec3 motion = track.extent(painter.largest_body());
        gravity = multibody->model().gravity;
        axes = choose_axes(motion, gravity, &multibody->model());
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
        note = painter.joined()
                   ? "Bodies are drawn as points with the path they came; points that keep their distance are "
                     "joined. "
                   : "Bodies are drawn as points with the path they came. ";
    }
    window.finish();
    strip.title = title_of(axes, gravity);
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
