// SPDX-License-Identifier: Apache-2.0
// The untiled kernel: a thread for each move, all numbers from global memory. Baseline of the other kernels.
#pragma once

#include "kernels/correlation/arguments.h"
#include "kernels/loops.h"

namespace tilewalk::kernels::correlation {

template <class shock_type, class real, int unroll>
class untiled {
  public:
    static constexpr int threads = 256;
    static constexpr int rows = 1, paths = threads;
    struct shared {};
    static constexpr word32 shared_bytes = 0;

    constexpr untiled(const arguments& a, word32 block, int thread) : a_(a) {
        const block_task task = task_of(a, block, rows, paths);
        of_ = step_arrays<shock_type, real>::of(a, task.step);
        row_ = task.first_row;
        path_ = task.first_path + word64(thread);
    }
    constexpr int stages() const { return 0; }
    constexpr void fetch(int, shared&) const {}
    constexpr void use(int, const shared&) {}

    constexpr void finish() const {
        if (path_ >= a_.paths) return;
        const shock_type* shock = of_.shocks + path_;
        const real* root = of_.roots + roots_before(word64(row_));
        real sum = of_.drifts[row_];
        unrolled_by<unroll>(0, row_ + 1, [&](int j) {
            sum = fma(real(*shock), root[j], sum);
            shock += a_.shock_pitch;
        });
        of_.moves[word64(row_) * a_.move_pitch + path_] = sum;
    }

  private:
    const arguments& a_;
    step_arrays<shock_type, real> of_{};
    int row_ = 0;
    word64 path_ = 0;
};

}  // namespace tilewalk::kernels::correlation
