// SPDX-License-Identifier: Apache-2.0
// The kernel that fills rows of a cube with shocks that are quasi-random points, in the order in which a
// trade takes their dimensions. It makes the bits of engine/cpu/point_shocks.h. A warp works for 32
// neighbouring paths, which have all but five bits of their index in common.
#pragma once

#include "kernels/draws.h"
#include "kernels/loops.h"
#include "kernels/point_arguments.h"
#include "kernels/sobol.h"
#include "kernels/weighted_sums.h"

namespace tilewalk::kernels {

// A table of which a block has the first rows in shared memory.
template <class shock>
class shared_normals;

template <>
class shared_normals<double> {
  public:
    shared_normals(const void* table, char* shared)
        : all_(*static_cast<const normal_table<double>*>(table)),
          low_(reinterpret_cast<double*>(shared)),
          high_(reinterpret_cast<float*>(low_ + 2 * kept)) {}
    void bring() const {
        for (int i = int(threadIdx.x); i < kept; i += int(blockDim.x)) {
            unrolled<2>([&](int c) { low_[c * kept + i] = all_.low[c * rows + i]; });
            unrolled<4>([&](int c) { high_[c * kept + i] = all_.high[c * rows + i]; });
        }
    }
    double operator()(const normal_place<double>& at) const {
        // Next to never. A choice between the two memories cost 9 to 12 % of the kernel's time
        // (bench/results/2026-11-26-NVIDIA-H200-sobol.txt).
        if (at.row >= word32(kept)) return normal_of(all_, at);
        const double* const low = low_ + at.row;
        const float* const high = high_ + at.row;
        return normal_in_table(at, low[0], low[kept], high[0], high[kept], high[2 * kept], high[3 * kept]);
    }

  private:
    static constexpr int kept = kept_normals<double>::rows, rows = normal_table<double>::rows;
    normal_table<double> all_;
    double* low_;
    float* high_;
};

template <>
class shared_normals<float> {
  public:
    shared_normals(const void* table, char* shared)
        : all_(*static_cast<const normal_table<float>*>(table)), here_(reinterpret_cast<float*>(shared)) {}
    void bring() const {
        for (int i = int(threadIdx.x); i < 4 * normal_table<float>::rows; i += int(blockDim.x))
            here_[i] = all_.all[i];
    }
    float operator()(const normal_place<float>& at) const { return normal_of({here_}, at); }

  private:
    normal_table<float> all_;
    float* here_;
};

template <class draws, shock_kind kind, bool is_in_shared>
class fill_of_points {
  public:
    using shock = typename draws::shock;

    fill_of_points(const points_arguments& a, char* shared)
        : a_(a),
          normals_(a.normals, shared),
          places_(reinterpret_cast<shock*>(shared + (is_normal ? kept_normals<shock>::bytes : 0))) {}

    void fill() {
        if constexpr (is_normal) normals_.bring();
        __syncthreads();
        const word32 team = is_in_shared ? blockIdx.x : blockIdx.x * warps_of_points + warp();
        const word32 teams = a_.blocks * (is_in_shared ? 1 : warps_of_points);
        for (word32 group = team; group < a_.groups; group += teams) {
            turn_to(group);
            fill_group();
        }
    }

  private:
    static constexpr bool is_normal = kind == shock_kind::normal;

    // Groups of one slot are neighbours, and so are their paths.
    void turn_to(word32 group) {
        const word32 across = word32(a_.into.paths / paths_of_warp);
        slot_ = group / across;
        at_ = word64(group % across) * paths_of_warp + lane();
        path_ = a_.first_path + at_;
        randomisation_ = word32(path_ / a_.paths_of_randomisation);
        index_ = word32(path_ % a_.paths_of_randomisation);
    }
    void fill_group() const {
        meet();  // nobody moves from the places of the group before any more
        make_shocks(0, a_.components);
        if (a_.components > 0 && builds_path()) {
            meet();
            find_components();
            meet();
        }
        make_shocks(a_.components, a_.steps);
        if (!builds_path()) return;
        meet();
        word32 first = 0;
        for (word32 level = 0; level < a_.levels; ++level) {
            const word32 end = a_.level_ends[level];
            for (word32 i = first + worker(); i < end; i += workers) find_place(a_.nodes[a_.by_level[i]]);
            first = end;
            meet();
        }
        if (a_.inverse_roots == nullptr) return leave_places();
        // From the last on: in the cube a move takes its place's place.
        for (word32 i = worker(); i < a_.steps; i += workers) {
            const word32 step = a_.steps - 1 - i;
            const shock before = step == 0 ? shock(0) : *place(int(step) - 1);
            *row(step) = move_between(before, *place(int(step)), shock(a_.inverse_roots[step]));
        }
    }
    void leave_places() const {
        if constexpr (is_in_shared) {
            for (word32 step = worker(); step < a_.steps; step += workers) *row(step) = *place(int(step));
        }
    }
    bool builds_path() const { return a_.nodes != nullptr && a_.slots[slot_].is_lone == 0; }

