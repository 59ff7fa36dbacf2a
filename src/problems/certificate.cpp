#include "problems/certificate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "problems/cones.hpp"
#include "stickslip/error.hpp"

namespace stickslip {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr double unknown = infinity;
// Beyond, squares of impulses that change a velocity by the tolerance leave the range of doubles, and laws seem to hold.
constexpr double largest_weight = 1e140;
constexpr double not_known = std::numeric_limits<double>::quiet_NaN();
// Rounding of the natural map and of the laws themselves, in units of eps (|p| / rho + |u|): a dozen operations.
constexpr double law_operations = 3;
constexpr int max_refinements = 6;

// The larger one, but NaN once anything was NaN.
void raise_to(double& worst, double x) {
    if (x > worst || std::isnan(x)) worst = std::isnan(worst) ? worst : x;
}

// A sum of products in double precision.
struct Plain {
    using Sum = PlainSum;
    static void add(Sum& s, double a, double b) {
        const double term = a * b;
        s.value += term;
        s.size += std::abs(term);
        ++s.terms;
    }
    static double value(const Sum& s) { return s.value; }
    static double error(const Sum& s) { return error(s.size, s.terms); }
    static double error(double size, int terms) { return 0.5 * (terms + 2) * eps * size; }
    // Adds a.b of n entries, for spatial and planar bodies unrolled.
    static void add(Sum& s, const double* a, const double* b, int n) {
        if (n == 6) return add_all<6>(s, a, b);
        if (n == 3) return add_all<3>(s, a, b);
        for (int k = 0; k < n; ++k) add(s, a[k], b[k]);
    }

private:
    template <int N>
    static void add_all(Sum& s, const double* a, const double* b) {
        using Vector = Eigen::Matrix<double, N, 1>;
        const Vector terms = Eigen::Map<const Vector>(a).cwiseProduct(Eigen::Map<const Vector>(b));
        s.value += terms.sum();
        s.size += terms.cwiseAbs().sum();
        s.terms += N;
    }
};

// The same in twofold precision: the rounding errors of products and sums are themselves summed.
struct Twofold {
    using Sum = SizedSum;
    static void add(Sum& s, double a, double b) {
        const double term = a * b, term_error = std::fma(a, b, -term);
        const double sum = s.value + term, part = sum - s.value;
        s.rest += (s.value - (sum - part)) + (term - part) + term_error;
        s.value = sum;
        s.size += std::abs(term);
        ++s.terms;
    }
    static void add(Sum& s, const double* a, const double* b, int n) {
        for (int k = 0; k < n; ++k) add(s, a[k], b[k]);
    }
    static double value(const Sum& s) { return s.value + s.rest; }
    static double error(const Sum& s) {
        const double n = s.terms + 1;
        return eps * std::abs(s.value + s.rest) + 2 * n * n * eps * eps * s.size;
    }
};

template <class Precision>
void add_product(const BlockMatrix& A, const ConstRef& x, std::vector<typename Precision::Sum>& y) {
    const auto add = [&](int row_node, int column_node, const auto& block) {
        for (int j = 0; j < block.cols(); ++j)
            for (int i = 0; i < block.rows(); ++i)
                Precision::add(y[A.nodes.start[row_node] + i], block(i, j), x[A.nodes.start[column_node] + j]);
    };
    for (int n = 0; n < A.nodes.size(); ++n) add(n, n, A.block(n));
    for (const BlockMatrix::Coupling& c : A.couplings) add(c.row_node, c.column_node, A.block(c));
}

void subtract_transposed(const BlockRows& J, const Nodes& nodes, const RowVec& p, std::vector<SizedSum>& y) {
    for (int g = 0; g < J.groups(); ++g) {
        for (const BlockRows::Block& b : J.blocks_of(g)) {
            const int d = nodes.dof(b.node), first = nodes.start[b.node];
            const double* entry = J.values.data() + b.offset;
            for (int row = J.row[g]; row < J.row[g + 1]; ++row, entry += d)
                for (int k = 0; k < d; ++k) Twofold::add(y[first + k], entry[k], -p[row]);
        }
    }
}

// value += s x and size += |s x|, n entries each.
template <int N>
void add_scaled_of(double s, const double* x, double* value, double* size) {
    using Vector = Eigen::Matrix<double, N, 1>;
    const Vector terms = s * Eigen::Map<const Vector>(x);
    Eigen::Map<Vector>{value} += terms;
    Eigen::Map<Vector>{size} += terms.cwiseAbs();
}

void add_scaled(int n, double s, const double* x, double* value, double* size) {
    if (n == 6) return add_scaled_of<6>(s, x, value, size);
    if (n == 3) return add_scaled_of<3>(s, x, value, size);
    for (int k = 0; k < n; ++k) {
        const double term = s * x[k];
        value[k] += term;
        size[k] += std::abs(term);
    }
}

// The rows of J times -p, with the sums of absolute terms and their number per node, in plain arrays.
void subtract_transposed(const BlockRows& J, const Nodes& nodes, const RowVec& p, CertificateWork& w) {
    for (int g = 0; g < J.groups(); ++g) {
        for (const BlockRows::Block& b : J.blocks_of(g)) {
            const int d = nodes.dof(b.node), first = nodes.start[b.node];
            const double* entry = J.values.data() + b.offset;
            w.terms[b.node] += J.dim(g);
            for (int row = J.row[g]; row < J.row[g + 1]; ++row, entry += d)
                add_scaled(d, -p[row], entry, w.value.data() + first, w.size.data() + first);
        }
    }
}

// (J v) of one row of a group.
template <class Precision>
typename Precision::Sum row_speed(const BlockRows& J, int g, int row, const Nodes& nodes, const VecX& v) {
    typename Precision::Sum sum;
    for (const BlockRows::Block& b : J.blocks_of(g)) {
        const int d = nodes.dof(b.node), first = nodes.start[b.node];
        Precision::add(sum, J.values.data() + b.offset + (row - J.row[g]) * d, v.data() + first, d);
    }
    return sum;
}

double row_weight(const BlockRows& J, int g, int row, const NodeInverse& inverse) {
    double sum = 0;
    for (const BlockRows::Block& b : J.blocks_of(g))
        sum += inverse.quadratic(b.node, J.values.data() + b.offset + (row - J.row[g]) * inverse.nodes().dof(b.node));
    return sum;
}

// Largest violation of one law of a contact, and of its natural map, in velocity units.
double contact_violation(int dim, double mu, int facets, double rho, const double* u, const double* p) {
    double worst = contact_natural_map(dim, mu, facets, rho, u, p);
    const double weight = 1 / rho;
    raise_to(worst, -u[0]);
    raise_to(worst, -weight * p[0]);
    raise_to(worst, std::min(u[0], weight * p[0]));
    if (dim == 1) return worst;
    double nearest[3] = {p[0], p[1], dim == 3 ? p[2] : 0};
    project_cone(dim, mu, facets, nearest);
    double distance = 0;
    for (int k = 0; k < dim; ++k) distance += (p[k] - nearest[k]) * (p[k] - nearest[k]);
    raise_to(worst, weight * std::sqrt(distance));
    const double slip = dim == 2 ? std::abs(u[1]) : std::sqrt(u[1] * u[1] + u[2] * u[2]);
    if (slip > 0) {
        const double power = u[1] * p[1] + (dim == 3 ? u[2] * p[2] : 0.0);
        raise_to(worst, std::min(slip, weight * power / slip));
    }
    return worst;
}

double size_of(int dim, const double* x) {
    double sum = 0;
    for (int k = 0; k < dim; ++k) sum += std::abs(x[k]);
    return sum;
}

// What may be wrong in the violation of a contact whose u is known up to `u_error`.
double contact_rounding(int dim, double mu, double rho, const double* u, const double* p, double u_error) {
    const double slip = dim > 1 ? size_of(dim - 1, u + 1) : 0.0;
    return (1 + mu) * u_error + law_operations * eps * (size_of(dim, p) / rho + size_of(dim, u) + mu * slip);
}

template <class Precision>
class Evaluation {
public:
    Evaluation(const StepProblem& problem, const StepSolution& solution, CertificateWork& work)
        : problem_(problem), x_(solution), w_(work), nodes_(problem.nodes()) {}

