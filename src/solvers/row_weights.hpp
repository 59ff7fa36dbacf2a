// How much velocity a unit of impulse makes at each row: the scale in which laws are weighed against each other.
//
//   w_j = W_jj           per bilateral row
//   w_i = tr W_ii / dim  per contact, seen through the joints of its bodies: W = H K_J^-1 H', K_J = A + G' (T + 1e-6 w_j)^-1 G
//
// Behind joints the bare mass of a wheel is the wrong scale: the wheel cannot move without the machine. With the scale through the
// joints, splitting methods went from 1e-2 to 4e-5 at equal work on a loader.
#pragma once

#include <vector>

#include "solvers/delassus_rows.hpp"
#include "solvers/step_system.hpp"

namespace stickslip {

class RowWeights {
public:
    bool prepare(const StepProblem& problem);  // false when A is singular
    const std::vector<double>& contact() const { return contact_; }
    const std::vector<double>& joint() const { return joint_; }
    // [m/s] rms over contacts of |H A^-1 r + c|: what the contacts have to stop.
    double speed() const { return speed_; }
    int factorisations() const { return factorisations_; }  // of the last prepare()

    // v = A^-1 (r + G' lambda + H' p)
    void velocity(const StepProblem& problem, const RowVec& lambda, const RowVec& p, VecX& v);

private:
    void look_through_joints(const StepProblem& problem);

    MassInverse inverse_;
    DelassusRows joint_rows_, contact_rows_;
    StepSystem system_;
    std::vector<double> contact_, joint_, joint_B_, contact_B_;
    std::vector<char> jointed_;  // per node
    VecX load_, column_, free_;
    RowVec free_speed_;
    double speed_ = 0;
    int factorisations_ = 0;
};

}  // namespace stickslip
