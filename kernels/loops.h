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

// A number that is known at compile time.
template <int number>
struct known_number {
    static constexpr int value = number;
};

// Calls of(known_number<i>()) for the i that is `number`, first <= i < last. Each i has its own copy of the
// body, which a few branches lead to.
template <int first, int last, class body>
static constexpr void chosen(int number, const body& of) {
    if constexpr (last - first == 1) {
        of(known_number<first>());
    } else if constexpr (last > first) {
        constexpr int middle = first + (last - first) / 2;
        if (number < middle) {
            chosen<first, middle>(number, of);
        } else {
            chosen<middle, last>(number, of);
        }
    }
}

}  // namespace tilewalk::kernels
