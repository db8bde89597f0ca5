// SPDX-License-Identifier: Apache-2.0
// All that outlives a walk: for one call of an engine, or for all calls of a session. No bit depends on it.
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

namespace tilewalk::studies {

struct wanted_plans {
    const settled& run;
    const std::atomic<bool>* cancel = nullptr;
    // True if the trades are those of the open book, whose plans a session keeps.
    bool are_of_book = false;
    std::uint32_t first_scenario = 0;  // see plan_one
};

class resources {
  public:
    enum class lasts { a_call, many_calls };

    // `gpus` must outlive this.
    resources(const engine_settings& settings, cuda::backend& gpus, lasts how_long = lasts::a_call);
    explicit resources(const engine_state& of, lasts how_long = lasts::a_call)
        : resources(of.settings, *of.gpus, how_long) {}
    resources(const resources&) = delete;
    resources& operator=(const resources&) = delete;

    cuda::backend& gpus() const { return gpus_; }
    const cpu::lane_operations& operations() const { return operations_; }
    shape_store& shapes() const { return shapes_; }
    plan::passed_programs& passed() const { return passed_; }
    // Returns the store of adjoints. A study holds it, since the next call may get a new one.
    std::shared_ptr<greeks::adjoint_store> adjoints() const;

    // Returns a kept or a new plan. `reads` takes the parts of the market that it reads; may be null.
    planned plan(const books::trade& t, const market& in, const wanted_plans& wanted, missing_pairs& missing,
                 markets::market_reads* reads) const;
    // Drops programs that no plan uses, if trades were planned since the last call.
    void drop_unused_programs() const;

    session_facts facts() const;

  private:
    friend class taken_threads;
    friend class taken_gpu_run;

    struct kept_plan {
        std::shared_ptr<const ready_trade> ready;
        program::precision precision;
        market in;  // the market of the plan
        markets::market_reads reads;

        bool is_good_for(const market& other, program::precision p) const {
            return precision == p && reads.are_alike(state_of(in), state_of(other));
        }
    };
    // Settings that a run kept on GPUs must share with a call. Walks find whether anything else differs.
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
    mutable std::mutex lock_;                                                // guards the members below
    mutable std::map<std::string, std::shared_ptr<const kept_plan>> plans_;  // by trade
    mutable std::shared_ptr<greeks::adjoint_store> adjoints_;
    // Not in use; each call takes one of each and returns it.
    mutable std::vector<std::shared_ptr<cpu::tile_pool>> idle_pools_;
    mutable std::vector<idle_gpu_run> idle_gpu_runs_;
};

// Borrows threads and their CPU back end for the time of a call.
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

// Borrows what an earlier run left on GPUs, for the time of a call.
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

}  // namespace tilewalk::studies
