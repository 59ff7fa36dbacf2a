// Joints and what acts on their coordinates: key, form, words or map, unit, default, text, member. The keys of a kind of joint follow
// from its entry in the table of joints (model/joints/table.cpp); own_keys() has those that no other kind has.
#include "model/joints/joint.hpp"
#include "scene/listing.hpp"

namespace stickslip {

namespace {

using Fields = SceneFields;
using enum Form;
using enum SceneRule::Kind;
using SceneDrive = Scene::Drive;
using SceneMotor = Scene::Drive::Motor;
using SceneJoint = Scene::Joint;

const char* const required = "required";

Fields ends() {
    return {{"a", body, "", "", required, "first body", at(&SceneJoint::a)},
            {"b", body, "", "", required, "second body; one of the two can move", at(&SceneJoint::b)},
            {"collide", truth, "", "", "false", "whether the two bodies may touch", at(&SceneJoint::collide)}};
}

Fields anchor(JointKind::Anchor kind) {
    const auto in_world = [](const char* without, const char* text) {
        return Fields{{"at", vector, "", "m", without, text, at(&SceneJoint::at)}};
    };
    const auto in_a = [](const char* without, const char* text) {
        return Fields{{"at_a", vector, "", "m", without, text, at(&SceneJoint::at_a)}};
    };
    const auto in_b = [](const char* without, const char* text) {
        return Fields{{"at_b", vector, "", "m", without, text, at(&SceneJoint::at_b)}};
    };
    const Fields in_bodies = in_a("`at`", "the same in the frame of a") + in_b("`at`", "the same in the frame of b");
    const char* where = "where the joint is, in the world at t = 0";
    switch (kind) {
        case JointKind::Anchor::point: return in_world("`at_a` and `at_b`", where) + in_bodies;
        case JointKind::Anchor::frame: return in_world("origin of b's frame", where) + in_bodies;
        case JointKind::Anchor::ends:
            return in_a("0", "one end, in the frame of a") + in_b("0", "the other end, in the frame of b");
        case JointKind::Anchor::curve:
            return in_world("`at_b`", "the point, in the world at t = 0") + in_b("`at`", "the same in the frame of b");
        case JointKind::Anchor::none: break;
    }
    return {};
}

std::vector<SceneRule> anchored(JointKind::Anchor kind) {
    std::vector<SceneRule> rules{{not_both, {"at", "at_a"}},
                                 {not_both, {"at", "at_b"}},
                                 {all_or_none, {"at_a", "at_b"}, "needs both 'at_a' and 'at_b', or 'at'"}};
    switch (kind) {
        case JointKind::Anchor::point:
            rules.push_back({at_least_one,
                             {"at", "at_a"},
                             "needs the key 'at' (in the world), or 'at_a' and 'at_b' (in the bodies)"});
            return rules;
        case JointKind::Anchor::frame: return rules;
        case JointKind::Anchor::curve:
            return {{one, {"at", "at_b"}, "needs the key 'at' (in the world) or 'at_b' (in the frame of b)"}};
        default: return {};
    }
}

Fields axes(JointKind::Axes kind) {
    const auto axis = [](const char* without, const char* text) {
        return Fields{{"axis", direction, "", "", without, text, at(&SceneJoint::axis)}};
    };
    const char* normalised = "in the world at t = 0; normalised";
    switch (kind) {
        case JointKind::Axes::none: break;
        case JointKind::Axes::turn: return axis("required in space; in a plane its normal", normalised);
        case JointKind::Axes::slide: return axis(required, normalised);
        case JointKind::Axes::pair:
            return axis(required, "of a, in the world at t = 0; normalised") +
                   Fields{{"axis_b", direction, "", "", required, "of b, at right angles to `axis`; normalised",
                           at(&SceneJoint::axis_b)}};
    }
    return {};
}

// Keys that one kind of joint alone has.
Fields own_keys(std::string_view kind) {
    if (kind == "distance")
        return {{"length", positive, "", "m", "distance at t = 0, unless something acts on it", "kept between the ends",
                 at(&SceneJoint::length)}};
    if (kind == "point-on-curve")
        return {{"points", points, "", "m", required, "in the frame of a; the curve is the cubic spline through them",
                 at(&SceneJoint::points)},
                {"closed", truth, "", "", "false", "the last point is followed by the first", at(&SceneJoint::closed)}};
    if (kind == "gear")
        return {
            {"first", joint, "", "", required, "revolute or cylindrical joint: its angle is", at(&SceneJoint::first)},
            {"second", joint, "", "", required, "`ratio` times the angle of this one", at(&SceneJoint::second)},
            {"ratio", not_zero, "", "-", required, "not zero; negative for wheels that turn against each other",
             at(&SceneJoint::ratio)}};
    if (kind == "rack-pinion")
        return {
            {"rack", joint, "", "", required, "prismatic or cylindrical joint: its slide is", at(&SceneJoint::first)},
            {"pinion", joint, "", "", required, "`radius` times the angle of this one", at(&SceneJoint::second)},
            {"radius", not_zero, "", "m", required, "not zero", at(&SceneJoint::ratio)}};
    if (kind == "screw")
        return {{"pitch", not_zero, "", "m", required, "way along `axis` per turn; negative for a left-handed thread",
                 at(&SceneJoint::pitch)}};
    return {};
}

// What acts on one coordinate of a joint.
Fields drive(const char* motor, const char* unit, const char* force) {
    return {{"start", number, "", unit, "0", "value at t = 0; turns are counted", at(&SceneDrive::start)},
            {"limits", limits, "", unit, "none", "never passed; `.inf` leaves a side open"},
            {"motor", map, motor, "", "none", "holds a speed or follows a position, with bounded force"},
            {"friction", not_negative, "", force, "0", "largest force of dry friction", at(&SceneDrive::friction)},
            {"brake", number, "", force, "none", "the same as a formula of t; off where that is negative", at(&SceneDrive::brake)}};
}
Fields turning() { return drive("turning-motor", "rad", "N m"); }
Fields sliding() { return drive("sliding-motor", "m", "N"); }

SceneMap motor(const char* name, const std::string& unit, const char* most, const char* force) {
    return {name,
            {{"speed", number, "", unit + "/s", "", "formula of t", at(&SceneMotor::speed)},
             {"position", number, "", unit, "", "formula of t", at(&SceneMotor::position)},
             {most, not_negative, "", force, "as much as it takes", "largest force", at(&SceneMotor::max_effort)},
             {"time_constant", positive, "", "s", "0.05", "an error of the position falls as exp(-t/time_constant)",
              at(&SceneMotor::time_constant)}},
            {{one, {"speed", "position"}}, {belongs, {"time_constant", "position"}}}};
}

// What acts on the coordinates: in the map of the joint if it has one, else in a map for each.
Fields drives(const JointKind& kind) {
    if (kind.coordinates.size() == 1) {
        Fields fields = kind.coordinates[0].turns() ? turning() : sliding();
        // A length starts as it is.
        if (kind.coordinates[0].measure == JointCoordinate::Measure::length) fields.erase(fields.begin());
        return fields;
    }
    Fields fields;
    for (const JointCoordinate& coordinate : kind.coordinates)
        fields.push_back(
            {coordinate.name, map, coordinate.turns() ? "turning" : "sliding", "", "free", coordinate.text});
    return fields;
}

}  // namespace

void list_joints(SceneMaps& maps) {
    Fields kinds;
    for (const JointKind& kind : joint_table())
        kinds.push_back({kind.name, map, std::string(kind.name) + "-joint", "", "", kind.leaves});
    maps.push_back(map_of_kinds("joint", kinds));
    for (const JointKind& kind : joint_table())
        maps.push_back({std::string(kind.name) + "-joint",
                        (kind.is_gear() ? Fields{} : ends()) + anchor(kind.anchor) + axes(kind.axes) +
                            own_keys(kind.name) + drives(kind),
                        anchored(kind.anchor)});
    maps.push_back({"turning", turning(), {}});
    maps.push_back({"sliding", sliding(), {}});
    maps.push_back(
        {"limits",
         {{"lower", bound, "", "m, rad", "none", "least value of the coordinate", at(&SceneDrive::lower)},
          {"upper", bound, "", "m, rad", "none", "largest value", at(&SceneDrive::upper)},
          {"restitution", fraction, "", "-", "0", "of an impact at the limit", at(&SceneDrive::restitution)}},
         {{at_least_one, {"lower", "upper"}}}});
    maps.push_back(motor("turning-motor", "rad", "max_torque", "N m"));
    maps.push_back(motor("sliding-motor", "m", "max_force", "N"));
}

}  // namespace stickslip
