// `stickslip list`: names, papers, orders, options with units; made from the tables.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "commands.hpp"
#include "stickslip/load.hpp"
#include "stickslip/mechanism.hpp"
#include "stickslip/scheme.hpp"
#include "stickslip/solver.hpp"

namespace stickslip::cli {

namespace {

void print_fields(const std::vector<FieldInfo>& fields, const char* prefix) {
    for (const FieldInfo& field : fields)
        fmt::print("      {}{:<22} {:<8} default {:<10} {}\n", prefix, field.name, "[" + field.unit + "]",
                   field.default_text,
                   field.help + (field.type.find('|') != std::string::npos ? " (" + field.type + ")" : ""));
}

void print_schemes() {
    fmt::print("schemes (run.scheme, --scheme)\n");
    for (const SchemeEntry& entry : schemes()) {
        fmt::print("  {:<22} {}\n      {}; order {}\n", entry.name, entry.summary, entry.paper, entry.order);
        print_fields(entry.options(), "scheme.");
    }
}

void print_solvers() {
    fmt::print("solvers (run.solver, --solver)\n");
    for (const SolverEntry& entry : solvers()) {
        fmt::print("  {:<22} {}\n      {}; cones: {}{}{}{}\n", entry.name, entry.summary, entry.paper,
                   entry.disc ? "disc" : "", entry.disc && entry.polygon ? ", " : "", entry.polygon ? "polygon" : "",
                   entry.local ? "; stored local problems too" : "");
        print_fields(entry.options(), "solver.");
    }
}

void print_mechanisms() {
    fmt::print("mechanisms (mechanism:NAME)\n");
    for (const MechanismEntry& entry : mechanisms()) {
        fmt::print("  {:<22} {}\n      {}\n", entry.name, entry.summary, entry.paper);
        print_fields(entry.parameters(), "");
    }
}

void print_named(const char* title, const std::vector<NamedSummary>& list) {
    fmt::print("{}\n", title);
    for (const NamedSummary& entry : list) fmt::print("  {:<22} {}\n", entry.name, entry.summary);
}

void print_lists(const std::string& what) {
    const auto wanted = [&](const char* name) { return what.empty() || what == name; };
    if (wanted("schemes")) print_schemes();
    if (wanted("solvers")) print_solvers();
    if (wanted("mechanisms")) print_mechanisms();
    if (wanted("joints")) print_named("joints (joints.NAME)", list_joints());
    if (wanted("shapes")) print_named("shapes (bodies.NAME.shapes)", list_shapes());
    if (wanted("scenes")) print_named("scenes (scene:NAME)", list_scenes());
}

}  // namespace

Command list_command() {
    auto what = std::make_shared<std::string>();
    return {"list",
            "schemes, solvers, mechanisms, joints, shapes, scenes: names, papers, options with units",
            {{.names = "what",
              .value = what.get(),
              .help = "one of them; all if left out",
              .choices = {"schemes", "solvers", "mechanisms", "joints", "shapes", "scenes"}}},
            [what] {
                print_lists(*what);
                return int{done};
            }};
}

}  // namespace stickslip::cli
