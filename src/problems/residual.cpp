// The residual of a step problem, in velocity units: what a step is certified by.
//
//   dynamics   max over nodes of |A_nn^-1 (A v - G' lambda - H' p - r)|
//   joints     |lambda - clamp(lambda - rho w, lower, upper)| / rho,   w = G v + T lambda - b,  rho = 1 / W_jj
//   contacts   |p - P_K(p - rho u~)| / rho,   u = H v + S p + c,  u~ = u + mu s(u_T) n,  rho = dim / trace(W_ii)
//
// with W_jj = G_j A_nn^-1 G_j' + T_j and W_ii = H_i A_nn^-1 H_i' + S_i from the diagonal blocks of A alone, so that it
// costs a few microseconds and shares nothing with any solver. A row without mass behind it (W = 0) has rho = 1.
#include "problems/residual.hpp"

#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"
#include "problems/cones.hpp"
#include "stickslip/error.hpp"

namespace stickslip {

namespace {

constexpr int contacts_of_part = 500;  // some tens of microseconds

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// The larger one, but NaN once anything was NaN.
void raise(double& worst, double x) {
    if (x > worst || std::isnan(x)) worst = std::isnan(worst) ? worst : x;
}

void fill_diagonal(const BlockRows& J, const NodeInverse& inverse, std::vector<double>& diagonal) {
    diagonal.assign(static_cast<std::size_t>(J.rows()), 0.0);
    each_in_parallel(J.groups(), contacts_of_part, [&](int g) {
        for (const BlockRows::Block& b : J.blocks_of(g)) {
            const int d = inverse.nodes().dof(b.node);
            const double* row = J.values.data() + b.offset;
            for (int i = J.row[g]; i < J.row[g + 1]; ++i, row += d) diagonal[i] += inverse.quadratic(b.node, row);
        }
    });
}

}  // namespace

double Residual::max() const {
    double worst = dynamics;
    raise(worst, joints);
    raise(worst, contacts);
    return worst;
}

Residual residual(const StepProblem& problem, const StepSolution& solution) {
    ResidualWork work;
    return residual(problem, solution, work);
}

Residual residual(const StepProblem& problem, const StepSolution& solution, ResidualWork& s) {
    s.inverse.factor(problem.A);
    fill_diagonal(problem.contacts.jacobian, s.inverse, s.diagonal);
    return residual_again(problem, solution, s);
}

Residual residual_again(const StepProblem& problem, const StepSolution& solution, ResidualWork& s) {
    const Nodes& nodes = problem.nodes();
    const BlockRows& G = problem.joints.jacobian;
    const BlockRows& H = problem.contacts.jacobian;
    SS_ASSERT(solution.v.size() == nodes.nv() && solution.lambda.size() == G.rows() && solution.p.size() == H.rows(),
              "solution and problem of different sizes");
    SS_ASSERT(problem.r.size() == nodes.nv() && problem.b.size() == G.rows() && problem.c.size() == H.rows(),
              "problem not sized to its rows");
    Residual result;
    s.balance = -problem.r;
    problem.A.add_product(1.0, solution.v, s.balance);
    s.w = -solution.lambda;
    G.add_transpose_product(nodes, s.w, s.balance);
    s.u = -solution.p;
    H.add_transpose_product(nodes, s.u, s.balance);
    s.balance_velocity.resize(nodes.nv());
    s.inverse.apply(s.balance, s.balance_velocity);
    for (int i = 0; i < nodes.nv(); ++i) raise(result.dynamics, std::abs(s.balance_velocity[i]));

    const auto free = [&](int j) { return problem.lower[j] == -infinity && problem.upper[j] == infinity; };
    bool all_free = true;
    for (int j = 0; j < G.rows() && all_free; ++j) all_free = free(j);
    if (!all_free) fill_diagonal(G, s.inverse, s.joint_diagonal);
    G.product(nodes, solution.v, s.w);
    for (int j = 0; j < G.rows(); ++j) {
        const double lambda = solution.lambda[j];
        const double w = s.w[j] + problem.T[j] * lambda - problem.b[j];
        // a free row has w itself as its natural map; the difference of lambdas would lose digits
        if (free(j)) {
            raise(result.joints, std::abs(w));
            continue;
        }
        const double rho = natural_step(s.joint_diagonal[j] + problem.T[j]);
        const double x = lambda - rho * w;
        if (std::isnan(problem.lower[j]) || std::isnan(problem.upper[j])) result.joints = not_a_number;
        const double map = x >= problem.lower[j] && x <= problem.upper[j] ? std::abs(w)
                           : std::isnan(x)                                ? not_a_number
                                           : std::abs(lambda - std::clamp(x, problem.lower[j], problem.upper[j])) / rho;
        raise(result.joints, map);
    }

    H.product(nodes, solution.v, s.u);
    s.contact.resize(static_cast<std::size_t>(problem.contacts.size()));
    each_in_parallel(problem.contacts.size(), contacts_of_part, [&](int i) {
        const int first = H.row[i], dim = H.dim(i);
        double trace = 0;
        for (int k = first; k < first + dim; ++k) {
            s.u[k] += problem.S[k] * solution.p[k] + problem.c[k];
            trace += s.diagonal[k] + problem.S[k];
        }
        s.contact[i] = contact_natural_map(dim, problem.contacts.friction[i], problem.contacts.facets[i],
                                           natural_step(trace / dim), s.u.data() + first, solution.p.data() + first);
    });
    for (const double map : s.contact) raise(result.contacts, map);
    return result;
}

double relative_error(const DelassusProblem& problem, const ConstRef& p) {
    const Nodes& rows = problem.W.nodes;
    SS_ASSERT(p.size() == rows.nv() && problem.q.size() == rows.nv(), "problem and impulses of different sizes");
    VecX u = problem.q;
    problem.W.add_product(1, p, u);
    double sum = 0;
    for (int i = 0; i < problem.contacts(); ++i) {
        const int first = rows.start[i], dim = rows.dof(i);
        const double map =
            contact_natural_map(dim, problem.friction[i], problem.facets[i],
                                natural_step(problem.W.block(i).trace() / dim), u.data() + first, p.data() + first);
        sum += map * map;
    }
    const double scale = problem.q.norm();
    return std::sqrt(sum) / (scale > 0 ? scale : 1);
}

}  // namespace stickslip
