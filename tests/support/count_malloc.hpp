// Counts every heap allocation of the program, those of Eigen and of C libraries included: it stands in front of
// malloc itself. Include in ONE file of a test program. Under sanitizers, which own malloc, nothing is counted.
#pragma once

#include <cstddef>

#include "support/allocations.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define STICKSLIP_COUNTS_MALLOC 0
#else
#define STICKSLIP_COUNTS_MALLOC 1
#endif

#if STICKSLIP_COUNTS_MALLOC
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t n) {
    ++stickslip::testing::allocations;
    return __libc_malloc(n);
}
void* calloc(std::size_t n, std::size_t size) {
    ++stickslip::testing::allocations;
    return __libc_calloc(n, size);
}
void* realloc(void* p, std::size_t n) {
    ++stickslip::testing::allocations;
    return __libc_realloc(p, n);
}
void* aligned_alloc(std::size_t alignment, std::size_t n) {
    ++stickslip::testing::allocations;
    return __libc_memalign(alignment, n);
}
}
#endif
