#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include "base/hdf5_file.hpp"
#include "problems/convert/to_delassus.hpp"
#include "problems/fclib_matrix.hpp"
#include "stickslip/error.hpp"
#include "stickslip/stored_problem.hpp"
#include "support/problems.hpp"

namespace stickslip {
namespace {

using namespace testing;
namespace fs = std::filesystem;

class FclibFile : public ::testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "stickslip-fclib-XXXXXX").string();
        folder_ = mkdtemp(pattern.data());
    }
    void TearDown() override { fs::remove_all(folder_); }
    std::string file(const std::string& name) const { return (folder_ / name).string(); }

    fs::path folder_;
};

template <class List>
std::string bytes(const List& list) {
    std::string text(static_cast<std::size_t>(list.size()) * sizeof(*list.data()), '\0');
    if (!text.empty()) std::memcpy(text.data(), static_cast<const void*>(list.data()), text.size());
    return text;
}

// Bodies with random inertia, gyroscopic parts and couplings, ball joints, contacts with discs of `dim` rows.
StepProblem random_problem(std::uint32_t seed, int dim, bool joints, bool coupled) {
    Random random(seed);
    ProblemBuilder build;
    constexpr int bodies = 6;
    for (int n = 0; n < bodies; ++n) {
        const MatX root = random.matrix(6, 6), twist = random.matrix(6, 6);
        build.node(MatX::Identity(6, 6) + 0.1 * root * root.transpose() + 0.05 * (twist - twist.transpose()),
                   random.vector(6));
    }
    if (coupled) {
        const MatX ab = 0.01 * random.matrix(6, 6);
        build.couple(1, 4, ab);
        build.couple(4, 1, ab.transpose());
    }
    for (int i = 0; i < 9; ++i) {
        const int a = i % bodies, b = random.below(3) == 0 ? -1 : (a + 1 + random.below(bodies - 1)) % bodies;
        build.contact(a, b, random.vector(3), random.vector(3), random.uniform(0, 1), 0,
                      Vec3(random.vector(3).normalized()), dim);
    }
    if (joints) build.point_joint(0, 3, random.vector(3), random.vector(3));
    StepProblem problem = build.problem();
    problem.c = random.vector(problem.contacts.jacobian.rows());
    problem.b = random.vector(problem.joints.size());
    return problem;
}

void expect_same_numbers(const StepProblem& a, const StepProblem& b) {
    EXPECT_EQ(a.nodes(), b.nodes());
    EXPECT_EQ(bytes(a.A.dense()), bytes(b.A.dense()));
    EXPECT_EQ(a.contacts.jacobian.row, b.contacts.jacobian.row);
    EXPECT_EQ(bytes(a.contacts.jacobian.dense(a.nodes())), bytes(b.contacts.jacobian.dense(b.nodes())));
    EXPECT_EQ(bytes(a.joints.jacobian.dense(a.nodes())), bytes(b.joints.jacobian.dense(b.nodes())));
    EXPECT_EQ(bytes(a.contacts.friction), bytes(b.contacts.friction));
    EXPECT_EQ(a.contacts.facets, b.contacts.facets);
    EXPECT_EQ(bytes(a.r), bytes(b.r));
    for (const auto member :
         {&StepProblem::T, &StepProblem::b, &StepProblem::lower, &StepProblem::upper, &StepProblem::S, &StepProblem::c})
        EXPECT_EQ(bytes(a.*member), bytes(b.*member));
}

void expect_same_numbers(const DelassusProblem& a, const DelassusProblem& b) {
    EXPECT_EQ(a.W.nodes, b.W.nodes);
    EXPECT_EQ(a.W.couplings.size(), b.W.couplings.size());
    EXPECT_EQ(bytes(a.W.dense()), bytes(b.W.dense()));
    EXPECT_EQ(bytes(a.q), bytes(b.q));
    EXPECT_EQ(bytes(a.friction), bytes(b.friction));
    EXPECT_EQ(a.facets, b.facets);
}

