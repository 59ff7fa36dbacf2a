// The commands of `stickslip`, one file each: they translate and call, they never compute.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "stickslip/options.hpp"

namespace stickslip::cli {

enum ExitCode { done = 0, refused = 1, wrong_input = 2 };

// The values of --set KEY=VALUE.
OptionValues set_values(const std::vector<std::string>& sets);

// Each adds its subcommand; the returned code is left in `code` when it ran.
void add_run(CLI::App& app, int& code);
void add_check(CLI::App& app, int& code);
void add_list(CLI::App& app, int& code);
void add_solve(CLI::App& app, int& code);
void add_schema(CLI::App& app, int& code);
void add_repair(CLI::App& app, int& code);
void add_report(CLI::App& app, int& code);
void add_converge(CLI::App& app, int& code);
void add_compare(CLI::App& app, int& code);

}  // namespace stickslip::cli
