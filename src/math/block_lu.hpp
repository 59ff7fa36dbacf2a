// Block-sparse LU over nodes, for K with a symmetric PATTERN whose symmetric part is positive definite:
// the mass matrix, its gyroscopic antisymmetric part, and H' D H of joints and contacts.
//
//   K = L U,   for node k in elimination order:  D_k = P L U (partial pivoting inside the block),
//              X_kj = D_k^-1 K_kj,   K_ij -= K_ik X_kj      for all i, j later than k that touch k
//
// No pivoting between blocks: a positive symmetric part keeps every Schur complement's symmetric part
// positive, so each D_k is regular. No inverse is formed. The order is approximate minimum degree on the graph of nodes
// (ordering.hpp), found once per pattern and kept while the pattern stays. Columns with the same rows behind them are eliminated as
// one run, so that a block of 6 x 6 is read and written once per run. The end of the order, where what is left of the graph
// is nearly complete (the middle of a pile), is one dense matrix, factored by panels with pivoting.
// Nested dissection was tried instead: on piles of 1000 it needs a quarter fewer multiplications but no less time, since its
// runs are shorter; its order takes three times as long, and METIS allocates.
// Left out: use of symmetry (the gyroscopic part is the usual case; block_ldl.hpp is for symmetric matrices).
#pragma once

#include <span>
#include <vector>

#include "math/ordering.hpp"
#include "stickslip/blocks.hpp"

namespace stickslip {

class BlockLu {
public:
    struct Edge {
        int a, b;  // a < b: the blocks (a, b) and (b, a) may be nonzero
        friend auto operator<=>(const Edge&, const Edge&) = default;
    };
    // Where the two blocks of a pair of nodes live; both column-major, row node first: ab is dof(a) x dof(b).
    struct Pair {
        double* ab;
        double* ba;
    };

    // Takes the pattern; does nothing but zero the values when it is the one of last time. Edges may repeat
    // and come in any order; they are sorted in place.
    void analyse(const Nodes& nodes, std::vector<Edge>& edges);
    double* diagonal(int node) { return given_.data() + given_diagonal_[node]; }  // column-major, to be added to
    Pair pair(int a, int b);            // of an edge of the pattern; valid until the next analyse
    bool factor();                      // false when a pivot is zero or not finite
    bool factor(const BlockMatrix& A);  // all three: the pattern of A, its numbers, and their factors
    void solve(double* x) const { solve(x, 1); }  // x := K^-1 x, nv entries, any number of times after factor()
    // The same for up to three columns of nv entries, one behind the other: the factors, mostly in memory, are read once.
    void solve(double* x, int columns) const;

    static constexpr int max_columns = 3;

    double work() const;  // multiplications of one factor(), of the pattern analysed
    double solve_work() const { return static_cast<double>(values_.size()); }  // of one solve()
    int fill_blocks() const { return static_cast<int>(row_.size()); }  // off-diagonal blocks of one triangle

private:
    void order();
    void fill_columns();
    double column_work(int k) const;  // multiplications
    void choose_tail();
    void place();
    void scatter();  // the given blocks into the factor's places
    bool factor_column(int k);
    void eliminate(int k);
    bool factor_run(int first, int end);  // false when a pivot is zero or not finite
    template <class Row>
    void each_row_behind(int first, int end, Row&& row) const;
    void eliminate_run(int first, int end);
    int first_in_tail(int k) const;
    bool factor_tail();  // false when a pivot is zero or not finite
    void solve_tail(double* x, int columns) const;
    int find(int early, int late) const;  // index in row_ of (late, early)
    bool in_tail(int turn) const { return turn >= tail_first_; }
    double* tail_block(int row_turn, int column_turn) {
        return values_.data() + tail_ + tail_row_[row_turn - tail_first_] +
               static_cast<std::ptrdiff_t>(tail_row_[column_turn - tail_first_]) * tail_rows_;
    }

    Nodes nodes_;
    std::vector<Edge> edges_;
    std::vector<int> given_diagonal_;  // per node, into given_
    std::vector<int> given_edge_;      // per edge: ab, then ba
    AlignedDoubles given_;             // K as it was added up
    std::vector<int> elimination_;     // elimination_[k]: node eliminated k-th
    std::vector<int> turn_;            // its inverse
    std::vector<int> column_;          // column k owns row_[column_[k]] .. row_[column_[k + 1] - 1]
    std::vector<int> row_;             // turns later than k that touch k, ascending
    std::vector<int> lower_, upper_;   // offsets in values_ of K_ik and K_ki, per entry of row_
    std::vector<int> diagonal_;        // per node outside the tail
    std::vector<char> sixes_;          // per turn outside the tail: all blocks of the column are 6 x 6
    std::vector<int> run_end_;         // per turn outside the tail: the first one behind the run of columns it is in
    std::vector<int> pivots_;          // per velocity: row swapped into place, within the node or the tail
    int tail_first_ = 0;               // turns from here on are the dense tail
    int tail_rows_ = 0;
    std::ptrdiff_t tail_ = 0;    // its offset in values_, column-major tail_rows_ x tail_rows_
    std::vector<int> tail_row_;  // per turn of the tail: its first row in it
    std::vector<int> tail_pivot_;
    AlignedDoubles values_;
    mutable AlignedDoubles tail_x_;
    std::vector<Edge> pattern_;  // of the matrix given
    // scratch of the ordering
    Ordering ordering_;
    Graph graph_;
    std::vector<int> child_, sibling_, mark_;
    std::vector<const double*> run_;  // scratch of eliminate_run
};

}  // namespace stickslip
