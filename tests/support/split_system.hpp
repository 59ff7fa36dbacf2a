// A system of one node shown as one of several: the same coordinates and functions, their matrices and rows cut into blocks, with
// couplings where they are not zero. Mass, stiffness and damping then have patterns of their own.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "stickslip/system.hpp"

namespace stickslip::testing {

class SplitSystem final : public System {
public:
    SplitSystem(std::unique_ptr<System> whole, const std::vector<int>& sizes) : whole_(std::move(whole)) {
        for (const int size : sizes) nodes_.add(size);
    }

    int nq() const override { return whole_->nq(); }
    bool constant_mass() const override { return whole_->constant_mass(); }
    void mass(const VecX& q, BlockMatrix& M) const override {
        BlockMatrix one;
        whole_->mass(q, one);
        cut(one, M);
    }
    void forces(double t, const VecX& q, const VecX& v, Forces& k) const override { whole_->forces(t, q, v, k); }
    bool slopes(double t, const VecX& q, const VecX& v, BlockMatrix& K, BlockMatrix& C) const override {
        BlockMatrix one_K, one_C;
        if (!whole_->slopes(t, q, v, one_K, one_C)) return false;
        cut(one_K, K);
        cut(one_C, C);
        return true;
    }
    void rows(double t, const VecX& q, ContactFinder& finder, BilateralRows& joints,
              ContactRows& contacts) const override {
        whole_->rows(t, q, finder, joints, contacts);
        cut(joints.jacobian);
        cut(contacts.jacobian);
    }
    void bias(double t, const VecX& q, const VecX& v, const ContactFinder& finder, BilateralRows& joints,
              ContactRows& contacts) const override {
        whole_->bias(t, q, v, finder, joints, contacts);
    }
    void look_ahead(const VecX& v, double h, ContactFinder& finder) const override { whole_->look_ahead(v, h, finder); }
    void find_candidates(const VecX& q, ContactFinder& finder) const override { whole_->find_candidates(q, finder); }
    double gap(const ContactId& id, const VecX& q, ContactFinder& finder) const override {
        return whole_->gap(id, q, finder);
    }
    void advance(VecX& q, const VecX& dq) const override { whole_->advance(q, dq); }
    void chart_rate(const VecX& u, const VecX& v, VecX& rate) const override { whole_->chart_rate(u, v, rate); }
    Energies energies(double t, const VecX& q, const VecX& v) const override { return whole_->energies(t, q, v); }
    double next_discontinuity(double t) const override { return whole_->next_discontinuity(t); }
    Scales scales(const State& start) const override { return whole_->scales(start); }
    std::vector<std::string> coordinate_names() const override { return whole_->coordinate_names(); }
    std::string joint_name(std::uint32_t id) const override { return whole_->joint_name(id); }
    std::string contact_name(const ContactId& id) const override { return whole_->contact_name(id); }

private:
    void cut(const BlockMatrix& one, BlockMatrix& many) const {
        const auto dense = one.block(0);
        many.shape_diagonal(nodes_);
        for (int i = 0; i < nodes_.size(); ++i)
            for (int j = 0; j < nodes_.size(); ++j) {
                const auto part = dense.block(nodes_.start[i], nodes_.start[j], nodes_.dof(i), nodes_.dof(j));
                if (i == j)
                    many.block(i) = part;
                else if (!part.isZero(0))
                    many.block(many.add_coupling(i, j)) = part;
            }
    }
    void cut(BlockRows& rows) const {
        BlockRows many;
        for (int g = 0; g < rows.groups(); ++g) {
            const auto whole = rows.values_of(g, rows.blocks_of(g)[0], whole_->nodes());
            many.begin_group(rows.dim(g));
            for (int n = 0; n < nodes_.size(); ++n) {
                const auto part = whole.middleCols(nodes_.start[n], nodes_.dof(n));
                if (!part.isZero(0)) many.add_block(n, nodes_.dof(n)) = part;
            }
        }
        rows = many;
    }

    std::unique_ptr<System> whole_;
};

}  // namespace stickslip::testing
