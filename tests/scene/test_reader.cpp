// Reading scenes: every field, frames and defaults, formulas, --set.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/fields.hpp"
#include "scene/formula.hpp"
#include "stickslip/scene.hpp"

namespace stickslip {
namespace {

Scene read(const std::string& text, const OptionValues& overrides = {}) {
    return read_scene_text(text, "test.yaml", overrides);
}

std::string message(const std::string& text, const OptionValues& overrides = {}) {
    try {
        read(text, overrides);
    } catch (const Error& e) {
        return e.what();
    }
    return "";
}

OptionValues set(const std::string& key, const std::string& text) { return {{key, text, {}}}; }

const std::string sketch = R"(stickslip: 1
gravity: [0, 0, -9.81]
materials: {default: {friction: 0.5, restitution: 0.0}, ice: {friction: 0.02}, steel: {}, rubber: {restitution: 0.7}}
contacts: {cone: disc, pairs: [{a: steel, b: rubber, friction: 0.9}]}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 2], offset: 0}}]}
  crate: {pose: [0, 0, 1], mass: 10, shapes: [{box: [1, 1, 1], material: ice}], velocity: [1, 0, 0]}
joints:
  hinge: {revolute: {a: ground, b: crate, at: [0, 0, 2], axis: [0, 3, 0]}}
forces:
  tie: {spring: {a: crate, at_a: [0, 0, .5], b: ground, at_b: [0, 0, 3], stiffness: 1e4, damping: 10, length: 1.5}}
run: {scheme: {name: moreau-jean, theta: 0.5}, solver: auto, step: 1e-3, end: 5, record: {every: 0.01}}
)";

TEST(Reader, TheSketchOfTheManualReads) {
    const Scene scene = read(sketch);
    EXPECT_EQ(scene.gravity, Vec3(0, 0, -9.81));
    EXPECT_EQ(scene.text, sketch);
    ASSERT_EQ(scene.materials.size(), 4u);
    EXPECT_EQ(scene.materials[1].name, "ice");
    EXPECT_EQ(scene.materials[1].friction, 0.02);
    EXPECT_EQ(scene.materials[1].restitution, 0.0);
    EXPECT_EQ(scene.materials[3].friction, 0.5);
    EXPECT_EQ(scene.contacts.facets, 0);
    ASSERT_EQ(scene.contacts.pairs.size(), 1u);
    EXPECT_EQ(scene.contacts.pairs[0].b.text, "rubber");
    EXPECT_EQ(scene.contacts.pairs[0].friction, 0.9);
    EXPECT_FALSE(scene.contacts.pairs[0].restitution.has_value());

    ASSERT_EQ(scene.bodies.size(), 2u);
    const Scene::Body& floor = scene.bodies[0];
    EXPECT_TRUE(floor.fixed);
    EXPECT_EQ(floor.shapes[0].kind, "half-space");
    EXPECT_EQ(floor.shapes[0].normal, Vec3(0, 0, 1));
    EXPECT_EQ(floor.shapes[0].material.text, "default");
    const Scene::Body& crate = scene.bodies[1];
    EXPECT_EQ(crate.pose.position, Vec3(0, 0, 1));
    EXPECT_EQ(crate.mass, 10);
    EXPECT_FALSE(crate.density || crate.com || crate.inertia);
    EXPECT_EQ(crate.shapes[0].edges, Vec3(1, 1, 1));
    EXPECT_EQ(crate.shapes[0].material.text, "ice");
    EXPECT_EQ(crate.velocity, Vec3(1, 0, 0));
    EXPECT_EQ(crate.place.text(), "test.yaml:7:3");
    EXPECT_EQ(crate.shapes[0].place.text(), "test.yaml:7:47");

    ASSERT_EQ(scene.joints.size(), 1u);
    const Scene::Joint& hinge = scene.joints[0];
    EXPECT_EQ(hinge.kind, "revolute");
    EXPECT_EQ(body_index(scene, hinge.a), -1);
    EXPECT_EQ(body_index(scene, hinge.b), 1);
    EXPECT_EQ(hinge.at, Vec3(0, 0, 2));
    EXPECT_EQ(hinge.axis, Vec3(0, 1, 0));
    EXPECT_FALSE(hinge.collide);
    EXPECT_EQ(hinge.a.place.text(), "test.yaml:9:25");
    EXPECT_EQ(hinge.kind_place.text(), "test.yaml:9:11");

    ASSERT_EQ(scene.springs.size(), 1u);
    EXPECT_EQ(scene.springs[0].at_a, Vec3(0, 0, 0.5));
    EXPECT_EQ(scene.springs[0].stiffness, 1e4);
    EXPECT_EQ(scene.springs[0].length, 1.5);

    EXPECT_EQ(scene.run.scheme.name, "moreau-jean");
    ASSERT_EQ(scene.run.scheme.options.size(), 1u);
    EXPECT_EQ(scene.run.scheme.options[0].key, "theta");
    EXPECT_EQ(scene.run.scheme.options[0].text, "0.5");
    EXPECT_EQ(scene.run.scheme.options[0].place.text(), "test.yaml:12:35");
    EXPECT_EQ(scene.run.solver.name, "auto");
    ASSERT_TRUE(scene.run.step);
    EXPECT_EQ(parse_number(scene.run.step->text, {}), 1e-3);
    EXPECT_EQ(scene.run.end, 5);
    EXPECT_EQ(scene.run.record.every, 0.01);
    EXPECT_EQ(scene.run.policy, Scene::Policy::degrade);
    EXPECT_FALSE(scene.run.budget.limited());
}

