// Rigid bodies with joints, springs, loads and contacts, in space or in a plane.
//
//   spatial node (6): q = (x_W, quaternion R_WB), v = (dx/dt in W, omega in B), M = diag(m 1, J_B) constant,
//                     gyroscopic force (J omega) x omega
//   planar node (3):  q = v-chart (a, b, angle), M = diag(m, m, J)
//
// Behind the bodies q holds one number for every joint angle that something acts on, the angle with its turns counted, and
// for every point on a curve (joints/joint.hpp). Limits are contacts of dimension one: a gap, a restitution, events and impacts like any other.
//
// All body-fixed points here are relative to the centre of mass, in the axes of the body frame.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collision/finder.hpp"
#include "model/forces/time_function.hpp"
#include "model/joints/pieces.hpp"
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
    // False: not there now, but added later or removed before. It keeps its place in q and v, so that records, warm
    // starts and other bodies do not notice; it rests, weighs nothing and touches nobody.
    bool present = true;
};

struct Spring {
    std::string name;
    std::uint32_t id = 0;  // of the springs and bushings together; never renumbered by an edit
    int a = -1, b = -1;
    Vec3 point_a = Vec3::Zero(), point_b = Vec3::Zero();
    double stiffness = 0;  // [N/m]
    double damping = 0;    // [N s/m]
    double length = 0;     // [m] unloaded
    bool present = true;   // false: cut, or waits for a body
};

// Three springs along and three about the axes of a, small angles (they enter by their sines).
struct Bushing {
    std::string name;
    std::uint32_t id = 0;
    int a = -1, b = -1;
    Vec3 point_a = Vec3::Zero(), point_b = Vec3::Zero();
    Mat3 axes_a = Mat3::Identity(), axes_b = Mat3::Identity();  // equal in W at t = 0
    std::array<double, 6> stiffness{};                          // [N/m] x 3, [N m/rad] x 3
    std::array<double, 6> damping{};                            // [N s/m] x 3, [N m s/rad] x 3
    bool present = true;
};

// Force -(linear + quadratic |v|) v at the centre of mass and torque -angular omega.
struct Drag {
    std::string name;
    int body = -1;
    double linear = 0;     // [N s/m]
    double quadratic = 0;  // [N s^2/m^2]
    double angular = 0;    // [N m s/rad]
};

struct Load {
    std::string name;
    int body = -1;
    Vec3 point = Vec3::Zero();                  // where the force acts, body-fixed
    std::array<TimeFunction, 3> force, torque;  // [N], [N m] in W
    double from = -infinity, until = infinity;  // [s] acts on [from, until)
};

struct SurfacePair {
    double friction = 0, restitution = 0, tangential_restitution = 0;
};

struct MultibodyModel {
    std::vector<RigidBody> bodies;
    std::vector<Joint> joints;  // sorted by id
    // The joint angles kept in q, in their order: those of the model that was edited keep theirs, new ones go behind.
    std::vector<std::pair<std::uint32_t, int>> counted;  // joint id, coordinate
    std::vector<Spring> springs;
    std::vector<Bushing> bushings;
    std::vector<Drag> drags;
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
    // What is not present is left out of contacts, rows and forces.
    explicit MultibodySystem(MultibodyModel model);

    const MultibodyModel& model() const { return model_; }
    // q at t = 0 and v from the bodies' poses and the given velocities (centre of mass and angular, in W).
    State initial_state(const std::vector<Vec3>& velocity, const std::vector<Vec3>& angular_velocity) const;

    // Puts a body into the state: its centre of mass and axes, and its velocities in W.
    void place_body(int body, const Pose& pose, const Vec3& velocity, const Vec3& angular_velocity, State& x) const;
    // The state x of the system that was edited into this one, without the bodies that are new. Angles of joints that were
    // not present there start at their offset; recount() them when all bodies have their places.
    State carry_over(const MultibodySystem& before, const State& x) const;
    void recount(VecX& q) const;  // the counted angles, from the bodies and the turns so far

    int nq() const override { return nq_; }
    bool constant_mass() const override { return true; }
    void mass(const VecX& q, BlockMatrix& M) const override;
    void forces(double t, const VecX& q, const VecX& v, Forces& k) const override;
    bool slopes(double t, const VecX& q, const VecX& v, BlockMatrix& K, BlockMatrix& C) const override;
    void add_gyroscopic(double s, const VecX& v, BlockMatrix& A) const override;
    void find_candidates(const VecX& q, ContactFinder& finder) const override;
    double gap(const ContactId& id, const VecX& q, ContactFinder& finder) const override;
    void rows(double t, const VecX& q, ContactFinder& finder, JointRows& joints, ContactRows& contacts) const override;
    void curvature(double t, const VecX& q, const VecX& v, const ContactFinder& finder, JointRows& joints,
                   ContactRows& contacts) const override;
    void look_ahead(const VecX& v, double h, ContactFinder& finder) const override;
    void limits(const VecX& q, ContactRows& limits) const override;
    double overlap_limit(const ContactId& id) const override;
    double opening_limit(std::uint32_t joint, int row) const override;
    void advance(VecX& q, const VecX& dq) const override;
    void chart_rate(const VecX& u, const VecX& v, VecX& rate) const override;
    Energies energies(double t, const VecX& q, const VecX& v) const override;
    double next_discontinuity(double t) const override;
    std::vector<std::string> coordinate_names() const override;
    std::vector<std::string> body_names() const override;
    BodyState body_state(int body, const VecX& q, const VecX& v) const override;
    std::string joint_name(std::uint32_t id) const override;
    std::string contact_name(const ContactId& id) const override;
    std::string subject_name(const Subject& subject) const override;

