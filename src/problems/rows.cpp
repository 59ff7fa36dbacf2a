// The bookkeeping of rows and problems: opening groups, dropping contacts, sizing.
#include "stickslip/problem.hpp"

namespace stickslip {

namespace {

template <class T>
void keep_entries(std::vector<T>& list, const std::vector<char>& wanted) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < list.size(); ++i)
        if (wanted[i]) list[kept++] = list[i];
    list.resize(kept);
}

}  // namespace

void BilateralRows::clear() {
    jacobian.clear();
    id.clear();
    kind.clear();
    for (auto* list : {&value, &target, &servo, &goal, &goal_rate, &stiffness, &damping, &force_lower, &force_upper, &bias})
        list->clear();
    impulsive.clear();
}

void BilateralRows::begin_rows(int rows) {
    jacobian.clear();
    id.clear();
    const auto n = static_cast<std::size_t>(rows);
    const auto set = [n](auto& list, auto x) {
        if (list.size() != n) list.resize(n);
        for (auto& entry : list) entry = x;
    };
    set(kind, RowKind::holonomic);
    for (auto* list : {&value, &target, &servo, &goal, &goal_rate, &stiffness, &damping, &bias}) set(*list, 0.0);
    set(force_lower, -infinity);
    set(force_upper, infinity);
    set(impulsive, char{0});
}

int BilateralRows::begin_group(std::uint32_t joint, int dim, RowKind row_kind) {
    const int first = jacobian.rows();
    jacobian.begin_group(dim);
    id.push_back(joint);
    const std::size_t n = static_cast<std::size_t>(jacobian.rows());
    if (kind.size() < n) {
        kind.resize(n);
        for (auto* list : {&value, &target, &servo, &goal, &goal_rate, &stiffness, &damping, &bias})
            list->resize(n, 0.0);
        force_lower.resize(n, -infinity);
        force_upper.resize(n, infinity);
        impulsive.resize(n, 0);
    }
    for (std::size_t i = static_cast<std::size_t>(first); i < n; ++i) kind[i] = row_kind;
    return first;
}

void BilateralRows::slow_servos(double shortest) {
    for (int i = 0; i < size(); ++i)
        if (servo[i] * shortest > 1) target[i] = goal_rate[i] + (goal[i] - value[i]) / shortest;
}

void ContactRows::clear() {
    jacobian.clear();
    id.clear();
    for (auto* list : {&gap, &friction, &restitution, &tangential_restitution, &bias}) list->clear();
    facets.clear();
    for (auto* list : {&position, &normal, &tangent}) list->clear();
}

void ContactRows::begin_contact(ContactId contact, int dim, double phi, double mu, double e, int cone_facets,
                                double e_tangential) {
    jacobian.begin_group(dim);
    id.push_back(contact);
    gap.push_back(phi);
    friction.push_back(mu);
    restitution.push_back(e);
    tangential_restitution.push_back(e_tangential);
    facets.push_back(cone_facets);
    position.push_back(Vec3::Zero());
    normal.push_back(Vec3::Zero());
    tangent.push_back(Vec3::Zero());
    bias.resize(static_cast<std::size_t>(jacobian.rows()));  // zeros
}

void ContactRows::keep(const std::vector<char>& wanted) {
    std::size_t kept_rows = 0;
    for (int i = 0; i < size(); ++i) {
        if (!wanted[i]) continue;
        for (int j = jacobian.row[i]; j < jacobian.row[i + 1]; ++j) bias[kept_rows++] = bias[j];
    }
    bias.resize(kept_rows);
    jacobian.keep(wanted);
    keep_entries(id, wanted);
    for (auto* list : {&gap, &friction, &restitution, &tangential_restitution}) keep_entries(*list, wanted);
    keep_entries(facets, wanted);
    for (auto* list : {&position, &normal, &tangent}) keep_entries(*list, wanted);
}

void StepProblem::size_to_rows() {
    r.setZero(nodes().nv());
    const int m = joints.size(), k = contacts.jacobian.rows();
    T.setZero(m);
    b.setZero(m);
    lower.setConstant(m, -infinity);
    upper.setConstant(m, infinity);
    S.setZero(k);
    c.setZero(k);
}

void StepSolution::size_to(const StepProblem& problem) {
    const int nv = problem.nodes().nv(), m = problem.joints.size(), k = problem.contacts.jacobian.rows();
    if (v.size() == nv && lambda.size() == m && p.size() == k &&
        static_cast<int>(modes.size()) == problem.contacts.size())
        return;
    v.setZero(nv);
    lambda.setZero(m);
    p.setZero(k);
    modes.assign(static_cast<std::size_t>(problem.contacts.size()), ContactMode::open);
    warm = false;
}

void DelassusSolution::size_to(const DelassusProblem& problem) {
    if (p.size() == problem.q.size() && static_cast<int>(modes.size()) == problem.contacts()) return;
    p.setZero(problem.q.size());
    modes.assign(static_cast<std::size_t>(problem.contacts()), ContactMode::open);
    warm = false;
}

}  // namespace stickslip
