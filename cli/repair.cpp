// `stickslip repair`: makes the record of a killed run readable for other programs.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "commands.hpp"
#include "stickslip/record.hpp"

namespace stickslip::cli {

void add_repair(CLI::App& app, int&) {
    auto run = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand("repair", "clear the open flag that a killed run leaves in its record");
    command->add_option("RUN", *run, "folder or file of the run")->required();
    command->callback([run] {
        const bool was_open = repair_record(*run);
        fmt::print("{}: {}\n", *run, was_open ? "repaired" : "nothing to repair");
    });
}

}  // namespace stickslip::cli
