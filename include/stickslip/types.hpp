// The words every other header uses: vectors, poses, the state, contact ids, modes, events.
//
// Conventions, decided once:
//   units           SI, radians.
//   body            q = (x, quaternion w x y z): centre of mass in W and attitude R_WB;
//                   v = (centre of mass velocity in W, angular velocity in B), so that M is constant.
//   planar body     q = v = 3: the two axes of the plane in their named order and the angle, right-handed
//                   about the plane's normal.
//   contact         bodies a, b; frame (n, t1, t2), n from b to a; u_N > 0 opens; p acts on a, -p on b.
//   gap             phi > 0 apart, phi < 0 overlapping.
//   multipliers     impulses [N s] everywhere; a force is impulse / h and only recorders compute it.
//   indices         int, column-major storage; an absent body is -1 and means the ground.
#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <cstdint>
#include <limits>
#include <string>

namespace stickslip {

using Vec2 = Eigen::Vector2d;
using Vec3 = Eigen::Vector3d;
using Vec6 = Eigen::Matrix<double, 6, 1>;
using Mat3 = Eigen::Matrix3d;
using VecX = Eigen::VectorXd;
using MatX = Eigen::MatrixXd;
using Quat = Eigen::Quaterniond;
using ConstRef = Eigen::Ref<const VecX>;

inline constexpr double infinity = std::numeric_limits<double>::infinity();

// A rigid placement: takes points of the body frame B to the world W.
struct Pose {
    Vec3 position = Vec3::Zero();      // [m] origin of B in W
    Quat attitude = Quat::Identity();  // R_WB

    Vec3 operator*(const Vec3& x_B) const { return position + attitude * x_B; }
};

// Where the system is: time, configuration (nq numbers), velocity (nv numbers, nq >= nv).
struct State {
    double t = 0;  // [s]
    VecX q;
    VecX v;
};

// What a contact is between. In the order of contacts: those of shapes come first.
enum class ContactKind : std::uint32_t {
    shapes,            // two shapes, or a contact of a Lagrangian system
    limit,             // a coordinate of a joint and its lower or upper limit
    none = 0xffffffff  // no contact at all
};

// A number for each side of a contact.
struct SidePair {
    std::uint32_t a = 0, b = 0;
    friend auto operator<=>(const SidePair&, const SidePair&) = default;
};

// Who touches whom, and with which feature (corner, edge pair, ...). Ordered as its members are, stable from step to step.
//   shapes      a, b are their numbers, in scene order and never renumbered by an edit
//   Lagrangian  a is the number of the contact, the rest is zero
//   limit       a is the id of the joint, b its coordinate, feature.a 0 for the lower and 1 for the upper limit
struct ContactId {
    ContactKind kind = ContactKind::shapes;
    std::uint32_t a = 0, b = 0;
    SidePair part{};  // of shapes made of many (compounds, meshes): which of them, counted through all levels; else 0
    SidePair feature{};  // of that part: face, edge, vertex and its number (collision/contact_point.hpp)
    friend auto operator<=>(const ContactId&, const ContactId&) = default;
};

// Named by events that no contact caused; nothing has this id.
inline constexpr ContactId no_contact{ContactKind::none, 0xffffffffu, 0xffffffffu, {}, {}};

// What an event is about when it is no contact: what an edit added, removed, attached, cut or drove.
enum class SubjectKind : std::uint32_t { none, body, joint, spring };  // springs: bushings and torsion springs too
struct Subject {
    SubjectKind kind = SubjectKind::none;
    std::uint32_t id = 0;  // never renumbered by an edit
    friend auto operator<=>(const Subject&, const Subject&) = default;
};

// The section of a friction cone is a disc or a regular polygon, told apart by its number of facets.
inline constexpr int disc_facets = 0;
constexpr bool is_disc(int facets) { return facets == disc_facets; }

enum class ContactMode : std::uint8_t { open, stick, slip, impact };
const char* to_string(ContactMode mode);

// From `add` to `drive` they are edits (edit.hpp): what was added, removed, attached, cut or driven is the event's `subject`.
enum class EventKind : std::uint8_t {
    impact,
    take_off,
    stick_to_slip,
    slip_to_stick,
    load_switch,
    add,
    remove,
    attach,
    cut,
    drive,
    accumulation,  // impacts came ever faster; t is when they would have come to an end
    edge,          // a contact passed from one face to the next, whose curvature differs
    method_switch  // the hybrid scheme went from events to time-stepping or back; `reason` says why
};
constexpr bool is_edit(EventKind kind) { return kind >= EventKind::add && kind <= EventKind::drive; }
const char* to_string(EventKind kind);

// Why the hybrid scheme changed its method.
enum class SwitchReason : std::uint8_t {
    none,
    impacts,   // to time-stepping: two impacts closer than its step
    friction,  // a change between stick and slip, or friction in space
    edge,      // a contact passes an edge
    forces,    // contact forces are not unique, or the modes of the contacts could not be decided
    open,      // back to events: the contact is open
    closed     // the contact is closed for good
};
inline constexpr std::size_t switch_reasons = 7;
const char* to_string(SwitchReason reason);

// Something that happened inside a step, located by the scheme or announced by the schedule.
struct Event {
    double t = 0;  // [s]
    EventKind kind = EventKind::impact;
    // The contact; System::who names it, or the subject. An edge: the contact that takes over. A method_switch: the contact
    // that caused it, or no_contact. Edits and load switches: no_contact.
    ContactId contact = no_contact;
    ContactMode before = ContactMode::open;
    ContactMode after = ContactMode::open;
    double normal_speed_before = 0;  // [m/s] N v-, negative when approaching; attach: largest |G v-| of the new rows
    double normal_speed_after = 0;   // [m/s] N v+
    double impulse = 0;              // [N s] normal impulse; attach: largest of the new rows, when velocities disagreed
    SwitchReason reason = SwitchReason::none;  // method_switch
    Subject subject{};                         // edits: what was changed
};

}  // namespace stickslip
