// SPDX-License-Identifier: Apache-2.0
// The kernel that fills rows of a cube with shocks from quasi-random points, by a trade's order of
// dimensions. Same bits as engine/walk/cpu/point_shocks.h. A warp works on neighbouring paths.
#pragma once

#include "kernels/draws.h"
#include "kernels/loops.h"
#include "kernels/points_of_warp.h"
#include "kernels/weighted_sums.h"

namespace tilewalk::kernels {

// A normal_table whose first rows a block keeps in shared memory.
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
        // Rarely taken. Choosing a memory cost 9 to 12 % (bench/results/2026-11-26-NVIDIA-H200-sobol.txt).
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

// Makes the shocks of a group of neighbouring paths, one dimension at a time, by a whole warp.
template <class draws, shock_kind kind, int width>
class shocks_of_warp {
  public:
    using shock = typename draws::shock;
    using shocks = neighbours<shock, width>;
    static constexpr int paths = paths_of_warp * width;
    static constexpr bool is_normal = kind == shock_kind::normal;
    // The bytes of shared memory that hold the table, at its start.
    static constexpr word64 table_bytes = is_normal ? kept_normals<shock>::bytes : 0;

    shocks_of_warp(const points_arguments& a, char* shared) : a_(a), normals_(a.normals, shared) {}
    void begin() const {
        if constexpr (is_normal) normals_.bring();
        __syncthreads();
    }

    // Turns to another group of paths and a slot. Groups of the same slot are adjacent, as are their paths.
    void turn_to(word32 group) {
        const word32 across = word32(a_.into.paths / paths);
        slot_ = group / across;
        at_ = word64(group % across) * paths + lane() * width;
        path_ = a_.first_path + at_;
        randomisation_ = word32(path_ / a_.paths_of_randomisation);
        index_ = word32(path_ % a_.paths_of_randomisation);
    }
    word32 slot() const { return slot_; }
    word64 at() const { return at_; }
    static word32 lane() { return lane_of_thread(); }

    // One dimension in each lane, with the words that scramble it.
    struct dimensions {
        word32 own;
        scramble mine;
        word32 of(word32 k) const { return __shfl_sync(all_lanes, own, int(k)); }
    };
    // The dimensions of nodes number_of(i) for i from `first` to `end`, one in each lane.
    template <class numbering>
    dimensions dimensions_of(word32 first, word32 end, const numbering& number_of) const {
        const word32 i = first + lane();
        const word32 own =
            i < end ? a_.dimensions[word64(number_of(i)) * a_.slot_count + slot_] : no_dimension;
        return {own, scramble_of(a_.seed, randomisation_, own, a_.slots[slot_].key)};
    }
    // Shocks from points in lane k's dimension, or drawn from the slot's stream if it has no_dimension.
    shocks make(const dimensions& among, word32 k, word32 step) const {
        const word32 dimension = among.of(k);
        return dimension != no_dimension ? of_points(dimension, of_lane(among.mine, k)) : of_stream(step);
    }

  private:
    shocks of_points(word32 dimension, const scramble& by) const {
        const auto points = points_of_warp<width>(a_.directions + word64(dimension) * bits_of_index, index_);
        shocks out;
        unrolled<width>([&](int w) { out.x[w] = shock_of_point<kind, shock>(points.x[w], by, normals_); });
        return out;
    }
    shocks of_stream(word32 step) const {
        const slot_of_points& of = a_.slots[slot_];
        const word32 number = step * of.dimensions + of.dimension;
        shocks out;
        unrolled<width>([&](int w) {
            const auto made = draws::normals(a_.seed, path_ + word64(w), number / draws::per_block, of.key);
            out.x[w] = made.x[0];
            unrolled<draws::per_block - 1>([&](int i) {
                if (number % draws::per_block == word32(i + 1)) out.x[w] = made.x[i + 1];
            });
        });
        return out;
    }

    const points_arguments& a_;
    shared_normals<shock> normals_;
    word64 at_, path_;
    word32 slot_, randomisation_, index_;
};

// Fills a cube with numbers of steps or, for bridges, moves of paths in order of time. A warp works on a
// group of paths; with principal components a block does: its warps first compute the places that these
// determine together, then each walks one segment.
template <class draws, shock_kind kind, bool has_components>
class fill_of_points {
  public:
    using shock = typename draws::shock;
    static constexpr int width = paths_of_points<shock>;

    fill_of_points(const points_arguments& a, char* shared)
        : a_(a),
          made_(a, shared),
          known_(reinterpret_cast<shocks*>(shared + making::table_bytes) + making::lane()),
          stack_(known_ +
                 ((has_components ? 2 * a.components : 0) + word64(warp()) * a.stack) * paths_of_warp) {}

