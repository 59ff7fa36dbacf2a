// A mechanism given by functions of its own coordinates: one node, rows of one 1..3 x nv block. Bilateral rows come in
// the order joints, velocity rows, springs, dry friction, one group each; the number of the group is its id.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "collision/finder.hpp"
#include "math/so3.hpp"
#include "model/scratch_pool.hpp"
#include "stickslip/error.hpp"
#include "stickslip/system.hpp"

namespace stickslip {

namespace {

// Scratch of one call: one slot per use and size, so that it settles after the first step. Zero on entry, as the model's
// functions expect.
class LagrangianScratch {
public:
    enum Slot {
        square,
        square_second,
        joint_rows,
        joint_vector,
        speed_rows,
        speed_vector,
        velocity,
        direction,
        displaced,
        displaced_velocity,
        contact_rows,
        contact_vector = contact_rows + 3
    };
    MatX& matrix(int slot, int rows, int columns) {
        matrices_[slot].setZero(rows, columns);
        return matrices_[slot];
    }
    VecX& vector(int slot, int n) {
        vectors_[slot].setZero(n);
        return vectors_[slot];
    }
    Forces ahead, back;

private:
    std::array<MatX, contact_vector> matrices_;
    std::array<VecX, contact_vector + 3> vectors_;
};

class LagrangianSystem final : public System {
    using Scratch = LagrangianScratch;

public:
    explicit LagrangianSystem(LagrangianModel model) : m_(std::move(model)) {
        SS_ASSERT(m_.nv > 0 &&
                      static_cast<int>(m_.coordinates.size()) == m_.nv + static_cast<int>(m_.quaternion_blocks.size()),
                  "a Lagrangian model has nv velocities and one more coordinate per quaternion");
        SS_ASSERT(m_.velocity_rows == 0 || (m_.velocity_jacobian && m_.velocity_bias),
                  "velocity rows need their Jacobian and its rate");
        SS_ASSERT((m_.mass == nullptr) == (m_.constant_mass.rows() == m_.nv), "either a constant mass matrix or M(q)");
        nodes_.add(m_.nv);
    }

    int nq() const override { return static_cast<int>(m_.coordinates.size()); }
    bool constant_mass() const override { return !m_.mass; }

    void mass(const VecX& q, BlockMatrix& M) const override {
        if (!M.couplings.empty() || M.nodes != nodes_) M.shape_diagonal(nodes_);  // else all of it is written below
        if (!m_.mass) {
            M.block(0) = m_.constant_mass;
            return;
        }
        const auto loan = pool_.borrow();
        Scratch& w = *loan;
        MatX& full = w.matrix(Scratch::square, m_.nv, m_.nv);
        m_.mass(q, full);
        M.block(0) = full;
    }

    void forces(double t, const VecX& q, const VecX& v, Forces& k) const override {
        k.potential.setZero(m_.nv);
        k.applied.setZero(m_.nv);
        if (m_.potential_force) m_.potential_force(q, k.potential);
        if (m_.applied) m_.applied(t, q, v, k.applied);
        if (m_.coriolis) {
            k.inertial.setZero(m_.nv);
            m_.coriolis(q, v, k.inertial);
            k.applied += k.inertial;
        }
    }

    void add_gyroscopic(double s, const VecX& v, BlockMatrix& A) const override {
        if (!m_.gyroscopic) return;
        const auto loan = pool_.borrow();
        Scratch& w = *loan;
        MatX& F = w.matrix(Scratch::square, m_.nv, m_.nv);
        m_.gyroscopic(v, F);
        A.block(0) += s * F;
    }

    // Given by the model or, if it gives none, by central differences of forces(), attitudes along advance().
    bool slopes(double t, const VecX& q, const VecX& v, BlockMatrix& K, BlockMatrix& C) const override {
        if (!m_.slopes && !m_.potential_force && !m_.applied && !m_.coriolis) return false;
        const auto loan = pool_.borrow();
        Scratch& w = *loan;
        MatX& k = w.matrix(Scratch::square, m_.nv, m_.nv);
        MatX& c = w.matrix(Scratch::square_second, m_.nv, m_.nv);
        if (m_.slopes) {
            m_.slopes(t, q, v, k, c);
        } else {
            difference_forces(t, q, v, w, k, c);
        }
        if ((k.array() == 0).all() && (c.array() == 0).all()) return false;
        K.shape_diagonal(nodes_);
        C.shape_diagonal(nodes_);
        K.block(0) = k;
        C.block(0) = c;
        return true;
    }

