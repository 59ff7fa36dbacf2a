// What the audit reads off the scene itself: sizes, masses, inertias, limits, the step, and what nobody uses.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "scene/check.hpp"
#include "scene/reader.hpp"

namespace stickslip {

namespace {

// Ranges outside of which a number was probably written in another unit. Real machines from a watch to a ship, and
// materials from aerogel to osmium, lie inside.
constexpr double lightest = 1, densest = 25000;     // [kg/m^3]
constexpr double smallest = 1e-6, largest = 1e4;    // [m] of a shape
constexpr double farthest = 1e6;                    // [m] from the origin
constexpr double fastest = 1e4, spinning = 1e5;     // [m/s], [rad/s]
constexpr double weak_gravity = 0.1, strong = 100;  // [m/s^2]
constexpr double longest_step = 0.1;                // [s]
constexpr double stiff = 2;                         // h sqrt(k/m), where explicit methods end

void add(Audit& audit, Severity severity, const char* topic, std::string message, std::string advice,
         std::vector<std::string> who, const Place& place) {
    audit.findings.push_back({severity, topic, std::move(message), std::move(advice), std::move(who), place});
}

double volume(const std::vector<Shape>& shapes) {
    double sum = 0;
    for (const Shape& shape : shapes)
        if (has_mass(shape)) sum += mass_properties(shape).mass;
    return sum;
}

std::vector<Shape> shapes_of(const MultibodyModel& model, int body) {
    std::vector<Shape> shapes;
    for (const Collider& collider : model.collision.colliders)
        if (collider.body == body) shapes.push_back(collider.shape);
    return shapes;
}

// Reduced mass of two bodies; ground and fixed bodies do not give way.
double reduced(double a, double b) { return 1 / (1 / a + 1 / b); }

double mass_of(const MultibodyModel& model, int body) {
    if (body < 0 || model.bodies[body].fixed) return infinity;
    return model.bodies[body].mass;
}

double inertia_about(const MultibodyModel& model, int body, const Vec3& axis_B) {
    if (body < 0 || model.bodies[body].fixed) return infinity;
    return axis_B.dot(model.bodies[body].inertia * axis_B);
}

}  // namespace

void check_units(const Scene& scene, const MultibodyModel& model, Audit& audit) {
    const char* millimetres = "lengths are in metres, masses in kg: are these millimetres or grams?";
    const double g = scene.gravity.norm();
    if (g > strong || (g > 0 && g < weak_gravity))
        add(audit, Severity::warning, "units", fmt::format("gravity is {:.4g} m/s^2", g),
            "on earth it is 9.81 m/s^2; 9810 would be mm/s^2", {}, {scene.file, 0, 0});
    for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
        const Scene::Body& body = scene.bodies[b];
        const std::vector<Shape> shapes = shapes_of(model, static_cast<int>(b));
        for (std::size_t i = 0; i < shapes.size(); ++i) {
            if (!has_mass(shapes[i])) continue;
            const Aabb box = world_bounds(shapes[i], {});
            const double size = (box.upper - box.lower).maxCoeff(), thin = 2 * half_thickness(shapes[i]);
            if (size > largest || thin < smallest)
                add(audit, Severity::warning, "units",
                    fmt::format("a {} of body '{}' measures {:.4g} m", body.shapes[i].kind, body.name,
                                size > largest ? size : thin),
                    millimetres, {body.name}, body.shapes[i].place);
        }
        if (body.pose.position.norm() > farthest)
            add(audit, Severity::warning, "units",
                fmt::format("body '{}' is {:.3g} m away from the origin", body.name, body.pose.position.norm()),
                "put the origin near the bodies: gaps lose digits far away", {body.name}, body.place);
        if (body.velocity.norm() > fastest || body.angular_velocity.norm() > spinning)
            add(audit, Severity::warning, "units",
                fmt::format("body '{}' starts with {:.4g} m/s and {:.4g} rad/s", body.name, body.velocity.norm(),
                            body.angular_velocity.norm()),
                "speeds are in m/s and rad/s: are these mm/s or revolutions per minute?", {body.name}, body.place);
        const double space = volume(shapes);
        if (body.fixed || !(space > 0)) continue;
        const double density = model.bodies[b].mass / space;
        if (density < lightest || density > densest)
            add(audit, Severity::warning, "units",
                fmt::format("body '{}' has {:.4g} kg in {:.4g} m^3: a density of {:.3g} kg/m^3", body.name,
                            model.bodies[b].mass, space, density),
                millimetres, {body.name}, body.place);
    }
}

