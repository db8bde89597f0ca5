// SPDX-License-Identifier: Apache-2.0
// tilewalk::engine: plan every trade, walk every tile, merge, report.
#include "tilewalk/engine.h"
#include "engine/settings/wished_kernel.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <thread>
#include <variant>

#include "engine/answers.h"
#include "engine/arrays/shock_file.h"
#include "engine/book/book_state.h"
#include "engine/config/wording.h"
#include "engine/cpu/lane_operations.h"
#include "engine/cpu/lane_program.h"
#include "engine/cpu/shadow.h"
#include "engine/cpu/tile_pool.h"
#include "engine/cuda/backend.h"
#include "engine/cuda/decide.h"
#include "engine/cuda/feeds.h"
#include "engine/cuda/random/catalogue.h"
#include "engine/market/market_state.h"
#include "engine/plan/bounds.h"
#include "engine/plan/explanation.h"
#include "engine/plan/trade_program.h"
#include "engine/plan/unite.h"
#include "engine/pricing.h"
#include "engine/report/machine.h"
#include "engine/run/schedule.h"
#include "engine/run/units.h"
#include "engine/tuning/clocks.h"
#include "engine/tuning/gpu_timer.h"
#include "engine/tuning/path_timer.h"
#include "engine/tuning/tuner.h"
#include "kernels/tile.h"
#include "products/program/precision.h"
#include "tilewalk/setting_table.h"
#include "tilewalk/version.h"

namespace tilewalk {

namespace {

using seconds = std::chrono::duration<double>;
using clock = std::chrono::steady_clock;

const cpu::lane_operations& operations_named(const std::string& name) {
    const auto list = cpu::runnable_instruction_sets();
    if (list.count == 0) {
        throw error(error_kind::usage,
                    "this processor has no fused multiply-add; Tilewalk needs x86-64-v3 (AVX2 and FMA, 2013) "
                    "or newer");
    }
    std::vector<std::string> known{"auto"};
    for (int i = 0; i < list.count; ++i) {
        const auto& set = *list.sets[static_cast<std::size_t>(i)];
        if (name == "auto" || name == set.name) return set;
        known.emplace_back(set.name);
    }
    throw error(error_kind::usage, "unknown instruction set " + config::shown(name) +
                                       config::alternatives(name, "this machine can run:", known));
}

struct settled {
    run_settings said;  // by the caller or the book
    std::uint64_t paths, seed;
    int threads;
    std::string device, random;
    std::string replay;  // a file, or empty
    cuda::kernel_wish how;
    std::string correlation;
    std::uint64_t memory_bytes;
    bool demands_correlations = false;
};

settled settle(const run_options& options, const run_settings& file) {
    const run_settings& caller = options.overrides;
    check(caller);
    settled s;
    s.demands_correlations = options.demand_correlations;
    s.said = over(caller, file);
    const run_settings all = over(s.said, default_settings());
    s.paths = *all.paths;
    s.seed = *all.seed;
    s.threads = *all.threads;
    s.device = *all.device;
    s.random = *all.random;
    s.replay = all.replay.value_or("");
    s.how = wished_kernel(all);
    s.correlation = *all.correlation;
    s.memory_bytes = *all.memory_bytes;
    if (s.threads == 0) s.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    return s;
}

const market& market_of(const book& trades) {
    if (!trades.market()) {
        throw error(error_kind::usage, "the book names no market; write market: in the book or give one",
                    {trades.state().name, 0, 0});
    }
    return *trades.market();
}

// Programs by shape, so that a book of many trades of few shapes keeps and compiles few.
class shape_store {
  public:
    std::shared_ptr<const program::path_program> one_of(program::path_program code) {
        const std::string key = program::shape_of(code);
        const std::lock_guard guard(lock_);
        auto& entry = by_shape_[key];
        if (!entry) entry = std::make_shared<const program::path_program>(std::move(code));
        return entry;
    }

  private:
    std::mutex lock_;
    std::map<std::string, std::shared_ptr<const program::path_program>> by_shape_;
};

struct planned {
    std::optional<error> failure;
    std::string currency;
    std::vector<std::string> remarks;
    std::shared_ptr<const program::path_program> code;
    program::path_data data;
    program::timeline when;
    double certain_value = 0;
    bool certain = false;
    std::optional<error> gpu_failure;  // for which the CPU walks it
};

// Any failure of a trade stays with the trade, at the trade's place unless it knows better.
error at_trade(const books::trade& t, const std::exception& any) {
    const auto* known = dynamic_cast<const error*>(&any);
    if (known == nullptr) return error(error_kind::internal, any.what(), t.where);
    const error& e = *known;
    if (!e.where().file.empty() && e.where().line > 0) return e;
    // The file of the trade stands in front of what is told of it.
    const bool is_told = e.where().file.empty() || e.where().file == t.where.file;
    const std::string message = is_told ? e.message() : e.where().file + ": " + e.message();
    return error(e.kind(), message, t.where, e.key_path());
}

trade_problem problem_of(const books::trade& t, const error& e) {
    return {t.id, e.key_path().empty() ? e.message() : e.key_path() + ": " + e.message(),
            e.where().file.empty() ? t.where : e.where()};
}

// The run must not have more paths than the files of scenarios that a trade takes.
void check_scenario_paths(const program::path_data& data, const markets::market_state& in,
                          std::uint64_t paths) {
    for (const program::scenario_rows& s : data.scenarios) {
        const markets::scenario_array& a = in.scenarios[s.array];
        if (a.cube.paths >= paths) continue;
        throw error(error_kind::input,
                    "found " + std::to_string(a.cube.paths) + " paths in the scenarios of '" + a.name +
                        "', expected at least the " + std::to_string(paths) + " of the run; take --paths " +
                        std::to_string(a.cube.paths) + " or fewer",
                    a.where);
    }
}

void demand_correlations(const std::vector<correlation_taken>& missing) {
    if (missing.empty()) return;
    std::vector<factor_pair> pairs;
    for (const correlation_taken& c : missing) pairs.push_back({c.first, c.second});
    throw error(error_kind::input,
                "the market states no correlation of " + pairs_text(pairs) +
                    ", which the trade depends on; expected it under correlations, where [" +
                    pairs.front().first + ", " + pairs.front().second + ", 0] means none");
}

// Pairs that trades take as 0, each once: a book has many trades and few pairs.
class missing_pairs {
  public:
    void add(const std::vector<correlation_taken>& taken) {
        if (taken.empty()) return;
        const std::lock_guard guard(lock_);
        for (const correlation_taken& c : taken) pairs_.insert({c.first, c.second});
    }
    std::vector<factor_pair> all() const { return {pairs_.begin(), pairs_.end()}; }

