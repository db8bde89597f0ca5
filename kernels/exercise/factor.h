// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/exercise/least_squares.h"
#include "kernels/loops.h"

namespace tilewalk::kernels {

struct sum_of_matrices {
    const double *first, *second;  // the second may be null
    int n;
    double operator()(int i, int j) const {
        const double x = first[i * n + j];
        return second != nullptr ? x + second[i * n + j] : x;
    }
};

// A pivoted Cholesky factor in shared memory, made and used by one warp, as in engine/decide's regression.h.
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

    int make(const sum_of_matrices& at, int most_rank) const { return make(*this, at, most_rank); }
    void solve(int rank, const double* right, double* out) const { solve(*this, rank, right, out); }

  private:
    // Arguments are passed by value, since a reference would need them in memory instead of registers.
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
        // Solves for unknown k, leaves it in the lane that holds it, and returns it to every lane.
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

}  // namespace tilewalk::kernels
