// SPDX-License-Identifier: Apache-2.0
// All that outlives a walk; a call of the engine has its own, a session keeps it. No bit depends on it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "engine/base/crew.h"
#include "engine/decide/planned.h"
#include "engine/decide/settled.h"
#include "engine/market/market_view.h"
#include "engine/plan/trade_program.h"
#include "engine/plan/ways_back.h"
#include "engine/reading/book_state.h"
#include "engine/study/session/engine_state.h"
#include "engine/study/session/gpu_trades.h"
#include "engine/walk/cpu/back_end.h"
#include "engine/walk/cpu/compiled_programs.h"
#include "engine/walk/cpu/tile_pool.h"
#include "engine/walk/cuda/device/backend.h"
#include "tilewalk/market.h"
#include "tilewalk/session.h"

namespace tilewalk::verbs {

struct wanted_plans {
    const settled& run;
    const std::atomic<bool>* cancel = nullptr;
    // True if trades are those of the open book, whose plans may be kept.
    bool are_of_book = false;
    std::uint32_t first_scenario = 0;  // see plan_one
};

class resources {
  public:
    enum class lasts { a_call, many_calls };

    // gpus` must outlive this.
    resources(const engine_settings& settings, cuda::backend& gpus, lasts how_long = lasts::a_call);
    explicit resources(const engine_state& of, lasts how_long = lasts::a_call)
        : resources(of.settings, *of.gpus, how_long) {}
    resources(const resources&) = delete;
    resources& operator=(const resources&) = delete;

    cuda::backend& gpus() const { return gpus_; }
    const cpu::lane_operations& operations() const { return operations_; }
    shape_store& shapes() const { return shapes_; }
    plan::passed_programs& passed() const { return passed_; }
    // Known ways back, for a study to hold on to.
    std::shared_ptr<greeks::adjoint_store> adjoints() const;

    // Returns a known or a new plan. `reads` takes what it read of the market; may be null.
    planned plan(const books::trade& t, const market& in, const wanted_plans& wanted, missing_pairs& missing,
                 markets::market_reads* reads) const;
    // Drops programs without a plan, if plans have changed since the last call.
    void drop_unused_programs() const;

    // The GPUs that a setting stands for, opened once.
    std::optional<cuda::backend::choice> opened(const std::string& device) const;
    cuda::backend::choice open(const std::string& device) const;

    session_facts facts() const;

  private:
    friend class taken_threads;
    friend class taken_gpu_run;

    struct kept_plan {
        std::shared_ptr<const ready_trade> ready;
        program::precision precision;
        market in;  // in which it was made
        markets::market_reads reads;

        bool is_good_for(const market& other, program::precision p) const {
            return precision == p && reads.are_alike(state_of(in), state_of(other));
        }
    };
    // Runs left on GPUs, by the settings that decide most of a run. Walks find other differences.
    using settings_of_run = std::tuple<std::string, std::uint64_t, program::precision>;
    struct idle_gpu_run {
        settings_of_run made_in;
        std::unique_ptr<ready_on_gpus> run;
    };

    std::shared_ptr<const kept_plan> kept(const std::string& trade) const;

    const lasts how_long_;
    cuda::backend& gpus_;
    const cpu::lane_operations& operations_;
    mutable shape_store shapes_;
    mutable plan::passed_programs passed_;
    const std::shared_ptr<cpu::compiled_programs> compiled_;
    mutable std::atomic<std::uint64_t> planned_{0}, planned_at_drop_{0};
    mutable std::mutex lock_;                                                // guards what follows
    mutable std::map<std::string, std::shared_ptr<const kept_plan>> plans_;  // by trade
    mutable std::map<std::string, cuda::backend::choice> opened_;            // by what the setting says
    mutable std::shared_ptr<greeks::adjoint_store> adjoints_;
    // Idle pools and runs: a call takes one and gives it back.
    mutable std::vector<std::shared_ptr<cpu::tile_pool>> idle_pools_;
    mutable std::vector<idle_gpu_run> idle_gpu_runs_;
};

// The threads of a call, and their back end.
class taken_threads {
  public:
    taken_threads(const resources& from, int threads);
    ~taken_threads();
    taken_threads(const taken_threads&) = delete;
    taken_threads& operator=(const taken_threads&) = delete;

    threads::crew& crew() const { return pool_->crew(); }
    std::unique_ptr<run::back_end> back_end(program::precision in) const;

  private:
    const resources& from_;
    std::shared_ptr<cpu::tile_pool> pool_;
};

// A run left on GPUs, for the time of a call.
class taken_gpu_run {
  public:
    taken_gpu_run(const resources& from, const settled& run);
    ~taken_gpu_run();
    taken_gpu_run(const taken_gpu_run&) = delete;
    taken_gpu_run& operator=(const taken_gpu_run&) = delete;

    ready_on_gpus& get() const { return *run_; }

  private:
    const resources& from_;
    const resources::settings_of_run in_;
    std::unique_ptr<ready_on_gpus> run_;
};

}  // namespace tilewalk::verbs
