// Edits of a scene's model. Each edit changes copies: of the scene (what is declared), of its standing (what is there) and of the
// model (what was made of it), and makes a new system of them. The old editor stays as it was, so that an edit that fails
// has changed nothing and a snapshot can be reached again from the start.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "scene/builder.hpp"
#include "scene/validate.hpp"
#include "stickslip/simulation.hpp"

namespace stickslip {

namespace {

using What = Standing::What;

// [m] Bodies that a cut joint held together may touch from then on, unless they overlap by more than this: then the overlap
// was meant (links of a chain), and pushing them apart would be an explosion.
constexpr double overlap_that_was_meant = 1e-6;

bool overlap(const MultibodyModel& model, const MultibodySystem& system, int a, int b, const VecX& q) {
    CollisionModel both;
    both.plane_normal = system.model().collision.plane_normal;
    for (const Collider& collider : model.collision.colliders)
        if (collider.body == a || collider.body == b) both.colliders.push_back(collider);
    std::vector<Pose> poses;
    for (int i = 0; i < std::ssize(model.bodies); ++i) poses.push_back(system.pose(i, q));
    ContactFinder finder;
    finder.find(both, poses);
    return std::any_of(finder.contacts().begin(), finder.contacts().end(),
                       [](const ContactPoint& c) { return c.gap < -overlap_that_was_meant; });
}

class SceneEditor final : public Editor {
public:
    explicit SceneEditor(DeclaredScene declared)
        : scene_(std::move(declared.scene)), standing_(DeclaredScene{scene_, {}, declared.first_reserved}) {
        for (std::size_t i = 0; i < scene_.actions.size(); ++i)
            reserved_.emplace_back(scene_.actions[i].edit.get(), declared.joint[i]);
        Placement start;
        for (const Scene::Body& body : scene_.bodies) start.frames.push_back(body.pose);
        start.coordinate = [this](int joint, int coordinate) { return start_of(joint, coordinate); };
        Builder(scene_, standing_, start, model_).make_everything();
    }

    std::unique_ptr<MultibodySystem> make_system() {
        auto system = std::make_unique<MultibodySystem>(model_);
        model_.counted = system->model().counted;
        return system;
    }

    Edited apply(const Edit& edit, const State& state) const override {
        const int reserved = reserved_by(edit);
        if (!is_action(edit)) check_edit(scene_, edit);
        const auto next = std::make_shared<SceneEditor>(*this);
        const MultibodySystem before(model_);
        const std::vector<Standing::Change> changes = next->standing_.apply(next->scene_, edit, state.t, reserved);

        Placement now;
        now.t = state.t;
        for (int b = 0; b < std::ssize(model_.bodies); ++b)
            now.frames.push_back(before.body_state(b, state.q, state.v).pose);
        std::vector<int> made;  // joints
        now.coordinate = [&](int joint, int coordinate) {
            const bool is_new = std::find(made.begin(), made.end(), joint) != made.end();
            return is_new ? next->start_of(joint, coordinate) : before.coordinate(joint, coordinate, state.q);
        };

        Builder builder(next->scene_, next->standing_, now, next->model_);
        Edited edited;
        bool driven = edit.kind == Edit::Kind::drive;
        for (const Standing::Change& change : changes) {
            edited.events.push_back(event(change, driven, state.t));
            if (driven) {
                builder.make_drives(change.index);
            } else if (change.what == What::body && change.came) {
                const Pose& pose = next->scene_.bodies[change.index].pose;
                if (change.index == std::ssize(now.frames)) now.frames.emplace_back();
                now.frames[change.index] = {pose.position, pose.attitude.normalized()};
                builder.make_body(change.index);
            } else if (change.came) {
                next->make(change, builder);
                if (change.what == What::joint) made.push_back(change.index);
            } else {
                next->leave_out(change, before, state);
            }
        }
        builder.ignore_joined(next->parted_);

        std::unique_ptr<MultibodySystem> system = next->make_system();
        edited.state = system->carry_over(before, state);
        for (const Standing::Change& change : changes) {
            if (change.what != What::body) continue;
            const auto b = static_cast<std::size_t>(change.index);
            const RigidBody& body = next->model_.bodies[b];
            if (change.came)
                system->place_body(change.index, body.pose, next->scene_.bodies[b].velocity,
                                   next->scene_.bodies[b].angular_velocity, edited.state);
            else  // it rests where it was
                system->place_body(change.index, system->pose(change.index, edited.state.q), Vec3::Zero(), Vec3::Zero(),
                                   edited.state);
        }
        system->recount(edited.state.q);
        edited.editor = next;
        edited.system = std::move(system);
        return edited;
    }