void check_inertia(const Scene& scene, const MultibodyModel& model, Audit& audit) {
    for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
        const Scene::Body& body = scene.bodies[b];
        if (body.fixed || !body.inertia || model.plane) continue;
        // Principal moments of a symmetric 3 x 3 matrix [Smith, eigenvalues in closed form]
        const Mat3& J = *body.inertia;
        const double mean = J.trace() / 3;
        const Mat3 off = J - mean * Mat3::Identity();
        const double p = std::sqrt(off.squaredNorm() / 6);
        Vec3 moment = Vec3::Constant(mean);
        if (p > 0) {
            const double angle = std::acos(std::clamp((off / p).determinant() / 2, -1.0, 1.0)) / 3;
            const double third = 2 * std::acos(-1.0) / 3;
            moment = {mean + 2 * p * std::cos(angle), mean + 2 * p * std::cos(angle - third),
                      mean + 2 * p * std::cos(angle + third)};
        }
        const double high = moment.maxCoeff(), low = moment.minCoeff();
        const double radius = model.bodies[b].radius, mass = model.bodies[b].mass;
        // About any axis the mass is at most `radius` away.
        if (radius > 0 && high > mass * radius * radius * (1 + 1e-9))
            add(audit, Severity::warning, "inertia",
                fmt::format(
                    "body '{}' has a moment of inertia of {:.4g} kg m^2, but {:.4g} kg within {:.4g} m can have "
                    "at most {:.4g}",
                    body.name, high, mass, radius, mass * radius * radius),
                "leave `inertia` out to have it computed from the shapes, or mend its unit (kg m^2)", {body.name},
                body.place);
        // I1 + I2 = I3: all mass in a plane; then I1 = 0 would be a line.
        const double thickness = moment.sum() - 2 * high;
        if (thickness < 1e-6 * high && radius > 0)
            add(audit, Severity::note, "inertia",
                fmt::format("body '{}' has the inertia of a sheet without thickness: {:.4g} + {:.4g} = {:.4g} kg m^2",
                            body.name, moment.sum() - high - low, low, high),
                "right for thin plates; otherwise leave `inertia` out to have it computed from the shapes", {body.name},
                body.place);
        if (low < 1e-6 * high)
            add(audit, Severity::note, "inertia",
                fmt::format("the moments of inertia of body '{}' differ by a factor of {:.2g}", body.name, high / low),
                "spin about the small one needs small steps", {body.name}, body.place);
    }
}

void check_limits(const Scene& scene, Audit& audit) {
    const auto find_drive = [&](const Scene::Joint& joint, int coordinate) -> const Scene::Drive* {
        for (const Scene::Drive& drive : joint.drives)
            if (drive.coordinate == coordinate) return &drive;
        return nullptr;
    };
    for (const Scene::Joint& joint : scene.joints) {
        for (const Scene::Drive& drive : joint.drives) {
            if (drive.lower == drive.upper)
                add(audit, Severity::warning, "limits",
                    fmt::format("the limits of joint '{}' leave no play: [{}, {}]", joint.name, drive.lower,
                                drive.upper),
                    "use a joint that holds the coordinate, or leave some play", {joint.name}, drive.limits_place);
            if (!drive.motor || !drive.motor->position || !drive.motor->position->value) continue;
            const double target = *drive.motor->position->value;
            if (target < drive.lower || target > drive.upper)
                add(audit, Severity::warning, "limits",
                    fmt::format("the motor of joint '{}' aims at {}, outside its limits [{}, {}]", joint.name, target,
                                drive.lower, drive.upper),
                    "the motor will push against the limit for ever, and without max_torque or max_force the two "
                    "contradict each other",
                    {joint.name}, drive.motor->position->place);
        }
        if (!joint_kind(joint.kind).is_gear()) continue;
        // first - start = ratio (second - start): the range that the limits of both leave to the first
        const auto [c1, c2] = gear_coordinates(scene, joint, static_cast<int>(&joint - scene.joints.data()));
        const Scene::Joint &one = scene.joints[joint_index(scene, joint.first)],
                           &two = scene.joints[joint_index(scene, joint.second)];
        const Scene::Drive *d1 = find_drive(one, c1), *d2 = find_drive(two, c2);
        if (!d1 || !d2) continue;
        double low = d1->start + joint.ratio * (d2->lower - d2->start),
               high = d1->start + joint.ratio * (d2->upper - d2->start);
        if (low > high) std::swap(low, high);
        low = std::max(low, d1->lower);
        high = std::min(high, d1->upper);
        if (high - low <= 1e-9)
            add(audit, Severity::warning, "limits",
                fmt::format("the limits of '{}' and '{}' leave no motion to '{}', which couples them", one.name,
                            two.name, joint.name),
                "the coordinates are tied from their values at t = 0: move a `start` or widen the limits",
                {joint.name, one.name, two.name}, joint.place);
        if (d1->motor && d2->motor && !d1->motor->max_effort && !d2->motor->max_effort)
            add(audit, Severity::warning, "limits",
                fmt::format("'{}' and '{}' both have motors without a largest force, and '{}' couples them", one.name,
                            two.name, joint.name),
                "unless their targets agree for ever they contradict each other: give one a largest force",
                {joint.name, one.name, two.name}, joint.place);
    }
}

