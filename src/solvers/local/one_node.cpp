#include "solvers/local/one_node.hpp"

#include <algorithm>
#include <cmath>

#include "math/dense_lu.hpp"
#include "problems/cones.hpp"
#include "solvers/local/contact_solve.hpp"

namespace stickslip {

namespace {

constexpr int max_nv = 6;

// A^-1 of the node: a division per velocity when A is diagonal (balls, bodies with principal axes), else LU.
template <int N>
struct NodeSolve {
    double lu[max_nv * max_nv];
    int pivot[max_nv];
    bool diagonal = true;

    bool factor(const double* A, int n) {
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i) diagonal = diagonal && (i == j || A[i + j * n] == 0);
        if (!diagonal) {
            std::copy(A, A + n * n, lu);
            return factor_sized<N>(lu, pivot, n);
        }
        for (int i = 0; i < n; ++i) {
            lu[i] = 1 / A[i * (n + 1)];
            if (!(std::abs(lu[i]) < infinity)) return false;
        }
        return true;
    }
    void operator()(double* x, int n) const {
        if (!diagonal) return solve_sized<N>(lu, pivot, x, n);
        for (int i = 0; i < n; ++i) x[i] *= lu[i];
    }
};

template <int N>
bool solve_sized_node(const StepProblem& problem, StepSolution& x, double tol, Residual& res, int size) {
    const int n = N > 0 ? N : size;
    const double* A = problem.A.values.data() + problem.A.diagonal[0];
    NodeSolve<N> inverse;
    if (!inverse.factor(A, n)) return false;

    const bool touching = problem.contacts.size() == 1 && problem.contacts.jacobian.blocks.size() == 1;
    const int dim = touching ? problem.contacts.jacobian.dim(0) : 0;
    const double* H =
        touching ? problem.contacts.jacobian.values.data() + problem.contacts.jacobian.blocks[0].offset : nullptr;
    double v[max_nv], Y[3][max_nv], W[9], q[3] = {0, 0, 0}, p[3] = {0, 0, 0};
    for (int k = 0; k < n; ++k) v[k] = problem.r[k];
    inverse(v, n);
    ContactMode mode = ContactMode::open;
    if (touching) {
        for (int r = 0; r < dim; ++r) {
            q[r] = problem.c[r];
            for (int k = 0; k < n; ++k) {
                q[r] += H[r * n + k] * v[k];
                Y[r][k] = H[r * n + k];
            }
            inverse(Y[r], n);
        }
        double trace = 0;
        for (int r = 0; r < dim; ++r) {
            for (int s = 0; s < dim; ++s) {
                double sum = 0;
                for (int k = 0; k < n; ++k) sum += H[s * n + k] * Y[r][k];
                W[s + r * dim] = sum + (r == s ? problem.S[r] : 0.0);
            }
            trace += W[r * (dim + 1)];
            p[r] = x.p[r];
        }
        const double mu = problem.contacts.friction[0];
        const int facets = problem.contacts.facets[0];
        if (!(trace > 0)) return false;
        mode = solve_contact(dim, mu, facets, W, q, p);
        for (int r = 0; r < dim; ++r)
            for (int k = 0; k < n; ++k) v[k] += Y[r][k] * p[r];
    }
    // f = r + H' p - A v: once to refine v, once more to judge it
    double f[max_nv];
    for (int round = 0; round < 2; ++round) {
        for (int k = 0; k < n; ++k) f[k] = problem.r[k];
        for (int j = 0; j < n; ++j)
            for (int k = 0; k < n; ++k) f[k] -= A[k + j * n] * v[j];
        for (int r = 0; r < dim; ++r)
            for (int k = 0; k < n; ++k) f[k] += H[r * n + k] * p[r];
        inverse(f, n);
        if (round > 0) break;
        for (int k = 0; k < n; ++k) v[k] += f[k];
    }
    res = {};
    for (int k = 0; k < n; ++k)  // not std::max, which would drop a NaN
        if (!(std::abs(f[k]) <= res.dynamics)) res.dynamics = std::abs(f[k]);
    if (touching) {
        double u[3], trace = 0;
        for (int r = 0; r < dim; ++r) {
            u[r] = problem.c[r] + problem.S[r] * p[r];
            for (int k = 0; k < n; ++k) u[r] += H[r * n + k] * v[k];
            trace += W[r * (dim + 1)];
        }
        res.contacts =
            contact_natural_map(dim, problem.contacts.friction[0], problem.contacts.facets[0], dim / trace, u, p);
    }
    if (!(res.dynamics <= tol && res.contacts <= tol)) return false;
    for (int k = 0; k < n; ++k) x.v[k] = v[k];
    for (int r = 0; r < dim; ++r) x.p[r] = p[r];
    if (touching) x.modes[0] = mode;
    x.warm = true;
    return true;
}

}  // namespace

bool solve_one_node(const StepProblem& problem, StepSolution& solution, double tol, Residual& res) {
    const Nodes& nodes = problem.nodes();
    if (nodes.size() != 1 || nodes.nv() > max_nv || problem.joints.size() > 0 || problem.contacts.size() > 1 ||
        !problem.A.couplings.empty() ||
        problem.contacts.jacobian.blocks.size() != static_cast<std::size_t>(problem.contacts.size()))
        return false;
    const int n = nodes.nv();
    if (n == 6) return solve_sized_node<6>(problem, solution, tol, res, n);
    if (n == 3) return solve_sized_node<3>(problem, solution, tol, res, n);
    return solve_sized_node<0>(problem, solution, tol, res, n);
}

}  // namespace stickslip
