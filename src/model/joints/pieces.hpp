// A joint as data: the list of its row pieces in body coordinates (row_pieces.hpp has their mathematics).
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "model/multibody.hpp"

namespace stickslip {

// z of a joint's axes is the joint axis. In a plane: for `fixed` z is the plane's normal; for `prismatic` y is.
std::vector<Piece> joint_pieces(const Joint& joint, const std::optional<std::array<int, 2>>& plane);

}  // namespace stickslip
