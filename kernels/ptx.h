// SPDX-License-Identifier: Apache-2.0
// Operations of a GPU's thread that C++ can't express. For device code only, like constant_rows.h.
#pragma once

#include "kernels/arguments.h"
#include "kernels/feeds/feed.h"

namespace tilewalk::kernels {

// Loads through the read-only path, for memory that no thread of the launch writes.
static word32 load_read_only(const word32* from) {
    return __ldg(from);
}
static word64 load_read_only(const word64* from) {
    return __ldg(from);
}

// The block's number, read anew at each call: numbers that follow from it then need no registers meanwhile.
static word32 number_of_block() {
    word32 number = 0;
    asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(number));
    return number;
}

// Adds to c the matrix product of a (8 x 4) and b (4 x 8), whose numbers are spread over a warp: a thread has
// a[lane / 4][lane % 4], b[lane % 4][lane / 4], and of c row lane / 4, columns 2 (lane % 4) and the next.
// Each number of c takes its four fma in order (tests/decide/least_squares_test.cpp).
static void add_matrix_product(double& c, double& c_next, double a, double b) {
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(c), "+d"(c_next)
                 : "d"(a), "d"(b));
}

// Prefetches the cache line of this address to the L2 cache.
static void bring_near(const void* from) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(from)));
}

// Starts a copy from global to shared memory, for this thread only. The compiler moves no access across it.
static void copy_number(double* to, const double* from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(word32(__cvta_generic_to_shared(to))),
                 "l"(__cvta_generic_to_global(from))
                 : "memory");
}
// Closes a group of copies: those that the thread has started since the last group.
static void commit_copies() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}
// Waits until at most the last `pending` groups of this thread's copies are under way.
template <int pending>
static void wait_for_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

template <int bytes>
struct load_unit;
template <>
struct load_unit<4> {
    using type = unsigned;
};
template <>
struct load_unit<8> {
    using type = uint2;
};
template <>
struct load_unit<16> {
    using type = uint4;
};
template <class value>
using load_unit_of = typename load_unit<int(sizeof(value))>::type;

// Loads `count` neighbouring words, aligned to their size together, through the read-only path.
template <int count>
static neighbours<word32, count> load_read_only(const word32* from) {
    using words = neighbours<word32, count>;
    return __builtin_bit_cast(words, __ldg(reinterpret_cast<const load_unit_of<words>*>(from)));
}

// Stores 16 bytes of neighbours by one instruction; the compiler would split the store.
struct wide_stores {
    template <class element, int count>
    static void store(element* to, const neighbours<element, count>& x) {
        const auto words = __builtin_bit_cast(uint4, x);
        asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)),
                     "r"(words.x), "r"(words.y), "r"(words.z), "r"(words.w)
                     : "memory");
    }
};

// Memory spaces: each says how a thread finds and reads an array. begin() is the place of its first number.
namespace spaces {

// Memory with addresses: device memory, or host memory mapped into the device.
struct global {
    template <class element>
    using place = const element*;

    template <class element>
    static place<element> begin(const void* first, word64) {
        return static_cast<const element*>(first);
    }
    template <class value, class element>
    static value load(const element* from) {
        return __builtin_bit_cast(value, *reinterpret_cast<const load_unit_of<value>*>(from));
    }
};

struct read_only : global {
    template <class value, class element>
    static value load(const element* from) {
        return __builtin_bit_cast(value, __ldg(reinterpret_cast<const load_unit_of<value>*>(from)));
    }
};

// A linear texture, whose texel is a float, or the two words of a double.
struct texture {
    template <class element>
    struct place {
        word64 texture;
        word64 index;
        place operator+(word64 elements) const { return {texture, index + elements}; }
    };

    template <class element>
    static place<element> begin(const void*, word64 texture) {
        return {texture, 0};
    }
    template <class value, class element>
    static value load(place<element> from) {
        constexpr int count = sizeof(value) / sizeof(element);
        neighbours<element, count> got;
        for (int i = 0; i < count; ++i) got.x[i] = texel<element>(from.texture, int(from.index) + i);
        return __builtin_bit_cast(value, got);
    }

  private:
    template <class element>
    static element texel(word64 texture, int index) {
        if constexpr (sizeof(element) == 8) {
            return __builtin_bit_cast(element, tex1Dfetch<uint2>(texture, index));
        } else {
            return tex1Dfetch<element>(texture, index);
        }
    }
};

}  // namespace spaces

template <class real, class space>
struct numbers_in_memory {
    typename space::template place<real> first;

    static numbers_in_memory of(const path_arguments& a, word64 at) {
        return {space::template begin<real>(a.numbers, a.numbers_texture) + at};
    }
    numbers_in_memory from(word64 offset) const { return {first + offset}; }
    template <int count>
    neighbours<real, count> load(word64 offset) const {
        return space::template load<neighbours<real, count>>(first + offset);
    }
};

