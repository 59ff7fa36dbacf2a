// Numbers, vectors, poses, inertias and words out of YAML nodes.
//
// Inertia J about the centre of mass is that of some mass distribution iff J and  tr(J)/2 1 - J  are positive
// semidefinite; the second is the triangle inequality of the principal moments. J itself must be positive definite,
// since M^-1 is needed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/fields.hpp"
#include "scene/listing.hpp"
#include "scene/reader.hpp"

namespace stickslip {

namespace {

[[noreturn]] void mismatch(const std::string& expected, const YamlNode& node) {
    throw Error(fmt::format("expected {}, found {}", expected, node.describe()), node.place());
}

// Numbers without formulas, of length 1 up to rounding: such a vector stays as it is, so that one that was normalised and written reads
// back to the same bits. Formulas are normalised always.
bool is_unit(const YamlNode& node, double squared_norm) {
    const auto plain = [](const YamlNode& child) {
        return child.text.find_first_not_of("0123456789.+-eE") == std::string::npos &&
               child.text.find_first_of("0123456789.") <= 1;  // behind a sign at most: a name may be e1
    };
    return std::abs(squared_norm - 1) <= 4 * std::numeric_limits<double>::epsilon() &&
           std::all_of(node.children.begin(), node.children.end(), plain);
}

// Sylvester's criterion.
bool positive_definite(const Mat3& J) {
    return J(0, 0) > 0 && J(0, 0) * J(1, 1) - J(0, 1) * J(0, 1) > 0 && J.determinant() > 0;
}

}  // namespace

std::string broken(const SceneRule& rule, const std::vector<std::string>& given) {
    using Kind = SceneRule::Kind;
    const auto missing = [&] {
        if (!rule.needs.empty()) return rule.needs;
        std::vector<std::string> quoted;
        for (const std::string& key : rule.keys) quoted.push_back("'" + key + "'");
        const std::string last = quoted.back();
        quoted.pop_back();
        return fmt::format("needs {} {} {}", fmt::join(quoted, ", "), rule.kind == Kind::all_or_none ? "and" : "or",
                           last);
    };
    switch (rule.kind) {
        case Kind::one:
        case Kind::not_both:
            // In the order of the rule, whatever that of the file.
            if (given.size() > 1)
                return fmt::format("has both '{}' and '{}', expected one of them", rule.keys[0], rule.keys[1]);
            return rule.kind == Kind::one && given.empty() ? missing() : "";
        case Kind::at_least_one: return given.empty() ? missing() : "";
        case Kind::all_or_none: return !given.empty() && given.size() < rule.keys.size() ? missing() : "";
        case Kind::belongs:
            return given == std::vector{rule.keys[0]}
                       ? fmt::format("'{}' belongs to a '{}'", rule.keys[0], rule.keys[1])
                       : "";
    }
    return "";
}

MapReader::MapReader(const YamlNode& node, std::string what, std::string_view listed)
    : node_(node), what_(std::move(what)), listed_(scene_map(listed)) {
    const SceneMap& map = listed_;
    if (node.kind != YamlNode::Kind::map)
        mismatch(fmt::format("a map with keys of {} ({})", what_, fmt::join(map.keys(), ", ")), node);
    for (std::size_t i = 0; i < node.keys.size(); ++i) {
        const SceneField* field = map.find(node.keys[i]);
        if (!field)
            throw Error(what_ + " has " + unknown_name("key", node.keys[i], map.keys()).what(), node.key_place(i));
        if (field->of_template())
            throw Error(fmt::format("{} is no template, '{}' came too late", what_, field->key), node.key_place(i));
    }
    for (const SceneRule& rule : map.rules)
        if (!rule.for_schema) obey(rule);
}

void MapReader::obey(const SceneRule& rule) const {
    using Kind = SceneRule::Kind;
    std::vector<std::string> given;  // in the order of the file
    for (const std::string& key : node_.keys)
        if (std::find(rule.keys.begin(), rule.keys.end(), key) != rule.keys.end()) given.push_back(key);
    const std::string wrong = broken(rule, given);
    if (wrong.empty()) return;
    if (rule.kind == Kind::belongs) throw Error(wrong, key_place(rule.keys[0].c_str()));
    // Too many: at the second. Too few: at the one that is there, if any.
    throw Error(what_ + " " + wrong, given.empty() ? node_.place() : key_place(given.back().c_str()));
}

const YamlNode* MapReader::find(const char* key) const { return node_.find(key); }

const YamlNode& MapReader::need(const char* key) const {
    if (const YamlNode* node = node_.find(key)) return *node;
    throw Error(fmt::format("{} needs the key '{}'", what_, key), node_.place());
}

Place MapReader::key_place(const char* key) const {
    for (std::size_t i = 0; i < node_.keys.size(); ++i)
        if (node_.keys[i] == key) return node_.key_place(i);
    return node_.place();
}

double ValueReader::number(const YamlNode& node) const {
    if (node.kind != YamlNode::Kind::scalar) mismatch("a number", node);
    return evaluate_number(node.text, names(node), node.place());
}

double ValueReader::positive(const YamlNode& node, const char* unit) const {
    const double x = number(node);
    if (!(x > 0)) mismatch(fmt::format("a number > 0 [{}]", unit), node);
    return x;
}

double ValueReader::not_negative(const YamlNode& node, const char* unit) const {
    const double x = number(node);
    if (!(x >= 0)) mismatch(fmt::format("a number >= 0 [{}]", unit), node);
    return x;
}

double ValueReader::fraction(const YamlNode& node) const {
    const double x = number(node);
    if (!(x >= 0 && x <= 1)) mismatch("a number from 0 to 1", node);
    return x;
}

double ValueReader::bound(const YamlNode& node) const {
    const bool scalar = node.kind == YamlNode::Kind::scalar;
    for (const char* text : {".inf", "+.inf", ".Inf", ".INF"})
        if (scalar && node.text == text) return infinity;
    for (const char* text : {"-.inf", "-.Inf", "-.INF"})
        if (scalar && node.text == text) return -infinity;
    return number(node);
}

double ValueReader::not_zero(const YamlNode& node, const char* what) const {
    const double x = number(node);
    if (x == 0 || !std::isfinite(x))
        throw Error(fmt::format("the {} must be a finite number other than zero", what), node.place());
    return x;
}

int ValueReader::whole(const YamlNode& node) const {
    const double x = number(node);
    if (x != std::floor(x) || std::abs(x) > 1e9) mismatch("a whole number", node);
    return static_cast<int>(x);
}

bool ValueReader::truth(const YamlNode& node) const {
    if (node.kind != YamlNode::Kind::scalar) mismatch("true or false", node);
    return parse_bool(node.text, node.place());
}

const std::string& ValueReader::word(const YamlNode& node, const char* expected) const {
    if (node.kind != YamlNode::Kind::scalar || node.text.empty()) mismatch(expected, node);
    return node.text;
}

int ValueReader::choice(const YamlNode& node, const char* what, const std::vector<std::string>& words) const {
    const std::string& text = word(node, what);
    const auto found = std::find(words.begin(), words.end(), text);
    if (found == words.end()) throw unknown_name(what, text, words, node.place());
    return static_cast<int>(found - words.begin());
}

std::vector<double> ValueReader::numbers(const YamlNode& node, std::initializer_list<std::size_t> sizes,
                                         const char* expected) const {
    if (node.kind != YamlNode::Kind::list || std::find(sizes.begin(), sizes.end(), node.children.size()) == sizes.end())
        mismatch(expected, node);
    std::vector<double> x;
    for (const YamlNode& child : node.children) x.push_back(number(child));
    return x;
}

Vec3 ValueReader::vector(const YamlNode& node) const {
    const std::vector<double> x = numbers(node, {3}, "a list of 3 numbers [x, y, z]");
    return {x[0], x[1], x[2]};
}

Vec3 ValueReader::direction(const YamlNode& node, const char* what) const {
    const Vec3 x = vector(node);
    // stableNorm: squares of 1e-200 vanish, of 1e200 overflow.
    const double length = x.stableNorm();
    if (!(length > 0)) throw Error(fmt::format("the {} must not be zero", what), node.place());
    if (is_unit(node, x.squaredNorm())) return x;
    return (x / length).normalized();
}

Quat ValueReader::attitude(double w, double x, double y, double z, const Place& place) const {
    Eigen::Vector4d q(w, x, y, z);
    const double length = q.stableNorm();
    if (!(length > 0)) throw Error("the quaternion [qw, qx, qy, qz] must not be zero", place);
    q /= length;
    q /= q.norm();
    return {q[0], q[1], q[2], q[3]};
}

Pose ValueReader::pose(const YamlNode& node) const {
    Pose pose;
    const auto read_attitude = [&](const YamlNode& list, const double* q, const Place& place) {
        const Eigen::Map<const Eigen::Vector4d> all(q);
        return is_unit(list, all.squaredNorm()) ? Quat(q[0], q[1], q[2], q[3])
                                                : attitude(q[0], q[1], q[2], q[3], place);
    };
    if (node.kind == YamlNode::Kind::map) {
        const MapReader map(node, "a pose", "pose");
        if (const YamlNode* at = map.find("at")) pose.position = vector(*at);
        if (const YamlNode* rpy = map.find("rpy_deg")) {
            // Roll about x, then pitch about y, then yaw about z, all of them fixed axes.
            const Vec3 angle = vector(*rpy) * (3.141592653589793238462643 / 180);
            pose.attitude =
                (Quat(Eigen::AngleAxisd(angle[2], Vec3::UnitZ())) * Quat(Eigen::AngleAxisd(angle[1], Vec3::UnitY())) *
                 Quat(Eigen::AngleAxisd(angle[0], Vec3::UnitX())))
                    .normalized();
        }
        if (const YamlNode* q = map.find("quaternion")) {
            const std::vector<double> x = numbers(*q, {4}, "a list of 4 numbers [qw, qx, qy, qz]");
            pose.attitude = read_attitude(*q, x.data(), q->place());
        }
        return pose;
    }
    const std::vector<double> x =
        numbers(node, {3, 7}, "a pose: [x, y, z], [x, y, z, qw, qx, qy, qz] or {at, rpy_deg}");
    pose.position = Vec3(x[0], x[1], x[2]);
    if (x.size() == 7) pose.attitude = read_attitude(node, x.data() + 3, node.children[3].place());
    return pose;
}

Mat3 ValueReader::inertia(const YamlNode& node) const {
    Mat3 J = Mat3::Zero();
    if (node.kind == YamlNode::Kind::scalar) {
        J.diagonal().setConstant(number(node));
    } else {
        const std::vector<double> x =
            numbers(node, {3, 6}, "an inertia [kg m^2]: one number, [Ixx, Iyy, Izz] or [Ixx, Iyy, Izz, Ixy, Ixz, Iyz]");
        J.diagonal() = Vec3(x[0], x[1], x[2]);
        if (x.size() == 6) {
            J(0, 1) = J(1, 0) = x[3];
            J(0, 2) = J(2, 0) = x[4];
            J(1, 2) = J(2, 1) = x[5];
        }
    }
    if (const std::string wrong = wrong_with_inertia(J); !wrong.empty()) throw Error(wrong, node.place());
    return J;
}

std::string wrong_with_inertia(const Mat3& J) {
    const double size = J.cwiseAbs().maxCoeff();
    if (!(size > 0)) return "the inertia must be positive, found zeros only";
    const Mat3 scaled = J / size;  // so that minors neither vanish nor overflow
    if (!positive_definite(scaled)) return "the inertia must be positive definite: every principal moment > 0";
    // 1e-6: a flat plate has equality, and tables print six digits.
    if (!positive_definite((0.5 + 1e-6) * scaled.trace() * Mat3::Identity() - scaled))
        return "no body has this inertia: each principal moment must be at most the sum of the other two";
    return "";
}

Vec6 ValueReader::six(const YamlNode& node) const {
    const std::vector<double> x = numbers(node, {6}, "six numbers: along x, y, z [N/m] and about x, y, z [N m/rad]");
    for (std::size_t i = 0; i < 6; ++i)
        if (!(x[i] >= 0)) throw Error("expected numbers that are not negative", node.place());
    return Eigen::Map<const Vec6>(x.data());
}

Scene::Formula ValueReader::formula_at(const YamlNode& node, double t) const {
    Scene::Formula read = formula(node);
    const double value = compile_formula(read)(t);
    if (!std::isfinite(value))
        throw Error(fmt::format("the formula '{}' is {} at t = {:.6g}", node.text, value, t), node.place());
    return read;
}

Scene::Formula ValueReader::formula(const YamlNode& node) const {
    if (node.kind != YamlNode::Kind::scalar) mismatch("a number or a formula of t like \"8*cos(t)\"", node);
    Scene::Formula formula{close_formula(node.text, names(node), true, node.place()), node.place(), std::nullopt};
    const auto f = compile_formula(formula);
    if (!depends_on_time(formula.text)) formula.value = f(0);
    return formula;
}

void check_name(const std::string& name, const char* what, const Place& place) {
    const auto fine = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    };
    if (!name.empty() && name.size() <= 200 && std::all_of(name.begin(), name.end(), fine)) return;
    const char* hint = name.find('{') == std::string::npos    ? ""
                       : what == std::string_view("material") ? " (materials cannot be repeated)"
                                                              : " (an index needs 'repeat' or 'grid')";
    throw Error(fmt::format("expected a name of letters, digits, - and _ for a {}, found '{}'{}", what,
                            name.substr(0, 60), hint),
                place);
}

int read_kind(const YamlNode& node, const std::string& what, std::string_view listed) {
    const std::vector<std::string> kinds = scene_map(listed).kinds();
    if (node.kind != YamlNode::Kind::map || node.keys.empty())
        mismatch(fmt::format("{} as {{kind: {{...}}}} with a kind out of {}", what, fmt::join(kinds, ", ")), node);
    const auto found = std::find(kinds.begin(), kinds.end(), node.keys[0]);
    if (found == kinds.end())
        throw Error(what + " has " + unknown_name("kind", node.keys[0], kinds).what(), node.key_place(0));
    if (node.keys.size() > 1)
        throw Error(fmt::format("{} has one kind, found '{}' beside '{}' (are its keys indented under '{}'?)", what,
                                node.keys[1], node.keys[0], node.keys[0]),
                    node.key_place(1));
    return static_cast<int>(found - kinds.begin());
}

int plane_normal(Scene::Plane plane) {
    switch (plane) {
        case Scene::Plane::none: return -1;
        case Scene::Plane::xy: return 2;
        case Scene::Plane::xz: return 1;
        case Scene::Plane::yz: return 0;
    }
    return -1;
}

}  // namespace stickslip
