// SPDX-License-Identifier: Apache-2.0
// The kernel that fills rows of a cube with shocks that are quasi-random points, in the order in which a
// trade takes their dimensions. It makes the bits of engine/cpu/point_shocks.h. A warp works for neighbouring
// paths.
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

// The shocks of points in a dimension that a warp makes together. Each thread has `width` neighbouring paths,
// which have all but the lowest bits of their index in common with the others of the warp.
template <class draws, shock_kind kind, int width>
class shocks_of_warp {
  public:
    using shock = typename draws::shock;
    using shocks = neighbours<shock, width>;
    static constexpr int paths = paths_of_warp * width;
    static constexpr bool is_normal = kind == shock_kind::normal;
    // Shared memory that the table takes, which stands first.
    static constexpr word64 table_bytes = is_normal ? kept_normals<shock>::bytes : 0;

    shocks_of_warp(const points_arguments& a, char* shared) : a_(a), normals_(a.normals, shared) {}
    // All threads of a block begin together.
    void begin() const {
        if constexpr (is_normal) normals_.bring();
        __syncthreads();
    }

    // Groups of one slot are neighbours, and so are their paths.
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
    static word32 lane() { return threadIdx.x % paths_of_warp; }

    // A dimension for each lane, with the words that scramble it.
    struct dimensions {
        word32 own;
        scramble mine;
        word32 of(word32 k) const { return __shfl_sync(all, own, int(k)); }
    };
    // Those of nodes from `first` on, of which this lane has the node with its number: number_of(i).
    template <class numbering>
    dimensions dimensions_of(word32 first, word32 end, const numbering& number_of) const {
        const word32 i = first + lane();
        const word32 own =
            i < end ? a_.dimensions[word64(number_of(i)) * a_.slot_count + slot_] : no_dimension;
        return {own, scramble_of(a_.seed, randomisation_, own, a_.slots[slot_].key)};
    }
    // The shocks of lane k's dimension, or those of the step's stream where it has none.
    shocks make(const dimensions& among, word32 k, word32 step) const {
        const word32 dimension = among.of(k);
        return dimension != no_dimension ? of_points(dimension, of_lane(among.mine, k)) : of_stream(step);
    }

  private:
    static constexpr word32 all = ~word32{0};
    static constexpr int bits_of_width = width == 1 ? 0 : width == 2 ? 1 : 2;
    static_assert(1 << bits_of_width == width);

