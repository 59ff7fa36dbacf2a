#include "problems/cones.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>
#include <numbers>

#include "stickslip/error.hpp"

namespace stickslip {

namespace {

Vec2 direction(double angle) {
    // sin(pi) = 1e-16 would make friction along t1 leak into t2
    const auto exact = [](double x) { return std::abs(x) < 1e-15 ? 0.0 : x; };
    return {exact(std::cos(angle)), exact(std::sin(angle))};
}

Polygon make_polygon(int facets) {
    using std::numbers::pi;
    Polygon result;
    result.facets = facets;
    for (int j = 0; j < facets; ++j) {
        result.corner.push_back(direction(2 * pi * j / facets));
        result.outward.push_back(direction(pi * (2 * j + 1) / facets));
    }
    const Vec2 half = direction(pi / facets);
    result.apothem = half.x();
    result.half_edge = half.y();
    return result;
}

// The polygons asked for so far, shared by all threads. The list only grows, at its front, so readers need no lock.
class PolygonTable {
public:
    const Polygon& find(int facets) {
        if (const Polygon* known = search(facets)) return *known;
        const std::lock_guard lock(growing_);
        if (const Polygon* known = search(facets)) return *known;  // another thread was faster
        owned_ = std::make_unique<Entry>(make_polygon(facets), std::move(owned_));
        first_.store(owned_.get(), std::memory_order_release);
        return owned_->polygon;
    }

private:
    struct Entry {
        Entry(Polygon given, std::unique_ptr<Entry> older) : polygon(std::move(given)), next(std::move(older)) {}
        Polygon polygon;
        std::unique_ptr<Entry> next;
    };
    const Polygon* search(int facets) const {
        for (const Entry* e = first_.load(std::memory_order_acquire); e; e = e->next.get())
            if (e->polygon.facets == facets) return &e->polygon;
        return nullptr;
    }
    std::atomic<const Entry*> first_{nullptr};
    std::unique_ptr<Entry> owned_;
    std::mutex growing_;
};

// Nearest point of the wedge |t| <= mu n in the half plane t >= 0 of (n, t).
void project_wedge(double mu, double& n, double& t) {
    if (t <= mu * n && n >= 0) return;
    if (n + mu * t <= 0) {  // in the polar cone
        n = t = 0;
        return;
    }
    n = (n + mu * t) / (1 + mu * mu);
    t = mu * n;
}

void project_disc(double mu, double* p) {
    const double slip = std::sqrt(p[1] * p[1] + p[2] * p[2]);
    double n = p[0], t = slip;
    project_wedge(mu, n, t);
    p[0] = n;
    const double shrink = slip > 0 ? t / slip : 0.0;
    p[1] *= shrink;
    p[2] *= shrink;
}

// The cone is mirror symmetric about every plane through the axis and a corner or a facet's middle, so the nearest
// point lies in the same half sector as p: it is p, on the plane of that facet, on the ray of the nearer corner,
// or the apex.
void project_polygon(double mu, const Polygon& shape, double* p) {
    const Vec2 tangential(p[1], p[2]);
    int facet = 0;
    double a = shape.outward[0].dot(tangential);  // along the facet's outward normal
    for (int j = 1; j < shape.facets; ++j) {
        const double along = shape.outward[j].dot(tangential);
        if (along > a) {
            a = along;
            facet = j;
        }
    }
    const Vec2& out = shape.outward[facet];
    const Vec2 side(-out.y(), out.x());
    const double slope = mu * shape.apothem, half_width = mu * shape.half_edge;
    // with two facets the cone is flat: a = 0 there does not say inside
    if (a <= slope * p[0] && p[0] >= 0 && shape.facets > 2) return;

    double n = (p[0] + slope * a) / (1 + slope * slope);
    double b = side.dot(tangential);
    if (!(n > 0 && std::abs(b) <= half_width * n)) {
        const double sign = b < 0 ? -1.0 : 1.0;
        n = (p[0] + slope * a + half_width * sign * b) / (1 + slope * slope + half_width * half_width);
        n = n < 0 ? 0.0 : n;
        b = half_width * sign * n;
    }
    const Vec2 nearest = slope * n * out + b * side;
    p[0] = n;
    p[1] = nearest.x();
    p[2] = nearest.y();
}

}  // namespace

const Polygon& polygon(int facets) {
    SS_ASSERT(facets >= 2, "a polygon cone needs at least two facets");
    static PolygonTable table;
    return table.find(facets);
}

void project_cone(int dim, double mu, int facets, double* p) {
    if (dim == 1) {
        p[0] = p[0] < 0 ? 0.0 : p[0];
    } else if (dim == 2) {
        double n = p[0], t = std::abs(p[1]);
        project_wedge(mu, n, t);
        p[0] = n;
        p[1] = std::copysign(t, p[1]);
    } else if (is_disc(facets)) {
        project_disc(mu, p);
    } else {
        project_polygon(mu, polygon(facets), p);
    }
}

double section_support(int dim, int facets, const double* u) {
    if (dim == 1) return 0.0;
    if (dim == 2) return std::abs(u[1]);
    if (is_disc(facets)) return std::sqrt(u[1] * u[1] + u[2] * u[2]);
    double support = -infinity;
    for (const Vec2& d : polygon(facets).corner) support = std::max(support, -(d.x() * u[1] + d.y() * u[2]));
    return support;
}

double cone_gauge(const Vec2& p, int dim, int facets) {
    if (dim == 2 || is_disc(facets)) return p.norm();
    if (facets == 2) return std::abs(p[0]);
    const Polygon& section = polygon(facets);
    double most = 0;
    for (const Vec2& outward : section.outward) most = std::max(most, outward.dot(p) / section.apothem);
    return most;
}

double contact_natural_map(int dim, double mu, int facets, double rho, const double* u, const double* p) {
    double x[3] = {0, 0, 0};
    for (int k = 0; k < dim; ++k) x[k] = p[k] - rho * u[k];
    x[0] -= rho * mu * section_support(dim, facets, u);
    const double probe = 0.0 * (x[0] + x[1] + x[2]);  // NaN when anything is not finite
    project_cone(dim, mu, facets, x);
    double sum = 0;
    for (int k = 0; k < dim; ++k) sum += (p[k] - x[k]) * (p[k] - x[k]);
    return std::sqrt(sum) / rho + probe;
}

}  // namespace stickslip
