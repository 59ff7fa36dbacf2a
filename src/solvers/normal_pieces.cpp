#include "solvers/normal_pieces.hpp"

#include <algorithm>
#include <cmath>

#include "problems/cones.hpp"

namespace stickslip {

namespace {

using Kind = NormalPiece::Kind;

constexpr NormalPiece open_piece{Kind::open, 0}, stick_piece{Kind::stick, 0}, slip_piece{Kind::slip, 0};

// Tangents of the edge from d_j to d_j+1 of a polygon.
Vec2 along(const Polygon& section, int j) { return {-section.outward[j].y(), section.outward[j].x()}; }

int next_face(const Polygon& section, int j) { return (j + 1) % section.facets; }
int previous_face(const Polygon& section, int j) { return (j + section.facets - 1) % section.facets; }

Vec2 tangential(const ContactCone& cone, const double* xi) { return {xi[1], cone.dim == 3 ? xi[2] : 0.0}; }

int nearest_corner(const Polygon& section, const Vec2& x) {
    int best = 0;
    for (int j = 1; j < section.facets; ++j)
        if (section.corner[j].dot(x) > section.corner[best].dot(x)) best = j;
    return best;
}

// The piece of a closed contact whose section has shrunk to a point.
NormalPiece just_closed(const ContactCone& cone, const double* xi) {
    if (cone.tangents() == 0) return stick_piece;
    if (cone.tangents() == 1) return {Kind::corner, xi[1] < 0 ? 1 : 0};
    const Vec2 x = tangential(cone, xi);
    if (x.isZero(0)) return stick_piece;
    if (cone.facets == 0) return slip_piece;
    return {Kind::corner, nearest_corner(polygon(cone.facets), x)};
}

// Keeps the earliest of the borders n.xi = 0 (n.xi >= 0 inside) that a path crosses.
class Borders {
public:
    Borders(const double* xi, const double* dxi, int dim) : xi_(Vec3::Zero()), dxi_(Vec3::Zero()) {
        std::copy_n(xi, dim, xi_.data());
        std::copy_n(dxi, dim, dxi_.data());
    }
    void straight(const Vec3& inward, NormalPiece to) {
        const double slope = inward.dot(dxi_);
        if (slope < 0) keep(std::max(0.0, -inward.dot(xi_) / slope), to, -inward);
    }
    // The disc's border |xi_T|^2 = (mu xi_N)^2; `side` is 1 outside of it and -1 inside.
    void round(double mu, double side, NormalPiece to) {
        const Vec3 metric(-mu * mu, 1, 1);
        const double a = side * dxi_.dot(metric.cwiseProduct(dxi_)), b = side * xi_.dot(metric.cwiseProduct(dxi_)),
                     c = side * xi_.dot(metric.cwiseProduct(xi_));  // a s^2 + 2 b s + c >= 0 inside
        double at = infinity;
        if (c <= 0) {
            at = b < 0 ? 0.0 : a < 0 ? -2 * b / a : infinity;
        } else if (b * b >= a * c) {
            const double root = std::sqrt(b * b - a * c), sum = b < 0 ? root - b : -b - root;
            for (const double s : {sum / a, c / sum})
                if (s > 0 && s < at) at = s;
        }
        if (at < infinity) keep(at, to, -side * metric.cwiseProduct(xi_ + at * dxi_));
    }
    const PieceCrossing& first() const { return first_; }

private:
    void keep(double at, NormalPiece to, const Vec3& outward) {
        if (at < first_.at) first_ = {at, to, outward};
    }