    // Counted value of a coordinate of a joint (by index) at q, as its limits and motors see it.
    double coordinate(int joint, int number, const VecX& q) const;

    // Placement of the centre of mass and axes of a body; body -1 is the ground.
    Pose pose(int body, const VecX& q) const;
    int node(int body) const { return body < 0 ? -1 : node_[body]; }

private:
    Twist twist(int body, const VecX& q, const VecX& v) const;
    // Writes the row (f on the centre's velocity, tau on the angular velocity, both in W) of a body into `row`.
    void write_row(const Mat3& R, const Vec3& f, const Vec3& tau, double* row) const;

    // A spring or bushing: compliant rows between two bodies.
    struct Element {
        std::string name;
        std::uint32_t id = 0;
        int a = -1, b = -1;
        Vec3 point_a, point_b;
        double length = 0;
        std::vector<Piece> pieces;
        std::vector<double> stiffness, damping;
    };
    // One group of bilateral rows, in the order they appear.
    enum class Source : std::uint8_t { joint, curve, gear, motor, friction, brake, torsion, element };
    struct Group {
        Source source;
        std::uint32_t id;  // of the rows: Source in the top bits, then the coordinate, then the joint's or element's id
        int index;         // of the joint or element
        int drive = 0;
    };
    struct Limit {
        ContactId id;
        int joint, drive;
        bool upper;
    };
    struct Counted {  // a joint angle or a parameter on a curve, kept in q
        int joint, coordinate, place;
    };
    // A point on the curve of another body, seen from that body.
    struct OnCurve {
        Pose a;
        Vec3 arm_a, arm_b;  // [m] from the centres of mass to the point, in W
        CurveRows rows;
    };

    static constexpr std::uint32_t joint_id_mask = 0x00ffffffu;  // of Group::id

    void plan_rows();
    std::string limit_name(const ContactId& id) const;
    bool there(int body) const { return body < 0 || model_.bodies[body].present; }
    int joint_index(std::uint32_t id) const;  // -1 if there is none
    void measure_bodies();
    JointFrames frames(int a, int b, const Vec3& point_a, const Vec3& point_b, const VecX& q) const;
    JointFrames frames(const Joint& joint, const VecX& q) const;
    RowPiece coordinate_piece(int joint, int number, const VecX& q) const;  // value counted
    double coordinate_curvature(int joint, int number, const VecX& q, const VecX& v) const;
    void add_blocks(int a, int b, const VecX& q, int dim, const RowPiece* pieces, BlockRows& rows) const;
    void joint_rows(double t, const VecX& q, JointRows& rows) const;
    OnCurve on_curve(int joint, const VecX& q, const Twist* a,
                     const Twist* b) const;  // twists for the second derivative
    void curve_rows(int joint, const VecX& q, int first, JointRows& rows) const;
    double parameter(int joint, const VecX& q) const;  // on the curve, near the one in q
    void gear_row(const Joint& gear, const VecX& q, int row, JointRows& rows) const;
    void drive_row(double t, const Group& group, const VecX& q, int row, JointRows& rows) const;
    void limit_rows(const VecX& q, ContactRows& rows) const;
    double gap_at(const Limit& limit, double value) const;  // where the coordinate has this value
    double limit_gap(const ContactId& id, const VecX& q) const;
    void joint_curvature(const VecX& q, const VecX& v, JointRows& joints) const;
    double limit_curvature(const ContactId& id, const VecX& q, const VecX& v) const;
    std::span<const Pose> poses(const VecX& q, ContactFinder& finder) const;
    void contact_rows(const VecX& q, ContactFinder& finder, ContactRows& rows) const;

    MultibodyModel model_;
    std::vector<std::vector<Piece>> pieces_;       // per joint: rows that vanish
    std::vector<std::vector<Piece>> coordinates_;  // per joint
    std::vector<std::array<int, 2>> count_place_;  // per joint and coordinate: place in q of its counted angle, or -1
    std::vector<Element> elements_;
    std::vector<Group> groups_;
    std::vector<Limit> limits_;
    std::vector<Counted> counted_;
    std::vector<double> reach_;  // [m] per body: its size as joints see it; infinity if fixed
    std::vector<int> node_;      // per body; -1 if fixed
    std::vector<int> q_start_;   // per body: first index in q
    int nq_ = 0;
    Vec3 plane_a_ = Vec3::Zero(), plane_b_ = Vec3::Zero(), plane_n_ = Vec3::Zero();  // axes of a planar scene
};

}  // namespace stickslip
