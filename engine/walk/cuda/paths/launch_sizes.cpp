// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/paths/launch_sizes.h"

#include <algorithm>

#include "engine/walk/cuda/compile/reductions.h"
#include "engine/walk/cuda/device/spaces.h"
#include "kernels/tile.h"
#include "products/program/cost.h"

namespace tilewalk::cuda {

using kernels::word64;

namespace {

// Additions that drawing a shock costs, fitted to the benchmark's models together with costs of operations.
constexpr int cost_of_shock = 12;

double work_of_step(const job_group& g) {
    double sum = cost_of_shock * (g.code->normals_per_step + g.code->uniforms_per_step);
    for (const program::lane_section& s : g.code->sections) {
        for (const program::node& n : s.nodes) sum += program::cost(n.code);
    }
    if (g.reads_moves()) sum += static_cast<double>(g.factors()) * static_cast<double>(g.factors());
    return std::max(sum, 1.0);
}

}  // namespace

launch_sizes::launch_sizes(const run_state& run, const job_group& of)
    : run_(run), group_(of), work_of_step_(work_of_step(of)) {}

// Whether a launch may cover only some tiles of a chunk: if blocks are ordered by tile (one trade, or many
// that walk a tile side by side), unless the reduction merges tiles, for which it needs the whole chunk.
bool launch_sizes::may_cut_tiles(std::size_t jobs) const {
    if (reduction_named(run_.run.how.reduction).merges_tiles) return false;
    return jobs == 1 || group_.walks_trades_side_by_side();
}

std::vector<job_list> launch_sizes::lists() const {
    const space_entry& rows = space_named(run_.run.how.row_space);
    const bool are_constant = rows.lives_in == residence::constant_variable;
    const word64 most_jobs = group_.reads_moves() ? 1 : 65536;
    // The fewest tiles that a launch of several jobs can cover.
    const word64 tiles = may_cut_tiles(2) ? 1 : run_.most_tiles;
    std::vector<job_list> out;
    word64 bytes = 0;
    double steps = 0;
    for (std::size_t i = 0; i < group_.jobs.size(); ++i) {
        const word64 own_bytes = run_.packed.numbers_of(group_.jobs[i]).size();
        const double own_steps = run_.packed.records[group_.jobs[i]].steps;
        const bool is_full = out.empty() || out.back().count >= most_jobs ||
                             work(steps + own_steps, tiles) > most_work_of_launch ||
                             (are_constant && bytes + own_bytes > rows.most_bytes);
        if (is_full) {
            out.push_back({i, 0});
            bytes = 0;
            steps = 0;
        }
        ++out.back().count;
        bytes += own_bytes;
        steps += own_steps;
    }
    return out;
}

word64 launch_sizes::tiles_at_once(const job_list& list, word64 tiles) const {
    if (!may_cut_tiles(list.count)) return tiles;
    const auto fitting = static_cast<word64>(most_work_of_launch / work(list, 1));
    return std::clamp<word64>(fitting, 1, tiles);
}

double launch_sizes::work(const job_list& list, word64 tiles) const {
    double steps = 0;
    for (std::size_t i = list.first; i < list.first + list.count; ++i)
        steps += run_.packed.records[group_.jobs[i]].steps;
    return work(steps, tiles);
}

double launch_sizes::work(double steps, word64 tiles) const {
    return steps * work_of_step_ * static_cast<double>(tiles) * kernels::paths_per_tile;
}

}  // namespace tilewalk::cuda