  private:
    std::mutex lock_;
    std::set<factor_pair> pairs_;
};

// To be stopped is no failure of the trade that was at work.
void throw_if_cancelled(const std::exception& any) {
    const auto* known = dynamic_cast<const error*>(&any);
    if (known != nullptr && known->kind() == error_kind::cancelled) throw *known;
}

// Ends a planning that nobody waits for any more.
plan::poll poll_of(const std::atomic<bool>* cancel) {
    if (cancel == nullptr) return {};
    return [cancel] {
        if (cancel->load(std::memory_order_relaxed))
            throw error(error_kind::cancelled, "the run was stopped");
    };
}

planned plan_one(const books::trade& t, const markets::market_state& in, const settled& run,
                 shape_store& shapes, missing_pairs& missing, const std::atomic<bool>* cancel,
                 const stages& by = {}) {
    planned p;
    if (t.failure) {
        p.failure = t.failure;
        return p;
    }
    try {
        plan::trade_program made = by.plan(t, in, run.how.precision, poll_of(cancel));
        check_scenario_paths(made.data, in, run.paths);
        if (run.demands_correlations || in.has_all_correlations)
            demand_correlations(made.missing_correlations);
        p.currency = std::move(made.currency);
        p.remarks = std::move(made.remarks);
        p.certain = made.is_certain();
        p.data = std::move(made.data);
        p.when = std::move(made.when);
        if (p.certain) p.certain_value = p.data.initial_states[made.code.outputs[0]];
        p.code = shapes.one_of(std::move(made.code));
        missing.add(made.missing_correlations);
    } catch (const std::exception& e) {
        throw_if_cancelled(e);
        p.failure = at_trade(t, e);
        p.remarks = plan::remarks_on_terms(t, in);
    }
    return p;
}

// What is known of a trade after its paths.
struct walked_trade {
    kernels::tile_result result;
    std::optional<run::estimate> quasi;  // of a quasi-random run, whose paths are not independent
    std::vector<double> part_means;
    std::uint64_t part_paths = 0;
    std::optional<kernels::tile_result> sample;  // of the first tiles, where the CPU can't take it
    std::optional<error> sample_failure;         // then it is not compared with double
    std::optional<double> shadow_difference;

    walked_trade(const run::tally& of, bool is_quasi)
        : result(of.whole()), part_paths(of.part_tiles() * kernels::paths_per_tile) {
        const std::vector<kernels::moments> parts = of.parts();
        if (is_quasi) quasi = run::estimate_of_units(parts);
        part_means.reserve(parts.size());
        for (const kernels::moments& m : parts) part_means.push_back(m.mean);
    }
};

// The trades of a run as GPUs walk them: in the programs that many shapes share.
struct gpu_trades {
    std::vector<program::path_data> data;
    std::vector<program::timeline> when;
    plan::united_programs programs;
    std::vector<run::job> jobs;

