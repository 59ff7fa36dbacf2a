// How good the recorded states of a run are, whichever engine made them.
//
//   measure SCENE.json OUT      reads OUT.bin, prints one JSON object: lengths in m, energies in shares of the scene's scale
#include <cstdio>

#include "overlap.hpp"

namespace {

using namespace peers;

using Frame = std::vector<Motion>;  // of the moving bodies

std::vector<Frame> read_frames(const std::string& file, std::size_t bodies) {
    std::ifstream in(file, std::ios::binary);
    std::vector<Frame> frames;
    std::vector<double> raw(13 * bodies);
    while (in.read(reinterpret_cast<char*>(raw.data()), std::streamsize(raw.size() * sizeof(double)))) {
        Frame frame;
        for (std::size_t i = 0; i < bodies; ++i) {
            const double* r = &raw[13 * i];
            frame.push_back({Vec3(r), Quat(r[3], r[4], r[5], r[6]), Vec3(r + 7), Vec3(r + 10)});
        }
        frames.push_back(frame);
    }
    return frames;
}

bool sane(const Frame& frame) {
    return std::all_of(frame.begin(), frame.end(), [](const Motion& m) {
        const double size = m.position.norm() + m.attitude.norm() + m.velocity.norm() + m.angular_velocity.norm();
        return size < 1e9;  // false for NaN
    });
}

class Run {
public:
    Run(const Scene& scene, const std::string& file) : scene_(scene), moving_(scene.moving()) {
        slot_.assign(scene.bodies.size(), -1);
        for (std::size_t k = 0; k < moving_.size(); ++k) slot_[moving_[k]] = int(k);
        frames_ = read_frames(file, moving_.size());
        const auto bad = std::find_if_not(frames_.begin(), frames_.end(), sane);
        if (bad != frames_.end()) blow_up_ = int(bad - frames_.begin());
        frames_.erase(bad, frames_.end());
        if (frames_.empty()) throw std::runtime_error("no states");
    }
    Json measure() const {
        Json j;
        j["blow_up"] = blow_up_;
        measure_overlap(j);
        if (!scene_.joints.empty()) j["joint_error"] = joint_error();
        if (scene_.forces.empty()) measure_energy(j);
        if (reaches_rest()) j["rest_move"] = rest_move();
        if (scene_.checks.contains("drift_body")) {
            const int k = slot_[scene_.checks["drift_body"]];
            const Vec3 d = frames_.back()[k].position - frames_.front()[k].position;
            j["drift"] = std::max(d.head<2>().norm(), -d.z());
        }
        if (scene_.checks.contains("slide_body")) measure_slide(j);
        return j;
    }

private:
    // A run that ended before says nothing of the rest.
    bool reaches_rest() const {
        for (std::size_t n = 0; n < frames_.size(); ++n)
            if (rests(n)) return true;
        return false;
    }
    bool rests(std::size_t n) const {
        if (!scene_.checks.contains("rest")) return false;
        const double t = double(n) * scene_.h;
        return t >= scene_.checks["rest"][0].get<double>() - 1e-9 && t <= scene_.checks["rest"][1].get<double>() + 1e-9;
    }
    void measure_overlap(Json& j) const {
        std::vector<Placed> still;
        for (const Body& b : scene_.bodies)
            if (b.mass == 0 && b.collide) still.emplace_back(b.shape, b.start);
        double most = 0, at_rest = 0, last = 0;
        for (std::size_t n = 0; n < frames_.size(); ++n) {
            std::vector<Placed> placed;
            for (std::size_t k = 0; k < moving_.size(); ++k)
                if (scene_.bodies[moving_[k]].collide) placed.emplace_back(scene_.bodies[moving_[k]].shape, frames_[n][k]);
            last = deepest_overlap(placed, still);
            most = std::max(most, last);
            if (rests(n)) at_rest = std::max(at_rest, last);
        }
        if (still.empty()) return;  // the chains touch nothing
        j["overlap_max"] = most, j["overlap_end"] = last;
        if (reaches_rest()) j["overlap_rest"] = at_rest;
    }
    double joint_error() const {
        double most = 0;
        for (const Frame& frame : frames_) {
            const auto point = [&](int body, const Vec3& at) -> Vec3 {
                if (body < 0) return at;
                const Motion& m = frame[slot_[body]];
                return m.position + m.attitude * at;
            };
            for (const Joint& k : scene_.joints) most = std::max(most, (point(k.a, k.at_a) - point(k.b, k.at_b)).norm());
        }
        return most;
    }
    double energy(const Frame& frame) const {
        double sum = 0;
        for (std::size_t k = 0; k < moving_.size(); ++k) {
            const Body& b = scene_.bodies[moving_[k]];
            const Motion& m = frame[k];
            const Vec3 turning = m.attitude.normalized().conjugate() * m.angular_velocity;
            sum += b.mass * (m.velocity.squaredNorm() / 2 - scene_.gravity.dot(m.position)) +
                   turning.dot(b.inertia.cwiseProduct(turning)) / 2;
        }
        return sum;
    }
    // over: above the start, or the last event; rise: above any earlier state since. Nothing in these scenes may add energy.
    void measure_energy(Json& j) const {
        double start = 0, least = 0, over = 0, rise = 0;
        for (std::size_t n = 0; n < frames_.size(); ++n) {
            Frame frame = frames_[n];
            bool anew = n == 0;
            for (const Event& e : scene_.events)
                if (e.step == int(n)) frame[slot_[e.body]] = e.motion, anew = true;
            const double now = energy(frame);
            if (anew) start = least = now;
            least = std::min(least, now);
            over = std::max(over, now - start), rise = std::max(rise, now - least);
        }
        const double scale = scene_.checks.at("energy_scale");
        j["energy_over"] = over / scale, j["energy_rise"] = rise / scale;
    }
    // Largest distance of a body from where it was at the start of the rest.
    double rest_move() const {
        double most = 0;
        const Frame* from = nullptr;
        for (std::size_t n = 0; n < frames_.size(); ++n) {
            if (!rests(n)) continue;
            if (!from) from = &frames_[n];
            for (std::size_t k = 0; k < moving_.size(); ++k)
                if (!scene_.bodies[moving_[k]].projectile)
                    most = std::max(most, (frames_[n][k].position - (*from)[k].position).norm());
        }
        return most;
    }
    // creep: way in the intervals in which the box sticks, two steps away from their ends.
    void measure_slide(Json& j) const {
        const int k = slot_[scene_.checks["slide_body"]], axis = scene_.checks["slide_axis"];
        const auto x = [&](std::size_t n) { return frames_[n][k].position[axis]; };
        j["x_end"] = x(frames_.size() - 1) - x(0);
        j["x_error"] = j["x_end"].get<double>() - scene_.checks["x_end"].get<double>();
        if (!scene_.checks.contains("slips")) return;
        double creep = 0;
        for (std::size_t n = 1; n < frames_.size(); ++n) {
            const double from = double(n - 1) * scene_.h, to = double(n) * scene_.h, margin = 2 * scene_.h;
            bool slips = false;
            for (const Json& slip : scene_.checks["slips"])
                slips |= to > slip[0].get<double>() - margin && from < slip[1].get<double>() + margin;
            if (!slips) creep += std::abs(x(n) - x(n - 1));
        }
        j["creep"] = creep;
    }

    const Scene& scene_;
    std::vector<int> moving_, slot_;  // moving bodies; place of a body among them
    std::vector<Frame> frames_;
    int blow_up_ = -1;  // number of the first step with numbers out of all bounds
};

}  // namespace

int main(int argc, char** argv) try {
    if (argc != 3) throw std::runtime_error("usage: measure SCENE.json OUT");
    const Scene scene = read_scene(argv[1]);
    std::puts(Run(scene, std::string(argv[2]) + ".bin").measure().dump().c_str());
    return 0;
} catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
}
