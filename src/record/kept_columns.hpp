// A record keeps the columns it began with. An edit may make q longer: new bodies go behind the old ones and new joint
// angles behind the old angles, so the old coordinates keep their names and order.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "stickslip/error.hpp"
#include "stickslip/system.hpp"

namespace stickslip {

class KeptColumns {
public:
    void begin(const System& system) {
        names_ = system.coordinate_names();
        size_ = system.nq();
        place_.clear();
        kept_.resize(static_cast<std::size_t>(system.nq()));
    }
    int count() const { return static_cast<int>(kept_.size()); }

    // count() numbers out of q, valid until the next call.
    const double* of(const System& system, const VecX& q) {
        if (static_cast<std::size_t>(q.size()) == kept_.size()) return q.data();
        if (q.size() != size_ || place_.empty()) find(system, q.size());
        for (std::size_t i = 0; i < place_.size(); ++i) kept_[i] = q[place_[i]];
        return kept_.data();
    }

private:
    void find(const System& system, Eigen::Index size) {
        const std::vector<std::string> now = system.coordinate_names();
        place_.clear();
        std::size_t at = 0;
        for (const std::string& name : names_) {
            while (at < now.size() && now[at] != name) ++at;
            if (at == now.size()) throw Error("the system has lost the coordinate '" + name + "' of its record");
            place_.push_back(static_cast<Eigen::Index>(at++));
        }
        size_ = size;
    }

    std::vector<std::string> names_;
    Eigen::Index size_ = 0;            // of q when place_ was found
    std::vector<Eigen::Index> place_;  // of the kept coordinates in q
    std::vector<double> kept_;
};

}  // namespace stickslip
