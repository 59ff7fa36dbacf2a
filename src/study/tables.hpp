// Words and numbers that all forms of a study share.
#pragma once

#include <string>
#include <vector>

#include "stickslip/study.hpp"

namespace stickslip::study {

const char* cost_name(Cost cost);
double cost_of(const StudyRow& row, Cost cost);
std::string setting_name(const std::string& setting);  // "step" of "run.step"
std::string quoted(const std::string& text);           // as a cell of a CSV file
// Columns as wide as they need to be, numbers to the right.
std::string aligned(const std::vector<std::vector<std::string>>& rows);

}  // namespace stickslip::study
