// Bullet in double precision: sequential impulses (--iterations, 10) or a direct LCP (--solver dantzig).
#include <BulletDynamics/MLCPSolvers/btDantzigSolver.h>
#include <BulletDynamics/MLCPSolvers/btMLCPSolver.h>
#include <btBulletDynamicsCommon.h>

#include <memory>

#include "peer.hpp"

namespace {

using namespace peers;

btVector3 to(const Vec3& v) { return {v.x(), v.y(), v.z()}; }
Vec3 from(const btVector3& v) { return {v.x(), v.y(), v.z()}; }
btTransform to(const Motion& m) {
    const Quat& q = m.attitude;
    return btTransform(btQuaternion(q.x(), q.y(), q.z(), q.w()), to(m.position));
}

// The ground is a big box: Bullet gives box on box all its points at once, box on plane one more each step.
constexpr double ground_depth = 1;

std::unique_ptr<btCollisionShape> shape_of(const Shape& s) {
    switch (s.kind) {
        case Kind::plane: return std::make_unique<btBoxShape>(btVector3(50, 50, ground_depth));
        case Kind::box: return std::make_unique<btBoxShape>(to(s.half));
        case Kind::sphere: return std::make_unique<btSphereShape>(s.radius);
        default: return std::make_unique<btCapsuleShapeZ>(s.radius, 2 * s.half_length);
    }
}

class Bullet : public Engine {
public:
    Bullet(const Scene& scene, const Options& options) : h_(scene.h), substeps_(options.substeps()) {
        if (options.word("solver", "") == "dantzig")
            solver_ = std::make_unique<btMLCPSolver>(&dantzig_);
        else
            solver_ = std::make_unique<btSequentialImpulseConstraintSolver>();
        world_ = std::make_unique<btDiscreteDynamicsWorld>(&dispatcher_, &pairs_, solver_.get(), &configuration_);
        world_->setGravity(to(scene.gravity));
        world_->getSolverInfo().m_numIterations = int(options.number("iterations", 10));
        for (const Body& body : scene.bodies) add(scene, body);
        for (const Joint& joint : scene.joints) add(joint);
    }
    ~Bullet() override {
        for (auto& joint : joints_) world_->removeConstraint(joint.get());
        for (auto& body : bodies_) world_->removeRigidBody(body.get());
    }
    void step(const std::vector<Applied>& forces) override {
        for (int i = 0; i < substeps_; ++i) {
            for (const Applied& f : forces) bodies_[f.body]->applyCentralForce(to(f.force));
            world_->stepSimulation(h_ / substeps_, 0);
        }
    }
    Motion motion(int body) const override {
        const btRigidBody& b = *bodies_[body];
        const btQuaternion q = b.getWorldTransform().getRotation();
        return {from(b.getWorldTransform().getOrigin()), Quat(q.w(), q.x(), q.y(), q.z()), from(b.getLinearVelocity()),
                from(b.getAngularVelocity())};
    }
    void place(int body, const Motion& m) override {
        btRigidBody& b = *bodies_[body];
        b.setWorldTransform(to(m)), b.setInterpolationWorldTransform(to(m));
        b.setLinearVelocity(to(m.velocity)), b.setInterpolationLinearVelocity(to(m.velocity));
        b.setAngularVelocity(to(m.angular_velocity)), b.setInterpolationAngularVelocity(to(m.angular_velocity));
    }
    int contacts() const override {
        int count = 0;
        for (int i = 0; i < dispatcher_.getNumManifolds(); ++i)
            count += dispatcher_.getManifoldByIndexInternal(i)->getNumContacts();
        return count;
    }
    Json about() override { return {{"engine", "Bullet " + std::to_string(btGetVersion())}}; }

private:
    void add(const Scene& scene, const Body& body) {
        shapes_.push_back(shape_of(body.shape));
        Motion start = body.start;
        if (body.shape.kind == Kind::plane) start.position.z() -= ground_depth;
        states_.push_back(std::make_unique<btDefaultMotionState>(to(start)));
        bodies_.push_back(std::make_unique<btRigidBody>(
            btRigidBody::btRigidBodyConstructionInfo(body.mass, states_.back().get(), shapes_.back().get(), to(body.inertia))));
        btRigidBody& b = *bodies_.back();
        b.setFriction(std::sqrt(scene.mu));  // Bullet multiplies those of the two bodies
        b.setRestitution(scene.restitution);
        b.setLinearVelocity(to(start.velocity)), b.setAngularVelocity(to(start.angular_velocity));
        b.setActivationState(DISABLE_DEACTIVATION);
        if (scene.contact_stiffness > 0 && body.mass > 0) {  // of each point, critically damped
            const double stiffness = scene.contact_stiffness / Scene::points_per_side;
            b.setContactStiffnessAndDamping(stiffness, 2 * std::sqrt(stiffness * body.mass));
        }
        if (body.collide)
            world_->addRigidBody(&b);
        else
            world_->addRigidBody(&b, 2, 0);
    }
    void add(const Joint& joint) {
        btRigidBody& b = *bodies_[joint.b];
        if (joint.a < 0) {
            joints_.push_back(std::make_unique<btPoint2PointConstraint>(b, to(joint.at_b)));
            joints_.back()->setPivotB(to(joint.at_a));
        } else {
            joints_.push_back(
                std::make_unique<btPoint2PointConstraint>(*bodies_[joint.a], b, to(joint.at_a), to(joint.at_b)));
        }
        world_->addConstraint(joints_.back().get(), true);
    }

    double h_;
    int substeps_;
    btDefaultCollisionConfiguration configuration_;
    btCollisionDispatcher dispatcher_{&configuration_};
    btDbvtBroadphase pairs_;
    btDantzigSolver dantzig_;
    std::unique_ptr<btConstraintSolver> solver_;
    std::unique_ptr<btDiscreteDynamicsWorld> world_;
    std::vector<std::unique_ptr<btCollisionShape>> shapes_;
    std::vector<std::unique_ptr<btMotionState>> states_;
    std::vector<std::unique_ptr<btRigidBody>> bodies_;
    std::vector<std::unique_ptr<btPoint2PointConstraint>> joints_;
};

}  // namespace

int main(int argc, char** argv) { return drive<Bullet>(argc, argv); }
