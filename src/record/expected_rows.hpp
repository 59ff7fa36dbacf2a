// How large a record is going to be.
#pragma once

#include "base/fields.hpp"
#include "stickslip/simulation.hpp"

namespace stickslip {

// How many rows a run is going to record, if its step is what it was told.
inline std::uint64_t expected_rows(const RunSettings& run) {
    double interval = run.record_every;
    for (const OptionValue& option : run.scheme.options)
        if (run.record_every <= 0 && option.key == "step") interval = parse_number(option.text, option.place);
    const double rows = interval > 0 ? run.end / interval : 0;
    return rows > 0 && rows < 1e12 ? static_cast<std::uint64_t>(rows) : 0;
}

}  // namespace stickslip
