// What the audit reads off the rows at t = 0: overlaps, velocities against the joints, redundancy, mass ratios, wedging, the friction bound.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "collision/finder.hpp"
#include "diagnose/friction_bound.hpp"
#include "diagnose/redundancy.hpp"
#include "diagnose/wedging.hpp"
#include "scene/check.hpp"

namespace stickslip {

namespace {

constexpr double rounding_of_poses = 1e-6;  // [m] what written poses leave
constexpr double jump = 1e-6;               // [m/s, rad/s] below it nobody sees the first step act like an impact
constexpr double uneven = 1e4;              // mass ratio

class RowAudit {
public:
    RowAudit(const Scene* scene, const Model& model, Audit& audit)
        : scene_(scene),
          model_(model),
          system_(*model.system),
          audit_(audit),
          bodies_(dynamic_cast<const MultibodySystem*>(model.system.get())) {
        const State& x = model.state;
        system_.mass(x.q, mass_);
        system_.look_ahead(x.v, 0, finder_);
        system_.rows(x.t, x.q, finder_, joints_, contacts_);
    }

    void run() {
        overlaps();
        joint_velocities();
        redundancy();
        mass_ratios();
        wedging();
        friction();
    }

private:
    void add(Severity severity, const char* topic, std::string message, std::string advice,
             std::vector<std::string> who, const Place& place) {
        audit_.findings.push_back({severity, topic, std::move(message), std::move(advice), std::move(who), place});
    }
    Place body_place(const std::string& name) const {
        if (scene_)
            for (const Scene::Body& body : scene_->bodies)
                if (body.name == name) return body.place;
        return {};
    }
    Place joint_place(const std::string& name) const {
        if (scene_)
            for (const Scene::Joint& joint : scene_->joints)
                if (joint.name == name || name.starts_with(joint.name + " ") || name.starts_with(joint.name + "."))
                    return joint.place;
        return {};
    }
    // Bodies of a contact, in scene order; its own name where there are no bodies.
    std::vector<std::string> names_of(int contact) const {
        const ContactId& id = contacts_.id[contact];
        if (!bodies_ || id.kind == ContactKind::limit) return {system_.contact_name(id)};
        std::vector<std::string> names;
        const auto& all = bodies_->model().collision.colliders;
        for (const std::uint32_t shape : {id.a, id.b}) {
            const auto found = std::find_if(all.begin(), all.end(), [&](const Collider& c) { return c.id == shape; });
            if (found == all.end()) continue;
            names.push_back(found->body < 0 ? "ground" : bodies_->model().bodies[found->body].name);
        }
        return names;
    }
    std::string quoted(const std::vector<std::string>& names) const {
        std::vector<std::string> list;
        for (const std::string& name : names) list.push_back("'" + name + "'");
        return enumeration(list);
    }

    void overlaps();
    void joint_velocities();
    void redundancy();
    void mass_ratios();
    void wedging();
    void friction();
    // The bodies of several contacts, each once.
    std::vector<std::string> bodies_of(const std::vector<int>& contacts) const;