TEST_F(FclibFile, StepProblemsComeBackBitForBit) {
    for (std::uint32_t seed = 1; seed <= 8; ++seed) {
        StepProblem problem = random_problem(seed, seed % 2 ? 3 : 2, seed % 4 < 2, seed % 3 == 0);
        problem.r[1] = std::numeric_limits<double>::denorm_min();
        save_fclib(file("a.h5"), problem);
        const StoredProblem again = load_any_problem(file("a.h5"));
        ASSERT_EQ(again.format, ProblemFormat::fclib_global);
        expect_same_numbers(problem, again.step);
        EXPECT_FALSE(again.step_guess.warm);
    }
}

TEST_F(FclibFile, DelassusProblemsComeBackBitForBit) {
    for (std::uint32_t seed = 1; seed <= 8; ++seed) {
        const DelassusProblem problem = to_delassus(random_problem(seed, seed % 2 ? 3 : 2, seed % 4 < 2, false));
        const MatX W = problem.W.dense();
        ASSERT_GT((W - W.transpose()).norm(), 1e-6) << "the gyroscopic part should show";
        save_fclib(file("a.h5"), problem);
        const StoredProblem again = load_any_problem(file("a.h5"));
        ASSERT_EQ(again.format, ProblemFormat::fclib_local);
        expect_same_numbers(problem, again.local);
    }
}

// A file by other people's hands: W in the given storage, unsorted triplets, one entry in two parts.
void write_local(const std::string& path, int storage, const std::function<void(Hdf5File&)>& more = {}) {
    Hdf5File out(path, Hdf5File::Open::create);
    const auto integers = [&](const char* name, std::vector<std::int32_t> list) {
        out.write<std::int32_t>("fclib_local/" + std::string(name), list);
    };
    integers("spacedim", {2});
    integers("W/m", {4});
    integers("W/n", {4});
    integers("W/nzmax", {8});
    std::vector<double> x;
    if (storage >= 0) {  //  [2 1 . .; . 3 . 5; . . 4 .; . 6 . 7], 4 = 1.5 + 2.5
        integers("W/nz", {8});
        integers("W/i", {3, 0, 0, 1, 2, 1, 2, 3, 77});
        integers("W/p", {3, 0, 1, 1, 2, 3, 2, 1, 77});
        x = {7, 2, 1, 3, 1.5, 5, 2.5, 6, std::nan("")};
    } else if (storage == -1) {
        integers("W/nz", {-1});
        integers("W/p", {0, 1, 4, 5, 7});
        integers("W/i", {0, 3, 0, 1, 2, 1, 3});
        x = {2, 6, 1, 3, 4, 5, 7};
    } else {
        integers("W/nz", {-2});
        integers("W/p", {0, 2, 4, 5, 7});
        integers("W/i", {0, 1, 3, 1, 2, 3, 1});
        x = {2, 1, 5, 3, 4, 7, 6};
    }
    out.write<double>("fclib_local/W/x", x);
    out.write<double>("fclib_local/vectors/q", std::vector<double>{-1, 0.5, -2, 0.25});
    out.write<double>("fclib_local/vectors/mu", std::vector<double>{0.5, 0});
    if (more) more(out);
    out.close();
}

TEST_F(FclibFile, TripletsColumnsAndRowsAreTheSameMatrix) {
    MatX expected(4, 4);
    expected << 2, 1, 0, 0, 0, 3, 0, 5, 0, 0, 4, 0, 0, 6, 0, 7;
    for (const int storage : {0, -1, -2}) {
        write_local(file("a.h5"), storage);
        const StoredProblem stored = load_any_problem(file("a.h5"));
        EXPECT_EQ((stored.local.W.dense() - expected).norm(), 0) << storage;
        EXPECT_EQ(stored.local.contacts(), 2);
        EXPECT_EQ(stored.local.W.couplings.size(), 2u);
        EXPECT_EQ(stored.local.friction, (std::vector<double>{0.5, 0}));
    }
}

