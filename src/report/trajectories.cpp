// Which motions are drawn: those asked for, or the coordinates that move most, at most eight lines in a picture. Positions
// and velocities stand side by side; angles have pictures of their own.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "plot/line_plot.hpp"
#include "plot/text.hpp"
#include "report/sections.hpp"

namespace stickslip {

namespace {

constexpr std::size_t max_lines = plot::colours;
// [m] Where nothing moves farther than this, ways from the start say more than positions.
constexpr double standstill = 1e-6;

// [rad, m] Motion below this is nobody's choice; such pictures are drawn when they are asked for.
constexpr double motion_rounding = 1e-9;
// [rad, m] Below this even the first picture would show only the noise of the last digits.
constexpr double noise = 1e-14;

struct Channel {
    std::string name, unit;
    std::vector<double> value;
    std::vector<double> rate;           // at the recorded times; may be empty
    std::vector<double> rate_weighted;  // at t_weighted; empty where that is not recorded
    double range() const {
        double low = infinity, high = -infinity;
        for (const double x : value)
            if (std::isfinite(x)) low = std::min(low, x), high = std::max(high, x);
        return high >= low ? high - low : 0;
    }
};

// Scene bodies name their coordinates; those of mechanisms follow the literature, whose letters mostly tell.
std::string unit_of(const std::string& coordinate) {
    const std::string last =
        coordinate.substr(coordinate.rfind('.') == std::string::npos ? 0 : coordinate.rfind('.') + 1);
    std::string word = last;
    while (!word.empty() && (std::isdigit(static_cast<unsigned char>(word.back())) || word.back() == '_'))
        word.pop_back();
    for (const char* length : {"x", "y", "z", "s", "r"})
        if (word == length) return "m";
    for (const char* angle : {"angle", "theta", "phi", "psi", "alpha", "beta", "gamma"})
        if (word == angle) return "rad";
    for (const char* part : {"qw", "qx", "qy", "qz"})
        if (last == part) return "1";
    return "m or rad";
}

std::string rate_unit(const std::string& unit) {
    if (unit == "m or rad") return "m/s or rad/s";
    return unit + "/s";
}

class Channels {
public:
    explicit Channels(const RecordContents& record) : r_(record) {}

    std::vector<std::string> names() const {
        std::vector<std::string> all = r_.coordinate_names;
        for (const std::string& body : r_.body_names)
            if (std::find(all.begin(), all.end(), body) == all.end()) all.push_back(body);
        return all;
    }

    Channel coordinate(Eigen::Index i) const {
        Channel c;
        c.name = r_.coordinate_names[i];
        c.unit = unit_of(c.name);
        c.value = row_of(r_.q, i);
        if (const Eigen::Index j = rate_of(i); j >= 0 && j < r_.v.rows()) {
            c.rate = row_of(r_.v, j);
            if (r_.t_weighted.size() == r_.t.size()) c.rate_weighted = row_of(r_.v_weighted, j);
        }
        return c;
    }

    // The row of v that is the rate of coordinate i; -1 if none is. In space a body's attitude takes four places in q for
    // three in v, and x, y, z move with its centre of mass; counted joint angles stand behind all bodies.
    Eigen::Index rate_of(Eigen::Index i) const {
        if (r_.q.rows() == r_.v.rows()) return i;
        const auto& names = r_.coordinate_names;
        const std::string& name = names[i];
        const auto dot = name.rfind('.');
        if (dot == std::string::npos) return -1;
        const std::string part = name.substr(dot + 1);
        if (part != "x" && part != "y" && part != "z" && part != "angle") return -1;
        if (std::find(r_.body_names.begin(), r_.body_names.end(), name.substr(0, dot)) == r_.body_names.end())
            return -1;
        return i - std::count_if(names.begin(), names.begin() + i,
                                 [](const std::string& before) { return before.ends_with(".qw"); });
    }

    // Angle by which a body is turned from where it started, 0 .. pi.
    Channel turn(std::size_t body) const {
        Channel c;
        c.name = r_.body_names[body] + " turned";
        c.unit = "rad";
        const auto at = 7 * static_cast<Eigen::Index>(body) + 3;
        if (at + 4 > r_.body_pose.rows()) return c;
        const auto attitude = [&](Eigen::Index k) {
            return Quat(r_.body_pose(at, k), r_.body_pose(at + 1, k), r_.body_pose(at + 2, k), r_.body_pose(at + 3, k));
        };
        for (Eigen::Index k = 0; k < r_.body_pose.cols(); ++k) {
            const Quat d = attitude(0).conjugate() * attitude(k);
            c.value.push_back(2 * std::atan2(d.vec().norm(), std::abs(d.w())));
        }
        return c;
    }

    bool in_space(std::size_t body) const { return index(r_.body_names[body] + ".qw") >= 0; }

    Eigen::Index index(const std::string& name) const {
        const auto found = std::find(r_.coordinate_names.begin(), r_.coordinate_names.end(), name);
        const Eigen::Index i = found - r_.coordinate_names.begin();
        return found == r_.coordinate_names.end() || i >= r_.q.rows() ? -1 : i;
    }

