#include "problems/check_numbers.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/SparseCholesky>
#include <cmath>
#include <set>

namespace stickslip {

namespace {

// A pivot of the matrix with ones on its diagonal that is smaller counts as zero: rounding alone could make it positive.
constexpr double least_pivot = 1e-15;

template <class V>
std::span<const double> numbers_of(const V& x) {
    return {x.data(), static_cast<std::size_t>(x.size())};
}

// A number or an infinity of any sign, not a NaN.
void check_bounds(const RowVec& lower, const RowVec& upper, const std::string& path) {
    for (Eigen::Index i = 0; i < lower.size(); ++i) {
        for (const auto& [name, x] : {std::pair{"lower", lower[i]}, {"upper", upper[i]}})
            if (std::isnan(x) || (std::isfinite(x) && std::abs(x) > largest_number))
                throw Error(fmt::format("'joints/{}' entry {} is {}, expected a number or an infinity", name, i, x),
                            {path});
        if (!(lower[i] <= upper[i]))
            throw Error(fmt::format("joints/lower[{0}] = {1} is above joints/upper[{0}] = {2}", i, lower[i], upper[i]),
                        {path});
        if (lower[i] == infinity || upper[i] == -infinity)
            throw Error(fmt::format("joints/lower[{0}] = {1} and joints/upper[{0}] = {2} leave no number between them",
                                    i, lower[i], upper[i]),
                        {path});
    }
}

void check_jacobian_numbers(const BlockRows& J, const std::string& group, const std::string& path) {
    check_finite({J.values.data(), J.values.size()}, group + "/values", path);
}

[[noreturn]] void refuse(const std::string& name, const std::string& where, const std::string& path) {
    throw Error(fmt::format("'{}': {} has no positive definite symmetric part; a mass matrix has one", name, where),
                {path});
}

// With ones on the diagonal, so that one measure of zero serves masses and inertias of any size.
template <class Matrix>
bool scale_to_ones(Matrix& S, VecX& scale) {
    scale = S.diagonal();
    for (Eigen::Index i = 0; i < scale.size(); ++i) {
        if (!(scale[i] > 0)) return false;
        scale[i] = 1 / std::sqrt(scale[i]);
    }
    S = scale.asDiagonal() * S * scale.asDiagonal();
    return true;
}

void check_coupled(const BlockMatrix& A, const std::string& name, const std::string& path) {
    const Nodes& nodes = A.nodes;
    std::vector<Eigen::Triplet<double>> entries;
    const auto add = [&](int row_node, int column_node, int offset) {
        const int rows = nodes.dof(row_node);
        for (int j = 0; j < nodes.dof(column_node); ++j) {
            for (int i = 0; i < rows; ++i) {
                const double half = 0.5 * A.values[static_cast<std::size_t>(offset + i + j * rows)];
                const int row = nodes.start[row_node] + i, column = nodes.start[column_node] + j;
                entries.emplace_back(row, column, half);
                entries.emplace_back(column, row, half);
            }
        }
    };
    for (int n = 0; n < nodes.size(); ++n) add(n, n, A.diagonal[n]);
    for (const BlockMatrix::Coupling& c : A.couplings) add(c.row_node, c.column_node, c.offset);
    Eigen::SparseMatrix<double> S(nodes.nv(), nodes.nv());
    S.setFromTriplets(entries.begin(), entries.end());
    VecX scale;
    if (!scale_to_ones(S, scale)) refuse(name, "the whole matrix", path);
    const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> factors(S);
    if (factors.info() != Eigen::Success || !(factors.vectorD().minCoeff() > least_pivot))
        refuse(name, "the whole matrix", path);
}

}  // namespace

void check_finite(std::span<const double> x, const std::string& name, const std::string& path) {
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (!std::isfinite(x[i]))
            throw Error(fmt::format("'{}' entry {} is {}, expected a finite number", name, i, x[i]), {path});
        if (std::abs(x[i]) > largest_number)
            throw Error(fmt::format("'{}' entry {} is {}, too large to compute with (at most {:g})", name, i, x[i],
                                    largest_number),
                        {path});
    }
}

void check_not_negative(std::span<const double> x, const std::string& name, const std::string& path) {
    check_finite(x, name, path);
    for (std::size_t i = 0; i < x.size(); ++i)
        if (x[i] < 0) throw Error(fmt::format("'{}' entry {} is {}, expected a number >= 0", name, i, x[i]), {path});
}

void check_positive_definite(const BlockMatrix& A, const std::string& name, const std::string& path) {
    const Nodes& nodes = A.nodes;
    MatX S;
    VecX scale;
    for (int n = 0; n < nodes.size(); ++n) {
        const int dof = nodes.dof(n);
        const Eigen::Map<const MatX> block(A.values.data() + A.diagonal[n], dof, dof);
        S = 0.5 * (block + block.transpose());
        const std::string where = fmt::format("the block of node {}", n);
        for (int i = 0; i < dof; ++i)
            if (block(i, i) > 0 && block(i, i) < 1 / largest_number)
                throw Error(fmt::format("'{}': {} has {} on its diagonal, too small to compute with (at least {:g})", name, where,
                                        block(i, i), 1 / largest_number),
                            {path});
        if (!scale_to_ones(S, scale)) refuse(name, where, path);
        const Eigen::LLT<MatX> factors(S);
        if (factors.info() != Eigen::Success) refuse(name, where, path);
        if (!(factors.matrixLLT().diagonal().array().square().minCoeff() > least_pivot)) refuse(name, where, path);
    }
    if (!A.couplings.empty() && nodes.nv() <= largest_factored) check_coupled(A, name, path);
}

void check_numbers(const StepProblem& p, const std::string& path) {
    check_finite({p.A.values.data(), p.A.values.size()}, "A/values", path);
    std::set<std::pair<int, int>> coupled;
    for (const BlockMatrix::Coupling& c : p.A.couplings)
        if (c.row_node == c.column_node || !coupled.emplace(c.row_node, c.column_node).second)
            throw Error(
                fmt::format("is damaged: 'A/coupling' names the nodes {} and {} twice", c.row_node, c.column_node),
                {path});
    check_positive_definite(p.A, "A/values", path);
    check_finite(numbers_of(p.r), "r", path);

    check_jacobian_numbers(p.joints.jacobian, "joints", path);
    check_finite(p.joints.value, "joints/value", path);
    check_finite(p.joints.target, "joints/target", path);
    check_finite(p.joints.stiffness, "joints/stiffness", path);
    check_finite(p.joints.damping, "joints/damping", path);
    check_not_negative(numbers_of(p.T), "joints/T", path);
    check_finite(numbers_of(p.b), "joints/b", path);
    check_bounds(p.lower, p.upper, path);

    check_jacobian_numbers(p.contacts.jacobian, "contacts", path);
    check_finite(p.contacts.gap, "contacts/gap", path);
    check_not_negative(p.contacts.friction, "contacts/friction", path);
    check_finite(p.contacts.restitution, "contacts/restitution", path);
    check_not_negative(numbers_of(p.S), "contacts/S", path);
    check_finite(numbers_of(p.c), "contacts/c", path);
}

void check_numbers(const StepSolution& guess, const std::string& path) {
    check_finite(numbers_of(guess.v), "guess/v", path);
    check_finite(numbers_of(guess.lambda), "guess/lambda", path);
    check_finite(numbers_of(guess.p), "guess/p", path);
}

}  // namespace stickslip
