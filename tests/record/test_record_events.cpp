// Events come back from records as they were.
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

// A change of method that no contact caused has no name, and the summary counts all of them by their reason.
TEST(Hdf5Recorder, ChangesOfMethodComeBackWithTheirReasons) {
    const Folder folder("record");
    const FakeRun run;
    const auto recorder = make_hdf5_recorder(folder.file("run.h5"));
    Model model = run.model();
    Step step;
    StepReport report;
    run.fill(0, step, report);
    recorder->begin(model, model.state, step);
    run.fill(1, step, report);
    step.contacts.clear();
    step.events.clear();
    for (const SwitchReason reason : {SwitchReason::impacts, SwitchReason::closed, SwitchReason::impacts}) {
        Event& e = step.events.emplace_back();
        e.kind = EventKind::method_switch;
        e.contact = reason == SwitchReason::closed ? ContactId{.a = 7, .b = 8} : no_contact;
        e.reason = reason;
    }
    recorder->write(*model.system, run.state(1), step, report);
    recorder->end({});
    const RecordContents r = read_record(folder.path());
    ASSERT_EQ(r.events.size(), 3u);
    EXPECT_EQ(r.events[0].contact, no_contact);
    EXPECT_EQ(r.events[1].reason, SwitchReason::closed);
    ASSERT_EQ(r.contact_names.size(), 1u);
    EXPECT_EQ(r.contact_names[0].id, (ContactId{.a = 7, .b = 8}));
    EXPECT_EQ(r.summary.switches[static_cast<int>(SwitchReason::impacts)], 2);
    EXPECT_EQ(r.summary.switches[static_cast<int>(SwitchReason::closed)], 1);
    EXPECT_EQ(r.summary.switches[static_cast<int>(SwitchReason::open)], 0);
}

// Bytes changed or cut off behind HDF5's back: an Error or a record, never a crash.

}  // namespace
}  // namespace stickslip
