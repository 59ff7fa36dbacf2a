// The two kinds of rigid bodies, the only place that knows how many velocities they have:
//
//   spatial node (6): q = (x_W, quaternion R_WB), v = (dx/dt in W, omega in B), M = diag(m 1, J_B) constant,
//                     gyroscopic force (J omega) x omega
//   planar node (3):  q = v-chart (a, b, angle), M = diag(m, m, J)
//
// A force F at the body's point p and a torque T, both constant in W, in body axes are the torque R'T + p x R'F, and turning the
// body by dq turns R'x by (R'x) x dq:  K = -(hat(R'T) + hat(p) hat(R'F)); in a plane, with r = R p:  K = r.F in it. K is not
// symmetric: such a load has no potential.
#include "model/rigid_bodies.hpp"

#include <cmath>

#include "math/so3.hpp"

namespace stickslip {

namespace {

// What the two have in common. The velocities of a node are those of the centre of mass along the directions in which it can
// move, `shifts_` of them, then the angular ones.
class RigidBodySet : public Bodies {
public:
    RigidBodySet(const RigidBodies& data, int dof, int coordinates) : data_(data.bodies), dof_(dof) {
        for (const RigidBody& body : data_) {
            q_start_.push_back(nq_);
            node_.push_back(body.fixed ? -1 : nodes_.size());
            if (body.fixed) continue;
            nodes_.add(dof);
            nq_ += coordinates;
        }
    }

    bool present(int body) const final { return body < 0 || data_[body].present; }

    double greatest_speed(int body, const VecX& v, double radius) const final {
        const auto u = velocities(body, v);
        return u.head(shifts_).norm() + u.tail(dof_ - shifts_).norm() * radius;
    }

    void add_resistance(int body, const Resistance& drag, const VecX& v, VecX& k) const final {
        const auto u = velocities(body, v);
        auto f = k.segment(nodes_.start[node_[body]], dof_);
        f.head(shifts_) -= (drag.linear + drag.quadratic * u.head(shifts_).norm()) * u.head(shifts_);
        f.tail(dof_ - shifts_) -= drag.angular * u.tail(dof_ - shifts_);
    }

    // C = linear + quadratic (|v| 1 + v v'/|v|),  angular
    void add_resistance_slope(int body, const Resistance& drag, const VecX& v, BlockMatrix& C) const final {
        const auto u = v.segment(nodes_.start[node_[body]], shifts_);
        const double speed = u.norm();
        auto block = C.block(node_[body]);
        for (int i = 0; i < shifts_; ++i) {
            block(i, i) += drag.linear + drag.quadratic * speed;
            for (int j = 0; j < shifts_ && speed > 0; ++j) block(i, j) += drag.quadratic * u[i] * u[j] / speed;
        }
        for (int i = shifts_; i < dof_; ++i) block(i, i) += drag.angular;
    }

    double potential_energy(const Vec3& gravity, const VecX& q) const final {
        double sum = 0;
        for (int b = 0; b < size(); ++b)
            if (weighs(b)) sum -= data_[b].mass * gravity.dot(pose(b, q).position);
        return sum;
    }

protected:
    bool weighs(int body) const { return !data_[body].fixed && data_[body].present; }
    Eigen::VectorBlock<const VecX> velocities(int body, const VecX& v) const {
        return v.segment(nodes_.start[node_[body]], dof_);
    }
    const double* q_of(int body, const VecX& q) const { return q.data() + q_start_[body]; }
    const double* v_of(int body, const VecX& v) const { return v.data() + nodes_.start[node_[body]]; }

    const std::vector<RigidBody>& data_;
    const int dof_;
    int shifts_ = 0;
    std::vector<int> q_start_;  // per body: first index in q
};

class SpatialBodies final : public RigidBodySet {
public:
    explicit SpatialBodies(const RigidBodies& data) : RigidBodySet(data, 6, 7) {
        shifts_ = 3;
        freedom_.moves = {Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitZ()};
    }

