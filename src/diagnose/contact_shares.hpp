// Contacts that share their load in more ways than one: a box on four corners. For the velocity v of a solved step problem the impulses
// that solve it form a convex set,
//
//   H' p + G' lambda = f      the same effect on the bodies
//   p_i = 0                   where the contact opens, u_N > 0
//   p_i in the ray of p_i     where it slips
//   p_i in its cone           where it sticks
//
// and the smallest of them, |p|^2 + |lambda|^2, does not depend on how the solver came to its own. Records show it; the solver's
// memory keeps what the solver found. lambda are those of rigid joint rows, which may be part of the loop: a table whose legs
// are joined to its top. (N s and N m s stand side by side, as in Redundancy.)
//
// Islands are bodies that such rows connect. A body that touches or is joined to a single other is peeled off first: its impulses
// follow from its own motion.
//
// Left out: regularised rows (S, T > 0), whose impulses are unique; islands of more than `max_contacts` contacts or `max_rows`
// velocities, which are judged by counting rows alone and keep what the solver found; impulses at the rim of all cones, for which the
// search may find no end and which then stay as they are.
#pragma once

#include <vector>

#include "math/node_groups.hpp"
#include "problems/least_in_cones.hpp"
#include "stickslip/problem.hpp"

namespace stickslip {

class ContactShares {
public:
    static constexpr int max_contacts = 60, max_rows = 240;  // of an island: beyond, it takes longer than a step

    // Replaces p and lambda, which solve the problem together with solution.v, by the smallest ones. Keeps its memory.
    void make_smallest(const StepProblem& problem, const StepSolution& solution, RowVec& p, RowVec& lambda);
    // Of the last problem:
    bool unique(int contact) const { return shared_[contact] == 0; }
    bool all_found() const { return all_found_; }  // false: some keep what the solver found

private:
    // A joint with its rigid rows, or a contact.
    struct Link {
        int group = 0;
        bool joint = false, alive = true;
        bool slips = false;  // the contact has one unknown, |p|
        int first = 0;       // in x of its island
    };

    void list_links(const StepProblem& problem);
    void peel(const StepProblem& problem);
    void leave_out_open(const StepProblem& problem, const StepSolution& solution, const RowVec& p);
    void connect(const StepProblem& problem);
    // An island whose impulses are looked for.
    struct Search {
        int island = 0;
        int rows = 0, columns = 0;  // of B
        bool found = true;
    };
    bool measure(const StepProblem& problem, Search& search);
    void mark(int island);
    void fill(const StepProblem& problem, const Search& search, const RowVec& p, const RowVec& lambda, LeastInCones& least) const;
    void give_back(const StepProblem& problem, int island, const LeastInCones& least, RowVec& p, RowVec& lambda) const;
    void run(const StepProblem& problem, Search& search, LeastInCones& least, RowVec& p, RowVec& lambda);
    void make_batches();
    static const BlockRows& rows_of(const StepProblem& problem, const Link& link);

    std::vector<char> shared_;      // per contact
    std::vector<Vec2> ratio_;       // per contact that slips: p_T / p_N
    std::vector<Link> links_;       // joints, then contacts
    std::vector<int> next_, head_;  // the links of an island as a list: per link, per node that stands for it; -1: none
    NodeGroups groups_;
    std::vector<int> count_;           // per node: links that hold it
    std::vector<int> place_;           // per node: its first row of B
    bool all_found_ = true;
    std::vector<Search> searches_;
    std::vector<int> batch_first_;     // batch b has searches batch_first_[b] .. batch_first_[b + 1] - 1
    std::vector<LeastInCones> least_;  // per batch, or one for all of them
};

}  // namespace stickslip
