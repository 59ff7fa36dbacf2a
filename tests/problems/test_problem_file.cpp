#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>

#include "base/hdf5_file.hpp"
#include "stickslip/error.hpp"
#include "stickslip/problem.hpp"
#include "support/problems.hpp"

namespace stickslip {
namespace {

using namespace testing;
namespace fs = std::filesystem;

// A folder of this test program's own.
class Folder {
public:
    Folder() : path_(fs::temp_directory_path() / ("stickslip-problem-file-" + std::to_string(::getpid()))) {
        fs::create_directories(path_);
    }
    ~Folder() { fs::remove_all(path_); }
    std::string file(const std::string& name) const { return (path_ / name).string(); }

private:
    fs::path path_;
};

template <class List>
std::string bytes(const List& list) {
    std::string text(list.size() * sizeof(list[0]), '\0');
    if (!text.empty()) std::memcpy(text.data(), static_cast<const void*>(list.data()), text.size());
    return text;
}

void expect_same_rows(const BlockRows& a, const BlockRows& b) {
    EXPECT_EQ(a.row, b.row);
    EXPECT_EQ(a.first, b.first);
    EXPECT_EQ(bytes(a.blocks), bytes(b.blocks));
    EXPECT_EQ(bytes(a.values), bytes(b.values));
}

void expect_same_bits(const StepProblem& a, const StepProblem& b) {
    EXPECT_EQ(a.A.nodes, b.A.nodes);
    EXPECT_EQ(a.A.diagonal, b.A.diagonal);
    EXPECT_EQ(bytes(a.A.couplings), bytes(b.A.couplings));
    EXPECT_EQ(bytes(a.A.values), bytes(b.A.values));
    expect_same_rows(a.joints.jacobian, b.joints.jacobian);
    expect_same_rows(a.contacts.jacobian, b.contacts.jacobian);
    EXPECT_EQ(a.joints.id, b.joints.id);
    EXPECT_EQ(a.joints.kind, b.joints.kind);
    EXPECT_EQ(a.joints.impulsive, b.joints.impulsive);
    using Doubles = std::vector<double>;
    for (const auto member :
         {&BilateralRows::value, &BilateralRows::target, &BilateralRows::stiffness, &BilateralRows::damping,
          &BilateralRows::force_lower, &BilateralRows::force_upper, &BilateralRows::bias})
        EXPECT_EQ(bytes(a.joints.*member), bytes(b.joints.*member));
    EXPECT_EQ(a.contacts.id, b.contacts.id);
    EXPECT_EQ(a.contacts.facets, b.contacts.facets);
    for (const Doubles ContactRows::*member :
         {&ContactRows::gap, &ContactRows::friction, &ContactRows::restitution, &ContactRows::bias})
        EXPECT_EQ(bytes(a.contacts.*member), bytes(b.contacts.*member));
    for (const auto member : {&ContactRows::position, &ContactRows::normal, &ContactRows::tangent})
        EXPECT_EQ(bytes(a.contacts.*member), bytes(b.contacts.*member));
    EXPECT_EQ(bytes(a.r), bytes(b.r));
    for (const auto member :
         {&StepProblem::T, &StepProblem::b, &StepProblem::lower, &StepProblem::upper, &StepProblem::S, &StepProblem::c})
        EXPECT_EQ(bytes(a.*member), bytes(b.*member));
}

// Everything a problem can hold, filled with numbers that are all different; couplings, boxes, every cone, and the
// doubles that text formats lose.
StepProblem rich_problem(std::uint32_t seed) {
    Random random(seed);
    RandomProblem recipe;
    recipe.nodes = 5;
    recipe.contacts = 7;
    recipe.joints = 4;
    recipe.polygons_only = false;
    recipe.skew = 0.1;
    StepProblem p = recipe.problem(seed);
    const Nodes& nodes = p.nodes();
    for (const auto& [i, j] : {std::pair{0, 2}, {2, 0}, {3, 1}}) {
        const int offset = static_cast<int>(p.A.values.size());
        const MatX block = 1e-4 * random.matrix(nodes.dof(i), nodes.dof(j));
        p.A.values.insert(p.A.values.end(), block.data(), block.data() + block.size());
        p.A.couplings.push_back({i, j, offset});
    }
    for (auto* list : {&p.joints.value, &p.joints.target, &p.joints.stiffness, &p.joints.damping, &p.joints.bias,
                       &p.contacts.gap, &p.contacts.restitution, &p.contacts.bias})
        for (double& x : *list) x = random.normal();
    for (auto* list : {&p.contacts.position, &p.contacts.normal, &p.contacts.tangent})
        for (Vec3& x : *list) x = random.vector(3);
    for (std::size_t i = 0; i < p.contacts.id.size(); ++i)
        p.contacts.id[i] = {.a = static_cast<std::uint32_t>(i),
                            .b = 0xfffffffeu,
                            .feature = {0x80000001u + static_cast<std::uint32_t>(i), 5}};
    p.joints.kind[1] = RowKind::compliant;
    p.joints.kind[2] = RowKind::friction;
    p.joints.impulsive[2] = 1;
    p.joints.force_lower[2] = -3.5;
    p.T = random.vector(p.joints.size()).cwiseAbs() * 1e-3;
    p.b = random.vector(p.joints.size());
    p.lower[2] = -0.25;
    p.upper[2] = 0.125;
    p.lower[3] = 0.0;
    p.S = random.vector(p.contacts.jacobian.rows()).cwiseAbs() * 1e-4;
    p.c = random.vector(p.contacts.jacobian.rows());
    return p;
}

StepSolution random_solution(const StepProblem& problem, std::uint32_t seed) {
    Random random(seed);
    StepSolution s;
    s.size_to(problem);
    s.v = random.vector(static_cast<int>(s.v.size()));
    s.lambda = random.vector(static_cast<int>(s.lambda.size()));
    s.p = random.vector(static_cast<int>(s.p.size()));
    for (std::size_t i = 0; i < s.modes.size(); ++i) s.modes[i] = static_cast<ContactMode>(i % 3);
    s.warm = true;
    return s;
}

TEST(ProblemFile, ComesBackBitForBit) {
    const Folder folder;
    StepProblem problem = rich_problem(1);
    problem.r[0] = -0.0;
    problem.r[1] = std::numeric_limits<double>::denorm_min();
    problem.c[0] = 1e100;
    problem.b[0] = std::nextafter(1.0, 2.0);
    StepSolution guess = random_solution(problem, 2);
    save_problem(folder.file("a.h5"), problem, &guess);
    StepProblem again = rich_problem(77);  // what was there before must not shine through
    StepSolution guess_again;
    load_problem(folder.file("a.h5"), again, guess_again);
    expect_same_bits(problem, again);
    EXPECT_TRUE(std::isinf(again.upper[0]) && std::isinf(again.joints.force_upper[0]));
    EXPECT_EQ(again.A.couplings.size(), 3u);
    EXPECT_EQ(bytes(guess.v), bytes(guess_again.v));
    EXPECT_EQ(bytes(guess.lambda), bytes(guess_again.lambda));
    EXPECT_EQ(bytes(guess.p), bytes(guess_again.p));
    EXPECT_EQ(guess.modes, guess_again.modes);
    EXPECT_TRUE(guess_again.warm);
}

TEST(ProblemFile, SameProblemGivesTheSameFile) {
    const Folder folder;
    const StepProblem problem = rich_problem(3);
    std::string text[2];
    for (int i = 0; i < 2; ++i) {
        if (i == 1) std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // HDF5 would count seconds
        save_problem(folder.file("a.h5"), problem);
        std::ifstream in(folder.file("a.h5"), std::ios::binary);
        text[i].assign(std::istreambuf_iterator<char>(in), {});
    }
    EXPECT_GT(text[0].size(), 1000u);
    EXPECT_TRUE(text[0] == text[1]);
}

TEST(ProblemFile, WithoutAGuessComesBackCold) {
    const Folder folder;
    const StepProblem problem = rich_problem(4);
    StepSolution cold = random_solution(problem, 5);
    cold.warm = false;
    for (const StepSolution* guess :
         {static_cast<const StepSolution*>(nullptr), static_cast<const StepSolution*>(&cold)}) {
        save_problem(folder.file("a.h5"), problem, guess);
        StepProblem again;
        StepSolution solution = random_solution(problem, 6);
        load_problem(folder.file("a.h5"), again, solution);
        EXPECT_FALSE(solution.warm);
        EXPECT_EQ(solution.v.norm() + solution.lambda.norm() + solution.p.norm(), 0);
        EXPECT_EQ(solution.v.size(), problem.nodes().nv());
    }
}

TEST(ProblemFile, ProblemsWithoutJointsOrContactsAreProblemsToo) {
    const Folder folder;
    ProblemBuilder build;
    build.body(2, Vec3(1, 2, 3), Vec3(1, 0, 0), Vec3::Zero());
    for (const StepProblem& problem : {build.problem(), ProblemBuilder().problem()}) {
        save_problem(folder.file("a.h5"), problem);
        StepProblem again = rich_problem(7);
        StepSolution guess;
        load_problem(folder.file("a.h5"), again, guess);
        expect_same_bits(problem, again);
    }
}

// Dropped contacts leave holes in the values; the blocks still find theirs.
TEST(ProblemFile, DroppedContactsStayDropped) {
    const Folder folder;
    StepProblem problem = BoxOnPlane{}.problem();
    problem.contacts.keep({1, 0, 0, 1});
    problem.size_to_rows();
    save_problem(folder.file("a.h5"), problem);
    StepProblem again;
    StepSolution guess;
    load_problem(folder.file("a.h5"), again, guess);
    EXPECT_EQ(again.contacts.size(), 2);
    EXPECT_EQ((again.contacts.jacobian.dense(again.nodes()) - problem.contacts.jacobian.dense(problem.nodes())).norm(),
              0);
}

// The message of the Error that loading `file` throws; a failure when there is none.
std::string complaint(const std::string& file) {
    StepProblem problem;
    StepSolution guess;
    try {
        load_problem(file, problem, guess);
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find(file), std::string::npos) << error.what();
        return error.what();
    }
    ADD_FAILURE() << "no Error";
    return {};
}

TEST(ProblemFile, WrongFilesAreRefusedByName) {
    const Folder folder;
    EXPECT_NE(complaint(folder.file("missing.h5")).find("No such file"), std::string::npos);
    EXPECT_NE(complaint(fs::path(folder.file("a")).parent_path().string()).find("folder"), std::string::npos);
    std::ofstream(folder.file("text.h5")) << "stickslip: 1\ngravity: [0, 0, -9.81]\n";
    complaint(folder.file("text.h5"));
    std::ofstream(folder.file("empty.h5")).flush();
    complaint(folder.file("empty.h5"));

    Hdf5File foreign(folder.file("foreign.h5"), Hdf5File::Open::create);
    foreign.write<double>("fclib_local/vectors/q", std::array<double, 3>{1, 2, 3});
    foreign.close();
    EXPECT_NE(complaint(folder.file("foreign.h5")).find("FCLIB"), std::string::npos);

    save_solution(folder.file("solution.h5"), rich_problem(8), random_solution(rich_problem(8), 9));
    EXPECT_NE(complaint(folder.file("solution.h5")).find("not a stickslip problem"), std::string::npos);
    EXPECT_THROW(save_problem(folder.file("no/such/folder/a.h5"), rich_problem(8)), Error);
    if (::geteuid() != 0) {  // the superuser may write anywhere
        fs::permissions(folder.file("text.h5"), fs::perms::owner_read);
        EXPECT_THROW(save_problem(folder.file("text.h5"), rich_problem(8)), Error);
    }
}

// A file that HDF5 finds whole but whose numbers do not fit together: node numbers, offsets and sizes are checked
// before anything is computed with them.
TEST(ProblemFile, NumbersThatDoNotFitTogetherAreRefused) {
    const Folder folder;
    const auto spoil = [&](auto change) {
        StepProblem problem = rich_problem(10);
        change(problem);
        save_problem(folder.file("a.h5"), problem);
        EXPECT_NE(complaint(folder.file("a.h5")).find("damaged"), std::string::npos);
    };
    spoil([](StepProblem& p) { p.A.nodes.start[2] = -1; });
    spoil([](StepProblem& p) { p.A.nodes.start.back() = 2000000000; });
    spoil([](StepProblem& p) { p.A.nodes.start.clear(); });
    spoil([](StepProblem& p) { p.A.diagonal.back() = static_cast<int>(p.A.values.size()); });
    spoil([](StepProblem& p) { p.A.diagonal[0] = -4; });
    spoil([](StepProblem& p) { p.A.couplings[1].column_node = 5; });
    spoil([](StepProblem& p) { p.A.couplings[1].offset = 1 << 30; });
    spoil([](StepProblem& p) { p.r.conservativeResize(p.r.size() - 1); });
    spoil([](StepProblem& p) { p.contacts.jacobian.blocks[0].node = 99; });
    spoil([](StepProblem& p) { p.contacts.jacobian.blocks.back().offset += 1; });
    spoil([](StepProblem& p) { p.contacts.jacobian.row[1] = 4; });
    spoil([](StepProblem& p) { p.contacts.jacobian.first.pop_back(); });
    spoil([](StepProblem& p) { p.joints.jacobian.first.back() = 1000; });
    spoil([](StepProblem& p) { p.joints.kind[0] = static_cast<RowKind>(9); });
    spoil([](StepProblem& p) { p.joints.damping.pop_back(); });
    spoil([](StepProblem& p) { p.contacts.facets[0] = 3; });
    spoil([](StepProblem& p) { p.contacts.normal.pop_back(); });
    spoil([](StepProblem& p) { p.S.resize(p.S.size() + 1); });
    spoil([](StepProblem& p) { p.upper.resize(0); });
}

// A file whose sizes fit but whose numbers nobody can compute with, each refused by its name.
TEST(ProblemFile, NumbersThatNobodyCanComputeWithAreRefusedByName) {
    const Folder folder;
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    const auto spoil = [&](const char* named, auto change) {
        StepProblem problem = rich_problem(20);
        change(problem);
        save_problem(folder.file("a.h5"), problem);
        const std::string words = complaint(folder.file("a.h5"));
        EXPECT_NE(words.find(named), std::string::npos) << named << ": " << words;
    };
    spoil("joints/lower[3] = 2 is above joints/upper[3] = 1", [](StepProblem& p) { p.lower[3] = 2, p.upper[3] = 1; });
    spoil("'joints/lower' entry 1 is nan", [&](StepProblem& p) { p.lower[1] = nan; });
    spoil("'joints/upper' entry 2 is nan", [&](StepProblem& p) { p.upper[2] = nan; });
    spoil("leave no number", [](StepProblem& p) { p.lower[0] = p.upper[0] = infinity; });
    spoil("leave no number", [](StepProblem& p) { p.lower[0] = p.upper[0] = -infinity; });
    spoil("'joints/T' entry 0 is -0.5", [](StepProblem& p) { p.T[0] = -0.5; });
    spoil("'contacts/S' entry 4 is -1", [](StepProblem& p) { p.S[4] = -1; });
    spoil("'contacts/friction' entry 2 is -0.25", [](StepProblem& p) { p.contacts.friction[2] = -0.25; });
    spoil("'contacts/friction' entry 2 is inf", [](StepProblem& p) { p.contacts.friction[2] = infinity; });
    spoil("'r' entry 3 is nan", [&](StepProblem& p) { p.r[3] = nan; });
    spoil("'joints/b' entry 1 is 1e+101", [](StepProblem& p) { p.b[1] = 1e101; });
    spoil("'contacts/c' entry 2 is -inf", [](StepProblem& p) { p.c[2] = -infinity; });
    spoil("'contacts/values' entry 7 is 1e+308", [](StepProblem& p) { p.contacts.jacobian.values[7] = 1e308; });
    spoil("'joints/values' entry 0 is inf", [](StepProblem& p) { p.joints.jacobian.values[0] = infinity; });
    spoil("'A/values' entry 1 is nan", [&](StepProblem& p) { p.A.values[1] = nan; });
    spoil("the block of node 0 has 1e-200 on its diagonal, too small", [](StepProblem& p) { p.A.values[p.A.diagonal[0]] = 1e-200; });
    spoil("the block of node 1 has no positive definite", [](StepProblem& p) { p.A.values[p.A.diagonal[1]] *= -1; });
    spoil("the block of node 2 has no positive definite", [](StepProblem& p) {
        const int dof = p.nodes().dof(2);  // two equal rows and columns: singular
        double* block = p.A.values.data() + p.A.diagonal[2];
        for (int i = 0; i < dof; ++i) block[i + dof] = block[i];
        for (int j = 0; j < dof; ++j) block[1 + j * dof] = block[j * dof];
    });
    spoil("the whole matrix has no positive definite", [](StepProblem& p) {
        for (const BlockMatrix::Coupling& c : p.A.couplings)
            for (int i = 0; i < p.nodes().dof(c.row_node) * p.nodes().dof(c.column_node); ++i)
                p.A.values[static_cast<std::size_t>(c.offset + i)] = 1e4;
    });
    spoil("'A/coupling' names the nodes 0 and 2 twice", [](StepProblem& p) { p.A.couplings[2] = p.A.couplings[0]; });
}

// What HDF5 would open elsewhere when it is asked for an array.
TEST(ProblemFile, NothingOutsideTheFileIsOpened) {
    ASSERT_EQ(std::system("/usr/bin/python3 -c 'import numpy, h5py'"), 0) << "install-deps test brings h5py";
    const Folder folder;
    const std::string file = folder.file("a.h5"), other = folder.file("other.h5");
    struct Case {
        const char *named, *code;
    };
    for (const Case& c :
         {Case{"'r' is a link to another file", "del f['r']; f['r'] = h5py.ExternalLink(other, '/r')"},
          Case{"is a link to another file", "del f['contacts']; f['contacts'] = h5py.ExternalLink(other, '/contacts')"},
          Case{"'r' is a link to another file",
               "del f['r']; f['out'] = h5py.ExternalLink(other, '/'); "
               "f['r'] = h5py.SoftLink('/out/r')"},
          Case{"'r' keeps its numbers in another file",
               "n = f['r'].shape; del f['r']; f.create_dataset('r', n, 'f8', external=[(other, 0, 8 * n[0])])"},
          Case{"'r' keeps its numbers in another file",
               "n = f['r'].shape; del f['r']; l = h5py.VirtualLayout(n, 'f8'); "
               "l[:] = h5py.VirtualSource(other, 'r', n); f.create_virtual_dataset('r', l)"},
          Case{"claims 1000000000 numbers", "del f['r']; f.create_dataset('r', (10**9,), 'f8', chunks=(8,))"}}) {
        save_problem(file, rich_problem(21));
        save_problem(other, rich_problem(21));
        const std::string line = "/usr/bin/python3 -c \"import h5py; other = '" + other + "'; f = h5py.File('" + file +
                                 "', 'r+'); " + c.code + "; f.close()\"";
        ASSERT_EQ(std::system(line.c_str()), 0) << c.code;
        const std::string words = complaint(file);
        EXPECT_NE(words.find(c.named), std::string::npos) << c.code << ": " << words;
    }
}

// Damage of any kind, anywhere in the file: an Error, or (where the bytes mean nothing, such as the space between
// HDF5's pieces) the same problem; never a crash and never other numbers.
TEST(ProblemFile, DamagedFilesAreRefusedOrHarmless) {
    const Folder folder;
    const StepProblem problem = rich_problem(11);
    const StepSolution guess = random_solution(problem, 12);
    save_problem(folder.file("a.h5"), problem, &guess);
    std::ifstream in(folder.file("a.h5"), std::ios::binary);
    const std::string whole((std::istreambuf_iterator<char>(in)), {});

    Random random(13);
    const std::string file = folder.file("b.h5");
    int refused = 0;
    for (int i = 0; i < 200; ++i) {
        std::string text = whole;
        const int size = static_cast<int>(text.size());
        const auto spoil = [&](int at) { text[at] ^= static_cast<char>(1 + random.below(255)); };
        if (i % 4 == 0)
            text.resize(static_cast<std::size_t>(random.below(size)));
        else if (i % 4 == 1)
            spoil(random.below(200));  // superblock, its extension, the root group
        else
            for (int k = i % 4 == 2 ? 1 : 30; k > 0; --k) spoil(random.below(size));
        std::ofstream(file, std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size()));
        StepProblem again;
        StepSolution guess_again;
        try {
            load_problem(file, again, guess_again);
            expect_same_bits(problem, again);
            EXPECT_EQ(bytes(guess.p), bytes(guess_again.p));
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find(file), std::string::npos) << error.what();
            ++refused;
        }
    }
    EXPECT_GT(refused, 100);
}

