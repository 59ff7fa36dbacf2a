// Bodies and their coordinates, apart from what connects them. Joints, springs, motors, limits, loads and contacts see bodies
// through this interface only: where a body is, how it moves, and what a wrench on it does to the velocities of the system. Which
// coordinates a body has is known to the implementation alone (rigid_bodies.cpp: in space and in a plane).
//
// Body -1 is the ground. The velocities of a body are one node of the system; its centre of mass moves with the velocity, and it
// turns with the angular velocity, of twist().
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collision/contact_point.hpp"
#include "model/joints/row_pieces.hpp"
#include "stickslip/blocks.hpp"
#include "stickslip/system.hpp"
#include "stickslip/types.hpp"

namespace stickslip {

// What the bodies of a system can do at all. A connection has no rows for what none of them can.
struct Freedom {
    std::vector<Vec3> moves;  // directions at right angles, in W, in which points can move
    std::optional<Vec3>
        normal;  // unit: bodies turn about it alone and do not move along it; none: they turn about every axis

    bool moves_along(const Vec3& axis) const { return !normal || !(std::abs(axis.dot(*normal)) > 0.5); }
    bool turns_about(const Vec3& axis) const { return !normal || !(std::abs(axis.dot(*normal)) < 0.5); }
    int directions() const { return static_cast<int>(moves.size()); }
};

// Of a body, in W.
struct Acceleration {
    Vec3 linear = Vec3::Zero();   // [m/s^2] of the centre of mass
    Vec3 angular = Vec3::Zero();  // [rad/s^2]
};

class Bodies {
public:
    virtual ~Bodies() = default;

    int size() const { return static_cast<int>(node_.size()); }
    int node(int body) const { return body < 0 ? -1 : node_[body]; }  // -1: it never moves
    const Nodes& nodes() const { return nodes_; }
    int nq() const { return nq_; }  // numbers of q, at its head
    const Freedom& freedom() const { return freedom_; }
    virtual bool present(int body) const = 0;  // false: it was removed or comes later, and touches nobody

    // Centre of mass and axes, and their motion.
    virtual Pose pose(int body, const VecX& q) const = 0;
    virtual Twist twist(int body, const VecX& q, const VecX& v) const = 0;
    // What is left of a body's acceleration where dv/dt = 0: nothing if its twist is constant with v.
    virtual bool has_bias() const { return false; }
    virtual Acceleration bias(int, const VecX&, const VecX&) const { return {}; }
    // [m/s] No point of the body within `radius` of its centre of mass is faster.
    virtual double greatest_speed(int body, const VecX& v, double radius) const = 0;

    // Adds the block of a body to the last group of rows; row i is wrench[i] at its centre of mass, in W. Nothing for a body that
    // never moves.
    virtual void add_rows(int body, const VecX& q, std::span<const Wrench> wrench, BlockRows& rows) const = 0;
    // Adds a wrench at the centre of mass, in W, to the forces k.
    virtual void add_wrench(int body, const VecX& q, const Wrench& wrench, VecX& k) const = 0;
    // Adds to K = -dk/dq what a force at a body-fixed point and a torque, both constant in W, contribute.
    virtual void add_wrench_slope(int body, const VecX& q, const Vec3& point, const Wrench& wrench,
                                  BlockMatrix& K) const = 0;
    // The force -(linear + quadratic |v|) v at the centre of mass and the torque -angular omega, and C = -dk/dv of them.
    struct Resistance {
        double linear = 0, quadratic = 0, angular = 0;
    };
    virtual void add_resistance(int body, const Resistance& drag, const VecX& v, VecX& k) const = 0;
    virtual void add_resistance_slope(int body, const Resistance& drag, const VecX& v, BlockMatrix& C) const = 0;

    // Of all bodies.
    virtual void mass(BlockMatrix& M) const = 0;
    virtual void add_gyroscopic(double s, const VecX& v, BlockMatrix& A) const = 0;
    virtual void set_weight(const Vec3& gravity, VecX& k) const = 0;
    virtual double kinetic_energy(const VecX& v) const = 0;
    virtual void spins(const VecX&, const VecX&, std::vector<BodySpin>& spins) const { spins.clear(); }  // see System
    virtual double potential_energy(const Vec3& gravity, const VecX& q) const = 0;
    virtual void advance(VecX& q, const VecX& dq) const = 0;
    virtual void chart_rate(const VecX& u, const VecX& v, VecX& rate) const = 0;
    virtual void add_names(std::vector<std::string>& names) const = 0;  // of their coordinates in q

    // Puts a body into the state: its centre of mass and axes, and its velocities in W.
    virtual void place(int body, const Pose& pose, const Vec3& velocity, const Vec3& angular_velocity,
                       State& x) const = 0;

protected:
    Freedom freedom_;
    Nodes nodes_;
    std::vector<int> node_;  // per body
    int nq_ = 0;
};

}  // namespace stickslip
