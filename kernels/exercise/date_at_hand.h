// SPDX-License-Identifier: Apache-2.0
// A date of a trade whose exercise policy is to be found: its memory, and what is known of paths on it.
#pragma once

#include "kernels/exercise/backward_arguments.h"
#include "kernels/loops.h"
#include "kernels/tile.h"

namespace tilewalk::kernels {

template <bool is_first, class first, class second>
struct choose_type {
    using type = first;
};
template <class first, class second>
struct choose_type<false, first, second> {
    using type = second;
};

template <bool is>
struct truth {
    static constexpr bool value = is;
};

// A date, and one of its fits. `basis` has the constants states, functions, normals, moves, reads, has_uses
// and has_notices. Function k + 1 is function before(k) times feature(k). Move m is the product of normals
// first_of(m) and second_of(m) or, if they are the same normal, its Hermite polynomial of order order_of(m).
template <class basis>
struct date_at_hand {
    static constexpr int features = basis::states + 1, functions = basis::functions, moves = basis::moves;
    static constexpr backward_sizes sizes{features, functions, moves, basis::normals, basis::reads};
    static constexpr word64 numbers_of_tile = word64(sizes.numbers_of_tile());
    static constexpr double infinity = format<double>::infinity;

    static constexpr bool has_cases = basis::has_uses || basis::has_notices;

    const double *left, *rows;  // all that paths have left, and that of the date
    const double* payment;      // rows of the payment of a notice
    word64 pitch;
    const double* after;   // of the interval that begins here: of its first piece
    const word64* pieces;  // of all
    double after_root;
    path_in_tile* listed;
    word32* counts;            // [tile][side]
    double* sums;              // [tile][number], of the date
    double* sums_of_moves;     // [tile][number], of the fit
    double *between, *search;  // factors and ranks, and the state of the search for slopes
    double *paid, *rest;       // by path
    double *found, *found_fit;
    word32 paths, tiles, piece_count, fits, lowest;
    int forced_from;
    bool is_today, is_holders, is_notice;

    date_at_hand() = default;
    // `fit` counts from the first fit of the date.
    date_at_hand(const backward_trade& of, word32 date, word32 fit, word32 tile_count) {
        const backward_date& d = of.dates[date];
        left = of.left;
        pitch = of.pitch;
        rows = left + d.first_row * pitch;
        payment = left + d.payment_row * pitch;
        tiles = tile_count;
        listed = of.listed + word64(date) * tiles * paths_per_tile;
        counts = of.counts + word64(date) * tiles * 2;
        sums = of.sums + word64(date) * tiles * numbers_of_tile;
        between = of.by_date + word64(date) * word64(sizes.numbers_of_factors());
        paid = of.paid + word64(date) * pitch;
        found = of.found + word64(date) * word64(numbers_of_date(features));
        paths = of.paths;
        fits = d.fits;
        lowest = d.lowest;
        forced_from = d.forced_from;
        is_today = date == of.date_count;
        is_holders = d.is_holders != 0;
        is_notice = d.is_notice != 0;
        const word64 number = (has_cases ? d.first_fit : date) + fit;
        const backward_fit& f = of.fits[number];
        pieces = of.pieces + f.first_piece;
        after = left + *pieces * pitch;
        piece_count = f.pieces;
        after_root = f.root;
        sums_of_moves = of.sums + number * tiles * word64(sizes.slopes());
        search = of.by_fit + number * word64(sizes.numbers_of_search());
        rest = of.rest + number * pitch;
        found_fit = of.found + word64(of.date_count) * word64(numbers_of_date(features)) +
                    (is_today ? word64(of.fit_count) * word64(numbers_of_fit(functions, moves)) +
                                    word64(fit) * word64(numbers_of_today(moves))
                              : number * word64(numbers_of_fit(functions, moves)));
    }
    // Dates of a launch are numbered over all trades: trade t has the numbers from t * most_dates on.
    static bool has_date(const backward_arguments& a, word32 number, bool has_today) {
        return number % a.most_dates < a.trades[number / a.most_dates].date_count + (has_today ? 1 : 0);
    }
    static date_at_hand of_date(const backward_arguments& a, word32 number) {
        return date_at_hand(a.trades[number / a.most_dates], number % a.most_dates, 0, a.tiles);
    }
    // Fits of a launch are numbered over all trades, most_fits for each; the fits of today come last.
    static bool has_fit(const backward_arguments& a, word32 number) {
        const backward_trade& of = a.trades[number / a.most_fits];
        return number % a.most_fits < of.fit_count + (has_cases ? of.dates[of.date_count].fits : 1);
    }
    static date_at_hand of_fit(const backward_arguments& a, word32 number) {
        const backward_trade& of = a.trades[number / a.most_fits];
        const word32 fit = number % a.most_fits, date = has_cases ? of.fits[fit].date : fit;
        return date_at_hand(of, date, has_cases ? fit - of.dates[date].first_fit : 0, a.tiles);
    }

