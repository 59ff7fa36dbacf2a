// A box on a plane under dry friction with the exact cone: holds, slides straight, stops where it must, does not lift.
#include "runs.hpp"

namespace stickslip::analytic {
namespace {

class SlidingBox : public ::testing::TestWithParam<std::string> {};

// Heights of the corners of a box with these full edges above the plane through the origin with normal n.
std::vector<double> corner_heights(const BodyState& body, const Vec3& edges, const Vec3& n) {
    std::vector<double> heights;
    for (int i = 0; i < 8; ++i) {
        const Vec3 corner(i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, i & 4 ? 0.5 : -0.5);
        heights.push_back(n.dot(body.pose * corner.cwiseProduct(edges)));
    }
    return heights;
}

// Contact impulses of the step as a force on the box in W [N]; the floor comes first in the scenes and is body a.
Vec3 force_on_box(const Step& step) {
    Vec3 sum = Vec3::Zero();
    for (const ContactRecord& c : step.contacts)
        sum -= c.impulse[0] * c.normal + c.impulse[1] * c.tangent + c.impulse[2] * c.normal.cross(c.tangent);
    return sum / (step.t1 - step.t0);
}

Set pushed(const std::string& scheme, double push, double angle) {
    return Set{{"scheme", scheme}, {"step", "0.01"}, {"end", "10"}}(
        "forces.push.load.force", text_of(Vec3(push * std::cos(angle), push * std::sin(angle), 0)));
}

TEST_P(SlidingBox, PushedBelowTheLimitInAnyDirectionStaysPut) {
    double worst = 0;
    for (int k = 0; k < 36; ++k) {
        Simulation simulation(scene("box-pushed-diagonally", pushed(GetParam(), 4.904, 10.0 * k * pi / 180)));
        const VecX start = simulation.state().q;
        double moved = 0;
        while (simulation.advance()) moved = std::max(moved, (simulation.state().q - start).norm());
        EXPECT_EQ(simulation.state().t, 10) << 10 * k << " degrees";
        EXPECT_LT(moved, 1e-12) << 10 * k << " degrees";
        worst = std::max(worst, moved);
    }
    note("moved", {worst});
}

TEST_P(SlidingBox, PushedAboveTheLimitSlidesAlongThePush) {
    const double push = 6, mu = 0.5, end = 1;
    for (int k = 0; k < 36; ++k) {
        const double angle = 10.0 * k * pi / 180;
        const Vec3 along(std::cos(angle), std::sin(angle), 0);
        Simulation simulation(scene("box-pushed-diagonally", pushed(GetParam(), push, angle)("end", end)));
        const VecX start = simulation.state().q;
        while (simulation.advance()) {
            const Vec3 force = force_on_box(simulation.step());
            EXPECT_NEAR(force.z(), g, 1e-9 * g);
            EXPECT_LT((force + mu * g * along - g * Vec3::UnitZ()).norm(), 1e-9 * g)
                << 10 * k << " degrees at " << simulation.state().t;
        }
        ASSERT_EQ(simulation.state().t, end);
        const VecX moved = simulation.state().q - start;
        const double way = 0.5 * (push - mu * g) * end * end, speed = (push - mu * g) * end;
        EXPECT_NEAR(moved.head(3).dot(along), way, 0.01 * speed);
        EXPECT_LT((moved.head(3) - along * along.dot(moved.head(3))).norm(), 1e-12) << 10 * k << " degrees";
        EXPECT_LT(moved.tail(4).norm(), 1e-12) << "turned, " << 10 * k << " degrees";
        EXPECT_LT((simulation.state().v.head(3) - speed * along).norm(), 1e-9);
    }
}

struct Slide {
    double speed, angle_deg, friction;
    Vec3 edges;
};

TEST_P(SlidingBox, StopsAtItsBrakingDistanceWithoutLifting) {
    const Vec3 slab(1, 1, 0.2), cube(1, 1, 1), turned(0.3, 0.7, 0.2);
    const std::vector<Slide> slides{{6, 0, 0.5, slab},    {6, 0, 0.3, slab},    {6, 0, 0.8, slab},
                                    {6, 13, 0.5, slab},   {6, 13, 0.8, cube},   {6, 45, 0.3, cube},
                                    {3, 13, 0.4, turned}, {6, 101, 0.8, turned}};
    std::vector<double> lifts, sinks;
    for (const Slide& slide : slides) {
        for (const double h : {0.01, 0.001}) {
            SCOPED_TRACE(text_of(slide.angle_deg) + " degrees, friction " + text_of(slide.friction) + ", step " +
                         text_of(h));
            const Vec3 along(std::cos(slide.angle_deg * pi / 180), std::sin(slide.angle_deg * pi / 180), 0);
            const double stop_time = slide.speed / (slide.friction * g), end = stop_time + 0.3;
            Simulation simulation(scene("sliding-box", Set{{"scheme", GetParam()}}("step", h)("end", end)(
                                                           "materials.default.friction", slide.friction)(
                                                           "bodies.box.shapes.0.box", text_of(slide.edges))(
                                                           "bodies.box.pose", text_of(Vec3(0, 0, slide.edges.z() / 2)))(
                                                           "bodies.box.velocity", text_of(slide.speed * along))));
            double lift = 0, sink = 0, aside = 0;
            while (simulation.advance()) {
                const State& x = simulation.state();
                const BodyState box = simulation.model().system->body_state(1, x.q, x.v);
                const std::vector<double> heights = corner_heights(box, slide.edges, Vec3::UnitZ());
                for (int i = 0; i < 4; ++i) {
                    lift = std::max(lift, heights[i]);
                    sink = std::max(sink, -heights[i]);
                }
                aside = std::max(aside, std::abs(along.cross(box.pose.position).z()));
            }
            ASSERT_EQ(simulation.state().t, end);
            EXPECT_LT(lift, 1e-9);
            EXPECT_LT(sink, 1e-9);
            EXPECT_LT(aside, 1e-9);
            const double distance = slide.speed * slide.speed / (2 * slide.friction * g);
            EXPECT_NEAR(along.dot(Vec3(simulation.state().q.head(3))), distance, slide.speed * h);
            EXPECT_LT(simulation.state().v.norm(), 1e-12);
            lifts.push_back(lift);
            sinks.push_back(sink);
        }
    }
    note("lifts", lifts);
    note("sinks", sinks);
}

// Sliding and spinning about the vertical: the friction at each corner has its own direction, none of them lifts.
TEST_P(SlidingBox, SpinningSlideStaysOnTheFloorAndOnlySlowsDown) {
    const Vec3 edges(1, 0.6, 0.2);
    Simulation simulation(scene(
        "sliding-box", Set{{"scheme", GetParam()}, {"step", "0.002"}, {"end", "3"}}(
                           "bodies.box.shapes.0.box", text_of(edges))("bodies.box.angular_velocity", "[0, 0, 20]")));
    double kinetic = simulation.step().ledger.start().kinetic;
    while (simulation.advance()) {
        const State& x = simulation.state();
        const std::vector<double> heights =
            corner_heights(simulation.model().system->body_state(1, x.q, x.v), edges, Vec3::UnitZ());
        for (std::size_t i = 0; i < 4; ++i) {
            ASSERT_LT(heights[i], 1e-9) << "at " << x.t;
            ASSERT_GT(heights[i], -1e-9) << "at " << x.t;
        }
        ASSERT_NEAR(force_on_box(simulation.step()).z(), 10 * g, 1e-8 * 10 * g);
        const double now = simulation.step().ledger.now().kinetic;
        ASSERT_LE(now, kinetic * (1 + 1e-14) + 1e-20) << "at " << x.t;
        kinetic = now;
    }
    EXPECT_LT(simulation.state().v.norm(), 1e-12);
}

TEST_P(SlidingBox, StopsWhereTheStraightLineOfTheReferenceEnds) {
    const std::vector<double> stop = Reference("block-plane").rows("stop")[0];
    const double angle = 13 * pi / 180;
    for (const double h : {0.01, 0.002}) {
        const RunSummary end = run(scene(
            "sliding-box", Set{{"scheme", GetParam()}, {"end", "1"}}("step", h)("materials.default.friction", 0.4)(
                               "bodies.box.mass", 1)("bodies.box.velocity",
                                                     text_of(Vec3(3 * std::cos(angle), 3 * std::sin(angle), 0)))));
        EXPECT_LT(std::hypot(end.q[0] - stop[1], end.q[1] - stop[2]), 3 * h);
        EXPECT_LT(std::abs(end.q[1] * std::cos(angle) - end.q[0] * std::sin(angle)), 1e-10);
    }
}

// The velocity turns towards the fall line; x downhill, y across.
TEST_P(SlidingBox, ObliqueSlideOnAnInclineConvergesToTheReference) {
    const Reference reference("block-incline");
    const double a = 20 * pi / 180, angle = 47 * pi / 180;
    const Vec3 downhill(std::cos(a), 0, -std::sin(a)), across(0, 1, 0), normal(std::sin(a), 0, std::cos(a));
    std::vector<double> errors, stop_errors;
    for (const double h : {0.01, 0.005, 0.0025, 0.00125}) {
        Simulation simulation(scene(
            "box-on-incline",
            Set{{"scheme", GetParam()}, {"angle", "20"}, {"end", "2.4"}}("step", h)(
                "bodies.box.velocity", text_of(Vec3(3 * (std::cos(angle) * downhill + std::sin(angle) * across))))));
        const Vec3 start = simulation.state().q.head(3);
        const auto in_plane = [&](const Vec3& x) { return Vec2(downhill.dot(x), across.dot(x)); };
        double worst = 0;
        for (const std::vector<double>& state : reference.rows("state")) {
            while (simulation.state().t < state[0] - h / 2) ASSERT_TRUE(simulation.advance());
            const State& x = simulation.state();
            ASSERT_NEAR(x.t, state[0], 1e-9);
            worst = std::max({worst, (in_plane(x.q.head(3) - start) - Vec2(state[1], state[2])).norm(),
                              (in_plane(x.v.head(3)) - Vec2(state[3], state[4])).norm()});
        }
        while (simulation.advance()) {
        }
        const State& x = simulation.state();
        ASSERT_EQ(x.t, 2.4);
        const std::vector<double>& stop = reference.rows("stop")[0];
        errors.push_back(worst);
        stop_errors.push_back((in_plane(x.q.head(3) - start) - Vec2(stop[1], stop[2])).norm());
        EXPECT_LT(x.v.norm(), 1e-12) << "stopped at 2.07 s";
        EXPECT_LT(std::abs(normal.dot(x.q.head(3) - start)), 1e-9);
    }
    const std::string numbers = note("errors", errors) + "; " + note("stop_errors", stop_errors);
    EXPECT_NEAR(observed_order(errors), 1, 0.15) << numbers;
    EXPECT_NEAR(observed_order(stop_errors), 1, 0.3) << numbers;
    EXPECT_LT(errors.back(), 0.01) << numbers;
}

INSTANTIATE_TEST_SUITE_P(Schemes, SlidingBox, ::testing::ValuesIn(velocity_level_schemes()),
                         [](const auto& each) { return word_of(each.param); });

}  // namespace
}  // namespace stickslip::analytic