TEST(SolutionFile, HoldsImpulsesAndContactVelocitiesAsFclibDoes) {
    const Folder folder;
    const StepProblem problem = rich_problem(14);
    const StepSolution solution = random_solution(problem, 15);
    save_solution(folder.file("s.h5"), problem, solution);
    const Hdf5File file(folder.file("s.h5"), Hdf5File::Open::read);
    EXPECT_EQ(bytes(file.read<double>("solution/r")), bytes(solution.p));
    EXPECT_EQ(bytes(file.read<double>("solution/v")), bytes(solution.v));
    EXPECT_EQ(bytes(file.read<double>("solution/l")), bytes(solution.lambda));
    const std::vector<double> u = file.read<double>("solution/u");
    const VecX expected = problem.contacts.jacobian.dense(problem.nodes()) * solution.v +
                          problem.S.vec().cwiseProduct(solution.p.vec()) + problem.c.vec();
    ASSERT_EQ(static_cast<Eigen::Index>(u.size()), expected.size());
    EXPECT_LT((VecX::Map(u.data(), expected.size()) - expected).cwiseAbs().maxCoeff(), 1e-13);
}

// What tests/checks/residual.py prints for the two files; empty when there is no Python with h5py here.
std::string run_script(const std::string& problem, const std::string& solution) {
    const std::string script = (fs::path(STICKSLIP_TEST_DATA).parent_path() / "checks" / "residual.py").string();
    const std::string command = "/usr/bin/python3 '" + script + "' '" + problem + "' '" + solution + "' 2>&1";
    std::string text;
    std::FILE* pipe = ::popen(command.c_str(), "r");
    if (!pipe) return {};
    std::array<char, 4096> buffer;
    for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) text.append(buffer.data(), n);
    ::pclose(pipe);
    return text;
}

