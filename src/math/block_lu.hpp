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
// Where the factors are large, the order is rearranged into parts that threads share (block_lu_parts.cpp).
// Nested dissection was tried instead: on piles of 1000 it needs a quarter fewer multiplications but no less time, since its
// runs are shorter; its order takes three times as long, and METIS allocates.
// Left out: use of symmetry (the gyroscopic part is the usual case; block_ldl.hpp is for symmetric matrices).
#pragma once

#include <span>
#include <vector>

#include "base/parallel.hpp"
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
    int parts() const { return static_cast<int>(part_.size()) - 1; }  // that threads may share; 0: none
    int fill_blocks() const { return static_cast<int>(row_.size()); }  // off-diagonal blocks of one triangle

private:
    void order();
    void fill_columns();
    double column_work(int k) const;  // multiplications
    void choose_tail();
    void split();
    double find_parts(double largest);
    int parent(int k) const;
    double own_weight(int k) const;  // numbers of column k
    void reorder_by_parts();
    void list_behind_parts();
    void place();
    void scatter();  // the given blocks into the factor's places
    bool factor_column(int k);
    void eliminate(int k);
    // False when a pivot is zero or not finite; `shared`: among threads, where there is work for them.
    bool factor_run(int first, int end, bool shared);
    template <class Row>
    void each_row_behind(int first, int end, bool shared, Row&& row) const;
    void eliminate_row(int first, int end, int behind);
    int first_in_tail(int k) const;
    bool factor_parts();                     // false when a pivot is zero or not finite
    bool factor_tail();                      // the same
    // of(first, end) for the turns of each part, shared out among threads.
    template <class Of>
    void each_part(Of&& of) const {
        in_parallel(parts(), [&](int p) { of(part_[p], part_[p + 1]); });
    }
    // entry(k, e) for the entries e of columns k of the parts whose rows are behind them: those of a row one after the other, k ascending,
    // rows shared out among threads.
    template <class Entry>
    void each_behind_parts(Entry&& entry) const {
        const int rows = static_cast<int>(behind_first_.size()) - 1;
        each_in_parallel(rows, rows_of_part, [&](int row) {
            for (int i = behind_first_[row]; i < behind_first_[row + 1]; ++i) entry(behind_[i].turn, behind_[i].entry);
        });
    }
    void solve_forward(int k, int stop, double* x, int columns) const;
    void take_forward(int k, int begin, int end, double* x, int columns) const;
    void solve_backward(int k, double* x, int columns) const;
    void solve_tail(double* x, int columns) const;
    int find(int early, int late) const;  // index in row_ of (late, early)
    bool in_tail(int turn) const { return turn >= tail_first_; }
    double* tail_block(int row_turn, int column_turn) {
        return values_.data() + tail_ + tail_row_[row_turn - tail_first_] +
               static_cast<std::ptrdiff_t>(tail_row_[column_turn - tail_first_]) * tail_rows_;
    }

    static constexpr int rows_of_part = 4;  // shared out as one: some tens of microseconds

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
    struct Behind {
        int turn, entry;
    };
    std::vector<int> part_{0};         // part p has the turns part_[p] .. part_[p + 1] - 1
    int top_first_ = 0;                // turns from here on are behind all parts
    std::vector<int> inner_end_;       // per turn of a part: its first entry behind the parts
    std::vector<int> behind_first_{0};  // row top_first_ + i owns behind_[behind_first_[i]] .. behind_[behind_first_[i + 1] - 1]
    std::vector<Behind> behind_;       // entries of parts in rows behind them
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
    std::vector<const double*> run_;  // per turn: its block in the first row behind its run
    // scratch of split()
    std::vector<double> weight_;
    std::vector<int> part_of_, roots_, old_column_, old_row_;
};

}  // namespace stickslip
