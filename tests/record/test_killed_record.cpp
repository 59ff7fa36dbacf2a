// What is left of a record when its writer dies. Two ways: real processes killed at random moments, and a replay of
// every single write that HDF5 makes, cut off after each of them and at each page inside the longer ones.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

#include "base/hdf5_file.hpp"
#include "record/fake_run.hpp"

namespace {

// The writes of this process while `listening`, in order. A write with no bytes is a change of the file's length.
struct Write {
    off_t at;
    std::vector<char> bytes;
};
bool listening = false;
std::vector<Write>* heard = nullptr;

}  // namespace

// Stand before the C library's functions of the same name, which libhdf5 calls.
extern "C" ssize_t pwrite(int fd, const void* data, size_t size, off_t at) {
    if (listening) heard->push_back({at, {static_cast<const char*>(data), static_cast<const char*>(data) + size}});
    return ::syscall(SYS_pwrite64, fd, data, size, at);
}
extern "C" int ftruncate(int fd, off_t size) noexcept {
    if (listening) heard->push_back({size, {}});
    return static_cast<int>(::syscall(SYS_ftruncate, fd, size));
}

namespace stickslip {
namespace {

using namespace testing;

// A record being written step by step, a flush after each.
class Writing {
public:
    Writing(const std::string& file, const FakeRun& run, double flush_every)
        : run_(run),
          model_(run.model()),
          recorder_(make_hdf5_recorder(file, flush_every, [this] { return run_.snapshot(k_); })) {
        run_.fill(0, step_, report_);
        recorder_->begin(model_, model_.state, step_);
    }
    void step() {
        run_.fill(++k_, step_, report_);
        recorder_->write(*model_.system, run_.state(k_), step_, report_);
    }
    void end() { recorder_->end({}); }
    std::uint64_t steps() const { return k_; }

private:
    const FakeRun& run_;
    Model model_;
    std::uint64_t k_ = 0;
    Step step_;
    StepReport report_;
    std::unique_ptr<Recorder> recorder_;
};

std::string check(const std::string& file, const FakeRun& run, std::size_t rows_at_least) {
    try {
        const RecordContents r = read_record(file);
        if (r.t.size() < rows_at_least) return "rows that were flushed are missing";
        if (r.snapshot != run.snapshot(r.t.size() - 1)) return "the snapshot is not that of the last row";
        return compare(run, r);
    } catch (const std::exception& error) {
        return error.what();
    }
}

TEST(KilledRecord, IsWholeUpToTheLastFlushAfterEveryWrite) {
    const Folder folder("killed");
    FakeRun run;
    run.max_contacts = 60;  // a few chunks of contacts within the test
    const std::string file = folder.file("run.h5"), copy = folder.file("copy.h5");
    std::vector<Write> writes;
    heard = &writes;
    std::vector<std::size_t> flushed;  // number of writes when row k was acknowledged
    {
        Writing writing(file, run, 0);
        std::filesystem::copy_file(file, copy);
        listening = true;
        for (int k = 0; k < 14; ++k) {
            writing.step();
            flushed.push_back(writes.size());
        }
        writing.end();
        listening = false;
    }
    ASSERT_GT(writes.size(), 14u * 30) << "the writes of HDF5 are not seen";

    const int fd = ::open(copy.c_str(), O_RDWR);
    ASSERT_GE(fd, 0);
    int states = 0;
    for (std::size_t i = 0; i < writes.size(); ++i) {
        const Write& w = writes[i];
        const std::size_t rows =
            1 + static_cast<std::size_t>(std::upper_bound(flushed.begin(), flushed.end(), i) - flushed.begin());
        if (w.bytes.empty()) {
            ASSERT_EQ(::ftruncate(fd, w.at), 0);
        } else {
            // a kill can stop the system only between two pages
            for (std::size_t done = 0; done < w.bytes.size();) {
                const std::size_t to_page = 4096 - (static_cast<std::size_t>(w.at) + done) % 4096;
                const std::size_t n = std::min(to_page, w.bytes.size() - done);
                ASSERT_EQ(::pwrite(fd, w.bytes.data() + done, n, w.at + static_cast<off_t>(done)),
                          static_cast<ssize_t>(n));
                done += n;
                ++states;
                ASSERT_EQ(check(copy, run, rows), "") << "after " << done << " bytes of write " << i;
            }
        }
        if (i % 97 == 0) {  // and repaired, other programs open it
            const std::string repaired = folder.file("repaired.h5");
            std::filesystem::copy_file(copy, repaired, std::filesystem::copy_options::overwrite_existing);
            ASSERT_FALSE(opens_plainly(repaired));
            ASSERT_TRUE(repair_record(repaired));
            ASSERT_TRUE(opens_plainly(repaired));
            ASSERT_FALSE(repair_record(repaired));
            ASSERT_EQ(check(repaired, run, rows), "");
        }
    }
    ::close(fd);
    EXPECT_GT(states, static_cast<int>(writes.size()) / 2);
    EXPECT_TRUE(read_record(copy).complete);
}

// Runs a writer as fast as it can in a process of its own, kills it after `delay`, and returns the number of rows it
// had acknowledged as flushed. `from_first_row` starts the clock when the record exists.
std::uint64_t kill_a_writer(const std::string& file, const FakeRun& run, double flush_every,
                            std::chrono::microseconds delay, bool from_first_row) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("pipe");
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(ends[0]);
        try {
            Writing writing(file, run, flush_every);
            for (;;) {
                const std::uint64_t rows = flush_every == 0 ? writing.steps() + 1 : 1;
                if (::write(ends[1], &rows, sizeof rows) != sizeof rows) ::_exit(3);
                writing.step();
            }
        } catch (const std::exception& error) {
            std::fprintf(stderr, "writer: %s\n", error.what());
        }
        ::_exit(2);
    }
    ::close(ends[1]);
    std::uint64_t rows = 0, last = 0;
    if (from_first_row && ::read(ends[0], &rows, sizeof rows) == sizeof rows) last = rows;
    // the pipe must not fill up and stop the writer
    const auto until = std::chrono::steady_clock::now() + delay;
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    while (std::chrono::steady_clock::now() < until) {
        while (::read(ends[0], &rows, sizeof rows) == sizeof rows) last = rows;
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself";
    while (::read(ends[0], &rows, sizeof rows) == sizeof rows) last = rows;
    ::close(ends[0]);
    return last;
}

TEST(KilledRecord, IsReadUpToTheLastAcknowledgedFlush) {
    const Folder folder("killed");
    FakeRun run;
    run.max_contacts = 40;
    const std::string file = folder.file("run.h5");
    std::uint64_t most = 0;
    for (std::uint64_t i = 0; i < 20; ++i) {
        std::filesystem::remove(file);
        const auto delay = std::chrono::microseconds(static_cast<long>(60000 * known(i, 1)));
        const double flush_every = i % 4 == 3 ? 0.002 : 0;  // also with many rows per flush
        const std::uint64_t rows = kill_a_writer(file, run, flush_every, delay, true);
        most = std::max(most, rows);
        ASSERT_EQ(check(file, run, rows), "") << "kill " << i;
        ASSERT_FALSE(read_record(file).complete);
        ASSERT_FALSE(opens_plainly(file));
        ASSERT_TRUE(repair_record(file));
        ASSERT_TRUE(opens_plainly(file));
        ASSERT_EQ(check(file, run, rows), "") << "after repair " << i;
        ASSERT_FALSE(repair_record(file));
    }
    EXPECT_GT(most, 5u) << "the writer never got anywhere";
}

// Another process reads again and again while the rows come in.
TEST(KilledRecord, CanBeReadWhileItIsStillAlive) {
    const Folder folder("killed");
    FakeRun run;
    run.max_contacts = 40;
    const std::string file = folder.file("run.h5");
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        try {
            Writing writing(file, run, 0);
            for (;;) writing.step();
        } catch (const std::exception& error) {
            std::fprintf(stderr, "writer: %s\n", error.what());
        }
        ::_exit(2);
    }
    std::size_t rows = 0;
    std::string said;
    for (int i = 0; i < 500 && !std::filesystem::exists(file); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    // The record grows all the while, and with it the time of a reading: some seconds show enough.
    const auto enough = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    for (int i = 0; i < 60 && said.empty() && std::chrono::steady_clock::now() < enough; ++i) {
        try {
            const RecordContents r = read_record(file);
            said = compare(run, r);
            if (r.t.size() < rows) said = "rows went back";
            rows = r.t.size();
            // the snapshot may be younger than the rows, never older
            std::uint64_t k = 0;
            std::memcpy(&k, r.snapshot.data(), sizeof k);
            if (k + 1 < rows || r.snapshot != run.snapshot(k)) said = "snapshot";
        } catch (const std::exception& error) {
            said = error.what();
        }
    }
    EXPECT_THROW(repair_record(file), Error) << "nobody may meddle with a living record";
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(said, "");
    EXPECT_TRUE(repair_record(file));
    EXPECT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself";
    EXPECT_GT(rows, 5u);
}

// Killed while the record is being set up: either there is none yet, or it is a whole one.
TEST(KilledRecord, IsNeverThereInHalf) {
    const Folder folder("killed");
    const FakeRun run;
    const std::string file = folder.file("run.h5");
    for (std::uint64_t i = 0; i < 20; ++i) {
        std::filesystem::remove(file);
        const auto delay = std::chrono::microseconds(static_cast<long>(15000 * known(i, 2)));
        const std::uint64_t rows = kill_a_writer(file, run, 0, delay, false);
        if (!std::filesystem::exists(file)) {
            ASSERT_EQ(rows, 0u);
            continue;
        }
        const std::string said = check(file, run, rows);
        if (rows == 0 && !said.empty()) {
            // between the move to its place and the first row: a record that says so
            ASSERT_NE(said.find("holds nothing yet"), std::string::npos) << said;
            continue;
        }
        ASSERT_EQ(said, "");
    }
}

}  // namespace
}  // namespace stickslip
