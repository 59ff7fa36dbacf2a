// The commands of `stickslip`, one file each: they translate and call, they never compute.
//
// A command is plain data: its name, its options and the function to call. main.cpp makes a parser from the table and is
// the only file that knows the library that parses.
#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "stickslip/options.hpp"

namespace stickslip::cli {

enum ExitCode { done = 0, refused = 1, wrong_input = 2 };

struct Option {
    // "--step", "-o,--output", or "MODEL" for a word taken by its place. "--dump-hard{20}" is a flag that may also be given
    // a number: 20 without one.
    const char* names;
    std::variant<bool*, int*, std::string*, std::vector<std::string>*> value;  // a flag, a number, a text, a list
    const char* help;
    bool required = false;
    std::vector<std::string> choices = {};  // the texts allowed; empty: any
    int min = 0, max = 0;                   // the numbers allowed; both 0: any
    char separator = 0;                     // of a list: stands between the values of one word; 0: nothing does
    bool greedy = false;                    // of a list: takes all words up to the next option, else one each time
};

struct Command {
    const char *name, *summary;
    std::vector<Option> options;
    std::function<int()> run;  // called after the options are filled; returns the exit code
};

// Each holds the arguments that its options fill.
Command run_command();
Command check_command();
Command list_command();
Command converge_command();
Command compare_command();
Command solve_command();
Command report_command();
Command schema_command();
Command repair_command();

// What several commands say about the same option.
inline const char* const model_help = "scene file, scene:NAME or mechanism:NAME";
inline const char* const set_help =
    "KEY=VALUE: a parameter, or with dots anything (bodies.arm.mass=2, scheme.theta=0.6)";
inline const char* const scheme_help = "time-stepping scheme (stickslip list schemes)";
inline const char* const solver_help = "solver of the step problems (stickslip list solvers)";
inline const char* const threads_help = "threads; the result does not depend on it";
constexpr int max_threads = 1024;

// The values of --set KEY=VALUE.
OptionValues set_values(const std::vector<std::string>& sets);

}  // namespace stickslip::cli
