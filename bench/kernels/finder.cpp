// The contact finder on a pile of spheres in a box of walls, on a floor:
//
//   anew     broad and narrow phase from scratch, as after an edit
//   still    narrow phase alone: every sphere stays inside its region
//   shaken   one step of a pile in which all spheres move at up to 1 m/s, in steps of 1/240 s
//   rain     one step of a pile at rest on which one sphere in a hundred falls at 5 m/s
//
// and the pairs of overlapping boxes alone, by the tree (`box_tree`) and by sorting along one axis (`one_axis`), which is what
// the finder did before it had a tree. `contacts` and `finds` (broad phases per step) are counted.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "collision/box_tree.hpp"
#include "collision/finder.hpp"

namespace {

using namespace stickslip;

constexpr double radius = 0.05;    // [m]
constexpr double step = 1.0 / 240;  // [s]

struct Pile {
    CollisionModel model;
    std::vector<Pose> poses;
    std::vector<Vec3> velocity;  // [m/s] greatest, of a swing about where it is
};

// Layers of a close packing, shaken by a fiftieth of the radius.
Pile make_pile(int spheres) {
    Pile pile;
    std::mt19937 random(7);
    std::uniform_real_distribution<double> uniform(-1, 1);
    const auto any = [&] { return Vec3(uniform(random), uniform(random), uniform(random)); };
    const int side = std::max(1, static_cast<int>(std::lround(std::cbrt(spheres))));
    const double layer = radius * std::sqrt(2.0), width = 2 * radius * side;
    std::uint32_t id = 0;
    pile.model.colliders.push_back({id++, -1, {HalfSpace{}, {}}});
    for (const double x : {-1.0, 1.0}) {
        const Vec3 half(0.1, width, 2 * width);
        pile.model.colliders.push_back({id++, -1, {Box{half}, {Vec3(x * (width / 2 + 0.1 + radius), 0, 0), Quat::Identity()}}});
    }
    for (int k = 0; k < spheres; ++k) {
        const int level = k / (side * side), i = k % side, j = k / side % side;
        const double shift = level % 2 == 0 ? 0 : radius;
        const Vec3 place(2 * radius * i + shift - width / 2, 2 * radius * j + shift - width / 2, radius + layer * level);
        pile.poses.push_back({place + radius / 50 * any(), Quat::Identity()});
        pile.velocity.push_back(any() / std::sqrt(3.0));
        pile.model.colliders.push_back({id++, k, {Sphere{radius}, {}}});
    }
    pile.model.fixed.assign(static_cast<std::size_t>(spheres), 0);
    return pile;
}

void count(benchmark::State& state, double contacts, double finds) {
    state.counters["contacts"] = contacts;
    state.counters["finds"] = finds;
}

void find_anew(benchmark::State& state) {
    const Pile pile = make_pile(static_cast<int>(state.range(0)));
    ContactFinder finder;
    finder.find(pile.model, pile.poses);
    for (auto _ : state) finder.find(pile.model, pile.poses);
    count(state, static_cast<double>(finder.contacts().size()), 1);
}

void find_still(benchmark::State& state) {
    const Pile pile = make_pile(static_cast<int>(state.range(0)));
    ContactFinder finder;
    finder.evaluate(pile.model, pile.poses);
    for (auto _ : state) {
        finder.evaluate(pile.model, pile.poses);
        finder.commit_frames();
    }
    count(state, static_cast<double>(finder.contacts().size()), 0);
}

// Steps of a motion in which sphere b has the velocity speed(b) * cos(10 t).
template <class Speed>
void find_moving(benchmark::State& state, Speed&& speed) {
    const Pile pile = make_pile(static_cast<int>(state.range(0)));
    std::vector<Pose> poses = pile.poses;
    ContactFinder finder;
    finder.reach.resize(poses.size());
    double t = 0, contacts = 0;
    const auto advance = [&] {
        t += step;
        for (std::size_t b = 0; b < poses.size(); ++b) {
            const Vec3 v = speed(pile, b);
            poses[b].position = pile.poses[b].position + std::sin(10 * t) / 10 * v;
            finder.reach[b] = 2 * step * std::abs(std::cos(10 * t)) * v.norm() + 9.81 * step * step;
        }
        finder.find_candidates(pile.model, poses);
        finder.evaluate(pile.model, poses);
        contacts += static_cast<double>(finder.contacts().size());
    };
    for (int warm_up = 0; warm_up < 3; ++warm_up) advance();
    const long before = finder.counts.finds;
    contacts = 0;
    for (auto _ : state) advance();
    const double steps = static_cast<double>(state.iterations());
    count(state, contacts / steps, static_cast<double>(finder.counts.finds - before) / steps);
}

void find_shaken(benchmark::State& state) {
    find_moving(state, [](const Pile& pile, std::size_t b) { return pile.velocity[b]; });
}

void find_rain(benchmark::State& state) {
    find_moving(state, [](const Pile&, std::size_t b) { return b % 100 == 0 ? Vec3(0, 0, -5) : Vec3(0, 0, 0); });
}

std::vector<Aabb> boxes_of(const Pile& pile) {
    std::vector<Aabb> boxes;
    for (const Pose& pose : pile.poses)
        boxes.push_back({pose.position.array() - 1.02 * radius, pose.position.array() + 1.02 * radius});
    return boxes;
}

void box_tree(benchmark::State& state) {
    const std::vector<Aabb> boxes = boxes_of(make_pile(static_cast<int>(state.range(0))));
    std::vector<int> all(boxes.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
    BoxTree tree;
    std::size_t pairs = 0;
    for (auto _ : state) {
        tree.build(boxes, all);
        pairs = tree.all_pairs().size();
    }
    count(state, static_cast<double>(pairs), 1);
}

void one_axis(benchmark::State& state) {
    const std::vector<Aabb> boxes = boxes_of(make_pile(static_cast<int>(state.range(0))));
    std::vector<std::pair<double, int>> order;
    std::size_t pairs = 0;
    for (auto _ : state) {
        pairs = 0;
        order.clear();
        for (std::size_t i = 0; i < boxes.size(); ++i) order.emplace_back(boxes[i].lower[0], static_cast<int>(i));
        std::sort(order.begin(), order.end());
        for (std::size_t i = 0; i < order.size(); ++i) {
            const Aabb& own = boxes[order[i].second];
            for (std::size_t j = i + 1; j < order.size() && order[j].first <= own.upper[0]; ++j)
                if (overlap(own, boxes[order[j].second])) ++pairs;
        }
    }
    count(state, static_cast<double>(pairs), 1);
}

#define SIZES ->Arg(250)->Arg(1000)->Arg(5000)->Arg(20000)->Unit(benchmark::kMillisecond)
BENCHMARK(find_anew) SIZES;
BENCHMARK(find_still) SIZES;
BENCHMARK(find_shaken) SIZES;
BENCHMARK(find_rain) SIZES;
BENCHMARK(box_tree) SIZES;
BENCHMARK(one_axis) SIZES;

}  // namespace
