// SPDX-License-Identifier: Apache-2.0
// Blocks of threads that work on a tile on a date: they list its paths, and sum over them by columns.
#pragma once

#include "kernels/exercise/blocks_of_tile.h"
#include "kernels/exercise/column_sums.h"
#include "kernels/exercise/date_at_hand.h"
#include "kernels/exercise/read_paths.h"
#include "kernels/loops.h"
#include "kernels/tile.h"

namespace tilewalk::kernels {

// One tile on one date. Shared memory: columns of a block of paths, sums of the tile, numbers of the date.
template <class basis>
struct tile_of_date : date_at_hand<basis> {
    using date = date_at_hand<basis>;
    using date::features, date::functions, date::moves, date::sizes;
    static constexpr int threads = paths_of_block;
    using functions_squared = shared_products<functions, functions, true, threads>;
    using functions_by_moves = shared_products<functions, moves, false, threads>;

    word32 tile;
    double *columns, *own, *means, *scales, *along_it, *quarters, *ring;
    int* ints;

    tile_of_date(const backward_arguments& a, double* shared, const date& of)
        : date(of),
          tile(blockIdx.x % a.tiles),
          columns(shared),
          own(columns + sizes.columns() * slots_of_column),
          means(own + sizes.numbers_of_tile()),
          scales(means + features),
          along_it(scales + features),
          quarters(along_it + sizes.slopes()),
          ring(quarters + sizes.quarter_doubles()),
          ints(reinterpret_cast<int*>(ring + sizes.ring_doubles(threads, sizes.numbers_to_sum()))) {
        static_assert(functions_squared::doubles <= sizes.quarter_doubles() &&
                      functions_by_moves::doubles <= sizes.quarter_doubles());
    }

    static int thread() { return int(threadIdx.x); }
    double* mine() const { return columns + slot_of(thread()); }
    void clear(int first, int last) const {
        for (int i = first + thread(); i < last; i += threads) own[i] = 0;
    }
    void leave(int first, int last, double* to) const {
        __syncthreads();
        for (int i = first + thread(); i < last; i += threads) to[i] = own[i];
    }

    // Calls use(place, loaded) for each block of paths, by all threads with a path each; see read_paths.h.
    template <bool is_today, class loader, class body>
    void for_blocks(const loader& load, const body& use) const {
        const blocks_of_tile<is_today> all(*this, tile);
        read_paths<basis::reads, threads, sizes.numbers_to_sum()>(
            ring, all.blocks, [&](int block) { return all.at(block, thread()); }, load, use);
    }
    auto load_features() const {
        return [this](const auto& at, auto number) { return this->known_by(at.has_path, at.path, number); };
    }

    // Lists the tile's paths: those on which using the right pays something, other live ones, ended ones.
    void list_paths() const {
        constexpr int rounds = paths_per_tile / threads, warps = threads / 32;
        const int all = paths_in_tile(this->paths, tile), warp = thread() / 32;
        path_in_tile* const list = this->listed + tile * paths_per_tile;
        double alive[rounds], offered[rounds], gives[rounds], unit[rounds];
        unrolled<rounds>([&](int r) {
            const bool has_path = r * threads + thread() < all;
            const word32 path = tile * paths_per_tile + word32(r * threads + thread());
            alive[r] = has_path ? this->row(row_of_alive, path) : -1;
            offered[r] = has_path ? this->row(row_of_offered, path) : 0;
            gives[r] = has_path ? this->row(row_of_gives, path) : 0;
            unit[r] = has_path ? this->row(row_of_unit, path) : 1;
        });
        // The sides of the thread's paths, two bits each: 0, 1; 2: the path has ended; 3: there is no path.
        int sides = 0;
        const auto side_of = [&](int round) { return sides >> 2 * round & 3; };
        const auto alike = [&](int round, int side) {
            return __ballot_sync(~word32{0}, side_of(round) == side);
        };
        unrolled<rounds>([&](int r) {
            const double paid = gives[r] / unit[r];
            if (alive[r] >= 0) this->paid[tile * paths_per_tile + word32(r * threads + thread())] = paid;
            const bool pays = ((basis::has_notices && this->is_notice) || offered[r] != 0) && paid > 0;
            sides |= (alive[r] < 0 ? 3 : alive[r] == 0 ? 2 : pays ? 0 : 1) << 2 * r;
        });
        rolled(0, rounds, [&](int r) {
            unrolled<3>([&](int s) {
                const word32 lanes = alike(r, s);
                if (thread() % 32 == 0) ints[3 * (r * warps + warp) + s] = __popc(lanes);
            });
        });
        __syncthreads();
        int sum[3]{}, next[3]{};
        rolled(0, rounds * warps, [&](int e) { unrolled<3>([&](int s) { sum[s] += ints[3 * e + s]; }); });
        next[1] = sum[0];
        next[2] = sum[0] + sum[1];
        rolled(0, rounds, [&](int r) {
            int first = 0;
            rolled(0, warps, [&](int w) {
                unrolled<3>([&](int s) {
                    if (w == warp && side_of(r) == s) first = next[s];
                    next[s] += ints[3 * (r * warps + w) + s];
                });
            });
            const word32 lower = (word32{1} << (thread() % 32)) - 1;
            unrolled<3>([&](int s) {
                const word32 lanes = alike(r, s);
                if (side_of(r) == s)
                    list[first + __popc(lanes & lower)] = path_in_tile(r * threads + thread());
            });
        });
        if (thread() < 2) this->counts[2 * tile + word32(thread())] = word32(thread() == 0 ? sum[0] : sum[1]);
    }

