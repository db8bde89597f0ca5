// SPDX-License-Identifier: Apache-2.0
// The kernel that finds policies: the way back through the dates of rights, over what paths have left. Some
// blocks work on a trade, each on tiles of its own; sums of tiles are left in memory, and after all have met
// each block adds them up by itself, in the order of tiles, and solves by itself. So no bit depends on how
// many blocks there are, and all are those of engine/exercise/backward.cpp, which says what is found.
#pragma once

#include "kernels/exercise/backward_arguments.h"
#include "kernels/exercise/least_squares.h"
#include "kernels/loops.h"
#include "kernels/resident_blocks.h"
#include "kernels/tile.h"

namespace tilewalk::kernels {

// A symmetric matrix, or the sum of two: their elements (i, j) for j <= i.
struct sum_of_matrices {
    const double *first, *second;  // the second may be null
    int n;
    double operator()(int i, int j) const {
        const double x = first[i * n + j];
        return second != nullptr ? x + second[i * n + j] : x;
    }
};

// A factor of Cholesky in shared memory, made and used by one warp: see engine/exercise/regression.h.
template <int most_functions>
struct factor_in_memory {
    static constexpr int rows_of_lane = (most_functions + 31) / 32;
    static constexpr word32 all_lanes = ~word32{0};

    double *of, *scale, *inverse;  // [function][column], by function, by column
    int* order;                    // by column: its function
    int n;                         // functions

    factor_in_memory(double* memory, int functions)
        : of(memory),
          scale(memory + functions * functions),
          inverse(scale + functions),
          order(reinterpret_cast<int*>(inverse + functions)),
          n(functions) {}

    static int lane() { return int(threadIdx.x % 32); }

    // Returns the rank.
    int make(const sum_of_matrices& at, int most_rank) const { return make(*this, at, most_rank); }
    void solve(int rank, const double* right, double* out) const { solve(*this, rank, right, out); }

  private:
    // Both take all by value, so that nothing needs an address.
    static int make(const factor_in_memory f, const sum_of_matrices at, int most_rank) {
        double *const of = f.of, *const scale = f.scale, *const inverse = f.inverse;
        int* const order = f.order;
        const int n = f.n;
        double left[word32(rows_of_lane)];
        unrolled<rows_of_lane>([&](int r) {
            const int i = lane() + 32 * r;
            left[r] = 0;
            if (i >= n) return;
            const double length = at(i, i);
            scale[i] = length > 0 && length < format<double>::infinity ? 1 / sqrt(length) : 0;
            left[r] = scale[i] > 0 ? 1 : 0;
        });
        __syncwarp();
        int k = 0;
        for (; k < n && k < most_rank; ++k) {
            double pivot = left[0];
            int p = lane();
            unrolled<rows_of_lane>([&](int r) {
                if (!(left[r] > pivot)) return;
                pivot = left[r];
                p = lane() + 32 * r;
            });
            for (int apart = 16; apart > 0; apart /= 2) {
                const double other = __shfl_xor_sync(all_lanes, pivot, apart);
                const int of_other = __shfl_xor_sync(all_lanes, p, apart);
                if (!(other > pivot || (other == pivot && of_other < p))) continue;
                pivot = other;
                p = of_other;
            }
            if (!(pivot > least_pivot)) break;
            const double root = sqrt(pivot), inverse_root = 1 / root;
            unrolled<rows_of_lane>([&](int r) {
                const int i = lane() + 32 * r;
                if (!(left[r] > 0)) return;
                double sum = (i < p ? at(p, i) : at(i, p)) * scale[i] * scale[p];
                for (int c = 0; c < k; ++c) sum = fma(-of[i * n + c], of[p * n + c], sum);
                const double l = i == p ? root : sum * inverse_root;
                of[i * n + k] = l;
                const double rest = fma(-l, l, left[r]);
                left[r] = i == p || rest < 0 ? 0 : rest;
            });
            if (lane() == 0) {
                order[k] = p;
                inverse[k] = inverse_root;
            }
            __syncwarp();
        }
        return k;
    }

