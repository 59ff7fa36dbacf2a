#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cmath>
#include <csignal>
#include <fstream>
#include <limits>
#include <numeric>

#include "base/hdf5_file.hpp"
#include "record/fake_run.hpp"
#include "record/record_layout.hpp"

namespace stickslip {
namespace {

using namespace testing;

TEST(Hdf5Recorder, EverythingComesBackBitForBit) {
    const Folder folder("record");
    const FakeRun run;
    std::uint64_t k = 0;
    const auto recorder = make_hdf5_recorder(folder.file("run.h5"), 1e9, [&] { return run.snapshot(k); });
    const Model model = record(*recorder, run, 700);  // several chunks of every array
    k = 42;
    RunSummary summary;
    summary.hash = "0123456789abcdef";
    recorder->end(summary);

    const RecordContents r = read_record(folder.path());  // the folder is as good as the file
    EXPECT_EQ(r.t.size(), 701u);
    EXPECT_EQ(compare(run, r), "");
    EXPECT_TRUE(r.complete);
    EXPECT_EQ(r.hash, summary.hash);
    EXPECT_EQ(r.snapshot, run.snapshot(42));
    EXPECT_EQ(r.model, "fake");
    EXPECT_EQ(r.source, run.model().source);
    EXPECT_FALSE(r.version.empty());
    EXPECT_EQ(r.coordinate_names, (std::vector<std::string>{"x", "y", "angle, third"}));
    EXPECT_EQ(r.body_names, std::vector<std::string>{"crate"});
    EXPECT_TRUE(opens_plainly(folder.file("run.h5")));
    EXPECT_FALSE(repair_record(folder.path()));
    EXPECT_FALSE(std::filesystem::exists(folder.file("run.h5.new")));
}

TEST(Hdf5Recorder, DoublesThatTextWouldLoseSurvive) {
    const Folder folder("record");
    const auto recorder = make_hdf5_recorder(folder.file("run.h5"));
    const double odd[] = {std::numeric_limits<double>::quiet_NaN(), -0.0, -infinity,
                          std::numeric_limits<double>::denorm_min(), std::nextafter(1.0, 2.0)};
    Model model = FakeRun().model();
    model.state.q << odd[0], odd[1], odd[2];
    model.state.v << odd[3], odd[4];
    recorder->begin(model, model.state, Step());
    recorder->end({});
    const RecordContents r = read_record(folder.file("run.h5"));
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(same_bits(r.q(i, 0), odd[i]));
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(same_bits(r.v(i, 0), odd[3 + i]));
}

TEST(Hdf5Recorder, BodiesAndUnitsAreInTheFile) {
    const Folder folder("record");
    const FakeRun run;
    const auto recorder = make_hdf5_recorder(folder.file("run.h5"));
    const Model model = record(*recorder, run, 3);
    recorder->end({});
    const Hdf5File file(folder.file("run.h5"), Hdf5File::Open::read);
    std::vector<std::uint64_t> shape;
    const std::vector<double> pose = file.read<double>("bodies/pose", &shape);
    EXPECT_EQ(shape, (std::vector<std::uint64_t>{4, 1, 7}));
    EXPECT_EQ(pose[2 * 7 + 1], run.state(2).q[1]);
    EXPECT_EQ(pose[2 * 7 + 3], 0.5);  // w first
    EXPECT_EQ(pose[2 * 7 + 6], -0.5);
    const std::vector<double> velocity = file.read<double>("bodies/velocity", &shape);
    EXPECT_EQ(shape, (std::vector<std::uint64_t>{4, 1, 6}));
    EXPECT_EQ(velocity[3 * 6 + 4], run.state(3).v[0]);
    for (const char* name :
         {"t", "q", "v", "v_weighted", "t_weighted", "residual", "energy", "bodies/pose", "bodies/velocity",
          "contacts/gap", "contacts/impulse", "reactions/impulse", "events/t", "summary/timers"})
        EXPECT_FALSE(file.text_attribute(name, "unit").empty()) << name;
}

// Uniform motion, steps of 0.03 s, a row every 0.05 s: rows lie on the straight line, none of them at the end of a step.
TEST(Hdf5Recorder, RowsFallOnMultiplesOfTheIntervalWithoutShorteningSteps) {
    const Folder folder("record");
    const auto recorder = make_hdf5_recorder(folder.file("run.h5"));
    const FakeRun run;
    Model model = run.model(0.05);
    VecX speed(2);
    speed << 2, -3;
    State x;
    x.q.setZero(3);
    x.v = speed;
    Step step;
    step.v_weighted = speed;
    recorder->begin(model, x, step);
    const int steps = 11;
    for (int k = 0; k < steps; ++k) {
        step.t0 = x.t, step.q0 = x.q, step.v0 = x.v;
        step.dq = 0.03 * speed;
        x.t = 0.03 * (k + 1);
        model.system->advance(x.q, step.dq);
        step.t1 = x.t, step.q1 = x.q, step.v1 = x.v;
        recorder->write(*model.system, x, step, {});
    }
    recorder->end({});
    const RecordContents r = read_record(folder.file("run.h5"));
    const std::vector<double> expected{0, 0.05, 0.10, 0.15, 0.20, 0.25, 0.30, 0.33};  // and the final state
    ASSERT_EQ(r.t.size(), expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k) {
        EXPECT_NEAR(r.t[k], expected[k], 1e-15);
        EXPECT_NEAR(r.q(0, static_cast<Eigen::Index>(k)), 2 * expected[k], 1e-14);
        EXPECT_NEAR(r.q(1, static_cast<Eigen::Index>(k)), -3 * expected[k], 1e-14);
    }
    EXPECT_EQ(r.steps, steps);
    EXPECT_EQ(r.t.back(), x.t);
    EXPECT_EQ(r.q(0, 7), x.q[0]);
}

// 0.001 is not a double: after many steps t is off its multiple by rounding, and the row must still be that step's.
TEST(Hdf5Recorder, RoundingOfTimeNeitherLosesNorRepeatsRows) {
    const Folder folder("record");
    for (const double h : {1e-3, 1e-3 * (1 + 2e-16), 1e-3 * (1 - 2e-16)}) {
        const auto recorder = make_hdf5_recorder(folder.file("run.h5"), 1e9);
        Model model = FakeRun().model(0.01);
        State x = model.state;
        Step step;
        step.v_weighted = x.v;
        step.dq.setZero(2);
        recorder->begin(model, x, step);
        for (int k = 0; k < 50000; ++k) {
            step.t0 = x.t;
            x.t += h;
            step.t1 = x.t;
            step.q0 = step.q1 = x.q, step.v0 = step.v1 = x.v;
            recorder->write(*model.system, x, step, {});
        }
        recorder->end({});
        const RecordContents r = read_record(folder.file("run.h5"));
        ASSERT_EQ(r.t.size(), 5001u);
        for (std::size_t k = 0; k < r.t.size(); ++k) ASSERT_NEAR(r.t[k], 0.01 * static_cast<double>(k), 1e-9);
        EXPECT_EQ(r.t.back(), x.t);
    }
}

TEST(Hdf5Recorder, AStepLongerThanTheIntervalGivesSeveralRowsWithItsContacts) {
    const Folder folder("record");
    const FakeRun run;
    const auto recorder = make_hdf5_recorder(folder.file("run.h5"));
    Model model = run.model(FakeRun::h / 4);
    Step step;
    StepReport report;
    run.fill(0, step, report);
    recorder->begin(model, model.state, step);
    run.fill(1, step, report);
    step.dq = step.q1.head(2) - step.q0.head(2);
    recorder->write(*model.system, run.state(1), step, report);
    recorder->end({});
    const RecordContents r = read_record(folder.file("run.h5"));
    ASSERT_EQ(r.t.size(), 5u);
    EXPECT_EQ(r.contact_start, (std::vector<std::size_t>{0, 0, 1, 2, 3, 4}));
    EXPECT_NEAR(r.v(0, 2), 0.5 * (run.state(0).v[0] + run.state(1).v[0]), 1e-16);  // linear in between
    EXPECT_EQ(r.q.col(4), run.state(1).q);
    EXPECT_EQ(r.events.size(), run.events(1).size());
}

// Events are kept even where no row is due.
TEST(Hdf5Recorder, EventsOfUnrecordedStepsAreKept) {
    const Folder folder("record");
    const FakeRun run;
    const auto recorder = make_hdf5_recorder(folder.file("run.h5"));
    const Model model = record(*recorder, run, 30, 1000.0);
    recorder->end({});
    const RecordContents r = read_record(folder.file("run.h5"));
    EXPECT_EQ(r.t.size(), 2u);  // start and end
    EXPECT_EQ(r.q.col(1), run.state(30).q);
    EXPECT_EQ(r.contacts.size(), run.contacts(30).size());
    EXPECT_EQ(r.events.size(), 20u);
}

TEST(Hdf5Recorder, ARunningRecordCanBeRead) {
    const Folder folder("record");
    const FakeRun run;
    std::uint64_t at = 0;
    const auto recorder = make_hdf5_recorder(folder.file("run.h5"), 0, [&] { return run.snapshot(at); });
    const Model model = run.model();
    Step step;
    StepReport report;
    run.fill(0, step, report);
    recorder->begin(model, model.state, step);
    for (std::uint64_t k = 1; k <= 40; ++k) {
        run.fill(k, step, report);
        at = k;
        recorder->write(*model.system, run.state(k), step, report);
        const RecordContents r = read_record(folder.file("run.h5"));
        ASSERT_EQ(r.t.size(), k + 1);
        ASSERT_EQ(compare(run, r), "");
        ASSERT_FALSE(r.complete);
        ASSERT_TRUE(r.hash.empty());
        ASSERT_EQ(r.snapshot, run.snapshot(k));
    }
}

// A row every four steps: what the steps between did worst must not be lost.
TEST(Hdf5Recorder, TheWorstStepBetweenTwoRowsIsKept) {
    const Folder folder("record");
    const FakeRun run;
    const auto recorder = make_hdf5_recorder(folder.file("run.h5"));
    Model model = run.model(4 * FakeRun::h);
    Step step;
    StepReport report;
    run.fill(0, step, report);
    recorder->begin(model, model.state, step);
    const std::uint64_t steps = 22;  // the last row is the end of the run, two steps after the row before
    for (std::uint64_t k = 1; k <= steps; ++k) {
        run.fill(k, step, report);
        if (k == 11) step.violation.gap = std::numeric_limits<double>::quiet_NaN();
        recorder->write(*model.system, run.state(k), step, report);
    }
    recorder->end({});
    const RecordContents r = read_record(folder.file("run.h5"));
    ASSERT_EQ(r.t.size(), 7u);
    EXPECT_EQ(r.worst.col(0).norm(), 0);
    for (std::uint64_t row = 1; row < 7; ++row) {
        double residual = 0;
        Vec3 drift = Vec3::Zero();
        for (std::uint64_t k = 4 * (row - 1) + 1; k <= std::min(4 * row, steps); ++k) {
            residual = std::max(residual, run.residual(k));
            drift = drift.cwiseMax(run.drift(k));
        }
        const auto i = static_cast<Eigen::Index>(row);
        EXPECT_EQ(r.worst(0, i), residual) << row;
        EXPECT_TRUE(row == 3 ? std::isnan(r.worst(1, i)) : r.worst(1, i) == drift[0]) << row;  // nothing is worse
        EXPECT_EQ(r.worst(2, i), drift[1]) << row;
        EXPECT_EQ(r.worst(3, i), drift[2]) << row;
    }
}

// Every step that was not certified, whether or not a row was due and whether or not the run has ended.
TEST(Hdf5Recorder, UncertifiedStepsAreListedWithTheirContacts) {
    const Folder folder("record");
    const FakeRun run;
    const auto recorder = make_hdf5_recorder(folder.file("run.h5"), 0);
    const Model model = run.model(1000.0);
    Step step;
    StepReport report;
    run.fill(0, step, report);
    recorder->begin(model, model.state, step);
    const auto write = [&](std::uint64_t k, Status status, int parts) {
        run.fill(k, step, report);
        report.status = status;
        report.t = run.state(k).t;
        report.number = static_cast<long>(k);
        report.parts = parts;
        report.solve.residual = {0, 0, 0.25 * static_cast<double>(k)};
        report.solve.tol = 1e-7;
        report.solve.compliance = parts > 1 ? 1e-5 : 0;
        report.solve.uncertified_contacts = 3;
        report.solve.solver = "nsgs";
        recorder->write(*model.system, run.state(k), step, report);
    };
    for (std::uint64_t k = 1; k <= 9; ++k) write(k, k % 3 == 0 ? Status::not_converged : Status::ok, k == 6 ? 4 : 1);
    const RecordContents r = read_record(folder.file("run.h5"));
    ASSERT_EQ(r.uncertified.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
        const UncertifiedStep& u = r.uncertified[i];
        EXPECT_EQ(u.step, 3 * static_cast<long>(i + 1));
        EXPECT_EQ(u.t, run.state(3 * (i + 1)).t);
        EXPECT_EQ(u.residual, 0.75 * static_cast<double>(i + 1));
        EXPECT_EQ(u.tol, 1e-7);
        EXPECT_EQ(u.substeps, i == 1 ? 4 : 1);
        EXPECT_EQ(u.compliance, i == 1 ? 1e-5 : 0);
        EXPECT_EQ(u.solver, "nsgs");
        EXPECT_EQ(u.contacts, 3);
    }
    EXPECT_EQ(r.uncertified[0].action(), "best point");
    EXPECT_EQ(r.uncertified[1].action(), "one of 4 sub-steps, compliance 1e-05 m/s per N s");
}

TEST(Hdf5Recorder, SettingsBodiesAndSummaryComeBack) {
    const Folder folder("record");
    const FakeRun run;
    Model model = run.model();
    model.run.scheme = {"euler", {{"step", "1e-3", {}}, {"theta", "0.6", {}}}, {}};
    model.run.solver = {"nsgs", {{"tol", "1e-7", {}}}, {}};
    model.run.policy = Policy::budget;
    model.run.budget = {.ms = 2.5, .factorisations = 20};
    model.run.end = 7;
    const auto recorder = make_hdf5_recorder(folder.file("run.h5"));
    Step step;
    StepReport report;
    run.fill(0, step, report);
    recorder->begin(model, model.state, step);
    run.fill(1, step, report);
    recorder->write(*model.system, run.state(1), step, report);
    RunSummary s;
    s.end = RunEnd::refused;
    s.reason = "it did not fit";
    s.warnings = {"bodies overlap", "joints drift"};
    s.cone = "polygon-8";
    s.steps = 5, s.rejected = 1, s.solves = 9, s.certified_steps = 4, s.contacts.max = 3;
    s.wall_s = 0.5, s.step_ms.p99 = 0.25, s.residual.max = 1e-8, s.contacts.mean = 1.5;
    s.gap_violation_max = 1e-3, s.joint_violation.position_max = 2e-3, s.joint_violation.velocity_max = 3e-3;
    s.timers.seconds = {1, 2, 3, 4, 5};
    s.impact_gains.count = 6, s.energy_bound_violations = 7, s.unlocated_events = 8, s.paradox_steps = 2,
    s.substepped = 12;
    std::iota(s.ladder.begin(), s.ladder.end(), 100L);
    s.variation.v = 11.5, s.variation.v_weighted = 4.25, s.impact_gains.energy = 0.125;
    s.verdict = {Trust::refused,
                 {"it did not fit", "joint 'a b' drifts\napart"},
                 {{"refused", 1.0 / 3, 1e-9}, {"joint", infinity, 5e-324}},
                 {"forces are not unique"}};
    recorder->end(s);

    const RecordContents r = read_record(folder.file("run.h5"));
    EXPECT_EQ(r.scheme, "euler");
    EXPECT_EQ(r.scheme_options, "step=1e-3 theta=0.6");
    EXPECT_EQ(r.solver, "nsgs");
    EXPECT_EQ(r.solver_options, "tol=1e-7");
    EXPECT_EQ(r.policy, "budget");
    EXPECT_EQ(r.budget, "ms=2.5 factorisations=20");
    EXPECT_FALSE(r.summary.deterministic);
    EXPECT_EQ(r.summary.substepped, 12);
    EXPECT_TRUE(r.uncertified.empty());
    EXPECT_EQ(r.end, 7);
    EXPECT_EQ(r.tolerance, 1e-7);
    EXPECT_EQ(r.record_every, 0);
    EXPECT_EQ(r.body_pose.rows(), 7);
    EXPECT_EQ(r.body_pose(1, 1), run.state(1).q[1]);
    EXPECT_EQ(r.body_pose(3, 0), 0.5);  // w first
    EXPECT_EQ(r.body_velocity.rows(), 6);
    EXPECT_EQ(r.body_velocity(5, 1), run.state(1).v[1]);
    const RunSummary& back = r.summary;
    EXPECT_EQ(back.ladder, s.ladder);
    EXPECT_EQ(back.end, RunEnd::refused);
    EXPECT_EQ(back.reason, s.reason);
    EXPECT_EQ(back.warnings, s.warnings);
    EXPECT_EQ(back.cone, s.cone);
    EXPECT_EQ(back.steps, 5);
    EXPECT_EQ(back.rejected, 1);
    EXPECT_EQ(back.solves, 9);
    EXPECT_EQ(back.certified_steps, 4);
    EXPECT_FALSE(back.certified);
    EXPECT_EQ(back.contacts.max, 3);
    EXPECT_EQ(back.wall_s, 0.5);
    EXPECT_EQ(back.step_ms.p99, 0.25);
    EXPECT_EQ(back.residual.max, 1e-8);
    EXPECT_EQ(back.contacts.mean, 1.5);
    EXPECT_EQ(back.gap_violation_max, 1e-3);
    EXPECT_EQ(back.joint_violation.position_max, 2e-3);
    EXPECT_EQ(back.joint_violation.velocity_max, 3e-3);
    EXPECT_EQ(back.timers.seconds, s.timers.seconds);
    EXPECT_EQ(back.impact_gains.count, 6);
    EXPECT_EQ(back.energy_bound_violations, 7);
    EXPECT_EQ(back.unlocated_events, 8);
    EXPECT_EQ(back.paradox_steps, 2);
    EXPECT_EQ(back.variation.v, 11.5);
    EXPECT_EQ(back.variation.v_weighted, 4.25);
    EXPECT_EQ(back.impact_gains.energy, 0.125);
    EXPECT_EQ(back.verdict.status, Trust::refused);
    EXPECT_EQ(back.verdict.reasons, (std::vector<std::string>{"it did not fit", "joint 'a b' drifts apart"}));
    EXPECT_EQ(back.verdict.remarks, s.verdict.remarks);
    ASSERT_EQ(back.verdict.grounds.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(back.verdict.grounds[i].kind, s.verdict.grounds[i].kind);
        EXPECT_EQ(back.verdict.grounds[i].value, s.verdict.grounds[i].value);
        EXPECT_EQ(back.verdict.grounds[i].limit, s.verdict.grounds[i].limit);
    }
}

// An exception in the run destroys the recorder without end().
TEST(Hdf5Recorder, WithoutEndTheRowsAreKeptButTheRunIsNotComplete) {
    const Folder folder("record");
    const FakeRun run;
    {
        const auto recorder = make_hdf5_recorder(folder.file("run.h5"), 1e9);
        const Model model = record(*recorder, run, 17);
    }
    const RecordContents r = read_record(folder.file("run.h5"));
    EXPECT_EQ(r.t.size(), 18u);
    EXPECT_EQ(compare(run, r), "");
    EXPECT_FALSE(r.complete);
}

// The state of a refused step is thrown away, its memory is not: a snapshot taken then would mix the two.
TEST(Hdf5Recorder, ARefusedRunKeepsTheSnapshotFromBeforeTheRefusal) {
    const Folder folder("record");
    const FakeRun run;
    std::uint64_t at = 0;
    const auto recorder = make_hdf5_recorder(folder.file("run.h5"), 0, [&] { return run.snapshot(at); });
    at = 5;
    const Model model = record(*recorder, run, 9);
    at = 6;
    RunSummary summary;
    summary.end = RunEnd::refused;
    recorder->end(summary);
    EXPECT_EQ(read_record(folder.file("run.h5")).snapshot, run.snapshot(5));
}

std::string complaint(const std::function<void()>& what) {
    try {
        what();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(Hdf5Recorder, UnwritablePlacesAreNamedWithTheReason) {
    const Folder folder("record");
    const FakeRun run;
    const std::string lost = folder.file("no/such/folder/run.h5");
    const std::string said = complaint([&] { static_cast<void>(record(*make_hdf5_recorder(lost), run, 1)); });
    EXPECT_NE(said.find(lost + ":"), std::string::npos) << said;
    EXPECT_NE(said.find("No such file or directory"), std::string::npos) << said;
    EXPECT_NE(complaint([&] { static_cast<void>(record(*make_csv_recorder(lost), run, 1)); }).find("No such file"),
              std::string::npos);
    EXPECT_NE(complaint([&] { static_cast<void>(record(*make_hdf5_recorder(folder.path()), run, 1)); }),
              "");  // a folder is in the way
    EXPECT_FALSE(std::filesystem::exists(folder.path() + ".new"));
}

// A full disk, played by a limit on the size of files: an Error in the run, and what was flushed before stays good.
TEST(Hdf5Recorder, AFullDiskIsAnErrorAndLosesNothingFlushedBefore) {
    const Folder folder("record");
    const std::string file = folder.file("run.h5");
    const FakeRun run;
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{400000, 400000};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        int answer = 1;
        try {
            const auto recorder = make_hdf5_recorder(file, 0, [&] { return run.snapshot(7); });
            const std::string said = complaint([&] { static_cast<void>(record(*recorder, run, 100000)); });
            if (said.find(file + ":") == std::string::npos || said.find("File too large") == std::string::npos)
                throw std::runtime_error("said: " + said);
            if (complaint([&] { recorder->end({}); }).empty()) throw std::runtime_error("end() pretends");
            // the next run goes on as if nothing had been
            const std::string next = folder.file("next.h5");
            const auto second = make_hdf5_recorder(next);
            const Model model = record(*second, run, 10);
            second->end({});
            if (!compare(run, read_record(next)).empty()) throw std::runtime_error("the next record is wrong");
            answer = 0;
        } catch (const std::exception& error) {
            std::fprintf(stderr, "%s\n", error.what());
        }
        std::exit(answer);  // through HDF5's own clean-up, which must not hang either
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    const RecordContents r = read_record(file);
    EXPECT_GT(r.t.size(), 20u);
    EXPECT_EQ(compare(run, r), "");
    EXPECT_FALSE(r.complete);
}

TEST(ReadRecord, FilesThatAreNoRecordsAreRefusedByName) {
    const Folder folder("record");
    const auto refused = [&](const std::string& file) {
        for (const std::string& said : {complaint([&] { read_record(file); }), complaint([&] { repair_record(file); })})
            EXPECT_NE(said.find(file), std::string::npos) << said;
    };
    refused(folder.file("missing.h5"));
    refused(folder.path());  // a folder without run.h5
    std::ofstream(folder.file("text.h5")) << "t,x\n0,1\n";
    refused(folder.file("text.h5"));
    std::ofstream(folder.file("empty.h5")).flush();
    refused(folder.file("empty.h5"));
    Hdf5File other(folder.file("other.h5"), Hdf5File::Open::create);
    other.write<double>("t", std::vector<double>{1, 2});
    other.close();
    refused(folder.file("other.h5"));
    Hdf5File future(folder.file("future.h5"), Hdf5File::Open::create);
    future.set_attribute("/", "format", "stickslip-record");
    future.set_attribute("/", "format_version", 99);
    future.close();
    EXPECT_NE(complaint([&] { read_record(folder.file("future.h5")); }).find("format 99"), std::string::npos);
}

// Sums of them would overflow, though every checksum is right.
TEST(ReadRecord, CountsThatNoRunCanReachAreRefused) {
    const Folder folder("record");
    const FakeRun run;
    const auto complaint_about = [&](const RunSummary& s) {
        const auto recorder = make_hdf5_recorder(folder.file("run.h5"));
        static_cast<void>(record(*recorder, run, 2));
        recorder->end(s);
        return complaint([&] { read_record(folder.file("run.h5")); });
    };
    RunSummary rungs;
    rungs.ladder[1] = std::numeric_limits<long>::max();
    EXPECT_NE(complaint_about(rungs).find("'summary/ladder' counts 9223372036854775807"), std::string::npos);
    RunSummary solves;
    solves.solves = -1;
    EXPECT_NE(complaint_about(solves).find("'summary/counts' counts"), std::string::npos);
}

// As written before drift, names and settings were: the same arrays without the new ones.
TEST(ReadRecord, RecordsOfRevisionZeroAreStillRead) {
    const Folder folder("record");
    const std::string file = folder.file("run.h5");
    const FakeRun run;
    const auto recorder = make_hdf5_recorder(file);
    const Model model = record(*recorder, run, 9);
    recorder->end({});
    const hid_t id = H5Fopen(file.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    ASSERT_GE(id, 0);
    for (const char* name :
         {"worst", "settings", "t_weighted", "contacts/name_id", "contacts/name_text", "summary/warnings",
          "summary/cone", "events/reason", "contacts/force", "reactions/force", "contacts/unique", "summary/verdict",
          "summary/ladder"})
        ASSERT_GE(H5Ldelete(id, name, H5P_DEFAULT), 0) << name;
    ASSERT_GE(H5Adelete(id, "format_revision"), 0);
    const auto replace = [&](const char* name, hid_t type, hsize_t n, const void* values) {
        ASSERT_GE(H5Ldelete(id, name, H5P_DEFAULT), 0) << name;
        const hid_t space = H5Screate_simple(1, &n, nullptr);
        const hid_t array = H5Dcreate2(id, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        ASSERT_GE(H5Dwrite(array, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0) << name;
        H5Dclose(array);
        H5Sclose(space);
    };
    const std::array<std::uint64_t, old_counts> counts{2, 9, 0, 9, 8, 3};
    const std::array<double, old_figures> figures{1.5};
    replace("summary/counts", H5T_NATIVE_UINT64, counts.size(), counts.data());
    replace("summary/figures", H5T_NATIVE_DOUBLE, figures.size(), figures.data());
    const hid_t commit = H5Dopen2(id, "commit", H5P_DEFAULT);
    Commit slots[2];
    ASSERT_GE(H5Dread(commit, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, slots), 0);
    for (Commit& c : slots) {
        c.names = 0;
        c.check = c.right_check();
    }
    ASSERT_GE(H5Dwrite(commit, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, slots), 0);
    H5Dclose(commit);
    H5Fclose(id);
    const RecordContents r = read_record(file);
    EXPECT_EQ(r.t.size(), 10u);
    EXPECT_TRUE(r.complete);
    EXPECT_EQ(r.worst.size(), 0);
    EXPECT_TRUE(r.t_weighted.empty());
    EXPECT_TRUE(r.reaction_forces.empty());
    ASSERT_FALSE(r.contacts.empty());
    for (const ContactRecord& c : r.contacts) EXPECT_TRUE(std::isnan(c.force[0]));
    for (const Event& e : r.events) EXPECT_EQ(e.reason, SwitchReason::none);
    EXPECT_EQ(r.v_weighted.cols(), 10);
    EXPECT_EQ(r.summary.end, RunEnd::interrupted);
    EXPECT_EQ(r.summary.contacts.max, 3);
    EXPECT_EQ(r.summary.t, 1.5);
    EXPECT_EQ(r.summary.paradox_steps, 0);
    EXPECT_EQ(r.summary.variation.v, 0);
    EXPECT_EQ(r.tolerance, 0);
    EXPECT_TRUE(r.contact_names.empty());
    EXPECT_EQ(contact_name(r, {.a = 3, .b = 4, .feature = {0x1f, 2}}), "shapes 3/4, features 1f/2");
    EXPECT_EQ(r.body_pose(0, 9), run.state(9).q[0]);
}


TEST(ReadRecord, DamagedRecordsDoNotCrashTheReader) {
    const Folder folder("record");
    const FakeRun run;
    const auto recorder = make_hdf5_recorder(folder.file("run.h5"), 0, [&] { return run.snapshot(3); });
    const Model model = record(*recorder, run, 25);
    recorder->end({});
    std::ifstream in(folder.file("run.h5"), std::ios::binary);
    const std::string whole((std::istreambuf_iterator<char>(in)), {});
    int refused = 0;
    for (std::uint64_t i = 0; i < 200; ++i) {
        std::string text = whole;
        const auto place = [&](std::uint64_t j) {
            return static_cast<std::size_t>(known(i, j) * static_cast<double>(text.size()));
        };
        if (i % 4 == 0)
            text.resize(place(0));
        else
            for (std::uint64_t j = 0; j < (i % 4 == 1 ? 1 : 50); ++j) text[place(j)] ^= static_cast<char>(1 + i % 255);
        const std::string file = folder.file("damaged.h5");
        std::ofstream(file, std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size()));
        refused += complaint([&] { read_record(file); }).empty() ? 0 : 1;
    }
    EXPECT_GT(refused, 60);
}

}  // namespace
}  // namespace stickslip
