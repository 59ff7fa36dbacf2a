// Joints, drives, springs and limits between bodies, as rows; written against the interface of the bodies alone (bodies.hpp).
//
// Behind the bodies q holds one number for every joint angle that something acts on, the angle with its turns counted, and
// for every point on a curve (joints/joint.hpp). Limits are contacts of dimension one: a gap, a restitution, events and impacts
// like any other.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "model/bodies.hpp"
#include "model/joints/pieces.hpp"
#include "model/multibody_model.hpp"
#include "stickslip/problem.hpp"

namespace stickslip {

class Connections {
public:
    // Both must stay where they are. The model's list `counted` is brought up to date.
    Connections(MultibodyModel& model, const Bodies& bodies);

    int nq() const { return nq_; }  // with the numbers of the bodies
    void add_names(std::vector<std::string>& names) const;
    // Counted value of a coordinate of a joint (by index) at q, as its limits and motors see it.
    double coordinate(int joint, int number, const VecX& q) const;
    void start(VecX& q) const;    // the counted angles at t = 0
    void recount(VecX& q) const;  // from the bodies and the turns so far
    // The counted angles of q_before, of the system that was edited into this one. Those of joints that were not present there
    // start at their offset.
    void carry_over(const Connections& before, const VecX& q_before, VecX& q) const;

    void rows(double t, const VecX& q, BilateralRows& rows) const;
    void bias(const VecX& q, const VecX& v, BilateralRows& joints) const;
    // The Jacobian for a move that has q in its middle: G move is the change of g, for joints of points to rounding. Nothing else of
    // `joints`, which rows() has filled, is touched.
    void turn_rows(const VecX& q, const VecX& move, BilateralRows& joints) const;
    // [m] The largest value of rows that hold joints and gears, without the rows; angles count times `arm`.
    double joint_error(const VecX& q, double arm) const;
    void limit_rows(const VecX& q, ContactRows& rows) const;
    double limit_gap(const ContactId& id, const VecX& q) const;
    double limit_bias(const ContactId& id, const VecX& q, const VecX& v) const;

    double elastic_energy(const VecX& q) const;
    double opening_limit(std::uint32_t joint, int row) const;  // see System
    double reach(int body) const {
        return reach_[body];
    }  // [m] how far it reaches from its centre of mass; infinity if fixed
    std::string undefined(double t) const;  // see System
    double next_discontinuity(double t) const;
    double next_jump(double t) const;
    std::string hasty_drive(double t0, double t1) const;
    std::string joint_name(std::uint32_t id) const;
    std::string limit_name(const ContactId& id) const;
    std::string subject_name(const Subject& subject) const;  // of joints and springs

private:
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
    static constexpr int source_shift = 28, coordinate_shift = 24;
    static std::uint32_t group_id(Source source, int coordinate, std::uint32_t id);

    void count(int joint, int coordinate);
    void plan_joints();
    void plan_drive(int joint, int drive);
    void plan_elements();
    void measure_bodies();
    int joint_index(std::uint32_t id) const;  // -1 if there is none
    JointFrames frames(int a, int b, const Vec3& point_a, const Vec3& point_b, const VecX& q) const;
    JointFrames frames(const Joint& joint, const VecX& q) const;
    RowPiece coordinate_piece(int joint, int number, const VecX& q) const;  // value counted
    double coordinate_bias(int joint, int number, const VecX& q, const VecX& v) const;
    // Second derivative of a row along constant twists, and what the bias of its two bodies adds.
    double with_bias(double second, const RowPiece& piece, int a, int b, const VecX& q, const VecX& v) const;
    int piece_bias(const std::vector<Piece>& pieces, const JointFrames& at, int a, int b, const VecX& q, const VecX& v,
                   double* bias) const;
    double chord_of_arc(int body, const VecX& q, const VecX& move) const;  // [-]
    int group_size(const Group& group) const;  // rows
    void add_blocks(int a, int b, const VecX& q, int dim, const RowPiece* pieces, BlockRows& rows) const;
    OnCurve on_curve(int joint, const VecX& q, const Twist* a,
                     const Twist* b) const;  // twists for the second derivative
    static RowPiece curve_piece(const OnCurve& at, int row);
    void add_curve_blocks(int joint, const OnCurve& at, const VecX& q, BlockRows& rows) const;
    double parameter(int joint, const VecX& q) const;  // on the curve, near the one in q
    double add_gear_blocks(const Joint& gear, const VecX& q, BlockRows& rows) const;  // returns g
    void drive_row(double t, const Group& group, const VecX& q, int row, BilateralRows& rows) const;
    double gap_at(const Limit& limit, double value) const;  // where the coordinate has this value

    const MultibodyModel& model_;
    const Bodies& bodies_;
    std::vector<std::vector<Piece>> pieces_;       // per joint: rows that vanish
    std::vector<std::vector<Piece>> coordinates_;  // per joint
    std::vector<std::array<int, 2>> count_place_;  // per joint and coordinate: place in q of its counted angle, or -1
    std::vector<Element> elements_;
    std::vector<Group> groups_;
    std::vector<Limit> limits_;
    std::vector<Counted> counted_;
    std::vector<double> reach_;  // [m] per body: its size as joints see it; infinity if fixed
    int nq_ = 0;
    int bilateral_rows_ = 0;  // of all groups
};

}  // namespace stickslip
