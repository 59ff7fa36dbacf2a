// Block LU of K = A + H' B H as solvers need it in every iteration (`factor`, `solve`), and its analysis, paid for every new
// pattern of contacts (`analyse`); Eigen's SparseLU with the same numbers beside it. Walls of boxes in running bond, in which each
// touches its neighbours beside it and two below, and piles of spheres. `work` are multiplications, `fill_blocks` what the order left.
#include <benchmark/benchmark.h>

#include <Eigen/SparseLU>
#include <random>

#include "../../tests/math/block_systems.hpp"
#include "math/block_lu.hpp"

namespace {

using namespace stickslip;
using Sparse = Eigen::SparseMatrix<double>;

struct Pattern {
    Nodes nodes;
    std::vector<BlockLu::Edge> edges;
};

Pattern wall(int boxes) {
    Pattern p;
    const int width = boxes > 150 ? 15 : 10;
    for (int i = 0; i < boxes; ++i) {
        p.nodes.add(6);
        const int row = i / width, column = i % width, other = column + (row % 2 == 0 ? -1 : 1);
        if (column > 0) p.edges.push_back({i - 1, i});
        if (row == 0) continue;
        p.edges.push_back({i - width, i});
        if (other >= 0 && other < width) p.edges.push_back({i - width + other - column, i});
    }
    return p;
}

Pattern pile(int spheres) {
    Pattern p;
    const testing::RowSystem s = testing::pile(spheres, 1e-6);
    p.nodes = s.A.nodes;
    for (int g = 0; g < s.G.groups(); ++g) {
        const auto blocks = s.G.blocks_of(g);
        if (blocks.size() == 2)
            p.edges.push_back({std::min(blocks[0].node, blocks[1].node), std::max(blocks[0].node, blocks[1].node)});
    }
    return p;
}

// Unit masses, and per edge J' B J with random J and B = 10 I + a part that is not symmetric, as of sliding contacts.
void fill(const Pattern& p, BlockLu& lu, std::vector<Eigen::Triplet<double>>* entries) {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> uniform(-1, 1);
    const auto add = [&](int a, int b, const MatX& block) {
        Eigen::Map<MatX>(a == b ? lu.diagonal(a) : lu.pair(a, b).ab, 6, 6) += block;
        for (int j = 0; j < 6 && entries != nullptr; ++j)
            for (int i = 0; i < 6; ++i) entries->emplace_back(p.nodes.start[a] + i, p.nodes.start[b] + j, block(i, j));
    };
    for (int n = 0; n < p.nodes.size(); ++n) add(n, n, MatX::Identity(6, 6));
    for (const BlockLu::Edge& e : p.edges) {
        MatX J(3, 12), B = 10 * MatX::Identity(3, 3);
        for (int j = 0; j < 12; ++j)
            for (int i = 0; i < 3; ++i) J(i, j) = uniform(random);
        B(0, 1) = 1;
        const MatX K = J.transpose() * B * J;
        add(e.a, e.a, K.topLeftCorner(6, 6));
        add(e.a, e.b, K.topRightCorner(6, 6));
        add(e.b, e.a, K.bottomLeftCorner(6, 6));
        add(e.b, e.b, K.bottomRightCorner(6, 6));
    }
}

using Make = Pattern (*)(int);

void analyse(benchmark::State& state, Make make) {
    const Pattern p = make(static_cast<int>(state.range(0))), other = make(3);
    std::vector<BlockLu::Edge> edges, few;
    BlockLu lu;
    for (auto _ : state) {
        edges = p.edges;
        lu.analyse(p.nodes, edges);
        few = other.edges;
        lu.analyse(other.nodes, few);  // so that the pattern is new every time
    }
    edges = p.edges;
    lu.analyse(p.nodes, edges);
    state.counters["work"] = lu.work();
    state.counters["fill_blocks"] = lu.fill_blocks();
}

void factor(benchmark::State& state, Make make) {
    const Pattern p = make(static_cast<int>(state.range(0)));
    std::vector<BlockLu::Edge> edges = p.edges;
    BlockLu lu;
    lu.analyse(p.nodes, edges);
    fill(p, lu, nullptr);
    for (auto _ : state)
        if (!lu.factor()) state.SkipWithError("no factor");
    state.counters["work"] = lu.work();
    state.counters["fill_blocks"] = lu.fill_blocks();
}

void solve(benchmark::State& state, Make make) {
    const Pattern p = make(static_cast<int>(state.range(0)));
    std::vector<BlockLu::Edge> edges = p.edges;
    BlockLu lu;
    lu.analyse(p.nodes, edges);
    fill(p, lu, nullptr);
    if (!lu.factor()) state.SkipWithError("no factor");
    VecX x = VecX::Ones(p.nodes.nv());
    for (auto _ : state) {
        x.setOnes();
        lu.solve(x.data());
        benchmark::DoNotOptimize(x.data());
    }
}

void eigen_factor(benchmark::State& state, Make make) {
    const Pattern p = make(static_cast<int>(state.range(0)));
    std::vector<BlockLu::Edge> edges = p.edges;
    BlockLu lu;
    lu.analyse(p.nodes, edges);
    std::vector<Eigen::Triplet<double>> entries;
    fill(p, lu, &entries);
    Sparse K(p.nodes.nv(), p.nodes.nv());
    K.setFromTriplets(entries.begin(), entries.end());
    Eigen::SparseLU<Sparse> sparse;
    sparse.analyzePattern(K);
    for (auto _ : state) sparse.factorize(K);
    if (sparse.info() != Eigen::Success) state.SkipWithError("no factor");
}

#define CASES(f)                                                                                       \
    BENCHMARK_CAPTURE(f, wall, wall)->Arg(105)->Arg(225)->Unit(benchmark::kMillisecond);               \
    BENCHMARK_CAPTURE(f, pile, pile)->Arg(125)->Arg(250)->Arg(1000)->Unit(benchmark::kMillisecond)
CASES(analyse);
CASES(factor);
CASES(solve);
CASES(eigen_factor);

}  // namespace
