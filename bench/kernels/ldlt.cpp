// Refactorisation of [[A, G'], [G, -T]] with an unchanged pattern: our block LDL' in its two forms (assembly included),
// Eigen's SimplicialLDLT of the same two matrices, CHOLMOD's supernodal factor where it was found. Chains and closed loops
// of bodies with ball joints, piles of spheres with three rows per contact. `flops` is what our order needs.
#include <benchmark/benchmark.h>

#include <Eigen/SparseCholesky>

#include "../../tests/math/block_systems.hpp"
#include "math/kkt.hpp"
#ifdef STICKSLIP_BENCH_CHOLMOD
#include <cholmod.h>
#endif

namespace {

using namespace stickslip;
using testing::RowSystem;
using Sparse = Eigen::SparseMatrix<double>;

enum Kind { chain, loops, pile };

RowSystem make(Kind kind, int bodies) {
    if (kind == pile) return testing::pile(bodies, 1e-6);
    if (kind == chain) return testing::chain(bodies, false, false, 1e-6);
    return testing::loops(bodies, 1e-6);
}

Sparse matrix(const RowSystem& s, bool primal) {
    std::vector<Eigen::Triplet<double>> entries;
    const int nv = s.nv();
    for (int n = 0; n < s.A.nodes.size(); ++n)
        for (int i = 0; i < s.A.nodes.dof(n); ++i)
            for (int j = 0; j < s.A.nodes.dof(n); ++j)
                if (s.A.block(n)(i, j) != 0)
                    entries.emplace_back(s.A.nodes.start[n] + i, s.A.nodes.start[n] + j, s.A.block(n)(i, j));
    Sparse A(nv, nv), G(s.rows(), nv);
    A.setFromTriplets(entries.begin(), entries.end());
    std::vector<Eigen::Triplet<double>> rows;
    for (int g = 0; g < s.G.groups(); ++g)
        for (const auto& b : s.G.blocks_of(g))
            for (int i = 0; i < s.G.dim(g); ++i)
                for (int k = 0; k < s.A.nodes.dof(b.node); ++k)
                    rows.emplace_back(s.G.row[g] + i, s.A.nodes.start[b.node] + k,
                                      s.G.values_of(g, b, s.A.nodes)(i, k));
    G.setFromTriplets(rows.begin(), rows.end());
    if (primal) {
        const VecX weight = s.T.cwiseInverse();
        return A + Sparse(G.transpose() * weight.asDiagonal() * G);
    }
    for (const auto& e : rows) {
        entries.emplace_back(nv + e.row(), e.col(), e.value());
        entries.emplace_back(e.col(), nv + e.row(), e.value());
    }
    for (int i = 0; i < s.rows(); ++i) entries.emplace_back(nv + i, nv + i, -s.T[i]);
    Sparse K(nv + s.rows(), nv + s.rows());
    K.setFromTriplets(entries.begin(), entries.end());
    return K;
}

void ours(benchmark::State& state, Kind kind, KktSystem::Form form) {
    const RowSystem s = make(kind, static_cast<int>(state.range(0)));
    KktSystem kkt;
    kkt.wanted = form;
    kkt.analyse(s.A, s.G);
    for (auto _ : state)
        if (!kkt.factor(s.A, s.G, s.T).ok) state.SkipWithError("no factor");
    state.counters["flops"] = kkt.factors().flops();
    state.counters["fill_blocks"] = kkt.factors().fill_blocks();
    state.counters["dissected"] = kkt.factors().dissected();
    state.SetComplexityN(state.range(0));
}

void analysis(benchmark::State& state, Kind kind, KktSystem::Form form) {
    const RowSystem s = make(kind, static_cast<int>(state.range(0)));
    for (auto _ : state) {
        KktSystem kkt;
        kkt.wanted = form;
        kkt.analyse(s.A, s.G);
    }
}

void eigen(benchmark::State& state, Kind kind, bool primal) {
    const Sparse K = matrix(make(kind, static_cast<int>(state.range(0))), primal);
    Eigen::SimplicialLDLT<Sparse> ldlt;
    ldlt.analyzePattern(K);
    for (auto _ : state) ldlt.factorize(K);
    if (ldlt.info() != Eigen::Success) state.SkipWithError("no factor");
}

#ifdef STICKSLIP_BENCH_CHOLMOD
void cholmod(benchmark::State& state, Kind kind) {
    Sparse K = matrix(make(kind, static_cast<int>(state.range(0))), true).triangularView<Eigen::Lower>();
    K.makeCompressed();
    cholmod_common common;
    cholmod_start(&common);
    common.supernodal = CHOLMOD_SUPERNODAL;
    cholmod_sparse a{};
    a.nrow = a.ncol = static_cast<std::size_t>(K.rows());
    a.nzmax = static_cast<std::size_t>(K.nonZeros());
    a.p = K.outerIndexPtr();
    a.i = K.innerIndexPtr();
    a.x = K.valuePtr();
    a.stype = -1;
    a.itype = CHOLMOD_INT;
    a.xtype = CHOLMOD_REAL;
    a.dtype = CHOLMOD_DOUBLE;
    a.sorted = a.packed = 1;
    cholmod_factor* L = cholmod_analyze(&a, &common);
    for (auto _ : state) cholmod_factorize(&a, L, &common);
    if (common.status != CHOLMOD_OK) state.SkipWithError("no factor");
    cholmod_free_factor(&L, &common);
    cholmod_finish(&common);
}
#endif

constexpr auto kkt = KktSystem::Form::kkt;
constexpr auto primal = KktSystem::Form::primal;

#define SIZES(...) ->ArgsProduct({{__VA_ARGS__}})->Unit(benchmark::kMillisecond)
BENCHMARK_CAPTURE(ours, chain_kkt, chain, kkt) SIZES(100, 1000, 2000);
BENCHMARK_CAPTURE(ours, chain_primal, chain, primal) SIZES(100, 1000, 2000);
BENCHMARK_CAPTURE(ours, loops_kkt, loops, kkt) SIZES(100, 1000, 2000);
BENCHMARK_CAPTURE(ours, loops_primal, loops, primal) SIZES(100, 1000, 2000);
BENCHMARK_CAPTURE(ours, pile_primal, pile, primal) SIZES(100, 200, 500, 1000, 2000);
BENCHMARK_CAPTURE(analysis, chain_kkt, chain, kkt) SIZES(100, 1000);
BENCHMARK_CAPTURE(analysis, pile_primal, pile, primal) SIZES(100, 200, 500, 1000, 2000);
BENCHMARK_CAPTURE(eigen, chain_kkt, chain, false) SIZES(100, 1000, 2000);
BENCHMARK_CAPTURE(eigen, chain_primal, chain, true) SIZES(100, 1000, 2000);
BENCHMARK_CAPTURE(eigen, loops_kkt, loops, false) SIZES(1000);
BENCHMARK_CAPTURE(eigen, loops_primal, loops, true) SIZES(1000);
BENCHMARK_CAPTURE(eigen, pile_primal, pile, true) SIZES(100, 200, 500, 1000);
BENCHMARK_CAPTURE(eigen, pile_primal_once, pile, true)->Arg(2000)->Iterations(1)->Unit(benchmark::kMillisecond);
#ifdef STICKSLIP_BENCH_CHOLMOD
BENCHMARK_CAPTURE(cholmod, chain_primal, chain) SIZES(100, 1000, 2000);
BENCHMARK_CAPTURE(cholmod, loops_primal, loops) SIZES(1000);
BENCHMARK_CAPTURE(cholmod, pile_primal, pile) SIZES(100, 200, 500, 1000, 2000);
#endif

}  // namespace