    void fill() {
        begin();
        fill(blockIdx.x, a_.blocks);
    }
    void begin() const { made_.begin(); }
    void fill(word32 block, word32 blocks) {
        const word32 warps = blockDim.x / paths_of_warp;
        const word32 team = has_components ? block : block * warps + warp();
        const word32 teams = blocks * (has_components ? 1 : warps);
        for (word32 group = team; group < a_.groups; group += teams) {
            made_.turn_to(group);
            if constexpr (has_components) {
                rolled(is_bridge() ? 0 : 1, 2, [&](int phase) { fill_together(phase == 0); });
            } else {
                walk({0, 0, 0}, a_.steps, false);
            }
        }
    }

  private:
    using making = shocks_of_warp<draws, kind, width>;
    using shocks = typename making::shocks;

    static word32 warp() { return threadIdx.x / paths_of_warp; }
    bool is_bridge() const { return a_.visits != nullptr && a_.slots[made_.slot()].is_lone == 0; }
    point_visit visit(word32 i, bool makes_components) const {
        if (has_components && makes_components) return {0, 0, 1, i, a_.steps_of_components[i], 1, 0};
        if (a_.visits != nullptr) return a_.visits[i];
        return {0, 0, 1, i, i, 1, 0};
    }
    shock* row(word32 step) const {
        return place_of<shock>(a_.into, word64(step) * a_.slot_count + made_.slot(), made_.at());
    }
    static void store(shock* to, const shocks& x) { *reinterpret_cast<shocks*>(to) = x; }

    void fill_together(bool makes_components) const {
        const word32 warps = blockDim.x / paths_of_warp;
        point_segment from = {a_.components, 0, 0};
        word32 end = a_.components;
        if (makes_components) {
            const word32 share = (a_.components + warps - 1) / warps;
            from.first = least(warp() * share, end);
            end = least(from.first + share, end);
        } else if (warp() < a_.walkers) {
            from = a_.segments[warp()];
            end = a_.segments[warp() + 1].first;
        }
        walk(from, end, makes_components);
        __syncthreads();
        if (!makes_components) return;
        for (word32 first = warp() * rows_at_once; first < a_.components; first += warps * rows_at_once) {
            sum_rows<shock, width>(
                a_.loadings, a_.components, first, [&](word32 i) { return *component(i); },
                [&](word32 row, const shocks& sum) { known_[row * paths_of_warp] = sum; });
        }
        __syncthreads();
    }
    static word32 least(word32 a, word32 b) { return a < b ? a : b; }
    shocks* component(word32 i) const { return known_ + (a_.components + i) * paths_of_warp; }

    void walk(const point_segment& from, word32 end, bool makes_components) const {
        const bool builds_path = is_bridge();
        shocks before{}, top{};
        if (has_components && from.before > 0) before = known_[(from.before - 1) * paths_of_warp];
        word32 depth = 0, next = from.next;
        const auto leave = [&](const shocks& here) {
            shocks out = here;
            if (a_.inverse_roots != nullptr) {
                const shock root = shock(a_.inverse_roots[next]);
                unrolled<width>([&](int w) { out.x[w] = move_between(before.x[w], here.x[w], root); });
            }
            store(row(next++), out);
            before = here;
        };
        for (word32 first = from.first; first < end; first += paths_of_warp) {
            const auto among =
                made_.dimensions_of(first, end, [&](word32 i) { return visit(i, makes_components).node; });
            for (word32 k = 0; k < paths_of_warp && first + k < end; ++k) {
                const point_visit of = visit(first + k, makes_components);
                shocks here;
                if (has_components && !makes_components && builds_path && of.node < a_.components) {
                    here = known_[of.node * paths_of_warp];
                } else {
                    here = made_.make(among, k, of.step);
                    if (has_components && makes_components) {
                        *component(of.node) = here;
                        continue;
                    }
                    if (!builds_path) {
                        store(row(of.step), here);
                        continue;
                    }
                    unrolled<width>([&](int w) {
                        here.x[w] = place_between(shock(of.by_left), before.x[w], shock(of.by_right),
                                                  top.x[w], shock(of.deviation), here.x[w]);
                    });
                }
                if (of.leaves == 0) {
                    stack_[depth++ * paths_of_warp] = top;
                    top = here;
                    continue;
                }
                leave(here);
                for (word32 more = 1; more < of.leaves; ++more) {
                    leave(top);
                    top = stack_[--depth * paths_of_warp];
                }
            }
        }
    }

    const points_arguments& a_;
    making made_;
    shocks *known_, *stack_;
};

}  // namespace tilewalk::kernels
