#include "schemes/events/contact_gaps.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "problems/contact_ids.hpp"

namespace stickslip {

int find(const ContactGaps& gaps, const ContactId& id) {
    return find_contact(gaps, id, [](const ContactGap& gap) -> const ContactId& { return gap.id; });
}

bool same_shapes(const ContactId& a, const ContactId& b) {
    return a.kind == ContactKind::shapes && b.kind == a.kind && a.a == b.a && a.b == b.b && a.part == b.part;
}

bool lie_apart(const ContactGaps& gaps, const ContactId& id, double closed_gap) {
    return id.kind == ContactKind::shapes && std::none_of(gaps.begin(), gaps.end(), [&](const ContactGap& g) {
               return (g.active || g.gap <= closed_gap) && same_shapes(g.id, id);
           });
}

int nearest_of_shapes(const ContactRows& contacts, const ContactId& id) {
    int nearest = -1;
    for (int i = 0; i < contacts.size(); ++i)
        if (same_shapes(contacts.id[i], id) && (nearest < 0 || contacts.gap[i] < contacts.gap[nearest])) nearest = i;
    return nearest;
}

void list_gaps(const Nodes& nodes, const ContactRows& contacts, const VecX& v, const StepMemory& memory,
               RowVec& scratch, ContactGaps& gaps) {
    scratch.resize(contacts.jacobian.rows());
    contacts.jacobian.product(nodes, v, scratch);
    gaps.clear();
    std::size_t old = 0;  // both lists are sorted by id: one merge
    for (int i = 0; i < contacts.size(); ++i) {
        while (old < memory.contact.size() && memory.contact[old] < contacts.id[i]) ++old;
        const bool known = old < memory.contact.size() && memory.contact[old] == contacts.id[i];
        gaps.push_back({contacts.id[i], contacts.gap[i], scratch[contacts.jacobian.row[i]],
                        known ? memory.mode[old] : ContactMode::open, false});
    }
}

double hermite(double x, double h, double g0, double r0, double g1, double r1) {
    const double y = 1 - x;
    return y * y * (1 + 2 * x) * g0 + x * y * y * h * r0 + x * x * (3 - 2 * x) * g1 - x * x * y * h * r1;
}

int hermite_extrema(double h, double g0, double r0, double g1, double r1, double (&at)[2]) {
    // p'(x) = c + 2 b x + 3 a x^2
    const double c = h * r0, d = g1 - g0, b = 3 * d - 2 * c - h * r1, a = c + h * r1 - 2 * d;
    int n = 0;
    const auto take = [&](double x) {
        if (x > 0 && x < 1) at[n++] = x;
    };
    const double disc = b * b - 3 * a * c;
    if (disc < 0) return 0;
    // The stable pair of roots of 3 a x^2 + 2 b x + c.
    const double big = -(b + std::copysign(std::sqrt(disc), b));
    if (a != 0) take(big / (3 * a));
    if (big != 0) take(c / big);
    if (n == 2 && at[0] > at[1]) std::swap(at[0], at[1]);
    return n;
}

GapBracket bracket_closing(const ContactGap* before, const ContactGap& after, double h) {
    GapBracket bracket;
    if (after.gap < 0) bracket.closed = 1;
    if (!before) return bracket;
    double stationary[2];
    const int n = hermite_extrema(h, before->gap, before->rate, after.gap, after.rate, stationary);
    for (int k = 0; k < n; ++k) {
        const double x = stationary[k];
        const double gap = hermite(x, h, before->gap, before->rate, after.gap, after.rate);
        if (gap > 0 && before->gap <= 0 && bracket.open == 0) bracket.open = x;
        if (gap < 0 && x > bracket.open && x < bracket.closed && (before->gap > 0 || bracket.open > 0))
            bracket.closed = x;
    }
    return bracket;
}

}  // namespace stickslip
