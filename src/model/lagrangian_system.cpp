// A mechanism given by functions of its own coordinates: one node, rows of one 1..3 x nv block.
#include <array>
#include <utility>

#include "math/so3.hpp"
#include "stickslip/error.hpp"
#include "stickslip/system.hpp"

namespace stickslip {

namespace {

class LagrangianSystem final : public System {
public:
    explicit LagrangianSystem(LagrangianModel model) : m_(std::move(model)) {
        SS_ASSERT(m_.nv > 0 &&
                      static_cast<int>(m_.coordinates.size()) == m_.nv + static_cast<int>(m_.quaternion_blocks.size()),
                  "a Lagrangian model has nv velocities and one more coordinate per quaternion");
        SS_ASSERT((m_.mass == nullptr) == (m_.constant_mass.rows() == m_.nv), "either a constant mass matrix or M(q)");
        nodes_.add(m_.nv);
    }

    int nq() const override { return static_cast<int>(m_.coordinates.size()); }
    bool constant_mass() const override { return !m_.mass; }

    void mass(const VecX& q, BlockMatrix& M) const override {
        M.shape_diagonal(nodes_);
        if (!m_.mass) {
            M.block(0) = m_.constant_mass;
            return;
        }
        MatX& full = scratch(square, m_.nv, m_.nv);
        m_.mass(q, full);
        M.block(0) = full;
    }

    void forces(double t, const VecX& q, const VecX& v, Forces& k) const override {
        k.potential.setZero(m_.nv);
        k.applied.setZero(m_.nv);
        if (m_.potential_force) m_.potential_force(q, k.potential);
        if (m_.applied) m_.applied(t, q, v, k.applied);
        if (m_.coriolis) {
            VecX& c = scratch_vector(velocity, m_.nv);
            m_.coriolis(q, v, c);
            k.applied += c;
        }
    }

    void add_gyroscopic(double s, const VecX& v, BlockMatrix& A) const override {
        if (!m_.gyroscopic) return;
        MatX& F = scratch(square, m_.nv, m_.nv);
        m_.gyroscopic(v, F);
        A.block(0) += s * F;
    }

    bool slopes(double t, const VecX& q, const VecX& v, BlockMatrix& K, BlockMatrix& C) const override {
        if (!m_.slopes) return false;
        K.shape_diagonal(nodes_);
        C.shape_diagonal(nodes_);
        MatX& k = scratch(square, m_.nv, m_.nv);
        MatX& c = scratch(square_second, m_.nv, m_.nv);
        m_.slopes(t, q, v, k, c);
        K.block(0) = k;
        C.block(0) = c;
        return true;
    }

    void rows(double t, const VecX& q, ContactFinder&, JointRows& joints, ContactRows& contacts) const override {
        joints.clear();
        contacts.clear();
        if (m_.joints > 0) {
            VecX& g = scratch_vector(joint_vector, m_.joints);
            MatX& G = scratch(joint_rows, m_.joints, m_.nv);
            m_.joint_value(t, q, g);
            m_.joint_jacobian(t, q, G);
            for (int j = 0; j < m_.joints; ++j) {
                const int row = joints.begin_group(static_cast<std::uint32_t>(j), 1, RowKind::holonomic);
                joints.value[row] = g[j];
                joints.jacobian.add_block(0, m_.nv) = G.row(j);
            }
        }
        for (std::size_t i = 0; i < m_.contacts.size(); ++i) {
            const LagrangianModel::Contact& contact = m_.contacts[i];
            const int dim = contact.friction == 0 ? 1 : 1 + contact.tangents;
            MatX& H = scratch(contact_rows + contact.tangents, 1 + contact.tangents, m_.nv);
            contact.jacobian(q, H);
            contacts.begin_contact({static_cast<std::uint32_t>(i), 0, 0}, dim, contact.gap(q), contact.friction,
                                   contact.restitution, contact.facets);
            contacts.jacobian.add_block(0, m_.nv) = H.topRows(dim);
        }
    }

    void curvature(double t, const VecX& q, const VecX& v, const ContactFinder&, JointRows& joints,
                   ContactRows& contacts) const override {
        if (m_.joints > 0) {
            VecX& d = scratch_vector(joint_vector, m_.joints);
            m_.joint_curvature(t, q, v, d);
            for (int j = 0; j < m_.joints; ++j) joints.curvature[j] = d[j];
        }
        for (int i = 0; i < contacts.size(); ++i) {
            const LagrangianModel::Contact& contact = m_.contacts[contacts.id[i].a];
            VecX& d = scratch_vector(contact_vector + contact.tangents, 1 + contact.tangents);
            contact.curvature(q, v, d);
            for (int k = 0; k < contacts.jacobian.dim(i); ++k) contacts.curvature[contacts.jacobian.row[i] + k] = d[k];
        }
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

    Energies energies(double, const VecX& q, const VecX& v) const override {
        Energies e;
        if (m_.mass) {
            MatX& M = scratch(square, m_.nv, m_.nv);
            m_.mass(q, M);
            e.kinetic = 0.5 * v.dot(M.lazyProduct(v));
        } else {
            e.kinetic = 0.5 * v.dot(m_.constant_mass.lazyProduct(v));
        }
        if (m_.potential) e.potential = m_.potential(q);
        return e;
    }

    double next_discontinuity(double t) const override {
        return m_.next_discontinuity ? m_.next_discontinuity(t) : infinity;
    }

    std::vector<std::string> coordinate_names() const override { return m_.coordinates; }
    std::vector<std::string> body_names() const override { return m_.bodies; }
    BodyState body_state(int body, const VecX& q, const VecX& v) const override { return m_.body_state(body, q, v); }
    std::string joint_name(std::uint32_t id) const override {
        return id < m_.joint_names.size() ? m_.joint_names[id] : System::joint_name(id);
    }
    std::string contact_name(const ContactId& id) const override { return m_.contacts.at(id.a).name; }

private:
    // Scratch lives with the thread: a System holds none. One slot per use and size, so that it settles after the
    // first step. Zero on entry, as the model's functions expect.
    enum Slot {
        square,
        square_second,
        joint_rows,
        joint_vector,
        velocity,
        contact_rows,
        contact_vector = contact_rows + 3
    };
    static MatX& scratch(int slot, int rows, int columns) {
        static thread_local std::array<MatX, contact_vector> m;
        m[slot].setZero(rows, columns);
        return m[slot];
    }
    static VecX& scratch_vector(int slot, int n) {
        static thread_local std::array<VecX, contact_vector + 3> x;
        x[slot].setZero(n);
        return x[slot];
    }

    LagrangianModel m_;
};

}  // namespace

std::unique_ptr<System> make_lagrangian_system(LagrangianModel model) {
    return std::make_unique<LagrangianSystem>(std::move(model));
}

}  // namespace stickslip