    double* sums_of(word32 tile) const { return sums + word64(tile) * numbers_of_tile; }
    // The Cholesky factors for paths of either side (0, 1), and for all live paths (2).
    double* factors(int which) const { return between + which * sizes.factor_doubles(); }
    double* ranks() const { return factors(3); }  // -1: there is no path
    double* right() const { return search; }
    double* along() const { return right() + sizes.slopes(); }
    double* slopes() const { return along() + sizes.slopes(); }
    double* size_of_right() const { return slopes() + sizes.slopes(); }  // 0: the search has ended
    double* found_scales() const { return found + features; }
    // `behind` counts fits of this date, from this one on.
    double* found_sides(int behind) const { return found_fit + behind * numbers_of_fit(functions, moves); }
    double* found_today(int behind) const { return found_fit + behind * numbers_of_today(moves); }
    double* rest_of(int behind) const { return rest + word64(behind) * pitch; }
    double* found_slopes() const { return found_fit + (is_today ? 2 : 2 * numbers_of_side(functions)); }
    double* sums_of_moves_of(word32 tile) const {
        return sums_of_moves + word64(tile) * word64(sizes.slopes());
    }
    // The number of functions that slopes depend on: today only the constant, as all paths are alike.
    int known() const { return is_today ? 1 : functions; }

    const double* place(int number, word32 path) const { return rows + word64(number) * pitch + path; }
    double row(int number, word32 path) const { return *place(number, path); }
    int count(word32 tile, int side) const { return int(counts[2 * tile + word32(side)]); }
    // The number of live paths on the first tiles, of one side or both; every lane of the warp gets it.
    int paths_of(word32 first_tiles, bool has_paying, bool has_others) const {
        int sum = 0;
        for (word32 tile = threadIdx.x % 32; tile < first_tiles; tile += 32)
            sum += (has_paying ? count(tile, 0) : 0) + (has_others ? count(tile, 1) : 0);
        for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(~word32{0}, sum, apart);
        return sum;
    }
    int living(word32 first_tiles) const { return paths_of(first_tiles, true, true); }
    struct known_path {
        double of[word32(features)];
    };
    // Loads a path's features by `number` (see read_paths.h); the last is what using the right pays.
    template <class reader>
    known_path known_by(bool has_path, word32 path, reader& number) const {
        known_path out;
        unrolled<basis::states>(
            [&](int f) { out.of[f] = number(has_path, place(rows_before_features + f, path)); });
        out.of[basis::states] = number(has_path, paid + path);
        return out;
    }
    // Computes a path's functions in order and calls of(k, value) for each; value(k) returns an earlier one.
    template <class before, class body>
    static void for_functions(const double* means, const double* scales, bool has_path,
                              const known_path& known, const before& value, const body& of) {
        double x[word32(features)];
        unrolled<features>([&](int f) { x[f] = has_path ? (known.of[f] - means[f]) * scales[f] : 0; });
        of(0, has_path ? 1 : 0);
        spelled_out<functions - 1>(
            [&](int k) { of(k + 1, value(int(basis::before(k))) * x[basis::feature(k)]); });
    }

