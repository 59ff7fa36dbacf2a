#include "stickslip/version.hpp"

#include <fmt/format.h>

namespace stickslip {

const char* version() { return STICKSLIP_VERSION; }

std::string version_details() {
#if defined(__clang__)
    constexpr const char* compiler = "clang++ " __clang_version__;
#else
    constexpr const char* compiler = "g++ " __VERSION__;
#endif
    constexpr const char* arch = STICKSLIP_ARCH;
    return fmt::format("{}, {}, {}", version(), compiler, *arch ? fmt::format("-march={}", arch) : "default -march");
}

}  // namespace stickslip
