// The linear part of a contact problem, seen from its rows: y = W x + q. One entry of x (an impulse) and of y (a velocity)
// per bilateral row, then per contact row. Methods that work in impulses are written once against it:
//
//   StepRows       W = J A^-1 J' + diag(T, S), J = [G; H], never formed: systems with W + T are solved in the velocities,
//                  K = A + J' T^-1 J on the graph of bodies
//   DelassusSpace  a stored W; W + T is factored on the graph of contacts
//
// Rows that a method leaves out (tangents without friction, bounds that meet) have x = 0 there.
#pragma once

#include <vector>

#include "solvers/delassus_rows.hpp"
#include "solvers/step_system.hpp"
#include "stickslip/problem.hpp"

namespace stickslip {

// The block-diagonal T added to W. Contacts hold StepSystem::block numbers each, column-major active x active; the inverse
// is given by the caller, who knows it in closed form.
struct RowShift {
    std::vector<double> joint;             // per bilateral row; infinity leaves the row out
    std::vector<double> contact, inverse;  // per contact
    std::vector<int> active;               // rows of the contact that take part: 0 (none) to 3
};

class RowSpace {
public:
    virtual ~RowSpace() = default;
    int joints = 0;        // bilateral rows
    std::vector<int> row;  // of contact i: row[i] .. row[i + 1] - 1, counted from the first bilateral row
    RowVec q;              // velocities without impulses
    // Mean of W's diagonal, per bilateral row, then per contact; > 0. For scaling only: StepRows estimates it from the
    // diagonal of A.
    std::vector<double> diagonal;

    int contacts() const { return static_cast<int>(row.size()) - 1; }
    int rows() const { return row.back(); }
    virtual void image(const RowVec& x, RowVec& y) = 0;  // y = W x
    virtual bool factor(const RowShift& shift) = 0;      // of W + T; false when it is singular
    virtual double work() const = 0;                     // multiplications of one factor(), after the first
    // x = (W + T)^-1 b with the shift of the last factor(), refined once with the true W.
    void solve(const RowShift& shift, const RowVec& b, RowVec& x);

protected:
    virtual void solve_once(const RowShift& shift, const RowVec& b, RowVec& x) = 0;

private:
    RowVec residual_, correction_;
};

class StepRows : public RowSpace {
public:
    bool prepare(const StepProblem& problem);                  // false when A is singular
    void velocities(const RowVec& x, StepSolution& solution);  // v, lambda, p of the impulses x
    void image(const RowVec& x, RowVec& y) override;
    bool factor(const RowShift& shift) override;
    double work() const override { return system_.cost(); }

protected:
    void solve_once(const RowShift& shift, const RowVec& b, RowVec& x) override;

private:
    void split(const RowVec& x);
    void apply_inverse(RowVec& x);  // x := T^-1 x

    const StepProblem* problem_ = nullptr;
    MassInverse inverse_;
    StepSystem system_;
    VecX force_, velocity_;
    RowVec lambda_, p_, w_, u_;
    std::vector<double> joint_B_, contact_B_;
};

class DelassusSpace : public RowSpace {
public:
    // `compressed`: with bases where they pay (see below). Cheaper by far for walls, and less exact where open and closed
    // contacts share a pair of bodies.
    void prepare(const DelassusProblem& problem, bool compressed);
    void image(const RowVec& x, RowVec& y) override;
    bool factor(const RowShift& shift) override;
    double work() const override { return lu_.work(); }

protected:
    void solve_once(const RowShift& shift, const RowVec& b, RowVec& x) override;

private:
    // Contacts with the same neighbours (those between the same two bodies) form one node of the factor. Their rows of W
    // span no more than six directions: with R an orthonormal basis of them W = R V R', and z = R'x solves
    //   (I + N V) z = R' T^-1 b,   N = R' T^-1 R,   x = T^-1 (b - R V z)
    // (N^-1 + V would be symmetric, but N of open and closed contacts together has no useful inverse). It
    // leaves a matrix of six rows per pair of bodies in place of twelve for four contacts.
    void merge();
    void find_edges();
    int place_blocks(const Nodes& nodes, std::vector<int>& of_node, std::vector<int>& of_edge) const;
    void gather_nodes();
    static int find_basis(const Eigen::Map<MatX>& block, Eigen::Map<MatX>& R);
    void gather(bool compressed);
    void apply_inverse(const RowShift& shift, const double* x, double* y) const;  // y = T^-1 x, all contacts
    bool plain(int a) const { return full_.dof(a) == small_.dof(a); }             // R = I

    const DelassusProblem* problem_ = nullptr;
    // Nodes of the factor: their contacts, in full rows and in the rows of R.
    std::vector<int> node_, place_;            // per contact: its node, and its first row in it
    std::vector<int> first_member_, members_;  // per node: its contacts
    Nodes full_, small_;                       // rows per node; small_ is what is factored
    std::vector<double> whole_;                // W over the nodes: diagonal blocks, then one pair of blocks per edge
    std::vector<int> whole_diagonal_, whole_edge_;
    std::vector<int> basis_first_;  // per node: its R in basis_, column-major full x small
    AlignedDoubles basis_;
    AlignedDoubles V_;                      // R' W R: diagonal blocks, then one pair of blocks per edge
    std::vector<int> V_diagonal_, V_edge_;  // V_edge_: the block (a, b), then (b, a)
    std::vector<BlockLu::Edge> edges_;
    BlockLu lu_;
    AlignedDoubles N_;  // per node: N, or T where R = I
    std::vector<int> start_, neighbour_;
    AlignedDoubles work_;
    VecX z_, y_, full_b_;
};

}  // namespace stickslip