    gpu_trades(const std::vector<std::size_t>& walks, const std::vector<planned>& plans) {
        std::map<const program::path_program*, std::size_t> known;
        std::vector<const program::path_program*> shapes;
        for (const std::size_t i : walks) {
            if (known.emplace(plans[i].code.get(), shapes.size()).second) {
                shapes.push_back(plans[i].code.get());
            }
        }
        programs = plan::unite(shapes);
        data.reserve(walks.size());
        when.reserve(walks.size());
        for (const std::size_t i : walks) {
            const plan::seat& seat = programs.seats[known.at(plans[i].code.get())];
            const program::path_program& code = programs.programs[seat.program];
            data.push_back(plan::moved(plans[i].data, seat, code));
            when.push_back(plan::moved(plans[i].when, seat));
            jobs.push_back({&code, &data.back(), &when.back()});
        }
    }
    gpu_trades(const gpu_trades&) = delete;
    gpu_trades& operator=(const gpu_trades&) = delete;
};

// The walks that a price takes, on one back end.
run::outcome walked_for_price(run::back_end& on, const run::walk& paths) {
    run::schedule walks;
    walks.then([&](std::span<const run::outcome>) { return run::round{paths}; });
    return std::move(walks.walk_on(on).back());
}

void tell_of_devices(const cuda::backend::choice& on, const cuda::gpu_facts& facts, bool any_walked,
                     run_manifest& told) {
    for (std::size_t d = 0; d < facts.shares.size(); ++d) {
        const std::string& name = on.devices[d]->get().properties().name;
        if (facts.shares[d].has_walked && any_walked) told.devices.push_back(name);
        if (facts.shares[d].lost) told.lost_devices.push_back(name + ": " + facts.shares[d].lost->message());
    }
}

// Walks the trades of `walks` on GPUs. What a GPU could not do is left to the CPU where that is allowed and
// the CPU has the precision and the random numbers, else it fails with the GPU's error.
void walk_on_gpus(cuda::backend& gpus, const cuda::backend::choice& on, const std::vector<std::size_t>& walks,
                  std::vector<planned>& plans, const settled& run, const run::walk& all,
                  std::vector<std::optional<walked_trade>>& walked, run_manifest& told) {
    const gpu_trades trades(walks, plans);
    const random::catalogue_entry& source = random::find(run.random, random::back_end::gpu);
    cuda::gpu_settings with{run.how, run.correlation, &source, run.memory_bytes, run.threads, &gpus.tuned()};
    cuda::launcher launcher(on.devices, gpus.kernels(), with);
    run::walk asked = all;
    asked.jobs = trades.jobs;
    run::outcome got = walked_for_price(launcher, asked);
    cuda::gpu_facts facts = launcher.facts();
    told.kernels_compiled = facts.kernels_compiled;
    told.kernels_from_cache = facts.kernels_from_cache;
    told.launches = facts.launches;
    told.device_seconds = facts.device_seconds;
    told.kernel_seconds = facts.kernel_seconds;
    const bool any_walked =
        std::any_of(got.failures.begin(), got.failures.end(), [](const auto& f) { return !f; });
    const bool is_fast = program::is_fast(run.how.precision);
    const bool cpu_can = on.may_fall_back && !is_fast && !source.needs_gpu;
    for (std::size_t k = 0; k < walks.size(); ++k) {
        if (got.failures[k]) {
            planned& p = plans[walks[k]];
            (cpu_can ? p.gpu_failure : p.failure) = std::move(got.failures[k]);
            continue;
        }
        walked[walks[k]].emplace(got.tallies[k], source.is_quasi);
    }
    if (!is_fast) return tell_of_devices(on, facts, any_walked, told);
    // The CPU has no single_fast to take the shadow sample with, so the first tiles are walked once more.
    with.source = &random::catalogue().front();  // whose numbers the CPU makes, too
    cuda::launcher sampler(on.devices, gpus.kernels(), with);
    asked.paths = cpu::shadow_paths(run.paths);
    asked.on_progress = nullptr;
    const run::outcome sample = static_cast<run::back_end&>(sampler).walk_all(asked);
    for (std::size_t k = 0; k < walks.size(); ++k) {
        if (!walked[walks[k]]) continue;
        walked_trade& w = *walked[walks[k]];
        w.sample_failure = sample.failures[k];
        if (!w.sample_failure) w.sample = sample.tallies[k].whole();
    }
    for (std::size_t d = 0; d < facts.shares.size(); ++d) {
        if (!facts.shares[d].lost) facts.shares[d].lost = sampler.facts().shares[d].lost;
    }
    tell_of_devices(on, facts, any_walked, told);
}

run::job job_of(const planned& p) {
    return {p.code.get(), &p.data, &p.when};
}

// The file of shocks that the run is to walk, if it names one.
std::optional<arrays::shock_file> replayed_in(const settled& run) {
    std::optional<arrays::shock_file> file;
    if (!run.replay.empty()) file.emplace(run.replay, program::shock_type(run.how.precision));
    return file;
}

// Whether the file has the shocks that a trade takes; the trade fails if not.
bool has_shocks_for(planned& p, const arrays::shock_file& file, std::uint64_t paths) {
    try {
        file.check({p.when.steps(), static_cast<std::uint64_t>(p.code->normals_per_step),
                    static_cast<std::uint64_t>(p.code->uniforms_per_step), paths});
        return true;
    } catch (const error& e) {
        p.failure = e;
        return false;
    }
}

// Walks the trades of `walks` on the CPU.
void walk_on_cpu(run::back_end& on, const std::vector<std::size_t>& walks, std::vector<planned>& plans,
                 const settled& run, const run::walk& all, std::vector<std::optional<walked_trade>>& walked) {
    random::find(run.random, random::back_end::cpu);
    std::vector<run::job> jobs;
    for (const std::size_t i : walks) jobs.push_back(job_of(plans[i]));
    run::walk asked = all;
    asked.jobs = jobs;
    run::outcome got = walked_for_price(on, asked);
    for (std::size_t k = 0; k < walks.size(); ++k) {
        if (got.failures[k]) {
            plans[walks[k]].failure = std::move(got.failures[k]);
        } else {
            walked[walks[k]].emplace(got.tallies[k], false);
        }
    }
}

// How far a run that is not in double lies from double, for every trade, on its first tiles.
void take_shadows(const std::vector<planned>& plans, const settled& run, const run::walk& all,
                  const cpu::lane_operations& operations, std::vector<std::optional<walked_trade>>& walked) {
    if (run.how.precision == program::precision::double_) return;
    std::vector<std::size_t> trades, sampled;
    std::vector<run::job> jobs, jobs_of_sample;
    for (std::size_t i = 0; i < walked.size(); ++i) {
        if (!walked[i] || walked[i]->result.not_finite > 0 || walked[i]->sample_failure) continue;
        trades.push_back(i);
        jobs.push_back(job_of(plans[i]));
        if (walked[i]->sample) continue;
        sampled.push_back(i);
        jobs_of_sample.push_back(jobs.back());
    }
    run::walk first = all;
    first.paths = cpu::shadow_paths(run.paths);
    first.on_progress = nullptr;
    const auto walk_in = [&](program::precision p, std::span<const run::job> of) {
        first.jobs = of;
        return cpu::back_end(operations, run.threads, p).walk_all(first).tallies;
    };
    if (!sampled.empty()) {
        const auto samples = walk_in(run.how.precision, jobs_of_sample);
        for (std::size_t k = 0; k < sampled.size(); ++k) walked[sampled[k]]->sample = samples[k].whole();
    }
    const auto in_double = walk_in(cpu::shadow_precision(run.how.precision), jobs);
    for (std::size_t k = 0; k < trades.size(); ++k) {
        walked_trade& w = *walked[trades[k]];
        w.shadow_difference = cpu::compare(*w.sample, in_double[k].whole(), w.result).difference;
    }
}

// What a trade reads of each file of scenarios.
std::vector<trade_plan::scenario_file> scenarios_of(const program::path_data& data,
                                                    const markets::market_state& in, std::uint64_t paths) {
    std::map<std::uint32_t, std::set<std::uint32_t>> rows;  // by array
    for (const program::scenario_rows& s : data.scenarios) rows[s.array].insert(s.rows.begin(), s.rows.end());
    std::vector<trade_plan::scenario_file> out;
    for (const auto& [array, used] : rows) {
        const markets::scenario_array& a = in.scenarios[array];
        const std::uint64_t number = std::visit([](const auto* x) { return sizeof *x; }, a.cube.first);
        out.push_back({a.name, a.cube.steps, used.size(), used.size() * paths * number});
    }
    return out;
}

// Says what a failure of a GPU changed about the row; where the CPU failed alike, the row says it already.
void tell_of_gpu(price_row& row, const std::string& what, const error& why) {
    if (row.message.find(why.message()) != std::string::npos) return;
    row.message += (row.message.empty() ? "" : "; ") + what + ", because the GPU failed: " + why.message();
}

std::string utc_now() {
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

void fail(price_row& row, const error& e) {
    row.status = trade_status::failed;
    row.kind = e.kind();
    row.message = e.key_path().empty() ? e.message() : e.key_path() + ": " + e.message();
    if (!e.where().file.empty()) row.where = e.where();
}

// Figures that are written must be numbers: the value of the book's quantity, too.
void check_value(price_row& row) {
    const auto refuse = [&row](const std::string& what) {
        fail(row, error(error_kind::numeric, what + "; take a smaller quantity"));
    };
    char quantity[32], price[32];
    std::snprintf(quantity, sizeof quantity, "%.10g", row.quantity);
    std::snprintf(price, sizeof price, "%.10g", row.price);
    const std::string named =
        std::string("the quantity ") + quantity + " times the price " + price + " of one unit";
    if (!std::isfinite(row.value())) return refuse(named + " is too large for a number");
    if (std::isinf(row.value_error()))
        refuse("the standard error of " + named + " is too large for a number");
}

void price_certain(price_row& row, double value) {
    if (!std::isfinite(value)) {
        fail(row,
             error(error_kind::numeric, "the payoff of what has already happened is not a finite number"));
        return;
    }
    row.status = trade_status::priced;
    row.price = row.low = row.high = value;
    row.message = "everything has already happened; no path was needed";
    check_value(row);
}

// An event that n paths did not show once has a probability below 3 / n, or the chance to see it not once
// would be less than 5 %: (1 - 3 / n)^n < 0.05.
constexpr double rule_of_three = 3;

// A row of whose paths none differs from the others: either nothing random is in the payoff, or they have
// missed all there is to see and show no error.
void price_alike(price_row& row, const plan::range& payoffs, bool is_independent) {
    if (payoffs.is_point()) {
        row.standard_error = 0;
        row.message =
            row.price == 0 ? "no path can pay anything" : "every path pays the same, whatever happens";
        return;
    }
    row.standard_error = row.low = row.high = no_figure;
    row.thin = true;
    if (row.paths == 1) {
        row.message = "one path has no standard error";
        return;
    }
    row.message = row.price == 0 ? "no path paid anything" : "every path paid the same";
    const double n = static_cast<double>(row.paths), chance = rule_of_three / n;
    if (!is_independent || !(chance < 1)) return;
    char share[32];
    std::snprintf(share, sizeof share, "%.3g", chance);
    row.message += std::string(", so the probability of ") +
                   (row.price == 0 ? "a payment" : "anything else") + " is below 3 / paths = " + share +
                   " (95 %)";
    if (!payoffs.is_bounded()) return;
    row.low = row.price + std::min(payoffs.low - row.price, 0.0) * chance;
    row.high = row.price + std::max(payoffs.high - row.price, 0.0) * chance;
    row.message += "; the interval follows from the most and the least that a path can pay";
}

void price_walked(price_row& row, const kernels::tile_result& r, std::uint64_t paths,
                  const std::optional<run::estimate>& quasi, const std::function<plan::range()>& payoffs) {
    if (r.not_finite > 0) {
        fail(row,
             error(error_kind::numeric, std::to_string(r.not_finite) + " of " + std::to_string(paths) +
                                            " paths gave no finite number, the first is path " +
                                            std::to_string(r.first_not_finite) +
                                            "; look for a division by zero, a log or a power in the script"));
        return;
    }
    constexpr double normal_95 = 1.959963984540054;
    const kernels::moments& m = r.moments;
    const double n = m.count;
    const double standard_error = quasi ? quasi->standard_error : run::standard_error_of(m);
    const double low = m.mean - normal_95 * standard_error, high = m.mean + normal_95 * standard_error;
    if (!std::isfinite(m.mean) || !std::isfinite(standard_error) || !std::isfinite(low) ||
        !std::isfinite(high)) {
        fail(row, error(error_kind::numeric,
                        "the payoffs are too large for their mean and standard error to be numbers; "
                        "take a smaller notional"));
        return;
    }
    row.status = trade_status::priced;
    row.paths = paths;
    row.price = m.mean;
    row.standard_error = standard_error;
    row.low = low;
    row.high = high;
    row.effective_hits = m.m4 > 0 ? m.m2 * (m.m2 / m.m4) : 0.0;
    if (m.m2 == 0) {
        price_alike(row, payoffs(), !quasi);
    } else if (row.effective_hits < thin_below || n < thin_below) {
        row.thin = true;
        row.message = "only about " + std::to_string(static_cast<long long>(row.effective_hits)) +
                      " paths carry the variance; take more paths before trusting the standard error";
    }
    check_value(row);
}

}  // namespace

engine::engine(engine_settings settings) : engine(std::move(settings), std::make_shared<cuda::backend>()) {}

engine::engine(engine_settings settings, std::shared_ptr<cuda::backend> gpus)
    : settings_(std::move(settings)), gpus_(std::move(gpus)) {
    operations_named(settings_.instruction_set);
}

std::vector<std::string> engine::instruction_sets() {
    std::vector<std::string> names;
    const auto list = cpu::runnable_instruction_sets();
    for (int i = 0; i < list.count; ++i) names.emplace_back(list.sets[static_cast<std::size_t>(i)]->name);
    return names;
}

results engine::price(const book& trades, const run_options& options) const {
    return price(trades, market_of(trades), options);
}

results engine::price(const book& trades, const market& in, const run_options& options) const {
    const auto begin = clock::now();
    results r = price_book(settings_, *gpus_, trades, in, options).told;
    const books::book_state& state = trades.state();
    run_options quietly = options;
    quietly.on_progress = {};
    answers::add(r.rows, state.trades, in.state(), [&](const std::vector<books::trade>& changed) {
        auto asked = std::make_shared<books::book_state>();
        asked->name = state.name;
        asked->settings = state.settings;
        asked->trades = changed;
        results got = price_book(settings_, *gpus_, book::of(std::move(asked)), in, quietly).told;
        r.manifest.path_steps += got.manifest.path_steps;
        r.manifest.plan_seconds += got.manifest.plan_seconds;
        r.manifest.path_seconds += got.manifest.path_seconds;
        return got;
    });
    r.manifest.total_seconds = seconds(clock::now() - begin).count();
    return r;
}

priced_book price_book(const engine_settings& settings, cuda::backend& all_gpus, const book& trades,
                       const market& in, const run_options& options, const stages& by) {
    const auto begin = clock::now();
    const auto& state = trades.state();
    const auto& operations = operations_named(settings.instruction_set);
    const settled run = settle(options, trades.settings());
    const std::optional<arrays::shock_file> file = replayed_in(run);

    priced_book made;
    results& out = made.told;
    out.manifest.started = utc_now();
    progress now;
    now.trades = state.trades.size();
    const auto report = [&] {
        if (options.on_progress) options.on_progress(now);
    };

    // A GPU takes a moment to open, which planning needs not wait for.
    auto choosing = std::async(std::launch::async, [&] { return all_gpus.choose(run.device); });
    std::vector<planned> plans(state.trades.size());
    shape_store shapes;
    missing_pairs missing;
    cpu::for_each(
        plans.size(), run.threads, options.cancel,
        [&](int, std::uint64_t i) {
            plans[i] = plan_one(state.trades[i], in.state(), run, shapes, missing, options.cancel, by);
        },
        report);
    const cuda::backend::choice gpus = choosing.get();
    auto hashing = std::async(std::launch::async, [&in] {
        for (const markets::scenario_array& a : in.state().scenarios) a.hash.wait();
    });
    out.manifest.lost_devices = gpus.lost;
    const auto planned_at = clock::now();

    std::vector<std::size_t> walks;  // trades that need paths
    for (std::size_t i = 0; i < plans.size(); ++i) {
        const planned& p = plans[i];
        if (p.failure || p.certain) continue;
        walks.push_back(i);
        now.path_steps += run.paths * p.when.steps();
    }
    now.trades_done = plans.size() - walks.size();
    const std::vector<arrays::shock_cube> scenarios = in.state().scenario_cubes();
    run::walk all;
    all.seed = run.seed;
    all.paths = run.paths;
    all.replay = file ? &*file : nullptr;
    all.scenarios = scenarios;
    all.cancel = options.cancel;
    std::vector<std::optional<walked_trade>> walked(plans.size());
    if (!gpus.devices.empty() && !walks.empty()) {
        all.on_progress = [&](const run::progress& p) {
            now.path_steps_done = p.path_steps_done;
            report();
        };
        walk_on_gpus(all_gpus, gpus, walks, plans, run, all, walked, out.manifest);
        std::erase_if(walks, [&](std::size_t i) { return walked[i] || plans[i].failure; });
        now.trades_done = plans.size() - walks.size();
        report();
    }
    if (!walks.empty()) {
        const std::size_t done_before = plans.size() - walks.size();
        all.on_progress = [&](const run::progress& p) {
            now.trades_done = done_before + p.jobs_done;
            now.path_steps_done = p.path_steps_done;
            report();
        };
        walk_on_cpu(*by.on_cpu(operations, run.threads, run.how.precision), walks, plans, run, all, walked);
    }
    take_shadows(plans, run, all, operations, walked);
    const auto walked_at = clock::now();

    for (std::size_t i = 0; i < plans.size(); ++i) {
        const books::trade& t = state.trades[i];
        price_row& row = out.rows.emplace_back();
        made.moments.push_back(walked[i] ? walked[i]->result.moments : kernels::moments{});
        row.trade = t.id;
        row.product = t.product_name;
        row.currency = plans[i].currency;
        row.quantity = t.quantity;
        row.where = t.where;
        row.remarks = plans[i].remarks;
        if (plans[i].failure) {
            fail(row, *plans[i].failure);
        } else if (plans[i].certain) {
            price_certain(row, plans[i].certain_value);
        } else {
            price_walked(row, walked[i]->result, run.paths, walked[i]->quasi,
                         [&] { return plan::bounds_of(*plans[i].code, plans[i].data, plans[i].when); });
            row.shadow_difference = walked[i]->shadow_difference;
            out.manifest.part_paths = walked[i]->part_paths;
            row.part_means = std::move(walked[i]->part_means);
            if (row.shadow_difference && !std::isfinite(*row.shadow_difference)) {
                row.shadow_difference.reset();
                row.remarks.emplace_back("in double its first paths gave no finite number to compare with");
            }
        }
        const bool is_priced = row.status == trade_status::priced;
        if (plans[i].gpu_failure) {
            tell_of_gpu(row, is_priced ? "priced on the CPU" : "tried on the CPU", *plans[i].gpu_failure);
        }
        if (is_priced && walked[i] && walked[i]->sample_failure) {
            tell_of_gpu(row, "not compared with double", *walked[i]->sample_failure);
        }
    }

    run_manifest& m = out.manifest;
    m.version = version();
    m.compiler = compiler();
    m.instruction_set = operations.name;
    m.machine = machine_name();
    m.as_of = in.as_of();
    m.settings = run.said;
    m.precision = program::name_of(run.how.precision);
    m.random = run.random;
    m.seed = run.seed;
    m.paths = run.paths;
    m.threads = run.threads;
    m.inputs = state.inputs;
    m.market_changes = in.changes();
    m.missing_correlations = missing.all();
    const auto add_input = [&m](const input_file& one) {
        const auto is_it = [&](const input_file& f) { return f.hash == one.hash; };
        if (std::none_of(m.inputs.begin(), m.inputs.end(), is_it)) m.inputs.push_back(one);
    };
    // A market that stands in the book has no file of its own.
    if (!in.state().hash.empty()) add_input({in.state().name, in.state().hash});
    hashing.get();
    for (const markets::scenario_array& a : in.state().scenarios) add_input({a.name, a.hash.get()});
    m.plan_seconds = seconds(planned_at - begin).count();
    m.path_seconds = seconds(walked_at - planned_at).count();
    m.total_seconds = seconds(clock::now() - begin).count();
    m.path_steps = now.path_steps;
    return made;
}

namespace {

// The trades of a book that walk paths, as GPUs would be given them.
struct book_on_gpu {
    std::vector<planned> plans;
    shape_store shapes;
    std::vector<std::size_t> walks;
    std::optional<gpu_trades> trades;

