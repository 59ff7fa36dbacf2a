#include "solvers/turned_polygons.hpp"

#include <algorithm>
#include <cmath>

#include "solvers/nsgs.hpp"

namespace stickslip {

namespace {

constexpr double full = 2 * 3.14159265358979323846;
constexpr int rounds = 16;   // the angles settle in 3 to 8
constexpr int undamped = 4;  // then half of the turn is taken: pairs of contacts may swap for ever
constexpr int max_corners = 3;  // sets of corners tried in a round

// [m/s] An LCP that is left with more ended at its limit of pivots or on a ray.
constexpr double given_up = 1e-3;

// Pivots that cost as much as one factorisation of the step's own matrix.
constexpr double pivots_per_factorisation = 30;

}  // namespace

bool has_disc(const ContactRows& contacts, int i) {
    return contacts.jacobian.dim(i) == 3 && contacts.friction[i] > 0 && contacts.facets[i] == 0;
}

bool has_disc(const StepProblem& problem) {
    for (int i = 0; i < problem.contacts.size(); ++i)
        if (has_disc(problem.contacts, i)) return true;
    return false;
}

bool has_polygon(const StepProblem& problem) {
    const ContactRows& contacts = problem.contacts;
    for (int i = 0; i < contacts.size(); ++i)
        if (contacts.jacobian.dim(i) == 3 && contacts.friction[i] > 0 && contacts.facets[i] > 2) return true;
    return false;
}

int lcp_size(const StepProblem& problem, int facets) {
    int size = 0;
    for (int i = 0; i < problem.contacts.size(); ++i) {
        const int dim = problem.contacts.jacobian.dim(i);
        if (dim == 1 || problem.contacts.friction[i] <= 0)
            size += 1;
        else
            size += 2 + (dim == 2 ? 2 : has_disc(problem.contacts, i) ? facets : problem.contacts.facets[i]);
    }
    for (int j = 0; j < problem.joints.size(); ++j)
        size += (problem.lower[j] > -infinity) + (problem.upper[j] < infinity);
    return size;
}

// Polygons for discs, each turned by its own angle: the tangential rows of contact i become
// t1' = cos a t1 + sin a t2, t2' = -sin a t1 + cos a t2.
void TurnedPolygons::make_polygons(const StepProblem& problem) {
    polygons_ = problem;
    const BlockRows& H = problem.contacts.jacobian;
    for (int i = 0; i < problem.contacts.size(); ++i) {
        if (!has_disc(problem.contacts, i)) continue;
        polygons_.contacts.facets[i] = facets;
        const double c = std::cos(turn_[i]), s = std::sin(turn_[i]);
        const auto turn = [&](double& first, double& second) {
            const double x = first, y = second;
            first = c * x + s * y;
            second = -s * x + c * y;
        };
        for (const BlockRows::Block& b : H.blocks_of(i)) {
            auto block = polygons_.contacts.jacobian.values_of(i, b, problem.nodes());
            for (int k = 0; k < problem.nodes().dof(b.node); ++k) turn(block(1, k), block(2, k));
        }
        turn(polygons_.c[H.row[i] + 1], polygons_.c[H.row[i] + 2]);
    }
}

// A corner goes where friction points: against the slip, or where there is none, along its own impulse.
void TurnedPolygons::turn_to_friction(const StepProblem& problem, double tol, double fraction) {
    const BlockRows& H = problem.contacts.jacobian;
    slip_.resize(H.rows());
    H.product(problem.nodes(), turned_.v, slip_);
    for (int i = 0; i < problem.contacts.size(); ++i) {
        if (!has_disc(problem.contacts, i)) continue;
        const int t = H.row[i] + 1;
        const Vec2 u(slip_[t] + problem.c[t] + problem.S[t] * turned_.p[t],
                     slip_[t + 1] + problem.c[t + 1] + problem.S[t + 1] * turned_.p[t + 1]);
        const Vec2 p(turned_.p[t], turned_.p[t + 1]);
        double to = turn_[i];
        if (u.norm() > tol)
            to = std::atan2(-u[1], -u[0]);
        else if (p.norm() > 0)
            to = std::atan2(p[1], p[0]);
        turn_[i] += fraction * std::remainder(to - turn_[i], full);
    }
}

// The impulses of the polygons in the tangents of the problem.
void TurnedPolygons::turn_back(const StepProblem& problem) {
    for (int i = 0; i < problem.contacts.size(); ++i) {
        if (!has_disc(problem.contacts, i)) continue;
        const int t = problem.contacts.jacobian.row[i] + 1;
        const double c = std::cos(turn_[i]), s = std::sin(turn_[i]), p1 = turned_.p[t], p2 = turned_.p[t + 1];
        turned_.p[t] = c * p1 - s * p2;
        turned_.p[t + 1] = s * p1 + c * p2;
    }
}

void TurnedPolygons::improve(const StepProblem& problem, LemkeSolver& lemke, ModeSolver& modes, double tol, WorkMeter& meter,
                             StepSolution& x, SolveReport& report) {
    report.solver = "lemke";
    report.residual = residual(problem, x, residual_work_);
    turn_.assign(static_cast<std::size_t>(problem.contacts.size()), 0.0);
    copy_solution(x, turned_);
    for (int round = 0; round < rounds; ++round) {
        turn_to_friction(problem, tol, round < undamped ? 1.0 : 0.5);
        // Cold: the last basis finds another solution of the LCP, and circles. Pivots that do not end from one set of
        // corners mostly do from another.
        SolveReport pivots;
        for (int corners = 0; corners < max_corners; ++corners) {
            if (meter.used_up()) return;
            if (corners > 0)
                for (double& turn : turn_) turn += full / (4 * facets);
            make_polygons(problem);
            turned_.warm = false;
            pivots = lemke.solve(polygons_, turned_);
            report.iterations += pivots.iterations;
            meter.add(pivots.iterations / pivots_per_factorisation);
            if (pivots.residual.max() < given_up) break;
        }
        if (!(pivots.residual.max() < given_up)) return;
        turn_back(problem);
        copy_solution(turned_, polished_);
        Residual now;
        modes.improve(problem, polished_, tol, now);
        report.factorisations += modes.factorisations();
        if (now.max() < report.residual.max() || std::isnan(report.residual.max())) {
            report.residual = now;
            copy_solution(polished_, x);
        }
        if (report.residual.max() <= tol) return;
    }
}

}  // namespace stickslip
