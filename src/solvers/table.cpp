// The table of solvers.
#include "base/fields.hpp"
#include "solvers/auto.hpp"
#include "solvers/block_pivot.hpp"
#include "solvers/cone_newton.hpp"
#include "solvers/direct_iterative.hpp"
#include "solvers/interior_point.hpp"
#include "solvers/judged_solver.hpp"
#include "solvers/lemke.hpp"
#include "solvers/nsgs.hpp"
#include "solvers/pgs.hpp"
#include "stickslip/solver.hpp"

namespace stickslip {

namespace {

template <class Made, class Options>
std::unique_ptr<Solver> make(const OptionValues& values, const char* name) {
    Options options;
    assign_fields(options, values, std::string("solver ") + name);
    Options stricter = options;
    stricter.tol *= 0.25;
    return std::make_unique<JudgedSolver>(std::make_unique<Made>(options), std::make_unique<Made>(stricter),
                                          options.tol);
}

}  // namespace

const std::vector<SolverEntry>& solvers() {
    static const std::vector<SolverEntry> table{
        {"auto", "stiction by fixed modes; see nsgs, cone-newton, lemke",
         "the cheapest way that certifies the step: fixed modes of the last step, sweeps, Newton, pivots", true, true,
         true, true, list_fields<AutoOptions>,
         [](const OptionValues& values) { return make<AutoSolver, AutoOptions>(values, "auto"); }},
        {"nsgs", "Jean & Moreau 1992; Jean, Comput. Methods Appl. Mech. Engrg. 177 (1999)",
         "nonsmooth Gauss-Seidel: exact local cone solves in sweeps, direct solve with fixed modes at the end", true,
         true, true, true, list_fields<NsgsOptions>,
         [](const OptionValues& values) { return make<NsgsSolver, NsgsOptions>(values, "nsgs"); }},
        {"cone-newton", "Acary, Cadoux, Lemarechal & Malick 2011; Castro et al. 2022; Alart & Curnier 1991",
         "proximal point outside, semismooth Newton in the velocities inside; stacks, mass ratios, closed loops", true,
         true, true, false, list_fields<ConeNewtonOptions>,
         [](const OptionValues& values) { return make<ConeNewtonSolver, ConeNewtonOptions>(values, "cone-newton"); }},
        {"direct-iterative", "Lacoursiere & Linde 2011, (96)-(97); Judice & Pires 1994",
         "joints and contact normals by block pivots on the sparse LDL', friction by sweeps, in turns; machines", true,
         true, true, false, list_fields<DirectIterativeOptions>,
         [](const OptionValues& values) {
             return make<DirectIterativeSolver, DirectIterativeOptions>(values, "direct-iterative");
         }},
        {"interior-point", "Acary, Armand & Nguyen 2022; Alizadeh & Goldfarb 2003; De Saxce & Feng 1998",
         "Newton steps inside the cones, one factorisation each: walls, piles, heavy on light; disc cones only", true,
         false, true, true, list_fields<InteriorPointOptions>,
         [](const OptionValues& values) {
             return make<InteriorPointSolver, InteriorPointOptions>(values, "interior-point");
         }},
        {"lemke", "Anitescu & Potra, Nonlinear Dynamics 14 (1997)",
         "Lemke's pivoting on the polyhedral problem: direct, always ends with a solution; polygon cones only", false,
         true, true, false, list_fields<LemkeOptions>,
         [](const OptionValues& values) { return make<LemkeSolver, LemkeOptions>(values, "lemke"); }},
        {"block-pivot", "Lacoursiere & Linde 2011, Algorithm 21.2; Judice & Pires 1994",
         "all wrong signs of the polyhedral problem exchanged at once, then one by one, then Lemke; polygon cones only",
         false, true, true, false, list_fields<BlockPivotOptions>,
         [](const OptionValues& values) { return make<BlockPivotSolver, BlockPivotOptions>(values, "block-pivot"); }},
        {"pgs", "Lacoursiere & Linde 2011, s.15-17, Algorithm 21.1",
         "projected Gauss-Seidel in three variants, to compare with: fixed points solve the problem where contacts "
         "stick",
         true, true, true, false, list_fields<PgsOptions>,
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
