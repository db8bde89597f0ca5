// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cpu/tile_pool.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <deque>
#include <mutex>

#include "kernels/moments.h"
#include "kernels/tile.h"

namespace tilewalk::cpu {

namespace {

using kernels::word64;

// Results of tiles are merged as soon as a block of tiles is complete, so that memory does not grow with
// paths. A block lies within a part and is a subtree of the run, or the tiles of one that the range covers.
constexpr word64 most_tiles_of_block = 1024;

// Counts the tiles whose results are in memory, now and at the peak.
class kept_tiles {
  public:
    void add(std::uint64_t tiles) {
        const std::uint64_t now = now_.fetch_add(tiles) + tiles;
        std::uint64_t most = most_.load();
        while (most < now && !most_.compare_exchange_weak(most, now)) {
        }
    }
    void remove(std::uint64_t tiles) { now_.fetch_sub(tiles); }
    std::uint64_t most() const { return most_; }

  private:
    std::atomic<std::uint64_t> now_{0}, most_{0};
};

class tile_block {
  public:
    // Stores the results of tile `at` of `count`. Returns whether the block is now complete.
    bool keep(std::size_t at, std::size_t count, std::span<const tile_result> r,
              std::span<const double> derivatives, kept_tiles& all) {
        std::call_once(made_, [&] {
            tiles_.resize(count * r.size());
            derivatives_.resize(count * derivatives.size());
            all.add(count);
        });
        std::ranges::copy(r, tiles_.begin() + static_cast<std::ptrdiff_t>(at * r.size()));
        std::ranges::copy(derivatives,
                          derivatives_.begin() + static_cast<std::ptrdiff_t>(at * derivatives.size()));
        return kept_.fetch_add(1, std::memory_order_acq_rel) + 1 == count;
    }
    void give_to(run::tally& to, word64 first, kept_tiles& all) {
        const std::size_t rows = to.rows(), count = tiles_.size() / rows;
        for (std::size_t i = 0; i < count; ++i)
            to.add({first + i, 1}, std::span(tiles_).subspan(i * rows, rows),
                   std::span(derivatives_).subspan(i * to.derivatives(), to.derivatives()));
        tiles_ = {};
        derivatives_ = {};
        all.remove(count);
    }

  private:
    std::once_flag made_;
    std::atomic<std::size_t> kept_{0};
    std::vector<tile_result> tiles_;   // indexed [tile][row of the tally]
    std::vector<double> derivatives_;  // indexed [tile][derivative of the tally]
};

std::size_t derivatives_of(const path_job& job) {
    return job.back == nullptr ? 0 : job.back->places.size;
}

// Most bytes of derivatives in a block, unless one tile needs more.
constexpr std::size_t most_bytes_of_block = std::size_t{8} << 20;

word64 block_tiles_of(const path_job& job) {
    const word64 fit = most_bytes_of_block / (sizeof(double) * std::max<std::size_t>(derivatives_of(job), 1));
    return std::min({most_tiles_of_block, job.tiles_of_part(), std::bit_floor(std::max<word64>(fit, 1))});
}

struct walked_job {
    word64 first_tile;  // number of the job's first tile, counted over all jobs
    run::tile_range range;
    word64 block_tiles;
    std::vector<tile_block> blocks;
    std::size_t blocks_left;  // blocks not yet merged into the tally
    std::mutex lock;
    run::tally tally;

    walked_job(const path_job& job, word64 first)
        : first_tile(first),
          range(job.walked_tiles()),
          block_tiles(block_tiles_of(job)),
          blocks((range.end() - 1) / block_tiles - range.first / block_tiles + 1),
          blocks_left(blocks.size()),
          tally(job.tiles(), job.tiles_of_part(), job.code->outputs.size(), job.code->crossed,
                derivatives_of(job)) {}

