// Linear systems of bodies and rows, on one sparse kernel in two forms:
//
//   A v - G' lambda = r                [ A  G' ] [    v    ]   [ r ]
//   G v + T lambda  = b                [ G  -T ] [ -lambda ] = [ b ]            KKT form
//
//   (A + G' T^-1 G) v = r + G' T^-1 b,   lambda = T^-1 (b - G v)                primal form
//
// The primal form is the cheaper one where rows outnumber velocities (piles); the KKT form keeps the digits of joints with
// tiny T. The error of a plain solve is about eps/T in both; `solve` therefore ALWAYS corrects once more with the full
// residual of both equations, which brings joints to rounding down to T = 1e-9 of unit masses. The primal form
// factors with T not below 1e-12 of the row's own J A^-1 J' (and so takes T = 0); the KKT form with T as it is: T = 0 there
// asks for independent rows.
//
// The factor may use another T than the equations (T + eps: then each correction is a step of the proximal method of
// multipliers, and redundant rows need no care), and the symmetric part of an unsymmetric A (each correction then
// contracts by the size of the antisymmetric part). Rows may be switched off: their lambda stays as given.
#pragma once

#include <span>
#include <vector>

#include "math/block_ldl.hpp"
#include "stickslip/blocks.hpp"

namespace stickslip {

class KktSystem {
public:
    enum class Form : unsigned char { automatic, kkt, primal };
    struct Status {
        bool ok = true;
        int node = -1;   // of A ...
        int group = -1;  // ... or group of rows where the factor broke down
    };

    Form wanted = Form::automatic;
    Form form() const { return form_; }
    const BlockLdl& factors() const { return form_ == Form::primal ? primal_ : kkt_; }

    // Takes the pattern of A and G and picks the form; cheap when the pattern is the one of last time.
    void analyse(const BlockMatrix& A, const BlockRows& G);
    // `active`: per row, empty means all.
    Status factor(const BlockMatrix& A, const BlockRows& G, const ConstRef& T, std::span<const char> active = {});
    // The same numbers A, G and the same T except in the rows of the groups named: only what they reach is computed
    // again, with the bits of factor().
    Status refactor(const BlockMatrix& A, const BlockRows& G, const ConstRef& T, std::span<const char> active,
                    std::span<const int> changed_groups);

    // Corrects (v, lambda), which come in as a guess (zero is one), 1 + refinements times, and up to three times more while
    // that still moves v (bodies so light that T is rounding beside 1/m need it). Returns max |dv| of the last correction.
    // Inactive rows keep their lambda, and it acts.
    double solve(const BlockMatrix& A, const BlockRows& G, const ConstRef& T, const ConstRef& r, const ConstRef& b,
                 Eigen::Ref<VecX> v, Eigen::Ref<VecX> lambda, int refinements = 1);

private:
    void build_edges(const BlockMatrix& A, const BlockRows& G, Form form);
    void find_places(const BlockMatrix& A, const BlockRows& G);
    void fill(const BlockMatrix& A, const BlockRows& G, const ConstRef& T, std::span<const char> active);
    Status read(const BlockLdl::Status& status, const BlockMatrix& A) const;
    BlockLdl& chosen() { return form_ == Form::primal ? primal_ : kkt_; }

    Form form_ = Form::kkt;
    BlockLdl kkt_, primal_;
    double primal_flops_ = 0;
    Nodes all_;  // bodies, then groups of rows
    std::vector<signed char> signs_;
    std::vector<BlockLdl::Edge> edges_;
    std::vector<double*> coupling_place_, place_;  // where couplings, and blocks or pairs of blocks of G, are added
    AlignedDoubles inverse_T_;                     // per row, 0 when inactive
    AlignedDoubles inverse_diagonal_;              // 1 / A_kk, primal form
    AlignedDoubles product_;
    RowVec x_, w_, u_;
};

}  // namespace stickslip
