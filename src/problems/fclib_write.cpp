// Problems of ours as FCLIB files; stored_problem.hpp says the correspondence. Matrices go out as compressed rows with
// every number of every block, so that a file read back gives the same bits. `stickslip/nodes` is ours: other readers
// pass over it.
#include <fmt/format.h>

#include <algorithm>

#include "problems/fclib_matrix.hpp"
#include "stickslip/stored_problem.hpp"

namespace stickslip {

namespace {

std::span<const double> list(const ConstRef& x) { return {x.data(), static_cast<std::size_t>(x.size())}; }

// The one dimension of all contacts; refuses what FCLIB's cones are not.
int dimension_of(const std::string& path, const std::vector<int>& row, const std::vector<int>& facets,
                 const FclibWriting& how) {
    const auto dim = [&](std::size_t i) { return row[i + 1] - row[i]; };
    for (std::size_t i = 0; i < facets.size(); ++i) {
        if (dim(i) == 1)
            throw Error(
                fmt::format("cannot be written: contact {} has no tangent; FCLIB's contacts have 2 or 3 rows", i),
                {path});
        if (dim(i) != dim(0))
            throw Error(
                fmt::format("cannot be written: contacts 0 and {} have {} and {} rows; FCLIB's have one dimension "
                            "per file",
                            i, dim(0), dim(i)),
                {path});
        if (dim(i) == 3 && facets[i] != 0 && !how.polygons_as_discs)
            throw Error(
                fmt::format("cannot be written: the cone of contact {} is a polygon of {} facets; FCLIB has discs "
                            "only",
                            i, facets[i]),
                {path});
    }
    return facets.empty() ? 3 : dim(0);
}

void add_block(const Eigen::Ref<const MatX>& block, int row, int column, SparseMatrix& out) {
    for (int i = 0; i < block.rows(); ++i)
        for (int j = 0; j < block.cols(); ++j) out.entries.push_back({row + i, column + j, block(i, j)});
}

void sort(SparseMatrix& matrix) {
    std::sort(matrix.entries.begin(), matrix.entries.end(), [](const SparseEntry& a, const SparseEntry& b) {
        return a.row != b.row ? a.row < b.row : a.column < b.column;
    });
}

SparseMatrix entries_of(const BlockMatrix& A) {
    SparseMatrix out{A.nodes.nv(), A.nodes.nv(), {}};
    for (int n = 0; n < A.nodes.size(); ++n) add_block(A.block(n), A.nodes.start[n], A.nodes.start[n], out);
    for (const BlockMatrix::Coupling& c : A.couplings)
        add_block(A.block(c), A.nodes.start[c.row_node], A.nodes.start[c.column_node], out);
    sort(out);
    return out;
}

// J' with velocity k in row velocities[k].
SparseMatrix columns_of(const BlockRows& J, const Nodes& nodes, const std::vector<int>& velocities) {
    SparseMatrix out{nodes.nv(), J.rows(), {}};
    for (int g = 0; g < J.groups(); ++g)
        for (const BlockRows::Block& b : J.blocks_of(g)) {
            const auto block = J.values_of(g, b, nodes);
            for (int i = 0; i < block.rows(); ++i)
                for (int j = 0; j < block.cols(); ++j)
                    out.entries.push_back({velocities[nodes.start[b.node] + j], J.row[g] + i, block(i, j)});
        }
    sort(out);
    // a body that touches itself has two blocks at the same place
    std::size_t kept = 0;
    for (const SparseEntry& e : out.entries) {
        if (kept > 0 && out.entries[kept - 1].row == e.row && out.entries[kept - 1].column == e.column)
            out.entries[kept - 1].value += e.value;
        else
            out.entries[kept++] = e;
    }
    out.entries.resize(kept);
    return out;
}

void write_info(Hdf5File& file, const std::string& group) {
    file.write_text(group + "/info/title", "stickslip");
    file.write_text(group + "/info/description", "written by stickslip");
    file.write_text(group + "/info/math_info", "unknown");
}

void check_global(const std::string& path, const StepProblem& p) {
    for (int j = 0; j < p.joints.size(); ++j) {
        if (p.lower[j] != -infinity || p.upper[j] != infinity)
            throw Error(
                fmt::format("cannot be written: bilateral row {} has bounds (motor, brake, limit); FCLIB has none", j),
                {path});
        if (p.T[j] != 0)
            throw Error(fmt::format("cannot be written: bilateral row {} is compliant; FCLIB's are rigid", j), {path});
    }
    for (Eigen::Index k = 0; k < p.S.size(); ++k)
        if (p.S[k] != 0)
            throw Error(
                fmt::format("cannot be written: contact row {} is compliant; FCLIB's global form has rigid contacts, "
                            "its local form holds the compliance in W",
                            k),
                {path});
}

}  // namespace

void save_fclib(const std::string& path, const StepProblem& problem, const StepSolution* solution,
                const FclibWriting& how) {
    const Nodes& nodes = problem.nodes();
    const int nv = nodes.nv(), dim = dimension_of(path, problem.contacts.jacobian.row, problem.contacts.facets, how);
    check_global(path, problem);
    std::vector<int> velocities = how.velocities;
    if (velocities.empty())
        for (int k = 0; k < nv; ++k) velocities.push_back(k);
    SS_ASSERT(static_cast<int>(velocities.size()) == nv, "an order of other velocities");
    const auto ordered = [&](const VecX& x) {
        VecX y(nv);
        for (int k = 0; k < nv; ++k) y[velocities[k]] = x[k];
        return y;
    };
    SparseMatrix M = entries_of(problem.A);
    for (SparseEntry& e : M.entries) e = {velocities[e.row], velocities[e.column], e.value};
    sort(M);

    const std::string group = "fclib_global";
    Hdf5File file(path, Hdf5File::Open::create);
    write_fclib_integer(file, group + "/spacedim", dim);
    write_fclib_matrix(file, group + "/M", M);
    write_fclib_matrix(file, group + "/H", columns_of(problem.contacts.jacobian, nodes, velocities));
    file.write<double>(group + "/vectors/f", list(ordered(problem.r)));
    file.write<double>(group + "/vectors/w", list(problem.c));
    file.write<double>(group + "/vectors/mu", problem.contacts.friction);
    if (problem.joints.size() > 0) {
        write_fclib_matrix(file, group + "/G", columns_of(problem.joints.jacobian, nodes, velocities));
        file.write<double>(group + "/vectors/b", list(-problem.b));
    }
    write_info(file, group);
    if (how.velocities.empty()) file.write<std::int32_t>("stickslip/nodes", nodes.start);
    if (solution) {
        const RelativeError at = relative_errors(problem, solution->p, solution->lambda);
        file.write<double>("solution/r", list(solution->p));
        file.write<double>("solution/u", list(at.u));
        file.write<double>("solution/v", list(ordered(at.v)));
        if (problem.joints.size() > 0) file.write<double>("solution/l", list(solution->lambda));
    }
    file.close();
}

void save_fclib(const std::string& path, const DelassusProblem& problem, const DelassusSolution* solution,
                const FclibWriting& how) {
    const std::string group = "fclib_local";
    const int dim = dimension_of(path, problem.W.nodes.start, problem.facets, how);
    Hdf5File file(path, Hdf5File::Open::create);
    write_fclib_integer(file, group + "/spacedim", dim);
    write_fclib_matrix(file, group + "/W", entries_of(problem.W));
    file.write<double>(group + "/vectors/q", list(problem.q));
    file.write<double>(group + "/vectors/mu", problem.friction);
    write_info(file, group);
    if (solution) {
        file.write<double>("solution/r", list(solution->p));
        file.write<double>("solution/u", list(relative_errors(problem, solution->p).u));
    }
    file.close();
}

}  // namespace stickslip
