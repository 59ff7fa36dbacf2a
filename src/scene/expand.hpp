// `repeat` and `grid`: templates in bodies, joints and forces become their copies, in place, so that the order of
// things is that of the file.
//
//   "link-{i:02}": {repeat: {i: n}, pose: [(i - 1/2)*l, 0, 0], ...}            i = 1, 2, ..., n
//   "brick-{i}-{k}": {grid: {k: 1..rows, i: 1..rows - k + 1}, ...}             the last index runs fastest
//
// A range may use parameters and the indices before it. {formula} in a name or a word becomes that whole number,
// {formula:0N} with at least N digits; in numbers the indices are names like parameters.
#pragma once

#include "scene/include.hpp"
#include "stickslip/scene.hpp"

namespace stickslip {

bool may_hold_templates(const std::string& section);

bool is_template(const YamlNode& thing);

// Throws Error for ranges that are no ranges, names that are equal, copies without number.
void expand_templates(YamlNode& root, const std::vector<Scene::Parameter>& parameters, const SceneLimits& limits);

// Calls `read`; what it throws about a copy says which one.
template <class F>
void tell_copy(const YamlNode& thing, F&& read);
[[noreturn]] void throw_about_copy(const Error& e, const Indices& indices);

template <class F>
void tell_copy(const YamlNode& thing, F&& read) {
    if (!thing.indices) return read();
    try {
        read();
    } catch (const Error& e) {
        throw_about_copy(e, *thing.indices);
    }
}

}  // namespace stickslip
