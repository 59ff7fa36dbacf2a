// Bodies that joints and touching contacts connect, for diagnoses that look at one group of them at a time.
#pragma once

#include <vector>

#include "stickslip/problem.hpp"

namespace stickslip {

struct ContactIsland {
    std::vector<int> nodes, contacts;
    std::vector<int> joint_rows;  // that hold without bounds: holonomic, and velocity rows with any force
};

// The islands with at least one contact whose gap is at most `touching` [m], by their first node.
std::vector<ContactIsland> contact_islands(const Nodes& nodes, const BilateralRows& joints, const ContactRows& contacts,
                                           double touching);

}  // namespace stickslip
