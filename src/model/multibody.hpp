// Rigid bodies with joints, springs, loads and contacts, in space or in a plane.
//
//   spatial node (6): q = (x_W, quaternion R_WB), v = (dx/dt in W, omega in B), M = diag(m 1, J_B) constant,
//                     gyroscopic force (J omega) x omega
//   planar node (3):  q = v-chart (a, b, angle), M = diag(m, m, J)
//
// All body-fixed points here are relative to the centre of mass, in the axes of the body frame.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collision/finder.hpp"
#include "model/forces/time_function.hpp"
#include "stickslip/system.hpp"

namespace stickslip {

struct RigidBody {
    std::string name;
    bool fixed = false;
    double mass = 0;              // [kg]
    Mat3 inertia = Mat3::Zero();  // [kg m^2] about the centre of mass, in body axes
    Vec3 com = Vec3::Zero();      // [m] of the body's own frame, for reporting its pose
    Pose pose;                    // at t = 0: centre of mass and attitude (fixed bodies stay there)
    double radius = 0;            // [m] bound of its shapes about the centre of mass
};

enum class JointKind { fixed, ball, revolute, prismatic, distance };

struct JointEntry {
    JointKind kind;
    const char* name;
    int rows_in_space, rows_in_plane;
    const char* summary;
};
const std::vector<JointEntry>& joint_table();

struct Joint {
    std::string name;
    JointKind kind = JointKind::ball;
    int a = -1, b = -1;  // bodies; -1 is the ground
    Vec3 point_a = Vec3::Zero(), point_b = Vec3::Zero();
    Mat3 axes_a = Mat3::Identity(),
         axes_b = Mat3::Identity();  // columns x, y, z; z is the joint axis; equal in W at t = 0
    double length = 0;               // [m] distance joint
};

// One scalar row of a joint: which function of the two bodies must vanish.
enum class PieceKind { world_point, carried_point, right_angle, distance };
struct Piece {
    PieceKind kind;
    Vec3 d;  // world_point: direction in W; carried_point: in a; right_angle: the axis e in a
    Vec3 f;  // right_angle: the axis f in b
};

struct Spring {
    std::string name;
    int a = -1, b = -1;
    Vec3 point_a = Vec3::Zero(), point_b = Vec3::Zero();
    double stiffness = 0;  // [N/m]
    double damping = 0;    // [N s/m]
    double length = 0;     // [m] unloaded
};

struct Load {
    std::string name;
    int body = -1;
    Vec3 point = Vec3::Zero();                  // where the force acts, body-fixed
    std::array<TimeFunction, 3> force, torque;  // [N], [N m] in W
    double from = -infinity, until = infinity;  // [s] acts on [from, until)
};

struct SurfacePair {
    double friction = 0, restitution = 0;
};

struct MultibodyModel {
    std::vector<RigidBody> bodies;
    std::vector<Joint> joints;
    std::vector<Spring> springs;
    std::vector<Load> loads;
    Vec3 gravity = Vec3::Zero();  // [m/s^2]
    CollisionModel collision;
    std::vector<int> material;  // of each collider
    int materials = 0;
    std::vector<SurfacePair> surface;  // materials x materials
    std::vector<std::string> collider_names;
    int facets = 0;                           // cone of spatial contacts: 0 disc
    std::optional<std::array<int, 2>> plane;  // the two axes (0 x, 1 y, 2 z) of a planar scene
};

class MultibodySystem final : public System {
public:
    explicit MultibodySystem(MultibodyModel model);

    const MultibodyModel& model() const { return model_; }
    // q at t = 0 and v from the bodies' poses and the given velocities (centre of mass and angular, in W).
    State initial_state(const std::vector<Vec3>& velocity, const std::vector<Vec3>& angular_velocity) const;

    int nq() const override { return nq_; }
    bool constant_mass() const override { return true; }
    void mass(const VecX& q, BlockMatrix& M) const override;
    void forces(double t, const VecX& q, const VecX& v, Forces& k) const override;
    void add_gyroscopic(double s, const VecX& v, BlockMatrix& A) const override;
    void rows(double t, const VecX& q, ContactFinder& finder, JointRows& joints, ContactRows& contacts) const override;
    void curvature(double t, const VecX& q, const VecX& v, const ContactFinder& finder, JointRows& joints,
                   ContactRows& contacts) const override;
    void look_ahead(const VecX& v, double h, ContactFinder& finder) const override;
    double overlap_limit(const ContactId& id) const override;
    void advance(VecX& q, const VecX& dq) const override;
    Energies energies(double t, const VecX& q, const VecX& v) const override;
    double next_discontinuity(double t) const override;
    std::vector<std::string> coordinate_names() const override;
    std::vector<std::string> body_names() const override;
    BodyState body_state(int body, const VecX& q, const VecX& v) const override;
    std::string joint_name(std::uint32_t id) const override;
    std::string contact_name(const ContactId& id) const override;

    // Placement of the centre of mass and axes of a body; body -1 is the ground.
    Pose pose(int body, const VecX& q) const;
    int node(int body) const { return body < 0 ? -1 : node_[static_cast<std::size_t>(body)]; }

private:
    Twist twist(int body, const VecX& q, const VecX& v) const;
    // Writes the row (f on the centre's velocity, tau on the angular velocity, both in W) of a body into `row`.
    void write_row(const Mat3& R, const Vec3& f, const Vec3& tau, double* row) const;

    void joint_rows(const VecX& q, JointRows& rows) const;
    void contact_rows(const VecX& q, ContactFinder& finder, ContactRows& rows) const;

    MultibodyModel model_;
    std::vector<std::vector<Piece>> pieces_;  // per joint
    std::vector<int> node_;                   // per body; -1 if fixed
    std::vector<int> q_start_;                // per body: first index in q
    int nq_ = 0;
    Vec3 plane_a_ = Vec3::Zero(), plane_b_ = Vec3::Zero(), plane_n_ = Vec3::Zero();  // axes of a planar scene
};

}  // namespace stickslip
