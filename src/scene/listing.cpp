// The listing put together; its rows are in listing_bodies, listing_joints, listing_forces and listing_actions.
// Rows: key, form, words or map it opens, unit, default (or `required`), text, member.
#include "scene/listing.hpp"

#include <algorithm>

#include "stickslip/error.hpp"

namespace stickslip {

namespace {

using enum Form;
using enum SceneRule::Kind;

SceneMap top_level() {
    return {"scene",
            {{"stickslip", number, "", "", "required", "version of this format: 1"},
             {"include", files, "", "", "none", "scene files whose contents belong to this one, see Includes"},
             {"let", parameters, "", "", "none", "parameters, usable in every number; `--set name=value`"},
             {"gravity", vector, "", "m/s^2", "[0, 0, -9.81]", "acceleration of free fall", at(&Scene::gravity)},
             {"plane", choice, "xy|xz|yz", "", "in space", "bodies keep three degrees of freedom, see below",
              at(&Scene::plane, 1)},
             {"materials", named, "material", "", "`default` alone", "`default` always exists"},
             {"contacts", map, "contacts", "", "", "cone of friction, pairs of materials"},
             {"bodies", named, "body", "", "none", "`ground` always exists and is not listed"},
             {"joints", named, "joint", "", "none", "what ties bodies together"},
             {"forces", named, "force", "", "none", "springs, drag and loads"},
             {"actions", actions, "", "", "none", "what changes at given times"},
             {"run", map, "run", "", "", "how to compute"}},
            {}};
}

}  // namespace

SceneFields keys_of_templates() {
    return {{"repeat", index, "", "", "one thing", "a template: one copy for each value of an index, see Repetition"},
            {"grid", indices, "", "", "one thing", "the same for several indices, the last running fastest"}};
}

SceneMap map_of_kinds(const char* name, const SceneFields& kinds) {
    SceneMap map{name, kinds + keys_of_templates(), {{one, {}, "", true}, {not_both, {"repeat", "grid"}}}};
    for (const SceneField& kind : kinds) map.rules[0].keys.push_back(kind.key);
    return map;
}

std::vector<std::string> SceneMap::keys() const {
    std::vector<std::string> names;
    for (const SceneField& field : fields) names.push_back(field.key);
    return names;
}

std::vector<std::string> SceneMap::kinds() const {
    std::vector<std::string> names;
    for (const SceneField& field : fields)
        if (field.form == Form::map) names.push_back(field.key);
    return names;
}

const SceneField* SceneMap::find(std::string_view key) const {
    const auto found = std::find_if(fields.begin(), fields.end(), [&](const SceneField& f) { return f.key == key; });
    return found == fields.end() ? nullptr : &*found;
}

const std::vector<SceneMap>& scene_maps() {
    static const SceneMaps maps = [] {
        SceneMaps all{top_level()};
        list_bodies(all);
        list_joints(all);
        list_forces(all);
        list_actions(all);
        return all;
    }();
    return maps;
}

const SceneMap& scene_map(std::string_view name) {
    const std::vector<SceneMap>& maps = scene_maps();
    const auto found = std::find_if(maps.begin(), maps.end(), [&](const SceneMap& m) { return m.name == name; });
    SS_ASSERT(found != maps.end(), "a map that the listing does not know");
    return *found;
}

}  // namespace stickslip
