#include "scene/mesh_points.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "geometry/mesh_file.hpp"

namespace stickslip {

namespace {

std::vector<Vec3> corners_of(const YamlNode& file, const std::function<std::string(const std::string& file)>& read) {
    if (file.kind != YamlNode::Kind::scalar || file.text.empty())
        throw Error(fmt::format("expected the name of a file, found {}", file.describe()), file.place());
    const std::string path = (std::filesystem::path(file.place().file).parent_path() / file.text).lexically_normal().string();
    try {
        return parse_mesh(read(path), path).vertices;
    } catch (const Error& error) {
        if (error.place().line > 0) throw;
        throw Error(fmt::format("cannot take the mesh '{}': {}", file.text, error.what()), file.place());
    }
}

// In place of `file`.
YamlNode points_of(const YamlNode& file, const std::vector<Vec3>& corners) {
    YamlNode list = file;
    list.kind = YamlNode::Kind::list;
    list.text.clear();
    for (const Vec3& corner : corners) {
        YamlNode point = list;
        point.children.clear();
        for (int k = 0; k < 3; ++k) {
            YamlNode number = file;
            number.text = fmt::format("{}", corner[k]);
            point.children.push_back(std::move(number));
        }
        list.children.push_back(std::move(point));
    }
    return list;
}

void put_points(YamlNode& hull, const std::function<std::string(const std::string& file)>& read) {
    for (std::size_t k = 0; k < hull.keys.size(); ++k) {
        if (hull.keys[k] != "file") continue;
        hull.children[k] = points_of(hull.children[k], corners_of(hull.children[k], read));
        hull.keys[k] = "points";
    }
}

}  // namespace

bool put_points_of_meshes(YamlNode& node, const std::function<std::string(const std::string& file)>& read) {
    bool any = false;
    for (std::size_t k = 0; k < node.children.size(); ++k) {
        YamlNode& child = node.children[k];
        const bool is_hull = node.kind == YamlNode::Kind::map && node.keys[k] == "hull" && child.kind == YamlNode::Kind::map;
        if (is_hull && child.find("file") && !child.find("points")) {
            put_points(child, read);
            any = true;
        }
        any = put_points_of_meshes(child, read) || any;
    }
    return any;
}

}  // namespace stickslip
