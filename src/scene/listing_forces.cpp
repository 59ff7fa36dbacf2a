// Springs, drag and loads: key, form, words or map, unit, default, text, member.
#include "scene/listing.hpp"

namespace stickslip {

namespace {

using Fields = SceneFields;
using enum Form;
using enum SceneRule::Kind;
using Bushing = Scene::Bushing;
using Drag = Scene::Drag;
using Load = Scene::Load;
using Spring = Scene::Spring;
using TorsionSpring = Scene::TorsionSpring;

const char* const required = "required";
const char* const one_needed = "one of stiffness and damping is needed";

SceneMap torsion_springs() {
    return {"torsion-spring",
            {{"joint", joint, "", "", required, "one with an angle or a slide", at(&TorsionSpring::joint)},
             {"coordinate", choice, "angle|slide|first|second", "", "the first one", "of a joint with several"},
             {"stiffness", not_negative, "", "N m/rad, N/m", "0", one_needed, at(&TorsionSpring::stiffness)},
             {"damping", not_negative, "", "N m s/rad, N s/m", "0", "", at(&TorsionSpring::damping)},
             {"rest", number, "", "rad, m", "0", "coordinate at which there is no force", at(&TorsionSpring::rest)}},
            {{at_least_one, {"stiffness", "damping"}}}};
}

SceneMap bushings() {
    return {
        "bushing",
        {{"a", body, "", "", required, "first body: carries the axes, those of the world at t = 0", at(&Bushing::a)},
         {"b", body, "", "", required, "second body; one of the two can move", at(&Bushing::b)},
         {"at", vector, "", "m", required, "in the world at t = 0", at(&Bushing::at)},
         {"stiffness", six, "", "N/m, N m/rad", required, "along x, y, z, then about x, y, z", at(&Bushing::stiffness)},
         {"damping", six, "", "N s/m, N m s/rad", "0", "the same", at(&Bushing::damping)}},
        {}};
}

SceneMap drags() {
    return {
        "drag",
        {{"body", body, "", "", required, "one that can move", at(&Drag::body)},
         {"linear", not_negative, "", "N s/m", "0", "force against the velocity of the centre of mass",
          at(&Drag::linear)},
         {"quadratic", not_negative, "", "N s^2/m^2", "0", "the same, times the speed", at(&Drag::quadratic)},
         {"angular", not_negative, "", "N m s/rad", "0", "torque against the angular velocity", at(&Drag::angular)}},
        {{at_least_one, {"linear", "quadratic", "angular"}}}};
}

SceneMap springs() {
    return {"spring",
            {{"a", body, "", "", required, "first body", at(&Spring::a)},
             {"b", body, "", "", required, "second body; one of the two can move", at(&Spring::b)},
             {"at_a", vector, "", "m", "0", "one end, in the frame of a", at(&Spring::at_a)},
             {"at_b", vector, "", "m", "0", "the other end, in the frame of b", at(&Spring::at_b)},
             {"stiffness", not_negative, "", "N/m", "0", one_needed, at(&Spring::stiffness)},
             {"damping", not_negative, "", "N s/m", "0", "along the line between the ends", at(&Spring::damping)},
             {"length", not_negative, "", "m", "distance at t = 0", "unloaded", at(&Spring::length)}},
            {{at_least_one, {"stiffness", "damping"}}}};
}

SceneMap loads() {
    return {
        "load",
        {{"body", body, "", "", required, "one that can move", at(&Load::body)},
         {"at", vector, "", "m", "centre of mass", "where the force acts, in the body frame", at(&Load::at)},
         {"force", formulas, "", "N", "0", "in world axes", at(&Load::force)},
         {"torque", formulas, "", "N m", "0", "in world axes", at(&Load::torque)},
         {"table", table, "", "s, N", "", "instead of `force`; times increase; the end values hold outside",
          at(&Load::table)},
         {"interpolation", choice, "linear|step", "", "linear", "between rows; with `step` a row holds until the next",
          at(&Load::interpolation)},
         {"from", number, "", "s", "always", "acts for from <= t < until; steps end there exactly", at(&Load::from)},
         {"until", number, "", "s", "always", "", at(&Load::until)}},
        {{not_both, {"force", "table"}},
         {at_least_one, {"force", "torque", "table"}},
         {belongs, {"interpolation", "table"}}}};
}

}  // namespace

void list_forces(SceneMaps& maps) {
    maps.push_back(map_of_kinds(
        "force", {{"spring", map, "spring", "", "", "spring and damper between two bodies"},
                  {"torsion-spring", map, "torsion-spring", "", "", "spring and damper on a joint's coordinate"},
                  {"bushing", map, "bushing", "", "", "six springs and dampers between two bodies"},
                  {"drag", map, "drag", "", "", "resistance of the medium"},
                  {"load", map, "load", "", "", "a force and a torque over time"}}));
    maps.push_back(torsion_springs());
    maps.push_back(bushings());
    maps.push_back(drags());
    maps.push_back(springs());
    maps.push_back(loads());
}

}  // namespace stickslip