    Pose pose(int body, const VecX& q) const override {
        if (body < 0) return {};
        if (data_[body].fixed) return data_[body].pose;
        const double* x = q_of(body, q);
        return {Vec3(x[0], x[1], x[2]), read_quaternion(x + 3)};
    }

    Twist twist(int body, const VecX& q, const VecX& v) const override {
        const Pose at = pose(body, q);
        if (node(body) < 0) return {at.position, Vec3::Zero(), Vec3::Zero()};
        const double* u = v_of(body, v);
        return {at.position, Vec3(u[0], u[1], u[2]), at.attitude * Vec3(u[3], u[4], u[5])};
    }

    void add_rows(int body, const VecX& q, std::span<const Wrench> wrench, BlockRows& rows) const override {
        const int n = node(body);
        if (n < 0) return;
        auto block = rows.add_block(n, 6);
        const Mat3 R = rotation(body, q);
        double* row = block.data();
        for (const Wrench& w : wrench) {
            write_row(R, w, row);
            row += 6;
        }
    }

    void add_wrench(int body, const VecX& q, const Wrench& wrench, VecX& k) const override {
        if (node(body) < 0) return;
        double row[6];
        write_row(rotation(body, q), wrench, row);
        for (int i = 0; i < 6; ++i) k[nodes_.start[node_[body]] + i] += row[i];
    }

    void add_wrench_slope(int body, const VecX& q, const Vec3& point, const Wrench& wrench,
                          BlockMatrix& K) const override {
        const Mat3 R = rotation(body, q);
        const Vec3 torque = R.transpose() * wrench.tau;
        K.block(node_[body]).bottomRightCorner<3, 3>() -=
            hat(torque) + hat(point).lazyProduct(hat(Vec3(R.transpose() * wrench.f)));
    }

    void mass(BlockMatrix& M) const override {
        M.shape_diagonal(nodes_);
        for (int b = 0; b < size(); ++b) {
            const RigidBody& body = data_[b];
            if (body.fixed) continue;
            double* block = M.values.data() + M.diagonal[node_[b]];
            for (int i = 0; i < 3; ++i) block[7 * i] = body.mass;
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j) block[6 * (3 + j) + 3 + i] = body.inertia(i, j);
        }
    }

    void add_gyroscopic(double s, const VecX& v, BlockMatrix& A) const override {
        for (int b = 0; b < size(); ++b) {
            const RigidBody& body = data_[b];
            if (body.fixed) continue;
            const double* u = v_of(b, v) + 3;
            if (u[0] == 0 && u[1] == 0 && u[2] == 0) continue;
            A.block(node_[b]).bottomRightCorner<3, 3>() += s * hat(body.inertia * Vec3(u[0], u[1], u[2]));
        }
    }

    void set_weight(const Vec3& gravity, VecX& k) const override {
        for (int b = 0; b < size(); ++b)
            if (weighs(b)) Eigen::Map<Vec3>{k.data() + nodes_.start[node_[b]]} = data_[b].mass * gravity;
    }

    double kinetic_energy(const VecX& v) const override {
        double sum = 0;
        for (int b = 0; b < size(); ++b) {
            if (!weighs(b)) continue;
            const double* u = v_of(b, v);
            const Vec3 w(u[3], u[4], u[5]);
            const double speed2 = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
            sum += 0.5 * (data_[b].mass * speed2 + w.dot(data_[b].inertia * w));
        }
        return sum;
    }

    void spins(const VecX& q, const VecX& v, std::vector<BodySpin>& spins) const override {
        spins.clear();
        for (int b = 0; b < size(); ++b) {
            if (!weighs(b)) continue;
            const double* u = v_of(b, v);
            const Vec3 w(u[3], u[4], u[5]);
            const Pose at = pose(b, q);
            const Vec3 momentum = w.isZero(0) ? Vec3::Zero() : Vec3(at.attitude * Vec3(data_[b].inertia * w));
            spins.push_back({b, node_[b], nodes_.start[node_[b]] + 3, data_[b].mass, at.position,
                             Vec3(u[0], u[1], u[2]), momentum});
        }
    }

