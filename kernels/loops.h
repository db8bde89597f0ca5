// SPDX-License-Identifier: Apache-2.0
// Loops for which it matters how often their body stands in the code: a body that stands there once keeps the
// instruction cache and the registers small, a body that is laid out knows its index when it is compiled, so
// that what it indexes can stand in registers. A host compiler decides by itself.
#pragma once

namespace tilewalk::kernels {

// of(i) for first <= i < last, laid out once.
template <class body>
static constexpr void rolled(int first, int last, const body& of) {
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (int i = first; i < last; ++i) of(i);
}

// of(i) for first <= i < last, `copies` at a time.
template <int copies, class body>
static constexpr void unrolled_by(int first, int last, const body& of) {
#if defined(__CUDA_ARCH__)
#pragma unroll copies
#endif
    for (int i = first; i < last; ++i) of(i);
}

// of(i) for 0 <= i < count, each laid out with its own constant i.
template <int count, class body>
static constexpr void unrolled(const body& of) {
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (int i = 0; i < count; ++i) of(i);
}

}  // namespace tilewalk::kernels
