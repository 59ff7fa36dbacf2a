// Materials, contacts, bodies and shapes: key, form, words or map, unit, default, text, member.
#include "scene/listing.hpp"

namespace stickslip {

namespace {

using Fields = SceneFields;
using enum Form;
using enum SceneRule::Kind;
using Body = Scene::Body;
using Material = Scene::Material;
using Pair = Scene::Pair;
using Shape = Scene::Shape;

const char* const required = "required";

SceneMap materials() {
    return {
        "material",
        {{"friction", not_negative, "", "-", "0.5", "of a pair: geometric mean of the two", at(&Material::friction)},
         {"restitution", fraction, "", "-", "0", "of a pair: maximum of the two", at(&Material::restitution)},
         {"tangential_restitution", fraction, "", "-", "0",
          "of slip, in Newton's law of impact; of a pair: maximum of the two", at(&Material::tangential_restitution)}},
        {}};
}

SceneMap pairs() {
    const char* mixed = "mixed as usual";
    return {
        "pair",
        {{"a", material, "", "", required, "one material", at(&Pair::a)},
         {"b", material, "", "", required, "the other, or the same", at(&Pair::b)},
         {"friction", not_negative, "", "-", mixed, "between the two", at(&Pair::friction)},
         {"restitution", fraction, "", "-", mixed, "between the two", at(&Pair::restitution)},
         {"tangential_restitution", fraction, "", "-", mixed, "between the two", at(&Pair::tangential_restitution)}},
        {}};
}

SceneMap bodies() {
    return {
        "body",
        Fields{{"fixed", truth, "", "", "false",
                "never moves; needs no mass, may carry half-spaces, cannot have a velocity", at(&Body::fixed)},
               {"present", truth, "", "", "true", "false: an action adds it later, see Actions", at(&Body::present)},
               {"pose", pose, "", "m", "the origin", "body frame in the world at t = 0", at(&Body::pose)},
               {"com", vector, "", "m", "centre of volume of the shapes, else 0", "centre of mass in the body frame",
                at(&Body::com)},
               {"mass", positive, "", "kg", "of the density", "a body that moves has `mass` or `density`",
                at(&Body::mass)},
               {"density", positive, "", "kg/m^3", "of the mass", "fills the shapes (overlaps count twice)",
                at(&Body::density)},
               {"inertia", inertia, "", "kg m^2", "of the shapes, uniform",
                "about the centre of mass, in body axes; needed if there are no shapes", at(&Body::inertia)},
               {"shapes", list, "shape", "", "none", "what can touch"},
               {"velocity", vector, "", "m/s", "0", "of the centre of mass, in the world", at(&Body::velocity)},
               {"angular_velocity", vector, "", "rad/s", "0", "in the world", at(&Body::angular_velocity)}} +
            keys_of_templates(),
        {{not_both, {"mass", "density"}},
         {at_least_one, {"fixed", "mass", "density"}, "", true},
         {not_both, {"repeat", "grid"}}}};
}

SceneMap poses() {
    return {"pose",
            {{"at", vector, "", "m", "0", "position"},
             {"rpy_deg", vector, "", "deg", "0", "roll about x, then pitch about y, then yaw about z"},
             {"quaternion", quaternion, "", "", "[1, 0, 0, 0]", "normalised"}},
            {{not_both, {"rpy_deg", "quaternion"}}}};
}

}  // namespace

const std::vector<ShapeKind>& shape_kinds_of_scenes() {
    static const std::vector<ShapeKind> kinds{
        {.field = {"sphere", positive, "", "m", "", "radius", at(&Shape::radius)}},
        {.field = {"box", positives, "", "m", "", "full lengths of the edges", at(&Shape::edges)}},
        {.field = {"capsule", map, "capsule", "", "", "cylinder along z with half a ball on either end"},
         .keys = {{"radius", positive, "", "m", required, "of the cylinder and the caps", at(&Shape::radius)},
                  {"length", positive, "", "m", required, "between the centres of the two caps", at(&Shape::length)}},
         .round = true},
        {.field = {"half-space", map, "half-space", "", "", "the points with normal . x <= offset; fixed bodies only"},
         .keys = {{"normal", direction, "", "", required, "points out of the half-space; normalised",
                   at(&Shape::normal)},
                  {"offset", number, "", "m", "0", "along the normal", at(&Shape::offset)}},
         .solid = false},
        {.field = {"hull", map, "hull", "", "", "the convex hull of points"},
         .keys = {{"points", points, "", "m", "those of `file`", "at least four, not in one plane; those inside do not matter",
                   at(&Shape::points)},
                  {"file", file, "", "", "none", "a mesh (OBJ or STL) whose corners are the points; relative to the scene file"},
                  {"scale", positive, "", "-", "1", "multiplies the coordinates: 0.001 for points in millimetres", at(&Shape::scale)}},
         .rules = {{one, {"points", "file"}}}},
    };
    return kinds;
}

const ShapeKind* find_shape_kind(std::string_view name) {
    for (const ShapeKind& kind : shape_kinds_of_scenes())
        if (kind.name() == name) return &kind;
    return nullptr;
}

void list_bodies(SceneMaps& maps) {
    maps.push_back(materials());
    maps.push_back({"contacts",
                    {{"cone", cone, "", "", "disc", "section of the friction cone"},
                     {"pairs", list, "pair", "", "none", "overrides the mixture for two materials"}},
                    {}});
    maps.push_back({"cone", {{"polygon", whole, "", "", required, "number of facets, even, 4 to 1000"}}, {}});
    maps.push_back(pairs());
    maps.push_back(bodies());
    maps.push_back(poses());
    SceneMap shape{"shape", {}, {{one, {}, "", true}}};
    for (const ShapeKind& kind : shape_kinds_of_scenes()) {
        shape.fields.push_back(kind.field);
        shape.rules[0].keys.push_back(kind.name());
    }
    shape.fields.push_back(
        {"material", material, "", "", "`default`", "decides friction and restitution", at(&Shape::material)});
    shape.fields.push_back({"pose", pose, "", "m", "the origin", "of the shape in the body frame", at(&Shape::pose)});
    maps.push_back(std::move(shape));
    for (const ShapeKind& kind : shape_kinds_of_scenes())
        if (kind.field.form == map) maps.push_back({kind.field.of, kind.keys, kind.rules});
}

}  // namespace stickslip
