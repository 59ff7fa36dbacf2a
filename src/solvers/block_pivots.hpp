// Block pivots on the LCP of a step problem [Lacoursiere & Linde 2011, Algorithm 21.2; Judice & Pires 1994]:
//
//   solve  M_aa z_a = -q_a   with the active set a,   w = M z + q,   then exchange all variables with a wrong sign at once.
//
// The paper pivots on a boxed problem whose friction bounds mu p_N come from outside. Here the polyhedral cone itself is
// kept (see to_lcp.hpp), so that the answer solves the step problem: p_N, the corners beta and sigma of a contact are
// exchanged together, as one of four states. With two or four facets these are the states of the boxed problem, whose
// bounds then move with p_N inside the linear solve, as (95) of the paper describes.
//
//   open     beta_j, sigma (with beta_j = 0)   p_N < 0 -> open; w_N < 0 -> stick; sigma is the sliding speed all the same
//   stick    p_N, beta_j, beta_j+1            sum beta > mu p_N -> edge; other facet when friction turns
//   edge     and sigma                        sigma < 0 -> stick; beta_j < 0 -> corner j+1, beta_j+1 < 0 -> corner j
//   corner   p_N, beta_j, sigma               sigma < 0 -> stick; a slack beside it < 0 -> edge
//   box      z; z and y at the far bound
//
// Nothing promises an end: friction is no P-matrix. When the number of wrong states has not fallen for a while, only the
// first wrong one changes (Murty's least index, which ends for P-matrices) until it has. The best set is left for Lemke.
#pragma once

#include <vector>

#include "math/dense_inverse.hpp"
#include "math/sparse_square.hpp"
#include "problems/convert/to_lcp.hpp"

namespace stickslip {

class BlockPivots {
public:
    int max_rounds = 40;  // linear solves
    int patience = 10;    // rounds without progress before single exchanges
    // `in` marks the variables of the active set, first guess and answer. `blocks` with `first` as in M. True when every
    // sign is right.
    bool run(const SparseSquare& M, const ConstRef& q, const std::vector<LcpBlock>& blocks, std::vector<char>& in);

    int rounds() const { return rounds_; }

private:
    enum class Kind : unsigned char {
        open,
        stick,
        edge,
        corner,
        far
    };  // `stick` of a box or without friction: z alone
    struct State {
        Kind kind = Kind::open;
        int face = 0;  // facet from corner `face` to the next one, or the corner
        friend bool operator==(const State&, const State&) = default;
    };
    State read(const LcpBlock& block, const char* in) const;
    void mark(const LcpBlock& block, const State& state, char* in) const;
    State next(const LcpBlock& block, const State& state) const;
    bool solve(const SparseSquare& M, const ConstRef& q, const std::vector<LcpBlock>& blocks);

    std::vector<State> states_, wanted_, best_;
    std::vector<char> active_;
    std::vector<int> rows_, place_;
    DenseInverse kernel_;
    RowVec z_, w_, miss_;
    double noise_z_ = 0, noise_w_ = 0;
    int rounds_ = 0;
};

}  // namespace stickslip