struct Triplets {
    int rows, columns;
    std::vector<std::int32_t> i, p;
    std::vector<double> x;
    void add(int row, int column, double value) {
        i.push_back(row);
        p.push_back(column);
        x.push_back(value);
    }
    void write(Hdf5File& out, const std::string& group) const {
        write_fclib_integer(out, group + "/m", rows);
        write_fclib_integer(out, group + "/n", columns);
        write_fclib_integer(out, group + "/nz", static_cast<std::int32_t>(x.size()));
        write_fclib_integer(out, group + "/nzmax", static_cast<std::int32_t>(x.size()));
        out.write<std::int32_t>(group + "/i", i);
        out.write<std::int32_t>(group + "/p", p);
        out.write<double>(group + "/x", x);
    }
};

// Two points of the plane whose velocities lie mixed in the file (x of both, then y of both), the second with mass
// coupling, and one velocity that nothing touches.
struct Mixed {
    Triplets M{5, 5, {}, {}, {}}, H{5, 4, {}, {}, {}};
    std::vector<double> f{1, 2, 3, 4, 5}, w{0.1, 0.2, 0.3, 0.4}, mu{0.3, 0.6};
    Mixed() {
        M.add(0, 0, 2), M.add(2, 2, 2), M.add(1, 1, 3), M.add(3, 3, 4), M.add(1, 3, 1), M.add(3, 1, 1), M.add(4, 4, 9);
        H.add(0, 0, 1), H.add(2, 1, 1), H.add(1, 0, -1), H.add(3, 1, -1), H.add(1, 2, 1), H.add(3, 3, 1);
    }
    void write(const std::string& path, const std::function<void(Hdf5File&)>& more = {}) const {
        Hdf5File out(path, Hdf5File::Open::create);
        write_fclib_integer(out, "fclib_global/spacedim", 2);
        M.write(out, "fclib_global/M");
        H.write(out, "fclib_global/H");
        out.write<double>("fclib_global/vectors/f", f);
        out.write<double>("fclib_global/vectors/w", w);
        out.write<double>("fclib_global/vectors/mu", mu);
        if (more) more(out);
        out.close();
    }
};

MatX dense(const SparseMatrix& matrix) {
    MatX full = MatX::Zero(matrix.rows, matrix.columns);
    for (const SparseEntry& e : matrix.entries) full(e.row, e.column) += e.value;
    return full;
}

TEST_F(FclibFile, WhatTheMassMatrixCouplesBecomesOneNode) {
    Mixed().write(file("a.h5"));
    const StoredProblem stored = load_any_problem(file("a.h5"));
    EXPECT_TRUE(stored.step.A.couplings.empty());
    // in the file's order the matrices are the file's
    const Hdf5File in(file("a.h5"), Hdf5File::Open::read);
    const MatX M = dense(read_fclib_matrix(in, "fclib_global/M")), H = dense(read_fclib_matrix(in, "fclib_global/H"));
    MatX P = MatX::Zero(5, 5);
    for (int k = 0; k < 5; ++k) P(k, stored.velocities[k]) = 1;
    EXPECT_EQ((P.transpose() * stored.step.A.dense() * P - M).norm(), 0);
    EXPECT_EQ((P.transpose() * stored.step.contacts.jacobian.dense(stored.step.nodes()).transpose() - H).norm(), 0);
    // velocities 1 and 3 are coupled
    const auto node_of = [&](int velocity) {
        for (int n = 0; n < stored.step.nodes().size(); ++n)
            for (int k = stored.step.nodes().start[n]; k < stored.step.nodes().start[n + 1]; ++k)
                if (stored.velocities[k] == velocity) return n;
        return -1;
    };
    EXPECT_EQ(node_of(1), node_of(3));
}