    void advance(VecX& q, const VecX& dq) const override {
        for (int b = 0; b < size(); ++b) {
            if (node_[b] < 0) continue;
            double* x = q.data() + q_start_[b];
            const double* d = v_of(b, dq);
            for (int i = 0; i < 3; ++i) x[i] += d[i];
            rotate_in_body(x + 3, Vec3(d[3], d[4], d[5]));
        }
    }

    void chart_rate(const VecX& u, const VecX& v, VecX& rate) const override {
        rate = v;
        for (int n = 0; n < nodes_.size(); ++n) {
            const int at = nodes_.start[n] + 3;
            rate.segment<3>(at) = rate_of_rotation_vector(u.segment<3>(at), v.segment<3>(at));
        }
    }

    void add_names(std::vector<std::string>& names) const override {
        for (const RigidBody& body : data_) {
            if (body.fixed) continue;
            for (const char* part : {"x", "y", "z", "qw", "qx", "qy", "qz"}) names.push_back(body.name + "." + part);
        }
    }

    void place(int body, const Pose& pose, const Vec3& velocity, const Vec3& angular_velocity,
               State& x) const override {
        if (node(body) < 0) return;
        double* q = x.q.data() + q_start_[body];
        double* v = x.v.data() + nodes_.start[node_[body]];
        Eigen::Map<Vec3>{q} = pose.position;
        write_quaternion(pose.attitude.normalized(), q + 3);
        Eigen::Map<Vec3>{v} = velocity;
        Eigen::Map<Vec3>{v + 3} = pose.attitude.conjugate() * angular_velocity;
    }

private:
    Mat3 rotation(int body, const VecX& q) const { return read_quaternion(q_of(body, q) + 3).toRotationMatrix(); }
    static void write_row(const Mat3& R, const Wrench& wrench, double* row) {
        const Vec3 tau_B = R.transpose() * wrench.tau;
        for (int i = 0; i < 3; ++i) {
            row[i] = wrench.f[i];
            row[3 + i] = tau_B[i];
        }
    }
};

class PlanarBodies final : public RigidBodySet {
public:
    explicit PlanarBodies(const RigidBodies& data) : RigidBodySet(data, 3, 3), axes_(*data.plane) {
        // The normal is a x b for xy and yz; "xz" names its axes against the right-handed order, so the positive
        // normal y is z x x.
        shifts_ = 2;
        a_ = Vec3::Unit(axes_[0]);
        b_ = Vec3::Unit(axes_[1]);
        n_ = Vec3::Unit(3 - axes_[0] - axes_[1]);
        freedom_.moves = {a_, b_};
        freedom_.normal = n_;
    }

    // The out-of-plane position stays where the scene put it.
    Pose pose(int body, const VecX& q) const override {
        if (body < 0) return {};
        if (data_[body].fixed) return data_[body].pose;
        const double* x = q_of(body, q);
        return {centre(body, x), Quat(Eigen::AngleAxisd(x[2], n_))};
    }

    Twist twist(int body, const VecX& q, const VecX& v) const override {
        if (body < 0) return {};
        if (node_[body] < 0) return {data_[body].pose.position, Vec3::Zero(), Vec3::Zero()};
        const double* u = v_of(body, v);
        return {centre(body, q_of(body, q)), a_ * u[0] + b_ * u[1], n_ * u[2]};
    }

    void add_rows(int body, const VecX&, std::span<const Wrench> wrench, BlockRows& rows) const override {
        const int n = node(body);
        if (n < 0) return;
        auto block = rows.add_block(n, 3);
        double* row = block.data();
        for (const Wrench& w : wrench) {
            write_row(w, row);
            row += 3;
        }
    }