    // Sums features, or their squares about the mean, over the tiles that scales are taken from.
    template <bool of_squares>
    void sum_features() const {
        int living = 0;
        const word32 tiles = this->tiles_of_scale(living);
        if (tile >= tiles) return;
        constexpr int first = of_squares ? features : 0;
        if (thread() < features) means[thread()] = of_squares ? this->mean(thread(), tiles, living) : 0;
        clear(first, first + features);
        __syncthreads();
        for_blocks<false>(load_features(), [&](const auto& at, const auto& known) {
            __syncthreads();
            unrolled<features>(
                [&](int f) { mine()[f * slots_of_column] = at.has_path ? known.of[f] - means[f] : 0; });
            __syncthreads();
            sum_columns<of_squares ? what_to_sum::squares : what_to_sum::numbers>(
                columns, columns, features, thread(), threads,
                [&](int f, double sum) { own[first + f] += sum; });
        });
        leave(first, first + features, date::sums_of(tile));
    }

    void sum_functions() const {
        constexpr int first = 2 * features, of_side = functions * functions;
        this->find_scales(tile, means, scales);
        clear(first, first + sizes.of_fits());
        __syncthreads();
        const functions_squared by{quarters};
        product_sums of{columns, columns, functions, functions, true, own + first, functions, 1};
        bool has_summed = false;
        for_blocks<false>(load_features(), [&](const auto& at, const auto& known) {
            __syncthreads();
            if (has_summed) by.take(of, thread());
            date::fill_functions(mine(), means, scales, at.has_path, known);
            __syncthreads();
            of.into = own + first + at.side * of_side;
            by.sum(of, thread());
            has_summed = true;
        });
        __syncthreads();
        if (has_summed) by.take(of, thread());
        leave(first, first + sizes.of_fits(), date::sums_of(tile));
    }

    // Sums functions times moves times `rest`, which slopes have to explain, or times what `along` explains.
    template <bool of_image>
    void sum_moves() const {
        this->template look_for_slopes<of_image>(
            [&](auto is_today) { sum_moves_by<of_image, is_today.value>(); });
    }

  private:
    template <bool of_image, bool is_today>
    void sum_moves_by() const {
        constexpr int known = is_today ? 1 : functions;
        if (!is_today) this->take_scales(means, scales);
        if (of_image)
            for (int i = thread(); i < moves * known; i += threads)
                along_it[i % known * moves + i / known] = this->along()[i];
        clear(0, moves * known);
        __syncthreads();
        const functions_by_moves by{quarters};
        const product_sums of{columns, columns + functions * slots_of_column, known, moves, false, own, 1,
                              known};
        bool has_summed = false;
        struct loaded {
            typename date::known_path known;
            typename date::known_normals normals;
            double rest;
        };
        const auto load = [&](const auto& at, auto number) {
            loaded out{};
            if (!is_today) out.known = this->known_by(at.has_path, at.path, number);
            out.normals = this->normals_of(at.has_path, at.path, number);
            if (!of_image) out.rest = number(at.has_path, this->rest + at.path);
            return out;
        };
        for_blocks<is_today>(load, [&](const auto& at, const loaded& of_path) {
            __syncthreads();
            if (has_summed) by.take(of, thread());
            if (is_today) {
                mine()[0] = at.has_path ? 1 : 0;
            } else {
                date::fill_functions(mine(), means, scales, at.has_path, of_path.known);
            }
            double number = of_path.rest;
            if (of_image) {
                double slopes[word32(moves > 0 ? moves : 1)]{};
                unrolled_by<2>(0, known, [&](int f) {
                    const double function = mine()[f * slots_of_column];
                    unrolled<moves>(
                        [&](int m) { slopes[m] = fma(along_it[f * moves + m], function, slopes[m]); });
                });
                date::for_moves(at.has_path, of_path.normals,
                                [&](int m, double move) { number = fma(slopes[m], move, number); });
            }
            double* const of_moves = mine() + functions * slots_of_column;
            date::for_moves(at.has_path, of_path.normals,
                            [&](int m, double move) { of_moves[m * slots_of_column] = number * move; });
            __syncthreads();
            by.sum(of, thread());
            has_summed = true;
        });
        __syncthreads();
        if (has_summed) by.take(of, thread());
        leave(0, moves * known, date::sums_of_moves_of(tile));
    }
};

}  // namespace tilewalk::kernels
