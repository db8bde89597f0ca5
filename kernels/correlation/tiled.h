// SPDX-License-Identifier: Apache-2.0
// The tiled kernel: a thread for each move. A block brings square tiles of roots and shocks to shared memory,
// where a whole row or column of threads reads each number. Tiles above the diagonal, all 0, are skipped.
#pragma once

#include "kernels/correlation/arguments.h"
#include "kernels/loops.h"

namespace tilewalk::kernels::correlation {

template <class shock_type, class real, int tile, bool unrolled>
class tiled {
  public:
    static constexpr int threads = tile * tile;
    static constexpr int rows = tile, paths = tile;
    struct shared {
        real roots[word32(tile)][word32(tile)];   // [factor][shock]
        real shocks[word32(tile)][word32(tile)];  // [shock][path]
    };
    static constexpr word32 shared_bytes = sizeof(shared);

    constexpr tiled(const arguments& a, word32 block, int thread) : a_(a) {
        const block_task task = task_of(a, block, rows, paths);
        of_ = step_arrays<shock_type, real>::of(a, task.step);
        first_row_ = task.first_row;
        in_row_ = thread / tile;
        in_path_ = thread % tile;
        path_ = task.first_path + word64(in_path_);
        sum_ = row() < factors() ? of_.drifts[row()] : real(0);
    }
    constexpr int stages() const { return first_row_ / tile + 1; }

    // Fetches 0 for factors and paths beyond the last, whose sums are never stored.
    constexpr void fetch(int stage, shared& s) const {
        const int first = stage * tile;
        const int root = first + in_path_, shock = first + in_row_;
        s.roots[in_row_][in_path_] = row() < factors() && root <= row() ? of_.root(row(), root) : real(0);
        s.shocks[in_row_][in_path_] = shock < factors() && path_ < a_.paths
                                          ? real(of_.shocks[word64(shock) * a_.shock_pitch + path_])
                                          : real(0);
    }

    constexpr void use(int stage, const shared& s) {
        constexpr int copies = unrolled ? tile : 1;
        if (stage * tile < first_row_) {
            unrolled_by<copies>(0, tile, [&](int k) { add(k, s); });
        } else {
            unrolled_by<copies>(0, tile, [&](int k) {
                if (k <= in_row_) add(k, s);
            });
        }
    }

    constexpr void finish() const {
        if (row() >= factors() || path_ >= a_.paths) return;
        of_.moves[word64(row()) * a_.move_pitch + path_] = sum_;
    }

  private:
    constexpr int factors() const { return int(a_.factors); }
    constexpr int row() const { return first_row_ + in_row_; }
    constexpr void add(int k, const shared& s) {
        sum_ = fma(s.shocks[k][in_path_], s.roots[in_row_][k], sum_);
    }

    const arguments& a_;
    step_arrays<shock_type, real> of_{};
    int first_row_ = 0, in_row_ = 0, in_path_ = 0;
    word64 path_ = 0;
    real sum_ = 0;
};

}  // namespace tilewalk::kernels::correlation
