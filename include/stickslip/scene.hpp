// A scene: plain structs, exactly what the file says, in SI units. Nothing here computes.
//
// Reading (read_scene) checks everything that can be judged without mechanics: types, sizes, signs, finite
// numbers, names that must exist. Building (build_model, in load.hpp) turns a Scene into a System; whatever it
// has to complain about carries the Place it was written at. docs/scene.md lists every key with unit and default.
//
// Frames: `pose` of a body places its body frame B in the world W; `com`, `at_a`, `at_b`, `at` of a load and the
// poses of shapes are in B (for `ground`, B is W); joint `at` and `axis`, velocities, loads are in W at t = 0.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stickslip/error.hpp"
#include "stickslip/options.hpp"
#include "stickslip/policy.hpp"
#include "stickslip/types.hpp"

namespace stickslip {

struct Edit;  // edit.hpp

// Nested so that the words Body, Joint, Shape stay free for the model.
struct Scene {
    // A name that refers to something else in the scene; the reader has checked that it exists.
    struct Name {
        std::string text;
        Place place;
    };

    // A formula of the time t [s]. `let` parameters are already replaced by their numbers, so t, pi and the functions
    // of docs/scene.md are all it contains. Evaluate it with compile_formula() (src/scene/formula.hpp).
    struct Formula {
        std::string text = "0";
        Place place;
        std::optional<double> value = 0.0;  // when t does not occur in it
    };

    struct Parameter {  // `let`
        std::string name;
        double value = 0;
        Place place;
    };

    enum class Plane { none, xy, xz, yz };

    struct Material {
        std::string name;
        double friction = 0.5;   // [-]
        double restitution = 0;  // [-] in [0, 1]
        Place place;
        double tangential_restitution = 0;  // [-] in [0, 1], of slip in Newton's law
    };

    // Overrides the mixture (friction: geometric mean, restitution, tangential too: maximum) for two materials.
    struct Pair {
        Name a, b;
        std::optional<double> friction;                // [-]
        std::optional<double> restitution;             // [-]
        std::optional<double> tangential_restitution;  // [-]
        Place place;
    };

    struct Contacts {
        int facets = 0;  // 0: disc (the exact cone); else a polygon with this many facets, even and >= 4
        std::vector<Pair> pairs;
        Place place;
    };

    struct Shape {
        std::string kind = "sphere";  // out of `stickslip list shapes`
        double radius = 0;            // [m] of a sphere or capsule
        double length = 0;            // [m] of a capsule along its z, between the cap centres
        Vec3 edges = Vec3::Zero();    // [m] of a box, full lengths
        Vec3 normal = Vec3::UnitZ();  // half-space normal . x <= offset, unit, in the frame of the shape
        double offset = 0;            // [m]
        std::vector<Vec3> points;     // [m] of a hull, in the frame of the shape, before
        double scale = 1;             // [-] multiplies them
        Pose pose;                    // of the shape in the body frame
        Name material{"default", {}};
        Place place;
    };

    struct Body {
        std::string name;
        bool fixed = false;
        bool present = true;            // false: an action or edit adds it later
        Pose pose;                      // body frame in W at t = 0
        std::optional<Vec3> com;        // [m] centre of mass in the body frame; absent: centre of volume of the
                                        // shapes (half-spaces excepted), or the origin if there are none
        std::optional<double> mass;     // [kg] exactly one of mass and density, unless fixed
        std::optional<double> density;  // [kg/m^3] of the shapes; overlaps count twice
        std::optional<Mat3> inertia;    // [kg m^2] about the centre of mass in body axes; absent: of the shapes,
                                        // uniform, scaled to the mass
        std::vector<Shape> shapes;
        Vec3 velocity = Vec3::Zero();          // [m/s] of the centre of mass, in W
        Vec3 angular_velocity = Vec3::Zero();  // [rad/s] in W
        Place place;                           // of the name
    };

