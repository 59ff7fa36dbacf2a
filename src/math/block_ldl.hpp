// Block-sparse LDL' over nodes, for symmetric quasi-definite K: nodes of sign +1 (bodies, K_nn > 0) and of sign -1 (groups
// of rows, K_nn = -T <= 0),
//
//   K = [ A  G' ]      P K P' = L D L',    L unit lower, D diagonal with the signs of its nodes
//       [ G  -T ]
//
// without pivoting (Vanderbei 1995). What that needs: with T > 0 every order has a factor, but a row eliminated before its
// bodies turns into G' T^-1 G and costs the digits of eps |G' G| / (T |A|). A row of sign -1 therefore comes after a
// body on which it can stand: after the first of its bodies that still has as many free velocities as the row group
// has rows (a joint of a tree comes right after the outer body, as in recursive dynamics), or after the last of
// them. Its pivot is then -(T + part of G A^-1 G'), which is also safe with T = 0 when the rows are independent.
// Dependent rows need T > 0; their pivots are as small as T, and the error before refinement is eps/T.
//
// Left looking: column j = K_j - sum over earlier k that touch it, in a fixed order; so columns that no change reaches keep
// their bits, and a partial refactorisation (changed nodes and their ancestors in the elimination tree) is
// bit-equal to a full one. Signs and sizes of the pivots are checked.
// Consecutive columns of the same pattern (fundamental supernodes) are applied together where all blocks are 6 x 6.
// Left out: dense panels for them (a pile of more than some 5000 bodies wants them), threads.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "math/ordering.hpp"
#include "stickslip/blocks.hpp"

namespace stickslip {

class BlockLdl {
public:
    struct Edge {
        int a, b;  // a < b: the block (b, a) may be nonzero
        friend auto operator<=>(const Edge&, const Edge&) = default;
    };
    struct Status {
        bool ok = true;
        int node = -1;     // the first whose pivot has the wrong sign or is rounding
        int row = 0;       // within the node
        double pivot = 0;  // what came out
    };

    // Takes the pattern; does nothing but zero the values when it is the one of last time. `signs`: +1 or -1 per node,
    // empty: all +1. Edges may repeat and come in any order; they are sorted in place. True when the pattern is new.
    bool analyse(const Nodes& nodes, std::span<const signed char> signs, std::vector<Edge>& edges);

    // The matrix, to be added to. Column-major; of a diagonal block only the lower triangle is read. The places stay
    // valid, and the numbers too, until the next analyse: factor() does not destroy them.
    double* diagonal(int node) { return matrix_.data() + diagonal_[node]; }
    double* block(int b, int a) { return matrix_.data() + edge_offset_[find(a, b)]; }  // a < b: dof(b) x dof(a)
    void set_zero();

    Status factor();
    // For refactor(): the diagonal block of a node, or the block of an edge, has new numbers.
    void touch(int node) { dirty_[turn_[node]] = 1; }
    void touch(int b, int a) { dirty_[turn_[a] < turn_[b] ? turn_[a] : turn_[b]] = 1; }
    Status refactor();  // the touched columns and what depends on them; like factor() when there is no factor yet
    void solve(double* x) const;  // x := K^-1 x, any number of times after a good factor()

    double pivot_tolerance = 1e-15;  // relative to the terms the pivot is the sum of: below, a pivot is rounding

    double flops() const { return flops_; }                            // of one factor()
    int fill_blocks() const { return static_cast<int>(row_.size()); }  // off-diagonal blocks of L
    int refactored() const { return refactored_; }  // columns computed by the last factor or refactor
    bool dissected() const { return dissected_; }   // ordered by nested dissection

private:
    static constexpr int longest_run =
        8;             // columns applied together: 2.3 kB of scaled blocks, more would leave the first cache
    struct Original {  // a block of the matrix that belongs into a column of L
        std::ptrdiff_t from, to;
        bool transposed;
        int rows, columns;  // of the target
    };

    int find(int a, int b) const;
    void order();
    void insert_rows(const std::vector<int>& bodies);  // elimination_ from an order of the nodes of the body graph
    void symbolic();
    void place();
    bool column(int j, Status& status);

    Nodes nodes_;
    std::vector<signed char> signs_;
    std::vector<Edge> edges_;
    bool analysed_ = false, factored_ = false, dissected_ = false;
    int refactored_ = 0;
    double flops_ = 0;

    // the matrix as given
    AlignedDoubles matrix_;
    std::vector<std::ptrdiff_t> diagonal_, edge_offset_;  // per node, per edge

    // the factor; k and j are turns (places in the elimination order)
    std::vector<int> elimination_, turn_;      // node of a turn, turn of a node
    std::vector<int> dim_, pivot_start_;       // per turn: size, first entry in pivot_
    std::vector<int> parent_;                  // elimination tree, -1 at roots
    std::vector<int> column_, row_;            // column k: row_[column_[k]] .. row_[column_[k + 1] - 1], ascending
    std::vector<std::ptrdiff_t> offset_;       // per entry of row_, into values_
    std::vector<std::ptrdiff_t> start_;        // per turn: the diagonal block; its column follows
    std::vector<int> row_start_;               // row j: columns that touch it ...
    std::vector<int> row_column_, row_entry_;  // ... and the entry of row_ where
    std::vector<int> run_;  // per entry of a row list: columns applied together from here, 0: any size
    std::vector<int> original_start_;
    std::vector<Original> original_;
    AlignedDoubles values_, pivot_, inverse_;
    AlignedDoubles scaled_, size_;  // scratch of one column
    std::vector<std::ptrdiff_t> target_;
    std::vector<char> dirty_;

    // scratch of the analysis
    Ordering ordering_;
    Graph graph_;
    std::vector<int> neighbour_start_, neighbour_;  // of the whole graph, by node
    std::vector<int> body_, body_number_, body_order_, dissection_;
    std::vector<int> waiting_, room_;
    std::vector<char> placed_;
    std::vector<Edge> body_edges_;
    std::vector<int> child_, sibling_, mark_, count_;
    std::vector<char> sixes_;  // per turn: the node and all its rows have six velocities
};

}  // namespace stickslip
