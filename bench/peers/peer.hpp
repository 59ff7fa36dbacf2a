// What all drivers share: an engine is built from a scene and stepped; each step is timed, each state recorded.
//
//   driver SCENE.json OUT [--max-seconds S] [--substeps N] [--key value]...
//
// writes OUT.json (steps, processor seconds of each, contacts of each, what the engine says of itself) and OUT.bin: for the start
// and after each step thirteen doubles per moving body (position, attitude w x y z, velocity, angular velocity).
//
// Timed is the processor time of the calling thread in step() alone. The engines run on one thread, do not sleep and do not damp.
#pragma once

#include <cstdio>
#include <ctime>
#include <map>

#include "scene.hpp"

namespace peers {

struct Options {
    std::map<std::string, std::string> given;
    std::string word(const std::string& key, const std::string& otherwise) const {
        const auto found = given.find(key);
        return found == given.end() ? otherwise : found->second;
    }
    double number(const std::string& key, double otherwise) const {
        const auto found = given.find(key);
        return found == given.end() ? otherwise : std::stod(found->second);
    }
    int substeps() const { return int(number("substeps", 1)); }
};

struct Applied {
    int body;
    Vec3 force;  // [N] at the centre of mass, constant over the step
};

class Engine {
public:
    virtual ~Engine() = default;
    virtual void step(const std::vector<Applied>& forces) = 0;  // by scene.h, in its own sub-steps if any
    virtual Motion motion(int body) const = 0;
    virtual void place(int body, const Motion& motion) = 0;
    virtual int contacts() const = 0;  // points of the last (sub-)step
    virtual bool stopped() const { return false; }
    virtual Json about() = 0;  // engine, settings, and what else it counts
};

inline double thread_seconds() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

class StateFile {
public:
    explicit StateFile(const std::string& name) : file_(std::fopen(name.c_str(), "wb")) {
        if (!file_) throw std::runtime_error("cannot write " + name);
    }
    StateFile(const StateFile&) = delete;
    ~StateFile() { std::fclose(file_); }
    void write(const Engine& engine, const std::vector<int>& bodies) {
        for (const int body : bodies) {
            const Motion m = engine.motion(body);
            Eigen::Matrix<double, 13, 1> row;
            row << m.position, m.attitude.w(), m.attitude.vec(), m.velocity, m.angular_velocity;
            std::fwrite(row.data(), sizeof(double), 13, file_);
        }
        std::fflush(file_);  // a run that is ended from outside still tells how far it came
    }

private:
    std::FILE* file_;
};

inline Json run(const Scene& scene, Engine& engine, const std::string& state_file, double max_seconds) {
    const std::vector<int> moving = scene.moving();
    StateFile states(state_file);
    states.write(engine, moving);
    std::vector<double> seconds;
    std::vector<int> contacts;
    double total = 0;
    for (int n = 0; n < scene.steps && total < max_seconds && !engine.stopped(); ++n) {
        for (const Event& e : scene.events)
            if (e.step == n) engine.place(e.body, e.motion);
        std::vector<Applied> forces;
        for (const ForceLaw& law : scene.forces) forces.push_back({law.body, scene.force(law, n)});
        const double before = thread_seconds();
        engine.step(forces);
        seconds.push_back(thread_seconds() - before);
        total += seconds.back();
        contacts.push_back(engine.contacts());
        states.write(engine, moving);
    }
    Json j = engine.about();
    j["seconds"] = seconds, j["contacts"] = contacts;
    return j;
}

// main() of a driver: E is made of (scene, options).
template <class E>
int drive(int argc, char** argv) try {
    if (argc < 3) throw std::runtime_error("usage: driver SCENE.json OUT [--key value]...");
    Options options;
    for (int i = 3; i + 1 < argc; i += 2) options.given[std::string(argv[i]).substr(2)] = argv[i + 1];
    const Scene scene = read_scene(argv[1]);
    const std::string out = argv[2];
    E engine(scene, options);
    const Json result = run(scene, engine, out + ".bin", options.number("max-seconds", 60));
    std::ofstream(out + ".json") << result.dump();
    return 0;
} catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
}

}  // namespace peers
