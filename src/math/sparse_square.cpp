#include "math/sparse_square.hpp"

namespace stickslip {

void SparseSquare::begin(int n) {
    n_ = n;
    columns_.first.clear();
    columns_.index.clear();
    columns_.value.clear();
}

void SparseSquare::finish() {
    next_column();  // the end of the last one
    run_first_.assign(1, 0);
    runs_.clear();
    for (int j = 0; j < n_; ++j) {
        const int start = columns_.first[j];
        const Line line = column(j);
        for (int k = 0; k < line.count; ++k) {
            if (k > 0 && line.index[k] == line.index[k - 1] + 1)
                ++runs_.back().count;
            else
                runs_.push_back({line.index[k], start + k, 1});
        }
        run_first_.push_back(static_cast<int>(runs_.size()));
    }
    rows_.first.assign(static_cast<std::size_t>(n_) + 1, 0);
    for (const int i : columns_.index) ++rows_.first[i + 1];
    for (std::size_t i = 1; i < rows_.first.size(); ++i) rows_.first[i] += rows_.first[i - 1];
    rows_.index.resize(columns_.index.size());
    rows_.value.resize(columns_.value.size());
    next_.assign(rows_.first.begin(), rows_.first.end());
    for (int j = 0; j < n_; ++j) {
        const Line line = column(j);
        for (int k = 0; k < line.count; ++k) {
            const auto slot = static_cast<std::size_t>(next_[line.index[k]]++);
            rows_.index[slot] = j;
            rows_.value[slot] = line.value[k];
        }
    }
}

void SparseSquare::assign(const Eigen::Ref<const MatX>& M) {
    begin(static_cast<int>(M.cols()));
    for (int j = 0; j < n_; ++j) {
        next_column();
        for (int i = 0; i < n_; ++i)
            if (M(i, j) != 0) add(i, M(i, j));
    }
    finish();
}

void SparseSquare::gather(const SparseSquare& all, const std::vector<int>& chosen, const std::vector<int>& place) {
    begin(static_cast<int>(chosen.size()));
    for (const int j : chosen) {
        next_column();
        const Line line = all.column(j);
        for (int k = 0; k < line.count; ++k) {
            const int row = place[line.index[k]];
            if (row >= 0) add(row, line.value[k]);
        }
    }
    finish();
}

MatX SparseSquare::dense() const {
    MatX M = MatX::Zero(n_, n_);
    for (int j = 0; j < n_; ++j) add_column(j, 1, M.col(j).data());
    return M;
}

}  // namespace stickslip
