// Actions and the run: key, form, words or map, unit, default, text, member.
#include "base/fields.hpp"
#include "scene/listing.hpp"

namespace stickslip {

namespace {

using Fields = SceneFields;
using enum Form;
using enum SceneRule::Kind;
using Budget = Scene::Budget;
using Record = Scene::Record;
using Run = Scene::Run;

const char* const required = "required";
const char* const as_before = "as before";

SceneMap action(const char* verb, const Fields& fields, std::vector<SceneRule> rules = {}) {
    return {std::string("action-") + verb,
            Fields{{"at", not_negative, "", "s", required, "steps end there exactly", at(&Scene::Action::at)}} + fields,
            std::move(rules)};
}

SceneMap driving() {
    return action(
        "drive",
        {{"drive", joint, "", "", required, "what is given changes, the rest stays"},
         {"coordinate", choice, "angle|slide|first|second|length", "", "the only one", "of a joint with several"},
         {"speed", number, "", "rad/s, m/s", as_before, "formula of t", at(&Edit::speed)},
         {"position", number, "", "rad, m", as_before, "formula of t", at(&Edit::position)},
         {"max_torque", not_negative, "", "N m", as_before, "of a joint that turns", at(&Edit::max_effort)},
         {"max_force", not_negative, "", "N", as_before, "of a joint that slides", at(&Edit::max_effort)},
         {"time_constant", positive, "", "s", as_before, "of a position", at(&Edit::time_constant)},
         {"friction", not_negative, "", "N m, N", as_before, "largest force of dry friction", at(&Edit::friction)},
         {"brake", number, "", "N m, N", as_before, "formula of t", at(&Edit::brake)}},
        {{not_both, {"speed", "position"}}});
}

// Read and written by hand: what is given stays text, as the options of a scheme.
SceneMap tolerances() {
    SceneMap listed{"tolerances", {}, {}};
    for (const FieldInfo& field : list_fields<Scales>())
        listed.fields.push_back({field.name, positive, "", field.unit, "from the bodies", field.help});
    for (const FieldInfo& field : list_fields<Tolerances>())
        listed.fields.push_back(
            {field.name, positive, "", field.unit, field.default_text + " at scales of 1", field.help});
    return listed;
}

}  // namespace

void list_actions(SceneMaps& maps) {
    const char* declared = "as declared";
    maps.push_back(action(
        "add", {{"add", body, "", "", required, "one that is not there"},
                {"pose", pose, "", "m", declared, "body frame in the world then", at(&Edit::pose)},
                {"velocity", vector, "", "m/s", declared, "of the centre of mass", at(&Edit::velocity)},
                {"angular_velocity", vector, "", "rad/s", declared, "in the world", at(&Edit::angular_velocity)}}));
    maps.push_back(action("remove", {{"remove", body, "", "", required,
                                      "it keeps its place in `q` and `v` and rests; its joints and springs are cut"}}));
    maps.push_back(action("attach", {{"attach", attached, "", "", required,
                                      "a new joint; its name may be that of a joint that was cut"}}));
    maps.push_back(
        action("cut", {{"cut", joint, "", "", required,
                        "a joint or spring, gone for good; gears and torsion springs go with their joint"}}));
    maps.push_back(driving());
    maps.push_back(
        {"run",
         {{"scheme", scheme, "", "", "moreau-jean", "`stickslip list schemes`"},
          {"solver", solver, "", "", "auto", "`stickslip list solvers`"},
          {"tolerances", map, "tolerances", "", "in proportion to the bodies",
           "what counts as closed, at rest or rounding; `stickslip check --tolerances` prints them"},
          {"policy", choice, "degrade|certify|budget", "", "degrade",
           "what becomes of steps that cannot be certified: sub-steps, then taken and listed; refused; or taken "
           "as a fixed amount of work leaves them",
           at(&Run::policy)},
          {"budget", map, "budget", "", "none", "what a step may cost, with `policy: budget`"},
          {"step", positive, "", "s", "of the scheme", "may stand among the options of the scheme instead"},
          {"end", positive, "", "s", "1", "end of the run", at(&Run::end)},
          {"record", map, "record", "", "every step, no CSV", "what is written"}},
         {}});
    maps.push_back(tolerances());
    maps.push_back({"budget",
                    {{"ms", positive, "", "ms", "none",
                      "processor time of a step; the result then depends on the machine", at(&Budget::ms)},
                     {"factorisations", whole, "", "", "none",
                      "of each solve, at least 1; the same bits on every machine", at(&Budget::factorisations)}},
                    {}});
    maps.push_back(
        {"record",
         {{"every", positive, "", "s", "every step", "time between samples", at(&Record::every)},
          {"csv", truth, "", "", "false", "whether a table for spreadsheets is written as well", at(&Record::csv)}},
         {}});
}

}  // namespace stickslip
