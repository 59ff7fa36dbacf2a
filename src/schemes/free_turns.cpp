#include "schemes/free_turns.hpp"

namespace stickslip {

void FreeTurns::find_tied(const StepProblem& problem) {
    tied_.assign(static_cast<std::size_t>(problem.nodes().size()), 0);
    for (const BlockRows* rows : {&problem.joints.jacobian, &problem.contacts.jacobian})
        for (const BlockRows::Block& block : rows->blocks) tied_[block.node] = 1;
    for (const BlockMatrix::Coupling& c : problem.A.couplings) tied_[c.row_node] = tied_[c.column_node] = 1;
}

void FreeTurns::fill(const System& system, double h, const VecX& v, bool sloped, Step& s) {
    turns_.clear();
    const Nodes& nodes = system.nodes();
    StepProblem& problem = s.problem;
    find_tied(problem);
    const auto pushed = [](const VecX& impulse, int first) {
        return impulse.size() > 0 && !impulse.segment<3>(first).isZero(0);
    };
    for (int n = 0; n < nodes.size(); ++n) {
        if (tied_[n] || !system.is_body_in_space(n)) continue;
        const int first = nodes.start[n] + 3;
        if (pushed(s.terms.impulses.potential, first) || pushed(s.terms.impulses.applied, first)) continue;
        if (sloped && !(s.terms.stiffness.block(n).isZero(0) && s.terms.damping.block(n).isZero(0))) continue;
        const Mat3 inertia = s.terms.mass.block(n).bottomRightCorner<3, 3>();
        FreeTurn turn;
        if (!turn_freely(inertia, h, v.segment<3>(first), turn)) continue;
        problem.A.block(n).bottomRightCorner<3, 3>() = inertia;
        problem.r.segment<3>(first) = inertia * turn.omega;
        turns_.push_back({first, turn.angle});
    }
}

void FreeTurns::turn(VecX& dq) const {
    for (const Turn& turn : turns_) dq.segment<3>(turn.first) = turn.angle;
}

}  // namespace stickslip