    // Everything worth a line of one body.
    void add_body(std::size_t body, std::vector<Channel>& list) const {
        const std::string& name = r_.body_names[body];
        const std::size_t before = list.size();
        for (const char* part : {".x", ".y", ".z", ".angle"})
            if (const Eigen::Index i = index(name + part); i >= 0) list.push_back(coordinate(i));
        if (list.size() == before) {  // fixed, or of a mechanism: the recorded pose
            for (Eigen::Index axis = 0; axis < 3; ++axis)
                list.push_back({name + "." + "xyz"[axis],
                                "m",
                                row_of(r_.body_pose, 7 * static_cast<Eigen::Index>(body) + axis),
                                row_of(r_.body_velocity, 6 * static_cast<Eigen::Index>(body) + axis),
                                {}});
        }
        if (in_space(body)) list.push_back(turn(body));
    }

    std::vector<Channel> chosen(const std::vector<std::string>& wanted) const {
        std::vector<Channel> list;
        for (const std::string& name : wanted) {
            const auto body = std::find(r_.body_names.begin(), r_.body_names.end(), name);
            if (const Eigen::Index i = index(name); i >= 0)
                list.push_back(coordinate(i));
            else if (body != r_.body_names.end())
                add_body(static_cast<std::size_t>(body - r_.body_names.begin()), list);
            else
                throw Error(std::string("the run has ") + unknown_name("coordinate or body", name, names()).what(),
                            Place{"--plot", 0, 0});
        }
        return list;
    }

    std::vector<Channel> all() const {
        std::vector<Channel> list;
        for (Eigen::Index i = 0; i < std::min<Eigen::Index>(r_.q.rows(), std::ssize(r_.coordinate_names)); ++i)
            if (unit_of(r_.coordinate_names[i]) != "1") list.push_back(coordinate(i));
        for (std::size_t b = 0; b < r_.body_names.size(); ++b)
            if (in_space(b)) list.push_back(turn(b));
        return list;
    }

private:
    const RecordContents& r_;
};

// Keeps the `max_lines` with the largest range, in their order; those that stand still beside the others go as well.
std::size_t keep_movers(std::vector<Channel>& group) {
    std::vector<double> ranges;
    for (const Channel& c : group) ranges.push_back(c.range());
    std::vector<std::size_t> order(group.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return ranges[a] > ranges[b]; });
    const double least = order.empty() ? 0 : 1e-6 * ranges[order[0]];
    std::size_t count = std::min(max_lines, order.size());
    while (count > 1 && ranges[order[count - 1]] < least) --count;
    const std::size_t left_out = group.size() - count;
    order.resize(count);
    std::sort(order.begin(), order.end());
    std::vector<Channel> kept;
    for (const std::size_t i : order) kept.push_back(std::move(group[i]));
    group = std::move(kept);
    return left_out;
}

// What the velocities of one picture show. v_weighted at t_weighted converges; v may swing about it from step to step, and is
// drawn behind it where that is seen: farther than `visible` pixels from the line of v_weighted.
class Rates {
public:
    Rates(const RecordContents& record, const std::vector<Channel>& group) : r_(record) {
        for (const Channel& c : group)
            for (const auto* y : {&c.rate, &c.rate_weighted})
                for (const double x : *y)
                    if (std::isfinite(x)) low_ = std::min(low_, x), high_ = std::max(high_, x);
    }

    bool seen(const Channel& c) const {
        const double range = high_ - low_, span = r_.t.empty() ? 0 : r_.t.back() - r_.t.front();
        if (c.rate_weighted.empty() || !(range > motion_rounding) || !(span > 0)) return false;
        const auto place = [&](double t, double y) { return Vec2(width * t / span, height * y / range); };
        const std::size_t n = std::min({c.rate.size(), c.rate_weighted.size(), r_.t.size()});
        for (std::size_t k = 0; k < n; ++k) {
            // The line near this row: two pieces before and after it.
            const Vec2 p = place(r_.t[k], c.rate[k]);
            double nearest = infinity;
            for (std::size_t i = k > 1 ? k - 2 : 0; i < std::min(n, k + 3); ++i) {
                const Vec2 a = place(r_.t_weighted[i], c.rate_weighted[i]);
                const std::size_t next = std::min(i + 1, n - 1);
                const Vec2 d = place(r_.t_weighted[next], c.rate_weighted[next]) - a;
                const double along = d.squaredNorm() > 0 ? std::clamp((p - a).dot(d) / d.squaredNorm(), 0.0, 1.0) : 0;
                nearest = std::min(nearest, (a + along * d - p).norm());
            }
            if (std::isfinite(nearest) && nearest > visible) return true;
        }
        return false;
    }

