// The group `summary` of a record: arrays of fixed size, made when the record begins and overwritten when the run ends, because SWMR
// allows no new attribute by then.
#pragma once

#include "base/hdf5_file.hpp"
#include "stickslip/simulation.hpp"

namespace stickslip {

class SummaryArrays {
public:
    void create(Hdf5File& file);
    void write(const RunSummary& summary);
    void abandon();

private:
    Hdf5Dataset counts_, figures_, timers_, hash_, reason_, warnings_, cone_, verdict_, ladder_, checks_;
};

}  // namespace stickslip
