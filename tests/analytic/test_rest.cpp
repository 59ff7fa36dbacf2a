// Bodies at rest: contact forces carry the weight where it acts, and towers of 20 cubes stand.
#include "runs.hpp"

namespace stickslip::analytic {
namespace {

struct Way {
    std::string scheme, solver, cone;
};
std::ostream& operator<<(std::ostream& out, const Way& way) {
    return out << way.scheme << ' ' << way.solver << ' ' << way.cone;
}

std::string name_of(const Way& way) {
    std::string name = way.scheme + "_" + way.solver + "_" + way.cone;
    std::erase_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)) && c != '_'; });
    return name;
}

std::vector<Way> ways() {
    std::vector<Way> list;
    for (const std::string& scheme : velocity_level_schemes()) {
        for (const char* cone : {"{polygon: 4}", "{polygon: 8}"}) list.push_back({scheme, "lemke", cone});
        list.push_back({scheme, "auto", "disc"});
        list.push_back({scheme, "nsgs", "disc"});
    }
    return list;
}

Set with(const Way& way, double h) {
    return Set{{"scheme", way.scheme}, {"solver", way.solver}, {"contacts.cone", way.cone}}("step", h);
}

class Rest : public ::testing::TestWithParam<Way> {};

// The box is the second body; forces are those on it, in W.
struct Support {
    Vec3 force = Vec3::Zero(), moment = Vec3::Zero();  // about the world's origin
    explicit Support(const Step& step) {
        for (const ContactRecord& c : step.contacts) {
            const Vec3 f =
                -(c.impulse[0] * c.normal + c.impulse[1] * c.tangent + c.impulse[2] * c.normal.cross(c.tangent)) /
                (step.t1 - step.t0);
            force += f;
            moment += c.position.cross(f);
        }
    }
};

TEST_P(Rest, FloorCarriesTheWeightOfABox) {
    const char* text = R"(
stickslip: 1
let: {x: 1, y: 1, z: 1, m: 1}
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1], offset: 0}}]}
  box: {pose: [0, 0, z/2], mass: m, shapes: [{box: [x, y, z]}], com: [x/5, -y/3, z/7]}
run: {end: 0.5}
)";
    double worst = 0;
    for (const double m : {1e-3, 1.0, 1e3, 1e6}) {
        for (const Vec3& edges : {Vec3(0.01, 0.01, 0.01), Vec3(1, 1, 1), Vec3(3, 0.4, 0.2), Vec3(30, 20, 40)}) {
            SCOPED_TRACE("mass " + text_of(m) + ", edges " + text_of(edges));
            Simulation simulation(
                scene_text(text, with(GetParam(), 0.01)("m", m)("x", edges[0])("y", edges[1])("z", edges[2])));
            const VecX start = simulation.state().q;
            const Vec3 weight(0, 0, -m * g), com = start.head(3);
            while (simulation.advance()) {
                const Support support(simulation.step());
                const double off = std::max((support.force + weight).norm() / (m * g),
                                            (support.moment + com.cross(weight)).norm() / (m * g * edges.norm()));
                ASSERT_LT(off, 1e-10) << "at " << simulation.state().t;
                worst = std::max(worst, off);
            }
            ASSERT_EQ(simulation.state().t, 0.5);
            EXPECT_LT((simulation.state().q - start).norm(), 1e-12 * std::max(1.0, edges.norm()));
        }
    }
    note("relative", {worst});
}

TEST_P(Rest, SlopeCarriesTheWeightOfABoxThatSticks) {
    for (const double angle : {0.0, 7.0, 20.0, 26.5}) {
        Simulation simulation(scene("box-on-incline", with(GetParam(), 0.01)("angle", angle)));
        const VecX start = simulation.state().q;
        while (simulation.advance()) {
            const Support support(simulation.step());
            ASSERT_LT((support.force - Vec3(0, 0, g)).norm(), 1e-10 * g) << angle << " degrees";
            ASSERT_LT((simulation.state().q - start).norm(), 1e-12) << angle << " degrees";
        }
        ASSERT_EQ(simulation.state().t, 2);
    }
}