    static bool differ(const RecordContents& record, const Channel& c) {
        return !c.rate_weighted.empty() && (c.rate_weighted != c.rate || record.t_weighted != record.t);
    }

private:
    static constexpr double width = 480, height = 220, visible = 1.5;  // [px] of the frame of a picture
    const RecordContents& r_;
    double low_ = infinity, high_ = -infinity;
};

void add_pictures(const RecordContents& record, std::vector<Channel> group, plot::Page& page) {
    const std::string unit = group.front().unit;
    double farthest = 0;
    for (const Channel& c : group) farthest = std::max(farthest, c.range());
    plot::LinePlot values;
    values.x_label = "t";
    values.x_unit = "s";
    values.x = record.t;
    values.y_unit = unit;
    plot::LinePlot rates = values;
    rates.y_unit = rate_unit(unit);
    const bool ways = farthest < standstill && unit != "1" && record.t.size() > 1;
    values.title = unit == "rad" ? (ways ? "Angles from the start" : "Angles")
                   : ways        ? "Ways from the start"
                   : unit == "1" ? "Attitude"
                                 : "Positions";
    values.y_label = unit == "rad" ? "angle" : ways ? "way" : unit == "1" ? "part of the quaternion" : "position";
    rates.title = unit == "rad" ? "Angular velocities" : "Velocities";
    rates.y_label = unit == "rad" ? "angular velocity" : "velocity";
    const Rates shown(record, group);
    std::vector<double> t_weighted = record.t_weighted;
    if (!t_weighted.empty() && !record.t.empty())
        t_weighted.push_back(record.t.back());  // the same stretch of time as beside
    std::vector<plot::Series> swinging;
    bool weighted = false;
    for (Channel& c : group) {
        if (ways && !c.value.empty()) {
            const double start = c.value.front();
            for (double& x : c.value) x -= start;
        }
        // The same line has the same colour on both sides.
        const std::string classes = plot::series_class(static_cast<int>(values.series.size()));
        weighted = weighted || Rates::differ(record, c);
        if (shown.seen(c)) swinging.push_back({c.name + ": v", c.rate, {}, false, true, classes + " behind"});
        if (!c.rate_weighted.empty()) {
            c.rate_weighted.push_back(std::numeric_limits<double>::quiet_NaN());
            rates.series.push_back({c.name, std::move(c.rate_weighted), t_weighted, false, true, classes});
        } else if (!c.rate.empty()) {
            rates.series.push_back({c.name, std::move(c.rate), {}, false, true, classes});
        }
        values.series.push_back({c.name, std::move(c.value), {}, false, true, classes});
    }
    const bool turned = std::any_of(values.series.begin(), values.series.end(),
                                    [](const plot::Series& s) { return s.name.ends_with(" turned"); });
    page.figure(plot::draw(values),
                turned ? "\"turned\": the angle between the attitude now and at the start, 0 to \xcf\x80." : "");
    if (rates.series.empty()) return;
    rates.series.insert(rates.series.begin(), swinging.begin(), swinging.end());
    std::string note;
    if (weighted)
        note =
            "v_weighted at t_weighted, between the ends of each step: the velocity that converges as steps get "
            "shorter.";
    if (!swinging.empty())
        note +=
            " Pale: v at the ends of the steps, where joints and contacts do not hold it and it may swing from step to "
            "step.";
    page.figure(plot::draw(rates), note);
}

}  // namespace

void add_trajectories(const RecordContents& record, const std::vector<std::string>& wanted, plot::Page& page) {
    page.heading(2, "Trajectories");
    const Channels channels(record);
    std::vector<Channel> list = wanted.empty() ? channels.all() : channels.chosen(wanted);
    // By unit, in the order of first appearance.
    std::vector<std::vector<Channel>> groups;
    for (Channel& c : list) {
        const auto same =
            std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return group.front().unit == c.unit; });
        if (same != groups.end())
            same->push_back(std::move(c));
        else
            groups.emplace_back().push_back(std::move(c));
    }
    std::size_t left_out = 0;
    bool nothing_moves = false;
    page.begin_row();
    for (std::vector<Channel>& group : groups) {
        if (wanted.empty()) left_out += keep_movers(group);
        double most = 0;
        for (const Channel& c : group) most = std::max(most, c.range());
        if (wanted.empty() && most < (&group == &groups.front() ? noise : motion_rounding)) {
            nothing_moves = nothing_moves || &group == &groups.front();
            left_out += group.size();
            continue;
        }
        for (std::size_t first = 0; first < group.size(); first += max_lines) {
            const std::size_t end = std::min(group.size(), first + max_lines);
            add_pictures(
                record,
                {group.begin() + static_cast<std::ptrdiff_t>(first), group.begin() + static_cast<std::ptrdiff_t>(end)},
                page);
        }
    }
    page.end_row();
    if (nothing_moves && left_out == list.size())
        page.paragraph("Nothing moves by more than rounding; --plot NAME,NAME draws the coordinates you name.", "note");
    else if (left_out > 0)
        page.paragraph(fmt::format("{} {} less {} not drawn; --plot NAME,NAME draws the ones you name.",
                                   plot::counted(static_cast<long long>(left_out), "coordinate"),
                                   left_out == 1 ? "that moves" : "that move", left_out == 1 ? "is" : "are"),
                       "note");
}

}  // namespace stickslip