    static void solve(const factor_in_memory f, int rank, const double* right, double* out) {
        const double *const of = f.of, *const scale = f.scale, *const inverse = f.inverse;
        const int* const order = f.order;
        const int n = f.n;
        double x[word32(rows_of_lane)];
        unrolled<rows_of_lane>([&](int r) {
            const int k = lane() + 32 * r;
            x[r] = k < rank ? right[order[k]] * scale[order[k]] : 0;
            if (k < n) out[k] = 0;
        });
        __syncwarp();
        // The number k, which is found, is kept where it belongs.
        const auto found = [&](int k) {
            double x_k = 0;
            unrolled<rows_of_lane>([&](int r) {
                const double mine = __shfl_sync(all_lanes, x[r], k % 32);
                if (k / 32 == r) x_k = mine * inverse[k];
            });
            unrolled<rows_of_lane>([&](int r) {
                if (k == lane() + 32 * r) x[r] = x_k;
            });
            return x_k;
        };
        for (int k = 0; k < rank; ++k) {
            const double x_k = found(k);
            unrolled<rows_of_lane>([&](int r) {
                const int i = lane() + 32 * r;
                if (i > k && i < rank) x[r] = fma(-of[order[i] * n + k], x_k, x[r]);
            });
        }
        for (int k = rank - 1; k >= 0; --k) {
            const double x_k = found(k);
            unrolled<rows_of_lane>([&](int r) {
                const int i = lane() + 32 * r;
                if (i < k) x[r] = fma(-of[order[k] * n + i], x_k, x[r]);
            });
        }
        unrolled<rows_of_lane>([&](int r) {
            const int k = lane() + 32 * r;
            if (k < rank) out[order[k]] = x[r] * scale[order[k]];
        });
        __syncwarp();
    }
};

// `basis` has the constants states, functions, normals, moves, and the tables before(k) and feature(k) of the
// functions from the second on, first_of(m), second_of(m) and order_of(m) of moves.
template <class basis>
class backward_walk {
  public:
    static constexpr int threads = paths_of_block;

    // It stands in shared memory, ahead of the rest: what all threads of a block know takes no registers
    // then. One thread opens it.
    static constexpr int own_doubles = backward_sizes::doubles_of_walk;
    void open(const backward_arguments& a, double* shared) {
        trade_ = a.trades[blockIdx.x / a.blocks_of_trade];
        blocks_ = a.blocks_of_trade;
        block_ = blockIdx.x % a.blocks_of_trade;
        tiles_ = word32(tiles_of(trade_.paths));
        columns_ = shared + own_doubles;
        double* next = shared + sizes.doubles();
        const auto take = [&](int count) { return next -= count; };
        factor_ = take(sizes.factor_doubles());
        means_ = take(features);
        scales_ = take(features);
        sides_ = take(2 * numbers_of_side(functions));
        right_ = take(moves * functions);
        nearly_ = take(moves * functions);
        along_ = take(moves * functions);
        slopes_ = take(moves * functions);
        few_ = take(4 * lanes_of_inner);
        side_of_sums_ = met_ = 0;
        rank_ = 0;
        is_finite_ = true;
    }

    void walk() {
        begin();
        set_interval(trade_.end_row + 1, trade_.last_root);
        for (int d = int(trade_.date_count) - 1; d >= 0; --d) {
            if (thread() == 0) date_ = trade_.dates[d];
            __syncthreads();
            decide(trade_.found + word64(d) * word64(numbers_of_date(features, functions, moves)));
            set_interval(date_.first_row + rows_before_features + basis::states, date_.root);
        }
        end(trade_.found + word64(trade_.date_count) * word64(numbers_of_date(features, functions, moves)));
    }

  private:
    static constexpr int features = basis::states + 1, functions = basis::functions, moves = basis::moves;
    static constexpr backward_sizes sizes{features, functions, moves};
    static constexpr int of_side = functions * functions + functions;
    static constexpr word64 most = word64(most_sums(features, functions, moves));
    using factor = factor_in_memory<functions>;
    static constexpr double infinity = format<double>::infinity;

    // The interval that begins at the date at hand: the first row of its sums of normals, and its root.
    struct interval {
        word64 first_row;
        double root;
    };