TEST(Reader, TheExamplesInTheDocumentationRead) {
    std::ifstream stream(std::filesystem::path(STICKSLIP_SCENES) / ".." / "docs" / "scene.md");
    std::ostringstream page;
    page << stream.rdbuf();
    const std::string text = page.str();
    std::vector<Scene> scenes;
    for (std::size_t at = text.find("```yaml\n"); at != std::string::npos; at = text.find("```yaml\n", at)) {
        at += 8;
        scenes.push_back(read(text.substr(at, text.find("```\n", at) - at)));
    }
    ASSERT_EQ(scenes.size(), 4u);
    EXPECT_EQ(scenes[0].bodies.size(), 2u);
    EXPECT_EQ(scenes[0].springs.size() + scenes[0].loads.size(), 2u);
    EXPECT_EQ(scenes[1].actions.size(), 6u);
    EXPECT_EQ(scenes[2].bodies.size(), 10u);
    EXPECT_EQ(scenes[2].joints.size(), 10u);
    EXPECT_EQ(scenes[3].bodies.size(), 1 + 48 + 15u);
}

TEST(Reader, JsonIsYaml) {
    const Scene scene = read(R"({"stickslip": 1, "bodies": {"ball": {"mass": 2.5, "shapes": [{"sphere": 0.1}]}}})");
    EXPECT_EQ(scene.bodies[0].mass, 2.5);
    EXPECT_EQ(scene.bodies[0].shapes[0].radius, 0.1);
}

TEST(Reader, LeavingEverythingOutGivesTheDocumentedDefaults) {
    const Scene scene = read("stickslip: 1\nbodies:\njoints:\nforces:\nrun:\n");
    EXPECT_EQ(scene.gravity, Vec3(0, 0, -9.81));
    EXPECT_EQ(scene.plane, Scene::Plane::none);
    ASSERT_EQ(scene.materials.size(), 1u);
    EXPECT_EQ(scene.materials[0].name, "default");
    EXPECT_EQ(scene.materials[0].friction, 0.5);
    EXPECT_EQ(scene.run.scheme.name, "moreau-jean");
    EXPECT_FALSE(scene.run.step || scene.run.end || scene.run.record.every);
}

