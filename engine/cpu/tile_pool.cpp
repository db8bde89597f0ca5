// SPDX-License-Identifier: Apache-2.0
#include "engine/cpu/tile_pool.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "kernels/moments.h"
#include "kernels/tile.h"
#include "tilewalk/error.h"

namespace tilewalk::cpu {

void for_each(std::uint64_t count, int threads, const std::atomic<bool>* cancel,
              const std::function<void(int, std::uint64_t)>& task, const std::function<void()>& watch) {
    std::atomic<std::uint64_t> next{0};
    std::atomic<bool> stop{false};
    std::mutex lock;
    std::condition_variable changed;
    int running = static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(std::max(threads, 1)), count));
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
    for (int t = 0, n = running; t < n; ++t) crew.emplace_back(work, t);
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

std::vector<tile_result> walk_all(std::span<const path_job> jobs, const lane_operations& operations, int threads,
                                  const std::atomic<bool>* cancel,
                                  const std::function<void(const pool_progress&)>& on_progress) {
    // Tiles of all jobs in one line; job j has tiles [begin[j], begin[j + 1]).
    std::vector<std::uint64_t> begin{0};
    std::size_t most_outputs = 1;
    for (const path_job& job : jobs) {
        begin.push_back(begin.back() + job.tiles());
        most_outputs = std::max(most_outputs, job.code->outputs.size());
    }
    std::vector<tile_result> by_tile(begin.back());
    std::vector<std::atomic<std::uint64_t>> tiles_left(jobs.size());
    for (std::size_t j = 0; j < jobs.size(); ++j) tiles_left[j] = jobs[j].tiles();
    std::atomic<std::size_t> jobs_done{0};
    std::atomic<std::uint64_t> steps_done{0};

    struct worker {
        lane_machine machine;
        std::vector<tile_result> results;
    };
    std::vector<worker> workers;
    for (int t = 0; t < std::max(threads, 1); ++t) {
        workers.push_back({lane_machine(operations), std::vector<tile_result>(most_outputs)});
    }
    for_each(
        begin.back(), threads, cancel,
        [&](int thread, std::uint64_t i) {
            const auto j = static_cast<std::size_t>(std::upper_bound(begin.begin(), begin.end(), i) - begin.begin()) - 1;
            worker& w = workers[static_cast<std::size_t>(thread)];
            const std::uint64_t tile = i - begin[j];
            w.machine.walk(jobs[j], tile, w.results);
            by_tile[i] = w.results[0];
            steps_done += static_cast<std::uint64_t>(kernels::paths_in_tile(jobs[j].paths, tile)) * jobs[j].when->steps();
            if (--tiles_left[j] == 0) ++jobs_done;
        },
        [&] {
            if (on_progress) on_progress({jobs_done, steps_done});
        });
    if (on_progress) on_progress({jobs_done, steps_done});

    std::vector<tile_result> out(jobs.size());
    std::vector<kernels::moments> moments;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
        moments.clear();
        for (std::uint64_t i = begin[j]; i < begin[j + 1]; ++i) {
            const tile_result& t = by_tile[i];
            out[j].not_finite += t.not_finite;
            out[j].first_not_finite = std::min(out[j].first_not_finite, t.first_not_finite);
            moments.push_back(t.moments);
        }
        out[j].moments = kernels::merge_tiles(moments.data(), moments.size());
    }
    return out;
}

}  // namespace tilewalk::cpu
