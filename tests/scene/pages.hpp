// Pages of docs/ that are made from tables of the program. STICKSLIP_WRITE_TABLES=1 writes them instead of comparing.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "scene/listing.hpp"

namespace stickslip::pages {

inline const std::string project = std::string(STICKSLIP_SCENES) + "/..";

inline std::string contents(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

inline void compare_or_write(const std::string& file, const std::string& wanted) {
    if (std::getenv("STICKSLIP_WRITE_TABLES")) std::ofstream(file, std::ios::binary) << wanted;
    EXPECT_EQ(contents(file), wanted)
        << "STICKSLIP_WRITE_TABLES=1 test_scene --gtest_filter='Listing.*:*Pages.*' writes it";
}

inline std::string value_of(const SceneField& field) {
    const std::string unit = field.unit.empty() || field.unit == "-" ? "" : " " + field.unit;
    switch (field.form) {
        case Form::number:
        case Form::not_zero:
        case Form::bound: return "number" + unit;
        case Form::positive: return "> 0" + unit;
        case Form::not_negative: return ">= 0" + unit;
        case Form::fraction: return "0 to 1";
        case Form::whole: return "whole number";
        case Form::truth: return "true, false";
        case Form::choice: {
            std::string words = "`";
            for (const char c : field.of) words += c == '|' ? "`, `" : std::string(1, c);
            return words + "`";
        }
        case Form::vector:
        case Form::direction: return "[x, y, z]" + unit;
        case Form::positives: return "[x, y, z] > 0" + unit;
        case Form::pose: return "pose";
        case Form::quaternion: return "[qw, qx, qy, qz]";
        case Form::inertia: return "inertia" + unit;
        case Form::formulas: return "3 formulas of t," + unit;
        case Form::table: return "[[t, fx, fy, fz], ...]" + unit;
        case Form::body: return "body or `ground`";
        case Form::material: return "material";
        case Form::joint: return "joint";
        case Form::limits: return "[lower, upper]" + unit + " or map";
        case Form::actions: return "list of actions";
        case Form::attached: return "{name: {kind: {...}}}";
        case Form::six: return "six numbers >= 0" + unit;
        case Form::file: return "name of a file";
        case Form::points: return "[[x, y, z], ...]" + unit;
        case Form::map: return "map";
        case Form::list: return fmt::format("list of {}s", field.of);
        case Form::named: return fmt::format("map name: {}", field.of);
        case Form::parameters: return "map name: number";
        case Form::cone: return "`disc` or `{polygon: N}`";
        case Form::scheme:
        case Form::solver: return "name or {name, options}";
        case Form::index: return "{i: range}";
        case Form::indices: return "{i: range, j: range, ...}";
        case Form::files: return "file or list of files";
    }
    return "";
}

inline std::string table_of_keys(const std::string& map) {
    std::string table = "| key | value | default | meaning |\n|---|---|---|---|\n";
    for (const SceneField& field : scene_map(map).fields)
        table += fmt::format("| `{}` | {} | {} | {} |\n", field.key, value_of(field), field.without, field.text);
    return table;
}

}  // namespace stickslip::pages