Pose pose_of(const std::string& pose) {
    return read("stickslip: 1\nbodies: {b: {mass: 1, inertia: 1, pose: " + pose + "}}").bodies[0].pose;
}

TEST(Reader, PosesTurnVectorsAsTheirFormSays) {
    EXPECT_EQ(pose_of("[1, 2, 3]") * Vec3(1, 0, 0), Vec3(2, 2, 3));
    // A quarter turn about z, not normalised.
    EXPECT_TRUE((pose_of("[0, 0, 1, 2, 0, 0, 2]") * Vec3(1, 0, 0)).isApprox(Vec3(0, 1, 1), 1e-15));
    EXPECT_NEAR(pose_of("[0, 0, 0, 3e-200, 0, 4e-200, 0]").attitude.norm(), 1, 1e-15);
    EXPECT_TRUE((pose_of("{quaternion: [1, 1, 0, 0]}") * Vec3(0, 1, 0)).isApprox(Vec3(0, 0, 1), 1e-15));
    // Roll about x first, then pitch about y, then yaw about z: e_y -> e_z -> e_x -> e_y.
    EXPECT_TRUE((pose_of("{at: [0, 0, 5], rpy_deg: [90, 90, 90]}") * Vec3(0, 1, 0)).isApprox(Vec3(0, 1, 5), 1e-15));
    // Only the order tells these two apart: e_x stays in roll, goes to -e_z by pitch, stays there in yaw.
    EXPECT_TRUE((pose_of("{rpy_deg: [90, 90, 90]}") * Vec3(1, 0, 0)).isApprox(Vec3(0, 0, -1), 1e-15));
}

TEST(Reader, InertiaComesInThreeForms) {
    const auto inertia = [](const std::string& text) {
        return *read("stickslip: 1\nbodies: {b: {mass: 1, inertia: " + text + "}}").bodies[0].inertia;
    };
    EXPECT_EQ(inertia("0.5"), Mat3(0.5 * Mat3::Identity()));
    EXPECT_EQ(inertia("[1, 2, 3]"), Mat3(Vec3(1, 2, 3).asDiagonal()));
    Mat3 J;
    J << 4, 0.1, 0.2, 0.1, 5, 0.3, 0.2, 0.3, 6;
    EXPECT_EQ(inertia("[4, 5, 6, 0.1, 0.2, 0.3]"), J);
    EXPECT_EQ(inertia("[1e-15, 1e-15, 2e-15]")(2, 2), 2e-15);  // a flat plate, tiny
}

TEST(Reader, EveryJointKindReads) {
    const Scene scene = read(R"(stickslip: 1
bodies: {p: {mass: 1, inertia: 1}, q: {mass: 1, inertia: 1}}
joints:
  one: {fixed: {a: p, b: ground}}
  two: {ball: {a: p, b: q, at_a: [1, 0, 0], at_b: [0, 1, 0], collide: true}}
  three: {revolute: {a: p, b: q, at: [0, 0, 1], axis: [1, 1, 0]}}
  four: {prismatic: {a: ground, b: q, at: [0, 0, 1], axis: [0, 0, -2]}}
  five: {distance: {a: p, b: q, at_b: [0, 0, 1], length: 2}}
)");
    ASSERT_EQ(scene.joints.size(), 5u);
    EXPECT_FALSE(scene.joints[0].at || scene.joints[0].at_a);
    EXPECT_EQ(scene.joints[1].at_a, Vec3(1, 0, 0));
    EXPECT_TRUE(scene.joints[1].collide);
    EXPECT_TRUE(scene.joints[2].axis.isApprox(Vec3(1, 1, 0) / std::sqrt(2.0)));
    EXPECT_EQ(scene.joints[3].axis, Vec3(0, 0, -1));
    EXPECT_EQ(scene.joints[4].at_a, Vec3(0, 0, 0));
    EXPECT_EQ(scene.joints[4].at_b, Vec3(0, 0, 1));
    EXPECT_EQ(scene.joints[4].length, 2);
}

