#include "problems/speed_scale.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip {

namespace {

// Velocities that all rows share leave rounding of 1e-15 of themselves, not errors of the law.
constexpr double shared_share = 1e-3;

}  // namespace

double speed_scale(const StepProblem& problem, VecX& velocity, RowVec& speed) {
    const Nodes& nodes = problem.nodes();
    const BlockRows& H = problem.contacts.jacobian;
    velocity.resize(nodes.nv());
    double fastest = 0;
    for (int n = 0; n < nodes.size(); ++n) {
        const int d = nodes.dof(n);
        const double* a = problem.A.values.data() + problem.A.diagonal[n];
        for (int i = 0; i < d; ++i) {
            const int k = nodes.start[n] + i;
            velocity[k] = problem.r[k] / a[i * (d + 1)];
            fastest = std::max(fastest, std::abs(velocity[k]));
        }
    }
    for (int j = 0; j < problem.b.size(); ++j) fastest = std::max(fastest, std::abs(problem.b[j]));
    speed.resize(H.rows());
    H.product(nodes, velocity, speed);
    double sum = 0;
    for (int k = 0; k < H.rows(); ++k) sum += (speed[k] + problem.c[k]) * (speed[k] + problem.c[k]);
    const double rms = H.groups() > 0 ? std::sqrt(sum / H.groups()) : 0.0;
    return std::max({rms, shared_share * fastest, problem.gained});
}

double load_speed(const StepProblem& problem, const RowVec& p) {
    const Nodes& nodes = problem.nodes();
    const BlockRows& H = problem.contacts.jacobian;
    double sum = 0;
    for (int i = 0; i < H.groups(); ++i) {
        for (int k = 0; k < H.dim(i); ++k) {
            double w = 0;
            for (const BlockRows::Block& block : H.blocks_of(i)) {
                const int d = nodes.dof(block.node);
                const double* row = H.values.data() + block.offset + k * d;
                const double* a = problem.A.values.data() + problem.A.diagonal[block.node];
                for (int j = 0; j < d; ++j) w += row[j] * row[j] / a[j * (d + 1)];
            }
            const double change = w * p[H.row[i] + k];
            sum += change * change;
        }
    }
    return H.groups() > 0 ? std::sqrt(sum / H.groups()) : 0.0;
}

double judged_speed(const StepProblem& problem, const StepSolution& guess, double speed) {
    if (!guess.warm || guess.p.size() != problem.contacts.jacobian.rows()) return speed;
    const double load = load_speed(problem, guess.p);
    return load > speed ? std::min(load, most_load * speed) : speed;  // also where the load is no number
}

}  // namespace stickslip
