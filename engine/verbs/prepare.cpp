// SPDX-License-Identifier: Apache-2.0
// Prepared books: plans, compiled programs, threads, and what lies on GPUs, kept from call to call.
#include <atomic>
#include <chrono>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/cpu/compiled_programs.h"
#include "engine/cpu/tile_pool.h"
#include "engine/market/market_view.h"
#include "engine/verbs/asked.h"
#include "engine/verbs/decided_plans.h"
#include "engine/verbs/manifest.h"
#include "engine/verbs/planned.h"
#include "engine/verbs/price.h"
#include "engine/verbs/request.h"
#include "tilewalk/prepared.h"
#include "tilewalk/timings.h"

namespace tilewalk {

namespace verbs {

namespace {

// A plan, and what it depends on.
struct kept_plan {
    std::shared_ptr<const ready_trade> ready;
    program::precision precision;
    market in;  // in which it was made
    markets::market_reads reads;

    bool is_good_for(const market& other, program::precision p) const {
        return precision == p && reads.are_alike(in.state(), other.state());
    }
};

// Pools that wait for a call: one call at a time has a pool.
class idle_pools {
  public:
    explicit idle_pools(const cpu::lane_operations& operations) : operations_(operations) {}

    std::shared_ptr<cpu::tile_pool> take(int threads) {
        const std::lock_guard guard(lock_);
        for (auto at = idle_.begin(); at != idle_.end(); ++at) {
            if ((*at)->crew().threads() != threads) continue;
            auto pool = std::move(*at);
            idle_.erase(at);
            return pool;
        }
        return std::make_shared<cpu::tile_pool>(operations_, threads);
    }
    void give_back(std::shared_ptr<cpu::tile_pool> pool) {
        std::shared_ptr<cpu::tile_pool> oldest;  // ends outside of the lock
        const std::lock_guard guard(lock_);
        idle_.push_back(std::move(pool));
        if (idle_.size() <= most_idle) return;
        oldest = std::move(idle_.front());
        idle_.erase(idle_.begin());
    }
    void tell(prepared_facts& to) const {
        const std::lock_guard guard(lock_);
        to.crews = idle_.size();
        for (const auto& pool : idle_) to.threads += pool->crew().started();
    }

  private:
    static constexpr std::size_t most_idle = 32;
    const cpu::lane_operations& operations_;
    mutable std::mutex lock_;
    std::vector<std::shared_ptr<cpu::tile_pool>> idle_;
};

// A pool for the time of a call.
class taken_pool {
  public:
    taken_pool(idle_pools& from, int threads) : from_(from), pool_(from.take(threads)) {}
    ~taken_pool() { from_.give_back(std::move(pool_)); }
    taken_pool(const taken_pool&) = delete;
    taken_pool& operator=(const taken_pool&) = delete;

    const std::shared_ptr<cpu::tile_pool>& get() const { return pool_; }

  private:
    idle_pools& from_;
    std::shared_ptr<cpu::tile_pool> pool_;
};

// Runs that walks on GPUs have left for a call in the same settings.
class idle_gpu_runs {
  public:
    // The settings that decide most of a run. Other differences are found when it is walked.
    using settings = std::tuple<std::string, std::uint64_t, program::precision>;
    static settings of(const settled& run) { return {run.device, run.paths, run.how.precision}; }

    std::unique_ptr<ready_on_gpus> take(const settings& wanted) {
        const std::lock_guard guard(lock_);
        // The last that came back is the likeliest to have the same trades.
        for (auto at = idle_.rbegin(); at != idle_.rend(); ++at) {
            if (at->made_in != wanted) continue;
            auto taken = std::move(at->run);
            idle_.erase(std::next(at).base());
            return taken;
        }
        return std::make_unique<ready_on_gpus>();
    }
    void give_back(const settings& made_in, std::unique_ptr<ready_on_gpus> run) {
        if (run->is_empty()) return;
        idle_run oldest;  // ends outside of the lock
        const std::lock_guard guard(lock_);
        idle_.push_back({made_in, std::move(run)});
        if (idle_.size() <= most_idle) return;
        oldest = std::move(idle_.front());
        idle_.erase(idle_.begin());
    }
    std::size_t size() const {
        const std::lock_guard guard(lock_);
        return idle_.size();
    }

