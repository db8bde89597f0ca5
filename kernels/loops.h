// SPDX-License-Identifier: Apache-2.0
// Loops with a stated number of copies of their body. A single copy keeps instruction cache and registers
// small; an unrolled body has constant indices, so that arrays can stay in registers.
#pragma once

namespace tilewalk::kernels {

// Calls of(i) for first <= i < last; one copy of the body.
template <class body>
static constexpr void rolled(int first, int last, const body& of) {
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (int i = first; i < last; ++i) of(i);
}

// Calls of(i) for first <= i < last; `copies` copies of the body.
template <int copies, class body>
static constexpr void unrolled_by(int first, int last, const body& of) {
#if defined(__CUDA_ARCH__)
#pragma unroll copies
#endif
    for (int i = first; i < last; ++i) of(i);
}

// Calls of(i) for 0 <= i < count, unrolled with constant i.
template <int count, class body>
static constexpr void unrolled(const body& of) {
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (int i = 0; i < count; ++i) of(i);
}

// Calls of(i) as `unrolled` does; a long loop is unrolled by templates. NVRTC would unroll it only after
// choosing arrays for registers: a basket of ten assets then had its shocks in local memory and took up to
// half as long again. If registers are short, NVRTC's late unrolling is better.
template <int count, int i = 0, class body>
static constexpr void spelled_out(const body& of) {
    if constexpr (count <= 4) {
        unrolled<count>(of);
    } else if constexpr (i < count) {
        of(i);
        spelled_out<count, i + 1>(of);
    }
}

template <int number>
struct known_number {
    static constexpr int value = number;
};

// Calls of(known_number<i>()) for i = number, where first <= number < last, found by binary branching.
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
