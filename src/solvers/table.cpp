// The table of solvers.
#include <fmt/format.h>

#include <algorithm>

#include "base/fields.hpp"
#include "solvers/auto.hpp"
#include "solvers/block_pivot.hpp"
#include "solvers/cone_newton.hpp"
#include "solvers/direct_iterative.hpp"
#include "solvers/interior_point.hpp"
#include "solvers/island_solver.hpp"
#include "solvers/judged_solver.hpp"
#include "solvers/lemke.hpp"
#include "solvers/nsgs.hpp"
#include "solvers/pgs.hpp"
#include "stickslip/solver.hpp"

namespace stickslip {

namespace {

// The options of a solver as its users meet them. Its own `tol` is that of stored local problems; step problems are judged in
// proportion where none is given.
template <class Options>
std::vector<FieldInfo> options_of() {
    std::vector<FieldInfo> fields = list_fields<Options>();
    for (FieldInfo& field : fields) {
        if (field.name != "tol") continue;
        field.default_text = "none";
        field.help += fmt::format("; without it {:.0e} of the speeds and loads of each island", default_share);
    }
    return fields;
}

template <class Made, class Options>
std::unique_ptr<Solver> make(const OptionValues& values, const char* name) {
    Options options;
    assign_fields(options, values, std::string("solver ") + name);
    const bool given = std::any_of(values.begin(), values.end(), [](const OptionValue& value) { return value.key == "tol"; });
    return std::make_unique<IslandSolver>([options, given] {
        return std::make_unique<JudgedSolver>(std::make_unique<Made>(options), options.tol, !given);
    });
}

}  // namespace

const std::vector<SolverEntry>& solvers() {
    static const std::vector<SolverEntry> table{
        {"auto", "docs/solvers.md; see nsgs, interior-point, cone-newton, lemke",
         "a ladder per island: rest, modes of the last step, ADMM, path Newton, patience, compliance", true, true,
         true, true, options_of<AutoOptions>,
         [](const OptionValues& values) { return make<AutoSolver, AutoOptions>(values, "auto"); }},
        {"nsgs", "Jean & Moreau 1992; Jean, Comput. Methods Appl. Mech. Engrg. 177 (1999)",
         "nonsmooth Gauss-Seidel: exact local cone solves in sweeps, direct solve with fixed modes at the end", true,
         true, true, true, options_of<NsgsOptions>,
         [](const OptionValues& values) { return make<NsgsSolver, NsgsOptions>(values, "nsgs"); }},
        {"cone-newton", "Acary, Cadoux, Lemarechal & Malick 2011; Castro et al. 2022; Alart & Curnier 1991",
         "proximal point outside, semismooth Newton in the velocities inside; stacks, mass ratios, closed loops", true,
         true, true, false, options_of<ConeNewtonOptions>,
         [](const OptionValues& values) { return make<ConeNewtonSolver, ConeNewtonOptions>(values, "cone-newton"); }},
        {"direct-iterative", "Lacoursiere & Linde 2011, (96)-(97); Judice & Pires 1994",
         "joints and contact normals by block pivots on the sparse LDL', friction by sweeps, in turns; machines", true,
         true, true, false, options_of<DirectIterativeOptions>,
         [](const OptionValues& values) {
             return make<DirectIterativeSolver, DirectIterativeOptions>(values, "direct-iterative");
         }},
        {"interior-point", "Acary, Armand & Nguyen 2022; Alizadeh & Goldfarb 2003; De Saxce & Feng 1998",
         "Newton steps inside the cones, one factorisation each: walls, piles, heavy on light; disc cones only", true,
         false, true, true, options_of<InteriorPointOptions>,
         [](const OptionValues& values) {
             return make<InteriorPointSolver, InteriorPointOptions>(values, "interior-point");
         }},
        {"lemke", "Anitescu & Potra, Nonlinear Dynamics 14 (1997)",
         "Lemke's pivoting on the polyhedral problem: direct, always ends with a solution; polygon cones only", false,
         true, true, false, options_of<LemkeOptions>,
         [](const OptionValues& values) { return make<LemkeSolver, LemkeOptions>(values, "lemke"); }},
        {"block-pivot", "Lacoursiere & Linde 2011, Algorithm 21.2; Judice & Pires 1994",
         "all wrong signs of the polyhedral problem exchanged at once, then one by one, then Lemke; polygon cones only",
         false, true, true, false, options_of<BlockPivotOptions>,
         [](const OptionValues& values) { return make<BlockPivotSolver, BlockPivotOptions>(values, "block-pivot"); }},
        {"pgs", "Lacoursiere & Linde 2011, s.15-17, Algorithm 21.1",
         "projected Gauss-Seidel in three variants, to compare with: fixed points solve the problem where contacts "
         "stick",
         true, true, true, false, options_of<PgsOptions>,
         [](const OptionValues& values) { return make<PgsSolver, PgsOptions>(values, "pgs"); }},
    };
    return table;
}

SolveReport Solver::solve_local(const DelassusProblem&, DelassusSolution&) {
    SolveReport report;
    report.status = Status::not_converged;
    report.residual.contacts = infinity;
    report.reason = "this solver takes step problems only; stored local problems (W, q) go to auto";
    return report;
}

std::unique_ptr<Solver> make_solver(const std::string& name, const OptionValues& values, Place place) {
    std::vector<std::string> names;
    for (const SolverEntry& entry : solvers()) {
        if (name == entry.name) return entry.make(values);
        names.emplace_back(entry.name);
    }
    throw unknown_name("solver", name, names, std::move(place));
}

}  // namespace stickslip
