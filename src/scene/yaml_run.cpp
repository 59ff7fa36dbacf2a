// The `run` section, from YAML and into it: scheme, solver, policy, budget, step, end, record.
#include <fmt/format.h>

#include "scene/fields.hpp"

namespace stickslip {

namespace {

// A name, or a map with `name` and options. Options stay text: their types are known to the scheme alone, so a
// formula there needs a leading `=`.
Selection read_selection(const YamlNode& node, const char* what, const Scene& scene) {
    Selection chosen;
    chosen.place = node.place();
    if (node.kind == YamlNode::Kind::scalar && !node.text.empty()) {
        chosen.name = node.text;
        return chosen;
    }
    if (node.kind != YamlNode::Kind::map)
        throw Error(
            fmt::format("expected the name of a {} or a map {{name: ..., options}}, found {}", what, node.describe()),
            node.place());
    const ValueReader values(scene.parameters);
    for (std::size_t i = 0; i < node.keys.size(); ++i) {
        const YamlNode& value = node.children[i];
        if (node.keys[i] == "name") {
            chosen.name = values.word(value, "a name");
            chosen.place = value.place();
            continue;
        }
        if (value.kind != YamlNode::Kind::scalar)
            throw Error(fmt::format("expected one value for the option '{}', found {}", node.keys[i], value.describe()),
                        value.place());
        std::string text = value.text;
        if (!text.empty() && text.front() == '=') text = fmt::format("{:.17g}", values.number(value));
        chosen.options.push_back({node.keys[i], text, value.overridden() ? value.place() : node.key_place(i)});
    }
    return chosen;
}

// `step` stands in run or in scheme; an override beats the file, two of the same rank contradict each other.
void read_step(const YamlNode* in_run, const YamlNode* in_scheme, Scene& scene) {
    const YamlNode* step = in_run ? in_run : in_scheme;
    if (in_run && in_scheme) {
        if (in_run->overridden() == in_scheme->overridden())
            throw Error("'step' is given in 'run' and in 'scheme', expected one of them", in_scheme->place());
        step = in_run->overridden() ? in_run : in_scheme;
    }
    if (!step) return;
    const double h = ValueReader(scene.parameters).positive(*step, "s");
    scene.run.step = OptionValue{"step", fmt::format("{:.17g}", h), step->place()};
}

void read_tolerances(const YamlNode& node, Scene& scene) {
    const MapReader map(node, "tolerances", "tolerances");
    const ValueReader values(scene.parameters);
    for (std::size_t i = 0; i < node.keys.size(); ++i) {
        const double value = values.positive(node.children[i], "SI units");
        scene.run.tolerances.push_back({node.keys[i], fmt::format("{:.17g}", value), node.key_place(i)});
    }
}

YamlNode write_selection(const Selection& chosen) {
    if (chosen.options.empty()) return scalar(chosen.name);
    YamlNode map = empty_map();
    put(map, "name", scalar(chosen.name));
    for (const OptionValue& option : chosen.options) put(map, option.key, scalar(option.text));
    return map;
}

}  // namespace

void read_run(const YamlNode& node, Scene& scene) {
    if (node.kind == YamlNode::Kind::null) return;
    const MapReader map(node, "run", "run");
    Scene::Run& run = scene.run;
    run.place = node.place();
    read_fields(map, scene, run);
    const auto choose = [&](const char* key, Selection& chosen) {
        const YamlNode* given = map.find(key);
        if (!given) return;
        const std::string otherwise = chosen.name;
        chosen = read_selection(*given, key, scene);
        if (chosen.name.empty()) chosen.name = otherwise;
    };
    choose("scheme", run.scheme);
    choose("solver", run.solver);
    std::erase_if(run.scheme.options, [](const OptionValue& option) { return option.key == "step"; });
    if (const YamlNode* tolerances = map.find("tolerances")) read_tolerances(*tolerances, scene);
    const YamlNode* scheme = map.find("scheme");
    read_step(map.find("step"), scheme ? scheme->find("step") : nullptr, scene);
    if (const YamlNode* budget = map.find("budget"))
        read_fields(MapReader(*budget, "budget", "budget"), scene, run.budget);
    if (const YamlNode* record = map.find("record"))
        read_fields(MapReader(*record, "record", "record"), scene, run.record);
}

YamlNode write_run(const Scene& scene) {
    const Scene::Run& run = scene.run;
    YamlNode section = empty_map(), record = empty_map(), tolerances = empty_map(), budget = empty_map();
    put(section, "scheme", write_selection(run.scheme));
    put(section, "solver", write_selection(run.solver));
    for (const OptionValue& given : run.tolerances) put(tolerances, given.key, scalar(given.text));
    if (!tolerances.keys.empty()) put(section, "tolerances", std::move(tolerances));
    write_fields(scene_map("run"), run, section);
    write_fields(scene_map("budget"), run.budget, budget);
    if (!budget.keys.empty()) put(section, "budget", std::move(budget));
    if (run.step) put(section, "step", scalar(run.step->text));
    write_fields(scene_map("record"), run.record, record);
    if (!record.keys.empty()) put(section, "record", std::move(record));
    return section;
}

}  // namespace stickslip
