// `stickslip repair`: makes the record of a killed run readable for other programs.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "commands.hpp"
#include "stickslip/record.hpp"

namespace stickslip::cli {

Command repair_command() {
    auto run = std::make_shared<std::string>();
    return {"repair",
            "clear the open flag that a killed run leaves in its record",
            {{.names = "RUN", .value = run.get(), .help = "folder or file of the run", .required = true}},
            [run] {
                const bool was_open = repair_record(*run);
                fmt::print("{}: {}\n", *run, was_open ? "repaired" : "nothing to repair");
                return int{done};
            }};
}

}  // namespace stickslip::cli