    double gap(const ContactId& id, const VecX& q, ContactFinder& finder) const override {
        return gap_on({}, id, q, finder);
    }
    double gap_on(EdgeSides sides, const ContactId& id, const VecX& q, ContactFinder& finder) const override {
        ++finder.counts.gaps;
        const LagrangianModel::Contact& contact = m_.contacts.at(id.a);
        const bool here = contact.edge < 0 || side_of(contact.edge, q, sides) == contact.side;
        return here ? contact.gap(q) : infinity;
    }

    void rows(double t, const VecX& q, ContactFinder& finder, BilateralRows& joints,
              ContactRows& contacts) const override {
        rows_on({}, t, q, finder, joints, contacts);
    }
    void rows_on(EdgeSides sides, double t, const VecX& q, ContactFinder& finder, BilateralRows& joints,
                 ContactRows& contacts) const override {
        ++finder.counts.rows;
        const auto loan = pool_.borrow();
        Scratch& w = *loan;
        if (contacts.size() > 0 || !contacts.jacobian.values.empty()) contacts.clear();
        fill_joints(t, q, w, joints);
        for (std::size_t i = 0; i < m_.contacts.size(); ++i) {
            const LagrangianModel::Contact& contact = m_.contacts[i];
            if (contact.edge >= 0 && side_of(contact.edge, q, sides) != contact.side) continue;
            const int dim = contact.friction == 0 ? 1 : 1 + contact.tangents;
            MatX& H = w.matrix(Scratch::contact_rows + contact.tangents, 1 + contact.tangents, m_.nv);
            contact.jacobian(q, H);
            contacts.begin_contact({.a = static_cast<std::uint32_t>(i)}, dim, contact.gap(q), contact.friction,
                                   contact.restitution, contact.facets, contact.tangential_restitution);
            contacts.jacobian.add_block(0, m_.nv) = H.topRows(dim);
        }
    }

    void joint_rows(double t, const VecX& q, const VecX& v, BilateralRows& joints) const override {
        const auto loan = pool_.borrow();
        fill_joints(t, q, *loan, joints);
        fill_joint_bias(t, q, v, *loan, joints);
    }
    void turn_joint_rows(double t, const VecX& q, const VecX& move, BilateralRows& joints,
                         BilateralRows& scratch) const override {
        if (!only_joints()) return System::turn_joint_rows(t, q, move, joints, scratch);
        if (m_.joints > 0) set_joint_blocks(t, q, *pool_.borrow(), joints.jacobian);
    }
    double joint_error(double t, const VecX& q, const VecX&, double, BilateralRows&) const override {
        if (m_.joints == 0) return 0;
        const auto loan = pool_.borrow();
        VecX& g = loan->vector(Scratch::joint_vector, m_.joints);
        m_.joint_value(t, q, g);
        double error = 0;
        for (int j = 0; j < m_.joints; ++j) error = std::max(error, std::abs(g[j]));
        return error;
    }
    // Neither velocity rows nor springs nor friction.
    bool only_joints() const { return m_.velocity_rows == 0 && m_.springs.empty() && m_.friction.empty(); }
    void fill_joints(double t, const VecX& q, Scratch& w, BilateralRows& joints) const {
        if (only_joints()) {
            set_joints(t, q, w, joints);
        } else {
            joints.clear();
            add_joints(t, q, w, joints);
            add_velocity_rows(t, q, w, joints);
            add_springs_and_friction(q, w, joints);
        }
    }

