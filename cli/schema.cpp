// `stickslip schema`: the keys of scene files, for editors.
#include <cstdio>

#include "commands.hpp"
#include "stickslip/scene.hpp"

namespace stickslip::cli {

void add_schema(CLI::App& app, int&) {
    CLI::App* command = app.add_subcommand("schema", "the keys of scene files as a JSON Schema, for editors");
    command->callback([] { std::printf("%s\n", scene_schema().c_str()); });
}

}  // namespace stickslip::cli