void check_step_size(const Scene& scene, const MultibodyModel& model, const RunSettings& run, Audit& audit) {
    const double h = run_step(run);
    const Place place = scene.run.step ? scene.run.step->place : scene.run.place;
    if (h > longest_step)
        add(audit, Severity::warning, "step", fmt::format("the step is {:.3g} s", h),
            "contact wants steps of 1e-2 s and less; steps are in seconds", {}, place);
    for (std::size_t b = 0; b < scene.bodies.size(); ++b) {
        const Scene::Body& body = scene.bodies[b];
        if (body.fixed) continue;
        double thin = infinity;
        for (const Shape& shape : shapes_of(model, static_cast<int>(b))) thin = std::min(thin, half_thickness(shape));
        const double way = h * (body.velocity.norm() + body.angular_velocity.norm() * model.bodies[b].radius);
        if (way > thin)
            add(audit, Severity::warning, "step",
                fmt::format("body '{}' moves {:.3g} m in one step of {:.3g} s, more than half its thickness ({:.3g} m)",
                            body.name, way, h, thin),
                fmt::format("it may pass through others: take a step below {:.2g} s", h * thin / way), {body.name},
                body.place);
    }
    const auto tell_stiff = [&](const std::string& name, double k, double m, const Place& where) {
        const double product = h * std::sqrt(k / m);
        if (!(product > stiff) || !std::isfinite(product)) return;
        add(audit, Severity::note, "step",
            fmt::format("'{}' is stiff for this step: h sqrt(k/m) = {:.3g}", name, product),
            "the implicit springs stay stable, but its vibration is not resolved and is damped for theta > 1/2", {name},
            where);
    };
    for (std::size_t i = 0; i < scene.springs.size(); ++i) {
        const Scene::Spring& spring = scene.springs[i];
        tell_stiff(spring.name, spring.stiffness,
                   reduced(mass_of(model, body_index(scene, spring.a)), mass_of(model, body_index(scene, spring.b))),
                   spring.place);
    }
    for (const Scene::Bushing& bushing : scene.bushings)
        tell_stiff(bushing.name, bushing.stiffness.head<3>().maxCoeff(),
                   reduced(mass_of(model, body_index(scene, bushing.a)), mass_of(model, body_index(scene, bushing.b))),
                   bushing.place);
    for (const Scene::TorsionSpring& spring : scene.torsion_springs) {
        const Joint& joint = model.joints[joint_index(scene, spring.joint)];
        const bool turns = joint.kind->coordinates[spring.coordinate].turns();
        const double inertia = !turns ? reduced(mass_of(model, joint.a), mass_of(model, joint.b))
                                      : reduced(inertia_about(model, joint.a, joint.axes_a.col(2)),
                                                inertia_about(model, joint.b, joint.axes_b.col(2)));
        tell_stiff(spring.name, spring.stiffness, inertia, spring.place);
    }
}

void check_unused(const Scene& scene, Audit& audit) {
    std::set<std::string> materials, held;
    int colliders = 0;
    for (const Scene::Body& body : scene.bodies) {
        if (!body.shapes.empty()) ++colliders;
        for (const Scene::Shape& shape : body.shapes) materials.insert(shape.material.text);
    }
    for (const Scene::Joint& joint : scene.joints) held.insert({joint.a.text, joint.b.text});
    for (const Scene::Spring& spring : scene.springs) held.insert({spring.a.text, spring.b.text});
    for (const Scene::Bushing& bushing : scene.bushings) held.insert({bushing.a.text, bushing.b.text});

    for (const Scene::Material& material : scene.materials)
        if (material.name != "default" && !materials.contains(material.name))
            add(audit, Severity::note, "unused", fmt::format("no shape is made of the material '{}'", material.name),
                "give it to a shape with `material`, or leave it out", {material.name}, material.place);
    for (const Scene::Pair& pair : scene.contacts.pairs)
        if (!materials.contains(pair.a.text) || !materials.contains(pair.b.text))
            add(audit, Severity::note, "unused",
                fmt::format("the pair of '{}' and '{}' can never meet", pair.a.text, pair.b.text),
                "one of the two is the material of no shape", {pair.a.text, pair.b.text}, pair.place);
    for (const Scene::Body& body : scene.bodies) {
        const bool touches = !body.shapes.empty() && colliders > 1;
        if (touches || held.contains(body.name) || !scene.actions.empty()) continue;  // an action may come to it
        if (body.fixed)
            add(audit, Severity::note, "unused", fmt::format("nothing can touch the fixed body '{}'", body.name),
                "give it shapes, or leave it out", {body.name}, body.place);
        else
            add(audit, Severity::note, "free", fmt::format("nothing touches or holds body '{}'", body.name),
                "it flies freely; give it shapes or joints if that is not meant", {body.name}, body.place);
    }
}

}  // namespace stickslip
