// Rigid bodies with joints, springs, loads and contacts, in space or in a plane: the bodies and their coordinates (bodies.hpp), what
// connects them (connections.hpp), and here what acts on them and how they touch.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "collision/finder.hpp"
#include "model/connections.hpp"
#include "model/multibody_model.hpp"
#include "model/scratch_pool.hpp"
#include "stickslip/system.hpp"

namespace stickslip {

class MultibodySystem final : public System {
public:
    // What is not present is left out of contacts, rows and forces.
    explicit MultibodySystem(MultibodyModel model);
    MultibodySystem(const MultibodySystem&) = delete;
    MultibodySystem& operator=(const MultibodySystem&) = delete;

    const MultibodyModel& model() const { return model_; }
    // q at t = 0 and v from the bodies' poses and the given velocities (centre of mass and angular, in W).
    State initial_state(const std::vector<Vec3>& velocity, const std::vector<Vec3>& angular_velocity) const;

    // Puts a body into the state: its centre of mass and axes, and its velocities in W.
    void place_body(int body, const Pose& pose, const Vec3& velocity, const Vec3& angular_velocity, State& x) const {
        bodies_->place(body, pose, velocity, angular_velocity, x);
    }
    // The state x of the system that was edited into this one, without the bodies that are new. Angles of joints that were
    // not present there start at their offset; recount() them when all bodies have their places.
    State carry_over(const MultibodySystem& before, const State& x) const;
    void recount(VecX& q) const { connections_->recount(q); }
    // Counted value of a coordinate of a joint (by index) at q, as its limits and motors see it.
    double coordinate(int joint, int number, const VecX& q) const { return connections_->coordinate(joint, number, q); }
    // Placement of the centre of mass and axes of a body; body -1 is the ground.
    Pose pose(int body, const VecX& q) const { return bodies_->pose(body, q); }
    int node(int body) const { return bodies_->node(body); }

    int nq() const override { return connections_->nq(); }
    bool constant_mass() const override { return true; }
    void mass(const VecX& q, BlockMatrix& M) const override;
    void forces(double t, const VecX& q, const VecX& v, Forces& k) const override;
    bool slopes(double t, const VecX& q, const VecX& v, BlockMatrix& K, BlockMatrix& C) const override;
    void add_gyroscopic(double s, const VecX& v, BlockMatrix& A) const override;
    bool is_body_in_space(int node) const override;
    void look_ahead(const VecX& v, double h, ContactFinder& finder) const override;
    double safe_time(const VecX& q, const VecX& v, const VecX& rate, std::span<const ContactId> held, double horizon,
                     PassingGuard& guard) const override;
    void leave_out_passed(const VecX& q, const VecX& v, double h, const ContactRows& contacts, std::vector<char>& wanted,
                          PassingGuard& guard) const override;
    void find_candidates(const VecX& q, ContactFinder& finder) const override;
    double gap(const ContactId& id, const VecX& q, ContactFinder& finder) const override;
    void rows(double t, const VecX& q, ContactFinder& finder, BilateralRows& joints,
              ContactRows& contacts) const override;
    void normal_rows_on(EdgeSides sides, double t, const VecX& q, ContactFinder& finder, BilateralRows& joints,
                        ContactRows& contacts) const override;
    void bias(double t, const VecX& q, const VecX& v, const ContactFinder& finder, BilateralRows& joints,
              ContactRows& contacts) const override;
    void joint_rows(double t, const VecX& q, const VecX& v, BilateralRows& joints) const override;
    void turn_joint_rows(double t, const VecX& q, const VecX& move, BilateralRows& joints,
                         BilateralRows& scratch) const override;
    double joint_error(double t, const VecX& q, const VecX& v, double arm, BilateralRows& scratch) const override;
    void limits(const VecX& q, ContactRows& limits) const override;
    double overlap_limit(const ContactId& id) const override;
    double opening_limit(std::uint32_t joint, int row) const override;
    Scales scales(const State& start) const override;
    void advance(VecX& q, const VecX& dq) const override;
    void chart_rate(const VecX& u, const VecX& v, VecX& rate) const override;
    Energies energies(double t, const VecX& q, const VecX& v) const override;
    void spins(const VecX& q, const VecX& v, std::vector<BodySpin>& spins) const override {
        bodies_->spins(q, v, spins);
    }
    std::string undefined(double t) const override;
    double next_discontinuity(double t) const override;
    double next_jump(double t) const override;
    bool loads_vary() const override;
    std::string hasty_drive(double t0, double t1) const override;
    std::vector<std::string> coordinate_names() const override;
    std::vector<std::string> body_names() const override;
    BodyState body_state(int body, const VecX& q, const VecX& v) const override;
    std::string joint_name(std::uint32_t id) const override;
    std::string contact_name(const ContactId& id) const override;
    std::string subject_name(const Subject& subject) const override;

private:
    void leave_out_absent_colliders();
    std::span<const Pose> poses(const VecX& q, ContactFinder& finder) const;
    // With at most so many rows per contact.
    void contact_rows(const VecX& q, int most, ContactFinder& finder, ContactRows& rows) const;
    void contact_rows(std::span<const ContactPoint> contacts, std::span<const Pose> place, const VecX& q, int most, ContactRows& rows) const;
    bool acts(const Load& load, double t) const;
    bool far_moving(const VecX& v, const VecX& rate, double h, PassingGuard& guard) const;
    void place_for(const VecX& q, const VecX& v, const VecX& rate, double share, PassingGuard& guard) const;

    MultibodyModel model_;
    std::vector<double> half_thickness_;              // [m] per collider
    std::unique_ptr<const Bodies> bodies_;            // refer to the model
    std::unique_ptr<const Connections> connections_;  // refer to the model and the bodies
    ScratchPool<std::vector<ContactRows>> row_parts_;  // of contact_rows()
};

}  // namespace stickslip