    Certificate run() {
        fill_balance();
        judge_dynamics();
        for (int g = 0; g < problem_.joints.jacobian.groups(); ++g) judge_joint(g);
        for (int i = 0; i < problem_.contacts.size(); ++i) judge_contact(i);
        return result_;
    }

private:
    static constexpr bool precise = std::is_same_v<Precision, Twofold>;

    void fill_balance() {
        if constexpr (precise) {
            w_.balance.assign(static_cast<std::size_t>(nodes_.nv()), SizedSum{});
            for (int i = 0; i < nodes_.nv(); ++i) Twofold::add(w_.balance[i], problem_.r[i], -1);
            add_product<Twofold>(problem_.A, x_.v, w_.balance);
            subtract_transposed(problem_.joints.jacobian, nodes_, x_.lambda, w_.balance);
            subtract_transposed(problem_.contacts.jacobian, nodes_, x_.p, w_.balance);
            w_.error.resize(nodes_.nv());
            for (int i = 0; i < nodes_.nv(); ++i) w_.error[i] = Twofold::error(w_.balance[i]);
        } else {
            fill_plain_balance();
        }
    }

    // Without couplings; with them nothing is said before the twofold evaluation.
    void fill_plain_balance() {
        w_.value = -problem_.r;
        w_.size = problem_.r.cwiseAbs();
        w_.terms.assign(static_cast<std::size_t>(nodes_.size()), 1);
        for (int n = 0; n < nodes_.size(); ++n) {
            const int first = nodes_.start[n], d = nodes_.dof(n);
            const double* column = problem_.A.values.data() + problem_.A.diagonal[n];
            w_.terms[n] += d;
            for (int j = 0; j < d; ++j, column += d)
                add_scaled(d, x_.v[first + j], column, w_.value.data() + first, w_.size.data() + first);
        }
        subtract_transposed(problem_.joints.jacobian, nodes_, x_.lambda, w_);
        subtract_transposed(problem_.contacts.jacobian, nodes_, x_.p, w_);
    }

