// The schemes by kind. Tests that walk all of them do so family by family: a family on a model is one test.
#pragma once

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "stickslip/scheme.hpp"

namespace stickslip::testing {

struct SchemeFamily {
    std::string name;
    std::vector<std::string> schemes;
    friend std::ostream& operator<<(std::ostream& out, const SchemeFamily& family) { return out << family.name; }
};

// Every scheme of the table is in exactly one family. A scheme that no line names is a family of its own.
inline std::vector<SchemeFamily> scheme_families() {
    std::vector<SchemeFamily> families{
        {"velocity_level", {"moreau-jean", "euler"}},
        {"position_level", {"stewart-trinkle", "schatzman-paoli"}},
        {"linearly_implicit", {"trapezoidal", "alpha-gamma", "linear-implicit-euler"}},
        {"half_explicit", {"hem5", "phem56", "hem4", "hem3"}},
        {"explicit", {"dopri5", "rkf45", "rk4"}},
        {"implicit", {"generalized-alpha", "rattle"}},
        {"hybrid", {"hybrid"}},
    };
    for (const SchemeEntry& entry : schemes()) {
        const bool named = std::any_of(families.begin(), families.end(), [&](const SchemeFamily& family) {
            return std::find(family.schemes.begin(), family.schemes.end(), entry.name) != family.schemes.end();
        });
        if (!named) families.push_back({entry.name, {entry.name}});
    }
    return families;
}

// Schemes that keep joints and contacts at the level of velocities, with steps of one size: closed forms of a step hold in both.
inline const std::vector<std::string>& velocity_level_schemes() {
    static const std::vector<std::string> names = scheme_families().front().schemes;
    return names;
}

// A name as the name of a test may have it.
inline std::string word_of(std::string name) {
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

}  // namespace stickslip::testing