    void bias(double t, const VecX& q, const VecX& v, const ContactFinder&, BilateralRows& joints,
              ContactRows& contacts) const override {
        const auto loan = pool_.borrow();
        Scratch& w = *loan;
        fill_joint_bias(t, q, v, w, joints);
        for (int i = 0; i < contacts.size(); ++i) {
            const LagrangianModel::Contact& contact = m_.contacts[contacts.id[i].a];
            VecX& d = w.vector(Scratch::contact_vector + contact.tangents, 1 + contact.tangents);
            contact.bias(q, v, d);
            for (int k = 0; k < contacts.jacobian.dim(i); ++k) contacts.bias[contacts.jacobian.row[i] + k] = d[k];
        }
    }
    void fill_joint_bias(double t, const VecX& q, const VecX& v, Scratch& w, BilateralRows& joints) const {
        if (m_.joints > 0) {
            VecX& d = w.vector(Scratch::joint_vector, m_.joints);
            m_.joint_bias(t, q, v, d);
            for (int j = 0; j < m_.joints; ++j) joints.bias[j] = d[j];
        }
        if (m_.velocity_rows > 0) {
            VecX& d = w.vector(Scratch::speed_vector, m_.velocity_rows);
            m_.velocity_bias(t, q, v, d);
            for (int j = 0; j < m_.velocity_rows; ++j) joints.bias[m_.joints + j] = d[j];
        }
        int row = m_.joints + m_.velocity_rows;
        for (const auto& spring : m_.springs) joints.bias[row++] = spring.bias ? spring.bias(q, v) : 0.0;
        for (const auto& pad : m_.friction) joints.bias[row++] = pad.bias ? pad.bias(q, v) : 0.0;
    }

    void advance(VecX& q, const VecX& dq) const override {
        // Coordinates and velocities run in step, except that a quaternion takes four places for three.
        std::size_t block = 0;
        for (int i = 0, j = 0; i < nq();) {
            if (block < m_.quaternion_blocks.size() && m_.quaternion_blocks[block] == i) {
                rotate_in_body(q.data() + i, Vec3(dq[j], dq[j + 1], dq[j + 2]));
                i += 4;
                j += 3;
                ++block;
            } else {
                q[i++] += dq[j++];
            }
        }
    }

    void chart_rate(const VecX& u, const VecX& v, VecX& rate) const override {
        rate = v;
        // Each quaternion has one number more than its velocities, so the block before it shifts the next.
        for (std::size_t block = 0; block < m_.quaternion_blocks.size(); ++block) {
            const int at = m_.quaternion_blocks[block] - static_cast<int>(block);
            rate.segment<3>(at) = rate_of_rotation_vector(u.segment<3>(at), v.segment<3>(at));
        }
    }

    int edges() const override { return static_cast<int>(m_.edges.size()); }
    double edge_value(int edge, const VecX& q) const override { return m_.edges[edge].value(q); }
    std::string edge_name(int edge) const override { return m_.edges[edge].name; }

    Energies energies(double, const VecX& q, const VecX& v) const override {
        Energies e;
        if (m_.mass) {
            const auto loan = pool_.borrow();
            Scratch& w = *loan;
            MatX& M = w.matrix(Scratch::square, m_.nv, m_.nv);
            m_.mass(q, M);
            e.kinetic = 0.5 * v.dot(M.lazyProduct(v));
        } else {
            e.kinetic = 0.5 * v.dot(m_.constant_mass.lazyProduct(v));
        }
        if (m_.potential) e.potential = m_.potential(q);
        for (const auto& spring : m_.springs) {
            const double phi = spring.value(q);
            e.elastic += 0.5 * spring.stiffness * phi * phi;
        }
        return e;
    }

    double next_discontinuity(double t) const override {
        return m_.next_discontinuity ? m_.next_discontinuity(t) : infinity;
    }

    bool loads_vary() const override { return static_cast<bool>(m_.applied); }