double number(const std::string& json, const std::string& key) {
    const std::size_t at = json.find("\"" + key + "\": ");
    EXPECT_NE(at, std::string::npos) << json;
    return at == std::string::npos ? 0 : std::atof(json.c_str() + at + key.size() + 4);
}

// Two programs in two languages, one definition: points far from any solution, where every branch of the cones and
// boxes is taken, must measure the same.
TEST(ResidualScript, AgreesWithTheLibrary) {
    if (std::system("/usr/bin/python3 -c 'import numpy, h5py' >/dev/null 2>&1") != 0) GTEST_SKIP() << "no h5py";
    const Folder folder;
    const std::string a = folder.file("a.h5"), s = folder.file("s.h5");
    for (std::uint32_t seed = 20; seed < 28; ++seed) {
        StepProblem problem = rich_problem(seed);
        if (seed % 4 == 3) problem.contacts.facets.assign(problem.contacts.facets.size(), 2);
        StepSolution solution = random_solution(problem, seed + 100);
        if (seed % 2 == 0)  // inside the cones and boxes too, not only beyond them
            for (int i = 0; i < problem.contacts.size(); ++i) solution.p[problem.contacts.jacobian.row[i]] += 3;
        save_problem(a, problem);
        save_solution(s, problem, solution);
        const std::string json = run_script(a, s);
        const Residual here = residual(problem, solution);
        // both sum some dozens of products; A_nn has condition numbers up to about 10
        EXPECT_NEAR(number(json, "dynamics"), here.dynamics, 1e-12 * here.dynamics);
        EXPECT_NEAR(number(json, "joints"), here.joints, 1e-12 * here.joints);
        EXPECT_NEAR(number(json, "contacts"), here.contacts, 1e-12 * here.contacts);
        EXPECT_LT(number(json, "u_difference"), 1e-13);
    }
    // and near a solution, where almost everything cancels
    const BoxOnPlane scene;
    const StepProblem problem = scene.problem();
    StepSolution solution;
    solution.size_to(problem);
    for (int i = 0; i < 4; ++i) solution.p[3 * i] = scene.mass * 9.81 * scene.step / 4;
    save_problem(a, problem);
    save_solution(s, problem, solution);
    EXPECT_LT(number(run_script(a, s), "max"), 1e-16);
    solution.p[4] = 1.25 * scene.mu * solution.p[3];
    save_solution(s, problem, solution);
    EXPECT_NEAR(number(run_script(a, s), "contacts"), residual(problem, solution).contacts, 1e-14);
    EXPECT_GT(number(run_script(a, s), "contacts"), 1e-4);
}

}  // namespace
}  // namespace stickslip
