// The mechanics at (t, q, v): mass, forces, rows. A System is constant during a step and holds no state and no
// scratch memory; an edit between steps builds a new one in which ids survive.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stickslip/blocks.hpp"
#include "stickslip/problem.hpp"
#include "stickslip/tolerances.hpp"
#include "stickslip/types.hpp"

namespace stickslip {

class PassingGuard;   // collision/passing.hpp: the scratch of safe_time()
class ContactFinder;  // collision/finder.hpp: the memory of contact frames and the scratch of collision

// Smooth forces at (t, q, v), kept apart so that the energy ledger can name who did the work.
struct Forces {
    VecX potential;  // -dU/dq: gravity and other forces with a potential, springs excepted (they are rows)
    VecX applied;    // everything else: loads over time, drag, Coriolis terms of Lagrangian systems
    VecX inertial;   // the part of `applied` that is no load but those Coriolis terms; empty: none
};

// Energies of a state [J].
struct Energies {
    double kinetic = 0;
    double potential = 0;
    double elastic = 0;  // in springs (compliant rows)
};

// A body or point that can be shown and reported: pose and velocity in the world frame.
struct BodyState {
    Pose pose;
    Vec3 velocity = Vec3::Zero();
    Vec3 angular_velocity = Vec3::Zero();
    bool present = true;  // false: declared, but not there now (edit.hpp)
};

// How a body in space moves and turns, in W.
struct BodySpin {
    int body = 0;
    int node = 0;   // its velocities begin with those of the centre of mass
    int first = 0;  // of the three with which it turns: forces at their places are torques
    double mass = 0;
    Vec3 centre = Vec3::Zero();    // [m] of mass
    Vec3 velocity = Vec3::Zero();  // [m/s] of it
    Vec3 momentum = Vec3::Zero();  // [N m s] angular, about it
};

// Per edge of a system the side on which contacts are held, 1 or -1; 0 or missing: that of the configuration, the sign of
// System::edge_value.
using EdgeSides = std::span<const signed char>;

class System {
public:
    virtual ~System() = default;

    const Nodes& nodes() const { return nodes_; }
    int nv() const { return nodes_.nv(); }
    virtual int nq() const = 0;
    virtual bool constant_mass() const = 0;

    // M(q), shaped as nodes().
    virtual void mass(const VecX& q, BlockMatrix& M) const = 0;
    virtual void forces(double t, const VecX& q, const VecX& v, Forces& k) const = 0;
    // Adds s F(v) to `A`, where F(v) v is the gyroscopic force and F is antisymmetric: (J omega) x per body. F does not couple
    // nodes; velocity forces that do belong into forces(), with their slopes.
    virtual void add_gyroscopic(double s, const VecX& v, BlockMatrix& A) const;
    // True: v of this node is (velocity of the centre of mass, angular velocity in the axes of a body), whose block of M is constant, and
    // advance() turns the body by the rotation vector in dq.
    virtual bool is_body_in_space(int node) const;
    // K = -dk/dq and C = -dk/dv of forces(), shaped as nodes(), returns false and leaves them alone if both vanish.
    virtual bool slopes(double t, const VecX& q, const VecX& v, BlockMatrix& K, BlockMatrix& C) const;

