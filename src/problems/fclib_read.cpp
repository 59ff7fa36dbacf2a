// FCLIB files as problems of ours.
//
// Local: W in blocks of one contact each. Blocks that hold nothing but zeros are left out; W stays as unsymmetric as it is.
//
// Global: the velocities become nodes. A file says nothing of bodies, so a node is first a connected component of M's
// pattern. Bodies with diagonal inertia then still fall apart into single velocities; neighbours that the same contacts
// touch are put together again, up to the 6 of a body. Which nodes are chosen changes no number of the problem, only the
// work of solving it. Files that save_fclib wrote say their nodes themselves (`stickslip/nodes`).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <new>
#include <numeric>

#include "problems/check_numbers.hpp"
#include "problems/fclib_matrix.hpp"
#include "stickslip/stored_problem.hpp"

namespace stickslip {

namespace {

constexpr int body_velocities = 6;
// A component of M with more velocities than this is cut into coupled nodes: its dense inverse would cost more than the
// couplings do, and far larger ones would not fit into memory.
constexpr int largest_node = 200;

bool is_plus_zero(double x) { return x == 0 && !std::signbit(x); }

int read_dimension(const Hdf5File& file, const std::string& group) {
    const int dim = read_fclib_integer(file, group + "/spacedim");
    if (dim == 5)
        throw Error(
            "holds rolling friction (spacedim 5: two more components per contact); only sliding friction, "
            "spacedim 2 or 3, is solved here",
            {file.path()});
    if (dim != 2 && dim != 3)
        throw Error(fmt::format("'{}/spacedim' is {}, expected 2 or 3", group, dim), {file.path()});
    return dim;
}

std::vector<double> read_friction(const Hdf5File& file, const std::string& group, int contacts) {
    std::vector<double> mu = read_fclib_vector(file, group + "/vectors/mu", contacts);
    for (int i = 0; i < contacts; ++i)
        if (mu[i] < 0)
            throw Error(fmt::format("'{}/vectors/mu' of contact {} is {}, expected a friction coefficient >= 0", group,
                                    i, mu[i]),
                        {file.path()});
    return mu;
}

int count_contacts(const Hdf5File& file, const std::string& what, int rows, int dim) {
    if (rows % dim != 0)
        throw Error(fmt::format("'{}' has {} contact rows, not a multiple of spacedim {}", what, rows, dim),
                    {file.path()});
    return rows / dim;
}

VecX to_vector(const std::vector<double>& x) { return VecX::Map(x.data(), static_cast<Eigen::Index>(x.size())); }

// Adds the entries of a matrix to the blocks of A, row i of the matrix being row place[i] of A. Off-diagonal blocks come by
// row node, then column node.
void fill_blocks(const Hdf5File& file, const SparseMatrix& matrix, const std::vector<int>& place, const Nodes& nodes,
                 BlockMatrix& A) {
    std::vector<int> node_of(static_cast<std::size_t>(nodes.nv()));
    for (int n = 0; n < nodes.size(); ++n)
        std::fill(node_of.begin() + nodes.start[n], node_of.begin() + nodes.start[n + 1], n);
    std::map<std::pair<int, int>, int> coupling;
    std::int64_t size = 0;
    for (int n = 0; n < nodes.size(); ++n) size += std::int64_t{nodes.dof(n)} * nodes.dof(n);
    for (const SparseEntry& e : matrix.entries) {
        const int a = node_of[place[e.row]], b = node_of[place[e.column]];
        if (a != b && !is_plus_zero(e.value) && coupling.emplace(std::pair(a, b), 0).second)
            size += std::int64_t{nodes.dof(a)} * nodes.dof(b);
    }
    if (size > std::numeric_limits<int>::max())
        throw Error(fmt::format("is too large: {} numbers in blocks", size), {file.path()});
    A.values.reserve(static_cast<std::size_t>(size));
    A.shape_diagonal(nodes);
    for (auto& [key, offset] : coupling) offset = A.add_coupling(key.first, key.second).offset;
    for (const SparseEntry& e : matrix.entries) {
        const int i = place[e.row], j = place[e.column], a = node_of[i], b = node_of[j];
        if (a != b && is_plus_zero(e.value)) continue;
        const int offset = a == b ? A.diagonal[a] : coupling.at({a, b});
        A.values[offset + (i - nodes.start[a]) + (j - nodes.start[b]) * nodes.dof(a)] = e.value;
    }
}

std::vector<int> identity(int n) {
    std::vector<int> list(static_cast<std::size_t>(n));
    std::iota(list.begin(), list.end(), 0);
    return list;
}

// A stored vector if it is there, fits and is finite.
bool read_guess(const Hdf5File& file, const std::string& name, int size, std::vector<double>& x) {
    if (!file.has(name)) return false;
    try {
        x = read_fclib_vector(file, name, size);
    } catch (const Error&) {
        return false;
    }
    return true;
}

// What impulses say of the contacts: nothing, inside the cone, at its rim.
std::vector<ContactMode> modes_of(const ConstRef& p, const std::vector<int>& row, const std::vector<double>& friction) {
    std::vector<ContactMode> modes;
    for (std::size_t i = 0; i < friction.size(); ++i) {
        const int first = row[i], dim = row[i + 1] - row[i];
        const double rim = friction[i] * p[first];
        const bool inside = dim == 1 || p.segment(first + 1, dim - 1).norm() < (1 - 1e-6) * rim;
        modes.push_back(p[first] <= 0 ? ContactMode::open : inside ? ContactMode::stick : ContactMode::slip);
    }
    return modes;
}

void read_local(const Hdf5File& file, StoredProblem& out) {
    const std::string group = "fclib_local";
    out.format = ProblemFormat::fclib_local;
    const int dim = read_dimension(file, group);
    if (file.has(group + "/V") || file.has(group + "/R"))
        throw Error(
            "has bilateral rows in its local form (V, R); only W, q and mu are solved. The global form of the same "
            "problem (M, H, G) can be",
            {file.path()});
    const SparseMatrix W = read_fclib_matrix(file, group + "/W");
    if (W.rows != W.columns)
        throw Error(fmt::format("matrix '{}/W' is {} x {}, expected a square one", group, W.rows, W.columns),
                    {file.path()});
    for (const SparseEntry& e : W.entries)
        if (e.row == e.column && e.value < 0)
            throw Error(fmt::format("matrix '{}/W' has {} on its diagonal in row {}, expected a number >= 0", group,
                                    e.value, e.row),
                        {file.path()});
    const int contacts = count_contacts(file, group + "/W", W.rows, dim);
    const std::vector<double> q = read_fclib_vector(file, group + "/vectors/q", W.rows);
    out.local.friction = read_friction(file, group, contacts);
    out.local.facets.assign(static_cast<std::size_t>(contacts), 0);
    out.local.q = to_vector(q);
    Nodes nodes;
    for (int i = 0; i < contacts; ++i) nodes.add(dim);
    fill_blocks(file, W, identity(W.rows), nodes, out.local.W);

    out.local_guess.size_to(out.local);
    std::vector<double> r;
    if (read_guess(file, "solution/r", W.rows, r)) {
        out.local_guess.p = to_vector(r);
        out.local_guess.modes = modes_of(out.local_guess.p, nodes.start, out.local.friction);
        out.local_guess.warm = true;
    }
}

// The connected components of M's pattern, each ascending, by their first velocity.
std::vector<std::vector<int>> components(const SparseMatrix& M) {
    std::vector<int> root = identity(M.rows);
    const auto find = [&](int i) {
        while (root[i] != i) i = root[i] = root[root[i]];
        return i;
    };
    for (const SparseEntry& e : M.entries) {
        if (e.value == 0) continue;
        const int a = find(e.row), b = find(e.column);
        root[std::max(a, b)] = std::min(a, b);
    }
    std::vector<int> index(root.size(), -1);
    std::vector<std::vector<int>> result;
    for (int i = 0; i < M.rows; ++i) {
        const int r = find(i);
        if (index[r] < 0) {
            index[r] = static_cast<int>(result.size());
            result.emplace_back();
        }
        result[index[r]].push_back(i);
    }
    return result;
}

// The order of the velocities and their nodes; see the head of this file. `rows` are H' and G'.
void choose_nodes(const SparseMatrix& M, const std::vector<const SparseMatrix*>& rows, int dim, Nodes& nodes,
                  std::vector<int>& velocities) {
    std::vector<std::vector<int>> touching(static_cast<std::size_t>(M.rows));  // contacts and joint rows, ascending
    int base = 0;
    for (const SparseMatrix* J : rows) {
        const int group = J == rows.front() ? dim : 1;
        for (const SparseEntry& e : J->entries) {
            auto& list = touching[e.column];
            const int who = base + e.row / group;
            if (e.value != 0 && (list.empty() || list.back() != who)) list.push_back(who);
        }
        base += J->rows / group;
    }
    const auto touching_of = [&](const std::vector<int>& part) {
        std::vector<int> all;
        for (const int i : part) {
            const auto& list = touching[i];
            all.insert(all.end(), list.begin(), list.end());
        }
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
        return all;
    };
    nodes = {};
    velocities.clear();
    std::vector<int> open, open_touching;  // the node that may still grow
    const auto close = [&] {
        const int size = static_cast<int>(open.size());
        if (size <= largest_node) {
            if (size > 0) nodes.add(size);
        } else {
            for (int k = 0; k < size; k += body_velocities) nodes.add(std::min(body_velocities, size - k));
        }
        velocities.insert(velocities.end(), open.begin(), open.end());
        open.clear();
    };
    for (const std::vector<int>& part : components(M)) {
        const std::vector<int> by = touching_of(part);
        if (open.empty() || static_cast<int>(open.size() + part.size()) > body_velocities ||
            !std::includes(open_touching.begin(), open_touching.end(), by.begin(), by.end())) {
            close();
            open_touching = by;
        }
        open.insert(open.end(), part.begin(), part.end());
    }
    close();
}

bool read_own_nodes(const Hdf5File& file, int nv, Nodes& nodes) {
    if (!file.has("stickslip/nodes")) return false;
    nodes.start = read_fclib_integers(file, "stickslip/nodes");
    bool good = !nodes.start.empty() && nodes.start.front() == 0 && nodes.start.back() == nv;
    for (std::size_t n = 1; good && n < nodes.start.size(); ++n)
        good = nodes.start[n] > nodes.start[n - 1] && nodes.start[n] - nodes.start[n - 1] <= 46340;
    if (!good) throw Error("is damaged: 'stickslip/nodes' does not split the velocities", {file.path()});
    return true;
}

// One group of `dim` rows after another from the rows of J = H' or G'; `open` begins a group.
template <class Open>
void fill_rows(const SparseMatrix& J, int dim, const std::vector<int>& place, const Nodes& nodes, BlockRows& rows,
               const Open& open) {
    std::vector<int> node_of(static_cast<std::size_t>(nodes.nv()));
    for (int n = 0; n < nodes.size(); ++n)
        std::fill(node_of.begin() + nodes.start[n], node_of.begin() + nodes.start[n + 1], n);
    std::size_t k = 0;
    std::vector<int> touched;
    for (int g = 0; g < J.rows / dim; ++g) {
        const std::size_t begin = k;
        touched.clear();
        for (; k < J.entries.size() && J.entries[k].row / dim == g; ++k)
            if (!is_plus_zero(J.entries[k].value)) touched.push_back(node_of[place[J.entries[k].column]]);
        std::sort(touched.begin(), touched.end());
        touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
        open(g);
        for (const int n : touched) {
            auto block = rows.add_block(n, nodes.dof(n));
            for (std::size_t m = begin; m < k; ++m) {
                const SparseEntry& e = J.entries[m];
                const int column = place[e.column];
                if (node_of[column] == n) block(e.row - g * dim, column - nodes.start[n]) = e.value;
            }
        }
    }
}

void read_global(const Hdf5File& file, StoredProblem& out) {
    const std::string group = "fclib_global";
    out.format = ProblemFormat::fclib_global;
    const int dim = read_dimension(file, group);
    const SparseMatrix M = read_fclib_matrix(file, group + "/M");
    if (M.rows != M.columns)
        throw Error(fmt::format("matrix '{}/M' is {} x {}, expected a square one", group, M.rows, M.columns),
                    {file.path()});
    const int nv = M.rows;
    const std::vector<double> f = read_fclib_vector(file, group + "/vectors/f", nv);  // first: a wrong size ends here
    std::vector<char> positive(static_cast<std::size_t>(nv), 0);
    for (const SparseEntry& e : M.entries)
        if (e.row == e.column && e.value > 0) positive[e.row] = 1;
    for (int i = 0; i < nv; ++i)
        if (!positive[i])
            throw Error(fmt::format("matrix '{}/M' has no positive entry on its diagonal in row {}", group, i),
                        {file.path()});
    const auto read_rows = [&](const char* name) {
        const SparseMatrix columns = read_fclib_matrix(file, group + "/" + name);
        if (columns.rows != nv)
            throw Error(fmt::format("matrix '{}/{}' has {} rows, but M has {}", group, name, columns.rows, nv),
                        {file.path()});
        return columns.transposed();
    };
    const SparseMatrix H = read_rows("H");
    const bool joints = file.has(group + "/G");
    const SparseMatrix G = joints ? read_rows("G") : SparseMatrix{0, nv, {}};
    const int contacts = count_contacts(file, group + "/H", H.rows, dim);
    const std::vector<double> mu = read_friction(file, group, contacts);
    const std::vector<double> w = read_fclib_vector(file, group + "/vectors/w", H.rows);
    const std::vector<double> b =
        joints ? read_fclib_vector(file, group + "/vectors/b", G.rows) : std::vector<double>{};

    Nodes nodes;
    if (read_own_nodes(file, nv, nodes))
        out.velocities = identity(nv);
    else
        choose_nodes(M, {&H, &G}, dim, nodes, out.velocities);
    std::vector<int> place(static_cast<std::size_t>(nv));
    for (int k = 0; k < nv; ++k) place[out.velocities[k]] = k;

    StepProblem& step = out.step;
    fill_blocks(file, M, place, nodes, step.A);
    check_positive_definite(step.A, group + "/M", file.path());
    fill_rows(G, 1, place, nodes, step.joints.jacobian,
              [&](int g) { step.joints.begin_group(static_cast<std::uint32_t>(g), 1, RowKind::velocity); });
    fill_rows(H, dim, place, nodes, step.contacts.jacobian, [&](int i) {
        step.contacts.begin_contact({.a = static_cast<std::uint32_t>(i)}, dim, 0.0, mu[i], 0.0, 0);
    });
    step.size_to_rows();
    for (int k = 0; k < nv; ++k) step.r[k] = f[out.velocities[k]];
    for (int k = 0; k < H.rows; ++k) step.c[k] = w[k];
    for (int k = 0; k < G.rows; ++k) step.b[k] = -b[k];

    StepSolution& guess = out.step_guess;
    guess.size_to(step);
    std::vector<double> r, v, l;
    if (read_guess(file, "solution/r", H.rows, r) && read_guess(file, "solution/v", nv, v) &&
        (G.rows == 0 || read_guess(file, "solution/l", G.rows, l))) {
        for (int k = 0; k < H.rows; ++k) guess.p[k] = r[k];
        for (int k = 0; k < nv; ++k) guess.v[k] = v[out.velocities[k]];
        for (int k = 0; k < G.rows; ++k) guess.lambda[k] = l[k];
        guess.modes = modes_of(guess.p, step.contacts.jacobian.row, mu);
        guess.warm = true;
    }
}

}  // namespace

StoredProblem load_any_problem(const std::string& path) {
    StoredProblem result;
    {
        const Hdf5File file(path, Hdf5File::Open::read);
        for (const char* kind : {"fclib_local_rolling", "fclib_global_rolling"})
            if (file.has(kind))
                throw Error(fmt::format("holds rolling friction ('{}'); only sliding friction (fclib_local, "
                                        "fclib_global) is solved here",
                                        kind),
                            {path});
        try {
            if (file.has("fclib_local")) {
                read_local(file, result);
                return result;
            }
            if (file.has("fclib_global")) {
                read_global(file, result);
                return result;
            }
        } catch (const std::bad_alloc&) {
            throw Error("asks for more memory than there is", {path});
        }
        if (!file.has_attribute("/", "format"))
            throw Error("is neither a stickslip problem nor an FCLIB one (fclib_local, fclib_global)", {path});
    }
    load_problem(path, result.step, result.step_guess);
    return result;
}

}  // namespace stickslip