    Vec3 xi_, dxi_;
    PieceCrossing first_;
};

void cross_polygon(const ContactCone& cone, NormalPiece piece, Borders& borders) {
    const Polygon& section = polygon(cone.facets);
    const double apothem = cone.mu * section.apothem, half = cone.mu * section.half_edge;
    const auto inside = [&](int j) {  // of the facet j, in the section
        return Vec3(apothem, -section.outward[j].x(), -section.outward[j].y());
    };
    const auto beyond = [&](int j, double sign) {  // of an end of the edge j
        const Vec2 e = along(section, j);
        return Vec3(half, sign * e.x(), sign * e.y());
    };
    const int j = piece.face;
    if (piece.kind == Kind::stick) {
        for (int k = 0; k < section.facets; ++k) borders.straight(inside(k), {Kind::edge, k});
    } else if (piece.kind == Kind::edge) {
        borders.straight(-inside(j), stick_piece);
        borders.straight(beyond(j, -1), {Kind::corner, next_face(section, j)});
        borders.straight(beyond(j, 1), {Kind::corner, j});
    } else {
        borders.straight(Vec3::UnitX(), open_piece);
        borders.straight(-beyond(j, 1), {Kind::edge, j});
        borders.straight(-beyond(previous_face(section, j), -1), {Kind::edge, previous_face(section, j)});
    }
}

}  // namespace

NormalPiece piece_at(const ContactCone& cone, const double* xi) {
    if (!(xi[0] > 0)) return open_piece;
    if (cone.tangents() == 0) return stick_piece;
    const double size = cone.mu * xi[0];
    if (cone.tangents() == 1) return std::abs(xi[1]) <= size ? stick_piece : just_closed(cone, xi);
    const Vec2 x = tangential(cone, xi);
    if (cone.facets == 0) return x.norm() <= size ? stick_piece : slip_piece;
    const Polygon& section = polygon(cone.facets);
    const int corner = nearest_corner(section, x), before = previous_face(section, corner);
    const int edge = section.outward[corner].dot(x) > section.outward[before].dot(x) ? corner : before;
    if (section.outward[edge].dot(x) <= size * section.apothem) return stick_piece;
    if (std::abs(along(section, edge).dot(x)) <= size * section.half_edge) return {Kind::edge, edge};
    return {Kind::corner, corner};
}

void map_piece(const ContactCone& cone, NormalPiece piece, const double* xi, double* z, double* D) {
    std::fill_n(D, 9, 0.0);
    std::fill_n(z, cone.dim, 0.0);
    if (piece.kind == Kind::open) return;
    z[0] = xi[0];
    D[0] = 1;
    const int tangents = cone.tangents();
    if (tangents == 0) return;
    if (piece.kind == Kind::stick) {
        for (int k = 1; k <= tangents; ++k) {
            z[k] = xi[k];
            D[4 * k] = 1;
        }
        return;
    }
    const double mu = cone.mu;
    if (tangents == 1) {  // one of the two ends
        D[1] = piece.face == 0 ? mu : -mu;
        z[1] = D[1] * xi[0];
        return;
    }
    const Vec2 x = tangential(cone, xi);
    Vec2 d;                          // z_T = xi_N d + R xi_T
    Eigen::Matrix2d R = Eigen::Matrix2d::Zero(), slope;
    if (piece.kind == Kind::slip) {
        const double size = x.norm();
        if (!(size > 0)) return;
        d = mu / size * x;
        slope = mu * xi[0] / size * (Eigen::Matrix2d::Identity() - x * x.transpose() / (size * size));
    } else {
        const Polygon& section = polygon(cone.facets);
        if (piece.kind == Kind::corner) {
            d = mu * section.corner[piece.face];
        } else {
            d = mu * section.apothem * section.outward[piece.face];
            const Vec2 e = along(section, piece.face);
            R = e * e.transpose();
        }
        slope = R;
    }
    const Vec2 end = xi[0] * d + R * x;
    for (int k = 0; k < 2; ++k) {
        z[1 + k] = end[k];
        D[1 + k] = d[k];
        for (int l = 0; l < 2; ++l) D[1 + k + 3 * (1 + l)] = slope(k, l);
    }
}

PieceCrossing first_crossing(const ContactCone& cone, NormalPiece piece, const double* xi, const double* dxi) {
    Borders borders(xi, dxi, cone.dim);
    const int tangents = cone.tangents();
    if (piece.kind == Kind::open) {
        double closed[3] = {0, 0, 0};
        const double at = dxi[0] > 0 ? std::max(0.0, -xi[0] / dxi[0]) : 0.0;
        for (int k = 1; k < cone.dim; ++k) closed[k] = xi[k] + at * dxi[k];
        borders.straight(-Vec3::UnitX(), just_closed(cone, closed));
    } else if (tangents == 0) {
        borders.straight(Vec3::UnitX(), open_piece);
    } else if (tangents == 1) {
        if (piece.kind == Kind::stick) {
            borders.straight({cone.mu, -1, 0}, {Kind::corner, 0});
            borders.straight({cone.mu, 1, 0}, {Kind::corner, 1});
        } else {
            borders.straight(Vec3::UnitX(), open_piece);
            borders.straight({-cone.mu, piece.face == 0 ? 1.0 : -1.0, 0}, stick_piece);
        }
    } else if (cone.facets != 0) {
        cross_polygon(cone, piece, borders);
    } else if (piece.kind == Kind::slip) {
        borders.straight(Vec3::UnitX(), open_piece);
        borders.round(cone.mu, 1, stick_piece);
    } else {
        borders.round(cone.mu, -1, slip_piece);
    }
    return borders.first();
}

ContactMode project_state(const ContactCone& cone, const double* xi, double* z) {
    if (cone.facets == 0 && cone.dim == 3 && cone.mu > 0) {  // most contacts; no slopes are wanted here
        if (!(xi[0] > 0)) {
            z[0] = z[1] = z[2] = 0;
            return ContactMode::open;
        }
        const double size = std::sqrt(xi[1] * xi[1] + xi[2] * xi[2]), most = cone.mu * xi[0];
        const double share = size > most ? most / size : 1.0;
        z[0] = xi[0];
        z[1] = share * xi[1];
        z[2] = share * xi[2];
        return share < 1 ? ContactMode::slip : ContactMode::stick;
    }
    const NormalPiece piece = piece_at(cone, xi);
    double D[9];
    map_piece(cone, piece, xi, z, D);
    return mode_of(cone, piece);
}

ContactMode mode_of(const ContactCone& cone, NormalPiece piece) {
    if (piece.kind == Kind::open) return ContactMode::open;
    const bool holds = piece.kind == Kind::stick && (cone.dim == 1 || cone.tangents() > 0);
    return holds ? ContactMode::stick : ContactMode::slip;
}

}  // namespace stickslip
