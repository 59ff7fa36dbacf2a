// The names of those who answer for islands.
#include <algorithm>

#include "stickslip/solver.hpp"

namespace stickslip {

namespace {

constexpr std::array<const char*, rung_count> rung_names{
    "free",           "rest",        "one-node",   "mode-solve",       "nsgs",        "admm", "path-newton", "lemke",
    "interior-point", "cone-newton", "compliance", "direct-iterative", "block-pivot", "pgs",  "accelerated-gradient", "other"};

}  // namespace

const char* to_string(Rung rung) { return rung_names[static_cast<std::size_t>(rung)]; }

Rung rung_named(std::string_view name) {
    const auto found = std::find(rung_names.begin(), rung_names.end() - 1, name);
    return static_cast<Rung>(found - rung_names.begin());
}

}  // namespace stickslip
