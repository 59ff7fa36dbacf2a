// Step problems and their solutions as HDF5 files; docs/record.md gives the layout. Every array of the problem is
// stored as it lies in memory, so that a replay sees the same bits in the same order. A checksum over all arrays
// (attribute `checksum`) tells damage in the numbers; damage in the structure is told by HDF5 and by check(); numbers that no
// solver can compute with are told by check_numbers.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "base/hdf5_file.hpp"
#include "base/who_words.hpp"
#include "problems/check_numbers.hpp"
#include "stickslip/problem.hpp"
#include "stickslip/version.hpp"

namespace stickslip {

namespace {

constexpr const char* problem_format = "stickslip-problem";
constexpr const char* solution_format = "stickslip-solution";
// Version 2 has wider contact ids; files of version 1 are read too.
constexpr std::uint64_t format_version = 2;
constexpr std::uint64_t solution_format_version = 1;

// How each kind of list becomes a flat list of numbers, `columns` per entry.
template <class T>
struct Flat;
template <>
struct Flat<double> {
    using Number = double;
    static constexpr std::size_t columns = 1;
    static void put(double x, Number* to) { *to = x; }
    static void get(const Number* from, double& x) { x = *from; }
};
template <>
struct Flat<int> {
    using Number = std::int32_t;
    static constexpr std::size_t columns = 1;
    static void put(int x, Number* to) { *to = x; }
    static void get(const Number* from, int& x) { x = *from; }
};
template <>
struct Flat<std::uint32_t> {
    using Number = std::uint32_t;
    static constexpr std::size_t columns = 1;
    static void put(std::uint32_t x, Number* to) { *to = x; }
    static void get(const Number* from, std::uint32_t& x) { x = *from; }
};
template <class Small>
struct FlatByte {
    using Number = std::uint8_t;
    static constexpr std::size_t columns = 1;
    static void put(Small x, Number* to) { *to = static_cast<Number>(x); }
    static void get(const Number* from, Small& x) { x = static_cast<Small>(*from); }
};
template <>
struct Flat<char> : FlatByte<char> {};
template <>
struct Flat<RowKind> : FlatByte<RowKind> {};
template <>
struct Flat<ContactMode> : FlatByte<ContactMode> {};
template <>
struct Flat<Vec3> {
    using Number = double;
    static constexpr std::size_t columns = 3;
    static void put(const Vec3& x, Number* to) { std::copy(x.data(), x.data() + 3, to); }
    static void get(const Number* from, Vec3& x) { std::copy(from, from + 3, x.data()); }
};
template <>
struct Flat<ContactId> {
    using Number = std::uint32_t;
    static constexpr std::size_t columns = who_words;
    static void put(const ContactId& x, Number* to) { std::ranges::copy(words_of(x), to); }
    static void get(const Number* from, ContactId& x) { x = contact_of(who_at(from, who_words, 0)); }
};
template <>
struct Flat<BlockMatrix::Coupling> {
    using Number = std::int32_t;
    static constexpr std::size_t columns = 3;
    static void put(const BlockMatrix::Coupling& x, Number* to) {
        to[0] = x.row_node, to[1] = x.column_node, to[2] = x.offset;
    }
    static void get(const Number* from, BlockMatrix::Coupling& x) {
        x.row_node = from[0], x.column_node = from[1], x.offset = from[2];
    }
};
template <>
struct Flat<BlockRows::Block> {
    using Number = std::int32_t;
    static constexpr std::size_t columns = 2;
    static void put(const BlockRows::Block& x, Number* to) { to[0] = x.node, to[1] = x.offset; }
    static void get(const Number* from, BlockRows::Block& x) { x.node = from[0], x.offset = from[1]; }
};

std::uint64_t chain(std::uint64_t sum, const std::string& name, const void* data, std::size_t bytes) {
    return fnv1a(data, bytes, fnv1a(name.data(), name.size(), sum));
}

class Writer {
public:
    explicit Writer(Hdf5File& file) : file_(file) {}
    std::uint64_t sum() const { return sum_; }

