#include "summary_text.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "stickslip/files.hpp"
#include "stickslip/threads.hpp"

namespace stickslip::cli {

namespace {

using Json = nlohmann::ordered_json;

Json array(const VecX& x) {
    Json list = Json::array();
    for (Eigen::Index i = 0; i < x.size(); ++i) list.push_back(x[i]);
    return list;
}

Json event_json(const System& system, const Event& event) {
    Json json{{"t", event.t}, {"kind", to_string(event.kind)}};
    if (event.kind == EventKind::load_switch) {
        json["who"] = "load";
        return json;
    }
    if (event.kind == EventKind::method_switch) {
        json["who"] = event.contact == no_contact ? "none" : system.who(event);
        json["reason"] = to_string(event.reason);
        return json;
    }
    json["who"] = system.who(event);
    if (is_edit(event.kind)) {
        if (event.impulse > 0) json["impulse"] = event.impulse;
        return json;
    }
    json["before"] = to_string(event.before);
    json["after"] = to_string(event.after);
    json["normal_speed_before"] = event.normal_speed_before;
    json["normal_speed_after"] = event.normal_speed_after;
    json["impulse"] = event.impulse;
    return json;
}

// How often the hybrid scheme changed its method, and why: "7 changes of method: 3 impacts, ...".
std::string switches_text(const RunSummary& s) {
    long sum = 0;
    std::vector<std::string> reasons;
    for (std::size_t i = 0; i < s.switches.size(); ++i) {
        if (s.switches[i] == 0) continue;
        sum += s.switches[i];
        const auto reason = static_cast<SwitchReason>(i);
        const bool back = reason == SwitchReason::open || reason == SwitchReason::closed;
        reasons.push_back(
            fmt::format("{} {} ({})", s.switches[i], to_string(reason), back ? "back" : "to time-stepping"));
    }
    if (sum == 0) return {};
    return fmt::format("{} between events and time-stepping: {}", sum, fmt::join(reasons, ", "));
}

const char* end_word(RunEnd end) {
    switch (end) {
        case RunEnd::finished: return "finished";
        case RunEnd::refused: return "refused";
        case RunEnd::interrupted: return "interrupted";
    }
    return "?";
}

Json verdict_json(const Verdict& verdict) {
    Json grounds = Json::array();
    for (const Verdict::Ground& ground : verdict.grounds)
        grounds.push_back({{"kind", ground.kind}, {"value", ground.value}, {"limit", ground.limit}});
    return {{"status", to_string(verdict.status)},
            {"reasons", verdict.reasons},
            {"grounds", grounds},
            {"remarks", verdict.remarks}};
}

Json uncertified_json(const RunSummary& s) {
    Json listed = Json::array();
    for (const UncertifiedStep& step : s.uncertified.listed)
        listed.push_back({{"t", step.t},
                          {"step", step.step},
                          {"residual", step.residual},
                          {"tol", step.tol},
                          {"action", step.action()},
                          {"substeps", step.substeps},
                          {"compliance", step.compliance},
                          {"solver", step.solver},
                          {"contacts", step.contacts},
                          {"who", step.who}});
    return {{"steps", s.uncertified.steps}, {"listed", std::move(listed)}};
}

// "t = 0.125 s, step 32: residual 0.0012 m/s, allowed 1e-09; best point of nsgs; 4 contacts: floor/box:f0/v1, ..."
std::string uncertified_text(const UncertifiedStep& step) {
    std::string text = fmt::format("t = {:.6g} s, {}: residual {:.3g} m/s, allowed {:.3g}; {} of {}", step.t,
                                   step.step > 0 ? fmt::format("step {}", step.step) : std::string("impact of an edit"),
                                   step.residual, step.tol, step.action(), step.solver);
    if (step.contacts == 0) return text;
    text += fmt::format("; {} contact{}", step.contacts, step.contacts > 1 ? "s" : "");
    if (step.who.empty()) return text;
    return fmt::format("{}: {}{}", text, fmt::join(step.who, ", "),
                       std::ssize(step.who) < step.contacts ? ", ..." : "");
}

// Who answered for the islands of the run: a line for each rung that did.
std::string ladder_text(const RunSummary& s) {
    const long all = std::accumulate(s.ladder.begin(), s.ladder.end(), 0L);
    if (all == 0) return {};
    std::string text = "  ladder       rung                islands    share\n";
    for (std::size_t i = 0; i < s.ladder.size(); ++i)
        if (s.ladder[i] > 0)
            text += fmt::format("               {:<19} {:<10} {:.3g} %\n", to_string(static_cast<Rung>(i)), s.ladder[i],
                                100.0 * static_cast<double>(s.ladder[i]) / static_cast<double>(all));
    return text;
}

Json times_json(const RunSummary::Times& ms) {
    return {{"mean", ms.mean}, {"p50", ms.p50}, {"p99", ms.p99}, {"max", ms.max}};
}

// Reasons of the verdict stand among the warnings with this word before them.
bool is_reason(const std::string& warning) { return warning.starts_with("doubtful: "); }

}  // namespace

std::string summary_json(const Simulation& simulation, const RunSummary& s) {
    const System& system = *simulation.model().system;
    Json json;
    json["model"] = s.model;
    json["scheme"] = s.scheme;
    json["solver"] = s.solver;
    json["cone"] = s.cone;
    json["policy"] = s.policy;
    json["impact_law"] = s.impact_law;
    if (const StepBudget& budget = simulation.model().run.budget; budget.limited()) {
        json["budget"] = Json::object();
        if (budget.ms) json["budget"]["ms"] = *budget.ms;
        if (budget.factorisations) json["budget"]["factorisations"] = *budget.factorisations;
    }
    json["end"] = end_word(s.end);
    if (!s.reason.empty()) json["reason"] = s.reason;
    if (!s.refused_problem.empty()) json["capsule"] = s.refused_problem;
    if (s.end == RunEnd::refused) json["refused_residual"] = s.refused_residual;
    json["verdict"] = verdict_json(s.verdict);
    json["t"] = s.t;
    json["q"] = array(s.q);
    json["v"] = array(s.v);
    json["v_weighted"] = array(s.v_weighted);
    json["steps"] = s.steps;
    json["rejected"] = s.rejected;
    json["wall_s"] = s.wall_s;
    json["step_ms"] = times_json(s.step_ms);
    json["step_cpu_ms"] = times_json(s.step_cpu_ms);
    json["shared_cpu_s"] = shared_time();
    json["residual"] = {{"max", s.residual.max}, {"mean", s.residual.mean}};
    json["certified"] = s.certified;
    json["uncertified"] = uncertified_json(s);
    json["substepped"] = s.substepped;
    json["ladder"] = Json::object();
    for (std::size_t i = 0; i < s.ladder.size(); ++i)
        if (s.ladder[i] > 0) json["ladder"][to_string(static_cast<Rung>(i))] = s.ladder[i];
    json["deterministic"] = s.deterministic;
    json["gap_violation_max"] = s.gap_violation_max;
    json["joint_violation"] = {{"position_max", s.joint_violation.position_max},
                               {"velocity_max", s.joint_violation.velocity_max}};
    json["energy"] = {{"kinetic", s.energies.kinetic},      {"potential", s.energies.potential},
                      {"elastic", s.energies.elastic},      {"applied_work", s.flows.applied_work},
                      {"motor_work", s.flows.motor_work},   {"friction_loss", s.flows.friction_loss},
                      {"impact_loss", s.flows.impact_loss}, {"regularisation_loss", s.flows.regularisation_loss},
                      {"scheme_loss", s.flows.scheme_loss}, {"edits", s.flows.edits},
                      {"imbalance", s.imbalance},           {"scale", s.energy_scale}};
    json["contacts"] = {{"mean", s.contacts.mean}, {"max", s.contacts.max}};
    json["event_count"] = s.event_count;
    json["method_switches"] = Json::object();
    for (std::size_t i = 0; i < s.switches.size(); ++i)
        if (s.switches[i] > 0) json["method_switches"][to_string(static_cast<SwitchReason>(i))] = s.switches[i];
    json["events"] = Json::array();
    for (const Event& event : s.events) json["events"].push_back(event_json(system, event));
    json["redundant"] = s.redundant;
    json["not_unique"] = s.not_unique;
    json["variation"] = {{"v", s.variation.v}, {"v_weighted", s.variation.v_weighted}};
    json["impact_gains"] = {{"count", s.impact_gains.count}, {"energy", s.impact_gains.energy}};
    json["energy_bound_violations"] = s.energy_bound_violations;
    json["unlocated_events"] = s.unlocated_events;
    json["paradox_steps"] = s.paradox_steps;
    json["warnings"] = s.warnings;
    json["hash"] = s.hash;
    json["bodies"] = Json::object();
    const std::vector<std::string> names = system.body_names();
    for (std::size_t b = 0; b < names.size(); ++b) {
        const BodyState body = system.body_state(static_cast<int>(b), s.q, s.v);
        const Vec3& x = body.pose.position;
        const Quat& a = body.pose.attitude;
        json["bodies"][names[b]] = {
            {"pose", {x.x(), x.y(), x.z(), a.w(), a.x(), a.y(), a.z()}},
            {"velocity",
             {body.velocity.x(), body.velocity.y(), body.velocity.z(), body.angular_velocity.x(),
              body.angular_velocity.y(), body.angular_velocity.z()}}};
    }
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);  // names may be no UTF-8
}

