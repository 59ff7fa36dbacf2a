#include "stickslip/system.hpp"

#include <algorithm>
#include <cmath>

#include "collision/finder.hpp"
#include "stickslip/error.hpp"

namespace stickslip {

void System::add_gyroscopic(double, const VecX&, BlockMatrix&) const {}
bool System::is_body_in_space(int) const { return false; }

bool System::slopes(double, const VecX&, const VecX&, BlockMatrix&, BlockMatrix&) const { return false; }

void System::bias(double t, const VecX& q, const VecX& v, const ContactFinder& finder, BilateralRows& joints,
                  ContactRows& contacts) const {
    curvature(t, q, v, finder, joints, contacts);
}

void System::curvature(double, const VecX&, const VecX&, const ContactFinder&, BilateralRows&, ContactRows&) const {
    throw Error("this system does not say the bias of its rows: override System::bias");
}

void System::leave_out_passed(const VecX&, const VecX&, double, const ContactRows&, std::vector<char>&, PassingGuard&) const {}
void System::joint_rows(double t, const VecX& q, const VecX& v, BilateralRows& joints) const {
    ContactFinder finder;
    ContactRows contacts;
    rows(t, q, finder, joints, contacts);
    bias(t, q, v, finder, joints, contacts);
}
void System::turn_joint_rows(double t, const VecX& q, const VecX& move, BilateralRows& joints,
                             BilateralRows& scratch) const {
    joint_rows(t, q, move, scratch);  // their bias is not asked for
    joints.jacobian = scratch.jacobian;
}
double System::joint_error(double t, const VecX& q, const VecX& v, double, BilateralRows& scratch) const {
    joint_rows(t, q, v, scratch);
    double error = 0;
    for (int i = 0; i < scratch.size(); ++i)
        if (scratch.kind[i] == RowKind::holonomic) error = std::max(error, std::abs(scratch.value[i]));
    return error;
}
std::string System::undefined(double) const { return {}; }
double System::safe_time(const VecX&, const VecX&, const VecX&, std::span<const ContactId>, double horizon,
                         PassingGuard&) const {
    return horizon;
}
void System::look_ahead(const VecX&, double, ContactFinder&) const {}

void System::find_candidates(const VecX&, ContactFinder&) const {}

// Every row for one gap: right for any system, and slow.
double System::gap(const ContactId& id, const VecX& q, ContactFinder& finder) const {
    BilateralRows joints;
    ContactRows contacts;
    rows(0, q, finder, joints, contacts);
    const auto found = std::find(contacts.id.begin(), contacts.id.end(), id);
    return found == contacts.id.end() ? infinity : contacts.gap[found - contacts.id.begin()];
}

void System::rows_on(EdgeSides, double t, const VecX& q, ContactFinder& finder, BilateralRows& joints,
                     ContactRows& contacts) const {
    rows(t, q, finder, joints, contacts);
}

void System::normal_rows_on(EdgeSides sides, double t, const VecX& q, ContactFinder& finder, BilateralRows& joints,
                            ContactRows& contacts) const {
    rows_on(sides, t, q, finder, joints, contacts);
}

double System::gap_on(EdgeSides, const ContactId& id, const VecX& q, ContactFinder& finder) const {
    return gap(id, q, finder);
}

void System::limits(const VecX&, ContactRows& limits) const { limits.clear(); }

double System::overlap_limit(const ContactId&) const { return infinity; }

void System::spins(const VecX&, const VecX&, std::vector<BodySpin>& spins) const { spins.clear(); }

double System::opening_limit(std::uint32_t, int) const { return infinity; }

void System::chart_rate(const VecX&, const VecX& v, VecX& rate) const { rate = v; }

double System::edge_value(int, const VecX&) const { return 1; }

std::string System::edge_name(int edge) const { return "edge " + std::to_string(edge); }

double System::next_discontinuity(double) const { return infinity; }
double System::next_jump(double) const { return infinity; }
std::string System::hasty_drive(double, double) const { return {}; }

Scales System::scales(const State&) const { return {}; }

void System::mark_turns(std::vector<char>& q, std::vector<char>& v) const {
    q.assign(static_cast<std::size_t>(nq()), 0);
    v.assign(static_cast<std::size_t>(nv()), 0);
}

BodyState System::body_state(int, const VecX&, const VecX&) const { return {}; }

std::string System::subject_name(const Subject& subject) const {
    static constexpr const char* words[] = {"nothing", "body ", "joint ", "spring "};
    const auto kind = static_cast<std::size_t>(subject.kind);
    return kind == 0 ? words[0] : words[kind] + std::to_string(subject.id);
}

std::string System::who(const Event& event) const {
    if (event.subject.kind != SubjectKind::none) return subject_name(event.subject);
    return event.contact == no_contact ? std::string() : contact_name(event.contact);
}

std::string System::contact_name(const ContactId& id) const { return "contact " + std::to_string(id.a); }

}  // namespace stickslip