    template <class T, class Allocator>
    void operator()(const std::string& name, const std::vector<T, Allocator>& list, const char* unit) {
        using F = Flat<T>;
        std::vector<typename F::Number> flat(list.size() * F::columns);
        for (std::size_t i = 0; i < list.size(); ++i) F::put(list[i], flat.data() + i * F::columns);
        numbers(name, std::span<const typename F::Number>(flat), F::columns, unit);
    }
    void operator()(const std::string& name, const VecX& x, const char* unit) { vector(name, x, unit); }
    void operator()(const std::string& name, const RowVec& x, const char* unit) { vector(name, x, unit); }

private:
    template <class V>
    void vector(const std::string& name, const V& x, const char* unit) {
        numbers(name, std::span<const double>(x.data(), static_cast<std::size_t>(x.size())), 1, unit);
    }
    template <class N>
    void numbers(const std::string& name, std::span<const N> flat, std::size_t columns, const char* unit) {
        std::vector<std::uint64_t> shape{flat.size() / columns};
        if (columns > 1) shape.push_back(columns);
        file_.write(name, flat, shape);
        if (*unit) file_.set_attribute(name, "unit", unit);
        sum_ = chain(sum_, name, flat.data(), flat.size_bytes());
    }
    Hdf5File& file_;
    std::uint64_t sum_ = fnv_offset;
};

class Reader {
public:
    Reader(const Hdf5File& file, std::uint64_t version)
        : file_(file), id_columns_(version == 1 ? old_who_words : who_words) {}
    std::uint64_t sum() const { return sum_; }

    template <class T, class Allocator>
    void operator()(const std::string& name, std::vector<T, Allocator>& list, const char*) {
        using F = Flat<T>;
        const auto flat = numbers<typename F::Number>(name, F::columns);
        list.resize(flat.size() / F::columns);
        for (std::size_t i = 0; i < list.size(); ++i) F::get(flat.data() + i * F::columns, list[i]);
    }
    // In files of version 1 an id has three words.
    void operator()(const std::string& name, std::vector<ContactId>& list, const char*) {
        const auto flat = numbers<std::uint32_t>(name, id_columns_);
        list.resize(flat.size() / id_columns_);
        for (std::size_t i = 0; i < list.size(); ++i) list[i] = contact_of(who_at(flat.data(), id_columns_, i));
    }
    void operator()(const std::string& name, VecX& x, const char*) { vector(name, x); }
    void operator()(const std::string& name, RowVec& x, const char*) { vector(name, x); }

private:
    template <class V>
    void vector(const std::string& name, V& x) {
        const std::vector<double> flat = numbers<double>(name, 1);
        x.resize(static_cast<Eigen::Index>(flat.size()));
        std::copy(flat.begin(), flat.end(), x.data());
    }
    template <class N>
    std::vector<N> numbers(const std::string& name, std::size_t columns) {
        std::vector<std::uint64_t> shape;
        std::vector<N> flat = file_.read<N>(name, &shape);
        if (shape.size() != (columns > 1 ? 2u : 1u) || (columns > 1 && shape[1] != columns))
            throw Error(fmt::format("'{}' should have {} numbers per entry", name, columns), {file_.path()});
        sum_ = chain(sum_, name, flat.data(), flat.size() * sizeof(N));
        return flat;
    }
    const Hdf5File& file_;
    const std::size_t id_columns_;
    std::uint64_t sum_ = fnv_offset;
};

// The arrays of a problem, listed once. `problem` is const for the writer.
template <class Archive, class Rows>
void visit_jacobian(Archive& file, const std::string& group, Rows& J) {
    file(group + "/row", J.row, "");
    file(group + "/first", J.first, "");
    file(group + "/block", J.blocks, "");
    file(group + "/values", J.values, "");
}

template <class Archive, class Problem>
void visit_problem(Archive& file, Problem& p) {
    file("nodes/start", p.A.nodes.start, "");
    file("A/diagonal", p.A.diagonal, "");
    file("A/coupling", p.A.couplings, "");
    file("A/values", p.A.values, "kg, kg m, kg m^2");
    file("r", p.r, "N s, N m s");

    visit_jacobian(file, "joints", p.joints.jacobian);
    file("joints/id", p.joints.id, "");
    file("joints/kind", p.joints.kind, "");
    file("joints/value", p.joints.value, "m, rad");
    file("joints/target", p.joints.target, "m/s, rad/s");
    file("joints/stiffness", p.joints.stiffness, "N/m, N m/rad");
    file("joints/damping", p.joints.damping, "N s/m, N m s/rad");
    file("joints/force_lower", p.joints.force_lower, "N, N m");
    file("joints/force_upper", p.joints.force_upper, "N, N m");
    file("joints/impulsive", p.joints.impulsive, "");
    file("joints/curvature", p.joints.bias, "m/s^2, rad/s^2");
    file("joints/T", p.T, "m/s per N s");
    file("joints/b", p.b, "m/s, rad/s");
    file("joints/lower", p.lower, "N s, N m s");
    file("joints/upper", p.upper, "N s, N m s");

    visit_jacobian(file, "contacts", p.contacts.jacobian);
    file("contacts/id", p.contacts.id, "");
    file("contacts/gap", p.contacts.gap, "m");
    file("contacts/friction", p.contacts.friction, "1");
    file("contacts/restitution", p.contacts.restitution, "1");
    file("contacts/facets", p.contacts.facets, "");
    file("contacts/position", p.contacts.position, "m");
    file("contacts/normal", p.contacts.normal, "1");
    file("contacts/tangent", p.contacts.tangent, "1");
    file("contacts/curvature", p.contacts.bias, "m/s^2");
    file("contacts/S", p.S, "m/s per N s");
    file("contacts/c", p.c, "m/s");
}

template <class Archive, class Solution>
void visit_guess(Archive& file, Solution& s) {
    file("guess/v", s.v, "m/s, rad/s");
    file("guess/lambda", s.lambda, "N s, N m s");
    file("guess/p", s.p, "N s");
    file("guess/modes", s.modes, "");
}

// Refuses what the rest of the library takes for granted: sizes, offsets and node numbers.
class Check {
public:
    explicit Check(const std::string& path) : path_(path) {}

