// Bodies in free flight: how well the scheme keeps their angular momentum. While nothing touches a body and no load turns it, its
// momentum L about its centre of mass is constant. The changes of such steps are summed,
//
//   drift = | sum over free steps of (L1 - L0) | / largest |L|        per body
//
// Energy does not show this error: Moreau-Jean at theta = 1/2 keeps the energy of a spinning body to rounding and turns L.
// Left out: groups of bodies that hold each other, and linear momentum, which every scheme keeps to rounding.
#pragma once

#include <vector>

#include "stickslip/scheme.hpp"

namespace stickslip {

class MomentumWatch {
public:
    struct Worst {
        int body = -1;     // none has been in free flight
        double drift = 0;  // share of its largest momentum
        double t = 0;      // [s] when it was largest
    };

    void see(const System& system, const Step& step);
    const Worst& worst() const { return worst_; }

private:
    bool mark_touched(const System& system, const Step& step);

    struct Body {
        Vec3 drift = Vec3::Zero();  // [N m s]
        double largest = 0;         // [N m s]
    };
    std::vector<Body> bodies_;   // by BodySpin::body
    std::vector<char> touched_;  // per node, in the step at hand
    std::vector<BodySpin> before_, after_;
    Forces forces_;
    Worst worst_;
};

}  // namespace stickslip
