// The pattern of the block LDL': order, elimination tree, fill, places in memory.
#include <algorithm>

#include "math/block_ldl.hpp"
#include "stickslip/error.hpp"

namespace stickslip {

namespace {

// Bodies from which nested dissection is tried, and edges per body below which it is not: chains, trees and loops have
// no fill to save. Measured on piles (bench/kernels/ldlt.cpp): at 500 bodies it saves 2 % of the flops and costs half a
// factorisation, at 1000 it saves 16 % and costs a quarter of one, at 2000 it saves 37 %.
constexpr int dissect_from = 800;
constexpr double dissect_edges = 1.5;

// A row on more nodes than this makes them neighbours in a line only, for the ordering's sake: all pairs would be many.
constexpr int clique_limit = 16;

std::ptrdiff_t padded(std::ptrdiff_t count) { return (count + 3) / 4 * 4; }

template <class Vector>
void fit(Vector& list, std::ptrdiff_t size) {
    list.resize(static_cast<std::size_t>(size));
}

}  // namespace

bool BlockLdl::analyse(const Nodes& nodes, std::span<const signed char> signs, std::vector<Edge>& edges) {
    SS_ASSERT(signs.empty() || static_cast<int>(signs.size()) == nodes.size(), "one sign per node");
    if (!std::is_sorted(edges.begin(), edges.end())) std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    const bool same_signs = signs.empty()
                                ? std::all_of(signs_.begin(), signs_.end(), [](signed char s) { return s > 0; })
                                : std::equal(signs.begin(), signs.end(), signs_.begin(), signs_.end());
    const bool changed = !analysed_ || !same_signs || !(nodes == nodes_) || edges != edges_;
    if (changed) {
        nodes_.start.assign(nodes.start.begin(), nodes.start.end());
        if (signs.empty())
            signs_.assign(static_cast<std::size_t>(nodes.size()), 1);
        else
            signs_.assign(signs.begin(), signs.end());
        edges_.assign(edges.begin(), edges.end());
        order();
        place();
        analysed_ = true;
        factored_ = false;
    }
    set_zero();
    return changed;
}

int BlockLdl::find(int a, int b) const {
    const auto found = std::lower_bound(edges_.begin(), edges_.end(), Edge{a, b});
    SS_ASSERT(found != edges_.end() && *found == (Edge{a, b}), "pair of nodes outside the analysed pattern");
    return static_cast<int>(found - edges_.begin());
}

void BlockLdl::order() {
    const int n = nodes_.size();
    neighbour_start_.assign(static_cast<std::size_t>(n) + 1, 0);
    for (const Edge& e : edges_) {
        SS_ASSERT(e.a >= 0 && e.a < e.b && e.b < n, "an edge joins two nodes, the lower first");
        ++neighbour_start_[e.a + 1];
        ++neighbour_start_[e.b + 1];
    }
    for (int i = 0; i < n; ++i) neighbour_start_[i + 1] += neighbour_start_[i];
    neighbour_.resize(2 * edges_.size());
    mark_.assign(neighbour_start_.begin(), neighbour_start_.end() - 1);
    for (const Edge& e : edges_) {
        neighbour_[mark_[e.a]++] = e.b;
        neighbour_[mark_[e.b]++] = e.a;
    }

    // Rows that touch bodies are put in later; all others are ordered as bodies.
    body_.clear();
    fit(body_number_, n);
    for (int i = 0; i < n; ++i) {
        bool late = false;
        for (int k = neighbour_start_[i]; signs_[i] < 0 && k < neighbour_start_[i + 1]; ++k)
            late = late || signs_[neighbour_[k]] > 0;
        body_number_[i] = late ? -1 : static_cast<int>(body_.size());
        if (!late) body_.push_back(i);
    }
    body_edges_.clear();
    const auto join = [&](int a, int b) { body_edges_.push_back({std::min(a, b), std::max(a, b)}); };
    for (const Edge& e : edges_)
        if (body_number_[e.a] >= 0 && body_number_[e.b] >= 0) join(body_number_[e.a], body_number_[e.b]);
    for (int i = 0; i < n; ++i) {
        if (body_number_[i] >= 0) continue;
        mark_.clear();
        for (int k = neighbour_start_[i]; k < neighbour_start_[i + 1]; ++k)
            if (signs_[neighbour_[k]] > 0) mark_.push_back(body_number_[neighbour_[k]]);
        const int count = static_cast<int>(mark_.size());
        for (int a = 0; a < count; ++a)
            for (int b = a + 1; b < (count > clique_limit ? std::min(a + 2, count) : count); ++b)
                join(mark_[a], mark_[b]);
    }
    std::sort(body_edges_.begin(), body_edges_.end());
    body_edges_.erase(std::unique(body_edges_.begin(), body_edges_.end()), body_edges_.end());
    const int bodies = static_cast<int>(body_.size());
    graph_.start.assign(static_cast<std::size_t>(bodies) + 1, 0);
    for (const Edge& e : body_edges_) {
        ++graph_.start[e.a + 1];
        ++graph_.start[e.b + 1];
    }
    for (int i = 0; i < bodies; ++i) graph_.start[i + 1] += graph_.start[i];
    graph_.adjacent.resize(2 * body_edges_.size());
    mark_.assign(graph_.start.begin(), graph_.start.end() - 1);
    for (const Edge& e : body_edges_) {
        graph_.adjacent[mark_[e.a]++] = e.b;
        graph_.adjacent[mark_[e.b]++] = e.a;
    }

    ordering_.minimum_degree(graph_, body_order_);
    insert_rows(body_order_);
    symbolic();
    dissected_ = false;
    if (bodies < dissect_from || static_cast<double>(body_edges_.size()) < dissect_edges * bodies) return;
    const double before = flops_;
    ordering_.nested_dissection(graph_, dissection_);
    insert_rows(dissection_);
    symbolic();
    dissected_ = flops_ < before;
    if (dissected_) return;
    insert_rows(body_order_);
    symbolic();
}

void BlockLdl::insert_rows(const std::vector<int>& bodies) {
    const int n = nodes_.size();
    elimination_.clear();
    placed_.assign(static_cast<std::size_t>(n), 0);
    waiting_.assign(static_cast<std::size_t>(n), 0);
    fit(room_, n);
    for (int i = 0; i < n; ++i) {
        room_[i] = nodes_.dof(i);
        for (int k = neighbour_start_[i]; k < neighbour_start_[i + 1]; ++k) waiting_[i] += signs_[neighbour_[k]] > 0;
    }
    for (const int b : bodies) {
        const int node = body_[b];
        elimination_.push_back(node);
        if (signs_[node] < 0) continue;
        const int* const first = neighbour_.data() + neighbour_start_[node];
        const int* const last = neighbour_.data() + neighbour_start_[node + 1];
        const auto put = [&](int row) {
            placed_[row] = 1;
            room_[node] -= nodes_.dof(row);
            elimination_.push_back(row);
        };
        for (const int* r = first; r < last; ++r) {
            if (body_number_[*r] >= 0) continue;
            if (--waiting_[*r] == 0 && !placed_[*r]) put(*r);
        }
        for (const int* r = first; r < last; ++r)
            if (body_number_[*r] < 0 && !placed_[*r] && nodes_.dof(*r) <= room_[node]) put(*r);
    }
    fit(turn_, n);
    for (int k = 0; k < n; ++k) turn_[elimination_[k]] = k;
}

// Rows of column k: its own later neighbours and the rows of its children in the elimination tree.
void BlockLdl::symbolic() {
    const int n = nodes_.size();
    parent_.assign(static_cast<std::size_t>(n), -1);
    child_.assign(static_cast<std::size_t>(n), -1);
    sibling_.assign(static_cast<std::size_t>(n), -1);
    mark_.assign(static_cast<std::size_t>(n), -1);
    column_.assign(1, 0);
    row_.clear();
    flops_ = 0;
    for (int k = 0; k < n; ++k) {
        const int node = elimination_[k];
        const std::size_t begin = row_.size();
        mark_[k] = k;
        for (int i = neighbour_start_[node]; i < neighbour_start_[node + 1]; ++i) {
            const int t = turn_[neighbour_[i]];
            if (t < k || mark_[t] == k) continue;
            mark_[t] = k;
            row_.push_back(t);
        }
        for (int c = child_[k]; c >= 0; c = sibling_[c]) {
            for (int e = column_[c]; e < column_[c + 1]; ++e) {
                const int t = row_[e];
                if (mark_[t] == k) continue;
                mark_[t] = k;
                row_.push_back(t);
            }
        }
        std::sort(row_.begin() + static_cast<std::ptrdiff_t>(begin), row_.end());
        column_.push_back(static_cast<int>(row_.size()));
        double below = 0;
        for (std::size_t e = begin; e < row_.size(); ++e) below += nodes_.dof(elimination_[row_[e]]);
        const double d = nodes_.dof(node);
        flops_ += d * (d * d / 3 + d * below + below * below);
        if (begin < row_.size()) {
            parent_[k] = row_[begin];
            sibling_[k] = child_[parent_[k]];
            child_[parent_[k]] = k;
        }
    }
}

void BlockLdl::place() {
    const int n = nodes_.size();
    fit(dim_, n);
    fit(pivot_start_, n);
    fit(diagonal_, n);
    fit(start_, n + 1);
    offset_.resize(row_.size());
    int largest = 1, pivots = 0;
    std::ptrdiff_t given = 0, offset = 0;
    for (int i = 0; i < n; ++i) {
        diagonal_[i] = given;
        given += padded(nodes_.dof(i) * nodes_.dof(i));
    }
    edge_offset_.resize(edges_.size());
    for (std::size_t e = 0; e < edges_.size(); ++e) {
        edge_offset_[e] = given;
        given += padded(nodes_.dof(edges_[e].a) * nodes_.dof(edges_[e].b));
    }
    for (int k = 0; k < n; ++k) {
        dim_[k] = nodes_.dof(elimination_[k]);
        largest = std::max(largest, dim_[k]);
        pivot_start_[k] = pivots;
        pivots += dim_[k];
    }
    for (int k = 0; k < n; ++k) {
        start_[k] = offset;
        offset += padded(dim_[k] * dim_[k]);
        for (int e = column_[k]; e < column_[k + 1]; ++e) {
            offset_[e] = offset;
            offset += padded(dim_[row_[e]] * dim_[k]);
        }
    }
    start_[n] = offset;
    fit(matrix_, given);
    fit(values_, offset);
    fit(pivot_, pivots);
    fit(inverse_, pivots);
    fit(scaled_, std::max(largest * largest, 36 * longest_run));
    fit(size_, 2 * largest);
    fit(target_, n);
    dirty_.assign(static_cast<std::size_t>(n), 1);

    // Row lists of L, columns ascending.
    row_start_.assign(static_cast<std::size_t>(n) + 1, 0);
    for (const int i : row_) ++row_start_[i + 1];
    for (int k = 0; k < n; ++k) row_start_[k + 1] += row_start_[k];
    row_column_.resize(row_.size());
    row_entry_.resize(row_.size());
    count_.assign(row_start_.begin(), row_start_.end() - 1);
    for (int k = 0; k < n; ++k) {
        for (int e = column_[k]; e < column_[k + 1]; ++e) {
            const int at = count_[row_[e]]++;
            row_column_[at] = k;
            row_entry_[at] = e;
        }
    }

    // Runs: columns one after the other in the tree with the same rows behind, of one sign, all blocks 6 x 6.
    sixes_.assign(static_cast<std::size_t>(n), 1);
    for (int k = 0; k < n; ++k) {
        sixes_[k] = dim_[k] == 6;
        for (int e = column_[k]; e < column_[k + 1] && sixes_[k]; ++e) sixes_[k] = dim_[row_[e]] == 6;
    }
    run_.assign(row_.size(), 0);
    for (int j = 0; j < n; ++j) {
        for (int t = row_start_[j]; t < row_start_[j + 1]; ++t) {
            if (!sixes_[row_column_[t]]) continue;
            int run = 1;
            for (; run < longest_run && t + run < row_start_[j + 1]; ++run) {
                const int k = row_column_[t + run - 1], next = row_column_[t + run];
                if (parent_[k] != next || !sixes_[next] || signs_[elimination_[k]] != signs_[elimination_[next]] ||
                    column_[k + 1] - column_[k] != column_[next + 1] - column_[next] + 1)
                    break;
            }
            run_[t] = run;
        }
    }

    // Where the given blocks go: diagonal first, then the edges of the column.
    original_start_.assign(static_cast<std::size_t>(n) + 1, 0);
    for (int k = 0; k < n; ++k) original_start_[k + 1] = 1;
    for (const Edge& e : edges_) ++original_start_[std::min(turn_[e.a], turn_[e.b]) + 1];
    for (int k = 0; k < n; ++k) original_start_[k + 1] += original_start_[k];
    original_.resize(edges_.size() + static_cast<std::size_t>(n));
    count_.assign(original_start_.begin(), original_start_.end() - 1);
    for (int k = 0; k < n; ++k)
        original_[count_[k]++] = {diagonal_[elimination_[k]], start_[k], false, dim_[k], dim_[k]};
    for (std::size_t e = 0; e < edges_.size(); ++e) {
        const int a = turn_[edges_[e].a], b = turn_[edges_[e].b], early = std::min(a, b), late = std::max(a, b);
        const auto found = std::lower_bound(row_.begin() + column_[early], row_.begin() + column_[early + 1], late);
        original_[count_[early]++] = {edge_offset_[e], offset_[found - row_.begin()], a > b, dim_[late], dim_[early]};
    }
}

}  // namespace stickslip
