#include "simulation/load_watch.hpp"

#include <cmath>

#include "model/forces/unseen.hpp"

namespace stickslip {

void LoadWatch::note(const Step& step, std::string who) {
    if (++steps_ > 1) return;
    t_ = step.t0;
    h_ = step.t1 - step.t0;
    who_ = std::move(who);
}

bool LoadWatch::hasty_load(const System& system, const Step& step) {
    const double h = step.t1 - step.t0;
    size_.setZero(step.v0.size());
    const auto look = [&](double t, VecX& at) {
        system.forces(t, step.q0, step.v0, forces_);
        at = forces_.applied;
        size_ = size_.cwiseMax(at.cwiseAbs());
    };
    look(std::nextafter(step.t0, infinity), first_);
    look(0.5 * (step.t0 + step.t1), middle_);
    look(std::nextafter(step.t1, -infinity), last_);
    if (first_ == middle_ && first_ == last_) return false;  // it does not depend on time
    for (const double c : unseen_places) {
        system.forces(step.t0 + c * h, step.q0, step.v0, forces_);
        for (Eigen::Index i = 0; i < size_.size(); ++i) {
            const double value = forces_.applied[i];
            const double off = std::abs(value - parabola(c, first_[i], middle_[i], last_[i]));
            if (off > unseen_share * std::max(size_[i], std::abs(value))) return true;
        }
    }
    return false;
}

void LoadWatch::see(const System& system, const Step& step, bool averages) {
    if (!(step.t1 > step.t0) || step.v0.size() != system.nv()) return;
    if (std::string drive = system.hasty_drive(step.t0, step.t1); !drive.empty()) return note(step, std::move(drive));
    if (!system.loads_vary()) return;
    if (averages ? step.terms.load_doubt > unseen_share : hasty_load(system, step)) note(step, "a load");
}

}  // namespace stickslip
