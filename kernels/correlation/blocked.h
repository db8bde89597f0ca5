// SPDX-License-Identifier: Apache-2.0
// The blocked kernel: a thread makes 8 x 4 moves (factors x paths) in registers: 12 numbers of shared memory
// for 32 fused multiply-adds. The lanes of a warp share 8 factors and their roots. Only in its 8 x 8 triangle
// on the diagonal does a warp check where rows end. The loop over shocks is not unrolled: in double a thread
// takes 128 registers (sm_90, nvcc 13.0), and 16 warps fit a multiprocessor; unrolled by two, 132, and 8 fit.
#pragma once

#include "kernels/correlation/arguments.h"
#include "kernels/loops.h"

namespace tilewalk::kernels::correlation {

template <class shock_type, class real, int warps>
class blocked {
    static constexpr int lanes = 32;
    static constexpr int rows_each = 8, paths_each = 4;
    static constexpr int depth = rows_each;  // shocks of a stage; a warp's triangle is one stage
    // Unused numbers after a row of roots: rows begin in different banks, aligned to 16 bytes.
    static constexpr int padding = 16 / int(sizeof(real));

  public:
    static constexpr int threads = lanes * warps;
    static constexpr int rows = rows_each * warps, paths = lanes * paths_each;
    struct alignas(16) shared {
        real roots[depth][word32(rows + padding)];  // [shock][factor]
        real shocks[depth][paths];
    };
    static constexpr word32 shared_bytes = sizeof(shared);

    constexpr blocked(const arguments& a, word32 block, int thread) : a_(a), thread_(thread) {
        const block_task task = task_of(a, block, rows, paths);
        of_ = step_arrays<shock_type, real>::of(a, task.step);
        first_row_ = task.first_row;
        first_path_ = task.first_path;
        unrolled<rows_each>([&](int r) {
            const int row = first_row_ + own_row() + r;
            const real drift = row < factors() ? of_.drifts[row] : real(0);
            unrolled<paths_each>([&](int q) { sums_[r][q] = drift; });
        });
    }
    constexpr int stages() const {
        const int end = first_row_ + rows < factors() ? first_row_ + rows : factors();
        return (end + depth - 1) / depth;
    }

    // Fetches 0 for factors and paths beyond the last, whose sums are never stored.
    constexpr void fetch(int stage, shared& s) const {
        unrolled<rows * depth / threads>([&](int part) {
            const int i = part * threads + thread_;
            const int in_row = i / depth, k = i % depth;
            const int row = first_row_ + in_row, root = stage * depth + k;
            s.roots[k][in_row] = row < factors() && root <= row ? of_.root(row, root) : real(0);
        });
        unrolled_by<4>(0, depth * paths / threads, [&](int part) {
            const int i = part * threads + thread_;
            const int k = i / paths, in_path = i % paths;
            const int shock = stage * depth + k;
            const word64 path = first_path_ + word64(in_path);
            s.shocks[k][in_path] = shock < factors() && path < a_.paths
                                       ? real(of_.shocks[word64(shock) * a_.shock_pitch + path])
                                       : real(0);
        });
    }

    constexpr void use(int stage, const shared& s) {
        const int first_own = first_row_ + own_row();
        if (stage * depth < first_own) {
            add<false>(s);
        } else if (stage * depth == first_own) {
            add<true>(s);
        }
    }

    constexpr void finish() const {
        const int first = first_row_ + own_row();
        const word64 path = first_path_ + word64(own_path());
        real* move = of_.moves + word64(first) * a_.move_pitch + path;
        unrolled<rows_each>([&](int r) {
            unrolled<paths_each>([&](int q) {
                if (first + r < factors() && path + word64(q * lanes) < a_.paths) {
                    move[q * lanes] = sums_[r][q];
                }
            });
            move += a_.move_pitch;
        });
    }

  private:
    constexpr int factors() const { return int(a_.factors); }
    constexpr int own_row() const { return thread_ / lanes * rows_each; }
    constexpr int own_path() const { return thread_ % lanes; }

    // Adds roots times shocks of a stage; on the diagonal, only of shocks up to the factor's own number.
    template <bool diagonal>
    constexpr void add(const shared& s) {
        rolled(0, depth, [&](int k) {
            real shock[paths_each]{};
            unrolled<paths_each>([&](int q) { shock[q] = s.shocks[k][own_path() + q * lanes]; });
            unrolled<rows_each>([&](int r) {
                if (diagonal && r < k) return;
                const real root = s.roots[k][own_row() + r];
                unrolled<paths_each>([&](int q) { sums_[r][q] = fma(shock[q], root, sums_[r][q]); });
            });
        });
    }

    const arguments& a_;
    int thread_;
    step_arrays<shock_type, real> of_{};
    int first_row_ = 0;
    word64 first_path_ = 0;
    real sums_[rows_each][paths_each]{};
};

}  // namespace tilewalk::kernels::correlation