TEST_F(FclibFile, FileToProblemToFileGivesEqualNumbers) {
    Mixed().write(file("a.h5"), [](Hdf5File& out) {
        Triplets G{5, 1, {}, {}, {}};
        G.add(4, 0, 1), G.add(0, 0, -1);
        G.write(out, "fclib_global/G");
        out.write<double>("fclib_global/vectors/b", std::vector<double>{0.75});
    });
    const StoredProblem stored = load_any_problem(file("a.h5"));
    ASSERT_EQ(stored.step.joints.size(), 1);
    EXPECT_EQ(stored.step.b[0], -0.75);
    FclibWriting how;
    how.velocities = stored.velocities;
    save_fclib(file("b.h5"), stored.step, nullptr, how);
    const Hdf5File a(file("a.h5"), Hdf5File::Open::read), b(file("b.h5"), Hdf5File::Open::read);
    for (const char* name : {"fclib_global/M", "fclib_global/H", "fclib_global/G"})
        EXPECT_EQ(bytes(dense(read_fclib_matrix(a, name))), bytes(dense(read_fclib_matrix(b, name)))) << name;
    for (const char* name : {"f", "w", "mu", "b"}) {
        const std::string path = "fclib_global/vectors/" + std::string(name);
        EXPECT_EQ(bytes(a.read<double>(path)), bytes(b.read<double>(path))) << name;
    }
}

// Bodies with diagonal inertia do not fall apart into single velocities, and large parts are cut into coupled nodes.
TEST_F(FclibFile, NodesHaveTheSizeOfBodies) {
    StepProblem stack = BoxStack{5, {1.0}, 1, 0.5, 0, Vec3::Zero(), 1e-3}.problem();
    FclibWriting how;
    for (int k = 0; k < 30; ++k) how.velocities.push_back(k);
    save_fclib(file("a.h5"), stack, nullptr, how);  // does not say its nodes
    EXPECT_EQ(load_any_problem(file("a.h5")).step.nodes(), stack.nodes());

    Mixed mixed;
    mixed.M = {300, 300, {}, {}, {}};
    mixed.H.rows = 300;
    mixed.f.assign(300, 1.0);
    for (int i = 0; i < 300; ++i) {
        mixed.M.add(i, i, 4);
        if (i > 0) mixed.M.add(i, i - 1, -1), mixed.M.add(i - 1, i, -1);
    }
    mixed.write(file("b.h5"));
    const StoredProblem large = load_any_problem(file("b.h5"));
    EXPECT_EQ(large.step.nodes().size(), 50);
    EXPECT_EQ(large.step.A.couplings.size(), 98u);
    // the error measure takes couplings as they are
    const StoredProblem small = load_any_problem(file("b.h5"));
    const VecX p = VecX::Constant(4, 0.5);
    const RelativeError error = relative_errors(large.step, p, VecX());
    const MatX A = large.step.A.dense(), H = large.step.contacts.jacobian.dense(large.step.nodes());
    const VecX u = H * A.lu().solve(large.step.r + H.transpose() * p) + large.step.c.vec();
    EXPECT_LT((error.u - u).norm(), 1e-13 * u.norm());
}

TEST_F(FclibFile, StoredSolutionsAreGuessesOnlyIfTheyFit) {
    write_local(file("a.h5"), 0, [](Hdf5File& out) {
        out.write<double>("solution/r", std::vector<double>{1, 0.1, 0, 0});
    });
    const StoredProblem fits = load_any_problem(file("a.h5"));
    EXPECT_TRUE(fits.local_guess.warm);
    EXPECT_EQ(fits.local_guess.modes, (std::vector<ContactMode>{ContactMode::stick, ContactMode::open}));
    for (const std::vector<double>& r :
         {std::vector<double>{1, 2, 3}, std::vector<double>{1, 2, 3, std::nan("")}, std::vector<double>{}}) {
        write_local(file("a.h5"), 0, [&](Hdf5File& out) { out.write<double>("solution/r", r); });
        EXPECT_FALSE(load_any_problem(file("a.h5")).local_guess.warm);
    }
}

// Attributes of other programs at the root mean nothing here.
TEST_F(FclibFile, WhatElseIsInTheFileDoesNotMatter) {
    write_local(file("a.h5"), -2, [](Hdf5File& out) {
        out.set_attribute("/", "format", "of another program");
        out.write<double>("guesses/1/r", std::vector<double>{1, 2, 3, 4});
        out.write_text("fclib_local/info/title", "a title");
    });
    EXPECT_EQ(load_any_problem(file("a.h5")).local.contacts(), 2);
}

