// Elimination orders for sparse factors of symmetric patterns: approximate minimum degree (Amestoy, Davis & Duff 1996)
// and nested dissection (Karypis & Kumar 1998). The graph is the one of BLOCKS, six times smaller than that of numbers.
#pragma once

#include <vector>

namespace stickslip {

// Undirected graph without loops, both directions stored: the neighbours of i are
// adjacent[start[i]] .. adjacent[start[i + 1] - 1].
struct Graph {
    std::vector<int> start{0};
    std::vector<int> adjacent;

    int size() const { return static_cast<int>(start.size()) - 1; }
};

class Ordering {
public:
    // order[k]: who is eliminated k-th. No allocation once as large a graph has been met.
    void minimum_degree(const Graph& graph, std::vector<int>& order);
    // Allocates. METIS draws from rand(), seeded anew for each call: the same graph gives the same order as long as no
    // other thread of the program calls rand() at that moment.
    void nested_dissection(const Graph& graph, std::vector<int>& order);

private:
    std::vector<int> pe_, iw_, len_, nv_, next_, last_, head_, elen_, degree_, w_;
};

}  // namespace stickslip