    // A^-1 times the balance.
    void judge_dynamics() {
        const bool coupled = !problem_.A.couplings.empty();
        if (precise) {
            w_.velocity.setZero(nodes_.nv());
            refine(coupled);
        } else if (coupled) {
            result_.rounding = unknown;
        } else {
            for (int n = 0; n < nodes_.size(); ++n) {
                if (nodes_.dof(n) == 6)
                    judge_node<6>(n);
                else if (nodes_.dof(n) == 3)
                    judge_node<3>(n);
                else
                    judge_node<Eigen::Dynamic>(n);
            }
        }
    }

    template <int D>
    void judge_node(int n) {
        using Matrix = Eigen::Matrix<double, D, D>;
        using Vector = Eigen::Matrix<double, D, 1>;
        const int first = nodes_.start[n], d = D == Eigen::Dynamic ? nodes_.dof(n) : D;
        const Eigen::Map<const Matrix> X(w_.inverse.block(n).data(), d, d), A(problem_.A.block(n).data(), d, d);
        const double *b = w_.value.data() + first, *size = w_.size.data() + first;
        // Relative error of the inverse, at most.
        const double condition = d * eps * A.cwiseAbs().maxCoeff() * X.cwiseAbs().maxCoeff() * d * d;
        const double own = d * eps + condition;
        Eigen::Map<Vector> sum(w_.sum.data(), d), error(w_.sum_error.data(), d);
        sum.setZero();
        error.setZero();
        for (int j = 0; j < d; ++j) {
            const double missing = Plain::error(size[j], w_.terms[n]) + own * std::abs(b[j]);
            sum += b[j] * X.col(j);
            error += missing * X.col(j).cwiseAbs();
        }
        for (int i = 0; i < d; ++i) {
            raise_to(result_.residual.dynamics, std::abs(sum[i]));
            raise_to(result_.rounding, condition < 0.1 ? 2 * error[i] : unknown);
        }
    }

    void solve(const VecX& b, bool coupled, VecX& x) {
        if (coupled) {
            x = b;
            w_.factors.solve(x.data());
        } else {
            x.resize(b.size());
            w_.inverse.apply(b, x);
        }
    }

