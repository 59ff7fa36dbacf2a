// The parts of the scene reader and writer. Reading takes a YAML node and fills plain structs; every complaint is an Error at the
// place of what is wrong. A map is opened by its name in the listing, so that a mistyped key is told before the key that
// is missing because of it. What a key holds is in the listing (listing.hpp); the files yaml_*.cpp have what is not one value
// in one member, in both directions.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "scene/formula.hpp"
#include "scene/include.hpp"
#include "scene/listing.hpp"
#include "scene/yaml_tree.hpp"
#include "stickslip/scene.hpp"

namespace stickslip {

struct JointKind;

// What the keys that are given lack by a rule, as the end of a sentence; "" if nothing.
std::string broken(const SceneRule& rule, const std::vector<std::string>& given);

// A map all of whose keys are those of the map `listed` in the listing, and obey its rules. `what` names it in messages: "body 'arm'".
class MapReader {
public:
    MapReader(const YamlNode& node, std::string what, std::string_view listed);

    const YamlNode* find(const char* key) const;  // null if absent
    const YamlNode& need(const char* key) const;
    Place key_place(const char* key) const;
    Place place() const { return node_.place(); }
    const std::string& what() const { return what_; }
    const SceneMap& listed() const { return listed_; }

private:
    void obey(const SceneRule& rule) const;
    const YamlNode& node_;
    std::string what_;
    const SceneMap& listed_;
};

// Single values; `parameters` are those of `let`, usable in every number.
class ValueReader {
public:
    explicit ValueReader(const std::vector<Scene::Parameter>& parameters) : parameters_(parameters) {}

    double number(const YamlNode& node) const;
    double positive(const YamlNode& node, const char* unit) const;
    double not_negative(const YamlNode& node, const char* unit) const;
    double fraction(const YamlNode& node) const;  // in [0, 1]
    double bound(const YamlNode& node) const;     // .inf too
    double not_zero(const YamlNode& node, const char* what) const;
    int whole(const YamlNode& node) const;
    bool truth(const YamlNode& node) const;
    const std::string& word(const YamlNode& node, const char* expected) const;
    // Index into `words`.
    int choice(const YamlNode& node, const char* what, const std::vector<std::string>& words) const;

    std::vector<double> numbers(const YamlNode& node, std::initializer_list<std::size_t> sizes,
                                const char* expected) const;
    Vec3 vector(const YamlNode& node) const;
    Vec3 direction(const YamlNode& node, const char* what) const;  // normalised
    Pose pose(const YamlNode& node) const;
    Vec6 six(const YamlNode& node) const;                             // >= 0
    Mat3 inertia(const YamlNode& node) const;                         // positive, triangle inequality
    Scene::Formula formula(const YamlNode& node) const;               // of t
    Scene::Formula formula_at(const YamlNode& node, double t) const;  // the same, finite at t

private:
    Names names(const YamlNode& node) const { return {parameters_, node.indices.get()}; }
    Quat attitude(double w, double x, double y, double z, const Place& place) const;
    const std::vector<Scene::Parameter>& parameters_;
};

// Keys of a map of named things: letters, digits, - and _, so that --set paths and records can hold them.
void check_name(const std::string& name, const char* what, const Place& place);
// The one key of {revolute: {...}}, as an index into the kinds of the map `listed`.
int read_kind(const YamlNode& node, const std::string& what, std::string_view listed);

// "the inertia must be positive ...", or "" for one that a body can have.
std::string wrong_with_inertia(const Mat3& J);

// 0 x, 1 y, 2 z: the axis across the plane; -1 without a plane.
int plane_normal(Scene::Plane plane);

inline const char* const default_material = "default";
void add_default_material(Scene& scene);  // unless it is there

// The sections, in the order they are read. `scene` holds what was read before.
void read_parameters(const YamlNode& node, Scene& scene);
void read_materials(const YamlNode& node, Scene& scene);
void read_contacts(const YamlNode& node, Scene& scene);
void read_bodies(const YamlNode& node, Scene& scene);
void read_joints(const YamlNode& node, Scene& scene);
void read_forces(const YamlNode& node, Scene& scene);
void read_run(const YamlNode& node, Scene& scene);
void read_actions(const YamlNode& node, Scene& scene);

// The same sections as trees; null where there is nothing to write.
YamlNode write_materials(const Scene& scene);
YamlNode write_contacts(const Scene& scene);
YamlNode write_bodies(const Scene& scene);
YamlNode write_joints(const Scene& scene);
YamlNode write_forces(const Scene& scene);
YamlNode write_actions(const Scene& scene);
YamlNode write_run(const Scene& scene);

// One entry of `joints`; `scene` holds everything it may name.
Scene::Joint read_joint(const std::string& name, const Place& place, const YamlNode& item, const Scene& scene);
YamlNode write_joint(const Scene::Joint& joint);
bool coordinate_turns(const std::string& kind, int coordinate);  // an angle, else a length

// What acts on the coordinates of a joint: limits, motors and the like, from the joint's map and into it.
void read_drives(const MapReader& map, const Scene& scene, Scene::Joint& joint);
void write_drives(const Scene::Joint& joint, YamlNode& map);
// Which coordinate of a joint a spring or an action is about, if the map names one.
std::optional<int> read_coordinate(const MapReader& map, const Scene& scene, const Scene::Joint& joint);
void write_coordinate(const std::string& name, YamlNode& map);
std::string map_of_drive(const JointKind& kind, int coordinate);  // its name in the listing: "turning", ...
std::string map_of_motor(bool turning);

// Throws unless one of the two can move.
void check_movable(const Scene& scene, const Scene::Name& a, const Scene::Name& b, const std::string& what);
// Coordinates that a gear couples; of several joints with one name the last before `end` is meant.
std::pair<int, int> gear_coordinates(const Scene& scene, const Scene::Joint& gear, int end);

// Applies --set to the tree before anything is read. What names a copy of a template is left for after the templates
// were copied, and returned.
OptionValues apply_overrides(YamlNode& root, const OptionValues& overrides);

// read_scene_text() with other files and limits.
Scene read_scene_within(const std::string& text, const std::string& name, const OptionValues& overrides,
                        const SceneLimits& limits);

}  // namespace stickslip
