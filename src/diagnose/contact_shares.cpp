#include "diagnose/contact_shares.hpp"

#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"

namespace stickslip {

namespace {

// [m/s] Slower than this a contact neither opens nor slips, as far as a solver with the default tolerance can tell. If smaller,
// corners that a solver left without load would not get their share.
constexpr double standstill = 10 * default_tolerance;
// Share of the largest impulse below which the direction of friction is taken from the slip.
constexpr double direction_known = 1e-6;
// Sweeps over all links. More would be needed only for long branches listed against their order, which then cost time and no more.
constexpr int max_sweeps = 6;
// Unknowns of searches that are taken together. If fewer, starting a batch costs more than its searches.
constexpr int batch_size = 40;

bool rigid(const StepProblem& problem, int row) {
    const BilateralRows& joints = problem.joints;
    return joints.kind[row] == RowKind::holonomic && joints.force_lower[row] == -infinity &&
           joints.force_upper[row] == infinity && problem.T[row] == 0;
}

bool regularised(const StepProblem& problem, int contact) {
    const BlockRows& H = problem.contacts.jacobian;
    return std::any_of(problem.S.data() + H.row[contact], problem.S.data() + H.row[contact + 1],
                       [](double s) { return s != 0; });
}

// u = H v + c of one row.
double speed(const StepProblem& problem, int contact, int k, const VecX& v) {
    const BlockRows& H = problem.contacts.jacobian;
    const Nodes& nodes = problem.nodes();
    double u = problem.c[H.row[contact] + k];
    for (const BlockRows::Block& block : H.blocks_of(contact)) {
        const int d = nodes.dof(block.node);
        const double* row = H.values.data() + block.offset + k * d;
        for (int c = 0; c < d; ++c) u += row[c] * v[nodes.start[block.node] + c];
    }
    return u;
}

double length_of(const Vec2& ratio) { return std::sqrt(1 + ratio.squaredNorm()); }

}  // namespace

const BlockRows& ContactShares::rows_of(const StepProblem& problem, const Link& link) {
    return link.joint ? problem.joints.jacobian : problem.contacts.jacobian;
}

void ContactShares::list_links(const StepProblem& problem) {
    links_.clear();
    count_.assign(static_cast<std::size_t>(problem.nodes().size()), 0);
    const BlockRows &G = problem.joints.jacobian, &H = problem.contacts.jacobian;
    const auto add = [&](const BlockRows& rows, int group, bool joint) {
        if (rows.blocks_of(group).empty()) return;
        links_.push_back({.group = group, .joint = joint});
        for (const BlockRows::Block& block : rows.blocks_of(group)) ++count_[block.node];
    };
    for (int g = 0; g < G.groups(); ++g) {
        int i = G.row[g];
        while (i < G.row[g + 1] && !rigid(problem, i)) ++i;
        if (i < G.row[g + 1]) add(G, g, true);
    }
    for (int i = 0; i < H.groups(); ++i)
        if (!regularised(problem, i)) add(H, i, false);
}

// A link that alone holds a body has the impulses that the motion of this body asks for.
void ContactShares::peel(const StepProblem& problem) {
    bool changed = true;
    const auto visit = [&](Link& link) {
        if (!link.alive) return;
        const auto blocks = rows_of(problem, link).blocks_of(link.group);
        if (std::none_of(blocks.begin(), blocks.end(), [&](const auto& block) { return count_[block.node] == 1; }))
            return;
        link.alive = false;
        changed = true;
        for (const BlockRows::Block& block : blocks) --count_[block.node];
    };
    for (int sweep = 0; changed && sweep < max_sweeps; ++sweep) {
        changed = false;
        if (sweep % 2 == 0)
            std::for_each(links_.begin(), links_.end(), visit);
        else
            std::for_each(links_.rbegin(), links_.rend(), visit);
    }
}

// Which contacts may carry load at this velocity, and which of them in one direction only.
void ContactShares::leave_out_open(const StepProblem& problem, const StepSolution& solution, const RowVec& p) {
    const ContactRows& contacts = problem.contacts;
    const BlockRows& H = contacts.jacobian;
    ratio_.resize(static_cast<std::size_t>(contacts.size()));
    double largest = 0;
    for (int i = 0; i < contacts.size(); ++i) largest = std::max(largest, p[H.row[i]]);
    for (Link& link : links_) {
        if (!link.alive || link.joint) continue;
        const int i = link.group, first = H.row[i], dim = H.dim(i);
        const double mu = contacts.friction[i];
        link.alive = p[first] > 0 || speed(problem, i, 0, solution.v) <= standstill;
        ratio_[i].setZero();
        link.slips = dim == 1 || mu == 0;
        if (link.alive && !link.slips) {
            Vec2 slip(speed(problem, i, 1, solution.v), dim == 3 ? speed(problem, i, 2, solution.v) : 0.0);
            link.slips = slip.norm() > standstill && solution.modes[i] != ContactMode::stick;
            if (link.slips && p[first] > direction_known * largest)
                ratio_[i] = Vec2(p[first + 1], dim == 3 ? p[first + 2] : 0.0) / p[first];
            else if (link.slips && (dim == 2 || contacts.facets[i] == disc_facets))
                ratio_[i] = -mu * slip.normalized();
            else if (link.slips)
                link.alive = false;  // which corner of its polygon friction would lie on is not known
        }
        if (!link.alive)
            for (const BlockRows::Block& block : H.blocks_of(i)) --count_[block.node];
    }
}

// Islands as lists of links, in their order.
void ContactShares::connect(const StepProblem& problem) {
    groups_.reset(static_cast<int>(count_.size()));
    for (const Link& link : links_)
        if (link.alive) groups_.join(rows_of(problem, link), link.group);
    head_.assign(count_.size(), -1);
    next_.assign(links_.size(), -1);
    for (std::size_t l = links_.size(); l-- > 0;) {
        if (!links_[l].alive) continue;
        int& head = head_[groups_.root_of(rows_of(problem, links_[l]).blocks_of(links_[l].group)[0].node)];
        next_[l] = head;
        head = static_cast<int>(l);
    }
    place_.assign(count_.size(), -1);
}

// The size of B. False if there is nothing to share, or too much.
bool ContactShares::measure(const StepProblem& problem, Search& search) {
    const Nodes& nodes = problem.nodes();
    int contacts = 0;
    for (int l = head_[search.island]; l >= 0; l = next_[l]) {
        Link& link = links_[l];
        const BlockRows& rows = rows_of(problem, link);
        link.first = search.columns;
        contacts += !link.joint;
        if (link.joint)
            for (int i = rows.row[link.group]; i < rows.row[link.group + 1]; ++i) search.columns += rigid(problem, i);
        else
            search.columns += link.slips ? 1 : rows.dim(link.group);
        for (const BlockRows::Block& block : rows.blocks_of(link.group)) {
            if (place_[block.node] >= 0) continue;
            place_[block.node] = search.rows;
            search.rows += nodes.dof(block.node);
        }
    }
    if (contacts == 0) return false;
    if (contacts <= max_contacts && search.rows <= max_rows) return true;
    if (search.columns > search.rows) {
        mark(search.island);
        all_found_ = false;
    }
    return false;
}

void ContactShares::mark(int island) {
    for (int l = head_[island]; l >= 0; l = next_[l])
        if (!links_[l].joint) shared_[links_[l].group] = 1;
}

void ContactShares::fill(const StepProblem& problem, const Search& search, const RowVec& p, const RowVec& lambda,
                         LeastInCones& least) const {
    using Cone = LeastInCones::Part::Cone;
    const Nodes& nodes = problem.nodes();
    const ContactRows& contacts = problem.contacts;
    least.B.setZero(search.rows, search.columns);
    least.x.resize(search.columns);
    least.parts.clear();
    const auto add_row = [&](const BlockRows& rows, int group, int k, double share, int column) {
        for (const BlockRows::Block& block : rows.blocks_of(group)) {
            const int d = nodes.dof(block.node);
            const double* from = rows.values.data() + block.offset + k * d;
            for (int c = 0; c < d; ++c) least.B(place_[block.node] + c, column) += share * from[c];
        }
    };
    for (int l = head_[search.island]; l >= 0; l = next_[l]) {
        const Link& link = links_[l];
        const BlockRows& rows = rows_of(problem, link);
        const int g = link.group, first = rows.row[g], dim = rows.dim(g);
        int column = link.first;
        if (link.joint) {
            for (int k = 0; k < dim; ++k) {
                if (!rigid(problem, first + k)) continue;
                least.parts.push_back({.cone = Cone::all, .first = column});
                least.x[column] = lambda[first + k];
                add_row(rows, g, k, 1, column++);
            }
        } else if (link.slips) {
            const double length = length_of(ratio_[g]);
            least.parts.push_back({.cone = Cone::ray, .first = column});
            least.x[column] = length * p[first];
            for (int k = 0; k < dim; ++k) add_row(rows, g, k, (k == 0 ? 1 : ratio_[g][k - 1]) / length, column);
        } else {
            least.parts.push_back({.cone = Cone::friction,
                                    .first = column,
                                    .size = dim,
                                    .mu = contacts.friction[g],
                                    .facets = contacts.facets[g]});
            for (int k = 0; k < dim; ++k, ++column) {
                least.x[column] = p[first + k];
                add_row(rows, g, k, 1, column);
            }
        }
    }
}

void ContactShares::give_back(const StepProblem& problem, int island, const LeastInCones& least, RowVec& p,
                              RowVec& lambda) const {
    for (int l = head_[island]; l >= 0; l = next_[l]) {
        const Link& link = links_[l];
        const BlockRows& rows = rows_of(problem, link);
        const int g = link.group, first = rows.row[g], dim = rows.dim(g);
        int column = link.first;
        for (int k = 0; k < dim; ++k) {
            if (link.joint && rigid(problem, first + k)) lambda[first + k] = least.x[column++];
            if (!link.joint && !link.slips) p[first + k] = least.x[column++];
            if (link.slips) p[first + k] = least.x[column] / length_of(ratio_[g]) * (k == 0 ? 1 : ratio_[g][k - 1]);
        }
    }
}

void ContactShares::run(const StepProblem& problem, Search& search, LeastInCones& least, RowVec& p, RowVec& lambda) {
    fill(problem, search, p, lambda, least);
    const bool found = least.solve();
    if (least.freedom() == 0) return;
    mark(search.island);
    search.found = found;
    if (found) give_back(problem, search.island, least, p, lambda);
}

void ContactShares::make_batches() {
    batch_first_.assign(1, 0);
    int unknowns = 0;
    for (int k = 0; k < static_cast<int>(searches_.size()); ++k) {
        unknowns += searches_[k].columns;
        if (unknowns < batch_size && k + 1 < static_cast<int>(searches_.size())) continue;
        batch_first_.push_back(k + 1);
        unknowns = 0;
    }
}

void ContactShares::make_smallest(const StepProblem& problem, const StepSolution& solution, RowVec& p, RowVec& lambda) {
    shared_.assign(static_cast<std::size_t>(problem.contacts.size()), 0);
    all_found_ = true;
    if (problem.contacts.size() < 2) return;
    list_links(problem);
    peel(problem);
    leave_out_open(problem, solution, p);
    peel(problem);
    if (std::none_of(links_.begin(), links_.end(), [](const Link& link) { return link.alive && !link.joint; })) return;
    connect(problem);
    searches_.clear();
    for (int island = 0; island < problem.nodes().size(); ++island) {
        if (head_[island] < 0) continue;
        Search search{.island = island};
        if (measure(problem, search)) searches_.push_back(search);
    }
    // Islands share nothing: neither links nor nodes nor impulses.
    make_batches();
    const int batches = static_cast<int>(batch_first_.size()) - 1;
    const bool together = threads() == 1;
    least_.resize(std::max(least_.size(), static_cast<std::size_t>(together ? 1 : batches)));
    in_parallel(batches, [&](int batch) {
        for (int k = batch_first_[batch]; k < batch_first_[batch + 1]; ++k)
            run(problem, searches_[k], least_[together ? 0 : batch], p, lambda);
    });
    for (const Search& search : searches_) all_found_ = all_found_ && search.found;
}

}  // namespace stickslip
