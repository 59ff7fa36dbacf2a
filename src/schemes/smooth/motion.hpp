// The equations of motion between two events, where the modes of all contacts and of all rows with force bounds are given:
//
//   M(q) a = f(t, q, v) + C(q, v) y          y [N]: forces of the rows imposed
//   J(q) v = w(t)                            velocity form of these rows
//   J(q) a = dw/dt - dJ/dt v                 acceleration form
//
// Rows imposed: rigid joint rows, drives and brakes that hold, normals of closed contacts, and the tangents of those that
// stick. C = J', but a sliding contact pushes along N' - mu D' d, d the direction of its slip. f holds everything else: loads,
// gyroscopic force, springs and dampers, drives and brakes at their bounds. w is the target of velocity rows.
//
// Half-explicit methods take C at one configuration and J at another [Haddouni (2.58), (2.71)]; the system
//
//   [ M  -C ] [ a ]   [ f ]                 S = J M^-1 C,   S y = r - J M^-1 f,   a = M^-1 (f + C y)
//   [ J   0 ] [ y ] = [ r ]
//
// is solved through S, dense (schur.hpp); M is factored by node or, where nodes are coupled, as a whole. Redundant rows of joints
// are left out beforehand (diagnose/redundancy), chosen anew at the start of each step.
#pragma once

#include <vector>

#include "schemes/smooth/schur.hpp"
#include "schemes/smooth/target_rates.hpp"
#include "stickslip/scheme.hpp"

namespace stickslip {

// The modes of one smooth phase.
struct Modes {
    std::vector<ContactId> contact;  // sorted: the closed ones,
    std::vector<ContactMode> mode;   // stick or slip,
    std::vector<Vec2> slip;          // and the direction of slip, zero where they stick
    std::vector<double> slip_speed;  // [m/s] at the start of the step, in space; shorter: not known
    std::vector<char> straight;      // in space: the slip keeps its direction over the step, in which it stops
    std::vector<signed char> bound;  // per bilateral row: 0 imposed, -1 or 1 pushes with its lower or upper bound

    int find(const ContactId& id) const;  // -1: not closed
};

// The equations at one (t, q, v). Filled by Motion, which does not ask the system again for what stands here already.
struct MotionPoint {
    double t = 0;
    VecX q, v;
    BilateralRows joints;  // all rows of the system there
    ContactRows contacts;
    unsigned version = 0;     // of Motion, for which these are the rows at (t, q)
    bool bias_known = false;  // their bias and `target_rate` are those
    VecX bias_v;              // at this velocity
    RowVec target_rate;       // [m/s^2] per bilateral row: how fast its target changes
    BlockMatrix mass;
    Forces forces;
    VecX force;                      // nv: f
    RowVec spring_force;             // [N] per bilateral row: compliant ones and those at their bounds
    RowVec damper_force;             // [N] the part of it due to speed
    BlockRows rows;                  // J, one group per source of the motion
    BlockRows push;                  // C'
    RowVec target;                   // w
    RowVec row_speed;                // J v - w
    std::vector<int> place;          // per contact of the modes: where it stands in `contacts`
    std::vector<Vec2> slip;          // [m/s] per contact that slides: its slip in (t1, t2) at v,
    std::vector<Vec2> slip_towards;  // and the unit direction that friction opposes
    unsigned solved = 0;             // the phase of Motion in whose acceleration form a and y are
    VecX a;                          // nv: the solution,
    RowVec y;                        // [N] per imposed row
};

class Motion {
public:
    // What an imposed group of rows comes from.
    struct Source {
        int joint_group = -1;  // rows `first` .. of this group of joints, or
        int first = 0;
        int contact = -1;  // entry of Modes
        int dim = 1;
        friend bool operator==(const Source&, const Source&) = default;
    };
    enum class Trouble : unsigned char { none, contact_lost, singular };

    double shortest_servo = 0;  // [s] position motors are slowed to it: what is faster than a fixed step makes explicit methods unstable
    // The system and the finder of a step; rows that were found for others are forgotten.
    void attach(const System& system, Step& s);
    // Contact frames, reach or sides have changed: rows found so far are not those of the system any more.
    void forget();

    // Modes of the phase from x on. Chooses the independent joint rows at x; uses s.redundancy.
    void begin(const System& system, const Modes& modes, const State& x, Step& s);
    // The same where the rows at x are in p.
    void begin(const Modes& modes, const MotionPoint& p, Step& s);
    const System& system() const { return *system_; }
    const Tolerances& tolerances() const { return *tolerances_; }
    // Sizes of positions, velocities and forces, as lengths, speeds and forces at the length of the scene.
    double position_size(const VecX& q) const;  // [m] attitudes do not count
    double speed_size(const VecX& v) const;     // [m/s]
    double force_size(const VecX& f) const;     // [N]
    const Modes& modes() const { return *modes_; }
    const std::vector<Source>& sources() const { return sources_; }
    // The source of contact i of the modes, and its first imposed row. Contacts come behind all joints.
    const Source& contact_source(int i) const { return sources_[sources_.size() - modes_->contact.size() + i]; }
    int contact_row(int i) const { return first_row_[i]; }
    int rows() const { return row_count_; }
    int side(int edge) const;  // of an edge of the system, on which contacts are held
    EdgeSides sides() const { return *sides_; }