    Scales scales(const State&) const override { return m_.scales; }
    std::vector<std::string> coordinate_names() const override { return m_.coordinates; }
    std::vector<std::string> body_names() const override { return m_.bodies; }
    BodyState body_state(int body, const VecX& q, const VecX& v) const override { return m_.body_state(body, q, v); }
    std::string joint_name(std::uint32_t id) const override {
        const auto listed = [&](std::size_t i, const std::vector<std::string>& names) {
            return i < names.size() ? names[i] : System::joint_name(id);
        };
        std::size_t i = id;
        if (i < static_cast<std::size_t>(m_.joints)) return listed(i, m_.joint_names);
        i -= static_cast<std::size_t>(m_.joints);
        if (i < static_cast<std::size_t>(m_.velocity_rows)) return listed(i, m_.velocity_names);
        i -= static_cast<std::size_t>(m_.velocity_rows);
        if (i < m_.springs.size()) return m_.springs[i].name;
        i -= m_.springs.size();
        return i < m_.friction.size() ? m_.friction[i].name : System::joint_name(id);
    }
    std::string contact_name(const ContactId& id) const override { return m_.contacts.at(id.a).name; }

private:
    int side_of(int edge, const VecX& q, EdgeSides sides) const {
        const auto e = static_cast<std::size_t>(edge);
        if (e < sides.size() && sides[e] != 0) return sides[e];
        return m_.edges[e].value(q) < 0 ? -1 : 1;
    }

    // -dk/dq and -dk/dv column by column. The step balances the truncation s^2 against the rounding eps/s, both about 4e-11 of
    // forces that change over lengths of a metre, turns of a radian or speeds of a metre per second (beyond them in proportion);
    // forces that change within micrometres are not seen. Constant forces give exact zeros.
    void difference_forces(double t, const VecX& q, const VecX& v, Scratch& w, MatX& K, MatX& C) const {
        constexpr double relative = 6e-6;  // cube root of the rounding
        VecX& d = w.vector(Scratch::direction, m_.nv);
        VecX& x = w.vector(Scratch::displaced, nq());
        VecX& u = w.vector(Scratch::displaced_velocity, m_.nv);
        Forces &ahead = w.ahead, &back = w.back;
        const auto column = [&](double s, auto&& result) {
            result = (back.potential - ahead.potential + back.applied - ahead.applied) / (2 * s);
        };
        int place = 0;  // in q, of the velocity j
        std::size_t block = 0;
        for (int j = 0; j < m_.nv; ++place) {
            const bool turns = block < m_.quaternion_blocks.size() && m_.quaternion_blocks[block] == place;
            for (int last = j + (turns ? 3 : 1); j < last; ++j) {
                const double s = relative * (turns ? 1.0 : std::max(1.0, std::abs(q[place])));
                for (const bool forward : {true, false}) {
                    d[j] = forward ? s : -s;
                    x = q;
                    advance(x, d);
                    forces(t, x, v, forward ? ahead : back);
                }
                d[j] = 0;
                column(s, K.col(j));
            }
            if (turns) {
                place += 3;
                ++block;
            }
        }
        if (!m_.applied && !m_.coriolis) return;  // nothing depends on v
        for (int j = 0; j < m_.nv; ++j) {
            const double s = relative * std::max(1.0, std::abs(v[j]));
            u = v;
            u[j] = v[j] + s;
            forces(t, q, u, ahead);
            u[j] = v[j] - s;
            forces(t, q, u, back);
            column(s, C.col(j));
        }
    }

    void add_joints(double t, const VecX& q, Scratch& w, BilateralRows& joints) const {
        if (m_.joints == 0) return;
        VecX& g = w.vector(Scratch::joint_vector, m_.joints);
        MatX& G = w.matrix(Scratch::joint_rows, m_.joints, m_.nv);
        m_.joint_value(t, q, g);
        m_.joint_jacobian(t, q, G);
        for (int j = 0; j < m_.joints; ++j) {
            const int row = joints.begin_group(static_cast<std::uint32_t>(j), 1, RowKind::holonomic);
            joints.value[row] = g[j];
            joints.jacobian.add_block(0, m_.nv) = G.row(j);
        }
    }

