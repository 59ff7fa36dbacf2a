// Bodies in free flight, alone or in groups that joints and springs hold together: how well the scheme keeps their angular momentum.
// While nothing else touches the group and no load acts on it, its momentum L about its common centre of mass is constant. The
// changes of such steps are summed,
//
//   drift = | sum over free steps of (L1 - L0) | / largest sum of |l|     per group, l: the parts of its bodies, L = sum of l
//
// Energy does not show this error: Moreau-Jean at theta = 1/2 keeps the energy of a spinning body to rounding and turns L. The parts are
// the yardstick because L itself may vanish, as that of two wheels that turn against each other.
// Left out: groups that contacts hold together, whose rows turn with the step in every time-stepping scheme, and linear momentum, which
// every scheme keeps to rounding.
#pragma once

#include <vector>

#include "stickslip/scheme.hpp"

namespace stickslip {

class MomentumWatch {
public:
    struct Worst {
        int body = -1;     // the first of its group; -1: none has been in free flight
        int others = 0;    // in the group
        double drift = 0;  // share of the momentum of its parts
        double t = 0;      // [s] when it was largest
    };

    void see(const System& system, const Step& step);
    const Worst& worst() const { return worst_; }

private:
    struct Group {
        int body = -1;  // its first
        int bodies = 0;
        double mass = 0;
        Vec3 centre = Vec3::Zero(), velocity = Vec3::Zero();
        Vec3 momentum = Vec3::Zero();  // [N m s]
        double parts = 0;              // [N m s]
    };

    int root_of(int node);
    bool find_groups(const System& system, const Step& step);
    void leave_out_loaded(const System& system, const Step& step);
    void measure(const std::vector<BodySpin>& spins, std::vector<Group>& groups);

    struct Sum {
        Vec3 drift = Vec3::Zero();  // [N m s]
        double largest = 0;         // [N m s]
    };
    std::vector<Sum> sums_;                 // by the first body of a group
    std::vector<int> parent_;               // per node: towards the node that stands for its group
    std::vector<char> held_;                // per such node: not in free flight
    std::vector<BodySpin> before_, after_;  // per body
    std::vector<Group> from_, to_;          // per such node
    Forces forces_;
    Worst worst_;
};

}  // namespace stickslip
