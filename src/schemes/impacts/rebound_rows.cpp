// In the decompression of Poisson's law the normal impulse of a contact is e p_c + p_x: e p_c is known and p_x >= 0 keeps the
// bodies apart. Friction acts under both [Glocker-Pfeiffer]; Anitescu & Potra (s.3) take p_x alone:
//
//   0 <= N v+ _|_ p_x >= 0,     p_T maximises -(D v+).p_T over the section  mu (e p_c + p_x)
//
// The cone of the step problem starts at p_N = 0 and cannot be shifted, but a section of that size is the sum of two sections,
// and what is largest over a sum is the sum of what is largest over each. So the contact stays as it is for p_x, and a
// twin with the same tangents D carries the friction under e p_c. Its normal row is zero with S > 0:
//
//   u_N = S p_N - S e p_c,   0 <= u_N _|_ p_N >= 0     says   p_N = e p_c,   for every solver and every cone.
//
// How friction divides between the two is not unique while they stick; their sum is what moves bodies.
#include "schemes/impacts/rebound_rows.hpp"

namespace stickslip {

namespace {

void copy_contact(const ContactRows& from, int i, const Nodes& nodes, bool with_normal, ContactRows& to) {
    to.begin_contact(from.id[i], from.jacobian.dim(i), from.gap[i], from.friction[i], from.restitution[i],
                     from.facets[i], from.tangential_restitution[i]);
    to.position.back() = from.position[i];
    to.normal.back() = from.normal[i];
    to.tangent.back() = from.tangent[i];
    for (int k = 0; k < from.jacobian.dim(i); ++k)
        to.bias[to.bias.size() - static_cast<std::size_t>(from.jacobian.dim(i) - k)] =
            from.bias[from.jacobian.row[i] + k];
    for (const BlockRows::Block& block : from.jacobian.blocks_of(i)) {
        auto rows = to.jacobian.add_block(block.node, nodes.dof(block.node));
        rows = from.jacobian.values_of(i, block, nodes);
        if (!with_normal) rows.row(0).setZero();
    }
}

bool has_twin(const std::vector<double>& given, const ContactRows& contacts, int at, int plain) {
    return given[plain] > 0 && contacts.jacobian.dim(at) > 1;
}

}  // namespace

bool is_twin(const ContactRows& contacts, int at) { return at > 0 && contacts.id[at] == contacts.id[at - 1]; }

void add_twins(const std::vector<double>& given, ContactRows& plain, Step& s) {
    ContactRows& contacts = s.problem.contacts;
    plain = contacts;
    contacts.clear();
    for (int i = 0; i < plain.size(); ++i) {
        copy_contact(plain, i, s.problem.nodes(), true, contacts);
        if (has_twin(given, plain, i, i)) copy_contact(plain, i, s.problem.nodes(), false, contacts);
    }
}

void fill_twins(const std::vector<double>& given, double softness, Step& s) {
    const ContactRows& contacts = s.problem.contacts;
    for (int i = 0, plain = -1; i < contacts.size(); ++i) {
        if (!is_twin(contacts, i)) {
            ++plain;
            continue;
        }
        s.problem.S[contacts.jacobian.row[i]] = softness;
        s.problem.c[contacts.jacobian.row[i]] = -softness * given[plain];
    }
}

void fold_twins(RowVec& friction, Step& s) {
    StepProblem& problem = s.problem;
    ContactRows& contacts = problem.contacts;
    RowVec& p = s.solution.p;
    // Their friction moves to the right-hand side: what is left is solved as well as before.
    friction.setZero(p.size());
    s.terms.wanted.resize(static_cast<std::size_t>(contacts.size()));
    for (int i = 0; i < contacts.size(); ++i) {
        s.terms.wanted[i] = !is_twin(contacts, i);
        for (int k = contacts.jacobian.row[i]; !s.terms.wanted[i] && k < contacts.jacobian.row[i + 1]; ++k)
            friction[k] = p[k];
    }
    contacts.jacobian.add_transpose_product(problem.nodes(), friction, problem.r);

    int row = 0, plain = 0;
    for (int i = 0; i < contacts.size(); ++i) {
        if (!s.terms.wanted[i]) continue;
        for (int k = contacts.jacobian.row[i]; k < contacts.jacobian.row[i + 1]; ++k, ++row) {
            p[row] = p[k];
            s.guess.p[row] = s.guess.p[k];
        }
        s.solution.modes[plain] = s.solution.modes[i];
        s.guess.modes[plain++] = s.guess.modes[i];
    }
    contacts.keep(s.terms.wanted);
    for (StepSolution* x : {&s.solution, &s.guess}) {
        x->p.resize(row);
        x->modes.resize(static_cast<std::size_t>(plain));
    }
    problem.S.setZero(row);
    problem.c.setZero(row);
}

}  // namespace stickslip
