#include "schemes/smooth/motion.hpp"

#include <algorithm>
#include <cmath>

#include "collision/finder.hpp"
#include "diagnose/redundancy.hpp"
#include "problems/cones.hpp"
#include "problems/contact_ids.hpp"

namespace stickslip {

namespace {

// The unit force of friction against the slip u, in (t1, t2): -u/|u|, or the corner of the polygon that takes most.
Vec2 against(const Vec2& u, int facets) {
    if (is_disc(facets)) return -u.normalized();
    const Polygon& section = polygon(facets);
    const Vec2* best = &section.corner.front();
    for (const Vec2& corner : section.corner)
        if (corner.dot(u) < best->dot(u)) best = &corner;
    return *best;
}

}  // namespace

int Modes::find(const ContactId& id) const { return find_contact(contact, id); }

int Motion::imposed_row(int joint_row, const MotionPoint& p) const {
    int row = 0;
    for (const Source& source : sources_) {
        if (source.contact < 0 && p.joints.jacobian.row[source.joint_group] + source.first == joint_row) return row;
        row += source.dim;
    }
    return -1;
}

void Motion::copy_rows(const BlockRows& from, int group, int first, int count, BlockRows& to) const {
    const Nodes& nodes = system_->nodes();
    to.begin_group(count);
    for (const BlockRows::Block& block : from.blocks_of(group)) {  // rows of a block are contiguous
        const int dof = nodes.dof(block.node);
        const double* row = from.values.data() + block.offset + first * dof;
        to.blocks.push_back({block.node, static_cast<int>(to.values.size())});
        to.values.insert(to.values.end(), row, row + count * dof);
        ++to.first.back();
    }
}

void Motion::copy_all(const BlockRows& from, BlockRows& to) const {
    to.row.assign(from.row.begin(), from.row.end());
    to.first.assign(from.first.begin(), from.first.end());
    to.blocks.assign(from.blocks.begin(), from.blocks.end());
    to.values.assign(from.values.begin(), from.values.end());
}

void Motion::attach(const System& system, Step& s) {
    if (system_ != &system || finder_ != s.finder.get()) forget();
    if (system_ != &system || static_cast<int>(turns_q_.size()) != system.nq()) system.mark_turns(turns_q_, turns_v_);
    system_ = &system;
    tolerances_ = &s.tolerances;
    finder_ = s.finder.get();
    sides_ = &s.sides;
    found_ = nullptr;
}

double Motion::position_size(const VecX& q) const {
    double size = 0;
    for (Eigen::Index i = 0; i < q.size(); ++i)
        if (!turns_q_[i]) size = std::max(size, std::abs(q[i]));
    return size;
}

double Motion::speed_size(const VecX& v) const {
    const double arm = tolerances_->scales.length;
    double size = 0;
    for (Eigen::Index i = 0; i < v.size(); ++i) size = std::max(size, (turns_v_[i] ? arm : 1.0) * std::abs(v[i]));
    return size;
}

double Motion::force_size(const VecX& f) const {
    const double arm = 1 / tolerances_->scales.length;
    double size = 0;
    for (Eigen::Index i = 0; i < f.size(); ++i) size = std::max(size, (turns_v_[i] ? arm : 1.0) * std::abs(f[i]));
    return size;
}

void Motion::forget() {
    ++version_;
    found_ = nullptr;
}

void Motion::begin(const System& system, const Modes& modes, const State& x, Step& s) {
    attach(system, s);
    forget();
    read(x.t, x.q, start_);
    begin(modes, start_, s);
}

void Motion::begin(const Modes& modes, const MotionPoint& p, Step& s) {
    modes_ = &modes;
    trouble_ = Trouble::none;
    if (system_->constant_mass()) mass_of_factors_.clear();
    const BilateralRows& joints = p.joints;
    kept_.assign(static_cast<std::size_t>(joints.size()), 1);
    if (s.redundancy->any() || s.redundancy->rows() != joints.size()) {
        StepProblem& problem = problem_;
        problem.joints = joints;
        problem.contacts = p.contacts;
        system_->mass(p.q, problem.A);
        problem.size_to_rows();
        s.redundancy->switch_off(problem);
        for (int i = 0; i < joints.size(); ++i) kept_[i] = problem.lower[i] != 0 || problem.upper[i] != 0;
    }

    choose_rows(p);
    const bool same = sources_ == phase_sources_ && modes.contact == phase_modes_.contact &&
                      modes.mode == phase_modes_.mode && modes.bound == phase_modes_.bound;
    if (same) return;
    ++phase_;
    phase_sources_ = sources_;
    phase_modes_.contact = modes.contact;
    phase_modes_.mode = modes.mode;
    phase_modes_.bound = modes.bound;
}

// The rows that these modes impose, from the rows at the start of the phase.
void Motion::choose_rows(const MotionPoint& p) {
    const Modes& modes = *modes_;
    const BilateralRows& joints = p.joints;
    sources_.clear();
    first_row_.clear();
    row_count_ = 0;
    pushes_ = false;
    for (int g = 0; g < joints.jacobian.groups(); ++g) {
        for (int k = 0; k < joints.jacobian.dim(g); ++k) {
            const auto i = static_cast<std::size_t>(joints.jacobian.row[g] + k);
            const bool bound = i < modes.bound.size() && modes.bound[i] != 0;
            if (joints.kind[i] == RowKind::compliant || bound) pushes_ = true;
            if (!kept_[i] || joints.kind[i] == RowKind::compliant || bound) continue;
            if (joints.force_lower[i] == 0 && joints.force_upper[i] == 0) continue;
            sources_.push_back({.joint_group = g, .first = k});
            ++row_count_;
        }
    }
    joints_alone_ = modes.contact.empty() && row_count_ == joints.size() && row_count_ == joints.jacobian.groups();
    slides_ = std::find(modes.mode.begin(), modes.mode.end(), ContactMode::slip) != modes.mode.end();
    for (std::size_t c = 0; c < modes.contact.size(); ++c) {
        const int place = find_contact(p.contacts.id, modes.contact[c]);
        const bool sticks = place >= 0 && modes.mode[c] == ContactMode::stick;
        const int dim = sticks ? p.contacts.jacobian.dim(place) : 1;
        sources_.push_back({.contact = static_cast<int>(c), .dim = dim});
        first_row_.push_back(row_count_);
        row_count_ += dim;
    }
}

int Motion::side(int edge) const {
    const auto e = static_cast<std::size_t>(edge);
    return e < sides_->size() && (*sides_)[e] != 0 ? (*sides_)[e] : 1;
}

bool Motion::holds(const MotionPoint& p, double t, const VecX& q) const {
    return p.version == version_ && p.t == t && p.q.size() == q.size() && p.q == q;
}

void Motion::read(double t, const VecX& q, MotionPoint& p) {
    if (holds(p, t, q)) return;
    p.t = t;
    p.q = q;
    system_->rows_on(*sides_, t, q, *finder_, p.joints, p.contacts);
    p.joints.slow_servos(shortest_servo);
    found_ = &p;
    p.version = version_;
    p.bias_known = false;
    p.solved = 0;
}

void Motion::observe(double t, const VecX& q, const VecX& v, MotionPoint& p) {
    read(t, q, p);
    p.v = v;
    system_->mass(q, p.mass);
    system_->forces(t, q, v, p.forces);
    find_bias(p);
}

bool Motion::find(double t, const VecX& q, MotionPoint& p) {
    read(t, q, p);
    p.target.setZero(row_count_);
    if (joints_alone_) {
        copy_all(p.joints.jacobian, p.rows);
        for (int i = 0; i < row_count_; ++i)
            if (p.joints.kind[i] == RowKind::velocity) p.target[i] = p.joints.target[i];
        return true;
    }
    p.rows.clear();
    p.place.clear();
    int row = 0, at = 0;  // both lists of contacts are sorted by id: one merge
    for (const Source& source : sources_) {
        if (source.contact < 0) {
            copy_rows(p.joints.jacobian, source.joint_group, source.first, 1, p.rows);
            const auto i = static_cast<std::size_t>(p.joints.jacobian.row[source.joint_group] + source.first);
            if (p.joints.kind[i] == RowKind::velocity) p.target[row] = p.joints.target[i];
        } else {
            const ContactId& id = modes_->contact[source.contact];
            while (at < p.contacts.size() && p.contacts.id[at] < id) ++at;
            const bool there = at < p.contacts.size() && p.contacts.id[at] == id;
            if (!there || p.contacts.jacobian.dim(at) < source.dim) {
                trouble_ = Trouble::contact_lost;
                lost_ = id;
                return false;
            }
            p.place.push_back(at);
            copy_rows(p.contacts.jacobian, at, 0, source.dim, p.rows);
        }
        row += source.dim;
    }
    return true;
}

Vec2 Motion::slip_at(int i, const MotionPoint& p) const {
    const int c = p.place[i];
    Vec2 u = Vec2::Zero();
    const Nodes& nodes = system_->nodes();
    for (const BlockRows::Block& block : p.contacts.jacobian.blocks_of(c)) {
        const auto H = p.contacts.jacobian.values_of(c, block, nodes);
        for (int k = 1; k < H.rows(); ++k)
            for (int j = 0; j < H.cols(); ++j) u[k - 1] += H(k, j) * p.v[nodes.start[block.node] + j];
    }
    return u;
}

// The unit direction of slip that friction opposes: in the plane that of the modes, and in space in the step that ends the slip, which
// so passes through zero: with friction that turns at once the end of the step would creep around it.
Vec2 Motion::direction_of(int i, const Vec2& slip, const MotionPoint& p) const {
    const auto k = static_cast<std::size_t>(i);
    const Vec2& start = modes_->slip[k];
    if (p.contacts.jacobian.dim(p.place[i]) < 3 || (k < modes_->straight.size() && modes_->straight[k])) return start;
    if (slip.norm() <= tolerances_->slip_rounding) return start;
    const double speed = k < modes_->slip_speed.size() ? modes_->slip_speed[k] : 0.0;
    return (speed > tolerances_->turning_speed && slip.dot(start) < 0 ? Vec2(-slip) : slip).normalized();
}

bool Motion::solved(const MotionPoint& p, double t, const VecX& q, const VecX& v) const {
    if (p.solved != phase_ || !holds(p, t, q) || !(p.v == v)) return false;
    for (int i = 0; i < static_cast<int>(modes_->contact.size()); ++i)
        if (modes_->mode[i] == ContactMode::slip && direction_of(i, p.slip[i], p) != p.slip_towards[i]) return false;
    return true;
}

void Motion::load(const VecX& v, MotionPoint& p) {
    const Nodes& nodes = system_->nodes();
    p.v = v;
    system_->mass(p.q, p.mass);
    system_->forces(p.t, p.q, v, p.forces);
    p.force = p.forces.potential + p.forces.applied;
    if (gyroscopic_.couplings.empty() && gyroscopic_.nodes == nodes)
        std::fill(gyroscopic_.values.begin(), gyroscopic_.values.end(), 0.0);
    else
        gyroscopic_.shape_diagonal(nodes);
    system_->add_gyroscopic(1, v, gyroscopic_);
    const auto is_zero = [](double x) { return x == 0; };
    if (!std::all_of(gyroscopic_.values.begin(), gyroscopic_.values.end(), is_zero))
        gyroscopic_.add_product(1, v, p.force);

    p.spring_force.setZero(p.joints.size());
    p.damper_force.setZero(p.joints.size());
    if (pushes_) {
        Gv_.resize(p.joints.size());
        p.joints.jacobian.product(nodes, v, Gv_);
    }
    for (int i = 0; i < p.joints.size() && pushes_; ++i) {
        const auto k = static_cast<std::size_t>(i);
        if (p.joints.kind[k] == RowKind::compliant) {
            p.damper_force[i] = -p.joints.damping[k] * Gv_[i];
            p.spring_force[i] = -p.joints.stiffness[k] * p.joints.value[k] + p.damper_force[i];
        } else if (k < modes_->bound.size() && modes_->bound[k] != 0) {
            p.spring_force[i] = modes_->bound[k] > 0 ? p.joints.force_upper[k] : p.joints.force_lower[k];
        }
    }
    if (pushes_) p.joints.jacobian.add_transpose_product(nodes, p.spring_force, p.force);

    p.row_speed.resize(row_count_);
    p.rows.product(nodes, v, p.row_speed);
    p.row_speed -= p.target;
    copy_all(p.rows, p.push);
    p.slip.assign(modes_->contact.size(), Vec2::Zero());
    p.slip_towards.assign(modes_->contact.size(), Vec2::Zero());
    for (int g = 0; g < p.rows.groups() && slides_; ++g) {
        const int i = sources_[g].contact;
        if (i < 0 || modes_->mode[i] != ContactMode::slip) continue;
        p.slip[i] = slip_at(i, p);
        p.slip_towards[i] = direction_of(i, p.slip[i], p);
        const int c = p.place[i];
        const double mu = p.contacts.friction[c];
        const int tangents = p.contacts.jacobian.dim(c) - 1;
        if (tangents == 0 || mu == 0) continue;
        const Vec2 along = mu * against(p.slip_towards[i], tangents > 1 ? p.contacts.facets[c] : 0);
        for (const BlockRows::Block& block : p.contacts.jacobian.blocks_of(c)) {
            const auto H = p.contacts.jacobian.values_of(c, block, nodes);
            for (const BlockRows::Block& pushing : p.push.blocks_of(g)) {
                if (pushing.node != block.node) continue;
                auto out = p.push.values_of(g, pushing, nodes);
                for (int k = 0; k < tangents; ++k) out.row(0) += along[k] * H.row(1 + k);
            }
        }
    }
}

void Motion::find_bias(MotionPoint& p) {
    if (p.bias_known && p.bias_v == p.v) return;
    if (found_ != &p) {  // the finder must hold the contacts whose bias is asked for
        system_->rows_on(*sides_, p.t, p.q, *finder_, p.joints, p.contacts);
        p.joints.slow_servos(shortest_servo);
        found_ = &p;
    }
    system_->bias(p.t, p.q, p.v, *finder_, p.joints, p.contacts);
    if (find_target_rates(*system_, *tolerances_, p.t, p.q, p.v, p.joints, shortest_servo, *finder_, target_scratch_,
                          p.target_rate))
        found_ = nullptr;
    p.bias_v = p.v;
    p.bias_known = true;
}

void Motion::acceleration_side(MotionPoint& p, RowVec& rate) {
    find_bias(p);
    rate.resize(row_count_);
    int row = 0;
    for (const Source& source : sources_) {
        for (int k = 0; k < source.dim; ++k, ++row) {
            if (source.contact < 0) {
                const int i = p.joints.jacobian.row[source.joint_group] + source.first;
                rate[row] = p.target_rate[i] - p.joints.bias[i];
            } else {
                const int first = p.contacts.jacobian.row[p.place[source.contact]];
                rate[row] = -p.contacts.bias[first + k];
            }
        }
    }
}

void Motion::factor_mass(const MotionPoint& p) {
    const bool known = mass_of_factors_.size() == p.mass.values.size() && couplings_of_factors_ == p.mass.couplings &&
                       std::equal(mass_of_factors_.begin(), mass_of_factors_.end(), p.mass.values.begin());
    if (known) return;
    mass_of_factors_.assign(p.mass.values.begin(), p.mass.values.end());
    couplings_of_factors_.assign(p.mass.couplings.begin(), p.mass.couplings.end());
    if (!mass_factors_.factor(p.mass)) trouble_ = Trouble::singular;
}

void Motion::divide_by_mass(const MotionPoint& p, VecX& x) {
    factor_mass(p);
    mass_factors_.solve(x.data());
}

void Motion::solve(MotionPoint& p, const MotionPoint& at, const RowVec& r) {
    p.solved = 0;
    factor_mass(p);
    if (!schur_.factor(mass_factors_, at.rows, p.push, system_->nodes())) trouble_ = Trouble::singular;
    if (trouble_ == Trouble::singular) return;
    solve_again(p, at, r);
}

void Motion::solve_again(MotionPoint& p, const MotionPoint& at, const RowVec& r) {
    const Nodes& nodes = system_->nodes();
    p.a = p.force;
    divide_by_mass(p, p.a);
    p.y.setZero(row_count_);
    if (row_count_ == 0) return;
    rhs_.resize(row_count_);
    double *rhs = rhs_.data(), *y = p.y.data(), *a = p.a.data();
    // The second round takes out the rounding of the first: velocity constraints then hold to the last digit.
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < row_count_; ++i) rhs[i] = r[i];
        for_blocks(at.rows, nodes, at.rows.values.data(), [&](int i, int start, int dof, const double* J) {
            double sum = 0;
            for (int c = 0; c < dof; ++c) sum += J[c] * a[start + c];
            rhs[i] -= sum;
        });
        schur_.solve(rhs);
        for (int i = 0; i < row_count_; ++i) y[i] += rhs[i];
        schur_.add_pushed(p.push, nodes, rhs, a);
    }
}

