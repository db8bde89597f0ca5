// SPDX-License-Identifier: Apache-2.0
// The feed `bulk_async`: a ring of stages for the whole block, filled by bulk copies that one thread starts
// (compute capability 9.0 and up). A stage holds `rows` steps; a copy brings one slot of a step for the
// block's paths. At least `distance` steps are under way or wait; 24 with 12 rows is fastest on an H200.
#pragma once

#include "kernels/feeds/ring.h"

namespace tilewalk::kernels::feeds {

template <class shape, class memory>
struct bulk_async {
    using piece = pieces<shape>;
    static constexpr int thread_bytes = shape::width * int(sizeof(typename shape::shock));

    static constexpr stage_geometry geometry() {
        return {shape::rows, shape::distance, shape::slots, shape::threads * thread_bytes};
    }
    static constexpr word32 shared_bytes() { return geometry().bytes(); }

    template <class source, class body>
    static constexpr void walk(const source& from, int steps, memory at, const body& use) {
        constexpr stage_geometry ring = geometry();
        constexpr int rows = shape::rows, stages = ring.stages();
        const bool starts_copies = at.thread == 0;  // its first path is the first of the block
        const auto fill = [&](int stage, int place) {
            const int first = stage * rows;
            if (first >= steps) return;
            const int count = steps - first < rows ? steps - first : rows;
            at.expect_bytes(ring.barrier(place), word32(count * shape::slots * ring.row_bytes));
            rolled(0, count, [&](int row) {
                unrolled<shape::slots>([&](int slot) {
                    at.copy_bulk(ring.offset(place, row, slot), from.at(first + row, slot),
                                 word32(ring.row_bytes), ring.barrier(place));
                });
            });
        };

        if (starts_copies) {
            rolled(0, stages, [&](int place) { at.open_barrier(ring.barrier(place), 1); });
            at.publish_barriers();
        }
        at.meet();
        if (starts_copies) rolled(0, stages - 1, [&](int stage) { fill(stage, stage); });
        int place = 0;
        word32 parity = 0;  // of the number of waits for each barrier
        rolled(0, (steps + rows - 1) / rows, [&](int stage) {
            // The stage before is free for new steps, since all threads have passed the barrier after it.
            if (starts_copies) fill(stage + stages - 1, place == 0 ? stages - 1 : place - 1);
            at.wait_for_bytes(ring.barrier(place), parity);
            const int first = stage * rows;
            const int last = steps - first < rows ? steps : first + rows;
            rolled(first, last, [&](int step) {
                use(step, shocks_from_pieces<shape>([&](int slot, int k) {
                        return at.template read<typename piece::type>(
                            ring.offset(place, step - first, slot) +
                            word32(at.thread * thread_bytes + k * piece::bytes));
                    }));
            });
            at.meet();
            if (++place == stages) {
                place = 0;
                parity ^= 1;
            }
        });
        if (starts_copies) rolled(0, stages, [&](int p) { at.close_barrier(ring.barrier(p)); });
    }
};

}  // namespace tilewalk::kernels::feeds