TEST_F(FclibFile, OurOwnProblemsAreReadByTheSameFunction) {
    const StepProblem problem = random_problem(5, 3, true, false);
    save_problem(file("a.h5"), problem);
    const StoredProblem stored = load_any_problem(file("a.h5"));
    EXPECT_EQ(stored.format, ProblemFormat::own);
    expect_same_numbers(problem, stored.step);
}

TEST_F(FclibFile, WhatIsNoProblemIsRefusedByName) {
    const auto complaint = [&] {
        try {
            load_any_problem(file("a.h5"));
        } catch (const Error& error) {
            EXPECT_EQ(error.place().file, file("a.h5")) << error.what();
            return std::string(error.what());
        }
        ADD_FAILURE() << "no Error";
        return std::string();
    };
    const auto expect = [&](const std::string& words) {
        const std::string text = complaint();
        EXPECT_NE(text.find(words), std::string::npos) << text << "\nexpected: " << words;
    };
    using File = Hdf5File&;
    const auto raw = [&](const std::function<void(File)>& fill) {
        Hdf5File out(file("a.h5"), Hdf5File::Open::create);
        fill(out);
        out.close();
    };
    raw([](File out) { write_fclib_integer(out, "fclib_global_rolling/spacedim", 5); });
    expect("rolling friction");
    raw([](File out) { write_fclib_integer(out, "fclib_local/spacedim", 5); });
    expect("rolling friction");
    raw([](File out) { write_fclib_integer(out, "fclib_local/spacedim", 4); });
    expect("expected 2 or 3");
    raw([](File out) { write_fclib_integer(out, "fclib_local/spacedim", 3); });
    expect("has no array 'fclib_local/W/m'");
    raw([](File out) { out.write<std::int32_t>("fclib_local", std::vector<std::int32_t>{3}); });  // no group
    expect("has no array 'fclib_local/spacedim'");
    raw([](File out) { write_fclib_integer(out, "something/else", 3); });
    expect("neither a stickslip problem nor an FCLIB one");
    raw([](File out) { out.write<double>("fclib_local/spacedim", std::vector<double>{3}); });
    expect("integers");
    raw([](File out) { out.write<std::int32_t>("fclib_local/spacedim", std::vector<std::int32_t>{3, 3}); });
    expect("one integer");
    write_local(file("a.h5"), 0, [](File out) { write_fclib_integer(out, "fclib_local/V/m", 4); });
    expect("bilateral rows in its local form");

    const auto spoil = [&](const std::function<void(Mixed&)>& change, const std::string& words) {
        Mixed mixed;
        change(mixed);
        mixed.write(file("a.h5"));
        expect(words);
    };
    constexpr int most = std::numeric_limits<int>::max();
    spoil([](Mixed& m) { m.mu[1] = -0.1; }, "of contact 1 is -0.1");
    spoil([](Mixed& m) { m.mu[0] = std::nan(""); }, "finite");
    spoil([](Mixed& m) { m.mu.pop_back(); }, "has 1 entries, expected 2");
    spoil([](Mixed& m) { m.f.push_back(1); }, "has 6 entries, expected 5");
    spoil([](Mixed& m) { m.w[2] = -infinity; }, "'fclib_global/vectors/w' entry 2");
    spoil([](Mixed& m) { m.M.x[3] = std::nan(""); }, "'fclib_global/M/x' entry 3");
    spoil([](Mixed& m) { m.M.x[0] = 0; }, "no positive entry on its diagonal in row 0");
    spoil([](Mixed& m) { m.M.i[2] = 5; }, "row 5, column 1");
    spoil([](Mixed& m) { m.M.p[2] = -1; }, "column -1");
    spoil([](Mixed& m) { m.M.columns = 6; }, "expected a square one");
    spoil([](Mixed& m) { m.M.rows = m.M.columns = most; }, "has 5 entries, expected 2147483647");
    spoil([](Mixed& m) { m.M.rows = -3; }, "has the size -3 x 5");
    spoil([](Mixed& m) { m.H.columns = 5; }, "not a multiple of spacedim 2");
    spoil([](Mixed& m) { m.H.columns = most - 1; }, "expected");
    spoil([](Mixed& m) { m.H.rows = 4; }, "has 4 rows, but M has 5");
    spoil([](Mixed& m) { m.H.i.pop_back(); }, "claims 6 entries, but stores 5 indices");
    spoil([](Mixed& m) { m.H.p.pop_back(); }, "claims 6 entries");
    Mixed().write(file("a.h5"), [](File out) { write_fclib_integer(out, "fclib_global/G/m", 5); });
    expect("has no array 'fclib_global/G/n'");
    Mixed().write(file("a.h5"), [](File out) {
        out.write<std::int32_t>("stickslip/nodes", std::vector<std::int32_t>{0, 4});
    });
    expect("'stickslip/nodes'");
    const auto compressed = [&](std::vector<std::int32_t> p, const std::string& words) {
        raw([&](File out) {
            write_fclib_integer(out, "fclib_local/spacedim", 2);
            for (const char* size : {"m", "n"}) write_fclib_integer(out, "fclib_local/W/" + std::string(size), 2);
            write_fclib_integer(out, "fclib_local/W/nz", -2);
            out.write<std::int32_t>("fclib_local/W/p", p);
            out.write<std::int32_t>("fclib_local/W/i", std::vector<std::int32_t>{0, 1});
            out.write<double>("fclib_local/W/x", std::vector<double>{1, 1});
        });
        expect(words);
    };
    compressed({0, 1}, "has 2 pointers, expected 3");
    compressed({}, "has 0 pointers, expected 3");
    compressed({1, 1, 2}, "does not begin its pointers with 0");
    compressed({0, 3, 2}, "wrong pointers at 0");
    compressed({0, 2, 1}, "wrong pointers at 0");
    compressed({0, -1, 2}, "wrong pointers at 0");
    compressed({0, 1, 3}, "claims 3 entries");
    compressed({0, 1, -3}, "claims -3 entries");
}