    void add_wrench(int body, const VecX&, const Wrench& wrench, VecX& k) const override {
        if (node(body) < 0) return;
        double row[3];
        write_row(wrench, row);
        for (int i = 0; i < 3; ++i) k[nodes_.start[node_[body]] + i] += row[i];
    }

    void add_wrench_slope(int body, const VecX& q, const Vec3& point, const Wrench& wrench,
                          BlockMatrix& K) const override {
        const Vec3 r = pose(body, q).attitude.toRotationMatrix() * point;
        K.block(node_[body])(2, 2) += r.dot(wrench.f) - n_.dot(r) * n_.dot(wrench.f);
    }

    void mass(BlockMatrix& M) const override {
        M.shape_diagonal(nodes_);
        for (int b = 0; b < size(); ++b) {
            const RigidBody& body = data_[b];
            if (body.fixed) continue;
            double* block = M.values.data() + M.diagonal[node_[b]];
            block[0] = block[4] = body.mass;
            block[8] = n_.dot(body.inertia * n_);
        }
    }

    void add_gyroscopic(double, const VecX&, BlockMatrix&) const override {}

    void set_weight(const Vec3& gravity, VecX& k) const override {
        for (int b = 0; b < size(); ++b) {
            if (!weighs(b)) continue;
            const Vec3 weight = data_[b].mass * gravity;
            double* f = k.data() + nodes_.start[node_[b]];
            f[0] = a_.dot(weight);
            f[1] = b_.dot(weight);
        }
    }

    double kinetic_energy(const VecX& v) const override {
        double sum = 0;
        for (int b = 0; b < size(); ++b) {
            if (!weighs(b)) continue;
            const double* u = v_of(b, v);
            const Vec3 w = n_ * u[2];
            const double speed2 = u[0] * u[0] + u[1] * u[1];
            sum += 0.5 * (data_[b].mass * speed2 + w.dot(data_[b].inertia * w));
        }
        return sum;
    }

    void advance(VecX& q, const VecX& dq) const override {
        for (int b = 0; b < size(); ++b) {
            if (node_[b] < 0) continue;
            double* x = q.data() + q_start_[b];
            const double* d = v_of(b, dq);
            for (int i = 0; i < 3; ++i) x[i] += d[i];
        }
    }

    void chart_rate(const VecX&, const VecX& v, VecX& rate) const override { rate = v; }

    void add_names(std::vector<std::string>& names) const override {
        static const char* axis[] = {"x", "y", "z"};
        for (const RigidBody& body : data_) {
            if (body.fixed) continue;
            for (const int i : axes_) names.push_back(body.name + "." + axis[i]);
            names.push_back(body.name + ".angle");
        }
    }

    void place(int body, const Pose& pose, const Vec3& velocity, const Vec3& angular_velocity,
               State& x) const override {
        if (node(body) < 0) return;
        double* q = x.q.data() + q_start_[body];
        double* v = x.v.data() + nodes_.start[node_[body]];
        const Quat& R = pose.attitude;
        q[0] = a_.dot(pose.position);
        q[1] = b_.dot(pose.position);
        q[2] = 2 * std::atan2(R.vec().dot(n_), R.w());
        v[0] = a_.dot(velocity);
        v[1] = b_.dot(velocity);
        v[2] = n_.dot(angular_velocity);
    }

private:
    Vec3 centre(int body, const double* x) const {
        const Vec3 out = n_ * n_.dot(data_[body].pose.position);
        return out + a_ * x[0] + b_ * x[1];
    }
    void write_row(const Wrench& wrench, double* row) const {
        row[0] = a_.dot(wrench.f);
        row[1] = b_.dot(wrench.f);
        row[2] = n_.dot(wrench.tau);
    }

    const std::array<int, 2> axes_;
    Vec3 a_, b_, n_;  // axes of the plane and its normal
};

}  // namespace

std::unique_ptr<Bodies> make_rigid_bodies(const RigidBodies& data) {
    if (data.plane) return std::make_unique<PlanarBodies>(data);
    return std::make_unique<SpatialBodies>(data);
}

}  // namespace stickslip
