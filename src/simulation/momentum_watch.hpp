// Bodies in free flight, alone or in groups that joints, springs and contacts among themselves hold together: how well the scheme keeps
// their momentum. While nothing else touches the group and no load acts on it, weight alone changes its linear momentum, and
// its angular momentum L about the common centre of mass is constant:
//
//   drift of P = | sum over free steps of (P1 - P0 - h F) | / largest sum of (|m v| + h |F|)     F: the weight
//   drift of L = | sum over free steps of (L1 - L0) | / largest sum of |l|                       l: of the bodies, L = sum of l
//
// per group, the largest over the run. Energy does not show these errors: Moreau-Jean at theta = 1/2 keeps the energy of a spinning
// body to rounding and turns L. The parts are the yardstick because P and L may vanish, as those of two wheels that turn against
// each other.
//
// A collision in flight changes L in schemes that neither stop at it nor move the whole step with the velocity of its end. The impulse
// acts where the bodies were at the start of the step: with mu the reduced mass and u the relative velocity,
//
//   L1 - L0 = h / 2 mu u0 x u1       (Moreau-Jean, theta = 1/2),   up to h |u| / 2 per lever arm
//
// which is as large a share as the overlap is of the size. Steps of groups in which a contact pressed are therefore summed apart.
//
// Left out: planar bodies and mechanisms, which tell no spins, and groups pushed by loads.
#pragma once

#include <vector>

#include "math/node_groups.hpp"
#include "stickslip/scheme.hpp"

namespace stickslip {

// Momentum of free bodies, as a share of its largest, from which on a run is doubted. If smaller, tumbling bodies with ordinary steps
// are doubted; if larger, axes point visibly elsewhere.
inline constexpr double momentum_share = 0.01;

class MomentumWatch {
public:
    struct Worst {
        int body = -1;     // the first of its group; -1: none has been in free flight
        int others = 0;    // in the group
        double drift = 0;  // share of the momentum of its parts
        double t = 0;      // [s] when it was largest,
        double since = 0;  // [s] and when it first was above momentum_share
        double h = 0;      // [s] the longest step
    };

    void see(const System& system, const Step& step);
    Worst linear() const { return worst_of(linear_); }
    Worst angular() const { return worst_of(angular_); }
    Worst colliding() const {
        return worst_of(colliding_);
    }  // angular, of steps in which contacts inside the group pressed

private:
    struct Group {
        int body = -1;  // its first
        int bodies = 0;
        double mass = 0;
        Vec3 centre = Vec3::Zero(), velocity = Vec3::Zero();  // times mass
        Vec3 spin = Vec3::Zero();                             // [N m s] angular momentum about its centre
        double pushes = 0, spins = 0;                         // [N s], [N m s] sums over the parts
    };
    // Of one kind of momentum of the groups that began with this body.
    struct Sum {
        Vec3 drift = Vec3::Zero();
        double worst = 0;    // largest |drift|,
        double t = 0;        // [s] when,
        int others = 0;      // and in what company
        double largest = 0;  // of the parts
        double since = infinity;  // [s] from when on above momentum_share
        double h = 0;             // [s] the longest step

        void add(const Vec3& change, double parts, const Step& step, int bodies);
    };

    bool find_groups(const System& system, const Step& step);
    void find_forces(const System& system, const Step& step);
    void measure(const std::vector<BodySpin>& spins, std::vector<Group>& groups);
    static Worst worst_of(const std::vector<Sum>& sums);

    std::vector<Sum> linear_, angular_, colliding_;  // by the first body of a group
    NodeGroups groups_;
    std::vector<char> held_, pressed_;               // per such node: not in free flight; contacts inside it pressed
    std::vector<char> pushed_, turned_;              // per such node: loads push it, turn it
    std::vector<Vec3> weight_;                       // [N] per such node
    std::vector<Vec3> force_;                        // [N] per body: as it was in the step before
    std::vector<BodySpin> before_, after_;           // per body
    VecX q_seen_, v_seen_;                           // of after_
    std::vector<Group> from_, to_;                   // per such node
    Forces forces_;
};

}  // namespace stickslip
