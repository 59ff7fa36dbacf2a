// stickslip as a user of its public headers has it: moreau-jean, auto, degrade unless options say otherwise (--scheme, --solver,
// --policy degrade|certify|budget, --factorisations of a budget, and --scheme.KEY for the options of the scheme).
#include "stickslip/load.hpp"

#include <memory>

#include "peer.hpp"
#include "stickslip/edit.hpp"
#include "stickslip/threads.hpp"

namespace {

using namespace peers;
namespace ss = stickslip;

std::string name_of(int body) { return body < 0 ? "ground" : "b" + std::to_string(body); }

ss::Scene::Shape shape_of(const Shape& shape) {
    ss::Scene::Shape s;
    switch (shape.kind) {
        case Kind::plane: s.kind = "half-space"; break;
        case Kind::box: s.kind = "box"; break;
        case Kind::sphere: s.kind = "sphere"; break;
        case Kind::capsule: s.kind = "capsule"; break;
    }
    s.edges = 2 * shape.half, s.radius = shape.radius, s.length = 2 * shape.half_length;
    return s;
}

ss::Scene::Body body_of(const Body& body, int number) {
    ss::Scene::Body b;
    b.name = name_of(number);
    b.fixed = body.mass == 0;
    b.pose = {body.start.position, body.start.attitude};
    if (!b.fixed) {
        b.mass = body.mass, b.com = Vec3::Zero(), b.inertia = ss::Mat3(body.inertia.asDiagonal());
        b.velocity = body.start.velocity, b.angular_velocity = body.start.angular_velocity;
    }
    if (body.collide) b.shapes.push_back(shape_of(body.shape));
    return b;
}

ss::Scene::Joint joint_of(const Joint& joint, std::size_t number) {
    ss::Scene::Joint j;
    j.name = "j" + std::to_string(number), j.kind = "ball";
    j.a.text = name_of(joint.a), j.b.text = name_of(joint.b);
    j.at_a = joint.at_a, j.at_b = joint.at_b;
    return j;
}

// A table with a row per step, since that is what the other engines are given.
ss::Scene::Load load_of(const Scene& scene, const ForceLaw& law) {
    ss::Scene::Load l;
    l.name = "f" + name_of(law.body), l.body.text = name_of(law.body);
    l.interpolation = ss::Scene::Load::Interpolation::step;
    for (int n = 0; n < (law.omega == 0 ? 1 : scene.steps); ++n) l.table.push_back({n * scene.h, scene.force(law, n)});
    return l;
}

ss::Policy policy_of(const std::string& word) {
    for (const ss::Policy p : {ss::Policy::degrade, ss::Policy::certify, ss::Policy::budget})
        if (word == ss::to_string(p)) return p;
    throw std::runtime_error("no policy " + word);
}

ss::Scene translate(const Scene& scene, const Options& options) {
    ss::Scene s;
    s.file = s.text = scene.name;
    s.gravity = scene.gravity;
    ss::Scene::Material material;
    material.name = "default", material.friction = scene.mu, material.restitution = scene.restitution;
    s.materials.push_back(material);
    for (std::size_t i = 0; i < scene.bodies.size(); ++i) s.bodies.push_back(body_of(scene.bodies[i], int(i)));
    for (std::size_t i = 0; i < scene.joints.size(); ++i) s.joints.push_back(joint_of(scene.joints[i], i));
    for (const ForceLaw& law : scene.forces) s.loads.push_back(load_of(scene, law));
    s.run.scheme.name = options.word("scheme", s.run.scheme.name);
    s.run.solver.name = options.word("solver", s.run.solver.name);
    for (const auto& [key, value] : options.given)
        if (key.starts_with("scheme.")) s.run.scheme.options.push_back({key.substr(7), value, {}});
    s.run.policy = policy_of(options.word("policy", ss::to_string(s.run.policy)));
    if (s.run.policy == ss::Policy::budget) s.run.budget.factorisations = options.number("factorisations", 20);
    char step[32];
    std::snprintf(step, sizeof step, "%.17g", scene.h / options.substeps());
    s.run.step = ss::OptionValue{"step", step, {}};
    s.run.end = (scene.steps + 1) * scene.h;
    return s;
}

class StickSlip : public Engine {
public:
    StickSlip(const Scene& scene, const Options& options) : h_(scene.h) {
        ss::set_threads(1);
        simulation_ = std::make_unique<ss::Simulation>(ss::build_model(translate(scene, options)));
        simulation_->watch_solves([this](const ss::SolvedProblem& p) { solver_seconds_[p.report.solver] += p.wall_s; });
        const std::vector<std::string> names = simulation_->model().system->body_names();
        index_.assign(scene.bodies.size(), -1);
        for (std::size_t i = 0; i < names.size(); ++i) index_[std::stoul(names[i].substr(1))] = int(i);
    }
    // A sum of steps may miss n h by its rounding.
    void step(const std::vector<Applied>&) override { stopped_ = !simulation_->until(++steps_ * h_ * (1 - 1e-12)); }
    Motion motion(int body) const override {
        const ss::State& x = simulation_->state();
        const ss::BodyState b = simulation_->model().system->body_state(index_[body], x.q, x.v);
        return {b.pose.position, b.pose.attitude, b.velocity, b.angular_velocity};
    }
    void place(int body, const Motion& motion) override {
        simulation_->edit(ss::Edit::remove(name_of(body)));
        ss::Edit back = ss::Edit::add(name_of(body));
        back.pose = ss::Pose{motion.position, motion.attitude};
        back.velocity = motion.velocity, back.angular_velocity = motion.angular_velocity;
        simulation_->edit(back);
    }
    int contacts() const override { return int(simulation_->step().problem.contacts.size()); }
    bool stopped() const override { return stopped_; }
    Json about() override {
        const std::atomic<bool> stop = true;
        const ss::RunSummary s = simulation_->run(&stop);  // takes no further step, only sums up
        return {{"engine", "stickslip"},
                {"settings", s.scheme + " " + s.solver + " " + s.policy},
                {"certified_share", s.steps > 0 ? double(s.certified_steps) / double(s.steps) : 0.0},
                {"substepped", s.substepped},
                {"refusal", simulation_->refusal()},
                {"phases", simulation_->step().timers.seconds},  // [s] find, fill, solve, advance, book
                {"solver_seconds", solver_seconds_}};
    }

private:
    double h_;
    std::unique_ptr<ss::Simulation> simulation_;
    std::vector<int> index_;  // of a scene's body among those of the system
    std::map<std::string, double> solver_seconds_;
    int steps_ = 0;
    bool stopped_ = false;
};

}  // namespace

int main(int argc, char** argv) { return drive<StickSlip>(argc, argv); }
