// Scenes as text: what is written reads back to the same scene, member by member. The comparison takes every struct apart with
// structured bindings, so that it does not compile when a member is added and not compared.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "stickslip/edit.hpp"
#include "stickslip/load.hpp"
#include "stickslip/scene.hpp"

namespace stickslip {
namespace {

template <class T>
void same(const std::vector<T>& a, const std::vector<T>& b);
template <class T>
void same(const std::optional<T>& a, const std::optional<T>& b);

template <class T>
requires std::is_arithmetic_v<T> || std::is_enum_v<T>
void same(const T& a, const T& b) { EXPECT_EQ(a, b); }
void same(const std::string& a, const std::string& b) { EXPECT_EQ(a, b); }
void same(const Vec3& a, const Vec3& b) { EXPECT_EQ(a, b); }
void same(const Vec6& a, const Vec6& b) { EXPECT_EQ(a, b); }
void same(const Mat3& a, const Mat3& b) { EXPECT_EQ(a, b); }

void same(const Pose& a, const Pose& b) {
    same(a.position, b.position);
    EXPECT_EQ(a.attitude.coeffs(), b.attitude.coeffs());
}

void same(const Scene::Name& x, const Scene::Name& y) {
    const auto& [text, place] = x;
    same(text, y.text);
}

void same(const Scene::Formula& x, const Scene::Formula& y) {
    const auto& [text, place, value] = x;
    same(text, y.text);
    same(value, y.value);
}

void same(const OptionValue& x, const OptionValue& y) {
    const auto& [key, text, place] = x;
    same(key, y.key);
    same(text, y.text);
}

void same(const Scene::Parameter& x, const Scene::Parameter& y) {
    const auto& [name, value, place] = x;
    same(name, y.name);
    same(value, y.value);
}

void same(const Scene::Material& x, const Scene::Material& y) {
    const auto& [name, friction, restitution, place, tangential_restitution] = x;
    same(name, y.name);
    same(friction, y.friction);
    same(restitution, y.restitution);
    same(tangential_restitution, y.tangential_restitution);
}

void same(const Scene::Pair& x, const Scene::Pair& y) {
    const auto& [a, b, friction, restitution, tangential_restitution, place] = x;
    same(a, y.a);
    same(b, y.b);
    same(friction, y.friction);
    same(restitution, y.restitution);
    same(tangential_restitution, y.tangential_restitution);
}

void same(const Scene::Contacts& x, const Scene::Contacts& y) {
    const auto& [facets, pairs, place] = x;
    same(facets, y.facets);
    same(pairs, y.pairs);
}

void same(const Scene::Shape& x, const Scene::Shape& y) {
    const auto& [kind, radius, length, edges, normal, offset, points, scale, pose, material, place] = x;
    same(kind, y.kind);
    same(radius, y.radius);
    same(length, y.length);
    same(edges, y.edges);
    same(normal, y.normal);
    same(offset, y.offset);
    same(points, y.points);
    same(scale, y.scale);
    same(pose, y.pose);
    same(material, y.material);
}

void same(const Scene::Body& x, const Scene::Body& y) {
    SCOPED_TRACE(x.name);
    const auto& [name, fixed, present, pose, com, mass, density, inertia, shapes, velocity, angular_velocity, place] =
        x;
    same(name, y.name);
    same(fixed, y.fixed);
    same(present, y.present);
    same(pose, y.pose);
    same(com, y.com);
    same(mass, y.mass);
    same(density, y.density);
    same(inertia, y.inertia);
    same(shapes, y.shapes);
    same(velocity, y.velocity);
    same(angular_velocity, y.angular_velocity);
}

void same(const Scene::Drive::Motor& x, const Scene::Drive::Motor& y) {
    const auto& [speed, position, max_effort, time_constant] = x;
    same(speed, y.speed);
    same(position, y.position);
    same(max_effort, y.max_effort);
    same(time_constant, y.time_constant);
}

void same(const Scene::Drive& x, const Scene::Drive& y) {
    const auto& [coordinate, start, lower, upper, restitution, motor, friction, brake, place, limits_place] = x;
    same(coordinate, y.coordinate);
    same(start, y.start);
    same(lower, y.lower);
    same(upper, y.upper);
    same(restitution, y.restitution);
    same(motor, y.motor);
    same(friction, y.friction);
    same(brake, y.brake);
}

void same(const Scene::Joint& x, const Scene::Joint& y) {
    SCOPED_TRACE(x.name);
    const auto& [name, kind, a, b, at, at_a, at_b, axis, axis_b, length, points, closed, drives, first, second, ratio,
                 pitch, collide, place, kind_place] = x;
    same(name, y.name);
    same(kind, y.kind);
    same(a, y.a);
    same(b, y.b);
    same(at, y.at);
    same(at_a, y.at_a);
    same(at_b, y.at_b);
    same(axis, y.axis);
    same(axis_b, y.axis_b);
    same(length, y.length);
    same(points, y.points);
    same(closed, y.closed);
    same(drives, y.drives);
    same(first, y.first);
    same(second, y.second);
    same(ratio, y.ratio);
    same(pitch, y.pitch);
    same(collide, y.collide);
}

void same(const Scene::Spring& x, const Scene::Spring& y) {
    const auto& [name, a, b, at_a, at_b, stiffness, damping, length, place] = x;
    same(name, y.name);
    same(a, y.a);
    same(b, y.b);
    same(at_a, y.at_a);
    same(at_b, y.at_b);
    same(stiffness, y.stiffness);
    same(damping, y.damping);
    same(length, y.length);
}

void same(const Scene::TorsionSpring& x, const Scene::TorsionSpring& y) {
    const auto& [name, joint, coordinate, stiffness, damping, rest, place] = x;
    same(name, y.name);
    same(joint, y.joint);
    same(coordinate, y.coordinate);
    same(stiffness, y.stiffness);
    same(damping, y.damping);
    same(rest, y.rest);
}

void same(const Scene::Bushing& x, const Scene::Bushing& y) {
    const auto& [name, a, b, at, stiffness, damping, place] = x;
    same(name, y.name);
    same(a, y.a);
    same(b, y.b);
    same(at, y.at);
    same(stiffness, y.stiffness);
    same(damping, y.damping);
}

void same(const Scene::Drag& x, const Scene::Drag& y) {
    const auto& [name, body, linear, quadratic, angular, place] = x;
    same(name, y.name);
    same(body, y.body);
    same(linear, y.linear);
    same(quadratic, y.quadratic);
    same(angular, y.angular);
}

void same(const Scene::Load::Row& x, const Scene::Load::Row& y) {
    const auto& [t, force] = x;
    same(t, y.t);
    same(force, y.force);
}

void same(const Scene::Load& x, const Scene::Load& y) {
    const auto& [name, body, at, force, torque, table, interpolation, from, until, place] = x;
    same(name, y.name);
    same(body, y.body);
    same(at, y.at);
    for (int i = 0; i < 3; ++i) {
        same(force[i], y.force[i]);
        same(torque[i], y.torque[i]);
    }
    same(table, y.table);
    same(interpolation, y.interpolation);
    same(from, y.from);
    same(until, y.until);
}

void same(const Edit& x, const Edit& y) {
    const auto& [kind, name, body, pose, velocity, angular_velocity, joint, coordinate, speed, position, max_effort,
                 time_constant, friction, brake, place] = x;
    same(kind, y.kind);
    same(name, y.name);
    same(body, y.body);
    same(pose, y.pose);
    same(velocity, y.velocity);
    same(angular_velocity, y.angular_velocity);
    same(joint, y.joint);
    same(coordinate, y.coordinate);
    same(speed, y.speed);
    same(position, y.position);
    same(max_effort, y.max_effort);
    same(time_constant, y.time_constant);
    same(friction, y.friction);
    same(brake, y.brake);
}

void same(const Scene::Action& x, const Scene::Action& y) {
    const auto& [at, edit, place] = x;
    same(at, y.at);
    same(*edit, *y.edit);
}

void same(const Selection& x, const Selection& y) {
    const auto& [name, options, place] = x;
    same(name, y.name);
    same(options, y.options);
}

void same(const Scene::Record& x, const Scene::Record& y) {
    const auto& [every, csv] = x;
    same(every, y.every);
    same(csv, y.csv);
}

void same(const Scene::Budget& x, const Scene::Budget& y) {
    const auto& [ms, factorisations] = x;
    same(ms, y.ms);
    same(factorisations, y.factorisations);
}

void same(const Scene::Run& x, const Scene::Run& y) {
    const auto& [scheme, solver, tolerances, policy, budget, step, end, record, place] = x;
    same(scheme, y.scheme);
    same(solver, y.solver);
    same(tolerances, y.tolerances);
    same(policy, y.policy);
    same(budget, y.budget);
    same(step, y.step);
    same(end, y.end);
    same(record, y.record);
}

template <class T>
void same(const std::vector<T>& a, const std::vector<T>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) same(a[i], b[i]);
}

template <class T>
void same(const std::optional<T>& a, const std::optional<T>& b) {
    ASSERT_EQ(a.has_value(), b.has_value());
    if (a) same(*a, *b);
}

void same(const Scene& x, const Scene& y) {
    const auto& [file, text, overrides, parameters, gravity, plane, materials, contacts, bodies, joints, springs,
                 torsion_springs, bushings, drags, loads, actions, run] = x;
    same(parameters, y.parameters);
    same(gravity, y.gravity);
    same(plane, y.plane);
    same(materials, y.materials);
    same(contacts, y.contacts);
    same(bodies, y.bodies);
    same(joints, y.joints);
    same(springs, y.springs);
    same(torsion_springs, y.torsion_springs);
    same(bushings, y.bushings);
    same(drags, y.drags);
    same(loads, y.loads);
    same(actions, y.actions);
    same(run, y.run);
}

void expect_round_trip(const Scene& scene) {
    const std::string text = write_scene(scene);
    SCOPED_TRACE(text.substr(0, 4000));
    Scene back;
    ASSERT_NO_THROW(back = read_scene_text(text, "written.yaml"));
    same(scene, back);
    EXPECT_EQ(write_scene(back), text);
}

TEST(Writer, WhatIsWrittenReadsBackMemberByMember) {
    int count = 0;
    for (const std::string& folder : {std::string(STICKSLIP_SCENES), std::string(STICKSLIP_TEST_DATA) + "/scenes"})
        for (const auto& entry : std::filesystem::directory_iterator(folder)) {
            if (entry.path().extension() != ".yaml") continue;
            SCOPED_TRACE(entry.path().string());
            expect_round_trip(read_scene(entry.path().string()));
            ++count;
        }
    EXPECT_GT(count, 20);
}

TEST(Writer, OverridesAreWrittenAsValues) {
    const Scene scene = read_scene_text(R"(stickslip: 1
let: {m: 2}
plane: xz
bodies: {p: {mass: m/3, inertia: [1, 2, 2.5, 0.1, 0.2, 0.3], pose: {rpy_deg: [0, 30, 0]}}}
joints: {h: {revolute: {a: ground, b: p, at: [0, 0, 0], motor: {position: m*sin(t)}, limits: [-.inf, 3]}}}
forces: {s: {spring: {a: ground, b: p, stiffness: 0}}, l: {load: {body: p, force: ["m*t", 0, -m], from: -1}}}
)",
                                        "x.yaml", {{"m", "0.7", {}}, {"scheme.theta", "0.6", {}}});
    expect_round_trip(scene);
    const std::string text = write_scene(scene);
    EXPECT_NE(text.find("m: 0.7"), std::string::npos) << text;
    EXPECT_NE(text.find("theta: 0.6"), std::string::npos) << text;
}

// The model of the text steps to the same bits as that of the scene.
TEST(Writer, WrittenScenesMoveAlike) {
    const Scene scene = read_scene(std::string(STICKSLIP_TEST_DATA) + "/scenes/every-key.yaml");
    const auto end_of = [](const Scene& of) {
        Simulation simulation(build_model(of));
        simulation.run();
        return simulation.state();
    };
    const State one = end_of(scene), two = end_of(read_scene_text(write_scene(scene), "written.yaml"));
    EXPECT_EQ(one.t, two.t);
    EXPECT_EQ(one.q, two.q);
    EXPECT_EQ(one.v, two.v);
}

TEST(Writer, TellsWhatNoFileCanHold) {
    Scene scene = read_scene_text("stickslip: 1\nbodies: {p: {mass: 1, inertia: 1}}", "x.yaml");
    Scene::Body body = scene.bodies[0];
    body.name = "late";
    scene.actions.push_back({1, std::make_shared<const Edit>(Edit::add(body)), {}});
    try {
        write_scene(scene);
        ADD_FAILURE() << "was written";
    } catch (const Error& e) {
        EXPECT_NE(std::string(e.what()).find("adds the new body 'late' cannot be written"), std::string::npos);
    }
}

}  // namespace
}  // namespace stickslip
