// SPDX-License-Identifier: Apache-2.0
// Blocks of threads that add up the tiles of one date or fit, and then factor or solve.
#pragma once

#include "kernels/exercise/backward_arguments.h"
#include "kernels/exercise/date_at_hand.h"
#include "kernels/exercise/factor.h"

namespace tilewalk::kernels {

template <class basis>
struct date_of_tiles : date_at_hand<basis> {
    using date = date_at_hand<basis>;
    using date::features, date::functions, date::moves, date::sizes;
    using factor = factor_in_memory<functions>;
    static constexpr int threads = paths_of_block;

    double* shared;

    date_of_tiles(const date& of, double* memory) : date(of), shared(memory) {}
    static int thread() { return int(threadIdx.x); }

    void make_factors() const {
        constexpr int of_side = functions * functions;
        double *const sums = shared, *const made = sums + sizes.of_fits();
        for (int i = thread(); i < 3 * sizes.factor_doubles(); i += threads) made[i] = 0;
        if (this->is_today) {
            if (thread() == 0) sums[0] = double(this->paths);
        } else {
            for (int i = thread(); i < sizes.of_fits(); i += threads) {
                const int row = i % of_side / functions, column = i % functions;
                if (column <= row) sums[i] = this->summed(2 * features + i, this->tiles);
            }
        }
        __syncthreads();
        const int which = thread() / 32;
        if (which < 3 && !(this->is_today && which < 2)) {
            const word64 all =
                this->is_today ? this->paths : word64(this->paths_of(this->tiles, which != 1, which != 0));
            const int n = this->known();
            const sum_of_matrices of{sums + (which == 1 ? of_side : 0),
                                     which == 2 && !this->is_today ? sums + of_side : nullptr, n};
            const factor by(made + which * sizes.factor_doubles(), n);
            int rank = -1;
            if (all > 0) rank = by.make(of, most_rank(all, which < 2 ? paths_of_function : paths_of_slope));
            if (factor::lane() == 0) this->ranks()[which] = rank;
        }
        __syncthreads();
        for (int i = thread(); i < 3 * sizes.factor_doubles(); i += threads) this->factors(0)[i] = made[i];
    }

    // A step of conjugate gradients for slopes, or the first residual; see engine/decide's backward.cpp.
    template <bool of_image>
    void step() const {
        double size = of_image ? *this->size_of_right() : 0;
        if (of_image && size == 0) return;
        const int known = this->known(), numbers = moves * known;
        double *const right = shared, *const nearly = right + sizes.slopes(),
                      *const along = nearly + sizes.slopes(), *const slopes = along + sizes.slopes(),
                      *const image = slopes + sizes.slopes(), *const made = image + sizes.slopes();
        const auto for_numbers = [&](const auto& of) {
            for (int i = thread(); i < numbers; i += threads) of(i);
        };
        for (int i = thread(); i < sizes.factor_doubles(); i += threads) made[i] = this->factors(2)[i];
        for_numbers([&](int i) {
            const double sum = this->summed_moves(i);
            right[i] = of_image ? this->right()[i] : sum;
            image[i] = sum;
            along[i] = of_image ? this->along()[i] : 0;
            slopes[i] = of_image ? this->slopes()[i] : 0;
        });
        __syncthreads();
        if (of_image) {
            const double length = size / inner(along, image, numbers);
            if (!(abs(length) < date::infinity)) {
                if (thread() == 0) *this->size_of_right() = 0;
                return;
            }
            for_numbers([&](int i) {
                slopes[i] = fma(length, along[i], slopes[i]);
                right[i] = fma(-length, image[i], right[i]);
            });
            __syncthreads();
        }
        const int rank = int(this->ranks()[2]) < 0 ? 0 : int(this->ranks()[2]);
        for (int m = thread() / 32; m < moves; m += threads / 32)
            factor(made, known).solve(rank, right + m * known, nearly + m * known);
        __syncthreads();
        const double before = size;
        size = inner(right, nearly, numbers);
        for_numbers([&](int i) {
            this->right()[i] = right[i];
            this->along()[i] = of_image ? fma(size / before, along[i], nearly[i]) : nearly[i];
            this->slopes()[i] = this->found_slopes()[i] = slopes[i];
        });
        if (thread() == 0) *this->size_of_right() = size > 0 ? size : 0;
    }

  private:
    // Every warp computes the inner product for itself.
    static double inner(const double* a, const double* b, int count) {
        double sum = 0;
        for (int i = thread() % 32; i < count; i += lanes_of_inner) sum = fma(a[i], b[i], sum);
        for (int apart = lanes_of_inner / 2; apart > 0; apart /= 2)
            sum += __shfl_down_sync(~word32{0}, sum, word32(apart));
        return __shfl_sync(~word32{0}, sum, 0);
    }
};

}  // namespace tilewalk::kernels