    // Contacts are asked for in three steps: how far bodies may get (look_ahead), who can touch whom within that reach
    // (find_candidates, once per step), and what they do at a configuration (rows, for every trial).
    //
    // Tells the finder how far each body may get in h at velocity v.
    virtual void look_ahead(const VecX& v, double h, ContactFinder& finder) const;
    // [s] The time, at most `horizon`, in which no two bodies can pass through each other and be apart again: longer steps may hide
    // what happens on the way. `rate` is dv/dt as far as it is known (empty: none), `held` the contacts closed in the last step, sorted by id.
    virtual double safe_time(const VecX& q, const VecX& v, const VecX& rate, std::span<const ContactId> held,
                             double horizon, PassingGuard& guard) const;
    // The open ones among these contacts of shapes that lie ahead only as seen from q, since their shapes move past each other in the next
    // h: their places in the list are cleared in `wanted`. Asked for fast bodies, whose rows would stop them in the air.
    virtual void leave_out_passed(const VecX& q, const VecX& v, double h, const ContactRows& contacts,
                                  std::vector<char>& wanted, PassingGuard& guard) const;
    // Finds the pairs that can touch while bodies stay near q; the finder keeps them. Not needed for a right answer: rows()
    // notices when a body has left the region for which they were found, and finds them anew.
    virtual void find_candidates(const VecX& q, ContactFinder& finder) const;
    // Joints, springs, motors, and the contacts nearer than the finder's reach, at (t, q).
    virtual void rows(double t, const VecX& q, ContactFinder& finder, BilateralRows& joints,
                      ContactRows& contacts) const = 0;
    // Fills the bias of both: dG/dt v and dH/dt v, the part of the row acceleration that is not due to dv/dt. To be called right
    // after rows() at the same (t, q) with the same finder. Every system overrides it; those written against version 0.1 do so
    // under its former name, curvature().
    virtual void bias(double t, const VecX& q, const VecX& v, const ContactFinder& finder, BilateralRows& joints,
                      ContactRows& contacts) const;
    virtual void curvature(double t, const VecX& q, const VecX& v, const ContactFinder& finder, BilateralRows& joints,
                           ContactRows& contacts) const;
    // The bilateral rows alone, with their bias at v: what rows() and bias() give of them. No finder is asked.
    virtual void joint_rows(double t, const VecX& q, const VecX& v, BilateralRows& joints) const;
    // The Jacobian of the bilateral rows for a move [m, rad] that has q in its middle, with G move the change of their values as well as the
    // system knows; all else of `joints`, from rows() at another place, stays. `scratch` is for systems that have no shorter way than their
    // rows.
    virtual void turn_joint_rows(double t, const VecX& q, const VecX& move, BilateralRows& joints,
                                 BilateralRows& scratch) const;
    // [m] The largest |g| of joints at q; angles count times `arm` [m], in systems that know which of their rows are angles.
    // `scratch` is for those that have no shorter way than their rows.
    virtual double joint_error(double t, const VecX& q, const VecX& v, double arm, BilateralRows& scratch) const;
    // [m] Gap of one contact at q, the same number as in rows() and without the others: to look for the time when it closes.
    // Infinity if it would not be among the rows. The finder stays ready for bias() of the rows asked for last.
    virtual double gap(const ContactId& id, const VecX& q, ContactFinder& finder) const;
    // The same two with contacts held on given sides of the system's edges, also a little beyond them: a step that goes on to an
    // edge must not see what lies behind. Only systems with edges know the difference.
    virtual void rows_on(EdgeSides sides, double t, const VecX& q, ContactFinder& finder, BilateralRows& joints,
                         ContactRows& contacts) const;
    // The same for who asks for gaps and normals alone: systems may leave out the tangents, with one row per contact.
    virtual void normal_rows_on(EdgeSides sides, double t, const VecX& q, ContactFinder& finder, BilateralRows& joints,
                                ContactRows& contacts) const;
    virtual double gap_on(EdgeSides sides, const ContactId& id, const VecX& q, ContactFinder& finder) const;

    // The joint limits among the contacts of rows(), alone and cheap: schemes do not let them be passed.
    virtual void limits(const VecX& q, ContactRows& limits) const;
    // [m] Overlap of this contact beyond which it no longer says on which side the bodies are; infinity if unknown.
    virtual double overlap_limit(const ContactId& id) const;
    // [m, rad] Value of a holonomic row (which one of the group `joint`) beyond which the joint no longer joins; infinity if
    // unknown.
    virtual double opening_limit(std::uint32_t joint, int row) const;

    // q <- q (+) dq on the manifold; dq has nv entries.
    virtual void advance(VecX& q, const VecX& dq) const = 0;
    // du/dt of the chart q = q0 (+) u when the velocity is v: v itself but where attitudes turn. Methods of high order
    // integrate u from zero in every step.
    virtual void chart_rate(const VecX& u, const VecX& v, VecX& rate) const;
    // Edges between faces of different curvature: the faces meet where edge_value is zero, and one owns the contact on either
    // side.
    virtual int edges() const { return 0; }
    virtual double edge_value(int edge, const VecX& q) const;
    virtual std::string edge_name(int edge) const;
    virtual Energies energies(double t, const VecX& q, const VecX& v) const = 0;
    // The bodies in space that can turn about every axis, in the order of their nodes. Without torque their momentum is constant,
    // and only a good scheme keeps it. Left out are bodies in a plane, whose momentum no scheme gets wrong, and Lagrangian systems.
    virtual void spins(const VecX& q, const VecX& v, std::vector<BodySpin>& spins) const;
    // Empty, or what given function of time (of a load, a drive) is not finite at t, and where it was given.
    virtual std::string undefined(double t) const;
    // First load switch after t; infinity if none.
    virtual double next_discontinuity(double t) const;
    // First jump after t of a load, drive or brake that a formula gives; infinity if none is known. Schemes of high order stop there, the
    // others take the mean over their step.
    virtual double next_jump(double t) const;
    // False if forces() depends on t at those switches only, or not at all.
    virtual bool loads_vary() const { return true; }
    // Empty, or the drive or brake whose function of time changes in this step in ways that its ends and its middle do not show.
    virtual std::string hasty_drive(double t0, double t1) const;

    // How large, fast and heavy things are, when a run starts from this state. Tolerances go with it (tolerances.hpp).
    virtual Scales scales(const State& start) const;

    // Per entry of q and v whether it is one of an attitude and has no length in its unit.
    virtual void mark_turns(std::vector<char>& q, std::vector<char>& v) const;

