// docs/joints: one page per joint, made from the table of joints and the listing of keys; and the examples run.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "model/joints/joint.hpp"
#include "pages.hpp"
#include "stickslip/load.hpp"

namespace stickslip {
namespace {

std::string rows_text(const JointKind& entry) {
    const auto rows = [](int n) { return n == 1 ? std::string("1 row") : fmt::format("{} rows", n); };
    if (entry.rows_in_plane == 0)
        return fmt::format("Holds {} of the relative motion in space; planar scenes have no use for it.",
                           rows(entry.rows_in_space));
    return fmt::format("Holds {} of the relative motion in space, {} in a plane.", rows(entry.rows_in_space),
                       rows(entry.rows_in_plane));
}

std::string page_of(const JointKind& entry) {
    std::string page =
        fmt::format("# {}\n\n{}.\n\n{} Free: {}.\n\n", entry.name, entry.summary, rows_text(entry), entry.frees);
    page += fmt::format("```yaml\njoints:\n  {}\n```\n\n", entry.example);
    page += pages::table_of_keys(fmt::format("{}-joint", entry.name));
    if (!entry.coordinates.empty()) {
        page += fmt::format(
            "\nCoordinates: `{}`. Each may have limits, a motor, dry friction, a brake and torsion springs, one row "
            "each; gears "
            "tie them together. Keys: [scene.md](../scene.md#joints).\n",
            fmt::join(joint_coordinates(entry.name), "`, `"));
    }
    if (*entry.check) page += fmt::format("\n{}\n", entry.check);
    return page;
}

std::string index_page() {
    std::string page =
        "# Joints\n\nRows are what a joint holds: in space 6 minus its freedoms. Every row has a reaction in the "
        "record. Rows that "
        "other joints hold already are redundant: they are named by `stickslip check`, the run goes on, and the "
        "reactions given are "
        "the smallest ones.\n\n| joint | rows in space | in a plane | coordinates | |\n|---|---|---|---|---|\n";
    for (const JointKind& entry : joint_table())
        page += fmt::format("| [{0}]({0}.md) | {1} | {2} | {3} | {4} |\n", entry.name, entry.rows_in_space,
                            entry.rows_in_plane == 0 ? "-" : std::to_string(entry.rows_in_plane),
                            fmt::join(joint_coordinates(entry.name), ", "), entry.summary);
    page +=
        "\nDrift: `moreau-jean` (the default) and a swinging body, 10 s at a step of 1 ms: joints stay within 1e-7 m and "
        "the energy within 1e-5 of its scale. `euler` holds rows at the level of velocities alone: the points move apart "
        "by about 0.03 m, in proportion to the step, by 0.01 mm with `stabilisation: 1`, and not at all with `projection: "
        "positions`.\n";
    return page;
}

TEST(JointPages, AreMadeFromTheTable) {
    for (const JointKind& entry : joint_table())
        pages::compare_or_write(pages::project + "/docs/joints/" + entry.name + ".md", page_of(entry));
    pages::compare_or_write(pages::project + "/docs/joints/index.md", index_page());
}

TEST(JointPages, ExamplesRun) {
    for (const JointKind& entry : joint_table()) {
        const bool gear = entry.is_gear();
        const std::string text =
            fmt::format(R"(
stickslip: 1
bodies:
  base: {{fixed: true}}
  arm: {{pose: [0.5, 0, 1], mass: 1, inertia: 0.1}}
  wheel: {{pose: [0, 0, 0], mass: 1, inertia: 0.1}}
joints:
{}  {}
run: {{end: 0.05}}
)",
                        gear ? R"(  wheel_1: {revolute: {a: ground, b: arm, at: [0.5, 0, 1], axis: [0, 1, 0]}}
  wheel_2: {revolute: {a: ground, b: wheel, at: [0, 0, 0], axis: [0, 1, 0]}}
  rail: {prismatic: {a: wheel, b: ground, at: [0, 0, 0], axis: [0, 1, 0]}}
)"
                             : "",
                        entry.example);
        SCOPED_TRACE(text);
        Simulation simulation(build_model(read_scene_text(text, entry.name)));
        EXPECT_EQ(simulation.run().end, RunEnd::finished);
    }
}

}  // namespace
}  // namespace stickslip
