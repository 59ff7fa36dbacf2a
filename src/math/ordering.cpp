#include "math/ordering.hpp"

#include <amd.h>
#include <metis.h>

#include <algorithm>
#include <mutex>
#include <type_traits>

#include "stickslip/error.hpp"

namespace stickslip {

void Ordering::minimum_degree(const Graph& graph, std::vector<int>& order) {
    const int n = graph.size();
    order.resize(static_cast<std::size_t>(n));
    if (n == 0) return;
    // amd_2 is amd_order without the checks and without malloc: the pattern must be symmetric and is destroyed.
    const std::size_t count = static_cast<std::size_t>(n), edges = graph.adjacent.size();
    iw_.resize(std::max(iw_.size(), edges + edges / 5 + 2 * count + 1));
    std::copy(graph.adjacent.begin(), graph.adjacent.end(), iw_.begin());
    pe_.assign(graph.start.begin(), graph.start.end() - 1);
    len_.resize(count);
    for (int i = 0; i < n; ++i) len_[i] = graph.start[i + 1] - graph.start[i];
    for (auto* scratch : {&nv_, &next_, &last_, &head_, &elen_, &degree_, &w_}) scratch->resize(count);
    double control[AMD_CONTROL], info[AMD_INFO];
    amd_defaults(control);
    amd_2(n, pe_.data(), iw_.data(), len_.data(), static_cast<int>(iw_.size()), static_cast<int>(edges), nv_.data(),
          next_.data(), last_.data(), head_.data(), elen_.data(), degree_.data(), w_.data(), control, info);
    std::copy(last_.begin(), last_.end(), order.begin());
}

void Ordering::nested_dissection(const Graph& graph, std::vector<int>& order) {
    static_assert(std::is_same_v<idx_t, int>, "METIS with 64-bit indices needs copies of the graph");
    int n = graph.size();
    order.resize(static_cast<std::size_t>(n));
    if (n == 0) return;
    pe_.assign(graph.start.begin(), graph.start.end());
    iw_.resize(std::max(iw_.size(), graph.adjacent.size()));
    std::copy(graph.adjacent.begin(), graph.adjacent.end(), iw_.begin());
    last_.resize(static_cast<std::size_t>(n));
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    static std::mutex one_at_a_time;  // rand() has one state for all threads
    const std::lock_guard<std::mutex> lock(one_at_a_time);
    const int status = METIS_NodeND(&n, pe_.data(), iw_.data(), nullptr, options, order.data(), last_.data());
    SS_ASSERT(status == METIS_OK, "METIS refused a graph of nodes");
    static_cast<void>(status);
}

}  // namespace stickslip
