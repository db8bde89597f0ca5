// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/tile_pool.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "kernels/moments.h"
#include "kernels/tile.h"
#include "tilewalk/error.h"

namespace tilewalk::cpu {

void for_each(std::uint64_t count, int threads, const std::atomic<bool>* cancel,
              const std::function<void(int, std::uint64_t)>& task, const std::function<void()>& watch) {
    std::atomic<std::uint64_t> next{0};
    std::atomic<bool> stop{cancel != nullptr && cancel->load()};
    std::mutex lock;
    std::condition_variable changed;
    int running =
        static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(std::max(threads, 1)), count));
    std::exception_ptr failure;

    const auto work = [&](int thread) {
        try {
            while (!stop.load(std::memory_order_relaxed)) {
                const std::uint64_t i = next.fetch_add(1, std::memory_order_relaxed);
                if (i >= count) break;
                task(thread, i);
            }
        } catch (...) {
            const std::lock_guard guard(lock);
            if (!failure) failure = std::current_exception();
            stop = true;
        }
        const std::lock_guard guard(lock);
        --running;
        changed.notify_one();
    };
    std::vector<std::jthread> crew;
    const int wanted = running;
    try {
        for (int t = 0; t < wanted; ++t) crew.emplace_back(work, t);
    } catch (const std::system_error&) {
        // The system gives no more threads: those that there are do all the work, which changes no bit.
        if (crew.empty()) throw error(error_kind::internal, "the system gives no thread to work with");
        const std::lock_guard guard(lock);
        running -= wanted - static_cast<int>(crew.size());
    }
    {
        std::unique_lock guard(lock);
        while (!changed.wait_for(guard, std::chrono::milliseconds(100), [&] { return running == 0; })) {
            if (cancel != nullptr && cancel->load(std::memory_order_relaxed)) stop = true;
            guard.unlock();
            try {
                if (watch) watch();
            } catch (...) {
                stop = true;
                crew.clear();  // joins
                throw;
            }
            guard.lock();
        }
    }
    crew.clear();
    if (failure) std::rethrow_exception(failure);
    if (cancel != nullptr && cancel->load()) throw error(error_kind::cancelled, "the run was stopped");
}

namespace {

// Tiles are merged in blocks as soon as a block is complete, so that a run's memory does not grow with its
// paths. A block of 2^10 is a whole branch of the fixed tree over tiles: merging blocks gives the bits of
// merging all at once.
constexpr std::uint64_t tiles_per_block = 1024;

tile_result merge_in_order(const std::vector<tile_result>& parts) {
    tile_result out;
    std::vector<kernels::moments> moments;
    moments.reserve(parts.size());
    for (const tile_result& p : parts) {
        out.not_finite += p.not_finite;
        out.first_not_finite = std::min(out.first_not_finite, p.first_not_finite);
        moments.push_back(p.moments);
    }
    out.moments = kernels::merge_tiles(moments.data(), moments.size());
    return out;
}

// How many tiles have their results kept, and how many had at most.
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
    // Keeps the result of tile `at` of the block's `count`; the last one to come merges the block. True if it
    // did.
    bool keep(std::size_t at, std::size_t count, const tile_result& r, kept_tiles& all) {
        std::call_once(made_, [&] {
            tiles_.resize(count);
            all.add(tiles_.size());
        });
        tiles_[at] = r;
        if (kept_.fetch_add(1, std::memory_order_acq_rel) + 1 < count) return false;
        merged_ = merge_in_order(tiles_);
        const std::size_t before = tiles_.size();
        tiles_ = {};
        all.remove(before - tiles_.size());
        return true;
    }
    const tile_result& merged() const { return merged_; }

  private:
    std::once_flag made_;
    std::atomic<std::size_t> kept_{0};
    std::vector<tile_result> tiles_;
    tile_result merged_;
};

struct walked_job {
    std::uint64_t first_tile = 0;  // in the line of the tiles of all jobs
    std::vector<tile_block> blocks;
    std::atomic<std::size_t> blocks_left;

    walked_job(const path_job& job, std::uint64_t first)
        : first_tile(first),
          blocks((job.tiles() + tiles_per_block - 1) / tiles_per_block),
          blocks_left(blocks.size()) {}
};

}  // namespace

std::uint64_t bytes_of_results(std::uint64_t paths, int threads) {
    const std::uint64_t tiles = kernels::tiles_of(paths);
    const std::uint64_t blocks = (tiles + tiles_per_block - 1) / tiles_per_block;
    const std::uint64_t open = std::min(blocks, static_cast<std::uint64_t>(threads) + 1);
    return blocks * sizeof(tile_block) + std::min(tiles, open * tiles_per_block) * sizeof(tile_result);
}

std::vector<tile_result> walk_all(std::span<const path_job> jobs, const lane_operations& operations,
                                  int threads, const std::atomic<bool>* cancel,
                                  const std::function<void(const pool_progress&)>& on_progress) {
    std::deque<walked_job> walked;
    std::uint64_t tiles = 0;
    std::size_t most_outputs = 1;
    for (const path_job& job : jobs) {
        job.check();
        walked.emplace_back(job, tiles);
        tiles += job.tiles();
        most_outputs = std::max(most_outputs, job.code->outputs.size());
    }
    std::atomic<std::size_t> jobs_done{0};
    std::atomic<std::uint64_t> steps_done{0};
    kept_tiles kept;

    struct worker {
        lane_machine machine;
        std::vector<tile_result> results;
    };
    std::vector<worker> workers;
    for (int t = 0; t < std::max(threads, 1); ++t) {
        workers.push_back({lane_machine(operations), std::vector<tile_result>(most_outputs)});
    }
    for_each(
        tiles, threads, cancel,
        [&](int thread, std::uint64_t i) {
            const auto after =
                std::upper_bound(walked.begin(), walked.end(), i,
                                 [](std::uint64_t at, const walked_job& w) { return at < w.first_tile; });
            walked_job& into = *std::prev(after);
            const path_job& job = jobs[static_cast<std::size_t>(std::prev(after) - walked.begin())];
            worker& w = workers[static_cast<std::size_t>(thread)];
            const std::uint64_t tile = i - into.first_tile;
            w.machine.walk(job, tile, w.results);

            const std::uint64_t block = tile / tiles_per_block;
            const std::uint64_t in_block = std::min(tiles_per_block, job.tiles() - block * tiles_per_block);
            if (into.blocks[block].keep(tile % tiles_per_block, in_block, w.results[0], kept) &&
                --into.blocks_left == 0) {
                ++jobs_done;
            }
            steps_done +=
                static_cast<std::uint64_t>(kernels::paths_in_tile(job.paths, tile)) * job.when->steps();
        },
        [&] {
            if (on_progress) on_progress({jobs_done, steps_done, kept.most()});
        });
    std::uint64_t rows_read = 0;
    for (const worker& w : workers) rows_read += w.machine.scenario_rows_read();
    if (on_progress) on_progress({jobs_done, steps_done, kept.most(), rows_read});

    std::vector<tile_result> out;
    for (const walked_job& w : walked) {
        std::vector<tile_result> blocks;
        for (const tile_block& b : w.blocks) blocks.push_back(b.merged());
        out.push_back(merge_in_order(blocks));
    }
    return out;
}

}  // namespace tilewalk::cpu
