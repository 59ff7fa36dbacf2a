#include "problems/islands.hpp"

#include <algorithm>

namespace stickslip {

void Islands::tie(const BlockRows& rows) {
    groups_.join(rows);
    for (const BlockRows::Block& block : rows.blocks) tied_[block.node] = 1;
}

// Islands in the order of their lowest nodes, which the roots are; then the free nodes.
void Islands::number(const StepProblem& problem) {
    const int n = problem.nodes().size();
    number_.resize(static_cast<std::size_t>(n));
    place_.resize(static_cast<std::size_t>(n));
    count_ = 0;
    bool any_free = false;
    for (int i = 0; i < n; ++i) {
        if (!tied_[i]) {
            any_free = true;
            continue;
        }
        const int root = groups_.root_of(i);
        number_[i] = root == i ? count_++ : number_[root];
    }
    free_ = any_free ? count_++ : -1;
    for (int i = 0; i < n; ++i)
        if (!tied_[i]) number_[i] = free_;
}

template <class IslandOf>
void Islands::list(int members, IslandOf&& island_of, std::vector<int>& list, std::vector<int>& first) {
    first.assign(static_cast<std::size_t>(count_) + 1, 0);
    for (int i = 0; i < members; ++i) ++first[island_of(i) + 1];
    for (int k = 0; k < count_; ++k) first[k + 1] += first[k];
    list.resize(static_cast<std::size_t>(members));
    for (int i = 0; i < members; ++i) list[first[island_of(i)]++] = i;
    for (int k = count_; k > 0; --k) first[k] = first[k - 1];
    first[0] = 0;
}

void Islands::split(const StepProblem& problem) {
    const int n = problem.nodes().size();
    groups_.reset(n);
    tied_.assign(static_cast<std::size_t>(n), 0);
    const BlockRows &G = problem.joints.jacobian, &H = problem.contacts.jacobian;
    tie(G);
    tie(H);
    for (const BlockMatrix::Coupling& c : problem.A.couplings) {
        tied_[c.row_node] = tied_[c.column_node] = 1;
        groups_.join(c.row_node, c.column_node);
    }
    number(problem);
    if (count_ == 0 && G.groups() + H.groups() > 0) count_ = 1;  // rows, but nothing that they could move
    const auto island_of = [&](const BlockRows& rows, int g) {
        const auto blocks = rows.blocks_of(g);
        return blocks.empty() ? 0 : number_[blocks[0].node];
    };
    list(n, [&](int i) { return number_[i]; }, nodes_, node_first_);
    list(G.groups(), [&](int g) { return island_of(G, g); }, joints_, joint_first_);
    list(H.groups(), [&](int g) { return island_of(H, g); }, contacts_, contact_first_);
    list(static_cast<int>(problem.A.couplings.size()), [&](int c) { return number_[problem.A.couplings[c].row_node]; },
         couplings_, coupling_first_);
    for (int k = 0; k < count_; ++k)
        for (int i = node_first_[k]; i < node_first_[k + 1]; ++i) place_[nodes_[i]] = i - node_first_[k];
}

namespace {

void copy_group(const BlockRows& from, int g, const Nodes& nodes, const std::vector<int>& place, BlockRows& to) {
    for (const BlockRows::Block& b : from.blocks_of(g)) {
        const int size = from.dim(g) * nodes.dof(b.node);
        double* target = to.add_block(place[b.node], nodes.dof(b.node)).data();
        std::copy_n(from.values.data() + b.offset, size, target);
    }
}

void copy_rows(const BlockRows& from, std::span<const int> members, const Nodes& nodes, const std::vector<int>& place, BlockRows& to) {
    to.clear();
    for (const int g : members) {
        to.row.push_back(to.row.back() + from.dim(g));
        for (const BlockRows::Block& b : from.blocks_of(g)) {
            const auto begin = from.values.begin() + b.offset;
            to.blocks.push_back({place[b.node], static_cast<int>(to.values.size())});
            to.values.insert(to.values.end(), begin, begin + from.dim(g) * nodes.dof(b.node));
        }
        to.first.push_back(static_cast<int>(to.blocks.size()));
    }
}

// List by list, since a wall at rest costs little more than to be copied. Solvers need no frames.
void copy_contacts(const ContactRows& from, std::span<const int> members, const Nodes& nodes, const std::vector<int>& place,
                   ContactRows& to) {
    const auto pick = [&](const auto& all, auto& some) {
        some.resize(members.size());
        for (std::size_t k = 0; k < members.size(); ++k) some[k] = all[members[k]];
    };
    copy_rows(from.jacobian, members, nodes, place, to.jacobian);
    pick(from.id, to.id);
    pick(from.gap, to.gap);
    pick(from.friction, to.friction);
    pick(from.restitution, to.restitution);
    pick(from.facets, to.facets);
    to.tangential_restitution.assign(members.size(), 0.0);
    for (auto* frame : {&to.position, &to.normal, &to.tangent}) frame->assign(members.size(), Vec3::Zero());
    to.bias.assign(static_cast<std::size_t>(to.jacobian.rows()), 0.0);
}

}  // namespace

void Islands::extract(const StepProblem& problem, int k, StepProblem& part) const {
    const Nodes& all = problem.nodes();
    BlockMatrix& A = part.A;
    A.nodes.start.assign(1, 0);
    A.diagonal.clear();
    A.couplings.clear();
    A.values.clear();
    const auto append = [&](int offset, int size) {
        const int to = static_cast<int>(A.values.size());
        A.values.insert(A.values.end(), problem.A.values.begin() + offset, problem.A.values.begin() + offset + size);
        return to;
    };
    for (const int n : nodes(k)) {
        A.nodes.add(all.dof(n));
        A.diagonal.push_back(append(problem.A.diagonal[n], all.dof(n) * all.dof(n)));
    }
    for (int i = coupling_first_[k]; i < coupling_first_[k + 1]; ++i) {
        const BlockMatrix::Coupling& c = problem.A.couplings[couplings_[i]];
        const int offset = append(c.offset, all.dof(c.row_node) * all.dof(c.column_node));
        A.couplings.push_back({place_[c.row_node], place_[c.column_node], offset});
    }

    part.joints.clear();
    const BilateralRows& joints_of_all = problem.joints;
    for (const int g : joints(k)) {
        const BlockRows& G = joints_of_all.jacobian;
        const int first = part.joints.begin_group(joints_of_all.id[g], G.dim(g), RowKind::holonomic);
        for (int j = 0; j < G.dim(g); ++j) part.joints.kind[first + j] = joints_of_all.kind[G.row[g] + j];
        copy_group(G, g, all, place_, part.joints.jacobian);
    }
    const ContactRows& contacts_of_all = problem.contacts;
    copy_contacts(contacts_of_all, contacts(k), all, place_, part.contacts);

    part.size_to_rows();
    part.gained = problem.gained;
    int at = 0;
    for (const int n : nodes(k))
        for (int i = all.start[n]; i < all.start[n + 1]; ++i) part.r[at++] = problem.r[i];
    at = 0;
    for (const int g : joints(k)) {
        for (int j = joints_of_all.jacobian.row[g]; j < joints_of_all.jacobian.row[g + 1]; ++j, ++at) {
            part.T[at] = problem.T[j];
            part.b[at] = problem.b[j];
            part.lower[at] = problem.lower[j];
            part.upper[at] = problem.upper[j];
        }
    }
    at = 0;
    for (const int i : contacts(k)) {
        for (int j = contacts_of_all.jacobian.row[i]; j < contacts_of_all.jacobian.row[i + 1]; ++j, ++at) {
            part.S[at] = problem.S[j];
            part.c[at] = problem.c[j];
        }
    }
}

void Islands::extract(const StepProblem& problem, const StepSolution& whole, int k, StepSolution& part) const {
    const BlockRows &G = problem.joints.jacobian, &H = problem.contacts.jacobian;
    int nv = 0, rows = 0, contact_rows = 0;
    for (const int n : nodes(k)) nv += problem.nodes().dof(n);
    for (const int g : joints(k)) rows += G.dim(g);
    for (const int i : contacts(k)) contact_rows += H.dim(i);
    part.v.resize(nv);
    part.lambda.resize(rows);
    part.p.resize(contact_rows);
    part.modes.clear();
    part.warm = whole.warm;
    int at = 0;
    for (const int n : nodes(k))
        for (int i = problem.nodes().start[n]; i < problem.nodes().start[n + 1]; ++i) part.v[at++] = whole.v[i];
    at = 0;
    for (const int g : joints(k))
        for (int j = G.row[g]; j < G.row[g + 1]; ++j) part.lambda[at++] = whole.lambda[j];
    at = 0;
    for (const int i : contacts(k)) {
        part.modes.push_back(whole.modes[i]);
        for (int j = H.row[i]; j < H.row[i + 1]; ++j) part.p[at++] = whole.p[j];
    }
}

void Islands::merge(const StepProblem& problem, int k, const StepSolution& part, StepSolution& whole) const {
    const BlockRows &G = problem.joints.jacobian, &H = problem.contacts.jacobian;
    int at = 0;
    for (const int n : nodes(k))
        for (int i = problem.nodes().start[n]; i < problem.nodes().start[n + 1]; ++i) whole.v[i] = part.v[at++];
    at = 0;
    for (const int g : joints(k))
        for (int j = G.row[g]; j < G.row[g + 1]; ++j) whole.lambda[j] = part.lambda[at++];
    at = 0;
    int place = 0;
    for (const int i : contacts(k)) {
        whole.modes[i] = part.modes[place++];
        for (int j = H.row[i]; j < H.row[i + 1]; ++j) whole.p[j] = part.p[at++];
    }
}

}  // namespace stickslip
