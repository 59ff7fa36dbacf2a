// Words and numbers that all forms of a study share.
#pragma once

#include <string>

#include "stickslip/study.hpp"

namespace stickslip::study {

const char* cost_name(Cost cost);
double cost_of(const StudyRow& row, Cost cost);
std::string setting_name(const std::string& setting);  // "step" of "run.step"

}  // namespace stickslip::study