// A row of `width` numbers. Each is loaded with its whole piece; the compiler merges loads of the same piece.
template <class numbers, class real, int width>
struct row_of_numbers {
    static constexpr int piece = width <= 2 ? (width > 0 ? width : 1) : int(piece_bytes / sizeof(real));
    numbers first;

    real operator[](int i) const {
        return first.template load<piece>(word64(i / piece * piece)).x[i % piece];
    }

    // A table in a row. Its numbers are loaded singly: choosing from a loaded piece would need local memory.
    struct table_of_numbers {
        numbers first;
        real operator[](int i) const { return first.template load<1>(word64(i)).x[0]; }
    };
    table_of_numbers table(int place) const { return {first.from(word64(place))}; }
};

// The words of a trade that say where its shocks and scenarios are.
struct trade_words {
    const word32* head;              // keys of streams (see words_of_keys)
    const word32* scenario_rows;     // step after step
    word32 normal_row, uniform_row;  // the first of its shocks in the arrays
    word32 target_step;              // the first of its steps to targets

    stream_key key(int stream) const {
        const auto both = load_read_only<2>(head + 2 * stream);
        return {both.x[0], both.x[1]};
    }
};

// Scenarios in memory, from the thread's first path on. `rows` has the row of each step and slot.
template <class shape, int slots_, class space>
struct scenarios_in_memory {
    using place = typename space::template place<typename shape::shock>;
    static constexpr int slots = slots_;
    place first;
    word64 row_stride;
    const word32* rows;

    static scenarios_in_memory of(const path_arguments& a, word64 path, const trade_words& words) {
        return {space::template begin<typename shape::shock>(a.scenario.first, a.scenario.texture) +
                    (path - a.first_path),
                a.scenario.step_stride, words.scenario_rows};
    }
    place at(int step, int slot) const {
        return first + word64(load_read_only(rows + (step * slots + slot))) * row_stride;
    }
};

template <class shape, int normals, class space = spaces::global, class scenarios = no_scenarios>
struct arrays {
    using place = typename space::template place<typename shape::shock>;

    static array_source<shape, normals, place, scenarios> of(const path_arguments& a, word64 path,
                                                             const trade_words& words) {
        const word64 in_row = path - a.first_path;
        return {one(a.normal, in_row + words.normal_row * a.normal.slot_stride),
                one(a.uniform, in_row + words.uniform_row * a.uniform.slot_stride),
                scenarios::of(a, path, words)};
    }

  private:
    static shock_array<place> one(const array_argument& from, word64 offset) {
        return {space::template begin<typename shape::shock>(from.first, from.texture) + offset,
                from.step_stride, from.slot_stride};
    }
};

// The memory operations of feeds. Places in shared memory are byte offsets into the feed's part of it.
template <class space>
struct thread_memory {
    char* shared;
    int thread;

    static thread_memory of(const path_arguments&, char* shared) { return {shared, int(threadIdx.x)}; }

    template <class piece, class place>
    piece load(place from) const {
        return space::template load<piece>(from);
    }

    // Loads a piece, and asks the L2 cache to fetch the l2_bytes around it, aligned.
    template <class piece, int l2_bytes>
    static piece load_with_l2(const void* from) {
        static_assert(l2_bytes == 64 || l2_bytes == 128 || l2_bytes == 256);
        load_unit_of<piece> got;
        if constexpr (sizeof(piece) == 4) {
            if constexpr (l2_bytes == 64) {
                asm("ld.global.L2::64B.b32 %0, [%1];" : "=r"(got) : "l"(from));
            } else if constexpr (l2_bytes == 128) {
                asm("ld.global.L2::128B.b32 %0, [%1];" : "=r"(got) : "l"(from));
            } else {
                asm("ld.global.L2::256B.b32 %0, [%1];" : "=r"(got) : "l"(from));
            }
        } else if constexpr (sizeof(piece) == 8) {
            if constexpr (l2_bytes == 64) {
                asm("ld.global.L2::64B.v2.b32 {%0, %1}, [%2];" : "=r"(got.x), "=r"(got.y) : "l"(from));
            } else if constexpr (l2_bytes == 128) {
                asm("ld.global.L2::128B.v2.b32 {%0, %1}, [%2];" : "=r"(got.x), "=r"(got.y) : "l"(from));
            } else {
                asm("ld.global.L2::256B.v2.b32 {%0, %1}, [%2];" : "=r"(got.x), "=r"(got.y) : "l"(from));
            }
        } else {
            if constexpr (l2_bytes == 64) {
                asm("ld.global.L2::64B.v4.b32 {%0, %1, %2, %3}, [%4];"
                    : "=r"(got.x), "=r"(got.y), "=r"(got.z), "=r"(got.w)
                    : "l"(from));
            } else if constexpr (l2_bytes == 128) {
                asm("ld.global.L2::128B.v4.b32 {%0, %1, %2, %3}, [%4];"
                    : "=r"(got.x), "=r"(got.y), "=r"(got.z), "=r"(got.w)
                    : "l"(from));
            } else {
                asm("ld.global.L2::256B.v4.b32 {%0, %1, %2, %3}, [%4];"
                    : "=r"(got.x), "=r"(got.y), "=r"(got.z), "=r"(got.w)
                    : "l"(from));
            }
        }
        return __builtin_bit_cast(piece, got);
    }

