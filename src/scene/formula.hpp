// Formulas in scene files: of `let` parameters where a number is expected, of the time t in loads.
//
//   numbers    1e-3  1/60  2^-5, the constant pi
//   operators  + - * / ^ ( ), comparisons, && ||, a ? b : c
//   functions  sin cos tan asin acos atan atan2 sinh cosh tanh exp ln log10 sqrt abs sign min max rint floor mod
//
// mod(a, b) = a - b floor(a/b), so that mod(k, 2) tells even rows from odd ones. The grammar is muparser's. Left out:
// assignments, strings, muparser's other functions, all of which are refused here by name.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scene/yaml_tree.hpp"
#include "stickslip/scene.hpp"

namespace stickslip {

// The names a formula may use: parameters, and the indices of a copy.
struct Names {
    Names(const std::vector<Scene::Parameter>& of, const Indices* with = nullptr) : parameters(of), indices(with) {}

    std::optional<double> find(const std::string& word) const;
    std::vector<std::string> all() const;

    const std::vector<Scene::Parameter>& parameters;
    const Indices* indices;
};

// The text with every parameter replaced by its number; throws on a name that is neither parameter nor function, and
// (when `of_time` is false) on t.
std::string close_formula(const std::string& text, const Names& names, bool of_time, const Place& place);

// A number: the forms of parse_number, or a formula of the parameters. Finite.
double evaluate_number(const std::string& text, const Names& names, const Place& place);

std::vector<std::string> words_of(const std::string& text);  // names and functions in it, in order

// f(t) of a formula as it stands in a Scene; throws Error at its place if it does not parse.
std::function<double(double)> compile_formula(const Scene::Formula& formula);

// Functions that are constant but where the formula may jump; none if it cannot (formula_switches.cpp).
std::vector<std::function<double(double)>> compile_switches(const Scene::Formula& formula);

bool depends_on_time(const std::string& closed);  // whether t occurs
bool is_formula_word(const std::string& name);    // t, pi, sin, ...: not free as a parameter's name
// Throws unless it can be the name of a parameter or an index.
void check_parameter_name(const std::string& name, const char* what, const Place& place);

}  // namespace stickslip