TEST(Reader, LoadsAreFormulasOrTables) {
    const Scene scene = read(R"yaml(stickslip: 1
let: {A: 8, w: 2*pi}
bodies: {p: {mass: 1, inertia: 1}}
forces:
  drive: {load: {body: p, at: [0, 0, 1], force: ["A*cos(w*t)", 2, A/4], torque: [0, 0, exp(-t)], from: 0.5, until: 2}}
  steps: {load: {body: p, table: [[0, 1, 0, 0], [1/2, 0, 0, 0]], interpolation: step}}
  ramp: {load: {body: p, table: [[0, 1, 2, 3]]}}
)yaml");
    ASSERT_EQ(scene.loads.size(), 3u);
    const Scene::Load& drive = scene.loads[0];
    for (const double t : {0.0, 0.3, 1.7})
        EXPECT_DOUBLE_EQ(compile_formula(drive.force[0])(t), 8 * std::cos(2 * 3.14159265358979323846 * t));
    EXPECT_FALSE(drive.force[0].value);
    EXPECT_EQ(drive.force[1].value, 2);
    EXPECT_EQ(drive.force[2].value, 2);
    EXPECT_FALSE(drive.torque[2].value);
    EXPECT_EQ(drive.torque[0].value, 0);
    EXPECT_EQ(drive.at, Vec3(0, 0, 1));
    EXPECT_EQ(drive.from, 0.5);
    EXPECT_EQ(drive.until, 2);
    EXPECT_EQ(scene.loads[1].interpolation, Scene::Load::Interpolation::step);
    EXPECT_EQ(scene.loads[1].table[1].t, 0.5);
    EXPECT_EQ(scene.loads[1].until, infinity);
    EXPECT_EQ(scene.loads[2].interpolation, Scene::Load::Interpolation::linear);
    EXPECT_EQ(scene.loads[2].table[0].force, Vec3(1, 2, 3));
    EXPECT_EQ(scene.loads[2].force[0].value, 0);
}

TEST(Reader, PlanarScenesStayInTheirPlane) {
    const std::string head = "stickslip: 1\nplane: xz\nbodies: {p: {mass: 1, inertia: 1, ";
    EXPECT_EQ(read(head + "velocity: [1, 0, 2], angular_velocity: [0, 3, 0], pose: {rpy_deg: [0, 30, 0]}}}").plane,
              Scene::Plane::xz);
    EXPECT_NE(message(head + "velocity: [1, 1, 2]}}").find("leaves the plane xz"), std::string::npos);
    EXPECT_NE(message(head + "angular_velocity: [0, 3, 1]}}").find("about y"), std::string::npos);
    EXPECT_NE(message(head + "pose: {rpy_deg: [10, 0, 0]}}}").find("about y"), std::string::npos);
    const std::string joint = head + "}}\njoints: {j: {revolute: {a: ground, b: p, at: [0, 0, 0]";
    EXPECT_EQ(read(joint + "}}}").joints[0].axis, Vec3(0, 1, 0));
    EXPECT_EQ(read(joint + ", axis: [0, -2, 0]}}}").joints[0].axis, Vec3(0, -1, 0));
    EXPECT_NE(message(joint + ", axis: [1, 0, 0]}}}").find("along y"), std::string::npos);
}

