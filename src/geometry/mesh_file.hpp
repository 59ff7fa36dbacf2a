// Triangle meshes from files: Wavefront OBJ, and STL in text or binary.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "stickslip/types.hpp"

namespace stickslip {

struct TriangleMesh {
    std::vector<Vec3> vertices;                 // in the unit of the file; equal ones are one
    std::vector<std::array<int, 3>> triangles;  // counter-clockwise seen from outside
};

// By what is in the file, whatever its name. Throws Error with the place of what is wrong: a number that is none, a vertex that is not there,
// an end that comes too early, no triangle at all.
TriangleMesh parse_mesh(const std::string& bytes, const std::string& path);
TriangleMesh read_mesh(const std::string& path);

}  // namespace stickslip