    run::tile_range tiles_of(word64 block) const {
        const word64 at = (range.first / block_tiles + block) * block_tiles;
        const word64 first = std::max(at, range.first);
        return {first, std::min(at + block_tiles, range.end()) - first};
    }
    bool keep(word64 tile, std::span<const tile_result> r, std::span<const double> derivatives,
              kept_tiles& all) {
        const word64 block = tile / block_tiles - range.first / block_tiles;
        const run::tile_range in_block = tiles_of(block);
        if (!blocks[block].keep(tile - in_block.first, in_block.count, r, derivatives, all)) return false;
        run::tally merged(tally.run_tiles(), tally.part_tiles(), tally.outputs(), tally.crossed(),
                          tally.derivatives());
        blocks[block].give_to(merged, in_block.first, all);
        const std::lock_guard guard(lock);
        tally.add(merged);
        return --blocks_left == 0;
    }
};

}  // namespace

std::uint64_t bytes_of_results(std::uint64_t paths, int threads) {
    const word64 tiles = kernels::tiles_of(paths), part = run::part_tiles_of(tiles);
    const word64 block = std::min(most_tiles_of_block, part), blocks = (tiles + block - 1) / block;
    const word64 open = std::min(blocks, static_cast<word64>(threads) + 1);
    return blocks * sizeof(tile_block) + std::min(tiles, open * block) * sizeof(tile_result) +
           (tiles + part - 1) / part * (sizeof(tile_result) + sizeof(run::tile_range));
}

std::vector<run::tally> tile_pool::walk_all(std::span<const path_job> jobs, const std::atomic<bool>* cancel,
                                            const std::function<void(const pool_progress&)>& on_progress) {
    std::deque<walked_job> walked;
    std::uint64_t tiles = 0;
    std::size_t most_results = 1, most_derivatives = 0;
    for (const path_job& job : jobs) {
        job.check();
        tiles += walked.emplace_back(job, tiles).range.count;
        most_results = std::max(most_results, job.code->results());
        most_derivatives = std::max(most_derivatives, derivatives_of(job));
    }
    while (workers_.size() < static_cast<std::size_t>(crew_.threads()))
        workers_.push_back({lane_machine(operations_), {}, {}});
    for (worker& w : workers_) {
        w.results.resize(most_results);
        w.derivatives.resize(most_derivatives);
    }
    std::atomic<std::size_t> jobs_done{0};
    std::atomic<std::uint64_t> steps_done{0};
    kept_tiles kept;
    const std::uint64_t rows_before = scenario_rows_read();
    auto told_at = std::chrono::steady_clock::now();
    const auto tell_at_times = [&] {
        const auto now = std::chrono::steady_clock::now();
        if (now - told_at < std::chrono::milliseconds(100)) return;
        told_at = now;
        on_progress({jobs_done, steps_done, kept.most()});
    };
    crew_.for_each(tiles, cancel,
                   [&](int thread, std::uint64_t i) {
                       const auto after =
                           std::upper_bound(walked.begin(), walked.end(), word64{i},
                                            [](word64 at, const walked_job& w) { return at < w.first_tile; });
                       walked_job& into = *std::prev(after);
                       const path_job& job =
                           jobs[static_cast<std::size_t>(std::prev(after) - walked.begin())];
                       worker& w = workers_[static_cast<std::size_t>(thread)];
                       const word64 tile = into.range.first + (i - into.first_tile);
                       const auto derivatives = std::span(w.derivatives).first(into.tally.derivatives());
                       if (job.back == nullptr) {
                           w.machine.walk(job, tile, w.results, cancel);
                       } else {
                           w.machine.walk(job, tile, w.results, derivatives, cancel);
                       }
                       if (into.keep(tile, std::span(w.results).first(into.tally.rows()), derivatives, kept))
                           ++jobs_done;
                       steps_done += static_cast<std::uint64_t>(kernels::paths_in_tile(job.paths, tile)) *
                                     job.when->steps();
                       if (thread == 0 && on_progress) tell_at_times();
                   },
                   {});
    if (on_progress) on_progress({jobs_done, steps_done, kept.most(), scenario_rows_read() - rows_before});

    std::vector<run::tally> out;
    out.reserve(walked.size());
    for (walked_job& w : walked) out.push_back(std::move(w.tally));
    return out;
}

std::uint64_t tile_pool::scenario_rows_read() const {
    std::uint64_t rows = 0;
    for (const worker& w : workers_) rows += w.machine.scenario_rows_read();
    return rows;
}

std::vector<run::tally> walk_all(std::span<const path_job> jobs, const lane_operations& operations,
                                 int threads, const std::atomic<bool>* cancel,
                                 const std::function<void(const pool_progress&)>& on_progress) {
    return tile_pool(operations, threads).walk_all(jobs, cancel, on_progress);
}

}  // namespace tilewalk::cpu