    // What acts on one coordinate of a joint: the angle [rad] of a hinge, the way [m] of a slide, the length [m] of a
    // distance joint. Angles count turns.
    struct Drive {
        struct Motor {
            // One of the two, of t.
            std::optional<Formula> speed;      // [rad/s, m/s]
            std::optional<Formula> position;   // [rad, m]
            std::optional<double> max_effort;  // [N m, N]; absent: as much as it takes
            double time_constant = 0.05;       // [s] > 0, of a position motor
        };
        int coordinate = 0;                          // of the joint, in the order of `stickslip list joints`
        double start = 0;                            // [rad, m] value at t = 0; not for lengths
        double lower = -infinity, upper = infinity;  // [rad, m] limits
        double restitution = 0;                      // of the limits
        std::optional<Motor> motor;
        std::optional<double> friction;  // [N m, N] largest force of dry friction
        std::optional<Formula> brake;    // [N m, N] of t: largest force of the brake
        Place place;
        Place limits_place;
    };

    struct Joint {
        std::string name;
        std::string kind = "fixed";  // out of `stickslip list joints`
        Name a, b;                   // bodies, or `ground`; not of gears
        // Either `at` or both of `at_a`, `at_b`. A fixed joint may have neither: then it sits at the origin of b's
        // frame (a's if b is the ground). A distance joint always has at_a and at_b.
        std::optional<Vec3> at;     // [m] in W at t = 0
        std::optional<Vec3> at_a;   // [m] in the frame of a
        std::optional<Vec3> at_b;   // [m] in the frame of b
        Vec3 axis = Vec3::UnitZ();  // unit, in W at t = 0; revolute and prismatic. In a plane, the normal for revolute
        Vec3 axis_b = Vec3::UnitX();   // universal: the axis of b, at right angles to `axis`
        std::optional<double> length;  // [m] > 0, of a distance joint; absent: the distance at t = 0
        std::vector<Vec3> points;      // [m] point-on-curve: of the curve, in the frame of a
        bool closed = false;           // point-on-curve: the last point is followed by the first
        std::vector<Drive> drives;     // at most one per coordinate
        Name first, second;    // gear: joints whose angles obey first = ratio * second; rack-pinion: rack, pinion
        double ratio = 1;      // gear: [-]; rack-pinion: the pinion's radius [m]
        double pitch = 0;      // screw: [m] along the axis per turn; negative: left-handed
        bool collide = false;  // whether a and b may touch
        Place place;           // of the name
        Place kind_place;      // of the word `revolute`, ...
    };

    struct Spring {
        std::string name;
        Name a, b;                     // bodies, or `ground`
        Vec3 at_a = Vec3::Zero();      // [m] in the frame of a
        Vec3 at_b = Vec3::Zero();      // [m] in the frame of b
        double stiffness = 0;          // [N/m] >= 0
        double damping = 0;            // [N s/m] >= 0, along the line
        std::optional<double> length;  // [m] at rest; absent: the distance at t = 0
        Place place;                   // of the name
    };

    // On a coordinate of a joint.
    struct TorsionSpring {
        std::string name;
        Name joint;
        int coordinate = 0;
        double stiffness = 0;  // [N m/rad, N/m] >= 0
        double damping = 0;    // [N m s/rad, N s/m] >= 0
        double rest = 0;       // [rad, m] value of the coordinate without force
        Place place;           // of the name
    };

    // Six springs and dampers: along, then about the world axes at t = 0, carried by a.
    struct Bushing {
        std::string name;
        Name a, b;
        Vec3 at = Vec3::Zero();         // [m] in W at t = 0
        Vec6 stiffness = Vec6::Zero();  // [N/m] x 3, [N m/rad] x 3
        Vec6 damping = Vec6::Zero();    // [N s/m] x 3, [N m s/rad] x 3
        Place place;                    // of the name
    };

    // Force -(linear + quadratic |v|) v at the centre of mass, torque -angular omega.
    struct Drag {
        std::string name;
        Name body;
        double linear = 0;     // [N s/m] >= 0
        double quadratic = 0;  // [N s^2/m^2] >= 0
        double angular = 0;    // [N m s/rad] >= 0
        Place place;           // of the name
    };