TEST(Reader, ParametersEnterEveryNumber) {
    const std::string text = R"yaml(stickslip: 1
let: {mu: 0.25, twice: 2*mu, side: 0.1, n: 8}
materials: {default: {friction: twice}}
contacts: {cone: {polygon: n}}
bodies: {p: {mass: =side^3*1000, shapes: [{box: [side, 2*side, "max(side, 0.3)"]}], pose: [0, -side, sqrt(side+0.15)]}}
run: {scheme: {name: x, theta: =mu*2, word: mu}, step: side/100}
)yaml";
    const Scene scene = read(text);
    EXPECT_EQ(scene.materials[0].friction, 0.5);
    EXPECT_EQ(scene.contacts.facets, 8);
    EXPECT_NEAR(*scene.bodies[0].mass, 1, 1e-15);
    EXPECT_EQ(scene.bodies[0].shapes[0].edges, Vec3(0.1, 0.2, 0.3));
    EXPECT_EQ(scene.bodies[0].pose.position, Vec3(0, -0.1, 0.5));
    EXPECT_EQ(parse_number(scene.run.scheme.options[0].text, {}), 0.5);
    EXPECT_EQ(scene.run.scheme.options[1].text, "mu");  // without `=` a word stays a word
    EXPECT_EQ(parse_number(scene.run.step->text, {}), 0.1 / 100);
    // One parameter given from outside moves all that depend on it, before they are computed.
    EXPECT_EQ(read(text, set("mu", "0.4")).materials[0].friction, 0.8);
    EXPECT_EQ(read(text, set("let.mu", "0.4")).parameters[1].value, 0.8);
}

TEST(Formula, KeepsTheBitsOfParametersAndThePrecedenceOfPowers) {
    const std::vector<Scene::Parameter> parameters = {{"x", 0.1 + 0.2, {}}, {"m", -2, {}}};
    EXPECT_EQ(evaluate_number("x", parameters, {}), 0.1 + 0.2);
    EXPECT_EQ(evaluate_number("m^2", parameters, {}), 4);
    EXPECT_EQ(evaluate_number("-3^2", parameters, {}), -9);
    EXPECT_EQ(evaluate_number("2^-5", parameters, {}), 0.03125);
    EXPECT_EQ(evaluate_number("1/60", parameters, {}), 1.0 / 60);
    EXPECT_EQ(evaluate_number("1e3*x", parameters, {}), 1e3 * (0.1 + 0.2));
    for (const char* bad :
         {"t", "y", "1 2", "x=3", "(x", "sin()", "1,2", "1/0", "sqrt(-1)", "", "=", "'x'", "x;", ".", "1e", "\xff"})
        EXPECT_THROW(evaluate_number(bad, parameters, {}), Error) << bad;
    EXPECT_TRUE(depends_on_time("2*t"));
    EXPECT_FALSE(depends_on_time("sqrt(2)*tan(1)"));
}

TEST(Override, ReachesKeysByTheirPath) {
    EXPECT_EQ(read(sketch, set("bodies.crate.mass", "2")).bodies[1].mass, 2);
    EXPECT_EQ(read(sketch, set("bodies.crate.shapes.0.box", "[1, 2, 2^-2]")).bodies[1].shapes[0].edges,
              Vec3(1, 2, 0.25));
    EXPECT_EQ(read(sketch, set("bodies.crate.com", "[0, 0, 0.1]")).bodies[1].com, Vec3(0, 0, 0.1));
    EXPECT_EQ(read(sketch, set("gravity", "[0,0,-1]")).gravity, Vec3(0, 0, -1));
    EXPECT_EQ(read(sketch, set("contacts.cone", "{polygon: 6}")).contacts.facets, 6);
    EXPECT_EQ(read(sketch, set("plane", "xz")).plane, Scene::Plane::xz);
    EXPECT_EQ(read(sketch, set("forces.tie.spring.stiffness", "7")).springs[0].stiffness, 7);
    EXPECT_EQ(read(sketch, set("materials.ice.restitution", "1")).materials[1].restitution, 1);
    for (const char* key : {"scheme.theta", "run.scheme.theta"}) {
        const Scene scene = read(sketch, set(key, "0.6"));
        EXPECT_EQ(scene.run.scheme.name, "moreau-jean");
        EXPECT_EQ(scene.run.scheme.options.at(0).text, "0.6");
        EXPECT_EQ(scene.run.scheme.options.at(0).place.text(), std::string("--set ") + key);
    }
    for (const char* key : {"end", "run.end"}) EXPECT_EQ(read(sketch, set(key, "7")).run.end, 7);
    EXPECT_EQ(read(sketch, set("record.csv", "true")).run.record.csv, true);
    EXPECT_EQ(read(sketch, set("policy", "budget")).run.policy, Scene::Policy::budget);
    EXPECT_EQ(read(sketch, set("run.budget.ms", "10")).run.budget.ms, 10);
}

