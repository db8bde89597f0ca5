// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/paths/walk_on_devices.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <optional>
#include <utility>

#include "engine/base/crew.h"
#include "engine/walk/cuda/device/device_crew.h"
#include "kernels/tile.h"

namespace tilewalk::cuda {

using kernels::tile_result;
using kernels::word64;
using run::tile_range;

namespace {

struct shared_work {
    std::vector<tile_range> ranges;  // by piece
    shared_pieces pieces;
    std::vector<std::vector<chunk_results>> results;  // by piece

    shared_work(std::vector<tile_range> cut, const run_state& run)
        : ranges(std::move(cut)),
          pieces(ranges.size(), [&run] { return run.stopped(); }),
          results(ranges.size()) {}
};

// A failure of the device ends its share; any other ends the run.
void walk_share(run_state& run, loaded_device& on, shared_work& work, std::unique_ptr<device_walk>& walk,
                gpu_outcome::share& share) {
    std::optional<std::size_t> piece;
    bool is_settled = false;
    const auto end_run = [&](const error& why) {
        run.fail_all(why);
        run.given_up = true;
    };
    try {
        if (walk) {
            walk->begin_again();
        } else {
            walk = std::make_unique<device_walk>(on, run);
        }
        while ((piece = work.pieces.take())) {
            const word64 counted_before = walk->counted();
            try {
                std::vector<chunk_results> chunks;
                walk->walk(work.ranges[*piece], chunks);
                work.results[*piece] = std::move(chunks);
            } catch (...) {
                walk->uncount(counted_before);
                throw;
            }
            is_settled = true;
            share.has_walked = walk->launches() > 0;
            work.pieces.finish();
        }
    } catch (const stopped_early&) {
    } catch (const device_error& e) {
        share.lost = e;
    } catch (const error& e) {
        end_run(e);
    } catch (const std::exception& e) {
        end_run(error(error_kind::internal, e.what()));
    }
    if (piece) work.pieces.give_back(*piece);
    if (!walk) return;
    if (!is_settled) walk->settle();
    const std::lock_guard guard(run.lock);
    run.outcome.launches += walk->launches();
    run.outcome.device_seconds = std::max(run.outcome.device_seconds, walk->seconds());
    run.outcome.kernel_seconds = std::max(run.outcome.kernel_seconds, walk->kernel_seconds());
}

// At most one piece per device: the run's largest subtrees for which that holds.
std::vector<tile_range> pieces_of(const gpu_run& run, std::size_t devices) {
    const tile_range all{0, kernels::tiles_of(run.paths)};
    const tile_range asked = run::asked_or_all(run.tiles, all.count);
    std::vector<tile_range> out;
    run::cut(all, asked, (asked.count + devices - 1) / devices, out);
    return out;
}

void add(const chunk_results& chunk, const packed_trades& packed, std::size_t job, run::tally& to) {
    const std::size_t parts = chunk.results.size() / packed.results;
    const tile_result* of_job = chunk.results.data() + packed.records[job].result * parts;
    std::vector<tile_result> rows(to.rows());
    for (std::size_t p = 0; p < parts; ++p) {
        const word64 first = p * to.part_tiles();
        for (std::size_t r = 0; r < rows.size(); ++r) rows[r] = of_job[r * parts + p];
        to.add({chunk.tiles.first + first, std::min(to.part_tiles(), chunk.tiles.count - first)}, rows);
    }
}

void leave_tallies(run_state& run, const shared_work& work) {
    threads::for_each_short(run.run.jobs.size(), run.run.threads, [&](int, std::uint64_t j) {
        const program::path_program& code = *run.run.jobs[j].code;
        run::tally& of_job = run.outcome.tallies[j];
        of_job =
            run::tally(kernels::tiles_of(run.run.paths), run.part_tiles, code.outputs.size(), code.crossed);
        of_job.expect_all();
        for (const std::vector<chunk_results>& piece : work.results)
            for (const chunk_results& chunk : piece) add(chunk, run.packed, j, of_job);
    });
}

}  // namespace

void walk_on_devices(run_state& run, std::span<const std::shared_ptr<loaded_device>> devices,
                     std::vector<std::unique_ptr<device_walk>>& walks) {
    shared_work shared(pieces_of(run.run, devices.size()), run);
    for (const tile_range& range : shared.ranges) run.most_tiles = std::max(run.most_tiles, range.count);
    walks.resize(devices.size());

    std::atomic<std::size_t> alive{devices.size()};
    const auto work = [&](std::size_t d) {
        gpu_outcome::share& share = run.outcome.shares[d];
        walk_share(run, *devices[d], shared, walks[d], share);
        if (share.lost && --alive == 0 && !shared.pieces.all_done()) run.fail_all(*share.lost);
    };
    // Work of a lost device is repeated; reported progress does not go back.
    word64 told = 0;
    const auto report = [&] {
        told = std::max(told, run.path_steps_done.load());
        if (run.run.on_progress) run.run.on_progress({.path_steps_done = told});
    };
    if (shared.ranges.size() == 1 && !run.run.on_progress) {
        // Starting a thread takes as long as a small run. Devices are asked in turn, while those before are
        // lost; the others drop what an earlier run left, since it misses this one's changes.
        for (std::size_t d = 0; d < devices.size(); ++d) {
            if (shared.pieces.all_done() || run.stopped()) {
                walks[d].reset();
            } else {
                work(d);
            }
        }
    } else {
        at_work threads(devices.size(), work);
        do {
            report();
        } while (!threads.end_within(std::chrono::milliseconds(50)));
    }
    if (run.stopped() || !shared.pieces.all_done()) return;
    report();
    leave_tallies(run, shared);
}

}  // namespace tilewalk::cuda
