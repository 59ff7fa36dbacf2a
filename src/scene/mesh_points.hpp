// Hulls of mesh files: `hull: {file: part.obj}` becomes `hull: {points: [...]}` before the tree is read, so that the text kept in a record
// is the whole scene and runs without the file.
#pragma once

#include <functional>
#include <string>

#include "scene/yaml_tree.hpp"

namespace stickslip {

// True: there were such hulls. `read` gives the contents of a file; names are relative to the scene file they stand in.
bool put_points_of_meshes(YamlNode& node, const std::function<std::string(const std::string& file)>& read);

}  // namespace stickslip
