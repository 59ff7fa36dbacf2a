// ODE: QuickStep (--iterations, 20) or its direct LCP (--solver dantzig); friction is a pyramid in both.
#include <ode/ode.h>

#include "peer.hpp"

namespace {

using namespace peers;

Vec3 from(const dReal* v) { return {v[0], v[1], v[2]}; }

class Ode : public Engine {
public:
    Ode(const Scene& scene, const Options& options)
        : h_(scene.h / options.substeps()), substeps_(options.substeps()), direct_(options.word("solver", "") == "dantzig") {
        dInitODE2(0);
        dAllocateODEDataForThread(dAllocateMaskAll);
        world_ = dWorldCreate();
        const bool many = scene.bodies.size() > 500;
        space_ = many ? dHashSpaceCreate(nullptr) : dSimpleSpaceCreate(nullptr);
        if (many) dHashSpaceSetLevels(space_, -3, 3);  // cells of 1/8 to 8 m
        touching_ = dJointGroupCreate(0);
        dWorldSetGravity(world_, scene.gravity.x(), scene.gravity.y(), scene.gravity.z());
        dWorldSetQuickStepNumIterations(world_, int(options.number("iterations", 20)));
        surface_.mode = dContactApprox1;
        surface_.mu = scene.mu;
        if (scene.contact_stiffness > 0) soften(scene);
        for (const Body& body : scene.bodies) add(body);
        for (const Joint& joint : scene.joints) add(joint);
    }
    void step(const std::vector<Applied>& forces) override {
        for (int i = 0; i < substeps_; ++i) {
            for (const Applied& f : forces) dBodyAddForce(bodies_[f.body], f.force.x(), f.force.y(), f.force.z());
            contacts_ = 0;
            dSpaceCollide(space_, this, &Ode::touch);
            if (direct_)
                dWorldStep(world_, h_);
            else
                dWorldQuickStep(world_, h_);
            dJointGroupEmpty(touching_);
        }
    }
    Motion motion(int body) const override {
        const dBodyID b = bodies_[body];
        const dReal* q = dBodyGetQuaternion(b);
        return {from(dBodyGetPosition(b)), Quat(q[0], q[1], q[2], q[3]), from(dBodyGetLinearVel(b)),
                from(dBodyGetAngularVel(b))};
    }
    void place(int body, const Motion& m) override {
        const dBodyID b = bodies_[body];
        const dQuaternion q = {m.attitude.w(), m.attitude.x(), m.attitude.y(), m.attitude.z()};
        dBodySetPosition(b, m.position.x(), m.position.y(), m.position.z());
        dBodySetQuaternion(b, q);
        dBodySetLinearVel(b, m.velocity.x(), m.velocity.y(), m.velocity.z());
        dBodySetAngularVel(b, m.angular_velocity.x(), m.angular_velocity.y(), m.angular_velocity.z());
    }
    int contacts() const override { return contacts_; }
    Json about() override { return {{"engine", std::string("ODE, ") + (sizeof(dReal) == 8 ? "double" : "float")}}; }

private:
    static void touch(void* self, dGeomID a, dGeomID b) {
        Ode& ode = *static_cast<Ode*>(self);
        if (!dGeomGetBody(a) && !dGeomGetBody(b)) return;
        dContact contacts[8];
        const int count = dCollide(a, b, 8, &contacts[0].geom, sizeof(dContact));
        for (int i = 0; i < count; ++i) {
            contacts[i].surface = ode.surface_;
            dJointAttach(dJointCreateContact(ode.world_, ode.touching_, &contacts[i]), dGeomGetBody(a), dGeomGetBody(b));
        }
        ode.contacts_ += count;
    }
    // A spring k and a damper d of each point: erp = h k / (h k + d), cfm = 1 / (h k + d) (ODE manual); critically damped.
    void soften(const Scene& scene) {
        const double k = scene.contact_stiffness / Scene::points_per_side;
        const double d = 2 * std::sqrt(k * scene.bodies[scene.moving().front()].mass);
        surface_.mode |= dContactSoftERP | dContactSoftCFM;
        surface_.soft_erp = h_ * k / (h_ * k + d);
        surface_.soft_cfm = 1 / (h_ * k + d);
    }
    dGeomID geom_of(const Shape& s) {
        switch (s.kind) {
            case Kind::plane: return dCreatePlane(space_, 0, 0, 1, 0);
            case Kind::box: return dCreateBox(space_, 2 * s.half.x(), 2 * s.half.y(), 2 * s.half.z());
            case Kind::sphere: return dCreateSphere(space_, s.radius);
            default: return dCreateCapsule(space_, s.radius, 2 * s.half_length);
        }
    }
    void add(const Body& body) {
        const dGeomID geom = body.collide ? geom_of(body.shape) : nullptr;
        bodies_.push_back(body.mass > 0 ? dBodyCreate(world_) : nullptr);
        if (body.mass > 0) {
            dMass mass;
            dMassSetParameters(&mass, body.mass, 0, 0, 0, body.inertia.x(), body.inertia.y(), body.inertia.z(), 0, 0, 0);
            dBodySetMass(bodies_.back(), &mass);
            if (geom) dGeomSetBody(geom, bodies_.back());
            place(int(bodies_.size()) - 1, body.start);
        } else if (geom && body.shape.kind != Kind::plane) {
            dGeomSetPosition(geom, body.start.position.x(), body.start.position.y(), body.start.position.z());
        }
    }
    void add(const Joint& joint) {
        const dJointID j = dJointCreateBall(world_, nullptr);
        dJointAttach(j, joint.a < 0 ? nullptr : bodies_[joint.a], bodies_[joint.b]);
        dVector3 p;
        dBodyGetRelPointPos(bodies_[joint.b], joint.at_b.x(), joint.at_b.y(), joint.at_b.z(), p);
        dJointSetBallAnchor(j, p[0], p[1], p[2]);
    }

    double h_;
    int substeps_;
    bool direct_;
    dWorldID world_ = nullptr;
    dSpaceID space_ = nullptr;
    dJointGroupID touching_ = nullptr;
    dSurfaceParameters surface_{};
    std::vector<dBodyID> bodies_;
    int contacts_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return drive<Ode>(argc, argv); }
