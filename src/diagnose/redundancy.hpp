// Rigid joint rows that say the same as others: the second hinge of a door, the loop of a planar four-bar in space.
//
// With G the holonomic rows of an island (rows that share bodies), k of m rows are redundant when rank G = m - k. Their
// velocities are consistent only as long as the joints are closed exactly: drift d turns k singular values from 0 to about
// d, and a mechanism like Bricard's, mobile only by its special dimensions, is locked by rows that all are imposed. So
//
//   switch_off   keeps the m - k most independent rows of every stage and gives the others bounds [0, 0], whatever the
//                solver; rows are chosen anew in every stage, so that a loop that passes its dead point leans on the others
//   smallest     lambda - N N' lambda, N an orthonormal basis of {lambda : G' lambda = 0}: the reactions of least 2-norm
//                (N s and N m s side by side) with the same effect on the bodies; what records show as reactions
//
// Independence is measured by Gram-Schmidt on rows scaled to unit length in the metric 1/A_kk. Bodies whose rows are
// independent already on that body alone are peeled off first: trees vanish, and with them all cost.
//
// Left out: motors (unlimited ones may contradict each other, and must then be refused), contacts, limits, and islands of
// more than `max_rows` rows behind peeling, which stay as they are. How many rows are redundant is decided by the pose at
// the start, so a run that starts in a singular pose treats what is dependent only there as redundant until it has moved on.
#pragma once

#include <string>
#include <vector>

#include "math/block_lu.hpp"
#include "math/work_mat.hpp"
#include "stickslip/problem.hpp"
#include "stickslip/system.hpp"

namespace stickslip {

class Redundancy {
public:
    static constexpr int max_rows = 2000;  // of an island: beyond, the search takes more than seconds

    // Searches the rigid rows of `joints`; the diagonal of A gives the masses. Allocates, the others do not.
    void plan(const BlockMatrix& A, const BilateralRows& joints);

    bool any() const { return !islands_.empty(); }
    const std::vector<int>& redundant() const { return redundant_; }  // rows, ascending
    bool unique(int row) const { return shared_[row] == 0; }          // its reaction
    int rows() const { return static_cast<int>(shared_.size()); }
    int left_out() const { return left_out_; }  // rows in islands that are too large

    // Bounds [0, 0] for the dependent rows of this problem. Rows of another system are planned anew.
    void switch_off(StepProblem& problem);
    // Replaces lambda of the problem that was switched off last.
    void smallest(const StepProblem& problem, RowVec& lambda);

    // Names: "hinge-3 row 4", counted from 1.
    std::string row_name(const System& system, int row) const;
    std::vector<std::string> redundant_names(const System& system) const;
    std::vector<std::string> shared_joints(const System& system) const;  // whose reactions are not unique

private:
    struct Island {
        std::vector<int> rows;  // those kept at the start, then the redundant ones; each ascending
        int redundant = 0;      // k
        std::vector<int> nodes;
        bool rigid = true;       // in the problem at hand
        bool every_step = true;  // small enough to choose anew; else the choice of the start is kept
        WorkMat null;            // N, rows in the order of `rows`
        RowVec scale;            // of each row: 1 / its length
    };

    void note_rows(const BilateralRows& joints);
    class Peeling;  // finds the rows of the islands
    void load(const BlockMatrix& A, const BlockRows& G, Island& island);
    int choose(const Island& island, int least_rank, double kept);
    void fill_null(Island& island, int rank);
    void smallest_of_large(const StepProblem& problem, const Island& island, RowVec& lambda);
    const double* row_values(const BlockRows& G, const Nodes& nodes, int row, const BlockRows::Block& block) const;

    std::vector<Island> islands_;
    std::vector<int> redundant_;
    std::vector<char> shared_;  // per row
    std::vector<int> group_;    // of each row
    std::vector<int> first_;    // first row of each group
    std::vector<std::uint32_t> id_;
    int left_out_ = 0;

    // work
    WorkMat B_, R_;           // scaled rows as columns; their coefficients
    std::vector<int> order_;  // columns of B_: chosen first
    std::vector<int> column_of_node_;
    BlockLu lu_;
    std::vector<BlockLu::Edge> edges_;
    RowVec left_, given_, column_scale_;
};

}  // namespace stickslip
