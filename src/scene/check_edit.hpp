// What the reader checks of a scene file, for edits that a program makes.
#pragma once

#include "stickslip/edit.hpp"

namespace stickslip {

// Throws Error if the body, joint or drive of the edit could not stand in a scene file. Whether it can be made now is for
// Standing and Builder to tell.
void check_edit(const Scene& scene, const Edit& edit);

}  // namespace stickslip
