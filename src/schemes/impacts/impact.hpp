// Impacts: step problems with h = 0 at a fixed configuration.
#pragma once

#include "base/fields.hpp"
#include "schemes/parts/parts.hpp"

namespace stickslip {

// In the order of the option's words.
enum class ImpactLaw { poisson, poisson_printed, poisson_simple, newton, newton_common };

// The option of a scheme that chooses the law: static_cast<ImpactLaw>(choice.index).
inline Choice impact_laws() { return {{"poisson", "poisson-printed", "poisson-simple", "newton", "newton-common"}, 0}; }

struct ImpactOptions {
    ImpactLaw law = ImpactLaw::poisson;
    double restitution_threshold = 1e-3;  // [m/s] slower normal impacts do not rebound
    double approach_tolerance = 1e-8;     // [m/s] contacts approaching slower than this count as resting
};

// Scratch of resolve_impact(); who calls it keeps one.
struct ImpactWork {
    VecX v;                      // nv: before the pass,
    RowVec u;                    // H v there,
    std::vector<double> e, e_T;  // per contact: what is returned of it; zero when the impact is too slow to rebound
    double common = 0;           // the e of the laws with one
    double fastest = 0;          // [m/s] largest approach
    VecX v_compressed, returned_push;  // nv: after the compression; [N s] e p_c in generalised coordinates
    std::vector<double> returned;      // [N s] per contact: e p_c
    RowVec row_impulse;                // per contact row [N s]: e p_c, then the friction of the twins
    ContactRows plain;                 // the contacts without their twins
};

// True if one of the contacts of s.problem approaches faster than the tolerance at velocity v.
bool approaching(const VecX& v, double tolerance, Step& s);

// Resolves the impact of the contacts now in s.problem.contacts (all of them closed) at velocity x.v: changes x.v,
// books the stages, notes impulses and events. Repeats while a contact still approaches, without rebound after 20
// passes. s.terms.mass must hold M(x.q).
//
// Leaves in s.problem and s.solution the last phase, with the modes set to what the contacts do afterwards: `open` where they
// separate faster than the tolerance, `slip` where they slide, else `stick`. remember() then hands them to the next step.
// A decompression that could not be solved ends the impact, and its problem is left in s.problem, to be saved.
void resolve_impact(const System& system, Solver& solver, const ImpactOptions& options, State& x, Step& s,
                    ImpactWork& w, StepReport& report);

}  // namespace stickslip
