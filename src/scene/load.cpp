#include "stickslip/load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string_view>

#include "base/fields.hpp"
#include "model/multibody.hpp"
#include "scene/check.hpp"
#include "scene/folders.hpp"
#include "scene/formula.hpp"
#include "stickslip/mechanism.hpp"

namespace stickslip {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view run_mark = "\n# run";

bool take_prefix(std::string& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.erase(0, prefix.size());
    return true;
}

// Parameters of mechanisms are numbers and words; what is made of functions and pi alone, such as pi/4, becomes its value.
void evaluate_formula(OptionValue& value) {
    const std::vector<std::string> words = words_of(value.text);
    if (words.empty() || !std::all_of(words.begin(), words.end(), is_formula_word)) return;
    const std::vector<Scene::Parameter> none;
    value.text = fmt::format("{}", evaluate_number(value.text, Names(none), value.place));
}

Model load_mechanism(const std::string& name, const OptionValues& overrides) {
    OptionValues parameters;
    RunSettings run;
    bool has_step = false;
    const auto is_run_key = [](const std::string& key) {
        for (const char* word : {"step", "end", "scheme", "solver", "policy"})
            if (key == word) return true;
        return key.find('.') != std::string::npos;
    };
    for (OptionValue value : overrides) {
        if (!is_run_key(value.key)) {
            evaluate_formula(value);
            parameters.push_back(std::move(value));
            continue;
        }
        take_prefix(value.key, "run.");
        if (value.key == "step" || value.key == "scheme.step") {
            value.key = "step";
            has_step = true;
            run.scheme.options.push_back(std::move(value));
        } else if (value.key == "end") {
            run.end = parse_number(value.text, value.place);
            if (!(run.end > 0)) throw Error("end must be positive [s]", value.place);
        } else if (value.key == "record.every") {
            run.record_every = parse_number(value.text, value.place);
            if (!(run.record_every > 0)) throw Error("record.every must be positive [s]", value.place);
        } else if (value.key == "policy") {
            Choice choice{{to_string(Policy::degrade), to_string(Policy::certify), to_string(Policy::budget)}, 0};
            assign(choice, value);
            run.policy = static_cast<Policy>(choice.index);
        } else if (value.key == "budget.ms") {
            run.budget.ms = parse_number(value.text, value.place);
        } else if (value.key == "budget.factorisations") {
            run.budget.factorisations = parse_number(value.text, value.place);
        } else if (value.key == "scheme" || value.key == "scheme.name") {
            run.scheme.name = value.text;
            run.scheme.place = value.place;
        } else if (value.key == "solver" || value.key == "solver.name") {
            run.solver.name = value.text;
            run.solver.place = value.place;
        } else if (take_prefix(value.key, "scheme.")) {
            run.scheme.options.push_back(std::move(value));
        } else if (take_prefix(value.key, "solver.")) {
            run.solver.options.push_back(std::move(value));
        } else if (take_prefix(value.key, "tolerances.")) {
            run.tolerances.push_back(std::move(value));
        } else {
            throw unknown_name("setting of a mechanism", value.key,
                               {"run.step", "run.end", "run.policy", "run.budget.ms", "run.budget.factorisations",
                                "run.record.every", "scheme.NAME", "solver.NAME", "tolerances.NAME"},
                               value.place);
        }
    }
    require_tolerance(run.solver.options);
    require_budget(run);
    Mechanism mechanism = make_mechanism(name, parameters);
    Model model;
    model.source = "mechanism: " + name + "\n";
    for (const OptionValue& value : parameters) model.source += value.key + ": " + value.text + "\n";
    model.source += run_mark;
    for (const OptionValue& option : run.scheme.options)
        model.source += fmt::format("\n# --set scheme.{}={}", option.key, option.text);
    for (const OptionValue& option : run.solver.options)
        model.source += fmt::format("\n# --set solver.{}={}", option.key, option.text);
    for (const OptionValue& option : run.tolerances)
        model.source += fmt::format("\n# --set tolerances.{}={}", option.key, option.text);
    model.source += "\n";
    if (!has_step)
        run.scheme.options.insert(run.scheme.options.begin(), {"step", fmt::format("{}", mechanism.step), {}});
    const bool has_end = std::any_of(overrides.begin(), overrides.end(),
                                     [](const OptionValue& v) { return v.key == "run.end" || v.key == "end"; });
    if (!has_end) run.end = mechanism.end;
    model.name = name;
    model.system = make_lagrangian_system(std::move(mechanism.model));
    model.state = std::move(mechanism.state);
    model.exact = std::move(mechanism.exact);
    model.run = std::move(run);
    return model;
}

std::string find_shipped(const std::string& name) {
    for (const std::string& folder : scene_folders()) {
        const fs::path file = fs::path(folder) / (name + ".yaml");
        if (fs::exists(file)) return file.string();
    }
    std::vector<std::string> names;
    for (const NamedSummary& scene : list_scenes()) names.push_back(scene.name);
    if (names.empty())
        throw Error(fmt::format("no shipped scene '{}': no folder of scenes was found beside the program; name the one you have "
                                "in the environment variable STICKSLIP_SCENES",
                                name));
    throw unknown_name("shipped scene", name, names);
}

}  // namespace

std::string scene_file(const std::string& spec) {
    std::string name = spec;
    return take_prefix(name, "scene:") ? find_shipped(name) : spec;
}

std::string mechanics_of(const std::string& source) { return source.substr(0, source.rfind(run_mark)); }

std::vector<NamedSummary> list_scenes() {
    std::map<std::string, std::string> found;  // sorted; the first folder that has a name wins
    for (const std::string& folder : scene_folders()) {
        for (const auto& entry : fs::directory_iterator(folder)) {
            if (entry.path().extension() != ".yaml") continue;
            std::string head;
            std::ifstream in(entry.path());
            std::getline(in, head);
            found.emplace(entry.path().stem().string(), head.starts_with("# ") ? head.substr(2) : "");
        }
    }
    std::vector<NamedSummary> list;
    for (const auto& [name, head] : found) list.push_back({name, head});
    return list;
}

std::vector<NamedSummary> list_joints() {
    std::vector<NamedSummary> list;
    for (const JointKind& kind : joint_table())
        list.push_back({kind.name, fmt::format("{} ({} rows in space, {} in a plane)", kind.summary, kind.rows_in_space,
                                               kind.rows_in_plane)});
    return list;
}

std::vector<NamedSummary> list_shapes() {
    std::vector<NamedSummary> list;
    for (const ShapeEntry& entry : shape_table()) list.push_back({entry.name, entry.summary});
    return list;
}

Model load_model(const std::string& spec, const OptionValues& overrides) {
    std::string name = spec;
    if (take_prefix(name, "mechanism:")) return load_mechanism(name, overrides);
    const std::string file = scene_file(spec);
    Model model = build_model(read_scene(file, overrides));
    model.name = fs::path(file).stem().string();
    // What the file does not say: overrides of the mechanics first, then, behind a mark, how it is run.
    std::string run;
    for (const OptionValue& value : overrides) {
        const std::string section = value.key.substr(0, value.key.find('.'));
        const bool of_run = section == "run" || section == "scheme" || section == "solver";
        (of_run ? run : model.source) += fmt::format("\n# --set {}={}", value.key, value.text);
    }
    model.source += std::string(run_mark) + run + "\n";
    return model;
}

}  // namespace stickslip
