// Every gap is smooth: its normal row is its exact gradient, and the rates of P and n give its second derivative.
// All against fourth-order central differences of what the pair functions return at displaced poses.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "motions.hpp"

namespace stickslip {
namespace {

struct Sample {
    double gap;
    Vec3 position, normal;
};

// phi, P, n of one feature at t = -2h, -h, 0, h, 2h; empty when it leaves the list on the way.
struct Series {
    bool complete = false;
    std::array<Sample, 5> at;
    double h;

    template <class Value>
    auto rate(Value value) const -> decltype(value(at[0])) {
        return (8.0 * (value(at[3]) - value(at[1])) - (value(at[4]) - value(at[0]))) / (12 * h);
    }
    double gap_acceleration() const {
        return (16 * (at[3].gap + at[1].gap) - (at[4].gap + at[0].gap) - 30 * at[2].gap) / (12 * h * h);
    }
};

struct Case {
    Geometry a, b;
    Pose pose_a, pose_b;
};

Series follow(const Case& c, const SidePair& feature, const Twist& a, const Twist& b, double h) {
    Series series;
    series.h = h;
    for (int k = 0; k < 5; ++k) {
        const double t = (k - 2) * h;
        const auto contacts = contacts_of(c.a, after(c.pose_a, a, t), c.b, after(c.pose_b, b, t), 0.5);
        const ContactPoint* contact = with_feature(contacts, feature);
        if (contact == nullptr) return series;
        series.at[k] = {contact->gap, contact->position, contact->normal};
    }
    series.complete = true;
    return series;
}

Twist any_twist(Dice& dice, const Pose& pose) { return {pose.position, dice.vector(1), dice.vector(1)}; }

// Normals of nearly parallel edges and of centres near an edge turn fast; differences cannot follow them there.
bool differentiable(const ContactPoint& c) {
    if (c.kind == GapKind::line_line) return c.edge_a.cross(c.edge_b).norm() > 0.25;
    if (c.kind == GapKind::point_line || c.kind == GapKind::point_point) return c.gap + c.radius_a + c.radius_b > 0.2;
    return true;
}

Geometry any_shape(Dice& dice, int kind) {
    if (kind == 0) return Sphere{dice.uniform(0.3, 1)};
    if (kind == 1) return Box{Vec3(dice.uniform(0.2, 1), dice.uniform(0.2, 1), dice.uniform(0.2, 1))};
    if (kind == 2) return Capsule{dice.uniform(0.2, 0.6), dice.uniform(0.2, 2)};
    return HalfSpace{dice.vector(1) + Vec3(0, 0, 1.5), dice.uniform(-0.5, 0.5)};
}

using Tally = std::map<std::pair<std::string, int>, int>;  // pair of shapes and kind of gap: contacts checked

template <class Check>
Tally for_random_contacts(unsigned seed, int trials, Check&& check) {
    Dice dice(seed);
    Tally tally;
    for (int trial = 0; trial < trials; ++trial) {
        for (int kind_a = 0; kind_a < 4; ++kind_a) {
            for (int kind_b = 0; kind_b < 4; ++kind_b) {
                Case c{any_shape(dice, kind_a), any_shape(dice, kind_b), {dice.vector(0.5), dice.attitude()}, {}};
                c.pose_b = {c.pose_a.position + dice.vector(1.3), dice.attitude()};
                for (const ContactPoint& contact : contacts_of(c.a, c.pose_a, c.b, c.pose_b, 0.5)) {
                    if (!differentiable(contact)) continue;
                    if (check(dice, c, contact))
                        ++tally[{std::string(shape_name(c.a)) + " " + shape_name(c.b), static_cast<int>(contact.kind)}];
                }
            }
        }
    }
    return tally;
}

void expect_all_seen(const Tally& tally) {
    const auto count = [&](const char* pair, GapKind kind) {
        const auto found = tally.find({pair, static_cast<int>(kind)});
        return found == tally.end() ? 0 : found->second;
    };
    EXPECT_GT(count("sphere sphere", GapKind::point_point), 20);
    EXPECT_GT(count("sphere half-space", GapKind::point_plane), 20);
    EXPECT_GT(count("half-space sphere", GapKind::point_plane), 20);
    EXPECT_GT(count("box half-space", GapKind::point_plane), 20);
    EXPECT_GT(count("half-space box", GapKind::point_plane), 20);
    EXPECT_GT(count("box box", GapKind::point_plane), 20);
    EXPECT_GT(count("box box", GapKind::line_line), 20);
    for (const char* pair : {"sphere box", "box sphere", "capsule box", "box capsule"}) {
        EXPECT_GT(count(pair, GapKind::point_plane), 20);
        EXPECT_GT(count(pair, GapKind::point_line), 20);
        EXPECT_GT(count(pair, GapKind::point_point), 20);
    }
    for (const char* pair : {"sphere capsule", "capsule sphere", "capsule capsule"}) {
        EXPECT_GT(count(pair, GapKind::point_line), 20);
        EXPECT_GT(count(pair, GapKind::point_point), 20);
    }
    for (const char* pair : {"capsule capsule", "capsule box", "box capsule"})
        EXPECT_GT(count(pair, GapKind::line_line), 20);
    EXPECT_GT(count("capsule half-space", GapKind::point_plane), 20);
    EXPECT_GT(count("half-space capsule", GapKind::point_plane), 20);
}

TEST(Gap, NormalRowIsItsExactGradient) {
    const Tally tally = for_random_contacts(11, 600, [](Dice&, const Case& c, const ContactPoint& contact) {
        // One coordinate at a time: translation and rotation of a, then of b.
        double error = 0, norm = 0;
        for (int i = 0; i < 12; ++i) {
            Twist twist[2] = {{c.pose_a.position, {}, {}}, {c.pose_b.position, {}, {}}};
            for (Twist& t : twist) t.linear = t.angular = Vec3::Zero();
            (i % 6 < 3 ? twist[i / 6].linear : twist[i / 6].angular)[i % 3] = 1;
            const Series series = follow(c, contact.id.feature, twist[0], twist[1], 2e-4);
            if (!series.complete) return false;
            const double row =
                contact.normal.dot(velocity_at(twist[0], contact.position) - velocity_at(twist[1], contact.position));
            const double difference = series.rate([](const Sample& s) { return s.gap; });
            error = std::max(error, std::abs(row - difference));
            norm = std::hypot(norm, row);
        }
        EXPECT_LT(error, 1e-7 * (1 + norm))
            << shape_name(c.a) << " " << shape_name(c.b) << " kind " << int(contact.kind);
        return true;
    });
    expect_all_seen(tally);
}

TEST(Gap, RatesOfPointAndNormalAreTheirDerivatives) {
    const Tally tally = for_random_contacts(12, 500, [](Dice& dice, const Case& c, const ContactPoint& contact) {
        const Twist a = any_twist(dice, c.pose_a), b = any_twist(dice, c.pose_b);
        const Series series = follow(c, contact.id.feature, a, b, 5e-4);
        if (!series.complete) return false;
        const ContactRates rates = contact_rates(contact, a, b);
        const Vec3 position_rate = series.rate([](const Sample& s) { return s.position; });
        const Vec3 normal_rate = series.rate([](const Sample& s) { return s.normal; });
        EXPECT_LT((rates.position_rate - position_rate).norm(), 1e-6 * (1 + position_rate.norm()));
        EXPECT_LT((rates.normal_rate - normal_rate).norm(), 1e-6 * (1 + normal_rate.norm()));
        return true;
    });
    expect_all_seen(tally);
}

// Along constant twists  phi'' = n'.(v_A - v_B) + n.(w_A x (P' - x_A') - w_B x (P' - x_B')).
TEST(Gap, RatesGiveItsSecondDerivative) {
    const Tally tally = for_random_contacts(13, 500, [](Dice& dice, const Case& c, const ContactPoint& contact) {
        const Twist a = any_twist(dice, c.pose_a), b = any_twist(dice, c.pose_b);
        const Series series = follow(c, contact.id.feature, a, b, 1e-3);
        if (!series.complete) return false;
        const ContactRates rates = contact_rates(contact, a, b);
        const Vec3 relative = velocity_at(a, contact.position) - velocity_at(b, contact.position);
        const double acceleration =
            rates.normal_rate.dot(relative) + contact.normal.dot(a.angular.cross(rates.position_rate - a.linear) -
                                                                 b.angular.cross(rates.position_rate - b.linear));
        const double difference = series.gap_acceleration();
        EXPECT_NEAR(acceleration, difference, 1e-6 * (1 + std::abs(difference)))
            << shape_name(c.a) << " " << shape_name(c.b) << " kind " << int(contact.kind);
        return true;
    });
    expect_all_seen(tally);
}

TEST(Gap, PointLiesMidwayBetweenTheSurfaces) {
    for_random_contacts(14, 50, [](Dice&, const Case& c, const ContactPoint& contact) {
        EXPECT_NEAR(contact.normal.norm(), 1, 1e-14);
        const Vec3 surface_a = contact.core_a - contact.radius_a * contact.normal;
        const Vec3 surface_b = contact.core_b + contact.radius_b * contact.normal;
        EXPECT_LT((contact.position - (surface_a + surface_b) / 2).norm(), 1e-13);
        EXPECT_LT((surface_a - surface_b - contact.gap * contact.normal).norm(), 1e-13) << shape_name(c.a);
        return true;
    });
}

TEST(Gap, ExchangingTheShapesTurnsTheContactAround) {
    int seen = 0;
    for_random_contacts(15, 50, [&](Dice&, const Case& c, const ContactPoint& contact) {
        if (c.a.index() == c.b.index()) return false;  // boxes prefer the faces of the first
        const auto other = contacts_of(c.b, c.pose_b, c.a, c.pose_a, 0.5);
        const ContactPoint* mirror = with_feature(other, exchanged(contact).id.feature);
        if (mirror == nullptr) {
            ADD_FAILURE() << "lost";
            return false;
        }
        EXPECT_EQ(mirror->gap, contact.gap);
        EXPECT_EQ(mirror->normal, Vec3(-contact.normal));
        ++seen;
        return true;
    });
    EXPECT_GT(seen, 100);
}

TEST(Tangent, IsTheLeastAlignedAxisAndIgnoresRounding) {
    EXPECT_EQ(first_tangent(Vec3::UnitZ()), Vec3::UnitX());
    EXPECT_EQ(first_tangent(Vec3::UnitX()), Vec3::UnitY());
    EXPECT_LT((first_tangent(Vec3(1e-12, 0, 1).normalized()) - Vec3::UnitX()).norm(), 1e-11);
    Dice dice(16);
    for (int trial = 0; trial < 100; ++trial) {
        const Vec3 n = dice.vector(1).normalized();
        const Vec3 t = first_tangent(n);
        EXPECT_NEAR(t.norm(), 1, 1e-14);
        EXPECT_NEAR(t.dot(n), 0, 1e-14);
    }
}

// The frame that is transported in small steps turns with the rate t1' = -n (n'.t1).
TEST(Tangent, TransportIsTheMinimalRotation) {
    Dice dice(17);
    for (int trial = 0; trial < 50; ++trial) {
        const Vec3 n = dice.vector(1).normalized();
        const Vec3 t = first_tangent(n);
        const Vec3 w = dice.vector(1);
        const Vec3 n_rate = w.cross(n);
        const double h = 1e-5;
        const Vec3 ahead = transported_tangent(t, rotation_by(h * w) * n);
        const Vec3 behind = transported_tangent(t, rotation_by(-h * w) * n);
        EXPECT_LT(((ahead - behind) / (2 * h) + n * n_rate.dot(t)).norm(), 1e-8);
    }
}

}  // namespace
}  // namespace stickslip
