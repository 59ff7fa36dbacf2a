// Where contacts stand at one configuration: gap, normal speed, and how a scheme treats them. Sorted by id.
#pragma once

#include <vector>

#include "stickslip/scheme.hpp"

namespace stickslip {

struct ContactGap {
    ContactId id;
    double gap = 0;                         // [m]
    double rate = 0;                        // [m/s] N v
    ContactMode known = ContactMode::open;  // in the last step
    bool active = false;                    // has a row in the step
};

using ContactGaps = std::vector<ContactGap>;

// Index of `id`, or -1.
int find(const ContactGaps& gaps, const ContactId& id);
// Whether two contacts are of the same shapes, be it with other features.
bool same_shapes(const ContactId& a, const ContactId& b);
// Whether the shapes of a contact lie apart: none of theirs in `gaps` has a row or a gap of at most closed_gap.
bool lie_apart(const ContactGaps& gaps, const ContactId& id, double closed_gap);
// Of the contacts of the same shapes the one with the least gap, or -1.
int nearest_of_shapes(const ContactRows& contacts, const ContactId& id);
// The gaps of `contacts` at velocity v, with the modes of the last step.
void list_gaps(const Nodes& nodes, const ContactRows& contacts, const VecX& v, const StepMemory& memory,
               RowVec& scratch, ContactGaps& gaps);

// The cubic that has the gaps g0, g1 [m] and the rates r0, r1 [m/s] at the ends of a step of length h, at the fraction x of it.
double hermite(double x, double h, double g0, double r0, double g1, double r1);
// Where it is stationary inside (0, 1): how many, in rising order in `at`.
int hermite_extrema(double h, double g0, double r0, double g1, double r1, double (&at)[2]);

// Where the cubic through both ends says that a contact is surely open, then surely closed, as fractions of the part;
// closed > 1: it does not close. `before` may be null.
struct GapBracket {
    double open = 0, closed = 2;
};
GapBracket bracket_closing(const ContactGap* before, const ContactGap& after, double h);

}  // namespace stickslip
