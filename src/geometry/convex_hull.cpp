// Convex hulls by qhull. Points are moved and scaled to a box of size one first, so that its tolerances mean the same for a
// grain of sand and a ship.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>

extern "C" {
#include <libqhull_r/qhull_ra.h>
}

#include "geometry/polytope.hpp"
#include "stickslip/error.hpp"

namespace stickslip {

namespace {

// Of the size: facets whose neighbours' centres lie no more than this outside of them are one face. Meshes are mostly stored in single
// precision; smaller, and what was flat has many faces.
constexpr const char* merging = "qhull C-1e-7";

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

// One run of qhull, which ends with its life.
class Qhull {
public:
    explicit Qhull(std::vector<double>& coordinates) : coordinates_(coordinates), messages_(std::tmpfile()) {
        qh_zero(&qh_, messages_.get());
        std::string command = merging;
        failed_ = qh_new_qhull(&qh_, 3, static_cast<int>(coordinates.size() / 3), coordinates.data(), False, command.data(),
                               messages_.get(), messages_.get()) != 0;
    }
    Qhull(const Qhull&) = delete;
    Qhull& operator=(const Qhull&) = delete;
    ~Qhull() {
        qh_freeqhull(&qh_, !qh_ALL);
        int long_memory = 0, total = 0;
        qh_memfreeshort(&qh_, &long_memory, &total);
    }
    bool failed() const { return failed_; }

    // The loops of the facets, as numbers of the points, counter-clockwise seen from outside; empty where one is not a loop. qhull's own function for
    // it ends the program where it fails.
    std::vector<std::vector<int>> loops() {
        std::vector<std::vector<int>> result;
        for (facetT* facet = qh_.facet_list; facet != nullptr && facet->next != nullptr; facet = facet->next) {
            std::vector<int> loop = facet->simplicial ? points_of(facet->vertices) : chained(facet);
            if (loop.size() < 3) return {};
            if (doubled_area(loop).dot(Vec3(facet->normal[0], facet->normal[1], facet->normal[2])) < 0)
                std::reverse(loop.begin(), loop.end());
            result.push_back(std::move(loop));
        }
        return result;
    }

private:
    std::vector<int> points_of(setT* vertices) {
        std::vector<int> points;
        for (int k = 0; k < qh_setsize(&qh_, vertices); ++k)
            points.push_back(qh_pointid(&qh_, static_cast<vertexT*>(SETelem_(vertices, k))->point));
        return points;
    }
    // The ridges of a facet one behind the other; empty if they do not close.
    std::vector<int> chained(facetT* facet) {
        std::multimap<int, int> ridges;
        for (int k = 0; k < qh_setsize(&qh_, facet->ridges); ++k) {
            const std::vector<int> ends = points_of(static_cast<ridgeT*>(SETelem_(facet->ridges, k))->vertices);
            if (ends.size() != 2) return {};
            ridges.insert({ends[0], ends[1]});
            ridges.insert({ends[1], ends[0]});
        }
        const std::size_t count = ridges.size() / 2;
        std::vector<int> loop;
        for (int at = ridges.empty() ? -1 : ridges.begin()->first, last = -1; loop.size() < count;) {
            loop.push_back(at);
            const auto [first, end] = ridges.equal_range(at);
            const auto next = std::find_if(first, end, [&](const auto& ridge) { return ridge.second != last; });
            if (next == end) return {};
            last = at;
            at = next->second;
            if (at == loop.front() && loop.size() < count) return {};
        }
        return loop;
    }
    Vec3 doubled_area(const std::vector<int>& loop) const {
        const auto point = [&](int k) { return Vec3(coordinates_[3 * k], coordinates_[3 * k + 1], coordinates_[3 * k + 2]); };
        Vec3 sum = Vec3::Zero();
        for (std::size_t k = 1; k + 1 < loop.size(); ++k)
            sum += (point(loop[k]) - point(loop[0])).cross(point(loop[k + 1]) - point(loop[0]));
        return sum;
    }

    const std::vector<double>& coordinates_;
    std::unique_ptr<std::FILE, CloseFile> messages_;
    qhT qh_{};
    bool failed_ = false;
};

}  // namespace

Polytope convex_hull(std::span<const Vec3> points) {
    if (points.size() < 4) throw Error(fmt::format("a convex hull needs at least 4 points, got {}", points.size()));
    Aabb box;
    for (const Vec3& x : points) {
        if (!x.allFinite()) throw Error("the points of a convex hull must be finite");
        box.lower = box.lower.cwiseMin(x);
        box.upper = box.upper.cwiseMax(x);
    }
    const double size = (box.upper - box.lower).maxCoeff();
    if (!(size > 0)) throw Error("all points of the convex hull are the same");
    std::vector<double> coordinates;
    for (const Vec3& x : points)
        for (int i = 0; i < 3; ++i) coordinates.push_back((x[i] - box.lower[i]) / size);
    Qhull qhull(coordinates);
    if (qhull.failed()) throw Error("the points of the convex hull lie in a plane, up to rounding: it has no volume");
    std::vector<std::vector<int>> loops = qhull.loops();
    if (loops.empty()) throw Error("the points of the convex hull are too nearly in a plane: its faces cannot be told apart");
    // Points inside are left out, the others keep their order.
    std::vector<int> place(points.size(), -1);
    for (const auto& loop : loops)
        for (const int k : loop) place[k] = 0;
    std::vector<Vec3> corners;
    for (std::size_t k = 0; k < points.size(); ++k) {
        if (place[k] < 0) continue;
        place[k] = static_cast<int>(corners.size());
        corners.push_back(points[k]);
    }
    for (auto& loop : loops)
        for (int& k : loop) k = place[k];
    return make_polytope(std::move(corners), loops);
}

}  // namespace stickslip
