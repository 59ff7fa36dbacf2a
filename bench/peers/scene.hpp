// A scene of scenes.py and the states that a driver records of it. SI units, world frame.
#pragma once

#include <Eigen/Geometry>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace peers {

using Json = nlohmann::json;
using Vec3 = Eigen::Vector3d;
using Quat = Eigen::Quaterniond;

enum class Kind { plane, box, sphere, capsule };  // plane: half-space z <= 0; capsule: along its z

struct Shape {
    Kind kind = Kind::plane;
    Vec3 half = Vec3::Zero();  // [m] of a box
    double radius = 0;         // [m]
    double half_length = 0;    // [m] of a capsule, from the middle to the centre of a cap
};

// Of the centre of mass.
struct Motion {
    Vec3 position = Vec3::Zero();
    Quat attitude = Quat::Identity();
    Vec3 velocity = Vec3::Zero(), angular_velocity = Vec3::Zero();
};

struct Body {
    Shape shape;
    double mass = 0;  // [kg]; 0: fixed
    Vec3 inertia;     // [kg m^2] principal, about the axes of the body
    Motion start;
    bool collide = true;
    bool projectile = false;  // not part of what should rest
};

struct Joint {
    int a, b;           // bodies; a = -1: the world
    Vec3 at_a, at_b;    // [m] in their frames
};

// Before step `step` the body gets this motion.
struct Event {
    int step, body;
    Motion motion;
};

// amplitude cos(omega t), at the centre of mass.
struct ForceLaw {
    int body;
    Vec3 amplitude;  // [N]
    double omega;    // [rad/s]
};

struct Scene {
    std::string name;
    double h, mu, restitution;
    double contact_stiffness;  // [N/m] of one side of a body; 0: rigid
    int steps;
    Vec3 gravity;
    std::vector<Body> bodies;
    std::vector<Joint> joints;
    std::vector<Event> events;
    std::vector<ForceLaw> forces;
    Json checks;
    static constexpr int points_per_side = 4;  // contact points that share contact_stiffness

    // Sampled in the middle of the step, so that every engine gets the same impulses.
    Vec3 force(const ForceLaw& law, int step) const { return law.amplitude * std::cos(law.omega * (step + 0.5) * h); }
    // Bodies that move, in the order in which they are recorded.
    std::vector<int> moving() const {
        std::vector<int> result;
        for (std::size_t i = 0; i < bodies.size(); ++i)
            if (bodies[i].mass > 0) result.push_back(int(i));
        return result;
    }
};

inline Vec3 read_vec(const Json& j) { return Vec3(j[0].get<double>(), j[1].get<double>(), j[2].get<double>()); }

inline Motion read_motion(const Json& j) {
    const Json& q = j.at("quat");
    Motion m{read_vec(j.at("pos")), Quat(q[0], q[1], q[2], q[3]), Vec3::Zero(), Vec3::Zero()};
    if (j.contains("linvel")) m.velocity = read_vec(j["linvel"]);
    if (j.contains("angvel")) m.angular_velocity = read_vec(j["angvel"]);
    return m;
}

inline Shape read_shape(const Json& j) {
    Shape s;
    const std::string type = j.at("type");
    s.kind = type == "plane" ? Kind::plane : type == "box" ? Kind::box : type == "sphere" ? Kind::sphere : Kind::capsule;
    if (j.contains("half")) s.half = read_vec(j["half"]);
    s.radius = j.value("radius", 0.0);
    s.half_length = j.value("half_length", 0.0);
    return s;
}

inline Scene read_scene(const std::string& file) {
    std::ifstream in(file);
    if (!in) throw std::runtime_error("cannot read " + file);
    const Json j = Json::parse(in);
    Scene s;
    s.name = j.at("name"), s.h = j.at("h"), s.steps = j.at("steps"), s.gravity = read_vec(j.at("gravity"));
    s.mu = j.at("mu"), s.restitution = j.at("restitution"), s.contact_stiffness = j.at("contact_stiffness");
    s.checks = j.at("checks");
    for (const Json& b : j.at("bodies"))
        s.bodies.push_back({read_shape(b.at("shape")), b.at("mass"), read_vec(b.at("inertia")), read_motion(b),
                            b.value("collide", true), b.contains("role")});
    for (const Json& k : j.at("joints")) s.joints.push_back({k.at("a"), k.at("b"), read_vec(k.at("pa")), read_vec(k.at("pb"))});
    for (const Json& e : j.at("events")) s.events.push_back({e.at("step"), e.at("body"), read_motion(e)});
    for (const Json& f : j.at("forces")) s.forces.push_back({f.at("body"), read_vec(f.at("amplitude")), f.at("omega")});
    return s;
}

}  // namespace peers