    void set_interval(word64 first_row, double root) {
        __syncthreads();
        if (thread() == 0) after_ = {first_row, root};
        __syncthreads();
    }

    static int thread() { return int(threadIdx.x); }
    double at(word64 row, word32 path) const { return trade_.left[row * trade_.pitch + path]; }
    bool is_first() const { return block_ == 0; }

    // ---- blocks of threads and their sums
    void meet() {
        __syncthreads();
        if (blocks_ == 1) return;
        if (thread() == 0) {
            __threadfence();
            ++met_;
            atomicAdd(trade_.arrived, 1u);
            while (*static_cast<volatile word32*>(trade_.arrived) < met_ * blocks_) {
            }
            __threadfence();
        }
        __syncthreads();
    }

    // Calls of(tile, sums) for each of the first tiles that is this block's, whose sums start at 0; then
    // columns have the sums of all of them.
    template <class body>
    void summed(int numbers, word32 tiles, const body& of) {
        double* const all = trade_.sums + word64(side_of_sums_) * tiles_ * most;
        for (word32 tile = block_; tile < tiles; tile += blocks_) {
            double* const sums = all + tile * most;
            for (int i = thread(); i < numbers; i += threads) sums[i] = 0;
            of(tile, sums);
        }
        meet();
        for (int i = thread(); i < numbers; i += threads) {
            double sum = 0;
#pragma unroll 8
            for (word32 tile = 0; tile < tiles; ++tile) sum += __ldcg(all + tile * most + i);
            columns_[i] = sum;
        }
        if (thread() == 0) side_of_sums_ ^= 1;
        __syncthreads();
    }
    // The least, or the greatest, of what tiles have left behind the sums of the last `summed`.
    double least(int at_number, bool is_greatest) const {
        const double* const all = trade_.sums + word64(side_of_sums_ ^ 1) * tiles_ * most + at_number;
        double out = is_greatest ? -infinity : infinity;
        for (word32 tile = 0; tile < tiles_; ++tile) {
            const double x = __ldcg(all + tile * most);
            out = is_greatest ? (out < x ? x : out) : (x < out ? x : out);
        }
        return out;
    }

    // Calls of(side, has_path, path) for each block of paths that count, with the thread's own; the next one
    // is on its way meanwhile.
    template <class body>
    void for_blocks(word32 tile, const body& of) const {
        for (int side = 0; side < 2; ++side) {
            const word32* const list = trade_.counted + (word64(side) * tiles_ + tile) * paths_per_tile;
            const int count = int(trade_.counts[2 * tile + word32(side)]);
            word32 next = thread() < count ? list[thread()] : 0;
            for (int first = 0; first < count; first += threads) {
                const word32 path = next;
                const int number = first + thread();
                if (number + threads < count) next = list[number + threads];
                of(side, number < count, path);
            }
        }
    }
    // Does the same for all paths of the tile: of(has_path, path).
    template <class body>
    void for_all(word32 tile, const body& of) const {
        const int count = paths_in_tile(trade_.paths, tile);
        for (int first = 0; first < count; first += threads)
            of(first + thread() < count, tile * paths_per_tile + word32(first + thread()));
    }

    double* column(int number) const {
        return columns_ + number * paths_of_block;
    }