    // A force and a torque over time, in world axes, acting for from <= t < until. Either formulas or a table.
    struct Load {
        enum class Interpolation { linear, step };
        struct Row {
            double t = 0;               // [s] strictly increasing
            Vec3 force = Vec3::Zero();  // [N]
        };
        std::string name;
        Name body;
        std::optional<Vec3> at;  // [m] where the force acts, in the body frame; absent: the centre of mass
        Formula force[3];        // [N] of t
        Formula torque[3];       // [N m] of t
        // Non-empty replaces `force`. Before the first and after the last row their values hold. With `step` a row
        // holds until the next one, and every row is a discontinuity.
        std::vector<Row> table;
        Interpolation interpolation = Interpolation::linear;
        double from = -infinity;  // [s]
        double until = infinity;  // [s]
        Place place;              // of the name
    };

    // Something that happens at a time.
    struct Action {
        double at = 0;  // [s] >= 0
        std::shared_ptr<const Edit> edit;
        Place place;
    };

    struct Record {
        std::optional<double> every;  // [s] > 0 between samples; absent: every step
        bool csv = false;
    };

    using Policy = stickslip::Policy;
    using Budget = StepBudget;

    struct Run {
        Selection scheme{"moreau-jean", {}, {}};
        Selection solver{"auto", {}, {}};
        OptionValues
            tolerances;  // those given, in SI units; all others go with the sizes of the model (System::scales)
        Policy policy = Policy::degrade;
        Budget budget;  // of each step under policy budget
        // [s] > 0, from `run.step` or `run.scheme.step` (never left among the options of the scheme); absent: the
        // scheme's default. The text is a number; the place is where it was written.
        std::optional<OptionValue> step;
        std::optional<double> end;  // [s] > 0
        Record record;
        Place place;
    };

    std::string file;        // name as given
    std::string text;        // source, kept for the record; with included files, all of them merged into one
    OptionValues overrides;  // --set, kept for the record

    std::vector<Parameter> parameters;  // in file order, overrides applied
    Vec3 gravity{0, 0, -9.81};          // [m/s^2]
    Plane plane = Plane::none;
    std::vector<Material> materials;  // in file order; `default` exists even if it is not listed
    Contacts contacts;
    std::vector<Body> bodies;     // in file order; `ground` is not listed
    std::vector<Joint> joints;    // in file order
    std::vector<Spring> springs;  // in file order
    std::vector<TorsionSpring> torsion_springs;
    std::vector<Bushing> bushings;
    std::vector<Drag> drags;
    std::vector<Load> loads;      // in file order
    std::vector<Action> actions;  // by time, at one time in file order
    Run run;
};

const char* to_string(Scene::Plane plane);  // "none", "xy", ...

// Reads and checks; throws Error with file:line:column. An override (key, text) is `--set key=text`: a key path
// with dots (`bodies.arm.mass`, `scheme.theta`, `bodies.arm.shapes.0.box`) or the name of a `let` parameter; the text
// is YAML. Errors in an override name its place's file, or `--set key` if that is empty, as their place.
// Included files are looked for relative to the file that includes them, here relative to the folder of `name`.
Scene read_scene(const std::string& file, const OptionValues& overrides = {});
Scene read_scene_text(const std::string& text, const std::string& name, const OptionValues& overrides = {});

// The scene as YAML that reads back to the same members, apart from places, `file`, `text` and `overrides`: parameters and formulas
// are numbers then, included files and templates are spelt out. Throws Error for a scene that no file can hold: an action that
// adds a body which was not declared.
std::string write_scene(const Scene& scene);

// Throws Error, as reading does, if something in a scene made or changed by a program is wrong: a negative mass, two bodies of
// one name, a joint to a body that is not there. The message names the thing. build_model() calls it.
void validate_scene(const Scene& scene);

// The keys of scene files as a JSON Schema (draft 2020-12), for editors.
std::string scene_schema();

// Index into bodies, -1 for `ground`; throws Error at the name's place if there is none.
int body_index(const Scene& scene, const Scene::Name& name);
int material_index(const Scene& scene, const Scene::Name& name);
int joint_index(const Scene& scene, const Scene::Name& name);

// Names of a joint's coordinates, in the order of Drive::coordinate: revolute has "angle", ball none.
std::vector<std::string> joint_coordinates(const std::string& kind);

}  // namespace stickslip
