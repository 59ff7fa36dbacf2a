// Every scheme on every mechanism and scene must keep the laws: the ledger closes, every step is certified and its
// impulses lie in their cones, the same run gives the same bits, a resumed run goes on to the same bits, and nothing
// is allocated in a step. A new scheme, mechanism or scene is tested by being listed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "laws/lawful_run.hpp"
#include "laws/pairs.hpp"
#include "support/count_malloc.hpp"

namespace stickslip {
namespace {

using testing::every_model;
using testing::set;

class EveryScheme : public ::testing::TestWithParam<LawfulCase> {
protected:
    static double step_of(const RunSettings& run) {
        double step = 1e-3;
        for (const OptionValue& option : run.scheme.options)
            if (option.key == "step") step = number(option.text);
        return step;
    }

private:
    static double number(const std::string& text) {
        const auto slash = text.find('/');
        return slash == std::string::npos ? std::stod(text)
                                          : std::stod(text.substr(0, slash)) / std::stod(text.substr(slash + 1));
    }
};

TEST_P(EveryScheme, KeepsTheLaws) {
    for (const LawfulPair& pair : GetParam().pairs) {
        SCOPED_TRACE(pair.scheme + " on " + pair.model);
        LawfulLengths lengths;
        for (long& mark : lengths.marks) mark = std::lround(static_cast<double>(mark) * pair.shortened);
        const auto make = [&] {
            Model model = load_model(pair.model, pair.values);
            model.run.end = std::min(model.run.end, 1500 * pair.shortened * step_of(model.run));
            return model;
        };
        LawfulRun(make, lengths).expect_all();
        if (HasFatalFailure()) return;
    }
}

TEST(EverySolver, AllocatesNothingOnAHeapAfterWarmUp) {
    if (!STICKSLIP_COUNTS_MALLOC) return;
    for (const SolverEntry& solver : solvers()) {
        Simulation simulation(
            load_model(STICKSLIP_TEST_DATA "/scenes/heap.yaml",
                       {set("run.solver", solver.name), set("run.end", "1.2"), set("contacts.cone", "{polygon: 8}")}));
        const std::vector<std::uint8_t> start = simulation.snapshot();
        while (simulation.advance()) {
        }
        simulation.restore(start);
        const long before = testing::allocations;
        while (simulation.advance()) {
        }
        EXPECT_EQ(testing::allocations - before, 0) << solver.name;
        EXPECT_GE(simulation.state().t, 1.2) << solver.name;
    }
}

// Off by default, so EveryScheme does not see it: loops, contacts with joints, a redundant row.
TEST(Projection, AllocatesNothingAndGivesTheSameBitsAgain) {
    for (const std::string scheme : {"moreau-jean", "euler"}) {
        for (const std::string& spec :
             {std::string(STICKSLIP_SCENES "/slider-crank.yaml"), std::string(STICKSLIP_SCENES "/newtons-cradle.yaml"),
              std::string("mechanism:double-pendulum-wall"), std::string(STICKSLIP_TEST_DATA "/scenes/bricard.yaml")}) {
            SCOPED_TRACE(spec + " " + scheme);
            Simulation simulation(
                load_model(spec, {set("run.scheme", scheme), set("scheme.projection", "both"), set("run.end", "0.5")}));
            const std::vector<std::uint8_t> start = simulation.snapshot();
            while (simulation.advance()) {
            }
            const std::string hash = state_hash(simulation.state());
            simulation.restore(start);
            const long before = testing::allocations;
            while (simulation.advance()) {
            }
            if (STICKSLIP_COUNTS_MALLOC) {
                EXPECT_EQ(testing::allocations - before, 0);
            }
            EXPECT_EQ(state_hash(simulation.state()), hash);
            EXPECT_GE(simulation.state().t, 0.5);
            const EnergyLedger& ledger = simulation.step().ledger;
            EXPECT_LT(std::abs(ledger.imbalance()), 1e-12 * ledger.scale());
        }
    }
}

// The shipped models, a heap in which contacts change all the time, edits of every kind, and a loop with a redundant row.
std::vector<std::string> lawful_models() {
    std::vector<std::string> models = every_model();
    models.push_back(STICKSLIP_TEST_DATA "/scenes/heap.yaml");
    models.push_back(STICKSLIP_TEST_DATA "/scenes/edits.yaml");
    models.push_back(STICKSLIP_TEST_DATA "/scenes/bricard.yaml");
    return models;
}

INSTANTIATE_TEST_SUITE_P(Laws, EveryScheme,
                         ::testing::ValuesIn(lawful_cases(lawful_models(), [](const std::string&) { return true; })),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace stickslip
