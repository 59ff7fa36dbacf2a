// Rows of bodies: joint pieces, springs, contacts; and their curvature.
#include "math/so3.hpp"
#include "model/joints/row_pieces.hpp"
#include "model/multibody.hpp"

namespace stickslip {

namespace {

// What a piece needs of its two bodies at q.
struct JointFrames {
    Pose a, b;
    PointPair points;
};

JointFrames frames_of(const Pose& a, const Pose& b, const Vec3& point_a, const Vec3& point_b) {
    const Vec3 r_a = a.attitude * point_a, r_b = b.attitude * point_b;
    return {a, b, {r_a, r_b, b.position + r_b - a.position - r_a}};
}

RowPiece evaluate(const Piece& piece, const JointFrames& at, double length) {
    switch (piece.kind) {
        case PieceKind::world_point: return world_point(at.points, piece.d);
        case PieceKind::carried_point: return carried_point(at.points, at.a.attitude * piece.d);
        case PieceKind::right_angle: return right_angle(at.a.attitude * piece.d, at.b.attitude * piece.f);
        case PieceKind::distance: break;
    }
    return distance(at.points, length);
}

double evaluate_curvature(const Piece& piece, const JointFrames& at, const Twist& a, const Twist& b) {
    switch (piece.kind) {
        case PieceKind::world_point: return world_point_curvature(at.points, piece.d, a, b);
        case PieceKind::carried_point: return carried_point_curvature(at.points, at.a.attitude * piece.d, a, b);
        case PieceKind::right_angle:
            return right_angle_curvature(at.a.attitude * piece.d, at.b.attitude * piece.f, a, b);
        case PieceKind::distance: break;
    }
    return distance_curvature(at.points, a, b);
}

}  // namespace

void MultibodySystem::write_row(const Mat3& R, const Vec3& f, const Vec3& tau, double* row) const {
    if (model_.plane) {
        row[0] = plane_a_.dot(f);
        row[1] = plane_b_.dot(f);
        row[2] = plane_n_.dot(tau);
    } else {
        const Vec3 tau_B = R.transpose() * tau;
        for (int i = 0; i < 3; ++i) {
            row[i] = f[i];
            row[3 + i] = tau_B[i];
        }
    }
}

void MultibodySystem::joint_rows(const VecX& q, JointRows& rows) const {
    const int dof = model_.plane ? 3 : 6;
    const auto fill = [&](int body, const Pose& pose, int dim, const auto& wrench) {
        const int n = node(body);
        if (n < 0) return;
        auto block = rows.jacobian.add_block(n, dof);
        const Mat3 R = pose.attitude.toRotationMatrix();
        for (int i = 0; i < dim; ++i) write_row(R, wrench(i).f, wrench(i).tau, block.data() + i * dof);
    };
    std::array<RowPiece, 6> piece;
    for (std::size_t j = 0; j < model_.joints.size(); ++j) {
        const Joint& joint = model_.joints[j];
        const int dim = static_cast<int>(pieces_[j].size());
        const JointFrames at = frames_of(pose(joint.a, q), pose(joint.b, q), joint.point_a, joint.point_b);
        const int first = rows.begin_group(static_cast<std::uint32_t>(j), dim, RowKind::holonomic);
        for (int i = 0; i < dim; ++i) {
            piece[i] = evaluate(pieces_[j][i], at, joint.length);
            rows.value[first + i] = piece[i].value;
        }
        fill(joint.a, at.a, dim, [&](int i) -> const Wrench& { return piece[i].a; });
        fill(joint.b, at.b, dim, [&](int i) -> const Wrench& { return piece[i].b; });
    }
    for (std::size_t s = 0; s < model_.springs.size(); ++s) {
        const Spring& spring = model_.springs[s];
        const JointFrames at = frames_of(pose(spring.a, q), pose(spring.b, q), spring.point_a, spring.point_b);
        const int row = rows.begin_group(static_cast<std::uint32_t>(model_.joints.size() + s), 1, RowKind::compliant);
        piece[0] = distance(at.points, spring.length);
        rows.value[row] = piece[0].value;
        rows.stiffness[row] = spring.stiffness;
        rows.damping[row] = spring.damping;
        fill(spring.a, at.a, 1, [&](int) -> const Wrench& { return piece[0].a; });
        fill(spring.b, at.b, 1, [&](int) -> const Wrench& { return piece[0].b; });
    }
}

void MultibodySystem::contact_rows(const VecX& q, ContactFinder& finder, ContactRows& rows) const {
    if (model_.collision.colliders.empty()) return;
    static thread_local std::vector<Pose> poses;  // scratch: a System holds none
    poses.resize(model_.bodies.size());
    for (std::size_t b = 0; b < poses.size(); ++b) poses[b] = pose(static_cast<int>(b), q);
    finder.find(model_.collision, poses);
    const int dof = model_.plane ? 3 : 6;
    for (const ContactPoint& contact : finder.contacts()) {
        const SurfacePair& surface =
            model_
                .surface[model_.material[contact.collider_a] * model_.materials + model_.material[contact.collider_b]];
        const int dim = surface.friction == 0 ? 1 : (model_.plane ? 2 : 3);
        rows.begin_contact(contact.id, dim, contact.gap, surface.friction, surface.restitution, model_.facets);
        rows.position.back() = contact.position;
        rows.normal.back() = contact.normal;
        rows.tangent.back() = contact.tangent;
        const std::array<Vec3, 3> direction{contact.normal, contact.tangent, contact.normal.cross(contact.tangent)};
        const auto fill = [&](int body, double sign) {
            const int n = node(body);
            if (n < 0) return;
            auto block = rows.jacobian.add_block(n, dof);
            const Pose& at = poses[static_cast<std::size_t>(body)];
            const Mat3 R = at.attitude.toRotationMatrix();
            const Vec3 arm = contact.position - at.position;
            for (int i = 0; i < dim; ++i)
                write_row(R, sign * direction[i], sign * arm.cross(direction[i]), block.data() + i * dof);
        };
        fill(contact.body_a, 1);
        fill(contact.body_b, -1);
    }
}

void MultibodySystem::rows(double, const VecX& q, ContactFinder& finder, JointRows& joints,
                           ContactRows& contacts) const {
    joints.clear();
    contacts.clear();
    joint_rows(q, joints);
    contact_rows(q, finder, contacts);
}

// Contacts: u_i = d_i.(v_A(P) - v_B(P)) with d_i = n, t1, t2 and velocity fields v_X(P) = v_X + w_X x (P - x_X).
// Along constant twists  du_i/dt = d_i'.(v_A(P) - v_B(P)) + d_i.(w_A x (P' - v_A) - w_B x (P' - v_B)).
// The frame turns as little as it can: t1' = -n (n'.t1), t2' = -n (n'.t2).
void MultibodySystem::curvature(double, const VecX& q, const VecX& v, const ContactFinder& finder, JointRows& joints,
                                ContactRows& contacts) const {
    int row = 0;
    const auto frames = [&](const auto& joint) {
        return frames_of(pose(joint.a, q), pose(joint.b, q), joint.point_a, joint.point_b);
    };
    for (std::size_t j = 0; j < model_.joints.size(); ++j) {
        const Joint& joint = model_.joints[j];
        const JointFrames at = frames(joint);
        const Twist a = twist(joint.a, q, v), b = twist(joint.b, q, v);
        for (const Piece& piece : pieces_[j]) joints.curvature[row++] = evaluate_curvature(piece, at, a, b);
    }
    for (const Spring& spring : model_.springs)
        joints.curvature[row++] =
            distance_curvature(frames(spring).points, twist(spring.a, q, v), twist(spring.b, q, v));

    // Contacts may have been thinned out since rows(): both lists are sorted by id.
    auto found = finder.contacts().begin();
    for (int i = 0; i < contacts.size(); ++i) {
        while (found->id < contacts.id[i]) ++found;
        const Twist a = twist(found->body_a, q, v), b = twist(found->body_b, q, v);
        const ContactRates rates = contact_rates(*found, a, b);
        const Vec3& P = found->position;
        const Vec3 relative = a.linear + a.angular.cross(P - a.origin) - b.linear - b.angular.cross(P - b.origin);
        const Vec3 drift =
            a.angular.cross(rates.position_rate - a.linear) - b.angular.cross(rates.position_rate - b.linear);
        const Vec3 n = found->normal, t1 = found->tangent, t2 = n.cross(t1);
        const std::array<Vec3, 3> direction{n, t1, t2};
        const std::array<Vec3, 3> rate{rates.normal_rate, -n * rates.normal_rate.dot(t1),
                                       -n * rates.normal_rate.dot(t2)};
        const int first = contacts.jacobian.row[i];
        for (int k = 0; k < contacts.jacobian.dim(i); ++k)
            contacts.curvature[first + k] = rate[k].dot(relative) + direction[k].dot(drift);
    }
}

}  // namespace stickslip
