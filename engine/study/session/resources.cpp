// SPDX-License-Identifier: Apache-2.0
#include "engine/study/session/resources.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace tilewalk::studies {

resources::resources(const engine_settings& settings, cuda::backend& gpus, lasts how_long)
    : how_long_(how_long),
      gpus_(gpus),
      operations_(operations_named(settings.instruction_set)),
      compiled_(std::make_shared<cpu::compiled_programs>(
          [this](const program::path_program& code) { return shapes_.has(code); })),
      adjoints_(std::make_shared<greeks::adjoint_store>()) {}

// A store keeps its programs alive, so a new one is started when there are many.
std::shared_ptr<greeks::adjoint_store> resources::adjoints() const {
    constexpr std::size_t most_programs = 256;
    const std::lock_guard guard(lock_);
    if (adjoints_->size() > most_programs) adjoints_ = std::make_shared<greeks::adjoint_store>();
    return adjoints_;
}

std::shared_ptr<const resources::kept_plan> resources::kept(const std::string& trade) const {
    const std::lock_guard guard(lock_);
    const auto found = plans_.find(trade);
    return found == plans_.end() ? nullptr : found->second;
}

// Plans that failed are not kept: their error may come from parts of the market that they had not read yet.
planned resources::plan(const books::trade& t, const market& in, const wanted_plans& wanted,
                        missing_pairs& missing, markets::market_reads* reads) const {
    // A trade may have been marked as failed since the book was opened, and must not take a kept plan.
    const bool keeps = wanted.are_of_book && how_long_ == lasts::many_calls && !t.failure;
    const program::precision precision = wanted.run.how.precision;
    if (keeps) {
        const std::shared_ptr<const kept_plan> known = kept(t.id);
        if (known && known->is_good_for(in, precision)) {
            if (reads != nullptr) *reads = known->reads;
            return planned_again(t, known->ready, state_of(in), wanted.run, missing);
        }
    }
    markets::market_reads own;
    markets::market_reads* const to = reads != nullptr ? reads : keeps ? &own : nullptr;
    const planner by = [&](const books::trade& of, const markets::market_state& state, program::precision p,
                           const plan::poll& often) {
        ++planned_;
        return plan::plan_trade(of, {state, to}, p, {}, often, nullptr, nullptr, &passed_);
    };
    planned made =
        plan_one(t, state_of(in), wanted.run, shapes_, missing, wanted.cancel, by, wanted.first_scenario);
    if (keeps && made.ready) {
        auto plan = std::make_shared<const kept_plan>(kept_plan{made.ready, precision, in, *to});
        const std::lock_guard guard(lock_);
        plans_[t.id].swap(plan);
    }
    return made;
}

// A market with one more dividend, say, may make other shapes; those without trades are dropped.
void resources::drop_unused_programs() const {
    if (how_long_ == lasts::a_call || planned_at_drop_.exchange(planned_) == planned_) return;
    shapes_.drop_unused([&](const program::path_program& code) { compiled_->forget(code); });
}

session_facts resources::facts() const {
    session_facts out;
    out.trades_planned = planned_;
    out.programs = shapes_.size();
    out.programs_compiled = compiled_->size();
    const std::lock_guard guard(lock_);
    out.plans = plans_.size();
    out.crews = idle_pools_.size();
    for (const auto& pool : idle_pools_) out.threads += pool->crew().started();
    out.gpu_runs = idle_gpu_runs_.size();
    return out;
}

taken_threads::taken_threads(const resources& from, int threads) : from_(from) {
    {
        const std::lock_guard guard(from.lock_);
        std::vector<std::shared_ptr<cpu::tile_pool>>& idle = from.idle_pools_;
        const auto at =
            std::ranges::find_if(idle, [&](const auto& pool) { return pool->crew().threads() == threads; });
        if (at != idle.end()) {
            pool_ = std::move(*at);
            idle.erase(at);
        }
    }
    if (!pool_) pool_ = std::make_shared<cpu::tile_pool>(from.operations_, threads);
}

taken_threads::~taken_threads() {
    constexpr std::size_t most_idle = 32;
    std::shared_ptr<cpu::tile_pool> oldest;  // destroyed after the lock is released
    const std::lock_guard guard(from_.lock_);
    std::vector<std::shared_ptr<cpu::tile_pool>>& idle = from_.idle_pools_;
    idle.push_back(std::move(pool_));
    if (idle.size() <= most_idle) return;
    oldest = std::move(idle.front());
    idle.erase(idle.begin());
}

std::unique_ptr<run::back_end> taken_threads::back_end(program::precision in) const {
    return std::make_unique<cpu::back_end>(pool_, from_.compiled_, in);
}

taken_gpu_run::taken_gpu_run(const resources& from, const settled& run)
    : from_(from), in_{run.device, run.paths, run.how.precision} {
    const std::lock_guard guard(from.lock_);
    std::vector<resources::idle_gpu_run>& idle = from.idle_gpu_runs_;
    // The run returned last is the most likely to have the same trades.
    for (auto at = idle.rbegin(); at != idle.rend() && !run_; ++at) {
        if (at->made_in != in_) continue;
        run_ = std::move(at->run);
        idle.erase(std::next(at).base());
        return;
    }
    run_ = std::make_unique<ready_on_gpus>();
}

taken_gpu_run::~taken_gpu_run() {
    constexpr std::size_t most_idle = 8;
    if (run_->is_empty() || from_.how_long_ == resources::lasts::a_call) return;
    resources::idle_gpu_run oldest;  // destroyed after the lock is released
    const std::lock_guard guard(from_.lock_);
    std::vector<resources::idle_gpu_run>& idle = from_.idle_gpu_runs_;
    idle.push_back({in_, std::move(run_)});
    if (idle.size() <= most_idle) return;
    oldest = std::move(idle.front());
    idle.erase(idle.begin());
}

}  // namespace tilewalk::studies
