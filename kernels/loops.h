// SPDX-License-Identifier: Apache-2.0
// Loops that say how often their body stands in the code. A body that stands there once keeps the instruction
// cache and the registers small. A body that is laid out knows its index at compile time, so that the arrays
// it indexes can stay in registers. A host compiler decides by itself.
#pragma once

namespace tilewalk::kernels {

// Calls of(i) for first <= i < last; the body stands in the code once.
template <class body>
static constexpr void rolled(int first, int last, const body& of) {
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (int i = first; i < last; ++i) of(i);
}

// Calls of(i) for first <= i < last, `copies` at a time.
template <int copies, class body>
static constexpr void unrolled_by(int first, int last, const body& of) {
#if defined(__CUDA_ARCH__)
#pragma unroll copies
#endif
    for (int i = first; i < last; ++i) of(i);
}

// Calls of(i) for 0 <= i < count, each laid out with its own constant i.
template <int count, class body>
static constexpr void unrolled(const body& of) {
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (int i = 0; i < count; ++i) of(i);
}

// The same, laid out by the language if it is long. NVRTC lays out a long loop only after it has looked for
// arrays to keep in registers: a basket of ten assets then had its shocks in local memory, and took up to
// half as long again. It is better that it does so late where registers are short.
template <int count, int i = 0, class body>
static constexpr void spelled_out(const body& of) {
    if constexpr (count <= 4) {
        unrolled<count>(of);
    } else if constexpr (i < count) {
        of(i);
        spelled_out<count, i + 1>(of);
    }
}

}  // namespace tilewalk::kernels