    // velocity := A^-1 balance by iterative refinement; what the last correction was bounds what is still missing.
    void refine(bool coupled) {
        if (coupled && !w_.factors.factor(problem_.A)) {
            result_.rounding = unknown;
            return;
        }
        VecX& left = w_.left;
        left.resize(nodes_.nv());
        std::vector<SizedSum>& sums = w_.balance;
        if (coupled) judge_uncoupled(sums);
        double before = infinity, change = infinity;
        for (int round = 0; round < max_refinements; ++round) {
            for (int i = 0; i < nodes_.nv(); ++i) left[i] = Twofold::value(sums[i]);
            solve(left, coupled, w_.step);
            change = w_.step.size() > 0 ? w_.step.cwiseAbs().maxCoeff() : 0;
            if (!(change < 0.5 * before)) break;
            w_.velocity += w_.step;
            before = change;
            if (!(change > 1e-3 * w_.velocity.cwiseAbs().maxCoeff())) break;
            w_.step *= -1;
            add_product<Twofold>(problem_.A, w_.step, sums);
        }
        const double size = w_.velocity.size() > 0 ? w_.velocity.cwiseAbs().maxCoeff() : 0;
        if (std::isnan(change)) {
            result_.residual.dynamics = change;
            return;
        }
        raise_to(result_.residual.dynamics, size);
        solve(w_.error, coupled, w_.step);  // what rounding of the balance may amount to
        const double hidden = w_.step.size() > 0 ? w_.step.cwiseAbs().maxCoeff() : 0;
        raise_to(result_.rounding, change <= 1e-3 * size || change == 0 ? 2 * (change + hidden) : unknown);
    }

    // The balance in the scale of each body by itself, as the residual has it: couplings may make the other one smaller.
    void judge_uncoupled(const std::vector<SizedSum>& sums) {
        for (int i = 0; i < nodes_.nv(); ++i) w_.left[i] = Twofold::value(sums[i]);
        w_.step.resize(nodes_.nv());
        w_.inverse.apply(w_.left, w_.step);
        for (int i = 0; i < nodes_.nv(); ++i) raise_to(result_.residual.dynamics, std::abs(w_.step[i]));
        w_.inverse.apply(w_.error, w_.step);
        for (int i = 0; i < nodes_.nv(); ++i) raise_to(result_.rounding, 2 * std::abs(w_.step[i]));
    }

    void judge_joint(int g) {
        const BlockRows& G = problem_.joints.jacobian;
        for (int j = G.row[g]; j < G.row[g + 1]; ++j) {
            const double lambda = x_.lambda[j], lower = problem_.lower[j], upper = problem_.upper[j];
            typename Precision::Sum sum = row_speed<Precision>(G, g, j, nodes_, x_.v);
            Precision::add(sum, problem_.T[j], lambda);
            Precision::add(sum, problem_.b[j], -1);
            const double w = Precision::value(sum);
            double map = std::abs(w);
            if (!(lower == -infinity && upper == infinity)) {  // a free row has w itself as its natural map
                const double rho = natural_step(row_weight(G, g, j, w_.inverse) + problem_.T[j]);
                const double x = lambda - rho * w;
                const bool known = !std::isnan(x) && !std::isnan(lower) && !std::isnan(upper) && lower <= upper;
                map = known ? std::abs(lambda - std::clamp(x, lower, upper)) / rho : not_known;
                raise_to(result_.rounding, law_operations * eps * (std::abs(lambda) / rho + std::abs(w)));
            }
            raise_to(result_.residual.joints, map);
            raise_to(result_.rounding, 2 * Precision::error(sum));
        }
    }