// Matrices that are none of mechanics: a mass that is not positive, a contact that pulls back what pushes it.
TEST_F(FclibFile, MatricesThatNobodyCanComputeWithAreRefusedByName) {
    const auto refused = [&](const std::string& words, bool local, const SparseMatrix& matrix, double mu) {
        {
            const std::string group = local ? "fclib_local" : "fclib_global";
            Hdf5File out(file("a.h5"), Hdf5File::Open::create);
            write_fclib_integer(out, group + "/spacedim", 2);
            write_fclib_matrix(out, group + (local ? "/W" : "/M"), matrix);
            if (!local) write_fclib_matrix(out, group + "/H", {2, 2, {{0, 0, 1.0}, {1, 1, 1.0}}});
            for (const char* name : {"q", "f", "w"})
                out.write<double>(group + "/vectors/" + name, std::vector<double>{-1, 0.5});
            out.write<double>(group + "/vectors/mu", std::vector<double>{mu});
            out.close();
        }
        try {
            load_any_problem(file("a.h5"));
            EXPECT_EQ(words, "");
        } catch (const Error& error) {
            EXPECT_TRUE(!words.empty() && std::string(error.what()).find(words) != std::string::npos) << error.what();
        }
    };
    const SparseMatrix good{2, 2, {{0, 0, 2.0}, {0, 1, 1.0}, {1, 0, 1.0}, {1, 1, 3.0}}};
    for (const bool local : {true, false}) {
        refused("", local, good, 0.5);
        refused("expected a friction coefficient >= 0", local, good, -0.5);
        refused("expected a finite number", local, good, infinity);
        refused("too large to compute with", local, {2, 2, {{0, 0, 1e101}, {1, 1, 1.0}}}, 0.5);
        refused("expected a finite number", local, {2, 2, {{0, 0, infinity}, {1, 1, 1.0}}}, 0.5);
    }
    refused("has -2 on its diagonal in row 0", true, {2, 2, {{0, 0, -2.0}, {1, 1, 3.0}}}, 0.5);
    refused("no positive definite symmetric part", false, {2, 2, {{0, 0, 1.0}, {0, 1, 2.0}, {1, 0, 2.0}, {1, 1, 1.0}}},
            0.5);
    refused("no positive definite symmetric part", false, {2, 2, {{0, 0, 1.0}, {0, 1, 1.0}, {1, 0, 1.0}, {1, 1, 1.0}}},
            0.5);
    refused("", false, {2, 2, {{0, 0, 1.0}, {0, 1, 5.0}, {1, 0, -5.0}, {1, 1, 1.0}}}, 0.5);  // gyroscopic
}