    static scramble of_lane(const scramble& x, word32 k) {
        return {__shfl_sync(all, x.first, int(k)), __shfl_sync(all, x.second, int(k)),
                __shfl_sync(all, x.third, int(k)), __shfl_sync(all, x.fourth, int(k))};
    }
    // Each lane takes a bit of the index: the upper ones are alike for all paths.
    shocks of_points(word32 dimension, const scramble& by) const {
        constexpr int bits_of_lane = 5, own_bits = bits_of_lane + bits_of_width;
        const word32 direction = a_.directions[word64(dimension) * bits_of_index + lane()];
        const bool counts = lane() >= word32(own_bits) && (index_ >> lane() & 1) != 0;
        word32 first = __reduce_xor_sync(all, counts ? direction : 0);
        for (int bit = 0; bit < bits_of_lane; ++bit)
            first ^= (0 - (lane() >> bit & 1)) & __shfl_sync(all, direction, bit + bits_of_width);
        word32 of_width[word32(width)];
        unrolled<width>([&](int w) { of_width[w] = first; });
        unrolled<bits_of_width>([&](int bit) {
            const word32 of_bit = __shfl_sync(all, direction, bit);
            unrolled<width>([&](int w) { of_width[w] ^= (w >> bit & 1) != 0 ? of_bit : 0; });
        });
        shocks out;
        unrolled<width>([&](int w) { out.x[w] = shock_of_point<kind, shock>(of_width[w], by, normals_); });
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

// Numbers of each step alone, and bridges without components, in the order of time.
template <class draws, shock_kind kind>
class fill_in_time {
  public:
    using shock = typename draws::shock;
    static constexpr int width = paths_in_time;

    fill_in_time(const points_arguments& a, char* shared)
        : a_(a),
          made_(a, shared),
          stack_(reinterpret_cast<shocks*>(shared + making::table_bytes) +
                 word64(warp()) * a.stack * paths_of_warp + making::lane()) {}

    void fill() {
        made_.begin();
        const word32 warps = blockDim.x / paths_of_warp;
        for (word32 group = blockIdx.x * warps + warp(); group < a_.groups; group += a_.blocks * warps) {
            made_.turn_to(group);
            fill_group();
        }
    }

  private:
    using making = shocks_of_warp<draws, kind, width>;
    using shocks = typename making::shocks;

    static word32 warp() { return threadIdx.x / paths_of_warp; }
    void store(word32 step, const shocks& x) const {
        *reinterpret_cast<shocks*>(
            place_of<shock>(a_.into, word64(step) * a_.slot_count + made_.slot(), made_.at())) = x;
    }
    point_visit visit(word32 i) const {
        if (a_.visits != nullptr) return a_.visits[i];
        return {0, 0, 1, i, i, 1, 0};
    }

    void fill_group() const {
        const bool is_bridge = a_.visits != nullptr && a_.slots[made_.slot()].is_lone == 0;
        shocks before{}, top{};
        word32 depth = 0, next = 0;
        const auto leave = [&](const shocks& here) {
            shocks out = here;
            if (a_.inverse_roots != nullptr) {
                const shock root = shock(a_.inverse_roots[next]);
                unrolled<width>([&](int w) { out.x[w] = move_between(before.x[w], here.x[w], root); });
            }
            store(next++, out);
            before = here;
        };
        for (word32 first = 0; first < a_.steps; first += paths_of_warp) {
            const auto among = made_.dimensions_of(
                first, a_.steps, [&](word32 i) { return a_.visits != nullptr ? a_.visits[i].node : i; });
            for (word32 k = 0; k < paths_of_warp && first + k < a_.steps; ++k) {
                const point_visit of = visit(first + k);
                shocks here = made_.make(among, k, of.step);
                if (!is_bridge) {
                    store(of.step, here);
                    continue;
                }
                unrolled<width>([&](int w) {
                    here.x[w] = place_between(shock(of.by_left), before.x[w], shock(of.by_right), top.x[w],
                                              shock(of.deviation), here.x[w]);
                });
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
    shocks* stack_;
};

// A bridge whose first nodes are sums of components. Warps of a block, or one, share the work for a group of
// paths.
template <class draws, bool is_in_shared>
class fill_with_components {
  public:
    using shock = typename draws::shock;

    fill_with_components(const points_arguments& a, char* shared)
        : a_(a), made_(a, shared), places_(reinterpret_cast<shock*>(shared + making::table_bytes)) {}

    void fill() {
        made_.begin();
        const word32 team = is_in_shared ? blockIdx.x : blockIdx.x * warps_of_points + warp();
        const word32 teams = a_.blocks * (is_in_shared ? 1 : warps_of_points);
        for (word32 group = team; group < a_.groups; group += teams) {
            made_.turn_to(group);
            fill_group();
        }
    }

  private:
    using making = shocks_of_warp<draws, shock_kind::normal, 1>;

    void fill_group() const {
        meet();  // nobody moves from the places of the group before any more
        make_shocks(0, a_.components);
        if (builds_path()) {
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
        // From the last on: in the cube a move takes its place's place.
        for (word32 i = worker(); i < a_.steps; i += workers) {
            const word32 step = a_.steps - 1 - i;
            const shock before = step == 0 ? shock(0) : *place(int(step) - 1);
            *row(step) = move_between(before, *place(int(step)), shock(a_.inverse_roots[step]));
        }
    }
    bool builds_path() const { return a_.slots[made_.slot()].is_lone == 0; }

    // Warps that share the work for a group of paths.
    static constexpr word32 workers = is_in_shared ? warps_of_points : 1;

    static word32 lane() { return making::lane(); }
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
        return place_of<shock>(a_.into, word64(step) * a_.slot_count + made_.slot(), made_.at());
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

    // A warp makes the shocks of some nodes of [first, end).
    void make_shocks(word32 from, word32 end) const {
        const word32 share = (end - from + workers - 1) / workers;
        const word32 at_once = share < paths_of_warp ? share : paths_of_warp;
        for (word32 first = from + worker() * at_once; first < end; first += workers * at_once) {
            const auto among = made_.dimensions_of(first, end, [](word32 i) { return i; });
            for (word32 k = 0; k < at_once && first + k < end; ++k) {
                const int step = a_.nodes[first + k].step;
                *place_of_shock(first + k, step) = made_.make(among, k, word32(step)).x[0];
            }
        }
    }
    void find_components() const {
        const auto number = [&](word32 i) { return *place_of_component(i); };
        for (word32 first = worker() * rows_at_once; first < a_.components; first += workers * rows_at_once)
            sum_rows<shock>(a_.loadings, a_.components, first, number,
                            [&](word32 node, shock sum) { *place(a_.nodes[node].step) = sum; });
    }
    void find_place(const bridge_node& of) const {
        shock* const here = place(of.step);
        *here = place_between(shock(of.by_left), of.left < 0 ? shock(0) : *place(of.left), shock(of.by_right),
                              of.right < 0 ? shock(0) : *place(of.right), shock(of.deviation), *here);
    }

    const points_arguments& a_;
    making made_;
    shock* places_;
};

}  // namespace tilewalk::kernels
