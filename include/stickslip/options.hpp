// Options as they come in from scene files and --set, and as they are listed by `stickslip list`.
#pragma once

#include <string>
#include <vector>

#include "stickslip/error.hpp"

namespace stickslip {

// key: value as written, with its place for the error message.
struct OptionValue {
    std::string key;
    std::string text;
    Place place;
};
using OptionValues = std::vector<OptionValue>;

// A scheme or solver as it is asked for: its name and its options as written, with their places.
struct Selection {
    std::string name;
    OptionValues options;
    Place place;
};

// One listed option, made from the fields() of an options struct.
struct FieldInfo {
    std::string name, type, unit, help, default_text;
};

}  // namespace stickslip
