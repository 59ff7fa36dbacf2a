// What can go wrong, in three kinds: a bug of ours (SS_ASSERT), bad input (Error), and the nature of the
// numbers (Status in a report, never an exception).
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace stickslip {

// A place in an input file. Lines and columns count from 1; 0 means unknown.
struct Place {
    std::string file;
    int line = 0;
    int column = 0;

    std::string text() const;  // "scene.yaml:3:7", or "" when unknown
};

// Bad input: where, what was expected, and the closest valid name if one is near.
class Error : public std::runtime_error {
public:
    explicit Error(const std::string& message, Place place = {});
    const Place& place() const { return place_; }

private:
    Place place_;
};

// "no scheme 'moreau-jaen', did you mean 'moreau-jean'?" and the list of names when nothing is near.
Error unknown_name(std::string_view what, std::string_view given, const std::vector<std::string>& valid,
                   Place place = {});

// The outcome of a computation with numbers.
enum class Status { ok, not_converged, infeasible, stalled, diverged };
const char* to_string(Status status);

[[noreturn]] void assertion_failed(const char* condition, const char* words, const char* file, int line);

}  // namespace stickslip

// Active in every build: the checks guard sizes and indices once per step, never inside inner loops.
#define SS_ASSERT(condition, words) \
    ((condition) ? void(0) : ::stickslip::assertion_failed(#condition, words, __FILE__, __LINE__))
