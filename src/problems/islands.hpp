// The independent parts of a step problem. Nodes that share a joint, a contact or a coupling of A belong to one island; nothing
// that happens in one is felt in another, so each is a step problem of its own and may be solved alone.
//
// Islands are numbered by their lowest node. Nodes without any row or coupling are one part together, the free ones: they have
// nothing to solve but A_nn v = r_n. A row without a block (a contact between fixed bodies) goes with the first island.
#pragma once

#include <span>
#include <vector>

#include "math/node_groups.hpp"
#include "stickslip/problem.hpp"

namespace stickslip {

class Islands {
public:
    void split(const StepProblem& problem);

    int size() const { return static_cast<int>(node_first_.size()) - 1; }  // the free nodes are the last, where there are any
    std::span<const int> nodes(int k) const { return part(nodes_, node_first_, k); }
    std::span<const int> joints(int k) const { return part(joints_, joint_first_, k); }        // groups
    std::span<const int> contacts(int k) const { return part(contacts_, contact_first_, k); }  // ascending
    bool free(int k) const { return joints(k).empty() && contacts(k).empty() && k == free_; }
    int island_of(int node) const { return number_[node]; }

    // Island k as a problem of its own, with what solvers need: rows, A, r, T, b, bounds, S, c, ids. Keeps memory.
    void extract(const StepProblem& problem, int k, StepProblem& part) const;
    void extract(const StepProblem& problem, const StepSolution& whole, int k, StepSolution& part) const;
    void merge(const StepProblem& problem, int k, const StepSolution& part, StepSolution& whole) const;

private:
    static std::span<const int> part(const std::vector<int>& list, const std::vector<int>& first, int k) {
        return {list.data() + first[k], static_cast<std::size_t>(first[k + 1] - first[k])};
    }
    void tie(const BlockRows& rows);
    void number(const StepProblem& problem);
    // Counts and lists the members of each island; `island_of` says where member i belongs.
    template <class IslandOf>
    void list(int members, IslandOf&& island_of, std::vector<int>& list, std::vector<int>& first);

    NodeGroups groups_;
    std::vector<char> tied_;        // per node: has a row or a coupling
    std::vector<int> number_;       // per node: its island
    std::vector<int> place_;        // per node: its place in the island
    std::vector<int> nodes_, node_first_{0}, joints_, joint_first_{0}, contacts_, contact_first_{0};
    std::vector<int> couplings_, coupling_first_{0};
    int count_ = 0, free_ = -1;
};

}  // namespace stickslip
