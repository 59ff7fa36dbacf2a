// How deep two shapes overlap, by geometry that no engine shares.
#pragma once

#include <algorithm>
#include <limits>

#include "scene.hpp"

namespace peers {

struct Placed {
    const Shape* shape;
    Vec3 position;
    Eigen::Matrix3d axes;  // columns: axes of the shape in the world
    Vec3 low, high;        // of its bounding box

    Placed(const Shape& s, const Motion& m)
        : shape(&s), position(m.position), axes(m.attitude.normalized().toRotationMatrix()) {
        Vec3 reach;
        switch (s.kind) {
            case Kind::plane: reach.setConstant(std::numeric_limits<double>::infinity()); break;
            case Kind::box: reach = axes.cwiseAbs() * s.half; break;
            default: reach = axes.col(2).cwiseAbs() * s.half_length + Vec3::Constant(s.radius);
        }
        low = position - reach, high = position + reach;
        if (s.kind == Kind::plane) high.z() = 0;
    }
    // A ball is a capsule of length zero: all points within the radius of a segment.
    Vec3 along() const { return 2 * shape->half_length * axes.col(2); }
    Vec3 begin() const { return position - shape->half_length * axes.col(2); }
};

inline bool bounds_meet(const Placed& a, const Placed& b) {
    return (a.low.array() <= b.high.array()).all() && (b.low.array() <= a.high.array()).all();
}

// Least overlap over all separating axes; negative: apart.
inline double box_in_box(const Placed& a, const Placed& b) {
    double least = std::numeric_limits<double>::infinity();
    const Vec3 between = b.position - a.position;
    const auto look = [&](const Vec3& n) {
        const double reach = a.shape->half.dot((a.axes.transpose() * n).cwiseAbs()) +
                             b.shape->half.dot((b.axes.transpose() * n).cwiseAbs());
        least = std::min(least, reach - std::abs(n.dot(between)));
    };
    for (int i = 0; i < 3; ++i) look(a.axes.col(i)), look(b.axes.col(i));
    for (int i = 0; i < 3 && least > 0; ++i)
        for (int j = 0; j < 3; ++j) {
            const Vec3 n = a.axes.col(i).cross(b.axes.col(j));
            if (n.norm() > 1e-3) look(n.normalized());  // nearly parallel edges add nothing to the faces
        }
    return least;
}

// Signed distance of a point to a box: a convex function of the point.
inline double distance_to_box(const Placed& box, const Vec3& point) {
    const Vec3 beyond = (box.axes.transpose() * (point - box.position)).cwiseAbs() - box.shape->half;
    return beyond.maxCoeff() > 0 ? beyond.cwiseMax(0).norm() : beyond.maxCoeff();
}

inline double capsule_in_box(const Placed& capsule, const Placed& box) {
    const auto at = [&](double s) { return distance_to_box(box, capsule.begin() + s * capsule.along()); };
    double low = 0, high = 1;
    for (int i = 0; i < 60 && capsule.shape->half_length > 0; ++i) {  // thirds: the distance is convex along the segment
        const double a = low + (high - low) / 3, b = high - (high - low) / 3;
        (at(a) < at(b) ? high : low) = at(a) < at(b) ? b : a;
    }
    return capsule.shape->radius - std::min({at(0), at(1), at((low + high) / 2)});
}

inline double capsule_in_capsule(const Placed& a, const Placed& b) {
    const Vec3 u = a.along(), v = b.along(), r = a.begin() - b.begin();
    const double uu = u.dot(u), vv = v.dot(v), uv = u.dot(v), ur = u.dot(r), vr = v.dot(r), det = uu * vv - uv * uv;
    const auto inside = [](double x) { return std::clamp(x, 0.0, 1.0); };
    // The best point of the first line, then of each segment for the other's point.
    double s = det > 1e-14 * uu * vv ? inside((uv * vr - ur * vv) / det) : 0;
    const double t = vv > 0 ? inside((uv * s + vr) / vv) : 0;
    s = uu > 0 ? inside((uv * t - ur) / uu) : 0;
    return a.shape->radius + b.shape->radius - (r + s * u - t * v).norm();
}

// [m]; negative: apart.
inline double overlap(const Placed& a, const Placed& b) {
    if (b.shape->kind < a.shape->kind) return overlap(b, a);
    if (a.shape->kind == Kind::plane) return -b.low.z();
    if (a.shape->kind != Kind::box) return capsule_in_capsule(a, b);
    return b.shape->kind == Kind::box ? box_in_box(a, b) : capsule_in_box(b, a);
}

// Of all pairs of which one moves; 0 where none overlap.
inline double deepest_overlap(std::vector<Placed> moving, const std::vector<Placed>& still) {
    double deepest = 0;
    std::sort(moving.begin(), moving.end(), [](const Placed& a, const Placed& b) { return a.low.x() < b.low.x(); });
    for (std::size_t i = 0; i < moving.size(); ++i) {
        for (std::size_t j = i + 1; j < moving.size() && moving[j].low.x() < moving[i].high.x(); ++j)
            if (bounds_meet(moving[i], moving[j])) deepest = std::max(deepest, overlap(moving[i], moving[j]));
        for (const Placed& other : still)
            if (bounds_meet(moving[i], other)) deepest = std::max(deepest, overlap(moving[i], other));
    }
    return deepest;
}

}  // namespace peers