std::string summary_text(const Simulation& simulation, const RunSummary& s) {
    const System& system = *simulation.model().system;
    std::string text;
    const auto line = [&](const char* name, const std::string& value) {
        text += fmt::format("  {:<12} {}\n", name, printable(value));
    };
    text += fmt::format("{} {} at t = {:.6g} s\n", printable(s.model), end_word(s.end), s.t);
    line("verdict", to_string(s.verdict.status));
    for (const std::string& reason : s.verdict.reasons) line("", reason);
    line("scheme", fmt::format("{}, solver {}, cone {}, policy {}", s.scheme, s.solver, s.cone, s.policy));
    line("steps", fmt::format("{} ({} solves) in {:.3g} s, {:.3g} ms each (p99 {:.3g})", s.steps, s.solves, s.wall_s,
                              s.step_ms.mean, s.step_ms.p99));
    line("residual", fmt::format("max {:.2e} m/s, mean {:.2e}: {}", s.residual.max, s.residual.mean,
                                 s.steps == 0  ? std::string("no step was taken")
                                 : s.certified ? std::string("every step certified")
                                               : fmt::format("{} of {} steps certified", s.certified_steps, s.steps)));
    constexpr std::size_t shown = 3;
    const auto& listed = s.uncertified.listed;
    for (std::size_t i = 0; i < std::min(shown, listed.size()); ++i)
        line(i == 0 ? "uncertified" : "", uncertified_text(listed[i]));
    if (s.uncertified.steps > static_cast<long>(shown))
        line("", fmt::format("and {} more; --json and the page of the run list them",
                             s.uncertified.steps - static_cast<long>(shown)));
    if (s.substepped > 0) line("sub-steps", fmt::format("{} steps were certified in sub-steps", s.substepped));
    line("drift", fmt::format("overlap {:.2e} m, joints {:.2e} m, {:.2e} m/s", s.gap_violation_max,
                              s.joint_violation.position_max, s.joint_violation.velocity_max));
    line("energy", fmt::format("kinetic {:.6g}, potential {:.6g}, elastic {:.6g} J", s.energies.kinetic,
                               s.energies.potential, s.energies.elastic));
    line("", fmt::format("applied {:+.6g}, motors {:+.6g}, friction {:+.6g}, impacts {:+.6g}, stabilisation {:+.6g}, "
                         "scheme {:+.3g} J",
                         s.flows.applied_work, s.flows.motor_work, 0 - s.flows.friction_loss, 0 - s.flows.impact_loss,
                         0 - s.flows.regularisation_loss, 0 - s.flows.scheme_loss));
    if (s.flows.edits != 0) line("", fmt::format("edits {:+.6g} J", s.flows.edits));
    line("", fmt::format("imbalance {:.1e} J of {:.3g} J", s.imbalance, s.energy_scale));
    line("contacts", fmt::format("mean {:.3g}, max {}; {} events", s.contacts.mean, s.contacts.max, s.event_count));
    if (const std::string switches = switches_text(s); !switches.empty()) line("switches", switches);
    // Where v tells something else than v_weighted: a jump is the same variation in both, swings from step to step are not.
    if (s.variation.v > 1.2 * s.variation.v_weighted + 1e-9)
        line("variation", fmt::format("{:.4g} of v, {:.4g} of v_weighted, the velocity that converges", s.variation.v,
                                      s.variation.v_weighted));
    if (s.energy_bound_violations > 0)
        line("energy bound",
             fmt::format("in {} solves contacts or joints added energy to v_weighted: there the kinetic energy is not "
                         "bounded by the work of the loads",
                         s.energy_bound_violations));
    const std::vector<std::string> names = system.coordinate_names();
    std::string state;
    for (std::size_t i = 0; i < names.size() && i < 7; ++i)
        state += fmt::format("{}{} {:.9g}", i ? ", " : "", names[i], s.q[static_cast<Eigen::Index>(i)]);
    line("state", state + (names.size() > 7 ? ", ..." : ""));
    line("hash", s.hash);
    for (const std::string& remark : s.verdict.remarks) line("remark", remark);
    for (const std::string& warning : s.warnings)
        if (!is_reason(warning)) line("warning", warning);
    return text;
}

std::string profile_text(const RunSummary& s) {
    static const char* names[] = {"find", "fill", "solve", "advance", "book"};
    double sum = 0;
    for (const double x : s.timers.seconds) sum += x;
    std::string text = "  profile      part       seconds    us/step   share\n";
    for (int i = 0; i < StepTimers::arrows; ++i)
        text += fmt::format("               {:<10} {:<10.3g} {:<9.3g} {:.0f} %\n", names[i], s.timers.seconds[i],
                            1e6 * s.timers.seconds[i] / static_cast<double>(std::max(1L, s.steps)),
                            sum > 0 ? 100 * s.timers.seconds[i] / sum : 0.0);
    const auto times = [&](const char* name, const RunSummary::Times& ms) {
        text += fmt::format("  {:<12} {:<10.3g} {:<10.3g} {:<10.3g} {:.3g}\n", name, ms.mean, ms.p50, ms.p99, ms.max);
    };
    text += "  step [ms]    mean       median     99 %       longest\n";
    times("wall", s.step_ms);
    times("processor", s.step_cpu_ms);
    return text + ladder_text(s);
}

}  // namespace stickslip::cli
