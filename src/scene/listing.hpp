// The keys of scene files, listed once, each with the member it fills: from here come what the reader accepts (fields.hpp), what
// is checked of scenes that a program makes, what write_scene writes, `stickslip schema`, the tables of docs/scene.md and
// the words of the fuzz target. A new key is a member in stickslip/scene.hpp and a row in the listing of its part.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <typeinfo>
#include <variant>
#include <vector>

#include "stickslip/edit.hpp"
#include "stickslip/scene.hpp"

namespace stickslip {

// What may stand behind a key.
enum class Form {
    number,        // a number or a formula
    not_zero,      // a number other than 0
    bound,         // a number, .inf or -.inf
    positive,      // > 0
    not_negative,  // >= 0
    fraction,      // 0 to 1
    whole,         // a whole number
    truth,         // true or false
    choice,        // a word out of `of`, separated by |
    vector,        // [x, y, z]
    positives,     // [x, y, z], all of them > 0
    direction,     // [x, y, z], not zero; normalised
    pose,          // [x, y, z], [x, y, z, qw, qx, qy, qz] or the map `pose`
    quaternion,    // [qw, qx, qy, qz]
    inertia,       // one number, three or six
    formulas,      // three formulas of t
    table,         // rows [t, fx, fy, fz]
    body,          // the name of a body or `ground`
    material,      // the name of a material
    joint,         // the name of a joint
    limits,        // [lower, upper] or the map `limits`
    six,           // six numbers >= 0: along and about three axes
    points,        // [[x, y, z], ...]
    map,           // the map `of`
    list,          // a list of maps `of`
    named,         // a map name: `of`
    parameters,    // a map name: number
    cone,          // `disc` or the map `cone`
    scheme,        // a name out of the table of schemes, or a map with `name` and its options
    solver,        // the same for solvers
    index,         // a map with one index: its range
    indices,       // a map with several
    actions,       // a list of maps `action-add`, `action-cut`, ...
    attached,      // a map with one name: `joint`
    files,         // the name of a file, or a list of names
    file,          // the name of a file
};

// The value of a key in a struct of the scene.
struct EnumSlot {
    void* value;
    int (*get)(const void*);
    void (*set)(void*, int);
    int first;  // what the first word stands for
};
using Formulas = Scene::Formula[3];
using Slot = std::variant<bool*, double*, std::optional<double>*, Vec3*, std::optional<Vec3>*, Vec6*, Pose*,
                          std::optional<Pose>*, std::optional<Mat3>*, Scene::Name*, Scene::Formula*,
                          std::optional<Scene::Formula>*, Formulas*, std::vector<Scene::Load::Row>*, std::vector<Vec3>*,
                          EnumSlot>;

// A member of a struct of type `owner`. Without one the key is read and written by hand: it is a section or a list of things,
// or what it means depends on more than itself.
struct Member {
    const std::type_info* owner = nullptr;
    std::function<Slot(void* object)> slot;
};

template <class T, class M>
Member at(M T::*member, int first = 0) {
    return {&typeid(T), [=](void* object) -> Slot {
                auto& value = static_cast<T*>(object)->*member;
                if constexpr (std::is_enum_v<M>)
                    return EnumSlot{&value, [](const void* x) { return static_cast<int>(*static_cast<const M*>(x)); },
                                    [](void* x, int i) { *static_cast<M*>(x) = static_cast<M>(i); }, first};
                else
                    return &value;
            }};
}

struct SceneField {
    std::string key;
    Form form;
    std::string of;       // see Form
    std::string unit;     // "" if it has none
    std::string without;  // what holds when the key is left out: a default, `required`, or words
    std::string text;
    Member member{};

    bool required() const { return without == "required"; }
    // Taken out when templates are copied, before maps are read.
    bool of_template() const { return form == Form::index || form == Form::indices; }
};

// What ties the keys of a map together.
struct SceneRule {
    // `belongs`: the first only with the second.
    enum class Kind { one, not_both, at_least_one, all_or_none, belongs };
    Kind kind;
    std::vector<std::string> keys;
    std::string needs{};      // what is said when a key is missing; "" for the usual words
    bool for_schema = false;  // the reader says more about it than the schema can, and elsewhere
};

struct SceneMap {
    std::string name;
    std::vector<SceneField> fields;
    std::vector<SceneRule> rules;

    // The keys, or those that open a map of their own: the kinds of joints and forces.
    std::vector<std::string> keys() const;
    std::vector<std::string> kinds() const;
    const SceneField* find(std::string_view key) const;  // null if absent
};

// A kind of shape: its key in the map `shape`, and how it behaves.
struct ShapeKind {
    SceneField field;
    std::vector<SceneField> keys{};  // of its own map, if it opens one
    std::vector<SceneRule> rules{};  // and what ties them together
    bool solid = true;               // has a volume to fill with mass
    bool round = false;              // about z: any attitude about it is the same
    const std::string& name() const { return field.key; }
};
const std::vector<ShapeKind>& shape_kinds_of_scenes();
const ShapeKind* find_shape_kind(std::string_view name);  // null if there is none

using SceneFields = std::vector<SceneField>;
using SceneMaps = std::vector<SceneMap>;
inline SceneFields operator+(SceneFields a, const SceneFields& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}
// `repeat` and `grid`, of bodies, joints and forces.
SceneFields keys_of_templates();
// name: {kind: {...}} with exactly one of the kinds.
SceneMap map_of_kinds(const char* name, const SceneFields& kinds);

// The parts of the listing.
void list_bodies(SceneMaps& maps);   // materials, contacts, bodies, shapes
void list_joints(SceneMaps& maps);   // joints and what acts on their coordinates
void list_forces(SceneMaps& maps);   // springs, drag, loads
void list_actions(SceneMaps& maps);  // actions and the run

const std::vector<SceneMap>& scene_maps();
const SceneMap& scene_map(std::string_view name);  // must exist

}  // namespace stickslip
