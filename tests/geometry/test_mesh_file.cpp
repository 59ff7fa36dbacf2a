// Mesh files: the same cube from OBJ and both kinds of STL, and what is said of files that are wrong.
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>

#include "geometry/mesh_file.hpp"
#include "geometry/polytope.hpp"
#include "stickslip/error.hpp"

namespace stickslip {
namespace {

class MeshFile : public ::testing::Test {
protected:
    MeshFile() : folder_(std::filesystem::temp_directory_path() / ("stickslip-mesh-" + std::to_string(getpid()))) {
        std::filesystem::create_directories(folder_);
    }
    ~MeshFile() override { std::filesystem::remove_all(folder_); }
    std::string write(const std::string& text) const {
        const std::string path = folder_ / "mesh";
        std::ofstream(path, std::ios::binary) << text;
        return path;
    }
    std::string refusal(const std::string& text) const {
        try {
            read_mesh(write(text));
        } catch (const Error& error) {
            return error.place().text().substr(error.place().text().rfind('/') + 1) + " " + error.what();
        }
        return "";
    }

private:
    std::filesystem::path folder_;
};

const std::string cube_obj = R"(# a cube
v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 0
v 0 0 1
v 1 0 1
v 1 1 1
v 0 1 1
vn 0 0 1
f 1 4 3 2
f 5/1 6/2 7/3 8/4
f 1//1 2//1 6//1 5//1
f -6 -5 -1 -2
f 2 3 7 6
f 1 5 8 4
)";

std::string text_stl(const TriangleMesh& mesh) {
    std::string text = "solid cube\n";
    for (const auto& triangle : mesh.triangles) {
        text += " facet normal 0 0 0\n  outer loop\n";
        for (const int v : triangle)
            text += "   vertex " + std::to_string(mesh.vertices[v].x()) + " +" + std::to_string(mesh.vertices[v].y()) + " " + std::to_string(mesh.vertices[v].z()) + "\n";
        text += "  endloop\n endfacet\n";
    }
    return text + "endsolid\n";
}

std::string binary_stl(const TriangleMesh& mesh) {
    std::string bytes(80, ' ');
    bytes.replace(0, 5, "solid");  // as some programs write
    const auto put = [&](const auto& value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof(value)); };
    put(static_cast<std::uint32_t>(mesh.triangles.size()));
    for (const auto& triangle : mesh.triangles) {
        for (int k = 0; k < 3; ++k) put(0.0F);
        for (const int v : triangle)
            for (int k = 0; k < 3; ++k) put(static_cast<float>(mesh.vertices[v][k]));
        put(static_cast<std::uint16_t>(0));
    }
    return bytes;
}

TEST_F(MeshFile, ACubeIsTheSameInEveryFormat) {
    const TriangleMesh obj = read_mesh(write(cube_obj));
    EXPECT_EQ(obj.vertices.size(), 8U);
    ASSERT_EQ(obj.triangles.size(), 12U);
    for (const std::string& bytes : {text_stl(obj), binary_stl(obj)}) {
        const TriangleMesh stl = read_mesh(write(bytes));
        EXPECT_EQ(stl.vertices.size(), 8U);
        ASSERT_EQ(stl.triangles.size(), 12U);
        for (std::size_t k = 0; k < 12; ++k)
            for (int i = 0; i < 3; ++i) EXPECT_EQ(stl.vertices[stl.triangles[k][i]], obj.vertices[obj.triangles[k][i]]);
        EXPECT_NEAR(unit_density_mass(convex_hull(stl.vertices)).mass, 1, 1e-15);
    }
}

TEST_F(MeshFile, SaysWhatIsWrongAndWhere) {
    EXPECT_NE(refusal("v 0 0 0\nv 1 0 x\n").find("mesh:2:1 "), std::string::npos);
    EXPECT_NE(refusal("v 0 0 0\nv 1 0 x\n").find("expected a coordinate, found 'x'"), std::string::npos);
    EXPECT_NE(refusal("v 0 0\n").find("found ''"), std::string::npos);
    EXPECT_NE(refusal("v 0 0 nan\n").find("found 'nan'"), std::string::npos);
    EXPECT_NE(refusal("v 0 0 0\nf 1 1 2\n").find("vertex 2 is not there"), std::string::npos);
    EXPECT_NE(refusal("v 0 0 0\nf 1 1\n").find("at least 3 vertices"), std::string::npos);
    EXPECT_NE(refusal("").find("no triangle"), std::string::npos);
    EXPECT_NE(refusal("hello").find("expected a mesh in OBJ or STL"), std::string::npos);
    EXPECT_NE(refusal("solid\nfacet\nvertex 0 0 0\nendloop\n").find("needs 3 vertices, found 1"), std::string::npos);
    EXPECT_NE(refusal("solid\nfacet\nvertex 0 0 0\n").find("middle of a facet"), std::string::npos);
    EXPECT_THROW(read_mesh("/nowhere/at/all.obj"), Error);
}

// Whatever is in the file, it is read or refused.
TEST_F(MeshFile, MangledFilesAreReadOrRefused) {
    std::mt19937 random(1);
    const TriangleMesh cube = read_mesh(write(cube_obj));
    for (const std::string& whole : {cube_obj, text_stl(cube), binary_stl(cube)})
        for (int trial = 0; trial < 2000; ++trial) {
            std::string bytes = whole;
            for (int k = 0; k < 1 + trial % 5; ++k) bytes[random() % bytes.size()] = static_cast<char>(random() % 256);
            if (trial % 3 == 0) bytes.resize(random() % bytes.size());
            try {
                const TriangleMesh mesh = read_mesh(write(bytes));
                for (const auto& triangle : mesh.triangles)
                    for (const int v : triangle) ASSERT_TRUE(v >= 0 && v < static_cast<int>(mesh.vertices.size()));
                convex_hull(mesh.vertices);
            } catch (const Error&) {
            }
        }
}

}  // namespace
}  // namespace stickslip
