// Errors of solutions of stored problems, by their impulses alone; stored_problem.hpp has the formulas. Velocities come
// from A^-1 by node or, where nodes are coupled, by the block LU, refined once so that what is measured is the
// solution's error and not that of the factors.
#include <algorithm>
#include <cmath>

#include "math/block_lu.hpp"
#include "math/node_inverse.hpp"
#include "problems/cones.hpp"
#include "stickslip/error.hpp"
#include "stickslip/stored_problem.hpp"

namespace stickslip {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

class Inverse {
public:
    explicit Inverse(const BlockMatrix& A) : A_(A) {
        if (A.couplings.empty()) {
            nodes_.factor(A);
            return;
        }
        regular_ = lu_.factor(A);
    }
    VecX operator()(const VecX& b) const {
        VecX x = once(b), miss = b;
        A_.add_product(-1, x, miss);
        return x + once(miss);
    }
    // x' A^-1 x of one row, which touches only the nodes of its group
    double quadratic(const BlockRows& J, int g, int row, VecX& work) const {
        double sum = 0;
        const auto row_of = [&](const BlockRows::Block& b) {
            return J.values.data() + b.offset + (row - J.row[g]) * A_.nodes.dof(b.node);
        };
        if (A_.couplings.empty()) {
            for (const BlockRows::Block& b : J.blocks_of(g)) sum += nodes_.quadratic(b.node, row_of(b));
            return sum;
        }
        work.setZero(A_.nodes.nv());
        for (const BlockRows::Block& b : J.blocks_of(g))
            for (int k = 0; k < A_.nodes.dof(b.node); ++k) work[A_.nodes.start[b.node] + k] += row_of(b)[k];
        return work.dot(once(work));
    }

private:
    VecX once(const VecX& b) const {
        VecX x = b;
        if (A_.couplings.empty())
            nodes_.apply(b, x);
        else if (regular_)
            lu_.solve(x.data());
        else
            x.setConstant(nan);
        return x;
    }
    const BlockMatrix& A_;
    NodeInverse nodes_;
    BlockLu lu_;
    bool regular_ = true;
};

// Adds up one contact after another, then divides.
class Sum {
public:
    void add(int dim, double mu, int facets, double weight, const double* u, const double* p) {
        const double map = contact_natural_map(dim, mu, facets, natural_step(weight), u, p);
        const double natural = contact_natural_map(dim, mu, facets, 1.0, u, p);
        maps_ += map * map;
        natural_ += natural * natural;
    }
    void finish(const VecX& q, const ConstRef& p, RelativeError& out) const {
        const double size = q.norm();
        out.scale = size > 0 ? size : 1;
        out.contacts = std::sqrt(maps_) / out.scale;
        const double largest = std::max({size, p.norm(), out.u.norm()});
        out.natural = std::sqrt(natural_) / (largest > 0 ? largest : 1);
    }

private:
    double maps_ = 0, natural_ = 0;
};

}  // namespace

RelativeError relative_errors(const DelassusProblem& problem, const ConstRef& p) {
    const Nodes& rows = problem.W.nodes;
    SS_ASSERT(p.size() == rows.nv() && problem.q.size() == rows.nv(), "problem and impulses of different sizes");
    RelativeError result;
    result.u = problem.q;
    problem.W.add_product(1, p, result.u);
    Sum sum;
    for (int i = 0; i < problem.contacts(); ++i)
        sum.add(rows.dof(i), problem.friction[i], problem.facets[i], problem.W.block(i).trace() / rows.dof(i),
                result.u.data() + rows.start[i], p.data() + rows.start[i]);
    sum.finish(problem.q, p, result);
    return result;
}

RelativeError relative_errors(const StepProblem& problem, const ConstRef& p, const ConstRef& lambda) {
    const Nodes& nodes = problem.nodes();
    const BlockRows &G = problem.joints.jacobian, &H = problem.contacts.jacobian;
    SS_ASSERT(p.size() == H.rows() && lambda.size() == G.rows(), "problem and impulses of different sizes");
    const Inverse inverse(problem.A);
    RelativeError result;
    VecX load = problem.r;
    VecX q(H.rows());
    H.product(nodes, inverse(load), q);
    q += problem.c.vec();
    H.add_transpose_product(nodes, p, load);
    G.add_transpose_product(nodes, lambda, load);
    result.v = inverse(load);
    result.u.resize(H.rows());
    H.product(nodes, result.v, result.u);
    result.u += problem.S.vec().cwiseProduct(p) + problem.c.vec();

    Sum sum;
    VecX work;
    for (int i = 0; i < problem.contacts.size(); ++i) {
        const int first = H.row[i], dim = H.dim(i);
        double trace = 0;
        for (int k = first; k < first + dim; ++k) trace += inverse.quadratic(H, i, k, work) + problem.S[k];
        sum.add(dim, problem.contacts.friction[i], problem.contacts.facets[i], trace / dim, result.u.data() + first,
                p.data() + first);
    }
    sum.finish(q, p, result);

    VecX w(G.rows());
    G.product(nodes, result.v, w);
    double squares = 0;
    for (int g = 0; g < G.groups(); ++g) {
        for (int j = G.row[g]; j < G.row[g + 1]; ++j) {
            const double slack = w[j] + problem.T[j] * lambda[j] - problem.b[j];
            const double rho = natural_step(inverse.quadratic(G, g, j, work) + problem.T[j]);
            const double x = lambda[j] - rho * slack;
            const double map = x >= problem.lower[j] && x <= problem.upper[j] ? slack
                               : std::isnan(x)                                ? nan
                                               : (lambda[j] - std::clamp(x, problem.lower[j], problem.upper[j])) / rho;
            squares += map * map;
        }
    }
    result.joints = std::sqrt(squares) / result.scale;
    return result;
}

}  // namespace stickslip