    // The same into rows that may hold anything, when these are all: the innermost work of methods of many stages, so that
    // arrays of the right length are overwritten instead of built up.
    void set_joints(double t, const VecX& q, Scratch& w, BilateralRows& joints) const {
        const auto n = static_cast<std::size_t>(m_.joints), nv = static_cast<std::size_t>(m_.nv);
        const auto set = [n](auto& list, auto x) {
            if (list.size() != n) list.resize(n);
            for (auto& entry : list) entry = x;
        };
        set(joints.kind, RowKind::holonomic);
        for (auto* list : {&joints.value, &joints.target, &joints.servo, &joints.goal, &joints.goal_rate, &joints.stiffness,
                           &joints.damping, &joints.bias})
            set(*list, 0.0);
        set(joints.force_lower, -infinity);
        set(joints.force_upper, infinity);
        set(joints.impulsive, char{0});
        if (joints.id.size() != n) joints.id.resize(n);
        BlockRows& G = joints.jacobian;
        if (G.blocks.size() != n) G.blocks.resize(n);
        if (G.values.size() != n * nv) G.values.resize(n * nv);
        if (G.row.size() != n + 1) G.row.resize(n + 1);
        if (G.first.size() != n + 1) G.first.resize(n + 1);
        for (std::size_t j = 0; j < n; ++j) {
            joints.id[j] = static_cast<std::uint32_t>(j);
            G.blocks[j] = {0, static_cast<int>(j * nv)};
            G.row[j + 1] = G.first[j + 1] = static_cast<int>(j) + 1;
        }
        if (n == 0) return;
        VecX& g = w.vector(Scratch::joint_vector, m_.joints);
        m_.joint_value(t, q, g);
        for (int j = 0; j < m_.joints; ++j) joints.value[j] = g[j];
        set_joint_blocks(t, q, w, G);
    }

    void set_joint_blocks(double t, const VecX& q, Scratch& w, BlockRows& G) const {
        MatX& full = w.matrix(Scratch::joint_rows, m_.joints, m_.nv);
        m_.joint_jacobian(t, q, full);
        for (int j = 0; j < m_.joints; ++j)
            for (int i = 0; i < m_.nv; ++i) G.values[j * m_.nv + i] = full(j, i);
    }

    void add_velocity_rows(double t, const VecX& q, Scratch& w, BilateralRows& joints) const {
        if (m_.velocity_rows == 0) return;
        VecX& target = w.vector(Scratch::speed_vector, m_.velocity_rows);
        MatX& G = w.matrix(Scratch::speed_rows, m_.velocity_rows, m_.nv);
        m_.velocity_jacobian(t, q, G);
        if (m_.velocity_target) m_.velocity_target(t, target);
        for (int j = 0; j < m_.velocity_rows; ++j) {
            const int row = joints.begin_group(static_cast<std::uint32_t>(m_.joints + j), 1, RowKind::velocity);
            joints.target[row] = target[j];
            joints.jacobian.add_block(0, m_.nv) = G.row(j);
        }
    }

    void add_springs_and_friction(const VecX& q, Scratch& w, BilateralRows& joints) const {
        auto id = static_cast<std::uint32_t>(m_.joints + m_.velocity_rows);
        for (const auto& spring : m_.springs) {
            VecX& G = w.vector(Scratch::velocity, m_.nv);
            spring.gradient(q, G);
            const int row = joints.begin_group(id++, 1, RowKind::compliant);
            joints.value[row] = spring.value(q);
            joints.stiffness[row] = spring.stiffness;
            joints.damping[row] = spring.damping;
            joints.jacobian.add_block(0, m_.nv) = G.transpose();
        }
        for (const auto& pad : m_.friction) {
            VecX& G = w.vector(Scratch::velocity, m_.nv);
            pad.row(q, G);
            const int row = joints.begin_group(id++, 1, RowKind::friction);
            joints.force_lower[row] = -pad.force;
            joints.force_upper[row] = pad.force;
            joints.jacobian.add_block(0, m_.nv) = G.transpose();
        }
    }

    LagrangianModel m_;
    ScratchPool<LagrangianScratch> pool_;
};

}  // namespace

std::unique_ptr<System> make_lagrangian_system(LagrangianModel model) {
    return std::make_unique<LagrangianSystem>(std::move(model));
}

}  // namespace stickslip
