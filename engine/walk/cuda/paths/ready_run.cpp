// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/paths/ready_run.h"

#include <algorithm>
#include <utility>

#include "engine/walk/cuda/paths/new_run.h"
#include "engine/walk/cuda/paths/walk_on_devices.h"

namespace tilewalk::cuda {

namespace {

std::uint64_t changes_of(const tuned_choices* tuned) {
    return tuned != nullptr ? tuned->changes() : 0;
}

}  // namespace

gpu_outcome ready_run::walk(const gpu_run& asked, device_crew::devices devices, kernel_store& kernels) {
    try {
        const bool is_anew = !take_over(asked, devices);
        if (is_anew) begin(asked, devices, kernels);
        gpu_outcome got = walked(is_anew);
        leave(got);
        return got;
    } catch (...) {
        forget();
        throw;
    }
}

// Whether a run like `asked` differs from the previous one only by its seed and the numbers of its trades.
bool ready_run::is_made_for(const gpu_run& asked, device_crew::devices devices) const {
    const gpu_run& was = state_->run;
    // Rows of points also depend on a trade's dates and numbers.
    const bool has_points = asked.source != nullptr && asked.source->is_points;
    const auto same_program = [&](const run::job& a, const run::job& b) {
        return a.code == b.code &&
               (!has_points || (a.data == b.data && a.when == b.when && a.points == b.points));
    };
    return asked.owner && asked.replay == was.replay && asked.how == was.how &&
           asked.correlation == was.correlation && asked.source == was.source &&
           asked.memory_bytes == was.memory_bytes && asked.unit_paths == was.unit_paths &&
           asked.points == was.points && asked.tuned == was.tuned &&
           changes_of(asked.tuned) == tuned_changes_ && asked.paths == was.paths &&
           asked.tiles == was.tiles && std::ranges::equal(devices, crew_->all()) &&
           std::ranges::equal(asked.jobs, state_->separated.given(), same_program);
}

// Reuses the previous run's state for `asked`. The previous owner is released only after its jobs are
// compared with the new ones, as addresses could otherwise be reused.
bool ready_run::take_over(const gpu_run& asked, device_crew::devices devices) {
    if (!state_ || !is_made_for(asked, devices)) return false;
    run_state& state = *state_;
    state.changes = {};
    for (std::size_t j = 0; j < asked.jobs.size(); ++j) {
        const run::job& was = state.separated.given()[j];
        const run::job& is = asked.jobs[j];
        if (is.data == was.data && is.when == was.when) continue;
        const packed_trades alone = pack({&is, 1}, program::real_type(asked.how.precision));
        if (!state.packed.replace(j, alone, state.changes)) return false;
        state.separated.replace(j, is);
    }
    owner_ = asked.owner;
    state.begin(asked);
    crew_->begin_again();
    return true;
}

void ready_run::begin(const gpu_run& asked, device_crew::devices devices, kernel_store& kernels) {
    forget();
    owner_ = asked.owner;
    tuned_changes_ = changes_of(asked.tuned);
    crew_.emplace(devices, kernels);
    state_ = new_run(asked, *crew_);
}

gpu_outcome ready_run::walked(bool is_anew) {
    run_state& state = *state_;
    const auto& failures = state.outcome.failures;
    const bool jobs_left = std::any_of(failures.begin(), failures.end(), [](const auto& f) { return !f; });
    if (jobs_left && !state.stopped()) {
        try {
            walk_on_devices(state, *crew_, walks_);
        } catch (const error& e) {
            state.fail_all(e);
        }
    }
    if (state.run.cancel != nullptr && state.run.cancel->load())
        throw error(error_kind::cancelled, "the run was stopped");
    static_cast<gpu_facts&>(state.outcome) = crew_->facts();
    if (!is_anew) state.outcome.kernels_from_cache += std::exchange(state.outcome.kernels_compiled, 0);
    return std::move(state.outcome);
}

// A run with failures is not kept, so that the next one tries again.
bool ready_run::is_worth_leaving(const gpu_outcome& got) const {
    if (!owner_ || state_->shocks || state_->packed.bytes() > most_bytes_left) return false;
    for (std::size_t j = 0; j < got.failures.size(); ++j) {
        if (got.failures[j] && !state_->packed.failures[j]) return false;
    }
    return std::ranges::none_of(got.shares, [](const auto& share) { return share.lost.has_value(); });
}

void ready_run::leave(const gpu_outcome& got) {
    if (!is_worth_leaving(got)) return forget();
    for (auto& walk : walks_) {
        const std::optional<std::size_t> bytes = walk ? walk->bytes_left() : std::nullopt;
        if (!bytes || *bytes > most_bytes_left) walk.reset();
    }
    // Pointers to the caller's data are dropped.
    state_->run.cancel = nullptr;
    state_->run.times = nullptr;
    state_->run.on_progress = nullptr;
    state_->run.scenarios = {};
}

void ready_run::forget() {
    walks_.clear();
    state_.reset();
    owner_.reset();
    crew_.reset();
}

}  // namespace tilewalk::cuda
