// `stickslip schema`: the keys of scene files, for editors.
#include <cstdio>

#include "commands.hpp"
#include "stickslip/scene.hpp"

namespace stickslip::cli {

Command schema_command() {
    return {"schema", "the keys of scene files as a JSON Schema, for editors", {}, [] {
                std::printf("%s\n", scene_schema().c_str());
                return int{done};
            }};
}

}  // namespace stickslip::cli
