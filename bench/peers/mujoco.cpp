// MuJoCo with its default soft contacts. --xml FILE is the same scene as MJCF (mjcf.py), with the length of the sub-steps in it.
#include <mujoco/mujoco.h>

#include "peer.hpp"

namespace {

using namespace peers;

class MuJoCo : public Engine {
public:
    MuJoCo(const Scene& scene, const Options& options) : h_(scene.h), substeps_(options.substeps()) {
        char error[1000] = "";
        model_ = mj_loadXML(options.word("xml", "").c_str(), nullptr, error, sizeof error);
        if (!model_) throw std::runtime_error(error);
        data_ = mj_makeData(model_);
        for (std::size_t i = 0; i < scene.bodies.size(); ++i) {
            const int joint = model_->body_jntadr[i + 1];  // 0 is the world
            coordinates_.push_back(joint < 0 ? -1 : model_->jnt_qposadr[joint]);
            speeds_.push_back(joint < 0 ? -1 : model_->jnt_dofadr[joint]);
            if (joint >= 0) place(int(i), scene.bodies[i].start);
        }
        mj_forward(model_, data_);
    }
    MuJoCo(const MuJoCo&) = delete;
    ~MuJoCo() override {
        mj_deleteData(data_);
        mj_deleteModel(model_);
    }
    void step(const std::vector<Applied>& forces) override {
        for (const Applied& f : forces) Eigen::Map<Vec3>(data_->xfrc_applied + 6 * (f.body + 1)) = f.force;
        for (int i = 0; i < substeps_; ++i) mj_step(model_, data_);
        ++steps_;
    }
    Motion motion(int body) const override {
        const mjtNum *q = data_->qpos + coordinates_[body], *v = data_->qvel + speeds_[body];
        const Quat attitude(q[3], q[4], q[5], q[6]);
        const Vec3 turning(v[3], v[4], v[5]);  // in the frame of the body
        return {Vec3(q[0], q[1], q[2]), attitude, Vec3(v[0], v[1], v[2]), attitude * turning};
    }
    void place(int body, const Motion& m) override {
        Eigen::Map<Eigen::Matrix<mjtNum, 7, 1>>(data_->qpos + coordinates_[body]) << m.position, m.attitude.w(), m.attitude.vec();
        Eigen::Map<Eigen::Matrix<mjtNum, 6, 1>>(data_->qvel + speeds_[body]) << m.velocity,
            m.attitude.conjugate() * m.angular_velocity;
    }
    int contacts() const override { return data_->ncon; }
    Json about() override {
        // It starts anew, with its clock at zero, when a number has become too large.
        return {{"engine", std::string("MuJoCo ") + mj_versionString()}, {"diverged", std::abs(data_->time - steps_ * h_) > h_}};
    }

private:
    double h_;
    int substeps_;
    int steps_ = 0;
    mjModel* model_ = nullptr;
    mjData* data_ = nullptr;
    std::vector<int> coordinates_, speeds_;  // where those of a body begin
};

}  // namespace

int main(int argc, char** argv) { return drive<MuJoCo>(argc, argv); }