  private:
    static constexpr std::size_t most_idle = 8;
    struct idle_run {
        settings made_in;
        std::unique_ptr<ready_on_gpus> run;
    };
    mutable std::mutex lock_;
    std::vector<idle_run> idle_;
};

// A run that was left on GPUs, for the time of a call.
class taken_gpu_run {
  public:
    taken_gpu_run(idle_gpu_runs& from, const settled& run)
        : from_(from), in_(idle_gpu_runs::of(run)), run_(from.take(in_)) {}
    ~taken_gpu_run() { from_.give_back(in_, std::move(run_)); }
    taken_gpu_run(const taken_gpu_run&) = delete;
    taken_gpu_run& operator=(const taken_gpu_run&) = delete;

    ready_on_gpus* get() { return run_.get(); }

  private:
    idle_gpu_runs& from_;
    const idle_gpu_runs::settings in_;
    std::unique_ptr<ready_on_gpus> run_;
};

}  // namespace

class prepared_state {
  public:
    prepared_state(engine_settings settings, std::shared_ptr<cuda::backend> gpus, book trades)
        : settings_(std::move(settings)),
          gpus_(std::move(gpus)),
          trades_(std::move(trades)),
          operations_(operations_named(settings_.instruction_set)),
          compiled_(std::make_shared<cpu::compiled_programs>(
              [this](const program::path_program& code) { return shapes_.has(code); })),
          pools_(operations_),
          decided_(trades_.size(), trades_.market()),
          plans_(trades_.size()) {}

    results price(const market& in, const run_options& options);
    prepared_facts facts() const;

  private:
    using plans = std::vector<std::shared_ptr<const kept_plan>>;

    void plan(planned_run& r, threads::crew& by, const teller& tells);
    planned plan_anew(std::size_t i, const planned_run& r, missing_pairs& missing,
                      std::shared_ptr<const kept_plan>& into);
    cuda::backend::choice choose(const std::string& device);

