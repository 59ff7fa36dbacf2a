// Scene -> model, thing by thing: everything at t = 0, and what edits make later at the poses of then. In a model every thing
// of the scene has its place from the start: index in the scene = index in the model = id (springs, torsion springs and
// bushings share one count).
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "model/multibody.hpp"
#include "scene/standing.hpp"
#include "stickslip/simulation.hpp"

namespace stickslip {

// Where things are when a joint or spring is made.
struct Placement {
    double t = 0;                                                 // [s]
    std::vector<Pose> frames;                                     // body frames in W, not centres of mass
    std::function<double(int joint, int coordinate)> coordinate;  // of joints, for gears
};

class Builder {
public:
    // `placement` is read and the model written when something is made.
    Builder(const Scene& scene, const Standing& standing, const Placement& placement, MultibodyModel& model);

    void make_everything();

    // The thing of the scene, made now if it is there, and in its place in the model: a new one goes behind the others. A joint
    // that is not there gets its place and its drives only.
    void make_body(int body);
    void make_joint(int joint);
    void make_spring(int spring);
    void make_bushing(int bushing);
    void make_drives(int joint);  // limits, motors, ... as the scene has them now, and torsion springs
    // Bodies joined by a joint that is there do not touch, unless it says so; nor do the pairs in `also`.
    void ignore_joined(const std::vector<std::pair<int, int>>& also);

private:
    void make_materials();
    void make_curve(const Scene::Joint& joint, Joint& built) const;
    void tie_to_itself(const Scene::Joint& joint, Joint& built) const;
    void make_gear(const Scene::Joint& gear, int index, Joint& built);
    void check_planar(const Scene::Body& body, const RigidBody& built) const;
    void make_length(const Scene::Joint& joint, const Vec3& apart, Joint& built) const;
    double opening(const Joint& joint) const;
    void check_closed(const Scene::Joint& joint, double error) const;
    Mat3 joint_axes(const Scene::Joint& joint) const;
    Mat3 axes_in(int body, const Mat3& axes) const;
    Pose centre(int body) const;  // of mass, with the axes of the body
    Pose frame(int body) const { return body < 0 ? Pose{} : placement_.frames[body]; }
    Vec3 from_com(int body, const Vec3& point) const;
    Vec3 in_frame(int body, const Vec3& world) const;
    Vec3 in_world(int body, const Vec3& point) const { return frame(body) * point; }

    const Scene& scene_;
    const Standing& standing_;
    const Placement& placement_;
    MultibodyModel& model_;
    Vec3 normal_ = Vec3::Zero();
};

// The editor of a scene and the system it stands for at t = 0.
std::shared_ptr<const Editor> make_editor(const Scene& scene, std::unique_ptr<MultibodySystem>& system);

}  // namespace stickslip
