// Step control is off by default in schemes that also have fixed steps, so EveryScheme does not see it: the same laws with a
// tolerance, on every mechanism and scene. Trials that were thrown away must leave no trace in any of them.
#include <gtest/gtest.h>

#include "laws/lawful_run.hpp"
#include "laws/pairs.hpp"

namespace stickslip {
namespace {

using testing::every_model;
using testing::set;

// Schemes whose option `tol` is 0 by default.
bool may_be_controlled(const std::string& scheme) {
    for (const SchemeEntry& entry : schemes())
        for (const FieldInfo& field : entry.options())
            if (scheme == entry.name && field.name == "tol" && field.default_text == "0") return true;
    return false;
}

class StepControl : public ::testing::TestWithParam<LawfulCase> {};

TEST_P(StepControl, KeepsTheLaws) {
    for (const LawfulPair& pair : GetParam().pairs) {
        SCOPED_TRACE(pair.scheme + " with tol 1e-5 on " + pair.model);
        OptionValues values = pair.values;
        values.push_back(set("scheme.tol", "1e-5"));
        LawfulRun([&] { return load_model(pair.model, values); },
                  {.marks = {1, 10, 50, 100, 150}, .through = 150, .event_times = true, .fewest = 1})
            .expect_all();
        if (HasFatalFailure()) return;
    }
}

std::vector<std::string> controlled_models() {
    std::vector<std::string> models = every_model();
    models.push_back(STICKSLIP_TEST_DATA "/scenes/edits.yaml");
    models.push_back(STICKSLIP_TEST_DATA "/scenes/bricard.yaml");
    return models;
}

INSTANTIATE_TEST_SUITE_P(Laws, StepControl, ::testing::ValuesIn(lawful_cases(controlled_models(), may_be_controlled)),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace stickslip