    static void prefetch_l2(const void* from) { asm volatile("prefetch.global.L2 [%0];" ::"l"(from)); }

    template <class piece>
    piece read(word32 at) const {
        return __builtin_bit_cast(piece, *reinterpret_cast<const load_unit_of<piece>*>(shared + at));
    }
    template <class piece>
    void write(word32 at, const piece& value) const {
        *reinterpret_cast<load_unit_of<piece>*>(shared + at) = __builtin_bit_cast(load_unit_of<piece>, value);
    }

    // Starts a copy of a piece from global to shared memory. Copies of 16 bytes bypass the L1 cache, unless a
    // neighbouring piece needs the rest of the line. The compiler moves no access to memory across it.
    template <class piece, int l2_bytes, bool has_neighbours>
    void copy_async(word32 to, const void* from) const {
        static_assert(l2_bytes == 0 || l2_bytes == 64 || l2_bytes == 128 || l2_bytes == 256);
        const word32 at = address_of(to);
        if constexpr (sizeof(piece) == 16 && !has_neighbours) {
            if constexpr (l2_bytes == 0) {
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
            } else if constexpr (l2_bytes == 64) {
                asm volatile("cp.async.cg.shared.global.L2::64B [%0], [%1], 16;" ::"r"(at), "l"(from)
                             : "memory");
            } else if constexpr (l2_bytes == 128) {
                asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(at), "l"(from)
                             : "memory");
            } else {
                asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16;" ::"r"(at), "l"(from)
                             : "memory");
            }
        } else {
            constexpr int bytes = sizeof(piece);
            if constexpr (l2_bytes == 0) {
                asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(at), "l"(from), "n"(bytes)
                             : "memory");
            } else if constexpr (l2_bytes == 64) {
                asm volatile("cp.async.ca.shared.global.L2::64B [%0], [%1], %2;" ::"r"(at), "l"(from),
                             "n"(bytes)
                             : "memory");
            } else if constexpr (l2_bytes == 128) {
                asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %2;" ::"r"(at), "l"(from),
                             "n"(bytes)
                             : "memory");
            } else {
                asm volatile("cp.async.ca.shared.global.L2::256B [%0], [%1], %2;" ::"r"(at), "l"(from),
                             "n"(bytes)
                             : "memory");
            }
        }
    }
    static void commit_copies() { kernels::commit_copies(); }
    template <int pending>
    static void wait_for_copies() {
        kernels::wait_for_copies<pending>();
    }

    // Initialises a barrier in shared memory. A phase ends after so many arrivals and all expected bytes.
    void open_barrier(word32 at, word32 arrivals) const {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address_of(at)), "r"(arrivals)
                     : "memory");
    }
    // Makes the block's writes to global memory visible to copies of any kind, bulk copies included.
    static void publish_to_copies() {
        __syncthreads();
#if __CUDA_ARCH__ >= 900
        asm volatile("fence.proxy.async.global;" ::: "memory");
#endif
    }
    // Makes initialised barriers visible to the bulk copies that this thread starts.
    static void publish_barriers() {
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    // Arrives at the barrier, whose phase then waits for `bytes` of copies, too.
    void expect_bytes(word32 barrier, word32 bytes) const {
        asm volatile(
            "{\n\t.reg .b64 state;\n\t"
            "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 state, [%0], %1;\n\t}" ::"r"(
                address_of(barrier)),
            "r"(bytes)
            : "memory");
    }
    // Starts a bulk copy from global to shared memory. Both places and `bytes` are multiples of 16.
    void copy_bulk(word32 to, const void* from, word32 bytes, word32 barrier) const {
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                address_of(to)),
            "l"(from), "r"(bytes), "r"(address_of(barrier))
            : "memory");
    }
    // Waits until the barrier's phase of this parity ends; the first phase has parity 0.
    void wait_for_bytes(word32 barrier, word32 parity) const {
        word32 done = 0;
        while (done == 0) {
            asm volatile(
                "{\n\t.reg .pred ended;\n\t"
                "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 ended, [%1], %2;\n\t"
                "selp.b32 %0, 1, 0, ended;\n\t}"
                : "=r"(done)
                : "r"(address_of(barrier)), "r"(parity)
                : "memory");
        }
    }
    void close_barrier(word32 at) const {
        asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(address_of(at)) : "memory");
    }
    static void meet() {
        __syncthreads();
    }

  private:
    word32 address_of(word32 offset) const {
        return word32(__cvta_generic_to_shared(shared)) + offset;
    }
};

}  // namespace tilewalk::kernels
