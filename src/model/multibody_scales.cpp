// How large, heavy and fast the bodies of a multibody system are: what its tolerances are shares of.
//
// The typical body is the median of those that move, of an even number the smaller one: a few tiny or huge bodies decide nothing.
// Its length is that of the sphere about its centre of mass which holds its shapes; a body without shapes is as large as its mass
// and its joints say. Bodies that come later count only where none is there at the start.
#include <algorithm>
#include <vector>

#include "model/multibody.hpp"

namespace stickslip {

namespace {

double median(std::vector<double>& sizes) {
    const auto middle = sizes.begin() + (std::ssize(sizes) - 1) / 2;
    std::nth_element(sizes.begin(), middle, sizes.end());
    return *middle;
}

}  // namespace

Scales MultibodySystem::scales(const State& start) const {
    std::vector<double> length, mass;
    double reach = 0, fastest = 0;
    const auto measure = [&](bool absent) {
        for (int b = 0; b < bodies_->size(); ++b) {
            const RigidBody& body = model_.bodies[b];
            if (bodies_->node(b) < 0 || (!absent && !bodies_->present(b))) continue;
            const double radius = body.radius > 0 && body.radius < infinity ? body.radius : connections_->reach(b);
            if (radius > 0) length.push_back(2 * radius);
            if (body.mass > 0) mass.push_back(body.mass);
            reach = std::max(reach, bodies_->pose(b, start.q).position.norm() + radius);
            fastest = std::max(fastest, bodies_->greatest_speed(b, start.v, radius));
        }
    };
    measure(false);
    if (mass.empty()) measure(true);
    return scales_of(length.empty() ? 0 : median(length), mass.empty() ? 0 : median(mass), model_.gravity.norm(), reach,
                     fastest);
}

}  // namespace stickslip