    // The sum over 16 lanes, in each of them.
    static double sum_of_lanes(double x) {
        const word32 lanes = 0xffffu << (threadIdx.x % 32 / 16 * 16);
        unrolled<4>([&](int level) { x += __shfl_xor_sync(lanes, x, lanes_of_sum / 2 >> level); });
        return x;
    }
    // Adds the sums of products of columns `a` + i and `b` + j to into[i * down + j * across], for i < rows
    // and j < cols; where it is `lower`, for j <= i alone. Lanes hold two rows and two columns at a time.
    // It takes its sizes at run time: laid out for those of each use, it took a compiler twenty seconds.
    struct product_sums {
        const double *a, *b;
        int rows, cols;
        bool lower;
        double* into;
        int down, across;
    };
    static void add_products(const product_sums of) {
        constexpr int side = 2;
        const int tall = (of.rows + side - 1) / side, wide = (of.cols + side - 1) / side;
        const int squares = of.lower ? tall * (tall + 1) / 2 : tall * wide;
        const int lane = thread() % lanes_of_sum;
        for (int square = thread() / lanes_of_sum; square < squares; square += threads / lanes_of_sum) {
            int i = 0, j = square;
            if (of.lower) {
                for (; j > i; ++i) j -= i + 1;
            } else {
                i = square / wide;
                j = square % wide;
            }
            i *= side;
            j *= side;
            const double *from_a[side], *from_b[side];
            unrolled<side>([&](int k) {
                from_a[k] = of.a + min(i + k, of.rows - 1) * paths_of_block + lane;
                from_b[k] = of.b + min(j + k, of.cols - 1) * paths_of_block + lane;
            });
            double sums[side][side]{};
#pragma unroll 1
            for (int p = 0; p < paths_of_block; p += lanes_of_sum) {
                double x[side], y[side];
                unrolled<side>([&](int k) {
                    x[k] = from_a[k][p];
                    y[k] = from_b[k][p];
                });
                unrolled<side>(
                    [&](int r) { unrolled<side>([&](int c) { sums[r][c] = fma(x[r], y[c], sums[r][c]); }); });
            }
            // A lane each adds one of the sums to what is there, which is on its way meanwhile.
            const int row = i + lane / side, col = j + lane % side;
            const bool is_there =
                lane < side * side && row < of.rows && col < of.cols && (!of.lower || col <= row);
            double* const to = of.into + (is_there ? row * of.down + col * of.across : 0);
            const double before = is_there ? *to : 0;
            double mine = 0;
            unrolled<side>([&](int r) {
                unrolled<side>([&](int c) {
                    const double sum = sum_of_lanes(sums[r][c]);
                    if (lane == r * side + c) mine = sum;
                });
            });
            if (is_there) *to = before + mine;
        }
    }
    // Adds the sums of `count` columns, or of their squares.
    template <bool of_squares>
    void add_columns(int count, double* into) const {
        const int lane = thread() % lanes_of_sum;
        for (int f = thread() / lanes_of_sum; f < count; f += threads / lanes_of_sum) {
            const double before = into[f];
            double sum = 0;
            for (int p = lane; p < paths_of_block; p += lanes_of_sum) {
                const double x = column(f)[p];
                sum = of_squares ? fma(x, x, sum) : sum + x;
            }
            sum = sum_of_lanes(sum);
            if (lane == 0) into[f] = before + sum;
        }
    }

    // ---- a date
    void begin() {
        bool is_finite = true;
        for (word32 tile = block_; tile < tiles_; tile += blocks_) {
            for_all(tile, [&](bool has_path, word32 p) {
                if (!has_path) return;
                const double paid = at(trade_.end_row, p);
                if (!(abs(paid) < infinity)) is_finite = false;
                trade_.total[p] = trade_.worth[p] = paid;
            });
        }
        is_finite = __syncthreads_and(is_finite ? 1 : 0) != 0;
        if (thread() == 0) is_finite_ = is_finite;
        __syncthreads();
    }

    void decide(double* found) {
        find_features();
        fit();
        estimate();
        if constexpr (moves > 0) find_slopes(functions);
        use();
        if (!is_first()) return;
        const auto write = [&](const double* from, int count) {
            for (int i = thread(); i < count; i += threads) found[i] = from[i];
            found += count;
        };
        write(means_, features);
        write(scales_, features);
        write(sides_, 2 * numbers_of_side(functions));
        write(slopes_, moves * functions);
        __syncthreads();
    }

