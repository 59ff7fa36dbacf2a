// What runs are compared with.
#pragma once

#include <functional>
#include <vector>

#include "stickslip/load.hpp"
#include "stickslip/study.hpp"

namespace stickslip::study {

// States at the times of comparison; NaN where an entry is not known.
struct Solution {
    StudyReference info;
    std::vector<State> at;                   // as many as times
    std::function<VecX(double t)> velocity;  // v at any time; null: only the states are known
};

// The closed form of a mechanism; throws Error if it has none.
Solution exact_solution(const Model& model, const std::vector<double>& times);

// Nothing to compare with: runs without errors.
Solution no_solution(const std::vector<double>& times);

// The runs of the finest value divided by 8 and by 16; the latter is the solution and their difference its error. Its velocity
// is v_weighted, asked for at `weighted_times` only.
Solution self_solution(const Study& study, const std::vector<double>& times, const std::vector<double>& weighted_times,
                       const std::vector<int>& quaternions, const std::string& scheme, const StudyProgress& progress);

// States of a JSON file, see docs/convergence.md. Throws Error with the place in the file.
Solution file_solution(const Study& study, const Model& model, const std::vector<double>& times);
// The times that a file has states at.
std::vector<double> file_times(const Study& study);

}  // namespace stickslip::study
