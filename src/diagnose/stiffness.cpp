#include "diagnose/stiffness.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>

namespace stickslip {

namespace {

// G M^-1 G' of one row, by the blocks of the mass on the diagonal.
double weight_of(const BlockRows& rows, int group, int k, const BlockMatrix& mass) {
    double sum = 0;
    for (const BlockRows::Block& block : rows.blocks_of(group)) {
        const VecX g = rows.values_of(group, block, mass.nodes).row(k).transpose();
        const MatX M = mass.block(block.node);
        sum += g.dot(M.ldlt().solve(g));
    }
    return sum;
}

double largest_eigenvalue(const MatX& mass, const MatX& slope) {
    const MatX product = mass.ldlt().solve(slope);
    if (!product.allFinite() || product.isZero(0)) return 0;
    return product.eigenvalues().cwiseAbs().maxCoeff();
}

}  // namespace

StiffForce stiffest_force(const System& system, const State& x) {
    StiffForce stiffest;
    const auto note = [&](double rate, const auto& name) {
        if (std::isfinite(rate) && rate > stiffest.rate) stiffest = {rate, name()};
    };
    BlockMatrix mass, K, C;
    system.mass(x.q, mass);
    BilateralRows joints;
    system.joint_rows(x.t, x.q, x.v, joints);
    for (int g = 0; g < joints.jacobian.groups(); ++g)
        for (int k = 0; k < joints.jacobian.dim(g); ++k) {
            const int row = joints.jacobian.row[g] + k;
            if (joints.kind[row] != RowKind::compliant) continue;
            const double w = weight_of(joints.jacobian, g, k, mass);
            note(std::max(joints.damping[row] * w, std::sqrt(joints.stiffness[row] * w)),
                 [&] { return "'" + system.joint_name(joints.id[g]) + "'"; });
        }
    if (!system.slopes(x.t, x.q, x.v, K, C)) return stiffest;
    for (int n = 0; n < mass.nodes.size(); ++n)
        note(std::max(largest_eigenvalue(mass.block(n), C.block(n)),
                      std::sqrt(largest_eigenvalue(mass.block(n), K.block(n)))),
             [] { return std::string("a force of the model"); });
    return stiffest;
}

double imposed_energy(const System& system, const State& x) {
    BlockMatrix mass;
    system.mass(x.q, mass);
    BilateralRows joints;
    system.joint_rows(x.t, x.q, x.v, joints);
    RowVec speed;
    speed.resize(joints.size());
    joints.jacobian.product(mass.nodes, x.v, speed);
    double sum = 0;
    for (int g = 0; g < joints.jacobian.groups(); ++g)
        for (int k = 0; k < joints.jacobian.dim(g); ++k) {
            const int row = joints.jacobian.row[g] + k;
            const bool bounded = joints.force_lower[row] > -infinity || joints.force_upper[row] < infinity;
            if (joints.kind[row] != RowKind::velocity || bounded) continue;
            sum += speed[row] * speed[row] / (2 * weight_of(joints.jacobian, g, k, mass));
        }
    return sum;
}

}  // namespace stickslip