TEST(Override, OptionsMakeAMapOfABareName) {
    const Scene scene = read(sketch, set("solver.tol", "1e-10"));
    EXPECT_EQ(scene.run.solver.name, "auto");
    EXPECT_EQ(scene.run.solver.options.at(0).key, "tol");
    EXPECT_EQ(scene.run.solver.options.at(0).text, "1e-10");
    // Where the file says nothing at all, the default name stays.
    const Scene bare = read("stickslip: 1", set("solver.tol", "1e-10"));
    EXPECT_EQ(bare.run.solver.name, "auto");
    EXPECT_EQ(bare.run.solver.options.size(), 1u);
    EXPECT_EQ(bare.overrides.size(), 1u);
}

TEST(Override, AnotherSchemeDropsTheOptionsButKeepsTheStep) {
    const std::string text = "stickslip: 1\nrun: {scheme: {name: moreau-jean, theta: 1, step: 1/128}}";
    const Scene scene = read(text, set("scheme", "euler"));
    EXPECT_EQ(scene.run.scheme.name, "euler");
    EXPECT_TRUE(scene.run.scheme.options.empty());
    ASSERT_TRUE(scene.run.step);
    EXPECT_EQ(parse_number(scene.run.step->text, {}), 1.0 / 128);
}

TEST(Override, AStepFromOutsideBeatsTheFileWhereverItStands) {
    const std::string in_scheme = "stickslip: 1\nrun: {scheme: {name: moreau-jean, step: 1/128}}";
    const std::string in_run = "stickslip: 1\nrun: {step: 1/128}";
    for (const std::string& text : {in_scheme, in_run})
        for (const char* key : {"step", "scheme.step", "run.step", "run.scheme.step"}) {
            const Scene scene = read(text, set(key, "0.25"));
            EXPECT_EQ(parse_number(scene.run.step->text, {}), 0.25) << key;
            EXPECT_EQ(scene.run.step->place.text(), std::string("--set ") + key);
            EXPECT_TRUE(scene.run.scheme.options.empty());
        }
}

TEST(Override, ErrorsNameTheSetKey) {
    struct Case {
        const char *key, *text, *expected;
    };
    const Case cases[] = {
        {"bodies.crate.mass", "-2", "--set bodies.crate.mass: expected a number > 0 [kg], found '-2'"},
        {"bodies.crate.mas", "2", "--set bodies.crate.mas: body 'crate' has no key 'mas', did you mean 'mass'?"},
        {"bodies.crata.mass", "2", "--set bodies.crata.mass: no body 'crata', did you mean 'crate'?"},
        {"joints.hing.revolute.axis", "2", "--set joints.hing.revolute.axis: no joint 'hing', did you mean 'hinge'?"},
        {"bodes.crate.mass", "2", "--set bodes.crate.mass: no key 'bodes', did you mean 'bodies'?"},
        {"mu", "2", "--set mu: no parameter 'mu'"},
        {"gravity", "[0, 0", "--set gravity:1:1: not YAML"},
        {"gravity.2", "x", "--set gravity.2: expected a number or a formula, found 'x'"},
        {"gravity.3", "1", "--set gravity.3: expected an index from 0 to 2"},
        {"bodies.crate.mass.unit", "kg", "--set bodies.crate.mass.unit: there is no 'unit' inside '10'"},
        {"bodies..mass", "2", "--set bodies..mass: no body ''"},
        {"", "2", "--set : no parameter ''"},
        {"run.", "2", "--set run.: expected a key path"},
        {"bodies.crate.mass", "", "--set bodies.crate.mass: expected a number, found nothing"},
        {"bodies.crate.density", "3", "--set bodies.crate.density: body 'crate' has both 'mass' and 'density'"},
    };
    for (const Case& c : cases)
        EXPECT_EQ(message(sketch, set(c.key, c.text)).find(c.expected), 0u)
            << c.key << "=" << c.text << " said: " << message(sketch, set(c.key, c.text));
}

