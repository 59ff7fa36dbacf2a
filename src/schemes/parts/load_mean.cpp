// Loads that change faster than the step. The rule h ((1 - a) k(t0) + a k(t1)) is right for loads that are nearly straight in between;
// what it takes wrongly of others is added:
//
//   integral of k(t) over the step - h ((1 - a) k(t0) + a k(t1)),     k at the q and v of the start
//
// A load that swings many times within a step then acts by its mean, and one that is switched on acts from that moment. The integral is the
// sum over the pieces between jumps (System::next_jump), each by the midpoint rule with ever more points. Loads that the rule takes well
// enough are left to it, so that nothing changes where steps resolve them.
#include <algorithm>
#include <array>
#include <cmath>

#include "model/forces/unseen.hpp"
#include "schemes/parts/parts.hpp"

namespace stickslip {

namespace {

// Points per piece. Primes: a load that is at the same phase at all points of one is not at all of the next.
constexpr std::array<int, 4> load_points = {13, 61, 251, 1009};
constexpr double known_well = 1e-3;  // share of the loads: no more points are taken once two means agree so well
constexpr int most_pieces = 64;  // between jumps; more are taken together, by the largest number of points

// The applied forces at t, in terms.load; their sizes are noted.
void look(const System& system, const State& x, double t, StepTerms& terms) {
    system.forces(t, x.q, x.v, terms.load);
    terms.load_size = terms.load_size.cwiseMax(terms.load.applied.cwiseAbs());
}

bool straight(const System& system, const State& x, double h, StepTerms& terms) {
    // Most systems that may have loads of time have none.
    look(system, x, x.t + unseen_places[4] * h, terms);
    const VecX &first = terms.start_forces.applied, &last = terms.end_forces.applied;
    if (terms.load.applied == first && last == first) return true;
    terms.load_mean.setZero(x.v.size());  // here: how far off the straight line
    for (const double c : unseen_places) {
        look(system, x, x.t + c * h, terms);
        for (Eigen::Index i = 0; i < x.v.size(); ++i) {
            const double line = (1 - c) * first[i] + c * last[i];
            terms.load_mean[i] = std::max(terms.load_mean[i], std::abs(terms.load.applied[i] - line));
        }
    }
    return (terms.load_mean.array() <= unseen_share * terms.load_size.array()).all();
}

// Adds the integral over [from, to], of a piece without jumps, to `sum`; returns the share of the loads by which it is not known.
double add_piece(const System& system, const State& x, double from, double to, bool rough, StepTerms& terms, VecX& sum) {
    double doubt = infinity;
    VecX &now = terms.load_piece, &before = terms.load_before;
    before.setZero(x.v.size());
    for (std::size_t k = rough ? load_points.size() - 1 : 0; k < load_points.size() && doubt > known_well; ++k) {
        const int n = load_points[k];
        now.setZero(x.v.size());
        for (int i = 0; i < n; ++i) {
            look(system, x, from + (i + 0.5) * (to - from) / n, terms);
            now += terms.load.applied;
        }
        now /= n;
        doubt = 0;
        for (Eigen::Index i = 0; i < now.size(); ++i)
            if (terms.load_size[i] > 0) doubt = std::max(doubt, std::abs(now[i] - before[i]) / terms.load_size[i]);
        before = now;
    }
    sum += (to - from) * now;
    return rough ? known_well : doubt;
}

}  // namespace

void find_unseen_loads(const System& system, const State& x, double h, double a, Step& s) {
    StepTerms& terms = s.terms;
    terms.load_doubt = 0;
    terms.loads_unseen = false;
    if (!(h > 0) || !system.loads_vary()) return;
    const VecX &first = terms.start_forces.applied, &last = terms.end_forces.applied;
    terms.load_size = first.cwiseAbs().cwiseMax(last.cwiseAbs());
    const double t1 = x.t + h;
    const bool jumps = system.next_jump(x.t) < t1;
    if (!jumps && straight(system, x, h, terms)) return;

    terms.load_mean.setZero(x.v.size());
    double from = x.t;
    for (int piece = 1; from < t1; ++piece) {
        const bool rough = piece == most_pieces;
        const double to = rough ? t1 : std::min(system.next_jump(from), t1);
        const double doubt = add_piece(system, x, from, to, rough, terms, terms.load_mean);
        terms.load_doubt = std::max(terms.load_doubt, doubt * (to - from) / h);
        from = to;
    }
    if (!terms.load_mean.allFinite()) {  // no number somewhere on the way: the rule does without, and the run is doubted
        terms.load_doubt = 1;
        return;
    }
    terms.load_mean -= h * ((1 - a) * first + a * last);
    terms.loads_unseen = true;
}

}  // namespace stickslip
