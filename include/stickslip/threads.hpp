// How many threads the library may use. Work is cut into the same parts whatever their number, and each part is computed
// in the same order: results do not depend on it, bit for bit.
#pragma once

namespace stickslip {

void set_threads(int count);  // at least 1; 1 at the start of the program
int threads();

}  // namespace stickslip