    // Whether the rows at (t, q) are in p.
    bool holds(const MotionPoint& p, double t, const VecX& q) const;
    // Rows of the system at (t, q), whatever the modes: p.t, p.q, p.joints, p.contacts.
    void read(double t, const VecX& q, MotionPoint& p);
    // The same with p.v, p.mass, p.forces, the bias of all rows and p.target_rate.
    void observe(double t, const VecX& q, const VecX& v, MotionPoint& p);
    // Rows imposed and their targets at (t, q): what read() gives, p.rows, p.target. False when a closed contact is not there.
    bool find(double t, const VecX& q, MotionPoint& p);
    // M, f and C at (p.t, p.q, v), after find().
    void load(const VecX& v, MotionPoint& p);
    // rate = dw/dt - dJ/dt v at p, after load(): the right side of the acceleration form.
    void acceleration_side(MotionPoint& p, RowVec& rate);
    // Solves with M, f, C of p and J of `at` for J a = r; fills p.a and p.y.
    void solve(MotionPoint& p, const MotionPoint& at, const RowVec& r);
    // The same with the factors of the last solve(), for another r or p.force.
    void solve_again(MotionPoint& p, const MotionPoint& at, const RowVec& r);
    // find, load and solve in the acceleration form: the instantaneous accelerations and forces at (t, q, v).
    bool evaluate(double t, const VecX& q, const VecX& v, MotionPoint& p);

    // Whether p holds the solution of the acceleration form at (t, q, v) in this phase; mark_solved() says so after solve().
    bool solved(const MotionPoint& p, double t, const VecX& q, const VecX& v) const;
    void mark_solved(MotionPoint& p) const { p.solved = phase_; }

    // x := M^-1 x with the mass of p (factors of the last load or solve of it).
    void divide_by_mass(const MotionPoint& p, VecX& x);

    Trouble trouble() const { return trouble_; }
    int rank_defect() const { return schur_.rank_defect(); }  // of the last solve
    const ContactId& lost() const { return lost_; }

    // [N] Normal and tangential force of contact i of the modes, in its frame (n, t1, t2).
    Vec3 contact_force(int i, const MotionPoint& p) const;
    // [N] All bilateral rows of the system, those imposed and those that push.
    void joint_forces(const MotionPoint& p, RowVec& forces) const;
    int imposed_row(int joint_row, const MotionPoint& p) const;  // of p.y that imposes this bilateral row, -1: none

private:
    void choose_rows(const MotionPoint& p);
    void find_bias(MotionPoint& p);
    Vec2 slip_at(int i, const MotionPoint& p) const;
    Vec2 direction_of(int i, const Vec2& slip, const MotionPoint& p) const;
    void copy_rows(const BlockRows& from, int group, int first, int count, BlockRows& to) const;
    void copy_all(const BlockRows& from, BlockRows& to) const;
    void factor_mass(const MotionPoint& p);

    const System* system_ = nullptr;
    const Tolerances* tolerances_ = nullptr;
    std::vector<char> turns_q_, turns_v_;  // per entry of q and v: it is one of an attitude
    const Modes* modes_ = nullptr;
    ContactFinder* finder_ = nullptr;
    const std::vector<signed char>* sides_ = nullptr;  // of the step
    const MotionPoint* found_ = nullptr;               // whose rows the finder holds
    unsigned version_ = 1;                             // of rows that are up to date
    std::vector<Source> sources_;
    std::vector<int> first_row_;  // per contact of the modes: its first imposed row
    unsigned phase_ = 1;          // counts the changes of sources and modes,
    Modes phase_modes_;           // which were these
    std::vector<Source> phase_sources_;
    std::vector<char> kept_;     // per bilateral row: not redundant
    bool joints_alone_ = false;  // the rows imposed are those of the joints, all of them, one per group
    bool pushes_ = false;        // some bilateral row is a spring or at its bound
    bool slides_ = false;        // some contact does
    int row_count_ = 0;
    Trouble trouble_ = Trouble::none;
    ContactId lost_;

    // work
    MotionPoint start_;    // rows at the start of the phase,
    StepProblem problem_;  // and the problem that chooses independent ones
    BlockMatrix gyroscopic_;
    BlockFactors mass_factors_;
    std::vector<double> mass_of_factors_;                      // values whose factors these are,
    std::vector<BlockMatrix::Coupling> couplings_of_factors_;  // and where they stand
    Schur schur_;
    RowVec rhs_;
    RowVec Gv_, speed_;
    TargetRateScratch target_scratch_;
};

}  // namespace stickslip
