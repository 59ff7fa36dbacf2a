// Rows: key, form, words or map it opens, unit, default (or `required`), text. Kinds of joints stand in the order of
// Scene::Joint::Kind, because the reader counts them.
#include "scene/listing.hpp"

#include <algorithm>

#include "stickslip/error.hpp"

namespace stickslip {

namespace {

using Fields = std::vector<SceneField>;
using enum Form;
using enum SceneRule::Kind;

Fields operator+(Fields a, const Fields& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

const char* const required = "required";

// Of bodies, joints and forces.
Fields copies() {
    return {{"repeat", index, "", "", "one thing", "a template: one copy for each value of an index, see Repetition"},
            {"grid", indices, "", "", "one thing", "the same for several indices, the last running fastest"}};
}

// What all joints have.
Fields ends() {
    return {{"a", body, "", "", required, "first body"},
            {"b", body, "", "", required, "second body; one of the two can move"},
            {"collide", truth, "", "", "false", "whether the two bodies may touch"}};
}

Fields anchor() {
    return {{"at", vector, "", "m", "`at_a` and `at_b`", "where the joint is, in the world at t = 0"},
            {"at_a", vector, "", "m", "`at`", "the same in the frame of a"},
            {"at_b", vector, "", "m", "`at`", "the same in the frame of b"}};
}

std::vector<SceneRule> anchored() {
    return {{not_both, {"at", "at_a"}}, {all_or_none, {"at_a", "at_b"}}, {at_least_one, {"at", "at_a"}}};
}

Fields axis() { return {{"axis", vector, "", "", required, "in the world at t = 0; normalised"}}; }

// What acts on one coordinate of a joint.
Fields drive(const char* motor, const char* unit, const char* force) {
    return {{"start", number, "", unit, "0", "value at t = 0; turns are counted"},
            {"limits", limits, "", unit, "none", "never passed; `.inf` leaves a side open"},
            {"motor", map, motor, "", "none", "holds a speed or follows a position, with bounded force"},
            {"friction", not_negative, "", force, "0", "largest force of dry friction"},
            {"brake", number, "", force, "none", "the same as a formula of t"}};
}
Fields turning() { return drive("turning-motor", "rad", "N m"); }
Fields sliding() { return drive("sliding-motor", "m", "N"); }

Fields motor(const std::string& unit, const char* most, const char* force) {
    return {{"speed", number, "", unit + "/s", "", "formula of t"},
            {"position", number, "", unit, "", "formula of t"},
            {most, not_negative, "", force, "as much as it takes", "largest force"},
            {"time_constant", positive, "", "s", "0.05", "an error of the position falls as exp(-t/time_constant)"}};
}

// name: {kind: {...}} with exactly one of the kinds.
SceneMap kinds_of(const char* name, const Fields& kinds) {
    SceneMap map{name, kinds + copies(), {{one, {}}, {not_both, {"repeat", "grid"}}}};
    for (const SceneField& kind : kinds) map.rules[0].keys.push_back(kind.key);
    return map;
}

std::vector<SceneMap> make_maps() {
    std::vector<SceneMap> maps;
    maps.push_back({"scene",
                    {{"stickslip", number, "", "", required, "version of this format: 1"},
                     {"include", files, "", "", "none", "scene files whose contents belong to this one, see Includes"},
                     {"let", parameters, "", "", "none", "parameters, usable in every number; `--set name=value`"},
                     {"gravity", vector, "", "m/s^2", "[0, 0, -9.81]", "acceleration of free fall"},
                     {"plane", choice, "xy|xz|yz", "", "in space", "bodies keep three degrees of freedom, see below"},
                     {"materials", named, "material", "", "`default` alone", "`default` always exists"},
                     {"contacts", map, "contacts", "", "", "cone of friction, pairs of materials"},
                     {"bodies", named, "body", "", "none", "`ground` always exists and is not listed"},
                     {"joints", named, "joint", "", "none", "what ties bodies together"},
                     {"forces", named, "force", "", "none", "springs, drag and loads"},
                     {"actions", actions, "", "", "none", "what changes at given times"},
                     {"run", map, "run", "", "", "how to compute"}},
                    {}});
    maps.push_back({"material",
                    {{"friction", not_negative, "", "-", "0.5", "of a pair: geometric mean of the two"},
                     {"restitution", fraction, "", "-", "0", "of a pair: maximum of the two"},
                     {"tangential_restitution", fraction, "", "-", "0",
                      "of slip, in Newton's law of impact; of a pair: maximum of the two"}},
                    {}});
    maps.push_back({"contacts",
                    {{"cone", cone, "", "", "disc", "section of the friction cone"},
                     {"pairs", list, "pair", "", "none", "overrides the mixture for two materials"}},
                    {}});
    maps.push_back({"cone", {{"polygon", whole, "", "", required, "number of facets, even, 4 to 1000"}}, {}});
    maps.push_back({"pair",
                    {{"a", material, "", "", required, "one material"},
                     {"b", material, "", "", required, "the other, or the same"},
                     {"friction", not_negative, "", "-", "mixed as usual", "between the two"},
                     {"restitution", fraction, "", "-", "mixed as usual", "between the two"},
                     {"tangential_restitution", fraction, "", "-", "mixed as usual", "between the two"}},
                    {}});
    maps.push_back(
        {"body",
         Fields{{"fixed", truth, "", "", "false",
                 "never moves; needs no mass, may carry half-spaces, cannot have a velocity"},
                {"present", truth, "", "", "true", "false: an action adds it later, see Actions"},
                {"pose", pose, "", "m", "the origin", "body frame in the world at t = 0"},
                {"com", vector, "", "m", "centre of volume of the shapes, else 0", "centre of mass in the body frame"},
                {"mass", positive, "", "kg", "of the density", "a body that moves has `mass` or `density`"},
                {"density", positive, "", "kg/m^3", "of the mass", "fills the shapes (overlaps count twice)"},
                {"inertia", inertia, "", "kg m^2", "of the shapes, uniform",
                 "about the centre of mass, in body axes; needed if there are no shapes"},
                {"shapes", list, "shape", "", "none", "what can touch"},
                {"velocity", vector, "", "m/s", "0", "of the centre of mass, in the world"},
                {"angular_velocity", vector, "", "rad/s", "0", "in the world"}} +
             copies(),
         {{not_both, {"mass", "density"}},
          {at_least_one, {"fixed", "mass", "density"}},
          {not_both, {"repeat", "grid"}}}});
    maps.push_back({"pose",
                    {{"at", vector, "", "m", "0", "position"},
                     {"rpy_deg", vector, "", "deg", "0", "roll about x, then pitch about y, then yaw about z"},
                     {"quaternion", quaternion, "", "", "[1, 0, 0, 0]", "normalised"}},
                    {{not_both, {"rpy_deg", "quaternion"}}}});
    maps.push_back(
        {"shape",
         {{"sphere", positive, "", "m", "", "radius"},
          {"box", positives, "", "m", "", "full lengths of the edges"},
          {"capsule", map, "capsule", "", "", "cylinder along z with half a ball on either end"},
          {"half-space", map, "half-space", "", "", "the points with normal . x <= offset; fixed bodies only"},
          {"material", material, "", "", "`default`", "decides friction and restitution"},
          {"pose", pose, "", "m", "the origin", "of the shape in the body frame"}},
         {{one, {"sphere", "box", "capsule", "half-space"}}}});
    maps.push_back({"capsule",
                    {{"radius", positive, "", "m", required, "of the cylinder and the caps"},
                     {"length", positive, "", "m", required, "between the centres of the two caps"}},
                    {}});
    maps.push_back({"half-space",
                    {{"normal", vector, "", "", required, "points out of the half-space; normalised"},
                     {"offset", number, "", "m", "0", "along the normal"}},
                    {}});

    maps.push_back(kinds_of(
        "joint",
        {{"fixed", map, "fixed-joint", "", "", "leaves nothing free"},
         {"ball", map, "ball-joint", "", "", "leaves three turns"},
         {"revolute", map, "revolute-joint", "", "", "leaves one turn"},
         {"prismatic", map, "prismatic-joint", "", "", "leaves one shift"},
         {"cylindrical", map, "cylindrical-joint", "", "", "leaves one turn and one shift along the same axis"},
         {"universal", map, "universal-joint", "", "", "leaves two turns, about axes at right angles"},
         {"planar", map, "planar-joint", "", "", "leaves two shifts and the turn across them"},
         {"distance", map, "distance-joint", "", "", "keeps the distance of two points, or bounds it"},
         {"point-on-curve", map, "point-on-curve-joint", "", "", "keeps a point of b on a curve of a"},
         {"gear", map, "gear-joint", "", "", "ties the angles of two joints"},
         {"rack-pinion", map, "rack-pinion-joint", "", "", "ties the slide of a joint to the angle of another"}}));
    maps.push_back(
        {"fixed-joint",
         ends() + Fields{{"at", vector, "", "m", "origin of b's frame", "where the joint is, in the world at t = 0"},
                         {"at_a", vector, "", "m", "`at`", "the same in the frame of a"},
                         {"at_b", vector, "", "m", "`at`", "the same in the frame of b"}},
         {{not_both, {"at", "at_a"}}, {all_or_none, {"at_a", "at_b"}}}});
    maps.push_back({"ball-joint", ends() + anchor(), anchored()});
    maps.push_back({"revolute-joint",
                    ends() + anchor() +
                        Fields{{"axis", vector, "", "", "required in space; in a plane its normal",
                                "in the world at t = 0; normalised"}} +
                        turning(),
                    anchored()});
    maps.push_back({"prismatic-joint", ends() + anchor() + axis() + sliding(), anchored()});
    maps.push_back({"cylindrical-joint",
                    ends() + anchor() + axis() +
                        Fields{{"angle", map, "turning", "", "free", "what acts on the turn"},
                               {"slide", map, "sliding", "", "free", "what acts on the shift"}},
                    anchored()});
    maps.push_back({"universal-joint",
                    ends() + anchor() +
                        Fields{{"axis", vector, "", "", required, "of a, in the world at t = 0; normalised"},
                               {"axis_b", vector, "", "", required, "of b, at right angles to `axis`; normalised"},
                               {"first", map, "turning", "", "free", "what acts on the turn about `axis`"},
                               {"second", map, "turning", "", "free", "what acts on the turn about `axis_b`"}},
                    anchored()});
    maps.push_back({"planar-joint", ends() + anchor() + axis(), anchored()});
    Fields distance = sliding();  // no `start`: a length starts as it is
    distance.erase(distance.begin());
    maps.push_back({"distance-joint",
                    ends() +
                        Fields{{"at_a", vector, "", "m", "0", "one end, in the frame of a"},
                               {"at_b", vector, "", "m", "0", "the other end, in the frame of b"},
                               {"length", positive, "", "m", "distance at t = 0, unless something acts on it",
                                "kept between the ends"}} +
                        distance,
                    {}});
    maps.push_back({"point-on-curve-joint",
                    ends() + Fields{{"at", vector, "", "m", "`at_b`", "the point, in the world at t = 0"},
                                    {"at_b", vector, "", "m", "`at`", "the same in the frame of b"},
                                    {"points", points, "", "m", required,
                                     "in the frame of a; the curve is the cubic spline through them"},
                                    {"closed", truth, "", "", "false", "the last point is followed by the first"}},
                    {{one, {"at", "at_b"}}}});
    maps.push_back(
        {"gear-joint",
         {{"first", joint, "", "", required, "revolute or cylindrical joint: its angle is"},
          {"second", joint, "", "", required, "`ratio` times the angle of this one"},
          {"ratio", number, "", "-", required, "not zero; negative for wheels that turn against each other"}},
         {}});
    maps.push_back({"rack-pinion-joint",
                    {{"rack", joint, "", "", required, "prismatic or cylindrical joint: its slide is"},
                     {"pinion", joint, "", "", required, "`radius` times the angle of this one"},
                     {"radius", number, "", "m", required, "not zero"}},
                    {}});
    maps.push_back({"turning", turning(), {}});
    maps.push_back({"sliding", sliding(), {}});
    maps.push_back({"limits",
                    {{"lower", number, "", "m, rad", "none", "least value of the coordinate"},
                     {"upper", number, "", "m, rad", "none", "largest value"},
                     {"restitution", fraction, "", "-", "0", "of an impact at the limit"}},
                    {{at_least_one, {"lower", "upper"}}}});
    maps.push_back({"turning-motor", motor("rad", "max_torque", "N m"), {{one, {"speed", "position"}}}});
    maps.push_back({"sliding-motor", motor("m", "max_force", "N"), {{one, {"speed", "position"}}}});

    maps.push_back(kinds_of(
        "force", {{"spring", map, "spring", "", "", "spring and damper between two bodies"},
                  {"torsion-spring", map, "torsion-spring", "", "", "spring and damper on a joint's coordinate"},
                  {"bushing", map, "bushing", "", "", "six springs and dampers between two bodies"},
                  {"drag", map, "drag", "", "", "resistance of the medium"},
                  {"load", map, "load", "", "", "a force and a torque over time"}}));
    maps.push_back({"torsion-spring",
                    {{"joint", joint, "", "", required, "one with an angle or a slide"},
                     {"coordinate", choice, "angle|slide|first|second", "", "the first one", "of a joint with several"},
                     {"stiffness", not_negative, "", "N m/rad, N/m", "0", "one of stiffness and damping is needed"},
                     {"damping", not_negative, "", "N m s/rad, N s/m", "0", ""},
                     {"rest", number, "", "rad, m", "0", "coordinate at which there is no force"}},
                    {{at_least_one, {"stiffness", "damping"}}}});
    maps.push_back({"bushing",
                    {{"a", body, "", "", required, "first body: carries the axes, those of the world at t = 0"},
                     {"b", body, "", "", required, "second body; one of the two can move"},
                     {"at", vector, "", "m", required, "in the world at t = 0"},
                     {"stiffness", six, "", "N/m, N m/rad", required, "along x, y, z, then about x, y, z"},
                     {"damping", six, "", "N s/m, N m s/rad", "0", "the same"}},
                    {}});
    maps.push_back({"drag",
                    {{"body", body, "", "", required, "one that can move"},
                     {"linear", not_negative, "", "N s/m", "0", "force against the velocity of the centre of mass"},
                     {"quadratic", not_negative, "", "N s^2/m^2", "0", "the same, times the speed"},
                     {"angular", not_negative, "", "N m s/rad", "0", "torque against the angular velocity"}},
                    {{at_least_one, {"linear", "quadratic", "angular"}}}});
    maps.push_back({"spring",
                    {{"a", body, "", "", required, "first body"},
                     {"b", body, "", "", required, "second body; one of the two can move"},
                     {"at_a", vector, "", "m", "0", "one end, in the frame of a"},
                     {"at_b", vector, "", "m", "0", "the other end, in the frame of b"},
                     {"stiffness", not_negative, "", "N/m", "0", "one of stiffness and damping is needed"},
                     {"damping", not_negative, "", "N s/m", "0", "along the line between the ends"},
                     {"length", not_negative, "", "m", "distance at t = 0", "unloaded"}},
                    {{at_least_one, {"stiffness", "damping"}}}});
    maps.push_back(
        {"load",
         {{"body", body, "", "", required, "one that can move"},
          {"at", vector, "", "m", "centre of mass", "where the force acts, in the body frame"},
          {"force", formulas, "", "N", "0", "in world axes"},
          {"torque", formulas, "", "N m", "0", "in world axes"},
          {"table", table, "", "s, N", "", "instead of `force`; times increase; the end values hold outside"},
          {"interpolation", choice, "linear|step", "", "linear",
           "between rows; with `step` a row holds until the next"},
          {"from", number, "", "s", "always", "acts for from <= t < until; steps end there exactly"},
          {"until", number, "", "s", "always", ""}},
         {{not_both, {"force", "table"}}, {at_least_one, {"force", "torque", "table"}}}});

    const Fields at{{"at", not_negative, "", "s", required, "steps end there exactly"}};
    maps.push_back({"action-add",
                    at + Fields{{"add", body, "", "", required, "one that is not there"},
                                {"pose", pose, "", "m", "as declared", "body frame in the world then"},
                                {"velocity", vector, "", "m/s", "as declared", "of the centre of mass"},
                                {"angular_velocity", vector, "", "rad/s", "as declared", "in the world"}},
                    {}});
    maps.push_back({"action-remove",
                    at + Fields{{"remove", body, "", "", required,
                                 "it keeps its place in `q` and `v` and rests; its joints and springs are cut"}},
                    {}});
    maps.push_back({"action-attach",
                    at + Fields{{"attach", attached, "", "", required,
                                 "a new joint; its name may be that of a joint that was cut"}},
                    {}});
    maps.push_back({"action-cut",
                    at + Fields{{"cut", joint, "", "", required,
                                 "a joint or spring, gone for good; gears and torsion springs go with their joint"}},
                    {}});
    maps.push_back({"action-drive",
                    at + Fields{{"drive", joint, "", "", required, "what is given changes, the rest stays"},
                                {"coordinate", choice, "angle|slide|first|second|length", "", "the only one",
                                 "of a joint with several"},
                                {"speed", number, "", "rad/s, m/s", "as before", "formula of t"},
                                {"position", number, "", "rad, m", "as before", "formula of t"},
                                {"max_torque", not_negative, "", "N m", "as before", "of a joint that turns"},
                                {"max_force", not_negative, "", "N", "as before", "of a joint that slides"},
                                {"time_constant", positive, "", "s", "as before", "of a position"},
                                {"friction", not_negative, "", "N m, N", "as before", "largest force of dry friction"},
                                {"brake", number, "", "N m, N", "as before", "formula of t"}},
                    {{not_both, {"speed", "position"}}}});

    maps.push_back({"run",
                    {{"scheme", scheme, "", "", "moreau-jean", "`stickslip list schemes`"},
                     {"solver", solver, "", "", "auto", "`stickslip list solvers`"},
                     {"policy", choice, "certify|budget", "", "certify",
                      "refuse steps above the tolerance, or accept and state the residual"},
                     {"step", positive, "", "s", "of the scheme", "may stand among the options of the scheme instead"},
                     {"end", positive, "", "s", "1", "end of the run"},
                     {"record", map, "record", "", "every step, no CSV", "what is written"}},
                    {}});
    maps.push_back({"record",
                    {{"every", positive, "", "s", "every step", "time between samples"},
                     {"csv", truth, "", "", "false", "whether a table for spreadsheets is written as well"}},
                    {}});
    return maps;
}

}  // namespace

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
    static const std::vector<SceneMap> maps = make_maps();
    return maps;
}

const SceneMap& scene_map(std::string_view name) {
    const std::vector<SceneMap>& maps = scene_maps();
    const auto found = std::find_if(maps.begin(), maps.end(), [&](const SceneMap& m) { return m.name == name; });
    SS_ASSERT(found != maps.end(), "a map that listing.cpp does not know");
    return *found;
}

}  // namespace stickslip
