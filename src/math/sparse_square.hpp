// A square sparse matrix that is read by columns and by rows, as pivoting needs both. Filled column after column, then
// `finish` makes the rows. Keeps its memory. Rows that follow each other in a column are kept as runs, over which products
// run without indices: store the zeros of small dense blocks rather than skip them.
#pragma once

#include <vector>

#include "stickslip/blocks.hpp"

namespace stickslip {

class SparseSquare {
public:
    struct Line {  // the nonzeros of one column or row
        const int* index;
        const double* value;
        int count;
    };

    void begin(int n);  // an empty matrix of order n
    void next_column() { columns_.first.push_back(static_cast<int>(columns_.index.size())); }
    void add(int row, double x) {  // to the column opened last, rows ascending, each at most once
        columns_.index.push_back(row);
        columns_.value.push_back(x);
    }
    void finish();

    void assign(const Eigen::Ref<const MatX>& M);  // exact zeros are dropped
    // The rows and columns listed in `chosen`, in that order; place[chosen[i]] must be i and -1 elsewhere.
    void gather(const SparseSquare& all, const std::vector<int>& chosen, const std::vector<int>& place);

    int size() const { return n_; }
    Line column(int j) const { return columns_.line(j); }
    Line row(int i) const { return rows_.line(i); }
    void add_column(int j, double s, double* y) const {  // y += s M_j
        for (int r = run_first_[j]; r < run_first_[j + 1]; ++r) {
            const Run& run = runs_[r];
            Eigen::Map<VecX>(y + run.row, run.count) +=
                s * Eigen::Map<const VecX>(columns_.value.data() + run.offset, run.count);
        }
    }
    MatX dense() const;

private:
    struct Lines {
        std::vector<int> first, index;
        AlignedDoubles value;
        Line line(int i) const {
            const int start = first[i];
            return {index.data() + start, value.data() + start, first[i + 1] - start};
        }
    };
    struct Run {
        int row, offset, count;
    };
    int n_ = 0;
    std::vector<int> run_first_;
    std::vector<Run> runs_;
    Lines columns_, rows_;
    std::vector<int> next_;
};

}  // namespace stickslip