    const engine_settings settings_;
    const std::shared_ptr<cuda::backend> gpus_;
    const book trades_;
    const cpu::lane_operations& operations_;
    const std::shared_ptr<cpu::compiled_programs> compiled_;
    shape_store shapes_;
    plan::passed_programs passed_;
    idle_pools pools_;
    idle_gpu_runs gpu_runs_;
    decided_plans decided_;
    std::atomic<std::uint64_t> planned_{0};
    mutable std::mutex lock_;                              // of what follows
    plans plans_;                                          // by trade; null: none
    std::map<std::string, cuda::backend::choice> chosen_;  // by what the setting says
};

// A plan that could not be made is tried again by every call: its error may tell of other parts of the market
// than it has read.
planned prepared_state::plan_anew(std::size_t i, const planned_run& r, missing_pairs& missing,
                                  std::shared_ptr<const kept_plan>& into) {
    markets::market_reads reads;
    const planner by = [&](const books::trade& t, const markets::market_state& in, program::precision p,
                           const plan::poll& often) {
        ++planned_;
        return plan::plan_trade(t, markets::market_view(in, &reads), p, {}, often, nullptr, nullptr,
                                &passed_);
    };
    const market& in = r.in.front();
    planned p = plan_one(r.book.trades[i], in.state(), r.run, shapes_, missing, r.options.cancel, by);
    if (p.ready)
        into =
            std::make_shared<const kept_plan>(kept_plan{p.ready, r.run.how.precision, in, std::move(reads)});
    return p;
}

void prepared_state::plan(planned_run& r, threads::crew& by, const teller& tells) {
    const timings::during planning(r.options.times, stage::planning);
    plans kept;
    {
        const std::lock_guard guard(lock_);
        kept = plans_;
    }
    const market& in = r.in.front();
    missing_pairs missing;
    std::vector<std::size_t> stale;
    r.plans.resize(kept.size());
    for (std::size_t i = 0; i < kept.size(); ++i) {
        if (kept[i] && kept[i]->is_good_for(in, r.run.how.precision)) {
            r.plans[i] = planned_again(r.book.trades[i], kept[i]->ready, in.state(), r.run, missing);
        } else {
            stale.push_back(i);
        }
    }
    plans fresh(kept.size());
    by.for_each(
        stale.size(), r.options.cancel,
        [&](int, std::uint64_t k) { r.plans[stale[k]] = plan_anew(stale[k], r, missing, fresh[stale[k]]); },
        tells.is_heard() ? [&] { tells.tell(); } : std::function<void()>());
    r.missing_correlations.push_back(missing.all());
    // Before programs are counted.
    kept.clear();
    decided_.forget(stale);
    {
        const std::lock_guard guard(lock_);
        for (const std::size_t i : stale) {
            if (fresh[i]) plans_[i].swap(fresh[i]);
        }
    }
    fresh.clear();
    // Other terms of a market, such as a dividend more, may make other shapes; those of no trade go.
    if (!stale.empty()) {
        shapes_.drop_unused([&](const program::path_program& code) { compiled_->forget(code); });
    }
}

cuda::backend::choice prepared_state::choose(const std::string& device) {
    {
        const std::lock_guard guard(lock_);
        if (const auto known = chosen_.find(device); known != chosen_.end()) return known->second;
    }
    cuda::backend::choice made = gpus_->choose(device);
    if (made.lost.empty()) {
        const std::lock_guard guard(lock_);
        chosen_.emplace(device, made);
    }
    return made;
}

results prepared_state::price(const market& in, const run_options& options) {
    const auto begin = std::chrono::steady_clock::now();
    refuse_combinations(study::prepared_price, features_asked(trades_, options));
    const book trades = with_tolerances_of(study::prepared_price, trades_, options);
    const settled run = settle(options, trades.state(), {&in, 1});
    replayed_in(run);  // which has to be there
    const with_journal kept(trades, {&in, 1}, {}, options);
    const kept::work* const work = kept.options().work.get();
    teller tells(options);
    tells.now.trades = trades.size();
    planned_run r{run, operations_, trades.state(), {&in, 1}, kept.options(), begin, utc_now(), {}, {}};
    const taken_pool pool(pools_, run.threads);
    const cuda::backend::choice on = [&] {
        const timings::during opening(options.times, stage::opening_gpus);
        return choose(run.device);
    }();
    plan(r, pool.get()->crew(), tells);
    find_policies(
        r, *gpus_, [&]() -> const cuda::backend::choice& { return on; }, sources(run, work), tells);
    decided_.decide(r, shapes_, pool.get()->crew(), tells);
    const cpu_maker on_cpu = [&](const cpu::lane_operations&, int, program::precision p) {
        return std::make_unique<cpu::back_end>(pool.get(), compiled_, p);
    };
    results out;
    {
        taken_gpu_run on_gpus(gpu_runs_, run);
        out = std::move(
            priced_as_asked(std::move(r), {*gpus_, on, on_cpu, on_cpu, on_gpus.get()}, tells).front().told);
    }
    add_answers(out, settings_, *gpus_, trades, in, kept.options());
    kept.finish(out.manifest);
    return out;
}

prepared_facts prepared_state::facts() const {
    prepared_facts out;
    out.trades_planned = planned_;
    out.programs = shapes_.size();
    out.programs_compiled = compiled_->size();
    pools_.tell(out);
    out.gpu_runs = gpu_runs_.size();
    const std::lock_guard guard(lock_);
    for (const auto& p : plans_) out.plans += p ? 1U : 0U;
    return out;
}

}  // namespace verbs

prepared_book engine::prepare(const book& trades) const {
    return prepared_book(std::make_shared<verbs::prepared_state>(settings_, gpus_, trades));
}

results prepared_book::price(const market& in, const run_options& options) const {
    return state_->price(in, options);
}

prepared_facts prepared_book::facts() const {
    return state_->facts();
}

}  // namespace tilewalk