    // Lists the tile's paths that count, those first on which the right pays something.
    void take_sides(word32 tile) {
        int* const of_warps = reinterpret_cast<int*>(few_);  // [warp][side]
        int counts[2]{};
        for_all(tile, [&](bool has_path, word32 p) {
            int side = 2;
            if (has_path && at(date_.first_row + row_of_alive, p) != 0) {
                const bool pays =
                    at(date_.first_row + row_of_offered, p) != 0 &&
                    at(date_.first_row + row_of_gives, p) / at(date_.first_row + row_of_unit, p) > 0;
                side = pays ? 0 : 1;
            }
            __syncthreads();
            word32 same[2];
            unrolled<2>([&](int s) {
                same[s] = __ballot_sync(~word32{0}, side == s);
                if (thread() % 32 == 0) of_warps[2 * (thread() / 32) + s] = __popc(same[s]);
            });
            __syncthreads();
            unrolled<2>([&](int s) {
                int before = counts[s];
                for (int w = 0; w < threads / 32; ++w) {
                    const int of_warp = of_warps[2 * w + s];
                    if (w < thread() / 32) before += of_warp;
                    counts[s] += of_warp;
                }
                const word32 lower = (word32{1} << (thread() % 32)) - 1;
                if (side == s)
                    trade_.counted[(word64(s) * tiles_ + tile) * paths_per_tile +
                                   word64(before + __popc(same[s] & lower))] = p;
            });
        });
        if (thread() < 2)
            trade_.counts[2 * tile + word32(thread())] = word32(thread() == 0 ? counts[0] : counts[1]);
        __syncthreads();
    }

    double feature(int f, word32 p) const {
        if (f < basis::states) return at(date_.first_row + rows_before_features + word64(f), p);
        return at(date_.first_row + row_of_gives, p) / at(date_.first_row + row_of_unit, p);
    }

    void find_features() {
        word32 tiles = tiles_ < tiles_of_scales ? tiles_ : word32(tiles_of_scales);
        double living = sum_features(tiles);
        if (living < double(least_paths_of_scales) && tiles < tiles_) {
            tiles = tiles_;
            living = sum_features(tiles);
        }
        living = living > 1 ? living : 1;
        if (thread() < features) {
            const double sum = columns_[thread()];
            means_[thread()] = abs(sum) < infinity ? sum / living : 0;
        }
        __syncthreads();
        summed(features, tiles, [&](word32 tile, double* sums) {
            for_blocks(tile, [&](int, bool has_path, word32 p) {
                __syncthreads();
                for (int f = 0; f < features; ++f)
                    column(f)[thread()] = has_path ? feature(f, p) - means_[f] : 0;
                __syncthreads();
                add_columns<true>(features, sums);
            });
            __syncthreads();
        });
        if (thread() < features) {
            const double deviation = sqrt(columns_[thread()] / living);
            const bool varies = deviation > 1e-10 * abs(means_[thread()]) && abs(1 / deviation) < infinity;
            scales_[thread()] = varies ? 1 / deviation : 0;
        }
        __syncthreads();
    }
    // Columns have the sums of features on the first tiles. Returns how many paths live there.
    double sum_features(word32 tiles) {
        summed(features + 1, tiles, [&](word32 tile, double* sums) {
            take_sides(tile);
            if (thread() == 0) sums[features] = double(trade_.counts[2 * tile] + trade_.counts[2 * tile + 1]);
            for_blocks(tile, [&](int, bool has_path, word32 p) {
                __syncthreads();
                for (int f = 0; f < features; ++f) column(f)[thread()] = has_path ? feature(f, p) : 0;
                __syncthreads();
                add_columns<false>(features, sums);
            });
            __syncthreads();
        });
        return columns_[features];
    }

    // The functions of the thread's path, in the first columns; a thread without a path has none.
    void fill_functions(int count, bool has_path, word32 p) const {
        column(0)[thread()] = has_path ? 1 : 0;
        if (count == 1) return;
        double x[word32(features)];
        unrolled<features>([&](int f) { x[f] = has_path ? (feature(f, p) - means_[f]) * scales_[f] : 0; });
        spelled_out<functions - 1>([&](int k) {
            column(k + 1)[thread()] = column(basis::before(k))[thread()] * x[basis::feature(k)];
        });
    }