// A growing dataset may claim any length without a byte behind it.
TEST_F(FclibFile, ClaimedSizesBeyondTheFileAreRefused) {
    {
        Hdf5File out(file("a.h5"), Hdf5File::Open::create);
        write_fclib_integer(out, "fclib_local/spacedim", 3);
        for (const char* size : {"m", "n", "nz"})
            write_fclib_integer(out, "fclib_local/W/" + std::string(size), 300000000);
        out.create_growing("fclib_local/W/p", Hdf5Type::i32, {}, 1024).grow(std::uint64_t{1} << 36);
        out.close();
    }
    try {
        load_any_problem(file("a.h5"));
        FAIL() << "no Error";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("more than the file can hold"), std::string::npos) << error.what();
    }
}

TEST_F(FclibFile, DamagedFilesAreRefusedOrGiveAProblemThatHangsTogether) {
    const StepProblem step = random_problem(3, 3, true, false);
    StepSolution solution;
    solution.size_to(step);
    save_fclib(file("global.h5"), step, &solution);
    save_fclib(file("local.h5"), to_delassus(random_problem(4, 2, false, false)));
    Random random(17);
    int refused = 0;
    for (const char* name : {"global.h5", "local.h5"}) {
        std::ifstream in(file(name), std::ios::binary);
        const std::string whole((std::istreambuf_iterator<char>(in)), {});
        for (int i = 0; i < 150; ++i) {
            std::string text = whole;
            const int size = static_cast<int>(text.size());
            if (i % 3 == 0)
                text.resize(static_cast<std::size_t>(random.below(size)));
            else
                for (int k = i % 3 == 1 ? 1 : 40; k > 0; --k)
                    text[random.below(size)] ^= static_cast<char>(1 + random.below(255));
            std::ofstream(file("b.h5"), std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size()));
            try {
                const StoredProblem stored = load_any_problem(file("b.h5"));
                if (stored.format == ProblemFormat::fclib_local)
                    relative_errors(stored.local, VecX::Ones(stored.local.q.size()));
                else
                    relative_errors(stored.step, VecX::Ones(stored.step.c.size()), VecX::Ones(stored.step.b.size()));
            } catch (const Error&) {
                ++refused;
            }
        }
    }
    EXPECT_GT(refused, 100);
}

