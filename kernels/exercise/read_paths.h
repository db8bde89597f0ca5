// SPDX-License-Identifier: Apache-2.0
// How a thread that takes one path after another loads their numbers; see path_reads.
#pragma once

#include "kernels/exercise/backward_arguments.h"
#include "kernels/loops.h"
#include "kernels/ptx.h"

namespace tilewalk::kernels {

struct read_at_once {
    double operator()(bool is_there, const double* from, double otherwise = 0) const {
        return is_there ? *from : otherwise;
    }
};
// Copies the numbers of a path to shared memory, `threads` doubles from each other.
template <int threads>
struct put_ahead {
    double* next;
    double operator()(bool is_there, const double* from, double otherwise = 0) {
        if (is_there) {
            copy_number(next, from);
        } else {
            *next = otherwise;
        }
        next += threads;
        return 0;
    }
};
template <int threads>
struct take_ahead {
    const double* next;
    double operator()(bool, const double*, double = 0) {
        const double out = *next;
        next += threads;
        return out;
    }
};

// Calls use(place_of(k), what `load` returns) for k = 0, 1, ... count - 1. For larger k, place_of(k) must be
// safe to load. load(place, number) loads each number of a path by number(is_there, from, otherwise), the
// same numbers at every place. `ring` is shared memory of the block (see ring_doubles).
template <path_reads how, int threads, int numbers, class places, class loader, class body>
static void read_paths(double* ring, int count, const places& place_of, const loader& load, const body& use) {
    if constexpr (how == path_reads::register_rolling) {
        auto here = place_of(0), next = place_of(1);
        auto brought = load(here, read_at_once());
#pragma unroll 1
        for (int k = 0; k < count; ++k) {
            const auto after_next = place_of(k + 2);
            const auto brings = load(next, read_at_once());
            use(here, brought);
            here = next;
            next = after_next;
            brought = brings;
        }
    } else if constexpr (how == path_reads::smem_rolling_async) {
        double* const mine = ring + threadIdx.x;
        const auto stage = [&](int k) { return mine + k % paths_ahead * (numbers * threads); };
        // One group of copies for each path, even if empty, so that waiting for groups is waiting for paths.
        const auto start = [&](int k, const auto& place) {
            if (k < count) load(place, put_ahead<threads>{stage(k)});
            commit_copies();
        };
        decltype(place_of(0)) coming[word32(paths_ahead)];
        unrolled<paths_ahead>([&](int k) {
            coming[k] = place_of(k);
            start(k, coming[k]);
        });
#pragma unroll 1
        for (int k = 0; k < count; ++k) {
            const auto here = coming[0];
            const auto far = place_of(k + paths_ahead);
            wait_for_copies<paths_ahead - 1>();
            const auto brought = load(here, take_ahead<threads>{stage(k)});
            start(k + paths_ahead, far);
            use(here, brought);
            unrolled<paths_ahead - 1>([&](int i) { coming[i] = coming[i + 1]; });
            coming[paths_ahead - 1] = far;
        }
    } else {
#pragma unroll 1
        for (int k = 0; k < count; ++k) {
            const auto here = place_of(k);
            use(here, load(here, read_at_once()));
        }
    }
}

}  // namespace tilewalk::kernels