    void fit() {
        constexpr int counts = 2 * of_side, ranges = counts + 2;
        summed(2 * of_side + 2, tiles_, [&](word32 tile, double* sums) {
            take_sides(tile);
            if (thread() < 2) sums[counts + thread()] = double(trade_.counts[2 * tile + word32(thread())]);
            double low[2] = {infinity, infinity}, high[2] = {-infinity, -infinity};
            for_blocks(tile, [&](int side, bool has_path, word32 p) {
                __syncthreads();
                fill_functions(functions, has_path, p);
                double to_come = 0;
                if (has_path) {
                    to_come = (trade_.total[p] - at(date_.first_row + row_of_value, p)) /
                              at(date_.first_row + row_of_unit, p);
                    unrolled<2>([&](int s) {
                        if (s != side) return;
                        low[s] = to_come < low[s] ? to_come : low[s];
                        high[s] = high[s] < to_come ? to_come : high[s];
                    });
                }
                column(functions)[thread()] = to_come;
                __syncthreads();
                double* const into = sums + side * of_side;
                add_products({columns_, columns_, functions + 1, functions, true, into, functions, 1});
            });
            __syncthreads();
            unrolled<2>([&](int s) {
                leave_range(low[s], false, sums + ranges + 2 * s);
                leave_range(high[s], true, sums + ranges + 2 * s + 1);
            });
        });
        const double living[2] = {columns_[counts], columns_[counts + 1]};
        const int warp = thread() / 32;
        double* const side_factors = columns_ + most;
        if (warp < 2) {
            double* const side = sides_ + warp * numbers_of_side(functions);
            const double* const of = columns_ + warp * of_side;
            const double paths = warp == 0 ? living[0] : living[1];
            const factor made(side_factors + warp * sizes.factor_doubles(), functions);
            int rank = 0;
            if (paths > 0) {
                rank = made.make({of, nullptr, functions}, most_rank(word64(paths), paths_of_function));
            }
            made.solve(rank, of + functions * functions, side);
            if (factor::lane() == 0) {
                side[functions] = paths > 0 ? least(ranges + 2 * warp, false) : 0;
                side[functions + 1] = paths > 0 ? least(ranges + 2 * warp + 1, true) : 0;
                side[functions + 2] = rank;
            }
        } else if (warp == 2 && moves > 0) {
            const int rank = factor(factor_, functions)
                                 .make({columns_, columns_ + of_side, functions},
                                       most_rank(word64(living[0] + living[1]), paths_of_slope));
            if (factor::lane() == 0) rank_ = rank;
        }
        __syncthreads();
    }
    // The block's least or greatest number.
    void leave_range(double x, bool is_greatest, double* into) {
        for (int apart = 16; apart > 0; apart /= 2) {
            const double other = __shfl_xor_sync(~word32{0}, x, apart);
            if (is_greatest ? x < other : other < x) x = other;
        }
        if (thread() % 32 == 0) few_[thread() / 32] = x;
        __syncthreads();
        if (thread() == 0) {
            for (int w = 1; w < threads / 32; ++w)
                if (is_greatest ? x < few_[w] : few_[w] < x) x = few_[w];
            *into = x;
        }
        __syncthreads();
    }
    // Estimates what is to come on paths that live, and, if there is a bound, sums how far that is from what
    // comes.
    void estimate() {
        const auto each = [&](int side, bool has_path, word32 p) {
            fill_functions(functions, has_path, p);
            double rest = 0;
            if (has_path) {
                const double* const by = sides_ + side * numbers_of_side(functions);
                double sum = 0;
                unrolled_by<2>(0, functions, [&](int f) { sum = fma(by[f], column(f)[thread()], sum); });
                const double low = by[functions], high = by[functions + 1];
                sum = sum < low ? low : sum;
                sum = high < sum ? high : sum;
                trade_.estimate[p] = sum;
                rest = (trade_.worth[p] - at(date_.first_row + row_of_value, p)) /
                           at(date_.first_row + row_of_unit, p) -
                       sum;
            }
            return rest;
        };
        if constexpr (moves == 0) {
            for (word32 tile = block_; tile < tiles_; tile += blocks_)
                for_blocks(tile, [&](int side, bool has_path, word32 p) { each(side, has_path, p); });
            __syncthreads();
        } else {
            summed(moves * functions, tiles_, [&](word32 tile, double* sums) {
                for_blocks(tile, [&](int side, bool has_path, word32 p) {
                    __syncthreads();
                    const double rest = each(side, has_path, p);
                    add_moves(functions, has_path, p, rest, sums);
                });
                __syncthreads();
            });
        }
    }