    void operator()(bool good, const char* what) const {
        if (!good) throw Error(fmt::format("is damaged: {}", what), {path_});
    }
    template <class List>
    void size(const List& list, int n, const char* name) const {
        if (static_cast<std::int64_t>(list.size()) != n)
            throw Error(fmt::format("is damaged: '{}' has {} entries instead of {}", name, list.size(), n), {path_});
    }
    void starts(const std::vector<int>& start, std::int64_t least, std::int64_t most, const char* what) const {
        (*this)(!start.empty() && start[0] == 0, what);
        for (std::size_t i = 1; i < start.size(); ++i) {
            const std::int64_t n = std::int64_t{start[i]} - start[i - 1];
            (*this)(n >= least && n <= most, what);
        }
    }
    void block(std::int64_t offset, std::int64_t rows, std::int64_t columns, std::size_t values) const {
        (*this)(offset >= 0 && rows * columns <= static_cast<std::int64_t>(values) - offset,
                "a matrix block lies outside its values");
    }

private:
    const std::string& path_;
};

void check_jacobian(const Check& check, const BlockRows& J, const Nodes& nodes, int max_rows) {
    check.starts(J.row, max_rows < 4 ? 1 : 0, max_rows, "rows of the groups");
    check.starts(J.first, 0, std::numeric_limits<int>::max(), "blocks of the groups");
    check(J.first.size() == J.row.size(), "rows and blocks of the groups");
    check.size(J.blocks, J.first.back(), "block");
    for (int g = 0; g < J.groups(); ++g) {
        for (const BlockRows::Block& b : J.blocks_of(g)) {
            check(b.node >= 0 && b.node < nodes.size(), "a row touches a node that does not exist");
            check.block(b.offset, J.dim(g), nodes.dof(b.node), J.values.size());
        }
    }
}

void check_problem(const StepProblem& p, const std::string& path) {
    const Check check(path);
    const Nodes& nodes = p.nodes();
    constexpr int most = std::numeric_limits<int>::max();
    check.starts(nodes.start, 1, 46340, "nodes");  // dof^2 must fit an int
    check.size(p.A.diagonal, nodes.size(), "A/diagonal");
    for (int n = 0; n < nodes.size(); ++n) check.block(p.A.diagonal[n], nodes.dof(n), nodes.dof(n), p.A.values.size());
    for (const BlockMatrix::Coupling& c : p.A.couplings) {
        check(c.row_node >= 0 && c.row_node < nodes.size() && c.column_node >= 0 && c.column_node < nodes.size(),
              "a coupling of nodes that do not exist");
        check.block(c.offset, nodes.dof(c.row_node), nodes.dof(c.column_node), p.A.values.size());
    }
    check.size(p.r, nodes.nv(), "r");

    const BilateralRows& joints = p.joints;
    check_jacobian(check, joints.jacobian, nodes, most);
    const int m = joints.size();
    check.size(joints.id, joints.jacobian.groups(), "joints/id");
    check.size(joints.kind, m, "joints/kind");
    for (const auto* list : {&joints.value, &joints.target, &joints.stiffness, &joints.damping, &joints.force_lower,
                             &joints.force_upper, &joints.bias})
        check.size(*list, m, "joints/value .. curvature");
    check.size(joints.impulsive, m, "joints/impulsive");
    for (const RowVec* x : {&p.T, &p.b, &p.lower, &p.upper}) check.size(*x, m, "joints/T .. upper");
    for (const RowKind kind : joints.kind) check(kind <= RowKind::friction, "a kind of row that does not exist");

    const ContactRows& contacts = p.contacts;
    check_jacobian(check, contacts.jacobian, nodes, 3);
    const int n = contacts.size(), k = contacts.jacobian.rows();
    check.size(contacts.id, n, "contacts/id");
    for (const auto* list : {&contacts.gap, &contacts.friction, &contacts.restitution})
        check.size(*list, n, "contacts/gap .. restitution");
    check.size(contacts.facets, n, "contacts/facets");
    for (const auto* list : {&contacts.position, &contacts.normal, &contacts.tangent})
        check.size(*list, n, "contacts/position .. tangent");
    check.size(contacts.bias, k, "contacts/curvature");
    check.size(p.S, k, "contacts/S");
    check.size(p.c, k, "contacts/c");
    for (const int facets : contacts.facets)
        check(is_disc(facets) || (facets >= 2 && facets % 2 == 0 && facets <= 1 << 16), "a cone with odd facets");
}

void check_guess(const StepProblem& p, const StepSolution& s, const std::string& path) {
    const Check check(path);
    check.size(s.v, p.nodes().nv(), "guess/v");
    check.size(s.lambda, p.joints.size(), "guess/lambda");
    check.size(s.p, p.contacts.jacobian.rows(), "guess/p");
    check.size(s.modes, p.contacts.size(), "guess/modes");
    for (const ContactMode mode : s.modes) check(mode <= ContactMode::impact, "a contact mode that does not exist");
}

}  // namespace

void save_problem(const std::string& file, const StepProblem& problem, const StepSolution* guess) {
    Hdf5File out(file, Hdf5File::Open::create);
    out.set_attribute("/", "format", problem_format);
    out.set_attribute("/", "format_version", format_version);
    out.set_attribute("/", "stickslip", version());
    Writer writer(out);
    visit_problem(writer, problem);
    if (guess && guess->warm) visit_guess(writer, *guess);
    out.set_attribute("joints/kind", "values", "0 holonomic, 1 velocity, 2 compliant, 3 friction");
    out.set_attribute("contacts/facets", "values", "0 disc, 2k regular polygon inscribed in the disc, corner on t1");
    out.set_attribute("/", "checksum", writer.sum());
    out.close();
}

void load_problem(const std::string& file, StepProblem& problem, StepSolution& guess) {
    const Hdf5File in(file, Hdf5File::Open::read);
    if (!in.has_attribute("/", "format") || in.text_attribute("/", "format") != problem_format)
        throw Error(in.has("fclib_local") || in.has("fclib_global") ? "is an FCLIB file, not a stickslip problem"
                                                                    : "is not a stickslip problem",
                    {file});
    const std::uint64_t found = in.number_attribute("/", "format_version");
    if (found < 1 || found > format_version)
        throw Error(fmt::format("has problem format {}, this program reads 1 to {}", found, format_version), {file});
    try {
        Reader reader(in, found);
        visit_problem(reader, problem);
        check_problem(problem, file);
        problem.contacts.tangential_restitution.assign(problem.contacts.gap.size(), 0.0);
        const bool warm = in.has("guess");
        if (warm) {
            visit_guess(reader, guess);
            check_guess(problem, guess, file);
        } else {
            guess.v.setZero(problem.nodes().nv());
            guess.lambda.setZero(problem.joints.size());
            guess.p.setZero(problem.contacts.jacobian.rows());
            guess.modes.assign(static_cast<std::size_t>(problem.contacts.size()), ContactMode::open);
        }
        guess.warm = warm;
        // Files made by other programs may leave the checksum out.
        if (in.has_attribute("/", "checksum") && in.number_attribute("/", "checksum") != reader.sum())
            throw Error("is damaged: the checksum of its numbers differs", {file});
        check_numbers(problem, file);
        if (warm) check_numbers(guess, file);
    } catch (const std::bad_alloc&) {
        throw Error("is damaged: it asks for more memory than there is", {file});
    }
}

void save_solution(const std::string& file, const StepProblem& problem, const StepSolution& solution) {
    VecX u(problem.contacts.jacobian.rows());
    problem.contacts.jacobian.product(problem.nodes(), solution.v, u);
    for (Eigen::Index i = 0; i < u.size(); ++i) u[i] += problem.S[i] * solution.p[i] + problem.c[i];

    Hdf5File out(file, Hdf5File::Open::create);
    out.set_attribute("/", "format", solution_format);
    out.set_attribute("/", "format_version", solution_format_version);
    out.set_attribute("/", "stickslip", version());
    Writer writer(out);
    writer("solution/r", solution.p, "N s");
    writer("solution/u", u, "m/s");
    writer("solution/v", solution.v, "m/s, rad/s");
    writer("solution/l", solution.lambda, "N s, N m s");
    writer("solution/modes", solution.modes, "");
    out.set_attribute("/", "checksum", writer.sum());
    out.close();
}

}  // namespace stickslip
