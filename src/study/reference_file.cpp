// References in files, in the form
//
//   {"reference": {"states": [{"t": 1, "q": [..], "v": [..]}, ..]}, "error_estimate": {"abs": 1e-20}}
//
// Several cases stand by name inside `reference`, each with its own states. A state gives `q` and `v` as lists, or coordinates
// by name ("x": 3.0) and their velocities as "v_x", or "v" alone where one coordinate is named; attitudes may be called
// quaternion_wxyz and their velocities omega_body. What a file does not give is not compared.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "base/fields.hpp"
#include "scene/yaml_tree.hpp"
#include "stickslip/mechanism.hpp"
#include "study/errors.hpp"
#include "study/reference.hpp"

namespace stickslip::study {

namespace {

constexpr double same_time = 1e-12;  // relative

double number_of(const YamlNode& node, const std::string& what) {
    if (node.kind != YamlNode::Kind::scalar)
        throw Error(fmt::format("expected a number for {}, found {}", what, node.describe()), node.place());
    const double x = parse_number(node.text, node.place());
    if (!std::isfinite(x)) throw Error(fmt::format("{} must be finite", what), node.place());
    return x;
}

bool scalar_number(const YamlNode& node, double& x) {
    if (node.kind != YamlNode::Kind::scalar) return false;
    try {
        x = parse_number(node.text, {});
    } catch (const Error&) {
        return false;
    }
    return true;
}

struct File {
    YamlNode root;
    const YamlNode* reference = nullptr;  // the case
    const YamlNode* states = nullptr;
    std::string case_name;
};

const YamlNode* states_of(const YamlNode& node) {
    const YamlNode* states = node.kind == YamlNode::Kind::map ? node.find("states") : nullptr;
    return states && states->kind == YamlNode::Kind::list ? states : nullptr;
}

File open(const Study& study) {
    if (!std::filesystem::is_regular_file(study.reference))
        throw Error(fmt::format("'{}' is neither 'exact' nor 'self' nor a file of states", study.reference),
                    Place{"--reference", 0, 0});
    File file;
    file.root = parse_yaml(read_text_file(study.reference), study.reference);
    if (file.root.kind != YamlNode::Kind::map)
        throw Error("expected a map with 'reference', found " + file.root.describe(), file.root.place());
    const YamlNode* inside = file.root.find("reference");
    file.reference = inside ? inside : &file.root;
    std::vector<std::string> cases;
    if (file.reference->kind == YamlNode::Kind::map)
        for (std::size_t i = 0; i < file.reference->keys.size(); ++i)
            if (states_of(file.reference->children[i])) cases.push_back(file.reference->keys[i]);
    const Place flag{"--case", 0, 0};
    file.states = states_of(*file.reference);
    if (!study.reference_case.empty()) {
        if (std::find(cases.begin(), cases.end(), study.reference_case) == cases.end())
            throw cases.empty() ? Error(fmt::format("'{}' has no cases; leave --case out", study.reference), flag)
                                : unknown_name("case of '" + study.reference + "'", study.reference_case, cases, flag);
        file.case_name = study.reference_case;
    } else if (!file.states && cases.size() == 1) {
        file.case_name = cases[0];
    } else if (!file.states && !cases.empty()) {
        throw Error(fmt::format("'{}' holds several cases: choose one of {} with --case", study.reference,
                                fmt::join(cases, ", ")),
                    file.reference->place());
    }
    if (!file.case_name.empty()) {
        file.reference = file.reference->find(file.case_name);
        file.states = states_of(*file.reference);
    }
    if (!file.states || file.states->children.empty())
        throw Error("expected 'states': a list of {t, q, v}", file.reference->place());
    return file;
}

double time_of(const YamlNode& state) {
    const YamlNode* t = state.kind == YamlNode::Kind::map ? state.find("t") : nullptr;
    if (!t) throw Error("expected a state with a time 't'", state.place());
    return number_of(*t, "t");
}

void fill(const YamlNode& list, const std::string& what, VecX& x) {
    if (list.kind != YamlNode::Kind::list || static_cast<Eigen::Index>(list.children.size()) != x.size())
        throw Error(fmt::format("expected {} numbers for {}, found {}", x.size(), what, list.describe()), list.place());
    for (Eigen::Index i = 0; i < x.size(); ++i) x[i] = number_of(list.children[i], what);
}

// One state onto the coordinates of the model.
State read_state(const YamlNode& node, const System& system) {
    State state{time_of(node), VecX::Constant(system.nq(), nan), VecX::Constant(system.nv(), nan)};
    const std::vector<std::string> names = system.coordinate_names();
    const bool same = system.nq() == system.nv();
    const YamlNode* q = node.find("q");
    if (!q && system.nq() == 4) q = node.find("quaternion_wxyz");
    // z1, z2, z3 as one list z.
    if (!q && std::all_of(names.begin(), names.end(),
                          [&](const std::string& name) { return name.size() == 2 && name[0] == names[0][0]; })) {
        q = node.find(names[0].substr(0, 1));
    }
    int named = 0, last = 0;
    if (q && q->kind == YamlNode::Kind::list) {
        fill(*q, "q", state.q);
    } else {
        for (int i = 0; i < system.nq(); ++i) {
            const YamlNode* value = node.find(names[i]);
            if (!value || value->kind == YamlNode::Kind::list) continue;
            state.q[i] = number_of(*value, names[i]);
            ++named;
            last = i;
        }
        if (named == 0)
            throw Error(fmt::format("the state gives neither 'q' ({} numbers) nor one of the coordinates {}",
                                    system.nq(), fmt::join(names, ", ")),
                        node.place());
    }
    const YamlNode* v = node.find("v");
    if (!v) v = node.find("u");
    if (!v && system.nv() == 3 && system.nq() == 4) v = node.find("omega_body");
    if (v && v->kind == YamlNode::Kind::list) {
        fill(*v, "v", state.v);
    } else if (v && same && (named == 1 || system.nv() == 1)) {
        state.v[last] = number_of(*v, "v");
    } else if (same) {
        for (int i = 0; i < system.nv(); ++i)
            if (const YamlNode* value = node.find("v_" + names[i])) state.v[i] = number_of(*value, "v_" + names[i]);
    }
    return state;
}

// `error_estimate` of the case, else of the file: a number, or a map with one in it.
double stated_error(const File& file) {
    for (const YamlNode* place : {file.reference, &file.root}) {
        const YamlNode* estimate = place->kind == YamlNode::Kind::map ? place->find("error_estimate") : nullptr;
        if (!estimate) continue;
        double x = 0;
        if (scalar_number(*estimate, x)) return std::abs(x);
        if (estimate->kind != YamlNode::Kind::map) continue;
        for (const char* key : {"abs", "final_state_abs"})
            if (const YamlNode* value = estimate->find(key); value && scalar_number(*value, x)) return std::abs(x);
        for (const YamlNode& value : estimate->children)
            if (scalar_number(value, x)) return std::abs(x);
    }
    return nan;
}

// Parameters that the file names as the mechanism does, with another value: the commonest way to compare apples with pears.
void compare_parameters(const File& file, const Study& study, StudyReference& info) {
    constexpr std::string_view prefix = "mechanism:";
    if (!study.model.starts_with(prefix)) return;
    const YamlNode* parameters = nullptr;
    for (const YamlNode* place : {file.reference, &file.root})
        if (!parameters && place->kind == YamlNode::Kind::map) parameters = place->find("parameters");
    if (!parameters || parameters->kind != YamlNode::Kind::map) return;
    for (const MechanismEntry& entry : mechanisms()) {
        if (study.model.substr(prefix.size()) != entry.name) continue;
        for (const FieldInfo& field : entry.parameters()) {
            const YamlNode* value = parameters->find(field.name);
            double theirs = 0, ours = 0;
            if (!value || !scalar_number(*value, theirs)) continue;
            std::string text = field.default_text;
            for (const OptionValue& option : study.overrides)
                if (option.key == field.name) text = option.text;
            try {
                ours = parse_number(text, {});
            } catch (const Error&) {
                continue;
            }
            if (std::abs(ours - theirs) > 1e-12 * std::max(std::abs(ours), std::abs(theirs)))
                info.warnings.push_back(
                    fmt::format("the reference has {0} = {1}, the model {2}; --set {0}={1} makes them "
                                "the same",
                                field.name, value->text, text));
        }
    }
}

}  // namespace

std::vector<double> file_times(const Study& study) {
    const File file = open(study);
    std::vector<double> times;
    for (const YamlNode& state : file.states->children) times.push_back(time_of(state));
    std::sort(times.begin(), times.end());
    return times;
}

Solution file_solution(const Study& study, const Model& model, const std::vector<double>& times) {
    const File file = open(study);
    Solution solution;
    solution.info.kind = "file";
    solution.info.origin = study.reference + (file.case_name.empty() ? "" : ", case " + file.case_name);
    solution.info.error = stated_error(file);
    solution.info.error_origin = std::isnan(solution.info.error) ? "not stated in the file" : "stated in the file";
    for (const double t : times) {
        const auto found = std::find_if(
            file.states->children.begin(), file.states->children.end(),
            [&](const YamlNode& state) { return std::abs(time_of(state) - t) <= same_time * std::max(1.0, t); });
        if (found == file.states->children.end())
            throw Error(fmt::format("the reference has no state at t = {} s; it has {}; choose with --end or --at", t,
                                    fmt::join(file_times(study), ", ")),
                        file.states->place());
        solution.at.push_back(read_state(*found, *model.system));
    }
    // Whatever the file says, its numbers are doubles here.
    double scale = 0;
    for (const State& state : solution.at)
        for (const double x : state.q) scale = std::isnan(x) ? scale : std::max(scale, std::abs(x));
    if (solution.info.error < scale * 1e-16) {
        solution.info.error = scale * 1e-16;
        solution.info.error_origin = fmt::format("rounding; {}", solution.info.error_origin);
    }
    const std::vector<std::string> names = model.system->coordinate_names();
    std::vector<std::string> known;
    for (std::size_t i = 0; i < names.size(); ++i)
        if (!std::isnan(solution.at.front().q[static_cast<Eigen::Index>(i)])) known.push_back(names[i]);
    if (known.size() < names.size()) solution.info.compared = known;
    compare_parameters(file, study, solution.info);
    return solution;
}

}  // namespace stickslip::study
