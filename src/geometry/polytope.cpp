// Volume integrals by tetrahedra from an inner point o over each triangle (a, b, c) of a face: with the edge vectors x_i from o and
// V = x_1 . (x_2 x x_3)/6,  int x x' dV = V/20 (sum_i x_i x_i' + (sum_i x_i)(sum_i x_i)')  about o.
#include "geometry/polytope.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "geometry/box.hpp"
#include "stickslip/error.hpp"

namespace stickslip {

namespace {

// Newell's normal: twice the area vector of a polygon that need not be quite flat.
Vec3 area_vector(const Polytope& p, std::span<const int> loop) {
    Vec3 sum = Vec3::Zero();
    const Vec3& origin = p.vertices[loop[0]];
    for (std::size_t k = 1; k + 1 < loop.size(); ++k)
        sum += (p.vertices[loop[k]] - origin).cross(p.vertices[loop[k + 1]] - origin);
    return sum;
}

void add_face(const std::vector<int>& loop, Polytope& p) {
    Polytope::Face face;
    face.first = static_cast<int>(p.loops.size());
    face.count = static_cast<int>(loop.size());
    p.loops.insert(p.loops.end(), loop.begin(), loop.end());
    face.normal = area_vector(p, loop).normalized();
    face.offset = 0;
    for (const int v : loop) face.offset += face.normal.dot(p.vertices[v]) / face.count;
    p.faces.push_back(face);
}

void join_faces(Polytope& p) {
    std::map<std::pair<int, int>, int> known;  // by their ends, in the order of the loop they were met in
    p.sides.resize(p.loops.size());
    for (int f = 0; f < static_cast<int>(p.faces.size()); ++f) {
        const auto loop = p.loop(f);
        for (std::size_t k = 0; k < loop.size(); ++k) {
            const int from = loop[k], to = loop[(k + 1) % loop.size()];
            const auto back = known.find({to, from});
            if (back == known.end()) {
                known[{from, to}] = static_cast<int>(p.edges.size());
                p.sides[p.faces[f].first + k] = static_cast<int>(p.edges.size());
                p.edges.push_back({from, to, f, -1});
            } else {
                p.sides[p.faces[f].first + k] = back->second;
                p.edges[back->second].right = f;
            }
        }
    }
    for (const Polytope::Edge& edge : p.edges)
        if (edge.right < 0)
            throw Error(fmt::format("the surface is not closed: the edge between corners {} and {} has one face", edge.from, edge.to));
}

void join_edges(Polytope& p) {
    p.first_spoke.assign(p.vertices.size() + 1, 0);
    for (const Polytope::Edge& edge : p.edges)
        for (const int v : {edge.from, edge.to}) ++p.first_spoke[v + 1];
    for (std::size_t v = 0; v < p.vertices.size(); ++v) p.first_spoke[v + 1] += p.first_spoke[v];
    p.spokes.resize(2 * p.edges.size());
    std::vector<int> next = p.first_spoke;
    for (int e = 0; e < static_cast<int>(p.edges.size()); ++e)
        for (const int v : {p.edges[e].from, p.edges[e].to}) p.spokes[next[v]++] = e;
}

}  // namespace

Polytope make_polytope(std::vector<Vec3> vertices, const std::vector<std::vector<int>>& loops) {
    Polytope p;
    p.vertices = std::move(vertices);
    for (const std::vector<int>& loop : loops) add_face(loop, p);
    join_faces(p);
    join_edges(p);
    return p;
}

const Polytope& unit_cube() {
    static const Polytope cube = [] {
        std::vector<Vec3> vertices;
        for (int v = 0; v < 8; ++v) vertices.push_back(box_features::vertex({Vec3::Ones()}, v));
        std::vector<std::vector<int>> loops;
        for (int axis = 0; axis < 3; ++axis)
            for (const bool positive : {false, true}) {
                const int u = 1 << (axis + 1) % 3, v = 1 << (axis + 2) % 3, side = positive ? 1 << axis : 0;
                std::vector<int> loop{side, side + u, side + u + v, side + v};
                if (!positive) std::reverse(loop.begin(), loop.end());
                loops.push_back(loop);
            }
        return make_polytope(vertices, loops);
    }();
    return cube;
}

MassProperties unit_density_mass(const Polytope& p) {
    Vec3 inside = Vec3::Zero();
    for (const Vec3& v : p.vertices) inside += v / static_cast<double>(p.vertices.size());
    double volume = 0;
    Vec3 first = Vec3::Zero();
    Mat3 second = Mat3::Zero();
    for (int f = 0; f < static_cast<int>(p.faces.size()); ++f) {
        const auto loop = p.loop(f);
        const Vec3 a = p.vertices[loop[0]] - inside;
        for (std::size_t k = 1; k + 1 < loop.size(); ++k) {
            const Vec3 b = p.vertices[loop[k]] - inside, c = p.vertices[loop[k + 1]] - inside, sum = a + b + c;
            const double part = a.dot(b.cross(c)) / 6;
            volume += part;
            first += part / 4 * sum;
            second += part / 20 * (a * a.transpose() + b * b.transpose() + c * c.transpose() + sum * sum.transpose());
        }
    }
    const Vec3 d = first / volume;
    const Mat3 about_centroid = second - volume * d * d.transpose();
    return {volume, inside + d, about_centroid.trace() * Mat3::Identity() - about_centroid};
}

}  // namespace stickslip