TEST_F(FclibFile, WhatFclibCannotHoldIsRefusedByName) {
    const auto refuse = [&](const StepProblem& problem, const std::string& words) {
        try {
            save_fclib(file("a.h5"), problem);
            ADD_FAILURE() << "no Error: " << words;
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
        }
    };
    const StepProblem good = random_problem(1, 3, true, false);
    StepProblem p = good;
    p.upper[1] = 2;
    refuse(p, "bilateral row 1 has bounds");
    p = good;
    p.T[2] = 1e-9;
    refuse(p, "bilateral row 2 is compliant");
    p = good;
    p.S[4] = 1e-9;
    refuse(p, "contact row 4 is compliant");
    p = good;
    p.contacts.facets[3] = 8;
    refuse(p, "contact 3 is a polygon of 8 facets");
    FclibWriting how;
    how.polygons_as_discs = true;
    save_fclib(file("a.h5"), p, nullptr, how);
    EXPECT_EQ(load_any_problem(file("a.h5")).step.contacts.facets[3], 0);

    ProblemBuilder build;
    build.body(1, Vec3(1, 1, 1), Vec3::Zero(), Vec3::Zero());
    build.contact(0, -1, Vec3(0, 0, -1), Vec3::Zero(), 0.5, 0, Vec3::UnitZ(), 3);
    build.contact(0, -1, Vec3(0, 0, -1), Vec3::Zero(), 0.5, 0, Vec3::UnitZ(), 2);
    refuse(build.problem(), "have 3 and 2 rows");
    build.contact(0, -1, Vec3(0, 0, -1), Vec3::Zero(), 0, 0, Vec3::UnitZ(), 1);
    StepProblem limits = build.problem();
    limits.contacts.keep({0, 0, 1});
    limits.size_to_rows();
    refuse(limits, "has no tangent");
}

// The box at rest: p = m g h / 4 at each corner is a solution; what is measured follows from the formulas by hand.
TEST(RelativeErrors, AreZeroAtASolutionAndKnowNoUnits) {
    BoxOnPlane scene;
    scene.facets = 0;
    StepProblem problem = scene.problem();
    VecX p = VecX::Zero(12);
    for (int i = 0; i < 4; ++i) p[3 * i] = scene.mass * 9.81 * scene.step / 4;
    const RelativeError rest = relative_errors(problem, p, VecX());
    EXPECT_LT(rest.contacts, 1e-15);
    EXPECT_LT(rest.natural, 1e-15);
    EXPECT_NEAR(rest.scale, 2 * 9.81 * scene.step, 1e-15);  // four corners that fall with g h
    EXPECT_LT(rest.u.norm() + rest.v.norm(), 1e-17);

    // without impulses every corner falls: natural map u_N = g h at each, relative error 1
    EXPECT_NEAR(relative_errors(problem, VecX::Zero(12), VecX()).contacts, 1, 1e-15);

    Random random(3);
    p += 0.01 * random.vector(12);
    const double error = relative_errors(problem, p, VecX()).contacts;
    const DelassusProblem local = to_delassus(problem);
    EXPECT_NEAR(relative_errors(local, p).contacts, error, 1e-13 * error);
    EXPECT_NEAR(relative_error(local, p), error, 1e-13 * error);
    EXPECT_NEAR(relative_errors(local, p).natural, relative_errors(problem, p, VecX()).natural, 1e-13);
    DelassusProblem other = local;  // millimetres and grams
    for (double& x : other.W.values) x *= 1e3 / 1e3 * 7;
    other.q *= 1e3;
    EXPECT_NEAR(relative_errors(other, 1e3 / 7 * p).contacts, error, 1e-13 * error);
}

TEST(RelativeErrors, JointsCountAndBoxesAreTheirNaturalMaps) {
    StepProblem problem = random_problem(9, 3, true, true);
    Random random(4);
    const VecX p = random.vector(problem.contacts.jacobian.rows()), lambda = random.vector(3);
    const MatX A = problem.A.dense(), G = problem.joints.jacobian.dense(problem.nodes()),
               H = problem.contacts.jacobian.dense(problem.nodes());
    const VecX q = H * A.lu().solve(problem.r) + problem.c.vec();
    const VecX v = A.lu().solve(problem.r + H.transpose() * p + G.transpose() * lambda);
    const RelativeError error = relative_errors(problem, p, lambda);
    EXPECT_NEAR(error.scale, q.norm(), 1e-12 * q.norm());
    EXPECT_NEAR(error.joints, (G * v - problem.b.vec()).norm() / q.norm(), 1e-12 * error.joints);
    problem.lower.setConstant(3, 0.0);
    problem.upper.setConstant(3, 0.0);  // switched off: only an impulse would be wrong
    EXPECT_LT(relative_errors(problem, p, VecX::Zero(3)).joints, 1e-15);
}

}  // namespace
}  // namespace stickslip
