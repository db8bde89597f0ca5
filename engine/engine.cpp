// SPDX-License-Identifier: Apache-2.0
// tilewalk::engine: plan every trade, walk every tile, merge, report.
#include "tilewalk/engine.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "engine/book/book_state.h"
#include "engine/cpu/lane_operations.h"
#include "engine/cpu/lane_program.h"
#include "engine/cpu/tile_pool.h"
#include "engine/machine.h"
#include "engine/market/market_state.h"
#include "engine/plan/trade_program.h"
#include "kernels/tile.h"
#include "tilewalk/version.h"

namespace tilewalk {

namespace {

using seconds = std::chrono::duration<double>;
using clock = std::chrono::steady_clock;

constexpr std::uint64_t most_paths = std::uint64_t{1} << 40;
constexpr int most_threads = 1024;

const cpu::lane_operations& operations_named(const std::string& name) {
    const auto list = cpu::runnable_instruction_sets();
    if (list.count == 0) {
        throw error(error_kind::usage,
                    "this processor has no fused multiply-add; Tilewalk needs x86-64-v3 (AVX2 and FMA, 2013) "
                    "or newer");
    }
    std::string known;
    for (int i = 0; i < list.count; ++i) {
        const auto& set = *list.sets[static_cast<std::size_t>(i)];
        if (name == "auto" || name == set.name) return set;
        known += (known.empty() ? "" : ", ") + std::string(set.name);
    }
    throw error(error_kind::usage,
                "unknown instruction set '" + name + "'; this machine can run: auto, " + known);
}

struct settled {
    std::uint64_t paths, seed;
    int threads;
};

settled settle(const run_settings& caller, const run_settings& file) {
    settled s{};
    s.paths = caller.paths.value_or(file.paths.value_or(default_paths));
    s.seed = caller.seed.value_or(file.seed.value_or(default_seed));
    s.threads = caller.threads.value_or(file.threads.value_or(0));
    if (s.paths == 0 || s.paths > most_paths) {
        throw error(error_kind::usage, "paths is " + std::to_string(s.paths) + "; it must be from 1 to 2^40");
    }
    if (s.threads < 0 || s.threads > most_threads) {
        throw error(error_kind::usage,
                    "threads is " + std::to_string(s.threads) + "; it must be from 0 (all cores) to 1024");
    }
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

// Lane programs by shape, so that a book of many trades of few shapes compiles few programs.
class shape_store {
  public:
    std::shared_ptr<const cpu::lane_program> find_or_compile(const program::path_program& code) {
        const std::string shape = program::shape_of(code);
        const std::lock_guard guard(lock_);
        auto& entry = by_shape_[shape];
        if (!entry) entry = std::make_shared<const cpu::lane_program>(cpu::compile(code));
        return entry;
    }

  private:
    std::mutex lock_;
    std::map<std::string, std::shared_ptr<const cpu::lane_program>> by_shape_;
};

struct planned {
    std::optional<error> failure;
    std::string currency;
    std::shared_ptr<const cpu::lane_program> code;
    program::path_data data;
    plan::timeline when;
    double certain_value = 0;
    bool certain = false;
};

// Any failure of a trade stays with the trade, at the trade's place unless it knows better.
error at_trade(const books::trade& t, const std::exception& any) {
    const auto* known = dynamic_cast<const error*>(&any);
    if (known == nullptr) return error(error_kind::internal, any.what(), t.where);
    const error& e = *known;
    if (!e.where().file.empty() && e.where().line > 0) return e;
    const std::string message = e.where().file.empty() ? e.message() : e.where().file + ": " + e.message();
    return error(e.kind(), message, t.where, e.key_path());
}

planned plan_one(const books::trade& t, const markets::market_state& in, shape_store& shapes) {
    planned p;
    if (t.failure) {
        p.failure = t.failure;
        return p;
    }
    try {
        plan::trade_program made = plan::plan_trade(t, in);
        p.currency = std::move(made.currency);
        p.certain = made.is_certain();
        p.code = shapes.find_or_compile(made.code);
        p.data = std::move(made.data);
        p.when = std::move(made.when);
        if (p.certain) p.certain_value = p.data.initial_states[made.code.outputs[0]];
    } catch (const std::exception& e) {
        p.failure = at_trade(t, e);
    }
    return p;
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

void price_certain(price_row& row, double value) {
    if (!std::isfinite(value)) {
        fail(row,
             error(error_kind::numeric, "the payoff of what has already happened is not a finite number"));
        return;
    }
    row.status = trade_status::priced;
    row.price = row.low = row.high = value;
    row.message = "everything has already happened; no path was needed";
}

void price_walked(price_row& row, const cpu::tile_result& r, std::uint64_t paths) {
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
    const double standard_error = paths > 1 ? std::sqrt(m.m2 / (n - 1) / n) : 0.0;
    if (!std::isfinite(m.mean) || !std::isfinite(standard_error)) {
        fail(row, error(error_kind::numeric,
                        "the payoffs are too large for their mean and standard error to be numbers; "
                        "take a smaller notional"));
        return;
    }
    row.status = trade_status::priced;
    row.paths = paths;
    row.price = m.mean;
    row.standard_error = standard_error;
    row.low = row.price - normal_95 * row.standard_error;
    row.high = row.price + normal_95 * row.standard_error;
    row.effective_hits = m.m4 > 0 ? m.m2 * (m.m2 / m.m4) : 0.0;
    // No path that differs from the others is a certainty where something is paid, and where nothing is, more
    // likely a sample that missed all there is to see. A handful of paths shows neither.
    const bool all_the_same = m.m2 == 0;
    row.thin = n < thin_below || (all_the_same ? m.mean == 0 : row.effective_hits < thin_below);
    if (paths == 1) {
        row.message = "one path has no standard error";
    } else if (all_the_same) {
        row.message = m.mean == 0 ? "no path paid anything" : "every path paid the same";
    } else if (row.thin) {
        row.message = "only about " + std::to_string(static_cast<long long>(row.effective_hits)) +
                      " paths carry the variance; take more paths before trusting the standard error";
    }
}

}  // namespace

engine::engine(engine_settings settings) : settings_(std::move(settings)) {
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
    const auto& state = trades.state();
    const auto& operations = operations_named(settings_.instruction_set);
    const settled run = settle(options.overrides, trades.settings());

    results out;
    out.manifest.started = utc_now();
    progress now;
    now.trades = state.trades.size();
    const auto report = [&] {
        if (options.on_progress) options.on_progress(now);
    };

    std::vector<planned> plans(state.trades.size());
    shape_store shapes;
    cpu::for_each(
        plans.size(), run.threads, options.cancel,
        [&](int, std::uint64_t i) { plans[i] = plan_one(state.trades[i], in.state(), shapes); }, report);
    const auto planned_at = clock::now();

    std::vector<cpu::path_job> jobs;
    std::vector<std::size_t> job_of(plans.size(), plans.size());
    for (std::size_t i = 0; i < plans.size(); ++i) {
        const planned& p = plans[i];
        if (p.failure || p.certain) continue;
        job_of[i] = jobs.size();
        jobs.push_back({p.code.get(), &p.data, &p.when, run.seed, run.paths});
        now.path_steps += run.paths * p.when.steps();
    }
    const std::size_t without_job = plans.size() - jobs.size();
    const auto walked =
        cpu::walk_all(jobs, operations, run.threads, options.cancel, [&](const cpu::pool_progress& p) {
            now.trades_done = without_job + p.jobs_done;
            now.path_steps_done = p.path_steps_done;
            report();
        });
    const auto walked_at = clock::now();

    for (std::size_t i = 0; i < plans.size(); ++i) {
        const books::trade& t = state.trades[i];
        price_row& row = out.rows.emplace_back();
        row.trade = t.id;
        row.product = t.product_name;
        row.currency = plans[i].currency;
        row.quantity = t.quantity;
        row.where = t.where;
        if (plans[i].failure) {
            fail(row, *plans[i].failure);
        } else if (plans[i].certain) {
            price_certain(row, plans[i].certain_value);
        } else {
            price_walked(row, walked[job_of[i]], run.paths);
        }
    }

    run_manifest& m = out.manifest;
    m.version = version();
    m.compiler = compiler_name();
    m.instruction_set = operations.name;
    m.machine = machine_name();
    m.as_of = in.as_of();
    m.seed = run.seed;
    m.paths = run.paths;
    m.threads = run.threads;
    m.inputs = state.inputs;
    const input_file market_file{in.state().name, in.state().hash};
    // A market that stands in the book has no file of its own.
    if (!market_file.hash.empty() && std::none_of(m.inputs.begin(), m.inputs.end(), [&](const input_file& f) {
            return f.hash == market_file.hash;
        })) {
        m.inputs.push_back(market_file);
    }
    m.plan_seconds = seconds(planned_at - begin).count();
    m.path_seconds = seconds(walked_at - planned_at).count();
    m.total_seconds = seconds(clock::now() - begin).count();
    m.path_steps = now.path_steps;
    return out;
}

std::vector<trade_plan> engine::explain(const book& trades, const market& in,
                                        const run_options& options) const {
    const settled run = settle(options.overrides, trades.settings());
    std::vector<trade_plan> out;
    for (const books::trade& t : trades.state().trades) {
        trade_plan& p = out.emplace_back();
        p.trade = t.id;
        p.product = t.product_name;
        p.where = t.where;
        const auto fail_with = [&p](const error& e) {
            p.failure = e.key_path().empty() ? e.message() : e.key_path() + ": " + e.message();
            if (!e.where().file.empty()) p.where = e.where();
        };
        if (t.failure) {
            fail_with(*t.failure);
            continue;
        }
        try {
            const plan::trade_program made = plan::plan_trade(t, in.state());
            const cpu::lane_program code = cpu::compile(made.code);
            p.currency = made.currency;
            p.assets = made.assets;
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
            p.program = program::print(made.code);
            p.lane_operations = code.operations();
            p.lane_registers = code.registers;
            p.uniform_operations = made.code.per_trade.nodes.size();
            for (const auto& s : made.code.sections) p.uniform_operations += s.per_run.nodes.size();
            const std::size_t shocks =
                static_cast<std::size_t>(code.normals_per_step + code.uniforms_per_step + 2);
            p.bytes_per_thread =
                code.bytes() + (shocks + kernels::paths_per_lane) * cpu::lanes * sizeof(double);
            p.bytes_shared = made.when.bytes() +
                             (made.data.terms.size() + made.data.initial_states.size()) * sizeof(double);
            for (const auto& rows : made.data.rows) p.bytes_shared += rows.size() * sizeof(double);
            p.bytes_shared += cpu::bytes_of_results(run.paths, run.threads);
        } catch (const std::exception& e) {
            fail_with(at_trade(t, e));
        }
    }
    return out;
}

}  // namespace tilewalk
