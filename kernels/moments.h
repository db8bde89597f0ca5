// SPDX-License-Identifier: Apache-2.0
// The moments of payoffs of a tile, and the merging of two sets. Summation order is fixed, without fma and
// with divisions by counts only, so that every back end and grouping of lanes gives the same bits.
#pragma once

#include "kernels/tile.h"

namespace tilewalk::kernels {

// m2, m3 and m4 are the sums of (x - mean)^2, ^3 and ^4.
struct moments {
    double count;
    double mean;
    double m2;
    double m3;
    double m4;
};

struct central_sums {
    double m2;
    double m3;
    double m4;
};

// Sums over one lane, for the three passes of tile_moments(). x points to the lane's first payoff; the others
// are lanes_per_tile apart. Paths from `paths` on contribute nothing, whatever their memory holds.
static constexpr double lane_sum(const double* x, int lane, int paths) {
    double sum = 0;
    for (int j = 0; j < paths_per_lane; ++j) {
        const int path = j * lanes_per_tile + lane;
        sum += path < paths ? x[j * lanes_per_tile] : 0.0;
    }
    return sum;
}

static constexpr double lane_deviation(const double* x, int lane, int paths, double mean) {
    double sum = 0;
    for (int j = 0; j < paths_per_lane; ++j) {
        const int path = j * lanes_per_tile + lane;
        sum += path < paths ? x[j * lanes_per_tile] - mean : 0.0;
    }
    return sum;
}

static constexpr central_sums lane_central_sums(const double* x, int lane, int paths, double mean) {
    central_sums sums{0, 0, 0};
    for (int j = 0; j < paths_per_lane; ++j) {
        const int path = j * lanes_per_tile + lane;
        const double d = path < paths ? x[j * lanes_per_tile] - mean : 0.0;
        const double square = d * d;
        sums.m2 += square;
        sums.m3 += square * d;
        sums.m4 += square * square;
    }
    return sums;
}

// The moments of a tile of payoffs x[j * lanes_per_tile + lane], of which the first `paths` (1 to 1024)
// count. The mean is corrected once, which makes it exact for equal payoffs: their m2 is exactly 0.
static constexpr moments tile_moments(const double* x, int paths) {
    double a[lanes_per_tile]{};
    double b[lanes_per_tile]{};
    double c[lanes_per_tile]{};
    for (int lane = 0; lane < lanes_per_tile; ++lane) a[lane] = lane_sum(x + lane, lane, paths);
    sum_neighbours(a, lanes_per_tile);
    const double guess = a[0] / paths;
    for (int lane = 0; lane < lanes_per_tile; ++lane) a[lane] = lane_deviation(x + lane, lane, paths, guess);
    sum_neighbours(a, lanes_per_tile);
    const double mean = guess + a[0] / paths;
    for (int lane = 0; lane < lanes_per_tile; ++lane) {
        const auto sums = lane_central_sums(x + lane, lane, paths, mean);
        a[lane] = sums.m2;
        b[lane] = sums.m3;
        c[lane] = sums.m4;
    }
    sum_neighbours(a, lanes_per_tile);
    sum_neighbours(b, lanes_per_tile);
    sum_neighbours(c, lanes_per_tile);
    return {double(paths), mean, a[0], b[0], c[0]};
}

// The moments of the union of two disjoint sets of paths. Exact if the means are equal or a set is empty.
static constexpr moments merge(const moments& a, const moments& b) {
    if (a.count == 0) return b;
    if (b.count == 0) return a;
    const double count = a.count + b.count;
    const double difference = b.mean - a.mean;
    const double r = difference / count;
    const double product = a.count * b.count;
    const double spread = difference * r * product;
    return {count, a.mean + b.count * r, a.m2 + b.m2 + spread,
            a.m3 + b.m3 + spread * r * (a.count - b.count) + 3 * r * (a.count * b.m2 - b.count * a.m2),
            a.m4 + b.m4 + spread * (r * r) * (a.count * a.count - product + b.count * b.count) +
                6 * (r * r) * (a.count * a.count * b.m2 + b.count * b.count * a.m2) +
                4 * r * (a.count * b.m3 - b.count * a.m3)};
}

// Merges the moments of a run's tiles in the fixed tree: neighbours first, an odd last one carried up.
// Returns the result, overwriting m; without tiles, the moments of no paths.
static constexpr moments merge_tiles(moments* m, word64 count) {
    if (count == 0) return {0, 0, 0, 0, 0};
    while (count > 1) {
        const word64 pairs = count / 2;
        for (word64 i = 0; i < pairs; ++i) m[i] = merge(m[2 * i], m[2 * i + 1]);
        if (count % 2 == 1) m[pairs] = m[count - 1];
        count = pairs + count % 2;
    }
    return m[0];
}

}  // namespace tilewalk::kernels
