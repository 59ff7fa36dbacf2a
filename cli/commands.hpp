// The commands of `stickslip`, one file each: they translate and call, they never compute.
#pragma once

#include <CLI/CLI.hpp>

namespace stickslip::cli {

enum ExitCode { done = 0, refused = 1, wrong_input = 2 };

// Each adds its subcommand; the returned code is left in `code` when it ran.
void add_run(CLI::App& app, int& code);
void add_list(CLI::App& app, int& code);
void add_solve(CLI::App& app, int& code);
void add_schema(CLI::App& app, int& code);
void add_repair(CLI::App& app, int& code);
void add_report(CLI::App& app, int& code);

}  // namespace stickslip::cli