    book_on_gpu(const books::book_state& book, const markets::market_state& in, const settled& run,
                const std::atomic<bool>* cancel)
        : plans(book.trades.size()) {
        missing_pairs missing;
        cpu::for_each(
            plans.size(), run.threads, cancel,
            [&](int, std::uint64_t i) {
                plans[i] = plan_one(book.trades[i], in, run, shapes, missing, cancel);
            },
            [] {});
        for (std::size_t i = 0; i < plans.size(); ++i) {
            if (!plans[i].failure && !plans[i].certain) walks.push_back(i);
        }
        trades.emplace(walks, plans);
    }
    std::vector<std::string> products_of(const cuda::needed_kernel& k, const books::book_state& book) const {
        std::set<std::string> names;
        for (const std::size_t j : k.jobs) names.insert(book.trades[walks[j]].product_name);
        return {names.begin(), names.end()};
    }
};

// How a GPU's kernel of this program is built, and why.
std::string kernel_text_of(const program::path_program& code, const cuda::kernel_wish& asked,
                           const cuda::device_properties& on, cuda::tuned_choices& choices) {
    const auto fits = [&](const cuda::kernel_decision& how, int slots) {
        try {
            cuda::check(how, slots, {on.major, on.minor, on.shared_bytes_per_block});
            return true;
        } catch (const error&) {
            return false;
        }
    };
    if (!asked.is_open()) return cuda::described(cuda::decide(asked, code, fits)) + " (as set)";
    if (const auto found = choices.find(on, code, asked); found && fits(found->how, code.slots_per_step())) {
        char gain[32];
        std::snprintf(gain, sizeof(gain), "%.2f", found->untuned_milliseconds / found->milliseconds);
        return cuda::described(found->how) + " (measured on this " + on.name + " on " + found->date + ": " +
               gain + " times as fast as by the rules)";
    }
    return cuda::described(cuda::decide(asked, code, fits)) +
           " (by the rules, which an H100's figures made; tilewalk tune measures)";
}

}  // namespace

std::vector<tuned_kernel> engine::tune(const book& trades, const market& in, const run_options& options,
                                       double seconds,
                                       const std::function<void(const std::string&)>& says) const {
    const auto& state = trades.state();
    const settled run = settle(options, trades.settings());
    if (!run.how.is_open()) {
        throw error(error_kind::usage, "prefetch, " + config::joined(cuda::knob_names(), ", ", " and ") +
                                           " must be left open: it is these that are tuned");
    }
    const auto gpus = gpus_->choose(run.device);
    if (gpus.devices.empty()) {
        throw error(error_kind::device, "only kernels of a GPU can be tuned; " +
                                            (gpus.why_cpu.empty() ? "the device is cpu" : gpus.why_cpu));
    }
    const auto& on = gpus.devices.front();
    const cuda::device_properties& properties = on->get().properties();
    const book_on_gpu book(state, in.state(), run, options.cancel);
    tuning::gpu_timer with(on, gpus_->kernels(), tuning::open_clocks(properties.uuid), {});
    with.cancel = options.cancel;
    with.says = says;
    std::vector<tuned_kernel> out;
    for (const auto& needed : cuda::kernels_of(book.trades->jobs, run.how, run.correlation)) {
        if (!needed.is_walk) continue;
        tuned_kernel& t = out.emplace_back();
        t.name = needed.name;
        t.products = book.products_of(needed, state);
        try {
            // As many trades as show how the kernel behaves.
            constexpr std::size_t most_trades = 256;
            tuning::workload of;
            of.name = needed.name;
            of.precision = run.how.precision;
            of.code = *book.trades->jobs[needed.jobs.front()].code;
            if (of.code.scenarios_per_step > 0) {
                throw error(error_kind::usage,
                            "it reads scenario arrays, which can't be timed by themselves");
            }
            for (const std::size_t j : needed.jobs) {
                if (of.trades.size() == most_trades) break;
                of.trades.push_back({*book.trades->jobs[j].data, *book.trades->jobs[j].when});
            }
            tuning::path_timer kernel(with, of, tuning::paths_to_time(of.path_steps()));
            with.says(t.name + ": " + cuda::described(needed.how));
            const tuning::outcome found = tuning::tune(with, kernel, run.how, seconds);
            t.untuned = cuda::described(found.untuned);
            t.best = cuda::described(found.best);
            t.untuned_milliseconds = found.untuned_milliseconds;
            t.best_milliseconds = found.best_milliseconds;
            t.paths = kernel.paths();
            t.candidates = found.tried;
            t.seconds = found.seconds;
            if (found.wrong > 0) {
                throw error(error_kind::internal,
                            std::to_string(found.wrong) + " ways to build it give other bits than the first");
            }
            gpus_->tuned().remember(
                properties, of.code, run.how,
                {found.best, found.best_milliseconds, found.untuned_milliseconds, today()});
            t.kept_in = gpus_->tuned().file_of(properties, of.code, run.how).string();
        } catch (const error& e) {
            if (e.kind() == error_kind::cancelled) throw;
            t.failure = e.message();
        }
    }
    return out;
}

std::vector<warmed_kernel> engine::warm(const book& trades, const market& in, const run_options& options,
                                        const std::vector<std::string>& architectures) const {
    const auto& state = trades.state();
    const settled run = settle(options, trades.settings());
    std::vector<std::string> targets = architectures;
    std::optional<cuda::tuned_device> tuned;
    if (targets.empty()) {
        const auto gpus = gpus_->choose(run.device == "cpu" ? "cuda" : run.device);
        for (const auto& d : gpus.devices) {
            const std::string own = d->get().properties().architecture();
            if (std::find(targets.begin(), targets.end(), own) == targets.end()) targets.push_back(own);
        }
        if (targets.empty()) {
            throw error(error_kind::device, gpus.why_cpu + "; say for which GPUs, such as --arch sm_90");
        }
        tuned.emplace(cuda::tuned_device{gpus_->tuned(), gpus.devices.front()->get().properties()});
    }
    const book_on_gpu on_gpu(state, in.state(), run, options.cancel);
    const auto needed = cuda::kernels_of(on_gpu.trades->jobs, run.how, run.correlation, tuned);

    std::vector<warmed_kernel> out;
    for (const std::string& target : targets) {
        for (std::size_t k = 0; k < needed.size(); ++k) {
            warmed_kernel& w = out.emplace_back();
            w.name = needed[k].name;
            w.architecture = target;
            w.products = on_gpu.products_of(needed[k], state);
        }
    }
    cuda::kernel_store& kernels = gpus_->kernels();
    cpu::for_each(
        out.size(), run.threads, options.cancel,
        [&](int, std::uint64_t i) {
            warmed_kernel& w = out[i];
            const auto begin = clock::now();
            try {
                bool compiled_here = false;
                kernels.cubin({needed[i % needed.size()].text, w.architecture}, &compiled_here);
                w.from_cache = !compiled_here;
            } catch (const error& e) {
                w.failure = e.message();
            }
            w.seconds = seconds(clock::now() - begin).count();
        },
        [] {});
    return out;
}

std::vector<trade_problem> engine::validate(const book& trades, const market& in, const run_options& options,
                                            std::vector<factor_pair>* missing) const {
    const settled run = settle(options, trades.settings());
    const std::optional<arrays::shock_file> file = replayed_in(run);
    const std::vector<books::trade>& all = trades.state().trades;
    std::vector<std::optional<error>> failures(all.size());
    shape_store shapes;
    missing_pairs pairs;
    cpu::for_each(
        all.size(), run.threads, options.cancel,
        [&](int, std::uint64_t i) {
            planned p = plan_one(all[i], in.state(), run, shapes, pairs, options.cancel);
            if (file && !p.failure && !p.certain) has_shocks_for(p, *file, run.paths);
            failures[i] = std::move(p.failure);
        },
        [] {});
    std::vector<trade_problem> out;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (failures[i]) out.push_back(problem_of(all[i], *failures[i]));
    }
    if (missing != nullptr) *missing = pairs.all();
    return out;
}

std::vector<trade_plan> engine::explain(const book& trades, const market& in,
                                        const run_options& options) const {
    const settled run = settle(options, trades.settings());
    replayed_in(run);  // which has to be there
    const auto gpu = gpus_->first_of(run.device);
    std::map<std::string, const program::path_program*> walked;  // by trade, as a GPU would be given it
    std::optional<book_on_gpu> on_gpu;
    if (gpu) {
        on_gpu.emplace(trades.state(), in.state(), run, options.cancel);
        for (std::size_t k = 0; k < on_gpu->walks.size(); ++k) {
            walked[trades.state().trades[on_gpu->walks[k]].id] = on_gpu->trades->jobs[k].code;
        }
    }
    std::vector<trade_plan> out;
    for (const books::trade& t : trades.state().trades) {
        trade_plan& p = out.emplace_back();
        p.trade = t.id;
        p.product = t.product_name;
        p.quantity = t.quantity;
        p.where = t.where;
        const auto fail_with = [&](const error& e) {
            trade_problem told = problem_of(t, e);
            p.failure = std::move(told.failure);
            p.where = std::move(told.where);
        };
        if (t.failure) {
            fail_with(*t.failure);
            continue;
        }
        try {
            p.terms = plan::terms_of(t, in.state().as_of);
            const plan::trade_program made =
                plan::plan_trade(t, in.state(), run.how.precision, {}, poll_of(options.cancel));
            check_scenario_paths(made.data, in.state(), run.paths);
            if (run.demands_correlations || in.state().has_all_correlations)
                demand_correlations(made.missing_correlations);
            p.remarks = made.remarks;
            plan::add_market(made, in.state(), p);
            const cpu::lane_program code = cpu::compile(made.code);
            p.currency = made.currency;
            p.assets = made.assets;
            p.models = made.models;
            std::map<double, trade_plan::watched_date> dates;
            for (const auto& b : made.blocks) {
                for (std::size_t i = 0; i < b.times.size(); ++i) {
                    auto& d = dates[b.times[i]];
                    d.years = b.times[i];
                    if (d.label.empty()) d.label = to_string(b.labels[i]);
                    d.blocks.push_back(!b.continuous ? b.name
                                                     : (i == 0 ? "from here: " : "until here: ") + b.name);
                }
            }
            for (auto& [years, d] : dates) p.dates.push_back(std::move(d));
            p.grid = made.when.times;
            p.normals_per_step = code.normals_per_step;
            p.uniforms_per_step = code.uniforms_per_step;
            if (const auto at = walked.find(t.id); at != walked.end()) {
                p.kernel = kernel_text_of(*at->second, run.how, *gpu, gpus_->tuned());
            }
            p.program = program::print(made.code);
            p.lane_operations = code.operations();
            p.lane_registers = code.registers;
            p.uniform_operations = made.code.per_trade.nodes.size();
            for (const auto& s : made.code.sections) p.uniform_operations += s.per_run.nodes.size();
            const std::size_t shocks = static_cast<std::size_t>(made.code.slots_per_step() + 2);
            p.bytes_per_thread =
                code.bytes() + (shocks + kernels::paths_per_lane) * cpu::lanes * sizeof(double);
            p.bytes_shared = made.when.bytes() +
                             (made.data.terms.size() + made.data.initial_states.size()) * sizeof(double);
            for (const auto& rows : made.data.rows) p.bytes_shared += rows.size() * sizeof(double);
            p.bytes_shared += cpu::bytes_of_results(run.paths, run.threads);
            p.scenarios = scenarios_of(made.data, in.state(), run.paths);
            for (const auto& s : p.scenarios) p.bytes_shared += s.bytes;
            for (const auto& s : made.data.scenarios) p.bytes_shared += s.rows.size() * sizeof(s.rows[0]);
        } catch (const std::exception& e) {
            throw_if_cancelled(e);
            fail_with(at_trade(t, e));
        }
    }
    return out;
}

}  // namespace tilewalk
