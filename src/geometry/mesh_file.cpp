#include "geometry/mesh_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string_view>

#include "stickslip/error.hpp"

namespace stickslip {

namespace {

constexpr std::size_t stl_header = 80, stl_triangle = 50;  // bytes

// The words of a text, line by line.
class Lines {
public:
    Lines(std::string_view text, const std::string& path) : text_(text), path_(path) {}

    bool next() {
        if (at_ >= text_.size()) return false;
        const std::size_t end = std::min(text_.find('\n', at_), text_.size());
        line_ = text_.substr(at_, end - at_);
        line_ = line_.substr(0, line_.find('#'));
        at_ = end + 1;
        ++number_;
        return true;
    }
    // The next word of the line; empty at its end.
    std::string_view word() {
        const std::size_t begin = line_.find_first_not_of(" \t\r");
        if (begin == std::string_view::npos) return {};
        const std::size_t end = std::min(line_.find_first_of(" \t\r", begin), line_.size());
        const std::string_view found = line_.substr(begin, end - begin);
        line_.remove_prefix(end);
        return found;
    }
    double coordinate() {
        std::string_view found = word();
        const std::string_view shown = found;
        if (!found.empty() && found.front() == '+') found.remove_prefix(1);
        double value = 0;
        const auto [end, error] = std::from_chars(found.data(), found.data() + found.size(), value);
        if (error != std::errc() || end != found.data() + found.size() || !std::isfinite(value))
            fail(fmt::format("expected a coordinate, found '{}'", shown));
        return value;
    }
    Vec3 point() {
        const double x = coordinate(), y = coordinate(), z = coordinate();
        return {x, y, z};
    }
    [[noreturn]] void fail(const std::string& message) const { throw Error(message, {path_, number_, 1}); }

private:
    std::string_view text_, line_;
    const std::string& path_;
    std::size_t at_ = 0;
    int number_ = 0;
};

// Corners of one vertex are stored once each in STL: they are joined where they are equal.
class Joined {
public:
    explicit Joined(TriangleMesh& mesh) : mesh_(mesh) {}
    int place(const Vec3& x) {
        const auto [found, is_new] = known_.try_emplace({x[0], x[1], x[2]}, static_cast<int>(mesh_.vertices.size()));
        if (is_new) mesh_.vertices.push_back(x);
        return found->second;
    }

private:
    TriangleMesh& mesh_;
    std::map<std::array<double, 3>, int> known_;
};

// f v, v/vt, v//vn or v/vt/vn: counted from 1, or from the last vertex so far if negative.
int corner_of_obj(std::string_view word, const Lines& lines, int vertices) {
    const std::string_view digits = word.substr(0, word.find('/'));
    int number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || end != digits.data() + digits.size()) lines.fail(fmt::format("expected the number of a vertex, found '{}'", word));
    const int index = number > 0 ? number - 1 : vertices + number;
    if (number == 0 || index < 0 || index >= vertices)
        lines.fail(fmt::format("vertex {} is not there: {} were given so far", number, vertices));
    return index;
}

TriangleMesh read_obj(std::string_view text, const std::string& path) {
    TriangleMesh mesh;
    Lines lines(text, path);
    while (lines.next()) {
        const std::string_view kind = lines.word();
        if (kind == "v") mesh.vertices.push_back(lines.point());
        if (kind != "f") continue;
        std::vector<int> loop;
        for (std::string_view word = lines.word(); !word.empty(); word = lines.word())
            loop.push_back(corner_of_obj(word, lines, static_cast<int>(mesh.vertices.size())));
        if (loop.size() < 3) lines.fail(fmt::format("a face needs at least 3 vertices, found {}", loop.size()));
        for (std::size_t k = 1; k + 1 < loop.size(); ++k) mesh.triangles.push_back({loop[0], loop[k], loop[k + 1]});
    }
    return mesh;
}

TriangleMesh read_text_stl(std::string_view text, const std::string& path) {
    TriangleMesh mesh;
    Joined joined(mesh);
    Lines lines(text, path);
    std::vector<int> loop;
    while (lines.next()) {
        const std::string_view kind = lines.word();
        if (kind == "vertex") loop.push_back(joined.place(lines.point()));
        if (kind != "endloop") continue;
        if (loop.size() != 3) lines.fail(fmt::format("a facet needs 3 vertices, found {}", loop.size()));
        mesh.triangles.push_back({loop[0], loop[1], loop[2]});
        loop.clear();
    }
    if (!loop.empty()) lines.fail("the file ends in the middle of a facet");
    return mesh;
}

TriangleMesh read_binary_stl(std::string_view bytes, std::size_t count, const std::string& path) {
    TriangleMesh mesh;
    Joined joined(mesh);
    for (std::size_t k = 0; k < count; ++k) {
        std::array<float, 12> numbers;  // the normal, then three corners
        std::memcpy(numbers.data(), bytes.data() + stl_header + 4 + k * stl_triangle, sizeof(numbers));
        std::array<int, 3> triangle{};
        for (int i = 0; i < 3; ++i) {
            const Vec3 corner(numbers[3 * i + 3], numbers[3 * i + 4], numbers[3 * i + 5]);
            if (!corner.allFinite()) throw Error(fmt::format("triangle {} of '{}' has a corner that is not finite", k + 1, path));
            triangle[i] = joined.place(corner);
        }
        mesh.triangles.push_back(triangle);
    }
    return mesh;
}

// Binary STL tells its number of triangles, and with it its size to the byte; text that begins with `solid` may not fit by chance.
bool is_binary_stl(std::string_view bytes, std::size_t& count) {
    if (bytes.size() < stl_header + 4) return false;
    std::uint32_t told = 0;
    std::memcpy(&told, bytes.data() + stl_header, 4);
    count = told;
    return bytes.size() == stl_header + 4 + count * stl_triangle;
}

}  // namespace

TriangleMesh read_mesh(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw Error(fmt::format("cannot read the mesh '{}'", path));
    return parse_mesh({std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()}, path);
}

TriangleMesh parse_mesh(const std::string& bytes, const std::string& path) {
    std::size_t count = 0;
    const bool is_text_stl = bytes.find("facet") != std::string::npos && bytes.find("vertex") != std::string::npos;
    TriangleMesh mesh = is_binary_stl(bytes, count) ? read_binary_stl(bytes, count, path)
                        : is_text_stl               ? read_text_stl(bytes, path)
                                                    : read_obj(bytes, path);
    if (mesh.triangles.empty())
        throw Error(fmt::format("'{}' has no triangle; expected a mesh in OBJ or STL format", path));
    return mesh;
}

}  // namespace stickslip