    // ---- slopes of the martingale
    double move(int m, const double (&normals)[word32(basis::normals > 0 ? basis::normals : 1)]) const {
        const double u = normals[basis::first_of(m)];
        if (basis::second_of(m) != basis::first_of(m)) return u * normals[basis::second_of(m)];
        return hermite(basis::order_of(m), u, 1.0);
    }
    template <class body>
    void for_moves(bool has_path, word32 p, const body& of) const {
        double normals[word32(basis::normals > 0 ? basis::normals : 1)];
        unrolled<basis::normals>(
            [&](int n) { normals[n] = has_path ? at(after_.first_row + word64(n), p) * after_.root : 0; });
        spelled_out<moves>([&](int m) { of(m, has_path ? move(m, normals) : 0); });
    }
    // Adds the products of functions and moves with a number of the thread's path. So many functions are
    // filled.
    void add_moves(int count, bool has_path, word32 p, double number, double* sums) const {
        for_moves(has_path, p, [&](int m, double move) { column(functions + m)[thread()] = number * move; });
        __syncthreads();
        add_products({columns_, column(functions), count, moves, false, sums, 1, count});
    }

    // Columns have the right-hand side. Leaves slopes; see engine/exercise/backward.cpp.
    void find_slopes(int count) {
        const int numbers = moves * count;
        const factor by(factor_, count);
        const auto for_numbers = [&](const auto& of) {
            for (int i = thread(); i < numbers; i += threads) of(i);
        };
        const auto solve_nearly = [&] {
            for (int m = thread() / 32; m < moves; m += threads / 32)
                by.solve(rank_, right_ + m * count, nearly_ + m * count);
            __syncthreads();
        };
        for_numbers([&](int i) {
            right_[i] = columns_[i];
            slopes_[i] = 0;
        });
        __syncthreads();
        solve_nearly();
        for_numbers([&](int i) { along_[i] = nearly_[i]; });
        __syncthreads();
        double size = inner(right_, nearly_, numbers);
        for (int k = 0; k < steps_to_slopes && size > 0; ++k) {
            sum_image(count);
            const double length = size / inner(along_, columns_, numbers);
            if (!(abs(length) < infinity)) break;
            for_numbers([&](int i) {
                slopes_[i] = fma(length, along_[i], slopes_[i]);
                right_[i] = fma(-length, columns_[i], right_[i]);
            });
            __syncthreads();
            solve_nearly();
            const double before = size;
            size = inner(right_, nearly_, numbers);
            for_numbers([&](int i) { along_[i] = fma(size / before, along_[i], nearly_[i]); });
            __syncthreads();
        }
        __syncthreads();
    }
    void sum_image(int count) {
        const auto add = [&](bool has_path, word32 p, double* sums) {
            __syncthreads();
            fill_functions(count, has_path, p);
            double number = 0;
            for_moves(has_path, p, [&](int m, double move) {
                double slope = 0;
                for (int f = 0; f < count; ++f)
                    slope = fma(along_[m * count + f], column(f)[thread()], slope);
                number = fma(slope, move, number);
            });
            add_moves(count, has_path, p, number, sums);
        };
        summed(moves * count, tiles_, [&](word32 tile, double* sums) {
            if (count == 1) {
                for_all(tile, [&](bool has_path, word32 p) { add(has_path, p, sums); });
            } else {
                for_blocks(tile, [&](int, bool has_path, word32 p) { add(has_path, p, sums); });
            }
            __syncthreads();
        });
    }
    // Each warp finds it by itself.
    static double inner(const double* a, const double* b, int count) {
        double sum = 0;
        for (int i = thread() % 32; i < count; i += lanes_of_inner) sum = fma(a[i], b[i], sum);
        for (int apart = lanes_of_inner / 2; apart > 0; apart /= 2)
            sum += __shfl_down_sync(~word32{0}, sum, word32(apart));
        sum = __shfl_sync(~word32{0}, sum, 0);
        return sum;
    }

