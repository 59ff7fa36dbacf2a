// How many threads the library may use. Work is cut into the same parts whatever their number, and each part is computed
// in the same order: results do not depend on it, bit for bit.
#pragma once

namespace stickslip {

void set_threads(int count);  // at least 1; 1 at the start of the program
int threads();

// [s] of processor time, by the clock of the calling thread, in work that was shared out among threads; with one thread 0. What is left of a run
// is what more threads cannot shorten.
double shared_time();

}  // namespace stickslip
