// At fixed q, with A = M and h = 0:
//
//   M v+ = M v + G' lambda + H' p,   rigid rows  G v+ = 0,   closed contacts  0 <= u_N _|_ p_N >= 0
//
// with friction and without restitution: the joint snaps shut and everything connected takes part. Rigid rows that no chain of
// joints connects with the new one keep the speed they have, G v+ = G v: a velocity-level scheme leaves G v = O(h) in rows that
// have turned, and an edit elsewhere is no reason to take the energy of that. (Where the chain closes, rows may say
// the same twice, and only G v+ = 0 never contradicts itself.) Motors without a largest force keep their speed. Springs
// and drives with one do nothing in no time, as in every impact.
#include "schemes/impacts/snap.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip {

namespace {

// [m/s] per m/s, and at least per speed of the scene: larger disagreement is no rounding.
constexpr double agreement = 1e-12;

bool touches(const BlockRows& rows, int group, const std::vector<char>& marked) {
    const auto blocks = rows.blocks_of(group);
    return std::any_of(blocks.begin(), blocks.end(), [&](const BlockRows::Block& b) { return marked[b.node] != 0; });
}

// The nodes that rigid rows connect with those of the new ones.
template <class IsNew>
std::vector<char> connected_nodes(const StepProblem& problem, const IsNew& is_new) {
    const BlockRows& rows = problem.joints.jacobian;
    std::vector<char> marked(static_cast<std::size_t>(problem.nodes().size()), 0);
    const auto mark = [&](int group) {
        bool more = false;
        for (const BlockRows::Block& block : rows.blocks_of(group)) {
            more = more || !marked[block.node];
            marked[block.node] = 1;
        }
        return more;
    };
    for (int g = 0; g < rows.groups(); ++g)
        if (is_new(g) && problem.joints.kind[rows.row[g]] == RowKind::holonomic) mark(g);
    for (bool more = true; more;) {
        more = false;
        for (int g = 0; g < rows.groups(); ++g)
            if (problem.joints.kind[rows.row[g]] == RowKind::holonomic && touches(rows, g, marked)) more |= mark(g);
    }
    return marked;
}

}  // namespace

Snap snap_shut(const System& system, Solver& solver, const std::vector<std::uint32_t>& old_groups, State& x, Step& s,
               StepReport& report) {
    StepProblem& problem = s.problem;
    Snap snap;
    system.mass(x.q, s.terms.mass);
    problem.A = s.terms.mass;
    find_rows(system, x.t, x.q, x.v, 0, s);
    s.terms.wanted.resize(static_cast<std::size_t>(problem.contacts.size()));
    for (int i = 0; i < problem.contacts.size(); ++i)
        s.terms.wanted[i] = problem.contacts.gap[i] <= s.tolerances.impact_gap;
    problem.contacts.keep(s.terms.wanted);

    problem.size_to_rows();
    s.terms.mass.add_product(1, x.v, problem.r);
    fill_bilateral(x.v, {}, s);
    const RowVec& speed = joint_speeds(x.v, s);
    const BlockRows& rows = problem.joints.jacobian;
    const auto is_new = [&](int group) {
        return std::find(old_groups.begin(), old_groups.end(), problem.joints.id[group]) == old_groups.end();
    };
    const std::vector<char> connected = connected_nodes(problem, is_new);
    for (int g = 0; g < rows.groups(); ++g) {
        const bool fresh = is_new(g), apart = !touches(rows, g, connected);
        for (int i = rows.row[g]; i < rows.row[g + 1]; ++i) {
            const RowKind kind = problem.joints.kind[i];
            if ((kind == RowKind::holonomic && apart) || (kind == RowKind::velocity && !fresh)) problem.b[i] = speed[i];
            if (fresh && kind == RowKind::holonomic) snap.speed = std::max(snap.speed, std::abs(speed[i]));
        }
    }
    const double fastest = x.v.size() > 0 ? x.v.lpNorm<Eigen::Infinity>() : 0.0;
    snap.needed = snap.speed > agreement * std::max(s.tolerances.scales.speed, fastest);
    if (!snap.needed) return snap;

    s.guess.v = x.v;
    s.guess.lambda.setZero(problem.joints.size());
    s.guess.p.setZero(problem.contacts.jacobian.rows());
    s.guess.modes.assign(static_cast<std::size_t>(problem.contacts.size()), ContactMode::stick);
    s.guess.warm = true;
    solve_stage(solver, s, report);
    for (int g = 0; g < rows.groups(); ++g)
        for (int i = rows.row[g]; i < rows.row[g + 1] && is_new(g); ++i)
            if (problem.joints.kind[i] == RowKind::holonomic)
                snap.impulse = std::max(snap.impulse, std::abs(s.solution.lambda[i]));
    const VecX before = x.v;
    x.v = s.solution.v;
    s.ledger.book(system, solved_impact(s, x, before, x.v));
    return snap;
}

}  // namespace stickslip
