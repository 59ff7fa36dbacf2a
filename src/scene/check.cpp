// The audit of a model: reads and builds it, asks each part for its findings, and takes the first step.
#include "scene/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <tuple>

#include "base/fields.hpp"

namespace stickslip {

namespace {

// One step, judged as a run judges it.
void check_first_step(Model model, Audit& audit) {
    const double step = run_step(model.run);
    model.run.end = model.state.t + std::min(step, model.run.end);
    const RunSummary summary = Simulation(std::move(model)).run();
    if (summary.end == RunEnd::refused)
        audit.findings.push_back({Severity::error,
                                  "first-step",
                                  "the first step is refused: " + summary.reason,
                                  "mend what the other findings name; `stickslip run` stores the problem for `solve`",
                                  {},
                                  {}});
    else if (!summary.certified)
        audit.findings.push_back(
            {Severity::note,
             "first-step",
             fmt::format(
                 "the first step cannot be certified: it leaves a residual of {:.3g} m/s; the policy `{}` takes it",
                 summary.residual.max, summary.policy),
             "use the policy certify to have such steps refused",
             {},
             {}});
}

// The step, and the order: what is worse first, then by the lines of the file.
void finish(Model model, Audit& audit) {
    audit.tolerances = run_tolerances(model);
    check_first_step(std::move(model), audit);
    const auto key = [](const Finding& f) {
        return std::tuple(f.severity, f.place.line > 0 ? f.place.line : std::numeric_limits<int>::max(),
                          f.place.column);
    };
    std::stable_sort(audit.findings.begin(), audit.findings.end(),
                     [&](const Finding& a, const Finding& b) { return key(a) < key(b); });
}

}  // namespace

double run_step(const RunSettings& run) {
    for (const OptionValue& option : run.scheme.options)
        if (option.key == "step") return parse_number(option.text, option.place);
    for (const SchemeEntry& entry : schemes())
        if (run.scheme.name == entry.name)
            for (const FieldInfo& field : entry.options())
                if (field.name == "step") return parse_number(field.default_text, {});
    return 1e-3;
}

const char* to_string(Severity severity) {
    switch (severity) {
        case Severity::error: return "error";
        case Severity::warning: return "warning";
        case Severity::note: return "note";
    }
    return "?";
}

int Audit::count(Severity severity) const {
    return static_cast<int>(
        std::count_if(findings.begin(), findings.end(), [&](const Finding& f) { return f.severity == severity; }));
}

std::string enumeration(const std::vector<std::string>& names) {
    constexpr std::size_t most = 8;
    std::string text;
    for (std::size_t i = 0; i < names.size() && i < most; ++i) {
        const bool last = i + 1 == names.size();
        text += (i == 0 ? "" : last ? " and " : ", ") + names[i];
    }
    if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
    return text;
}

Audit check_scene(const Scene& scene) {
    Audit audit;
    Model model = build_model(scene);
    const auto& system = dynamic_cast<const MultibodySystem&>(*model.system);
    audit.model = std::filesystem::path(scene.file).stem().string();
    check_units(scene, system.model(), audit);
    check_inertia(scene, system.model(), audit);
    check_limits(scene, audit);
    check_step_size(scene, system.model(), model.run, audit);
    check_unused(scene, audit);
    check_rows(&scene, model, audit);
    finish(std::move(model), audit);
    return audit;
}

Audit check_model(const std::string& spec, const OptionValues& overrides) {
    if (!spec.starts_with("mechanism:")) return check_scene(read_scene(scene_file(spec), overrides));
    Audit audit;
    Model model = load_model(spec, overrides);
    audit.model = model.name;
    check_rows(nullptr, model, audit);
    finish(std::move(model), audit);
    return audit;
}

}  // namespace stickslip