bool Motion::evaluate(double t, const VecX& q, const VecX& v, MotionPoint& p) {
    if (!find(t, q, p)) return false;
    load(v, p);
    acceleration_side(p, speed_);
    solve(p, p, speed_);
    return trouble_ == Trouble::none;
}

Vec3 Motion::contact_force(int i, const MotionPoint& p) const {
    Vec3 f = Vec3::Zero();
    const int row = first_row_[i], c = p.place[i], tangents = p.contacts.jacobian.dim(c) - 1;
    f[0] = p.y[row];
    if (modes_->mode[i] == ContactMode::slip) {
        if (tangents == 0) return f;
        const Vec2 along = against(p.slip_towards[i], tangents > 1 ? p.contacts.facets[c] : 0);
        f.tail<2>() = p.contacts.friction[c] * f[0] * along;
    } else {
        for (int k = 1; k < contact_source(i).dim; ++k) f[k] = p.y[row + k];
    }
    return f;
}

void Motion::joint_forces(const MotionPoint& p, RowVec& forces) const {
    forces = p.spring_force;
    int row = 0;
    for (const Source& source : sources_) {
        if (source.contact < 0) forces[p.joints.jacobian.row[source.joint_group] + source.first] = p.y[row];
        row += source.dim;
    }
}

}  // namespace stickslip
