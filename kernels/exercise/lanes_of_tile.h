// SPDX-License-Identifier: Apache-2.0
// Sums over a tile's paths on a date, in registers if they fit. Same bits as the columns of tile_of_date.h.
#pragma once

#include "kernels/exercise/blocks_of_tile.h"
#include "kernels/exercise/date_at_hand.h"
#include "kernels/loops.h"
#include "kernels/tile.h"

namespace tilewalk::kernels {

template <class basis>
struct lanes_of_tile : date_at_hand<basis> {
    using date = date_at_hand<basis>;
    using date::features, date::functions, date::moves, date::sizes;
    static constexpr int threads = backward_sizes::threads_of_lanes,
                         most_blocks = backward_sizes::most_blocks_of_tile;
    static constexpr int fits = functions * (functions + 1) / 2;

    word32 tile;
    double *parts, *means, *scales, *along_it, *ring;  // parts: [block][number]

    lanes_of_tile(const backward_arguments& a, double* shared, const date& of)
        : date(of),
          tile(blockIdx.x % a.tiles),
          parts(shared),
          means(parts + most_blocks * (fits > sizes.slopes() ? fits : sizes.slopes())),
          scales(means + features),
          along_it(scales + features),
          ring(along_it + sizes.slopes()) {}

    static int thread() { return int(threadIdx.x); }

    // Calls use(loaded, sums), which adds a path, for each path of the thread's lane; stores sums of blocks.
    template <bool is_today, int count, class loader, class body>
    void sum_by_lanes(const loader& load, const body& use) const {
        const lane_of_block<is_today> mine(*this, tile, thread());
        if (mine.is_there()) {
            double sums[word32(count)]{};
            mine.template for_paths<basis::reads, threads, sizes.numbers_to_sum()>(
                ring, load, [&](const auto& loaded) { use(loaded, sums); });
            mine.template leave<count>(sums, parts, count);
        }
        __syncthreads();
    }
    void sum_functions() const {
        constexpr int first = 2 * features, of_side = functions * functions;
        this->find_scales(tile, means, scales);
        __syncthreads();
        struct loaded {
            bool has_path;
            typename date::known_path known;
        };
        sum_by_lanes<false, fits>(
            [&](const auto& at, auto number) {
                return loaded{at.has_path, this->known_by(at.has_path, at.path, number)};
            },
            [&](const loaded& path, double(&sums)[word32(fits)]) {
                double of[word32(functions)];
                date::for_functions(
                    means, scales, path.has_path, path.known, [&](int k) { return of[k]; },
                    [&](int k, double value) { of[k] = value; });
                spelled_out<functions>([&](int i) {
                    unrolled_below(i, [&](int j) {
                        double& sum = sums[i * (i + 1) / 2 + j];
                        sum = fma(of[i], of[j], sum);
                    });
                });
            });
        const blocks_of_tile<false> all(*this, tile);
        double* const into = this->sums_of(tile) + first;
        for (int n = thread(); n < 2 * fits; n += threads) {
            const int side = n / fits, number = n % fits;
            int i = 0, j = number;
            for (; j > i; ++i) j -= i + 1;
            into[side * of_side + i * functions + j] =
                sum_of_blocks(parts + number, fits, side == 0 ? 0 : all.first_blocks,
                              side == 0 ? all.first_blocks : all.blocks);
        }
    }

    template <bool of_image>
    void sum_moves() const {
        this->template look_for_slopes<of_image>(
            [&](auto is_today) { sum_moves_by<of_image, is_today.value>(); });
    }

  private:
    // Calls of(j) for j = 0, 1, ... i, where i < functions, unrolled.
    template <class body>
    static void unrolled_below(int i, const body& of) {
        spelled_out<functions>([&](int j) {
            if (j <= i) of(j);
        });
    }

    template <bool of_image, bool is_today>
    void sum_moves_by() const {
        constexpr int known = is_today ? 1 : functions, count = moves * known;
        if (!is_today) this->take_scales(means, scales);
        for (int i = thread(); of_image && i < count; i += threads) along_it[i] = this->along()[i];
        __syncthreads();
        struct loaded {
            bool has_path;
            typename date::known_path known;
            typename date::known_normals normals;
            double rest;
        };
        sum_by_lanes<is_today, count>(
            [&](const auto& at, auto number) {
                loaded out{};
                out.has_path = at.has_path;
                if (!is_today) out.known = this->known_by(at.has_path, at.path, number);
                out.normals = this->normals_of(at.has_path, at.path, number);
                if (!of_image) out.rest = number(at.has_path, this->rest + at.path);
                return out;
            },
            [&](const loaded& path, double(&sums)[word32(count)]) {
                double of[word32(known)];
                if constexpr (is_today) {
                    of[0] = path.has_path ? 1 : 0;
                } else {
                    date::for_functions(
                        means, scales, path.has_path, path.known, [&](int k) { return of[k]; },
                        [&](int k, double value) { of[k] = value; });
                }
                double number = path.rest;
                if (of_image) {
                    date::for_moves(path.has_path, path.normals, [&](int m, double move) {
                        // Volatile: each path reads it anew. In registers it would need as many as sums do.
                        const volatile double* const along = along_it + m * known;
                        double slope = 0;
                        spelled_out<known>([&](int f) { slope = fma(along[f], of[f], slope); });
                        number = fma(slope, move, number);
                    });
                }
                date::for_moves(path.has_path, path.normals, [&](int m, double move) {
                    const double by = number * move;
                    spelled_out<known>([&](int f) {
                        double& sum = sums[m * known + f];
                        sum = fma(of[f], by, sum);
                    });
                });
            });
        const blocks_of_tile<is_today> all(*this, tile);
        for (int i = thread(); i < count; i += threads) {
            this->sums_of_moves_of(tile)[i] = sum_of_blocks(parts + i, count, 0, all.blocks);
        }
    }
};

}  // namespace tilewalk::kernels