    void use() {
        for (word32 tile = block_; tile < tiles_; tile += blocks_) {
            for_all(tile, [&](bool has_path, word32 p) {
                if (!has_path) return;
                const auto left = [&](int row) { return at(date_.first_row + word64(row), p); };
                if (left(row_of_alive) == 0) {
                    trade_.worth[p] = trade_.total[p];
                    return;
                }
                const double gives = left(row_of_gives), unit = left(row_of_unit), value = left(row_of_value);
                const double paid = gives / unit, to_come = trade_.estimate[p];
                const bool uses =
                    left(row_of_offered) != 0 && (date_.is_holders != 0 ? to_come < paid : paid < to_come);
                if (uses) trade_.total[p] = value + gives;
                trade_.worth[p] = value + (uses ? gives : unit * to_come);
            });
        }
        __syncthreads();
    }

    // The sum of what others pay more than the mean, or that of its squares.
    template <bool of_squares>
    double sum_gain(double mean) {
        summed(1, tiles_, [&](word32 tile, double* sums) {
            for_all(tile, [&](bool has_path, word32 p) {
                __syncthreads();
                column(0)[thread()] = has_path ? trade_.others[p] - trade_.total[p] - mean : 0;
                __syncthreads();
                add_columns<of_squares>(1, sums);
            });
            __syncthreads();
        });
        const double sum = columns_[0];
        __syncthreads();
        return sum;
    }

    void end(double* found) {
        summed(3, tiles_, [&](word32 tile, double* sums) {
            if (thread() == 0) sums[2] = is_finite_ ? 0 : 1;
            for_all(tile, [&](bool has_path, word32 p) {
                __syncthreads();
                column(0)[thread()] = has_path ? trade_.worth[p] : 0;
                column(1)[thread()] = has_path ? trade_.total[p] : 0;
                __syncthreads();
                add_columns<false>(2, sums);
            });
            __syncthreads();
        });
        const double paths = double(trade_.paths), worth = columns_[0];
        if (is_first() && thread() < 2) found[thread()] = columns_[thread()];
        if (is_first() && thread() == 2) found[2 + moves] = columns_[2];
        __syncthreads();
        if (trade_.others != nullptr) {
            const double sum = sum_gain<false>(0);
            const double squares = sum_gain<true>(sum / paths);
            if (is_first() && thread() == 0) {
                found[3 + moves] = sum;
                found[4 + moves] = squares;
            }
        }
        if constexpr (moves > 0) {
            if (thread() == 0) columns_[0] = paths;
            __syncthreads();
            if (thread() / 32 == 2) {
                const int rank =
                    factor(factor_, 1).make({columns_, nullptr, 1}, most_rank(trade_.paths, paths_of_slope));
                if (factor::lane() == 0) rank_ = rank;
            }
            __syncthreads();
            summed(moves, tiles_, [&](word32 tile, double* sums) {
                for_all(tile, [&](bool has_path, word32 p) {
                    __syncthreads();
                    fill_functions(1, has_path, p);
                    add_moves(1, has_path, p, has_path ? trade_.worth[p] - worth / paths : 0, sums);
                });
                __syncthreads();
            });
            find_slopes(1);
            if (!is_first()) return;
            for (int m = thread(); m < moves; m += threads) found[2 + m] = slopes_[m];
        }
    }

    backward_trade trade_;
    backward_date date_;  // at hand
    interval after_;
    double *columns_, *factor_, *means_, *scales_;
    double* sides_;  // [side]: coefficients, low, high, rank
    double *right_, *nearly_, *along_, *slopes_, *few_;
    word32 blocks_, block_, tiles_, side_of_sums_, met_;
    int rank_;
    bool is_finite_;
};

template <class basis>
static void find_policy(const backward_arguments& a, double* shared) {
    using walk = backward_walk<basis>;
    static_assert(sizeof(walk) <= walk::own_doubles * sizeof(double));
    walk& of_block = *reinterpret_cast<walk*>(shared);
    if (threadIdx.x == 0) of_block.open(a, shared);
    __syncthreads();
    of_block.walk();
}

}  // namespace tilewalk::kernels