    // Names, for records and messages.
    virtual std::vector<std::string> coordinate_names() const = 0;
    virtual std::vector<std::string> body_names() const { return {}; }
    virtual BodyState body_state(int body, const VecX& q, const VecX& v) const;
    virtual std::string joint_name(std::uint32_t id) const { return "joint " + std::to_string(id); }
    virtual std::string contact_name(const ContactId& id) const;
    virtual std::string subject_name(const Subject& subject) const;
    std::string who(const Event& event) const;  // its subject, its contact, or nothing

protected:
    Nodes nodes_;
};

// A mechanism in its own coordinates, given by functions: one node of size nv. Every function fills its last
// argument, already sized. Unit-quaternion blocks in q are declared by their first index: the three velocities
// that belong to such a block are body-frame angular velocities. Slopes not given are differences of the forces.
struct LagrangianModel {
    std::string name;
    std::vector<std::string> coordinates;  // names of q
    int nv = 0;
    std::vector<int> quaternion_blocks;  // index in q of the w of each unit quaternion
    Scales scales;                       // sizes by which tolerances are measured: without them 1 m, 1 m/s and 1 kg

    MatX constant_mass;                                                   // nv x nv, or
    std::function<void(const VecX& q, MatX& M)> mass;                     // M(q), and then also
    std::function<void(const VecX& q, const VecX& v, VecX& c)> coriolis;  // its forces, -dM/dt v + d(v'Mv/2)/dq
    std::function<void(const VecX& v, MatX& F)> gyroscopic;               // F(v), optional

    std::function<double(const VecX& q)> potential;                                        // U [J], optional
    std::function<void(const VecX& q, VecX& k)> potential_force;                           // -dU/dq
    std::function<void(double t, const VecX& q, const VecX& v, VecX& k)> applied;          // optional
    std::function<void(double t, const VecX& q, const VecX& v, MatX& K, MatX& C)> slopes;  // -dk/dq, -dk/dv, optional

    // Bilateral rows: value g(q) in metres, Jacobian row dg/dv, and (dG/dt v).
    int joints = 0;
    std::function<void(double t, const VecX& q, VecX& g)> joint_value;
    std::function<void(double t, const VecX& q, MatX& G)> joint_jacobian;
    std::function<void(double t, const VecX& q, const VecX& v, VecX& dGv)> joint_bias;
    std::vector<std::string> joint_names;

    // Nonholonomic rows G_v(q) v = w(t): Jacobian, target in m/s (zero if not given), and (dG_v/dt v).
    int velocity_rows = 0;
    std::function<void(double t, const VecX& q, MatX& G)> velocity_jacobian;
    std::function<void(double t, VecX& w)> velocity_target;  // optional
    std::function<void(double t, const VecX& q, const VecX& v, VecX& dGv)> velocity_bias;
    std::vector<std::string> velocity_names;

    // Springs and dampers on any function of q: the force -(stiffness phi + damping dphi/dt) along its gradient.
    struct Spring {
        std::string name;
        double stiffness = 0;                                      // [N/m]
        double damping = 0;                                        // [N s/m]
        std::function<double(const VecX& q)> value;                // phi [m], zero when relaxed
        std::function<void(const VecX& q, VecX& G)> gradient;      // nv: G v = dphi/dt
        std::function<double(const VecX& q, const VecX& v)> bias;  // dG/dt v, zero if not given
    };
    std::vector<Spring> springs;

    // Dry friction under a known normal force: G v = 0 as long as that needs no more than `force`.
    struct DryFriction {
        std::string name;
        double force = 0;                                          // [N] mu times the normal force
        std::function<void(const VecX& q, VecX& G)> row;           // nv, of unit slip speed
        std::function<double(const VecX& q, const VecX& v)> bias;  // dG/dt v, zero if not given
    };
    std::vector<DryFriction> friction;

    // Contacts: gap phi(q) in metres, N = dphi/dv, and 0 to 2 tangent rows of unit slip speed.
    struct Contact {
        std::string name;
        int tangents = 0;
        double friction = 0;
        double restitution = 0;
        double tangential_restitution = 0;  // of slip, in Newton's law
        int facets = 0;                     // cone of two tangents: 0 disc, 2k polygon
        int edge = -1;                      // it exists on one side of this edge only,
        int side = 1;                       // where the edge's value is positive (1) or negative (-1)
        std::function<double(const VecX& q)> gap;
        std::function<void(const VecX& q, MatX& H)> jacobian;               // (1 + tangents) x nv
        std::function<void(const VecX& q, const VecX& v, VecX& dHv)> bias;  // 1 + tangents
    };
    std::vector<Contact> contacts;

    // Where contacts hand over to each other: one on either side, with equal gap and gradient where the value is zero. Their
    // functions must go on smoothly a little beyond the edge.
    struct Edge {
        std::string name;
        std::function<double(const VecX& q)> value;  // changes its sign at the edge
    };
    std::vector<Edge> edges;

    std::function<double(double t)> next_discontinuity;  // optional
    // Bodies to show, optional.
    std::vector<std::string> bodies;
    std::function<BodyState(int body, const VecX& q, const VecX& v)> body_state;
};

std::unique_ptr<System> make_lagrangian_system(LagrangianModel model);

}  // namespace stickslip
