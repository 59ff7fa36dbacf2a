// The listing as a JSON Schema (draft 2020-12): what an editor needs to complete keys and to mark mistakes.
//
// It accepts every scene the reader accepts. It refuses unknown and missing keys, wrong types and sizes and, where a
// number is written as a number, wrong signs. Left out, since a schema cannot compute: the values of formulas, names that
// must exist, what a plane forbids.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "scene/listing.hpp"
#include "stickslip/scene.hpp"
#include "stickslip/scheme.hpp"
#include "stickslip/solver.hpp"

namespace stickslip {

namespace {

using Json = nlohmann::ordered_json;

Json ref(const std::string& name) { return {{"$ref", "#/$defs/" + name}}; }

Json any_of(std::vector<Json> forms) { return {{"anyOf", std::move(forms)}}; }

Json array_of(const Json& item, int size) {
    return {{"type", "array"}, {"items", item}, {"minItems", size}, {"maxItems", size}};
}

// A number with bounds, or a formula, whose value a schema cannot know.
Json number_with(Json bounds) {
    bounds["type"] = "number";
    return any_of({std::move(bounds), ref("formula")});
}

Json enumeration(const std::string& words, const std::string& between) {
    Json list = Json::array();
    for (std::size_t start = 0; start <= words.size();) {
        const std::size_t end = std::min(words.find(between, start), words.size());
        list.push_back(words.substr(start, end - start));
        start = end + between.size();
    }
    return {{"enum", std::move(list)}};
}

Json option_form(const FieldInfo& option) {
    Json form;
    if (option.type == "number") {
        form = ref("number");
    } else if (option.type == "integer") {
        form = any_of({{{"type", "integer"}}, ref("formula")});
    } else if (option.type == "true or false") {
        form = ref("truth");
    } else if (option.type.find(" | ") != std::string::npos) {
        form = enumeration(option.type, " | ");
    } else {
        form = {{"type", "string"}};
    }
    form["description"] = fmt::format("{} [{}]; default {}", option.help, option.unit, option.default_text);
    return form;
}

// A name, or a map with the name and the options of that one; without a name they are those of `otherwise`.
template <class Entry>
Json chosen(const std::vector<Entry>& table, const std::string& otherwise) {
    Json names = Json::array();
    std::vector<Json> forms(1);
    for (const Entry& entry : table) {
        names.push_back(entry.name);
        Json map{{"type", "object"}, {"additionalProperties", false}};
        map["properties"]["name"] = {{"const", entry.name}, {"description", entry.summary}};
        for (const FieldInfo& option : entry.options()) map["properties"][option.name] = option_form(option);
        if (entry.name != otherwise) map["required"] = {"name"};
        forms.push_back(std::move(map));
    }
    forms[0] = {{"enum", std::move(names)}};
    return any_of(std::move(forms));
}

Json form_of(const SceneField& field) {
    switch (field.form) {
        case Form::number:
        case Form::not_zero:
        case Form::bound: return ref("number");
        case Form::positive: return number_with({{"exclusiveMinimum", 0}});
        case Form::not_negative: return number_with({{"minimum", 0}});
        case Form::fraction: return number_with({{"minimum", 0}, {"maximum", 1}});
        case Form::whole: return any_of({{{"type", "integer"}}, ref("formula")});
        case Form::truth: return ref("truth");
        case Form::choice: return enumeration(field.of, "|");
        case Form::vector:
        case Form::direction: return array_of(ref("number"), 3);
        case Form::positives: return array_of(number_with({{"exclusiveMinimum", 0}}), 3);
        case Form::pose: return any_of({array_of(ref("number"), 3), array_of(ref("number"), 7), ref("pose")});
        case Form::quaternion: return array_of(ref("number"), 4);
        case Form::inertia: return any_of({ref("number"), array_of(ref("number"), 3), array_of(ref("number"), 6)});
        case Form::formulas: return array_of(ref("number"), 3);
        case Form::table: return {{"type", "array"}, {"items", array_of(ref("number"), 4)}, {"minItems", 1}};
        case Form::body:
        case Form::joint:
        case Form::material: return ref("name");
        case Form::limits: return any_of({array_of(ref("number"), 2), ref("limits")});
        case Form::actions: {
            std::vector<Json> verbs;
            for (const SceneMap& map : scene_maps())
                if (map.name.starts_with("action-")) verbs.push_back(ref(map.name));
            return {{"type", "array"}, {"items", any_of(std::move(verbs))}};
        }
        case Form::attached:
            return {
                {"type", "object"}, {"additionalProperties", ref("joint")}, {"minProperties", 1}, {"maxProperties", 1}};
        case Form::six: return array_of(number_with({{"minimum", 0}}), 6);
        case Form::points: return {{"type", "array"}, {"items", array_of(ref("number"), 3)}, {"minItems", 2}};
        case Form::map:
            // `run:` with nothing behind it is no mistake.
            return field.key == "run" ? any_of({ref(field.of), {{"type", "null"}}}) : ref(field.of);
        case Form::list: return {{"type", "array"}, {"items", ref(field.of)}};
        case Form::named: {
            Json names = ref("name");
            if (field.of == "body") names["not"] = {{"const", "ground"}};
            return {{"type", {"object", "null"}}, {"propertyNames", names}, {"additionalProperties", ref(field.of)}};
        }
        case Form::parameters:
            return {{"type", {"object", "null"}},
                    {"propertyNames", {{"pattern", "^[A-Za-z_][A-Za-z0-9_]*$"}}},
                    {"additionalProperties", ref("number")}};
        case Form::cone: return any_of({{{"const", "disc"}}, ref("cone")});
        case Form::scheme: return chosen(schemes(), field.without);
        case Form::solver: return chosen(solvers(), field.without);
        case Form::index:
        case Form::indices:
            return {{"type", "object"},
                    {"propertyNames", {{"pattern", "^[A-Za-z_][A-Za-z0-9_]*$"}}},
                    {"additionalProperties", any_of({{{"type", "integer"}, {"minimum", 0}}, ref("range")})},
                    {"minProperties", 1},
                    {"maxProperties", field.form == Form::index ? 1 : 8}};
        case Form::file: return {{"type", "string"}, {"minLength", 1}};
        case Form::files:
            return any_of({{{"type", "string"}, {"minLength", 1}},
                           {{"type", "array"}, {"items", {{"type", "string"}, {"minLength", 1}}}}});
    }
    return {};
}

Json having(const std::string& key) { return {{"required", {key}}}; }

Json rule_form(const SceneRule& rule) {
    std::vector<Json> each;
    for (const std::string& key : rule.keys) each.push_back(having(key));
    switch (rule.kind) {
        case SceneRule::Kind::one: return {{"oneOf", each}};
        case SceneRule::Kind::at_least_one: return {{"anyOf", each}};
        case SceneRule::Kind::not_both: return {{"not", {{"required", rule.keys}}}};
        case SceneRule::Kind::all_or_none: {
            Json needs;
            for (const std::string& key : rule.keys) needs[key] = rule.keys;
            return {{"dependentRequired", needs}};
        }
        case SceneRule::Kind::belongs: return {{"dependentRequired", {{rule.keys[0], {rule.keys[1]}}}}};
    }
    return {};
}

std::string without_ticks(std::string text) {
    std::erase(text, '`');
    return text;
}

Json map_form(const SceneMap& map) {
    Json form{{"type", "object"}, {"additionalProperties", false}};
    Json required = Json::array();
    for (const SceneField& field : map.fields) {
        Json& value = form["properties"][field.key] = form_of(field);
        std::string text = without_ticks(field.text);
        if (!field.unit.empty()) text += fmt::format("{}[{}]", text.empty() ? "" : " ", field.unit);
        if (!field.without.empty() && !field.required())
            text += fmt::format("; without it: {}", without_ticks(field.without));
        value["description"] = text;
        if (field.required()) required.push_back(field.key);
    }
    if (map.name == "scene") form["properties"]["stickslip"]["const"] = 1;
    if (!required.empty()) form["required"] = required;
    for (const SceneRule& rule : map.rules) form["allOf"].push_back(rule_form(rule));
    return form;
}

}  // namespace

std::string scene_schema() {
    Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                {"title", "stickslip scene"},
                {"description", "mechanisms with joints, contact, impact and dry friction; SI units"}};
    schema.update(map_form(scene_map("scene")));
    Json& defs = schema["$defs"];
    // Braces: in copies of templates {i} becomes the value of the index.
    defs["formula"] = {{"type", "string"}, {"pattern", "^[-+*/^()<>=!&|?:, \\t\\n.0-9A-Za-z_{}]+$"}};
    defs["number"] = any_of({{{"type", "number"}}, ref("formula")});
    defs["truth"] = {{"enum", {true, false, "true", "false", "yes", "no", "on", "off"}}};
    defs["name"] = {{"type", "string"}, {"pattern", "^([-A-Za-z0-9_]|\\{[^{}]+\\})+$"}};
    defs["range"] = ref("formula");
    for (const SceneMap& map : scene_maps())
        if (map.name != "scene") defs[map.name] = map_form(map);
    return schema.dump(2);
}

}  // namespace stickslip
