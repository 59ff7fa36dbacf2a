// Runs of models and reference values, for tests that judge whole walks by closed forms.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "stickslip/load.hpp"
#include "support/families.hpp"
#include "support/reference.hpp"

namespace stickslip::analytic {

using testing::Reference;
using testing::velocity_level_schemes;
using testing::word_of;

inline constexpr double g = 9.81;  // [m/s^2] of every reference
inline constexpr double pi = 3.14159265358979323846;

inline std::string text_of(double x) {
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", x);
    return text;
}

inline std::string text_of(const Vec3& x) {
    return "[" + text_of(x[0]) + ", " + text_of(x[1]) + ", " + text_of(x[2]) + "]";
}

// --set, in the order given.
class Set {
public:
    Set() = default;
    Set(std::initializer_list<std::pair<std::string, std::string>> list) {
        for (const auto& [key, value] : list) values_.push_back({key, value, {}});
    }
    Set& operator()(const std::string& key, const std::string& value) {
        values_.push_back({key, value, {}});
        return *this;
    }
    Set& operator()(const std::string& key, double value) { return (*this)(key, text_of(value)); }
    operator const OptionValues&() const { return values_; }  // NOLINT: it is one

private:
    OptionValues values_;
};

inline Model mechanism(const std::string& name, const OptionValues& overrides) {
    return load_model("mechanism:" + name, overrides);
}
inline Model scene(const std::string& name, const OptionValues& overrides) {
    return load_model(STICKSLIP_SCENES "/" + name + ".yaml", overrides);
}
inline Model scene_text(const std::string& text, const OptionValues& overrides = {}) {
    return build_model(read_scene_text(text, "scene of a test", overrides));
}

// Runs to the end; a refused run fails the test.
inline RunSummary run(Model model) {
    Simulation simulation(std::move(model));
    RunSummary summary = simulation.run();
    EXPECT_TRUE(summary.end == RunEnd::finished)
        << summary.model << " with " << summary.scheme << ": " << summary.reason;
    EXPECT_TRUE(summary.certified) << summary.model << " with " << summary.scheme;
    return summary;
}

// Order observed between the first and the last of errors whose steps halve: log2 of the mean ratio.
inline double observed_order(const std::vector<double>& errors) {
    return std::log2(errors.front() / errors.back()) / static_cast<double>(errors.size() - 1);
}

// Keeps measured numbers in the report of the test (--gtest_output) and makes them a message.
inline std::string note(const std::string& key, const std::vector<double>& values) {
    std::string text;
    for (const double value : values) {
        char number[32];
        std::snprintf(number, sizeof number, " %.4g", value);
        text += number;
    }
    ::testing::Test::RecordProperty(key, text);
    return key + ":" + text;
}

}  // namespace stickslip::analytic
