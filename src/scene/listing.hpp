// The keys of scene files, listed once: what the reader accepts, `stickslip schema` publishes and the tables of
// docs/scene.md show. A new key is a row in listing.cpp and a line in the reader; a test tells where the two differ.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stickslip {

// What may stand behind a key.
enum class Form {
    number,        // a number or a formula
    positive,      // > 0
    not_negative,  // >= 0
    fraction,      // 0 to 1
    whole,         // a whole number
    truth,         // true or false
    choice,        // a word out of `of`, separated by |
    vector,        // [x, y, z]
    positives,     // [x, y, z], all of them > 0
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
};

struct SceneField {
    std::string key;
    Form form;
    std::string of;       // see Form
    std::string unit;     // "" if it has none
    std::string without;  // what holds when the key is left out: a default, `required`, or words
    std::string text;

    bool required() const { return without == "required"; }
    // Taken out when templates are copied, before maps are read.
    bool of_template() const { return form == Form::index || form == Form::indices; }
};

// What ties the keys of a map together.
struct SceneRule {
    enum class Kind { one, not_both, at_least_one, all_or_none };
    Kind kind;
    std::vector<std::string> keys;
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

const std::vector<SceneMap>& scene_maps();
const SceneMap& scene_map(std::string_view name);  // must exist

}  // namespace stickslip
