// Options listed once: a struct with `template <class F> void fields(F&& f)` calling
// f(name, member, unit, help) for each option. From that listing come reading, help texts and error messages.
//
// Members may be double, int, bool, std::string, a Choice or FromScene (below).
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "stickslip/error.hpp"
#include "stickslip/options.hpp"
#include "stickslip/tolerances.hpp"

namespace stickslip {

// A word out of a fixed list; `index` is what code compares with an enum.
struct Choice {
    std::vector<std::string> words;
    int index = 0;
    const std::string& word() const { return words[index]; }
};

// A number that goes with the sizes in run.tolerances unless the user gives it, in SI units.
struct FromScene {
    double Tolerances::*tolerance;
    std::optional<double> given;
    double in(const Tolerances& scene) const { return given ? *given : scene.*tolerance; }
    // True where nothing is given.
    bool holds(bool (*rule)(double)) const { return !given || rule(*given); }
};

// Numbers as users write them: "1e-3", "0.5", "1/60", "2^-5", "inf". Throws Error at `place`.
double parse_number(const std::string& text, const Place& place);
int parse_integer(const std::string& text, const Place& place);
bool parse_bool(const std::string& text, const Place& place);

inline const char* type_name(double) { return "number"; }
inline const char* type_name(int) { return "integer"; }
inline const char* type_name(bool) { return "true or false"; }
inline const char* type_name(const std::string&) { return "text"; }
inline const char* type_name(const FromScene&) { return "number"; }
inline std::string type_name(const Choice& choice) { return fmt::format("{}", fmt::join(choice.words, " | ")); }

inline std::string to_text(double x) { return fmt::format("{}", x); }
inline std::string to_text(int x) { return fmt::format("{}", x); }
inline std::string to_text(bool x) { return x ? "true" : "false"; }
inline std::string to_text(const std::string& x) { return x; }
inline std::string to_text(const Choice& x) { return x.word(); }
std::string to_text(const FromScene& x);  // "tolerances.closed_gap", where the number comes from

inline void assign(double& member, const OptionValue& value) { member = parse_number(value.text, value.place); }
inline void assign(int& member, const OptionValue& value) { member = parse_integer(value.text, value.place); }
inline void assign(bool& member, const OptionValue& value) { member = parse_bool(value.text, value.place); }
inline void assign(std::string& member, const OptionValue& value) { member = value.text; }
inline void assign(FromScene& member, const OptionValue& value) {
    member.given = parse_number(value.text, value.place);
}
void assign(Choice& member, const OptionValue& value);

template <class Options>
std::vector<FieldInfo> list_fields() {
    Options options;
    std::vector<FieldInfo> list;
    options.fields([&](const char* name, auto& member, const char* unit, const char* help) {
        list.push_back({name, type_name(member), unit, help, to_text(member)});
    });
    return list;
}

// Sets the members named in `values`; an unknown key is an Error naming the nearest option of `what`.
template <class Options>
void assign_fields(Options& options, const OptionValues& values, const std::string& what) {
    for (const OptionValue& value : values) {
        bool known = false;
        std::vector<std::string> names;
        options.fields([&](const char* name, auto& member, const char*, const char*) {
            names.emplace_back(name);
            if (value.key == name) {
                assign(member, value);
                known = true;
            }
        });
        if (!known) throw Error(what + " has " + unknown_name("option", value.key, names).what(), value.place);
    }
}

// Unless `good`, throws Error at the place where `key` was given.
void require(bool good, const char* what, const OptionValues& values, const char* key);

}  // namespace stickslip