    const Scene* scene_;
    const Model& model_;
    const System& system_;
    Audit& audit_;
    const MultibodySystem* bodies_;
    ContactFinder finder_;
    BlockMatrix mass_;
    BilateralRows joints_;
    ContactRows contacts_;
};

// The deepest contact of each pair of bodies.
void RowAudit::overlaps() {
    std::map<std::vector<std::string>, int> deepest;
    for (int i = 0; i < contacts_.size(); ++i) {
        if (!(contacts_.gap[i] < -rounding_of_poses)) continue;
        const auto [at, fresh] = deepest.try_emplace(names_of(i), i);
        if (!fresh && contacts_.gap[i] < contacts_.gap[at->second]) at->second = i;
    }
    for (const auto& [names, i] : deepest) {
        const double depth = -contacts_.gap[i];
        const bool through = depth > system_.overlap_limit(contacts_.id[i]);
        const bool pair = names.size() == 2;
        add(through ? Severity::error : Severity::warning, "overlap",
            pair ? fmt::format("{} overlap by {:.3g} m at t = 0{}", quoted(names), depth,
                               through ? ", more than half the thickness of a body" : "")
                 : fmt::format("{} is passed by {:.3g} at t = 0", quoted(names), depth),
            through ? "mend their poses: which side they belong to cannot be told, and the run is refused"
                    : "mend their poses: the overlap stays, or is pushed out if scheme.stabilisation is on",
            names, pair ? body_place(names[1]) : joint_place(names[0]));
    }
}

void RowAudit::joint_velocities() {
    const BlockRows& G = joints_.jacobian;
    VecX speed(G.rows());
    G.product(mass_.nodes, model_.state.v, speed);
    for (int g = 0; g < G.groups(); ++g) {
        double worst = 0, motor = 0, open = 0;
        for (int i = G.row[g]; i < G.row[g + 1]; ++i) {
            if (joints_.kind[i] == RowKind::holonomic) {
                worst = std::max(worst, std::abs(speed[i]));
                open = std::max(open, std::abs(joints_.value[i]));
            }
            if (joints_.kind[i] == RowKind::velocity && joints_.force_upper[i] == infinity)
                motor = std::max(motor, std::abs(speed[i] - joints_.target[i]));
        }
        const std::string name = system_.joint_name(joints_.id[g]);
        if (worst > jump)
            add(Severity::warning, "velocity",
                fmt::format("the velocities at t = 0 tear joint '{}' apart with {:.3g} m/s or rad/s", name, worst),
                "give velocities that fit the joints: otherwise the first step acts like an impact and takes energy",
                {name}, joint_place(name));
        if (motor > jump)
            add(Severity::note, "velocity",
                fmt::format("'{}' starts {:.3g} m/s or rad/s away from its target", name, motor),
                "a motor without a largest force gets there in one step, like an impact", {name}, joint_place(name));
        if (open > rounding_of_poses)
            add(Severity::warning, "velocity",
                fmt::format("joint '{}' is open by {:.3g} m or rad at t = 0", name, open),
                "mend the poses or the points of the joint", {name}, joint_place(name));
    }
}

void RowAudit::redundancy() {
    Redundancy found;
    found.plan(mass_, joints_);
    if (found.left_out() > 0)
        add(Severity::note, "redundant",
            fmt::format("{} joint rows in loops are too many to look for redundant ones", found.left_out()),
            "reactions in that loop may not be unique", {}, {});
    if (!found.any()) return;
    const std::vector<std::string> joints = found.shared_joints(system_);
    const std::vector<std::string> rows = found.redundant_names(system_);
    add(Severity::note, "redundant",
        fmt::format("{} of {} joint rows say what others say already: {}", rows.size(), found.rows(),
                    enumeration(rows)),
        fmt::format("the motion is not affected; the reactions of {} are not unique, and the smallest ones are given",
                    quoted(joints)),
        joints, joints.empty() ? Place{} : joint_place(joints.front()));
}

void RowAudit::mass_ratios() {
    if (!bodies_) return;
    const MultibodyModel& model = bodies_->model();
    std::set<std::pair<int, int>> seen;
    const auto compare = [&](int a, int b, const char* how) {
        if (a < 0 || b < 0 || a == b || !seen.insert(std::minmax(a, b)).second) return;
        const RigidBody &one = model.bodies[a], &two = model.bodies[b];
        if (one.fixed || two.fixed) return;
        const double ratio = std::max(one.mass, two.mass) / std::min(one.mass, two.mass);
        if (!(ratio > uneven)) return;
        add(Severity::note, "mass-ratio",
            fmt::format("'{}' and '{}' {} and differ {:.2g} : 1 in mass", one.name, two.name, how, ratio),
            "direct solvers (auto, lemke) take it; sweeps (nsgs) need many rounds", {one.name, two.name},
            body_place(two.name));
    };
    for (const Joint& joint : model.joints) compare(joint.a, joint.b, "are joined");
    for (const Spring& spring : model.springs) compare(spring.a, spring.b, "are joined");
    for (int i = 0; i < contacts_.size(); ++i) {
        const ContactId& id = contacts_.id[i];
        if (id.kind == ContactKind::limit) continue;
        const auto& all = model.collision.colliders;
        const auto body = [&](std::uint32_t shape) {
            const auto found = std::find_if(all.begin(), all.end(), [&](const Collider& c) { return c.id == shape; });
            return found == all.end() ? -1 : found->body;
        };
        compare(body(id.a), body(id.b), "touch");
    }
}

std::vector<std::string> RowAudit::bodies_of(const std::vector<int>& contacts) const {
    std::vector<std::string> names;
    for (const int i : contacts)
        for (const std::string& name : names_of(i))
            if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    return names;
}

void RowAudit::friction() {
    const FrictionBounds bounds = friction_bounds(mass_, joints_, contacts_, rounding_of_poses);
    for (const IslandFriction& island : bounds.islands)
        audit_.friction_bound.push_back({.who = bodies_of(island.contacts),
                                         .contacts = static_cast<int>(island.contacts.size()),
                                         .friction = island.friction,
                                         .bound = island.bound,
                                         .normal_least = island.normal_least,
                                         .cross_most = island.cross_most});
    if (bounds.left_out > 0)
        add(Severity::note, "friction",
            fmt::format("the friction bound was not computed for {} contacts", bounds.left_out),
            "they are too many in one heap", {}, {});
}

void RowAudit::wedging() {
    const WedgingAnswer answer = find_wedges(mass_, joints_, contacts_, rounding_of_poses);
    for (const Wedge& wedge : answer.wedges) {
        const std::vector<std::string> names = bodies_of(wedge.contacts);
        Place place;  // of the first that moves
        for (const std::string& name : names) {
            const Place found = body_place(name);
            const bool moves = scene_ && std::any_of(scene_->bodies.begin(), scene_->bodies.end(),
                                                     [&](const auto& b) { return b.name == name && !b.fixed; });
            if (moves && place.line == 0) place = found;
        }
        if (wedge.friction > 0)
            add(Severity::warning, "wedging",
                fmt::format("{} can wedge: friction up to {:.3g} holds any pressure between them without a load from "
                            "outside ({} contacts, the friction cone is not pointed)",
                            quoted(names), wedge.friction, wedge.contacts.size()),
                "how tight they sit does not follow from the model: the solver's choice is one of many. Lower the "
                "friction, open the angle between the contacts or leave play",
                names, place);
        else
            add(Severity::note, "wedging",
                fmt::format("{} are squeezed between contacts that face each other", quoted(names)),
                "without friction the motion is not affected, but the pressure is not determined; leave play", names,
                place);
    }
    if (!answer.held.empty()) {
        const std::vector<std::string> names = bodies_of(answer.held);
        add(Severity::note, "wedging",
            fmt::format("joints alone can carry the contact forces between {}", quoted(names)),
            "how much the contact carries is not determined", names, body_place(names.empty() ? "" : names.front()));
    }
    if (!answer.dropped.empty()) {
        const std::vector<std::string> names = bodies_of(answer.dropped);
        add(Severity::note, "friction",
            fmt::format("friction between {} moves nothing: joints carry it ({} of {} contacts drop out of the reduced "
                        "friction cone, which is {}pointed)",
                        quoted(names), answer.dropped.size(), contacts_.size(), answer.pointed() ? "" : "not "),
            "it loads the joints only, by any amount up to its bound; friction 0 gives the same motion", names,
            body_place(names.empty() ? "" : names.back()));
    }
    if (answer.left_out + answer.undecided > 0)
        add(Severity::note, "wedging",
            fmt::format("whether bodies can wedge was not decided for {} contacts", answer.left_out + answer.undecided),
            answer.left_out > 0 ? "they are too many in one heap" : "they are at the very edge of it", {}, {});
}

}  // namespace

void check_rows(const Scene* scene, const Model& model, Audit& audit) { RowAudit(scene, model, audit).run(); }

}  // namespace stickslip
