// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/paths/walk_on_devices.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "engine/base/crew.h"
#include "kernels/tile.h"

namespace tilewalk::cuda {

using kernels::tile_result;
using kernels::word64;
using run::tile_range;

namespace {

// Cuts the tiles to walk into the run's largest subtrees, of which none exceeds a device's equal share.
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

// A run cut into pieces for its devices. An error of a device ends that device's work; any other ends the
// run.
class paths_of_devices final : public piecework {
  public:
    paths_of_devices(run_state& run, device_crew& crew, std::vector<std::unique_ptr<device_walk>>& walks)
        : run_(run),
          crew_(crew),
          walks_(walks),
          served_(crew.size()),
          ranges_(pieces_of(run.run, crew.size())) {
        for (const tile_range& range : ranges_) run_.most_tiles = std::max(run_.most_tiles, range.count);
        results_.resize(ranges_.size());
        walks_.resize(crew_.size());
    }

    void walk_all() {
        // A lost device's work is done again, but the progress reported must not go back.
        word64 told = 0;
        const auto tell = [&] {
            told = std::max(told, run_.path_steps_done.load());
            run_.run.on_progress({.path_steps_done = told});
        };
        const bool tells = run_.run.on_progress != nullptr;
        crew_.walk(*this, ranges_.size(), crew_.size(), run_.run.cancel,
                   tells ? tell : std::function<void()>());
        // A device that did no work still has the trades of an earlier run, without this run's changes.
        for (std::size_t d = 0; d < walks_.size(); ++d)
            if (!served_[d].has_begun) walks_[d].reset();
        if (last_lost_) return run_.fail_all(*last_lost_);
        if (tells) tell();
        leave_tallies();
    }

  private:
    void begin(std::size_t d) override {
        served_[d].has_begun = true;
        if (walks_[d]) {
            walks_[d]->begin_again();
        } else {
            walks_[d] = std::make_unique<device_walk>(crew_[d], run_);
        }
    }
    bool walk(std::size_t d, std::size_t piece) override {
        const word64 counted_before = walks_[d]->counted();
        try {
            std::vector<chunk_results> chunks;
            walks_[d]->walk(ranges_[piece], chunks);
            results_[piece] = std::move(chunks);
        } catch (...) {
            walks_[d]->uncount(counted_before);
            throw;
        }
        served_[d].is_settled = true;
        return walks_[d]->launches() > 0;
    }
    void end(std::size_t d) override {
        if (!walks_[d]) return;
        if (!served_[d].is_settled) walks_[d]->settle();
        crew_.count(walks_[d]->launches(), walks_[d]->seconds(), walks_[d]->kernel_seconds());
    }
    ends ended_by(const error& why) const override {
        return dynamic_cast<const device_error*>(&why) != nullptr ? ends::share_of_device : ends::work;
    }
    void fail(std::size_t, const error& why) override { last_lost_ = why; }
    void give_up() override { run_.given_up = true; }

    void leave_tallies() {
        threads::for_each_short(run_.run.jobs.size(), run_.run.threads, [&](int, std::uint64_t j) {
            const program::path_program& code = *run_.run.jobs[j].code;
            run::tally& of_job = run_.outcome.tallies[j];
            of_job = run::tally(kernels::tiles_of(run_.run.paths), run_.part_tiles, code.outputs.size(),
                                code.crossed);
            of_job.expect_all();
            for (const std::vector<chunk_results>& piece : results_)
                for (const chunk_results& chunk : piece) add(chunk, run_.packed, j, of_job);
        });
    }

    struct served {
        bool has_begun = false, is_settled = false;
    };
    run_state& run_;
    device_crew& crew_;
    std::vector<std::unique_ptr<device_walk>>& walks_;
    std::vector<served> served_;                       // by device
    std::vector<tile_range> ranges_;                   // by piece
    std::vector<std::vector<chunk_results>> results_;  // by piece
    std::optional<error> last_lost_;
};

}  // namespace

void walk_on_devices(run_state& run, device_crew& crew, std::vector<std::unique_ptr<device_walk>>& walks) {
    paths_of_devices(run, crew, walks).walk_all();
}

}  // namespace tilewalk::cuda
