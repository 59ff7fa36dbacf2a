// `include`: several files, one scene.
//
// Bodies, joints, forces and materials are things: the same name in two files is an error, as it is in one file, for a
// body put together from two places is rarely meant. Parameters, gravity, plane, cone and the keys of `run` are
// settings: a file's own beat those of the files it includes, however deep, so that a variation of a scene is short.
// Settings of two files neither of which includes the other contradict each other: the order of includes never
// decides. A file that is reached twice counts once.
#pragma once

#include <functional>
#include <string>

#include "scene/yaml_tree.hpp"

namespace stickslip {

// Where included files come from, and how large a scene may grow.
struct SceneLimits {
    std::function<std::string(const std::string& file)> read = read_text_file;
    long weight = max_weight;  // of the merged tree, and again of all copies
    long copies = 1'000'000;   // of all templates, values of all indices counted
};

// The scene of `text` and all it includes as one tree without the key `include`. `merged` becomes the text of that
// tree when anything was included or a hull has the points of a mesh file, so that a record holds the whole scene; else `text` itself.
YamlNode read_with_includes(const std::string& text, const std::string& name, const SceneLimits& limits,
                            std::string& merged);

}  // namespace stickslip
