// The parts of a study, as converge and compare put them together: plan, runs, reference, judgement.
#pragma once

#include <string>
#include <vector>

#include "study/errors.hpp"
#include "study/reference.hpp"
#include "study/runs.hpp"

namespace stickslip::study {

struct Plan {
    Model model;                // as the coarsest run has it
    std::vector<double> times;  // [s]
    std::vector<int> quaternions;
    std::vector<std::string> joint_names;
    std::string reference;  // exact, self or a file
    Solution solution;      // not for self, which must know the runs first
};
using Runs = std::vector<Run>;  // one per value

// Throws Error on bad input.
Plan make_plan(const Study& study);
Runs run_all(const Study& study, const Plan& plan, const StudyProgress& progress);
std::vector<double> weighted_times(const Runs& runs);
Convergence judge(const Study& study, const Plan& plan, const Runs& runs, const Solution& solution);

}  // namespace stickslip::study