    void judge_contact(int i) {
        const BlockRows& H = problem_.contacts.jacobian;
        const int first = H.row[i], dim = H.dim(i);
        double u[3] = {0, 0, 0}, error = 0, weight = 0;
        for (int k = 0; k < dim; ++k) {
            typename Precision::Sum sum = row_speed<Precision>(H, i, first + k, nodes_, x_.v);
            Precision::add(sum, problem_.S[first + k], x_.p[first + k]);
            Precision::add(sum, problem_.c[first + k], 1);
            u[k] = Precision::value(sum);
            error += Precision::error(sum);
            weight += row_weight(H, i, first + k, w_.inverse) + problem_.S[first + k];
        }
        const double rho = natural_step(weight / dim), mu = problem_.contacts.friction[i];
        const double* p = x_.p.data() + first;
        raise_to(result_.residual.contacts, contact_violation(dim, mu, problem_.contacts.facets[i], rho, u, p));
        raise_to(result_.rounding, weight < largest_weight ? contact_rounding(dim, mu, rho, u, p, error) : unknown);
        if (!precise || problem_.A.couplings.empty() || std::isinf(result_.rounding)) return;
        // Couplings may make a contact stiffer or softer than its own bodies are: the laws must hold in that scale too.
        const double whole = natural_step(whole_weight(i) / dim);
        raise_to(result_.residual.contacts, contact_violation(dim, mu, problem_.contacts.facets[i], whole, u, p));
        raise_to(result_.rounding, contact_rounding(dim, mu, whole, u, p, error));
    }

    // tr W_ii with the whole of A, which refine() has factored.
    double whole_weight(int i) {
        const BlockRows& H = problem_.contacts.jacobian;
        double sum = 0;
        for (int k = H.row[i]; k < H.row[i + 1]; ++k) {
            w_.left.setZero(nodes_.nv());
            for (const BlockRows::Block& b : H.blocks_of(i))
                for (int c = 0; c < nodes_.dof(b.node); ++c)
                    w_.left[nodes_.start[b.node] + c] += H.values[b.offset + (k - H.row[i]) * nodes_.dof(b.node) + c];
            solve(w_.left, true, w_.step);
            sum += w_.left.dot(w_.step) + problem_.S[k];
        }
        return sum;
    }

    const StepProblem& problem_;
    const StepSolution& x_;
    CertificateWork& w_;
    const Nodes& nodes_;
    Certificate result_;
};

template <class Precision>
Certificate evaluate_local(const DelassusProblem& problem, const ConstRef& p, double scale) {
    const Nodes& rows = problem.W.nodes;
    std::vector<typename Precision::Sum> u(static_cast<std::size_t>(rows.nv()));
    for (int i = 0; i < rows.nv(); ++i) Precision::add(u[i], problem.q[i], 1);
    add_product<Precision>(problem.W, p, u);
    Certificate result;
    double sum = 0, rounding = 0;
    for (int i = 0; i < problem.contacts(); ++i) {
        const int first = rows.start[i], dim = rows.dof(i);
        double speed[3] = {0, 0, 0}, error = 0;
        for (int k = 0; k < dim; ++k) {
            speed[k] = Precision::value(u[first + k]);
            error += Precision::error(u[first + k]);
        }
        const double rho = natural_step(problem.W.block(i).trace() / dim), mu = problem.friction[i];
        const double violation = contact_violation(dim, mu, problem.facets[i], rho, speed, p.data() + first);
        const double missing = contact_rounding(dim, mu, rho, speed, p.data() + first, error);
        sum += violation * violation;
        rounding += missing * missing;
    }
    result.residual.contacts = std::sqrt(sum) / scale;
    result.rounding = std::sqrt(rounding) / scale;
    return result;
}

// Whether more digits may change the answer.
bool undecided(const Certificate& c, double tol) { return !(c.bound() <= tol) && c.residual.max() <= tol; }

}  // namespace

Certificate certify(const StepProblem& problem, const StepSolution& solution, double tol, CertificateWork& work) {
    work.inverse.factor(problem.A);
    int widest = 0;
    for (int n = 0; n < problem.nodes().size(); ++n) widest = std::max(widest, problem.nodes().dof(n));
    work.sum.resize(widest);
    work.sum_error.resize(widest);
    const Certificate plain = Evaluation<Plain>(problem, solution, work).run();
    if (!undecided(plain, tol)) return plain;
    return Evaluation<Twofold>(problem, solution, work).run();
}

Certificate certify(const DelassusProblem& problem, const ConstRef& p, double tol) {
    SS_ASSERT(p.size() == problem.W.nodes.nv(), "problem and impulses of different sizes");
    const double size = problem.q.norm(), scale = size > 0 ? size : 1;
    const Certificate plain = evaluate_local<Plain>(problem, p, scale);
    if (!undecided(plain, tol)) return plain;
    return evaluate_local<Twofold>(problem, p, scale);
}

}  // namespace stickslip
