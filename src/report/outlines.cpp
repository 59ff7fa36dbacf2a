#include "report/outlines.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stickslip {

namespace {

constexpr int directions = 64;
// A plane turned farther towards us than this is seen as a surface, and no line stands for it.
constexpr double side_on = 0.2;

double cross(const plot::Point& o, const plot::Point& a, const plot::Point& b) {
    return (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x);
}

// Support values h(d) = max d.x for directions d in the picture, from the bounds of the turned shape; neighbouring
// tangents meet in the corners of the polygon.
std::vector<plot::Point> tangent_polygon(const Shape& shape, const Pose& body, const ViewAxes& axes) {
    const Vec3 right = Vec3::Unit(axes.right), up = Vec3::Unit(axes.up), towards = right.cross(up);
    std::vector<double> support;
    for (int i = 0; i < directions; ++i) {
        const double angle = 2 * std::numbers::pi * i / directions;
        const Quat back(Eigen::AngleAxisd(-angle, towards));  // turns the direction onto `right`
        support.push_back(world_bounds(shape, {back * body.position, back * body.attitude}).upper[axes.right]);
    }
    std::vector<plot::Point> corners;
    const double step = 2 * std::numbers::pi / directions;
    for (int i = 0; i < directions; ++i) {
        const double a = step * i, h0 = support[i];
        const double along = (support[(i + 1) % directions] - h0 * std::cos(step)) / std::sin(step);
        corners.push_back({h0 * std::cos(a) - along * std::sin(a), h0 * std::sin(a) + along * std::cos(a)});
    }
    return corners;
}

}  // namespace

std::vector<plot::Point> hull(std::vector<plot::Point> points) {
    std::sort(points.begin(), points.end(),
              [](const plot::Point& a, const plot::Point& b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
    if (points.size() < 3) return points;
    // Lower chain, then upper chain.
    std::vector<plot::Point> h;
    for (int side = 0; side < 2; ++side) {
        const std::size_t start = h.size();
        for (const plot::Point& p : points) {
            while (h.size() >= start + 2 && cross(h[h.size() - 2], h.back(), p) <= 0) h.pop_back();
            h.push_back(p);
        }
        h.pop_back();
        std::reverse(points.begin(), points.end());
    }
    return h;
}

std::vector<plot::Outline> outlines_of(const Shape& shape, const Pose& body, const ViewAxes& axes, int colour) {
    using Kind = plot::Outline::Kind;
    if (std::holds_alternative<HalfSpace>(*shape.geometry)) return {};
    const Pose at = placed(body, shape.pose_B);
    if (const Sphere* ball = std::get_if<Sphere>(&*shape.geometry)) {
        // With a spoke, so that it can be seen to roll.
        const Vec3 rim = at * (ball->radius * Vec3::Unit(axes.right));
        return {{Kind::circle, {axes(at.position)}, ball->radius, colour},
                {Kind::line, {axes(at.position), axes(rim)}, 0, colour}};
    }
    if (const Box* box = std::get_if<Box>(&*shape.geometry)) {
        std::vector<plot::Point> corners;
        for (int v = 0; v < 8; ++v) corners.push_back(axes(at * box_features::vertex(*box, v)));
        return {{Kind::polygon, hull(std::move(corners)), 0, colour}};
    }
    if (const Hull* solid = std::get_if<Hull>(&*shape.geometry)) {
        std::vector<plot::Point> corners;
        for (const Vec3& v : solid->polytope.vertices) corners.push_back(axes(at * v));
        return {{Kind::polygon, hull(std::move(corners)), 0, colour}};
    }
    return {{Kind::polygon, tangent_polygon(shape, body, axes), 0, colour}};
}

bool ground_of(const Shape& shape, const Pose& body, const ViewAxes& axes, plot::Ground& ground) {
    const HalfSpace* half = std::get_if<HalfSpace>(&*shape.geometry);
    if (!half || !(half->normal.norm() > 0)) return false;
    const Pose at = placed(body, shape.pose_B);
    const Vec3 n = at.attitude * half->normal.normalized();
    const double offset = half->offset / half->normal.norm() + n.dot(at.position);
    const double inside = std::hypot(n[axes.right], n[axes.up]);
    if (!(inside * inside > 1 - side_on * side_on)) return false;
    ground = {{n[axes.right] / inside, n[axes.up] / inside}, offset / inside};
    return true;
}

}  // namespace stickslip