    // Warps that share the work for a group of paths.
    static constexpr word32 workers = is_in_shared ? warps_of_points : 1;

    static word32 lane() { return threadIdx.x % paths_of_warp; }
    static word32 warp() { return threadIdx.x / paths_of_warp; }
    static word32 worker() { return is_in_shared ? warp() : 0; }
    static void meet() {
        if constexpr (is_in_shared) {
            __syncthreads();
        } else {
            __syncwarp();
        }
    }
    shock* row(word32 step) const {
        return place_of<shock>(a_.into, word64(step) * a_.slot_count + slot_, at_);
    }
    shock* place(int step) const {
        if constexpr (is_in_shared) {
            return places_ + step * paths_of_warp + int(lane());
        } else {
            return row(word32(step));
        }
    }

    // A component waits where nothing else is yet.
    shock* place_of_component(word32 number) const {
        if constexpr (is_in_shared) {
            return place(int(a_.steps + number));
        } else {
            return row(word32(a_.nodes[a_.components + number].step));
        }
    }
    shock* place_of_shock(word32 node, int step) const {
        if (!builds_path()) return row(word32(step));
        return node < a_.components ? place_of_component(node) : place(step);
    }

    // A warp makes the shocks of some nodes of [first, end). First each lane finds the dimension of one of
    // them and makes the words that scramble it.
    void make_shocks(word32 from, word32 end) const {
        constexpr word32 all = ~word32{0};
        const word32 share = (end - from + workers - 1) / workers;
        const word32 at_once = share < paths_of_warp ? share : paths_of_warp;
        for (word32 first = from + worker() * at_once; first < end; first += workers * at_once) {
            const word32 of_lane_now = first + lane();
            const word32 own =
                of_lane_now < end ? a_.dimensions[word64(of_lane_now) * a_.slot_count + slot_] : no_dimension;
            const scramble mine = scramble_of(a_.seed, randomisation_, own, a_.slots[slot_].key);
            for (word32 k = 0; k < at_once && first + k < end; ++k) {
                const word32 node = first + k, dimension = __shfl_sync(all, own, int(k));
                const int step = a_.nodes != nullptr ? a_.nodes[node].step : int(node);
                *place_of_shock(node, step) =
                    dimension != no_dimension ? of_point(dimension, of_lane(mine, k)) : of_stream(step);
            }
        }
    }
    void find_components() const {
        const auto number = [&](word32 i) { return *place_of_component(i); };
        for (word32 first = worker() * rows_at_once; first < a_.components; first += workers * rows_at_once)
            sum_rows<shock>(a_.loadings, a_.components, first, number,
                            [&](word32 node, shock sum) { *place(a_.nodes[node].step) = sum; });
    }
    static scramble of_lane(const scramble& x, word32 k) {
        constexpr word32 all = ~word32{0};
        return {__shfl_sync(all, x.first, int(k)), __shfl_sync(all, x.second, int(k)),
                __shfl_sync(all, x.third, int(k)), __shfl_sync(all, x.fourth, int(k))};
    }
    // Each lane takes a bit of the index: the upper ones are alike for all lanes.
    shock of_point(word32 dimension, const scramble& by) const {
        constexpr word32 all = ~word32{0};
        constexpr int own_bits = 5;
        const word32 direction = a_.directions[word64(dimension) * bits_of_index + lane()];
        const bool counts = lane() >= word32(own_bits) && (index_ >> lane() & 1) != 0;
        word32 point = __reduce_xor_sync(all, counts ? direction : 0);
        for (int bit = 0; bit < own_bits; ++bit)
            point ^= (0 - (lane() >> bit & 1)) & __shfl_sync(all, direction, bit);
        return shock_of_point<kind, shock>(point, by, normals_);
    }
    shock of_stream(int step) const {
        const slot_of_points& of = a_.slots[slot_];
        const word32 number = word32(step) * of.dimensions + of.dimension;
        const auto made = draws::normals(a_.seed, path_, number / draws::per_block, of.key);
        shock out = made.x[0];
        for (int i = 1; i < draws::per_block; ++i)
            if (number % draws::per_block == word32(i)) out = made.x[i];
        return out;
    }
    void find_place(const bridge_node& of) const {
        shock* const here = place(of.step);
        *here = place_between(shock(of.by_left), of.left < 0 ? shock(0) : *place(of.left), shock(of.by_right),
                              of.right < 0 ? shock(0) : *place(of.right), shock(of.deviation), *here);
    }

    const points_arguments& a_;
    shared_normals<shock> normals_;
    shock* places_;
    word64 at_, path_;
    word32 slot_, randomisation_, index_;
};

}  // namespace tilewalk::kernels