// The scenes that come with the program.
std::vector<std::string> shipped() {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(STICKSLIP_SCENES))
        if (entry.path().extension() == ".yaml") files.push_back(entry.path().string());
    std::sort(files.begin(), files.end());
    return files;
}

TEST(ShippedScenes, AllReadAndSayHowLongToRun) {
    EXPECT_GE(shipped().size(), 10u);
    for (const std::string& file : shipped()) {
        SCOPED_TRACE(file);
        const Scene scene = read_scene(file);
        EXPECT_FALSE(scene.bodies.empty());
        EXPECT_TRUE(scene.run.end && scene.run.step);
        EXPECT_EQ(scene.text.rfind("# ", 0), 0u) << "a head that says what it shows";
        EXPECT_NE(scene.text.find("# Expected"), std::string::npos);
    }
}

TEST(ShippedScenes, BodiesStartTouchingOrApartFromTheFloor) {
    // The corners of every box and hull and the lowest points of every sphere and capsule, against every half-space.
    for (const std::string& file : shipped()) {
        SCOPED_TRACE(file);
        const Scene scene = read_scene(file);
        for (const Scene::Body& floor : scene.bodies) {
            if (!floor.fixed || floor.shapes.at(0).kind != "half-space") continue;
            const Scene::Shape& half = floor.shapes.at(0);
            for (const Scene::Body& body : scene.bodies)
                for (const Scene::Shape& shape : body.shapes) {
                    if (body.fixed) continue;
                    double lowest = half.normal.dot(body.pose.position) - shape.radius;
                    lowest -= shape.length / 2 * std::abs(half.normal.dot(body.pose.attitude * Vec3::UnitZ()));
                    if (shape.kind == "box")
                        for (int corner = 0; corner < 8; ++corner) {
                            const Vec3 sign(corner & 1 ? 0.5 : -0.5, corner & 2 ? 0.5 : -0.5, corner & 4 ? 0.5 : -0.5);
                            lowest =
                                std::min(lowest, half.normal.dot(body.pose * Vec3(sign.cwiseProduct(shape.edges))));
                        }
                    for (const Vec3& point : shape.points) lowest = std::min(lowest, half.normal.dot(body.pose * point));
                    EXPECT_GE(lowest - half.offset, -1e-12) << body.name;
                }
        }
    }
}

TEST(ShippedScenes, LoopsOfTheFourBarClose) {
    const Scene scene = read_scene(std::string(STICKSLIP_SCENES) + "/four-bar.yaml");
    // Each joint lies on the ends of the rods it joins: half a length along the rod's own axis from its middle.
    const double length[3] = {2, std::sqrt(17.0), 3};
    const Vec3 along[3] = {Vec3::UnitZ(), Vec3::UnitX(), Vec3::UnitZ()};
    for (const Scene::Joint& joint : scene.joints)
        for (const Scene::Name* name : {&joint.a, &joint.b}) {
            const int b = body_index(scene, *name);
            if (b < 0) continue;
            const Pose& pose = scene.bodies[b].pose;
            const double d = std::min((pose * Vec3(length[b] / 2 * along[b]) - *joint.at).norm(),
                                      (pose * Vec3(-length[b] / 2 * along[b]) - *joint.at).norm());
            EXPECT_LT(d, 1e-12) << joint.name << " " << name->text;
        }
}

}  // namespace
}  // namespace stickslip
