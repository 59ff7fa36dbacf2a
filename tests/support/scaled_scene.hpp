// The same scene in another size: lengths by L, times by sqrt(L), masses by L^3. Gravity and densities stay, so velocities go with
// sqrt(L), forces with L^3 and stiffnesses with L^2. For L = 4^k all factors are powers of two, and a computation whose decisions
// have the right units gives the same bits, shifted.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <regex>
#include <stdexcept>
#include <string>

#include "stickslip/scene.hpp"

namespace stickslip::testing {

class SceneScale {
public:
    explicit SceneScale(double length) : L(length), T(std::sqrt(length)) {}

    void apply(Scene& scene) const {
        if (!scene.actions.empty()) throw std::runtime_error("scenes with actions are not scaled");
        for (Scene::Body& body : scene.bodies) apply(body);
        for (Scene::Joint& joint : scene.joints) apply(joint);
        for (Scene::Spring& spring : scene.springs) apply(spring);
        for (Scene::TorsionSpring& spring : scene.torsion_springs) {
            const bool turns = is_angle(scene.joints[joint_index(scene, spring.joint)].kind, spring.coordinate);
            spring.stiffness *= turns ? torque() : force() / L;
            spring.damping *= T * (turns ? torque() : force() / L);
            if (!turns) spring.rest *= L;
        }
        for (Scene::Bushing& bushing : scene.bushings) {
            bushing.at *= L;
            bushing.stiffness.head<3>() *= force() / L;
            bushing.stiffness.tail<3>() *= torque();
            bushing.damping.head<3>() *= T * force() / L;
            bushing.damping.tail<3>() *= T * torque();
        }
        for (Scene::Drag& drag : scene.drags) {
            drag.linear *= T * force() / L;
            drag.quadratic *= T * T * force() / (L * L);
            drag.angular *= T * torque();
        }
        for (Scene::Load& load : scene.loads) apply(load);
        if (scene.run.step) scene.run.step->text = fmt::format("{:.17g}", T * std::stod(scene.run.step->text));
        if (scene.run.end) *scene.run.end *= T;
    }

    const double L, T;

private:
    double force() const { return L * L * L; }
    double torque() const { return L * L * L * L; }
    double mass() const { return L * L * L; }

    static bool is_angle(const std::string& kind, int coordinate) {
        return joint_coordinates(kind)[coordinate].find("angle") != std::string::npos;
    }

    void apply(Scene::Formula& formula, double factor) const {
        if (formula.value) {
            *formula.value *= factor;
            formula.text = fmt::format("{:.17g}", *formula.value);
            return;
        }
        static const std::regex time(R"(\bt\b)");
        formula.text =
            fmt::format("{:.17g}*({})", factor, std::regex_replace(formula.text, time, fmt::format("(t/{:.17g})", T)));
    }
    void apply(Scene::Body& body) const {
        body.pose.position *= L;
        if (body.com) *body.com *= L;
        if (body.mass) *body.mass *= mass();
        if (body.inertia) *body.inertia *= mass() * L * L;
        body.velocity *= L / T;
        body.angular_velocity /= T;
        for (Scene::Shape& shape : body.shapes) {
            shape.radius *= L;
            shape.length *= L;
            shape.edges *= L;
            shape.offset *= L;
            shape.pose.position *= L;
        }
    }
    void apply(Scene::Joint& joint) const {
        for (auto* point : {&joint.at, &joint.at_a, &joint.at_b})
            if (*point) **point *= L;
        if (joint.length) *joint.length *= L;
        for (Vec3& point : joint.points) point *= L;
        if (joint.kind == "rack-pinion") joint.ratio *= L;
        joint.pitch *= L;
        for (Scene::Drive& drive : joint.drives) {
            const bool turns = is_angle(joint.kind, drive.coordinate);
            const double way = turns ? 1 : L, push = turns ? torque() : force();
            drive.start *= way;
            drive.lower *= way;
            drive.upper *= way;
            if (drive.friction) *drive.friction *= push;
            if (drive.brake) apply(*drive.brake, push);
            if (!drive.motor) continue;
            if (drive.motor->speed) apply(*drive.motor->speed, way / T);
            if (drive.motor->position) apply(*drive.motor->position, way);
            if (drive.motor->max_effort) *drive.motor->max_effort *= push;
            drive.motor->time_constant *= T;
        }
    }
    void apply(Scene::Spring& spring) const {
        spring.at_a *= L;
        spring.at_b *= L;
        spring.stiffness *= force() / L;
        spring.damping *= T * force() / L;
        if (spring.length) *spring.length *= L;
    }
    void apply(Scene::Load& load) const {
        if (load.at) *load.at *= L;
        for (Scene::Formula& f : load.force) apply(f, force());
        for (Scene::Formula& f : load.torque) apply(f, torque());
        for (Scene::Load::Row& row : load.table) {
            row.t *= T;
            row.force *= force();
        }
        load.from *= T;
        load.until *= T;
    }
};

}  // namespace stickslip::testing