struct Tower {
    double drift = 0, overlap = 0, lowest_load = 0, level_error = 0;  // [m, m, N, relative]
};

// Loads of level k (under cube k + 1) are compared with the weight above it.
Tower stand(const std::string& name, const Set& set, double top_mass) {
    Simulation simulation(scene(name, set));
    const int cubes = 20;
    const VecX start = simulation.state().q;
    Tower tower;
    while (simulation.advance()) {
        const State& x = simulation.state();
        tower.drift = std::max(tower.drift, (x.q - start).tail(7).norm());
        tower.overlap = std::max(tower.overlap, simulation.step().violation.gap);
        double level[cubes] = {};
        for (const ContactRecord& c : simulation.step().contacts)
            level[std::min(c.id.a, c.id.b)] += c.impulse[0] / (simulation.step().t1 - simulation.step().t0);
        for (int k = 0; k < cubes; ++k) {
            const double weight = g * (1000.0 * (cubes - 1 - k) + top_mass);
            tower.level_error = std::max(tower.level_error, std::abs(level[k] / weight - 1));
        }
        tower.lowest_load = level[0];
    }
    EXPECT_EQ(simulation.state().t, 5) << name << ": refused";
    // The last configuration has not been looked at by a step: heights of the centres say how deep they sank.
    for (int k = 0; k < cubes; ++k)
        tower.overlap = std::max(
            tower.overlap, (k ? simulation.state().q[7 * (k - 1) + 2] : -0.5) + 1 - simulation.state().q[7 * k + 2]);
    return tower;
}

TEST_P(Rest, BothTowersStand) {
    for (const bool heavy : {false, true}) {
        const char* name = heavy ? "stack-20-heavy" : "stack-20";
        SCOPED_TRACE(name);
        const double top = heavy ? 1e6 : 1000;
        const Tower tower = stand(name, with(GetParam(), 1.0 / 60), top);
        const std::string numbers =
            note(heavy ? "heavy" : "even", {tower.drift, tower.overlap, tower.lowest_load, tower.level_error});
        EXPECT_LT(tower.drift, 1e-6) << numbers;
        EXPECT_LT(tower.overlap, 1e-5) << numbers;
        EXPECT_LT(tower.level_error, 1e-8) << numbers;
    }
}

// Cubes put down by hand: up to 20 mm off and 20 degrees turned, so that faces overlap in octagons.
TEST_P(Rest, CarelessTowersStandToo) {
    for (const double top_mass : {1e3, 1e6}) {
        std::string text =
            "stickslip: 1\nbodies:\n  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1], offset: 0}}]}\n";
        for (int k = 0; k < 20; ++k) {
            const auto off = [&](double frequency) { return std::sin(frequency * (k + 1)); };
            text += "  cube-" + std::to_string(k) +
                    ": {pose: {at: " + text_of(Vec3(0.02 * off(12.9), 0.02 * off(78.2), k + 0.5)) +
                    ", rpy_deg: [0, 0, " + text_of(20 * off(37.7)) + "]}, mass: " + text_of(k == 19 ? top_mass : 1e3) +
                    ", shapes: [{box: [1, 1, 1]}]}\n";
        }
        Simulation simulation(scene_text(text + "run: {end: 5}\n", with(GetParam(), 1.0 / 60)));
        const VecX start = simulation.state().q;
        while (simulation.advance())
            ASSERT_LT((simulation.state().q - start).norm(), 1e-6)
                << "top " << top_mass << " kg at " << simulation.state().t;
        EXPECT_EQ(simulation.state().t, 5) << "top " << top_mass << " kg";
    }
}

INSTANTIATE_TEST_SUITE_P(Ways, Rest, ::testing::ValuesIn(ways()), [](const auto& each) { return name_of(each.param); });

}  // namespace
}  // namespace stickslip::analytic
