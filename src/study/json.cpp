// Studies as JSON: the fields of include/stickslip/study.hpp under their names; what is not known is null.
#include <cmath>
#include <nlohmann/json.hpp>

#include "study/tables.hpp"

namespace stickslip {

namespace {

using Json = nlohmann::ordered_json;  // NaN is written as null
using namespace study;                // NOLINT: the parts of this layer

Json reference_json(const StudyReference& r) {
    return {{"kind", r.kind},
            {"known", r.known},
            {"origin", r.origin},
            {"error", r.error},
            {"error_origin", r.error_origin},
            {"compared", r.compared},
            {"warnings", r.warnings}};
}

Json row_json(const StudyRow& row, const Convergence& study) {
    Json json{{setting_name(study.setting), row.value}, {"finished", row.finished}};
    if (!row.finished) json["reason"] = row.reason;
    json["error"] = {
        {"q", row.q}, {"q_max", row.q_max}, {"v", row.v}, {"v_max", row.v_max}, {"v_weighted", row.v_weighted}};
    json["ratio"] = row.ratio;
    json["order"] = {{"q", row.order}, {"v", row.order_v}, {"v_weighted", row.order_v_weighted}};
    json["fitted"] = row.fitted;
    Json at = Json::array();
    for (const StudyError& e : row.at)
        at.push_back({{"t", e.t},
                      {"q", e.q},
                      {"q_max", e.q_max},
                      {"v", e.v},
                      {"v_max", e.v_max},
                      {"t_weighted", e.t_weighted},
                      {"v_weighted", e.v_weighted}});
    json["at"] = std::move(at);
    json["joint_violation"] = {{"max", row.joint_max}, {"rows", row.joints}};
    json["drift"] = {{"g_max", row.drift_g_max}, {"dg_max", row.drift_dg_max}};
    json["drift_g"] = row.drift_g;
    json["drift_dg"] = row.drift_dg;
    json["speed_max"] = row.speed_max;
    json["gap_min"] = row.gap_min;
    json["step_mean"] = row.step_mean;
    json["impacts"] = row.impacts;
    json["events"] = row.events;
    json["steps"] = row.steps;
    json["rejected"] = row.rejected;
    json["solves"] = row.solves;
    json["wall_s"] = row.wall_s;
    json["warnings"] = row.warnings;
    return json;
}

Json scheme_json(const Convergence& study) {
    Json json{{"scheme", study.scheme}, {"label", study.label}, {"solver", study.solver}};
    json["order"] = {{"q", study.order}, {"v", study.order_v}, {"v_weighted", study.order_v_weighted}};
    json["rows"] = Json::array();
    for (const StudyRow& row : study.rows) json["rows"].push_back(row_json(row, study));
    return json;
}

Json head_json(const Convergence& study) {
    return {{"model", study.model},
            {"setting", study.setting},
            {"times", study.times},
            {"joints", study.joint_names},
            {"reference", reference_json(study.reference)}};
}

}  // namespace

std::string study_json(const Convergence& study) {
    Json json = head_json(study);
    json.update(scheme_json(study));
    return json.dump(1);
}

std::string study_json(const Comparison& study) {
    Json json = head_json(study.schemes.front());
    json["schemes"] = Json::array();
    for (const Convergence& scheme : study.schemes) json["schemes"].push_back(scheme_json(scheme));
    return json.dump(1);
}

}  // namespace stickslip
