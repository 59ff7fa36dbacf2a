// Rows of contacts and their bias; those of joints are in connections.
#include "base/parallel.hpp"
#include "model/multibody.hpp"

namespace stickslip {

std::span<const Pose> MultibodySystem::poses(const VecX& q, ContactFinder& finder) const {
    return finder.poses_at(model_.collision, q, static_cast<int>(model_.bodies.size()),
                           [&](int body) { return pose(body, q); });
}

void MultibodySystem::find_candidates(const VecX& q, ContactFinder& finder) const {
    if (!model_.collision.colliders.empty()) finder.find_candidates(model_.collision, poses(q, finder));
}

double MultibodySystem::gap(const ContactId& id, const VecX& q, ContactFinder& finder) const {
    ++finder.counts.gaps;
    if (id.kind == ContactKind::limit) return connections_->limit_gap(id, q);
    const CollisionModel& collision = model_.collision;
    const int a = collision.collider_index(id.a), b = collision.collider_index(id.b);
    if (a < 0 || b < 0) return infinity;
    return finder.gap(collision, a, b, pose(collision.colliders[a].body, q), pose(collision.colliders[b].body, q), id);
}

namespace {

// Contacts of one part of the rows. If fewer, starting threads costs more than they save.
constexpr int part_size = 100;

template <class List>
void append_list(const List& more, List& list) {
    list.insert(list.end(), more.begin(), more.end());
}

void append(const BlockRows& more, BlockRows& rows) {
    const int row = rows.row.back(), block = rows.first.back(), offset = static_cast<int>(rows.values.size());
    for (std::size_t g = 1; g < more.row.size(); ++g) {
        rows.row.push_back(row + more.row[g]);
        rows.first.push_back(block + more.first[g]);
    }
    for (const BlockRows::Block& b : more.blocks) rows.blocks.push_back({b.node, offset + b.offset});
    append_list(more.values, rows.values);
}

void append(const ContactRows& more, ContactRows& rows) {
    append(more.jacobian, rows.jacobian);
    append_list(more.id, rows.id);
    append_list(more.gap, rows.gap);
    append_list(more.friction, rows.friction);
    append_list(more.restitution, rows.restitution);
    append_list(more.tangential_restitution, rows.tangential_restitution);
    append_list(more.facets, rows.facets);
    append_list(more.position, rows.position);
    append_list(more.normal, rows.normal);
    append_list(more.tangent, rows.tangent);
    append_list(more.bias, rows.bias);
}

}  // namespace

void MultibodySystem::contact_rows(std::span<const ContactPoint> contacts, std::span<const Pose> place, const VecX& q,
                                   int most, ContactRows& rows) const {
    std::array<Wrench, 3> wrench;
    const int directions = std::min(bodies_->freedom().directions(), most);
    for (const ContactPoint& contact : contacts) {
        const SurfacePair& surface =
            model_
                .surface[model_.material[contact.collider_a] * model_.materials + model_.material[contact.collider_b]];
        const int dim = surface.friction == 0 ? 1 : directions;
        rows.begin_contact(contact.id, dim, contact.gap, surface.friction, surface.restitution, model_.facets,
                           surface.tangential_restitution);
        rows.position.back() = contact.position;
        rows.normal.back() = contact.normal;
        rows.tangent.back() = contact.tangent;
        const std::array<Vec3, 3> direction{contact.normal, contact.tangent, contact.normal.cross(contact.tangent)};
        const auto fill = [&](int body, double sign) {
            if (node(body) < 0) return;
            const Vec3 arm = contact.position - place[body].position;
            for (int i = 0; i < dim; ++i) wrench[i] = {sign * direction[i], sign * arm.cross(direction[i])};
            bodies_->add_rows(body, q, std::span(wrench.data(), dim), rows.jacobian);
        };
        fill(contact.body_a, 1);
        fill(contact.body_b, -1);
    }
}

void MultibodySystem::contact_rows(const VecX& q, int most, ContactFinder& finder, ContactRows& rows) const {
    if (model_.collision.colliders.empty()) return;
    const std::span<const Pose> place = poses(q, finder);
    finder.evaluate(model_.collision, place);
    const std::span<const ContactPoint> contacts = finder.contacts();
    const int count = static_cast<int>(contacts.size()), parts = (count + part_size - 1) / part_size;
    if (threads() == 1 || parts <= 1) {
        contact_rows(contacts, place, q, most, rows);
        return;
    }
    const auto scratch = row_parts_.borrow();
    scratch->resize(std::max(scratch->size(), static_cast<std::size_t>(parts)));
    in_parallel(parts, [&](int part) {
        ContactRows& own = (*scratch)[part];
        own.clear();
        const int from = part * part_size;
        contact_rows(contacts.subspan(from, std::min(part_size, count - from)), place, q, most, own);
    });
    for (int part = 0; part < parts; ++part) append((*scratch)[part], rows);
}

void MultibodySystem::limits(const VecX& q, ContactRows& limits) const {
    limits.clear();
    connections_->limit_rows(q, limits);
}

void MultibodySystem::rows(double t, const VecX& q, ContactFinder& finder, BilateralRows& joints,
                           ContactRows& contacts) const {
    ++finder.counts.rows;
    contacts.clear();
    connections_->rows(t, q, joints);
    contact_rows(q, 3, finder, contacts);
    connections_->limit_rows(q, contacts);
}

void MultibodySystem::normal_rows_on(EdgeSides, double t, const VecX& q, ContactFinder& finder, BilateralRows& joints,
                                     ContactRows& contacts) const {
    ++finder.counts.rows;
    contacts.clear();
    connections_->rows(t, q, joints);
    contact_rows(q, 1, finder, contacts);
    connections_->limit_rows(q, contacts);
}

void MultibodySystem::joint_rows(double t, const VecX& q, const VecX& v, BilateralRows& joints) const {
    connections_->rows(t, q, joints);
    connections_->bias(q, v, joints);
}

void MultibodySystem::turn_joint_rows(double, const VecX& q, const VecX& move, BilateralRows& joints,
                                      BilateralRows&) const {
    connections_->turn_rows(q, move, joints);
}

double MultibodySystem::joint_error(double, const VecX& q, const VecX&, double arm, BilateralRows&) const {
    return connections_->joint_error(q, arm);
}

// Contacts: u_i = d_i.(v_A(P) - v_B(P)) with d_i = n, t1, t2 and velocity fields v_X(P) = v_X + w_X x (P - x_X).
// Along constant twists  du_i/dt = d_i'.(v_A(P) - v_B(P)) + d_i.(w_A x (P' - v_A) - w_B x (P' - v_B)).
// The frame turns as little as it can: t1' = -n (n'.t1), t2' = -n (n'.t2).
void MultibodySystem::bias(double, const VecX& q, const VecX& v, const ContactFinder& finder, BilateralRows& joints,
                           ContactRows& contacts) const {
    connections_->bias(q, v, joints);

    // Contacts may have been thinned out since rows(): both lists are sorted by id.
    auto found = finder.contacts().begin();
    for (int i = 0; i < contacts.size(); ++i) {
        if (contacts.id[i].kind == ContactKind::limit) {
            contacts.bias[contacts.jacobian.row[i]] = connections_->limit_bias(contacts.id[i], q, v);
            continue;
        }
        while (found->id < contacts.id[i]) ++found;
        const Twist a = bodies_->twist(found->body_a, q, v), b = bodies_->twist(found->body_b, q, v);
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
            contacts.bias[first + k] = rate[k].dot(relative) + direction[k].dot(drift);
        if (!bodies_->has_bias()) continue;
        const Acceleration of_a = bodies_->bias(found->body_a, q, v), of_b = bodies_->bias(found->body_b, q, v);
        const Vec3 bias =
            of_a.linear + of_a.angular.cross(P - a.origin) - of_b.linear - of_b.angular.cross(P - b.origin);
        for (int k = 0; k < contacts.jacobian.dim(i); ++k) contacts.bias[first + k] += direction[k].dot(bias);
    }
}

}  // namespace stickslip