    // Stores a path's functions in columns, 0 without a path; `mine` is its place in the first column.
    static void fill_functions(double* mine, const double* means, const double* scales, bool has_path,
                               const known_path& known) {
        for_functions(
            means, scales, has_path, known, [&](int k) { return mine[k * slots_of_column]; },
            [&](int k, double value) { mine[k * slots_of_column] = value; });
    }
    static double move(int m, const double (&normals)[word32(basis::normals > 0 ? basis::normals : 1)]) {
        const double u = normals[basis::first_of(m)];
        if (basis::second_of(m) != basis::first_of(m)) return u * normals[basis::second_of(m)];
        return hermite(int(basis::order_of(m)), u, 1.0);
    }
    struct known_normals {
        double of[word32(basis::normals > 0 ? basis::normals : 1)];
    };
    template <class reader>
    known_normals normals_of(bool has_path, word32 path, reader& number) const {
        known_normals out{};
        unrolled<basis::normals>([&](int n) {
            double sum = number(has_path, after + word64(n) * pitch + path);
            if constexpr (basis::has_notices)
                for (word32 k = 1; has_path && k < piece_count; ++k)
                    sum += left[(pieces[k] + word64(n)) * pitch + path];
            out.of[n] = has_path ? sum * after_root : 0;
        });
        return out;
    }
    template <class body>
    static void for_moves(bool has_path, const known_normals& by, const body& of) {
        spelled_out<moves>([&](int m) { of(m, has_path ? move(m, by.of) : 0); });
    }

    double summed(int i, word32 of_tiles) const { return summed(sums + i, numbers_of_tile, of_tiles); }
    double summed_moves(int i) const { return summed(sums_of_moves + i, word64(sizes.slopes()), tiles); }
    static double summed(const double* next, word64 apart, word32 of_tiles) {
        double sum = 0;
#pragma unroll 16
        for (word32 tile = 0; tile < of_tiles; ++tile, next += apart) sum += *next;
        return sum;
    }
    word32 tiles_of_scale(int& living_there) const {
        const word32 few = tiles < tiles_of_scales ? tiles : word32(tiles_of_scales);
        living_there = living(few);
        if (living_there >= int(least_paths_of_scales) || few == tiles) return few;
        living_there = living(tiles);
        return tiles;
    }
    // Computes means and scales into shared memory, by all threads; tile 0 also stores them as results.
    void find_scales(word32 tile, double* means, double* scales) const {
        int living_there = 0;
        const word32 of_tiles = tiles_of_scale(living_there);
        for (int f = int(threadIdx.x); f < features; f += int(blockDim.x)) {
            means[f] = mean(f, of_tiles, living_there);
            scales[f] = scale(f, means[f], of_tiles, living_there);
            if (tile == 0) {
                found[f] = means[f];
                found_scales()[f] = scales[f];
            }
        }
    }
    // Copies the means and scales that find_scales() stored to shared memory, by all threads.
    void take_scales(double* means, double* scales) const {
        for (int f = int(threadIdx.x); f < features; f += int(blockDim.x)) {
            means[f] = found[f];
            scales[f] = found_scales()[f];
        }
    }
    // Calls of(truth<is_today>()), unless the iteration for slopes has already converged.
    template <bool of_image, class body>
    void look_for_slopes(const body& of) const {
        if (of_image && *size_of_right() == 0) return;
        if (is_today) {
            of(truth<true>());
        } else {
            of(truth<false>());
        }
    }
    double mean(int f, word32 of_tiles, int living_there) const {
        const double sum = summed(f, of_tiles);
        return abs(sum) < infinity ? sum / (living_there > 1 ? living_there : 1) : 0;
    }
    double scale(int f, double mean, word32 of_tiles, int living_there) const {
        const double deviation = sqrt(summed(features + f, of_tiles) / (living_there > 1 ? living_there : 1));
        const bool varies = deviation > 1e-10 * abs(mean) && abs(1 / deviation) < infinity;
        return varies ? 1 / deviation : 0;
    }
};

}  // namespace tilewalk::kernels
