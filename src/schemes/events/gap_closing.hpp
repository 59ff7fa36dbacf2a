// The time at which the gap of a contact closes: a bracket from the cubic through both ends of the step, then a root of the gap itself.
#pragma once

#include "math/roots.hpp"
#include "schemes/events/contact_gaps.hpp"

namespace stickslip {

// A gap as root finding needs it: finite, the length of the scene for a contact that is too far away to be listed.
inline double seen_gap(double gap, const Tolerances& tolerances) {
    return gap < infinity ? gap : tolerances.scales.length;
}

// Where the gap of a contact closes for the first time.
struct GapClosing {
    bool found = false;
    double at = 0;              // when, as a fraction of the step,
    bool stays_closed = false;  // not found, because it overlaps from the start on and never opens
};

// The first closing of a contact in a part of a step that begins at the fraction `from`, is `length` long (a fraction too) and takes h
// seconds. `before` and `after` are the contact at both ends; null: it was not listed. gap_at(fraction) is its true gap. A contact
// that is still open at the fraction `latest` is not looked at.
template <class GapAt>
GapClosing first_closing(const ContactGap* before, const ContactGap& after, double from, double length, double h,
                         double latest, GapAt&& gap_at) {
    const GapBracket bracket = bracket_closing(before, after, h);
    const double open_at = from + bracket.open * length, closed_at = from + bracket.closed * length;
    if (bracket.closed > 1 || open_at >= latest) return {};
    double gap_open = bracket.open == 0 && before ? before->gap : 0.0,
           gap_closed = bracket.closed == 1 ? after.gap : 0.0;
    if (!(gap_closed < 0)) gap_closed = gap_at(closed_at);
    if (!(gap_closed < 0)) return {};  // the cubic dips below zero, the gap does not
    if (!(gap_open > 0)) gap_open = gap_at(open_at);
    if (gap_open > 0) return {.found = true, .at = bracketed_root(gap_at, open_at, closed_at, gap_open, gap_closed)};
    return {.stays_closed = before && before->gap <= 0};
}

}  // namespace stickslip