    std::shared_ptr<const Edit> keep(const Edit& edit) const override { return std::make_shared<const Edit>(edit); }

private:
    bool is_action(const Edit& edit) const {
        return std::any_of(reserved_.begin(), reserved_.end(), [&](const auto& r) { return r.first == &edit; });
    }
    int reserved_by(const Edit& edit) const {
        for (const auto& [action, joint] : reserved_)
            if (action == &edit) return joint;
        return -1;
    }

    double start_of(int joint, int coordinate) const {
        for (const Scene::Drive& drive : scene_.joints[joint].drives)
            if (drive.coordinate == coordinate) return drive.start;
        return 0;
    }

    static void make(const Standing::Change& change, Builder& builder) {
        switch (change.what) {
            case What::joint: return builder.make_joint(change.index);
            case What::spring: return builder.make_spring(change.index);
            case What::bushing: return builder.make_bushing(change.index);
            case What::torsion_spring:  // made with its joint
            case What::body: break;
        }
    }

    void leave_out(const Standing::Change& change, const MultibodySystem& before, const State& state) {
        const auto i = static_cast<std::size_t>(change.index);
        switch (change.what) {
            case What::body: model_.bodies[i].present = false; break;
            case What::spring: model_.springs[i].present = false; break;
            case What::bushing: model_.bushings[i].present = false; break;
            case What::torsion_spring:
                for (Joint& joint : model_.joints)
                    for (Drive& drive : joint.drives)
                        if (!drive.spring_name.empty() && drive.spring_id == scene_.springs.size() + i)
                            drive.stiffness = drive.damping = 0;
                break;
            case What::joint: {
                Joint& joint = model_.joints[i];
                joint.present = false;
                if (!joint.kind->is_gear() && !scene_.joints[i].collide && standing_.body(joint.a) &&
                    standing_.body(joint.b) && overlap(model_, before, joint.a, joint.b, state.q))
                    parted_.push_back(std::minmax(joint.a, joint.b));
                break;
            }
        }
    }

    Event event(const Standing::Change& change, bool driven, double t) const {
        Event event;
        event.t = t;
        event.kind = driven ? EventKind::drive : change.came ? EventKind::attach : EventKind::cut;
        if (change.what == What::body) event.kind = change.came ? EventKind::add : EventKind::remove;
        auto id = static_cast<std::uint32_t>(change.index);
        SubjectKind subject = SubjectKind::spring;
        if (change.what == What::body) subject = SubjectKind::body;
        if (change.what == What::joint) subject = SubjectKind::joint;
        if (change.what == What::torsion_spring || change.what == What::bushing)
            id += static_cast<std::uint32_t>(scene_.springs.size());
        if (change.what == What::bushing) id += static_cast<std::uint32_t>(scene_.torsion_springs.size());
        event.subject = {subject, id};
        return event;
    }

    Scene scene_;
    Standing standing_;
    MultibodyModel model_;                               // colliders of bodies that are not there included
    std::vector<std::pair<int, int>> parted_;            // bodies that keep overlapping after their joint was cut
    std::vector<std::pair<const Edit*, int>> reserved_;  // the scene's actions and the joints they attach
};

}  // namespace

std::shared_ptr<const Editor> make_editor(const Scene& scene, std::unique_ptr<MultibodySystem>& system) {
    auto editor = std::make_shared<SceneEditor>(declare_all(scene));
    system = editor->make_system();
    return editor;
}

}  // namespace stickslip
