// The `run` section: scheme, solver, policy, step, end, record.
#include <fmt/format.h>

#include "scene/formula.hpp"
#include "scene/reader.hpp"

namespace stickslip {

namespace {

// A name, or a map with `name` and options. Options stay text: their types are known to the scheme alone, so a
// formula there needs a leading `=`.
Scene::Choosing read_choosing(const YamlNode& node, const char* what, const Scene& scene) {
    Scene::Choosing chosen;
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

}  // namespace

void read_run(const YamlNode& node, Scene& scene) {
    if (node.kind == YamlNode::Kind::null) return;
    const ValueReader values(scene.parameters);
    const MapReader map(node, "run", "run");
    Scene::Run& run = scene.run;
    run.place = node.place();

    const YamlNode* scheme_step = nullptr;
    if (const YamlNode* scheme = map.find("scheme")) {
        const std::string otherwise = run.scheme.name;
        run.scheme = read_choosing(*scheme, "scheme", scene);
        if (run.scheme.name.empty()) run.scheme.name = otherwise;
        std::erase_if(run.scheme.options, [](const OptionValue& option) { return option.key == "step"; });
        scheme_step = scheme->find("step");
    }
    if (const YamlNode* solver = map.find("solver")) {
        const std::string otherwise = run.solver.name;
        run.solver = read_choosing(*solver, "solver", scene);
        if (run.solver.name.empty()) run.solver.name = otherwise;
    }
    if (const YamlNode* policy = map.find("policy"))
        run.policy = static_cast<Scene::Policy>(values.choice(*policy, "policy", {"certify", "budget"}));
    read_step(map.find("step"), scheme_step, scene);
    if (const YamlNode* end = map.find("end")) run.end = values.positive(*end, "s");
    if (const YamlNode* record = map.find("record")) {
        const MapReader keys(*record, "record", "record");
        if (const YamlNode* every = keys.find("every")) run.record.every = values.positive(*every, "s");
        if (const YamlNode* csv = keys.find("csv")) run.record.csv = values.truth(*csv);
    }
}

}  // namespace stickslip
