// SPDX-License-Identifier: Apache-2.0
// The suite `models`: path-steps a second of every model over 252 steps, with shocks drawn in registers, on a
// GPU and on one core. Checked first: single and double have equal bits on both; single_fast differs from
// double by less than the price's error; prices agree with a value found without paths.
#include "bench/suites/models.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/measure/attempt.h"
#include "bench/measure/timing.h"
#include "bench/measure/walk.h"
#include "bench/measure/workloads.h"
#include "engine/base/crew.h"
#include "engine/base/machine.h"
#include "engine/base/wording.h"
#include "engine/walk/cpu/lane_machine.h"
#include "engine/walk/cpu/shadow.h"
#include "engine/walk/cuda/compile/kernel_text.h"
#include "kernels/tile.h"
#include "tilewalk/error.h"

namespace tilewalk::bench {

namespace models {

namespace {

using kernels::tile_result;
using program::precision;
using tiles = std::vector<tile_result>;

constexpr std::uint64_t steps = 252;

// `steps_per_year` is at most 252, so that a path takes one step from date to date. Prices are Fourier
// integrals, except: surfaces by Black's formula with the volatility quoted at the strike; CEV and SABR by
// closed forms; the basket a mean over 8 million draws of the final prices, with an error of 0.0004;
// rough_bergomi a mean over 3 million draws of the exact variance on the dates, with an error of 0.0013;
// normal rates by Black's formula with the variance of the forward.
constexpr std::array catalogue{
    example{"black_scholes", "black_scholes", "volatility: 0.2", 1, 9.4134033839},
    // The path stops once: the quadratic-exponential scheme takes its 252 steps itself.
    example{
        "heston", "heston",
        "model: {heston: {v0: 0.04, kappa: 1.5, theta: 0.04, sigma: 0.5, rho: -0.7, steps_per_year: 252}}", 1,
        8.8026609629, "", 1},
    // With sigma^2 at most 3 kappa theta, the scheme never draws a variance from its exponential tail.
    example{
        "heston_without_tail", "heston",
        "model: {heston: {v0: 0.04, kappa: 1.5, theta: 0.04, sigma: 0.3, rho: -0.7, steps_per_year: 252}}", 1,
        9.1933183067, "", 1},
    example{
        "heston_daily", "heston",
        "model: {heston: {v0: 0.04, kappa: 1.5, theta: 0.04, sigma: 0.5, rho: -0.7, steps_per_year: 252}}", 1,
        8.8026609629, "", 252},
    example{"heston_full_truncation", "heston",
            "model: {heston: {v0: 0.04, kappa: 1.5, theta: 0.04, sigma: 0.5, rho: -0.7, scheme: "
            "full_truncation, steps_per_year: 250}}",
            1, 8.8026609629},
    example{"schobel_zhu", "schobel_zhu",
            "model: {schobel_zhu: {vol0: 0.2, kappa: 1.5, theta: 0.2, sigma: 0.3, rho: -0.7, steps_per_year: "
            "250}}",
            1, 10.5050750707},
    example{"local_volatility", "local_volatility",
            "model: {local_volatility: {points: 100, steps_per_year: 252, surface: {by_strike: {"
            "0.25: {80: 0.245, 90: 0.22, 100: 0.2, 110: 0.19, 120: 0.185}, "
            "1.0: {70: 0.24, 85: 0.22, 100: 0.2, 115: 0.19, 130: 0.185}}}}}",
            1, 9.4134033839},
    example{
        "local_volatility_euler", "local_volatility",
        "model: {local_volatility: {scheme: euler, points: 100, steps_per_year: 252, surface: {by_strike: {"
        "0.25: {80: 0.245, 90: 0.22, 100: 0.2, 110: 0.19, 120: 0.185}, "
        "1.0: {70: 0.24, 85: 0.22, 100: 0.2, 115: 0.19, 130: 0.185}}}}}",
        1, 9.4134033839},
    example{"cev", "cev", "model: {cev: {volatility: 2, beta: 0.5, steps_per_year: 250}}", 1, 9.4748246504},
    example{"sabr", "sabr", "model: {sabr: {alpha: 2, beta: 0.5, rho: 0, nu: 0.6, steps_per_year: 250}}", 1,
            9.7076045077},
    example{"stochastic_local_volatility", "stochastic_local_volatility",
            "model: {stochastic_local_volatility: {points: 100, particles: 4096, steps_per_year: 252, "
            "heston: {v0: 0.04, "
            "kappa: 1.5, theta: 0.04, sigma: 0.5, rho: -0.7}, surface: {by_strike: {"
            "0.25: {80: 0.245, 90: 0.22, 100: 0.2, 110: 0.19, 120: 0.185}, "
            "1.0: {70: 0.24, 85: 0.22, 100: 0.2, 115: 0.19, 130: 0.185}}}}}",
            1, 9.4134033839},
    example{"merton", "merton",
            "model: {merton: {volatility: 0.16, jump_intensity: 0.75, jump_mean: -0.12, jump_sd: 0.08}}", 1,
            9.3730856772},
    example{"kou", "kou",
            "model: {kou: {volatility: 0.16, jump_intensity: 4, p_up: 0.3, eta_up: 25, eta_down: 15}}", 1,
            10.4619446432},
    example{"bates", "bates",
            "model: {bates: {v0: 0.04, kappa: 1.5, theta: 0.04, sigma: 0.5, rho: -0.7, jump_intensity: 0.3, "
            "jump_mean: -0.1, jump_sd: 0.06, steps_per_year: 250}}",
            1, 9.2392826420},
    example{"rough_bergomi", "rough_bergomi",
            "model: {rough_bergomi: {xi: 0.04, eta: 1.9, rho: -0.9, hurst: 0.07, steps_per_year: 250}}", 1,
            8.557},
    example{"variance_gamma", "variance_gamma",
            "model: {variance_gamma: {sigma: 0.2, nu: 0.25, theta: -0.14}}", 1, 9.5515880208},
    example{"nig", "nig", "model: {nig: {alpha: 14, beta: -4, delta: 0.6}}", 1, 10.0065774089},
    example{"cgmy", "cgmy", "model: {cgmy: {C: 0.3, G: 8, M: 16, Y: 0.9}}", 1, 9.4313593211},
    example{"basket_of_10", "black_scholes", "volatility: {v}", 10, 8.575415},
    example{"hull_white", "hull_white", "", 0, 1.4719932040,
            "model: {hull_white: {mean_reversion: 0.05, volatility: 0.01}}"},
    example{"g2", "g2", "", 0, 1.5148124844,
            "model: {g2: {a: 0.5, sigma: 0.01, b: 0.04, eta: 0.012, rho: -0.7}}"},
    // A displacement of one over the tenor (1 a year) makes bonds lognormal, which gives a closed form.
    example{"forward_market", "forward_market", "", 0, 1.5503839020,
            "model: {forward_market: {tenor: 1, until: 6, displacement: 1, loadings: [[0.008, 0.005, 0.002], "
            "[0.009, 0.002, -0.001], [0.0095, 0, -0.002], [0.0095, -0.002, -0.001], [0.0095, -0.004, "
            "0.002]]}}"},
    example{"black_scholes_hull_white", "black_scholes", "volatility: 0.2", 1, 9.3592749978,
            "model: {hull_white: {mean_reversion: 0.05, volatility: 0.01}}"},
};

// A product whose payoff counts its dates, so that paths of every model stop on each of them.
constexpr std::string_view product = R"(
products:
  - product: late_call
    summary: A call on the mean of some assets, whose path stops on many dates.
    parameters:
      basket: {type: asset_list, help: The assets.}
      strike: {type: amount, help: The strike.}
      dates: {type: schedule, help: The dates.}
    example: {basket: [A, B], strike: 100, dates: [0.5, 1.0]}
    script: |
      stops = 0
      on dates:
          stops = stops + 1
      on last(dates):
          level = sum(spot(a) for a in basket) / size(basket)
          pay max(level - strike, 0) * stops / size(dates)
  - product: late_call_on_a_bond
    summary: A call on a bond, whose path stops on many dates.
    parameters:
      maturity: {type: date, help: Of the bond.}
      strike: {type: amount, help: The strike of a hundred.}
      dates: {type: schedule, help: The dates.}
    example: {maturity: 6, strike: 86, dates: [0.5, 1.0]}
    script: |
      stops = 0
      on dates:
          stops = stops + 1
      on last(dates):
          pay max(100 * bond(currency, maturity) - strike, 0) * stops / size(dates)
)";

constexpr std::array on_gpu{precision::single_fast, precision::single, precision::double_};
constexpr std::array on_cpu{precision::single, precision::double_};

struct planned {
    workload of;
    cuda::kernel_decision how;
    cpu::lane_program lanes;

    cpu::path_job job(std::uint64_t paths) const {
        const auto& trade = of.trades.front();
        return {&lanes, &trade.data, &trade.when, timed_walk::seed, paths, of.precision};
    }
};

planned plan_of(const example& of, precision in) {
    cuda::kernel_wish open;
    open.precision = in;
    planned_walk made = plan_walk(book_of(of), open);
    planned out;
    out.of.name = std::string(of.name);
    out.of.precision = in;
    out.how = made.how;
    out.lanes = cpu::compile(made.trade.code);
    out.of.code = std::move(made.trade.code);
    out.of.trades.push_back({std::move(made.trade.data), std::move(made.trade.when)});
    return out;
}

tile_result merged(std::span<const tile_result> of) {
    tile_result all{};
    for (const tile_result& one : of) all = kernels::merge(all, one);
    return all;
}

std::string why_not_the_bits(std::span<const tile_result> got, std::span<const tile_result> expected,
                             std::string_view whose) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
        if (std::memcmp(&got[i], &expected[i], sizeof got[i]) == 0) continue;
        return fmt::format("tile {} has other bits than {}: a mean of {:.17g}, expected {:.17g}", i, whose,
                           got[i].moments.mean, expected[i].moments.mean);
    }
    return {};
}

// Says why the price is wrong: beyond five standard errors, by chance for one seed in 1.7 million.
std::string why_not_the_price(const tile_result& all, std::uint64_t paths, double price) {
    if (all.not_finite != 0) return fmt::format("{} payoffs are no finite numbers", all.not_finite);
    if (all.moments.count != static_cast<double>(paths))
        return fmt::format("a result of {} paths, expected {}", all.moments.count, paths);
    const estimate got = estimate_of(all);
    if (std::abs(got.price - price) <= 5 * got.standard_error) return {};
    return fmt::format("the price is {} +- {}, expected {}", got.price, got.standard_error, price);
}

// Marks the row wrong if rounding moves the mean by as much as one standard error of the price.
void hold_against_double(row& r, const tile_result& sample, const tile_result& in_double,
                         const tile_result& whole) {
    const cpu::shadow s = cpu::compare(sample, in_double, whole);
    if (std::abs(s.in_standard_errors) < 1) {
        r.figures["off_double"] = s.in_standard_errors;
        return;
    }
    r.wrong = fmt::format("on the same shocks the mean is off that of double by {}, {} standard errors",
                          s.difference, s.in_standard_errors);
}

class subject {
  public:
    subject(const cpu_bench& here, const example& of, std::uint64_t checked)
        : here_(here), of_(of), checked_(checked) {}

    const example& walked() const { return of_; }
    std::uint64_t checked() const { return checked_; }
    const planned& in(precision p) {
        auto at = plans_.find(p);
        if (at == plans_.end()) at = plans_.emplace(p, plan_of(of_, p)).first;
        return at->second;
    }
    const tiles& on_cpu(precision p) {
        auto at = tiles_.find(p);
        if (at == tiles_.end()) {
            at = tiles_.emplace(p, walked(in(p).job(checked_), *cpu::runnable_instruction_sets().sets[0]))
                     .first;
        }
        return at->second;
    }
    // The result of the first `count` tiles in double arithmetic, on the shocks of precision `p`.
    tile_result shadow(precision p, std::size_t count) {
        auto at = shadows_.find(p);
        if (at == shadows_.end()) {
            cpu::path_job job = in(p).job(checked_);
            job.precision = precision::mixed;
            at = shadows_.emplace(p, walked(job, *cpu::runnable_instruction_sets().sets[0])).first;
        }
        return merged(std::span(at->second).first(count));
    }

    tiles walked(const cpu::path_job& job, const cpu::lane_operations& with) const {
        job.check();
        const int threads = threads::usable_cores();
        std::vector<cpu::lane_machine> machines(static_cast<std::size_t>(threads), cpu::lane_machine(with));
        tiles out(job.tiles());
        threads::for_each(
            out.size(), threads, here_.cancel,
            [&](int thread, std::uint64_t i) {
                machines[static_cast<std::size_t>(thread)].walk(job, i, {&out[i], 1});
            },
            [] {});
        if (here_.cancel != nullptr && *here_.cancel) throw error(error_kind::cancelled, "stopped");
        return out;
    }

  private:
    const cpu_bench& here_;
    const example& of_;
    std::uint64_t checked_;
    std::map<precision, planned> plans_;
    std::map<precision, tiles> tiles_, shadows_;
};

row row_of(const example& of, std::string_view device, precision p) {
    row r;
    r.suite = "models";
    r.axes = {{"model", of.name}, {"device", device}, {"precision", program::name_of(p)}};
    if (device == "cpu") r.axes["threads"] = 1;
    return r;
}

void add_rates(row& r, const example& of, std::uint64_t paths, double milliseconds) {
    const double rate = static_cast<double>(paths * steps) / (milliseconds * 1e-3);
    r.figures["paths"] = paths;
    r.figures["steps"] = steps;
    r.figures["path_steps_per_second"] = rate;
    if (of.assets > 1) r.figures["asset_steps_per_second"] = rate * of.assets;
}

void measure_on_cpu(const cpu_bench& here, subject& what, precision p, std::uint64_t paths, row& r) {
    const auto sets = cpu::runnable_instruction_sets();
    if (sets.count == 0) {
        r.skipped = "this processor has no fused multiply-add";
        return;
    }
    const planned& walked = what.in(p);
    const tiles& sample = what.on_cpu(p);
    const tile_result all = merged(sample);
    r.wrong = why_not_the_price(all, what.checked(), what.walked().price);
    for (int i = 1; i < sets.count && r.wrong.empty(); ++i) {
        const auto& other = *sets.sets[static_cast<std::size_t>(i)];
        r.wrong = why_not_the_bits(sample, what.walked(walked.job(what.checked()), other), other.name);
    }
    if (r.wrong.empty() && p != precision::double_)
        hold_against_double(r, all, what.shadow(p, sample.size()), all);
    if (!r.wrong.empty()) return;

    const cpu::path_job job = walked.job(paths);
    cpu::lane_machine machine(*sets.sets[0]);
    const auto sample_once = [&]() -> std::optional<double> {
        if (here.cancel != nullptr && *here.cancel) throw error(error_kind::cancelled, "stopped");
        tile_result one;
        const double begin = seconds_now();
        for (std::uint64_t i = 0; i < job.tiles(); ++i) machine.walk(job, i, {&one, 1});
        return 1e3 * (seconds_now() - begin);
    };
    sample_once();  // warms caches, untimed
    gpu_timer::timing t;
    t.milliseconds = bench::measure(sample_once, here.until, seconds_now)->of;
    r.figures.update(figures_of(t));
    r.figures["price"] = all.moments.mean;
    r.figures["standard_error"] = estimate_of(all).standard_error;
    add_rates(r, what.walked(), paths, t.milliseconds.median);
    r.figures["instruction_set"] = sets.sets[0]->name;
    r.figures["processor"] = processor_name();
}

void measure_on_gpu(gpu_timer& on, subject& what, precision p, std::uint64_t most_paths, row& r) {
    const planned& walked = what.in(p);
    path_timer bench(on, walked.of, most_paths);
    r.skipped = bench.why_not(walked.how);
    if (!r.skipped.empty()) return;
    const auto ready = bench.prepare(walked.how, 0);
    bench.launch(walked.how, ready);
    const tiles got = bench.results();
    const tile_result all = merged(got);
    r.wrong = why_not_the_price(all, bench.paths(), what.walked().price);
    if (!r.wrong.empty()) return;
    const std::size_t count = std::min<std::size_t>(got.size(), what.checked() / kernels::paths_per_tile);
    if (program::is_fast(p)) {
        hold_against_double(r, merged(std::span(got).first(count)), what.shadow(p, count), all);
    } else {
        r.wrong = why_not_the_bits(got, std::span(what.on_cpu(p)).first(count), "on the processor");
    }
    if (!r.wrong.empty()) return;
    const auto t = on.time([&] { bench.launch(walked.how, ready); });
    r.figures.update(figures_of(t));
    r.figures.update(price_figures(got, got.size()));
    add_rates(r, what.walked(), bench.paths(), t.milliseconds.median);
    r.figures["registers"] = ready.registers;
    r.figures["resident_warps"] = ready.warps;
    if (ready.local_bytes > 0) r.figures["local_bytes"] = ready.local_bytes;
    r.figures["width"] = walked.how[cuda::knobs::width];
    r.figures["block"] = walked.how[cuda::knobs::block];
}

}  // namespace

std::span<const example> examples() {
    return catalogue;
}

std::string book_of(const example& of) {
    std::string assets, names, correlations;
    for (int i = 0; i < of.assets; ++i) {
        const std::string name(1, static_cast<char>('A' + i));
        std::string how(of.how);
        if (const auto at = how.find("{v}"); at != std::string::npos)
            how.replace(at, 3, fmt::format("{}", 0.15 + 0.02 * i));
        assets += "    " + name + ": {currency: USD, spot: 100, " + how + "}\n";
        names += (i > 0 ? ", " : "") + name;
        for (int j = 0; j < i; ++j)
            correlations += "    - [" + name + ", " + static_cast<char>('A' + j) + ", 0.5]\n";
    }
    const bool has_rates = !of.rates.empty();
    if (has_rates && of.assets > 0) correlations += "    - [A, USD.rate, -0.3]\n";
    const std::string trade = of.assets > 0
                                  ? "product: late_call, basket: [" + names + "], strike: 100"
                                  : std::string("product: late_call_on_a_bond, maturity: 6, strike: 86");
    return "market:\n  as_of: 2026-01-15\n  currencies: {USD: {rate: 0.03" +
           (has_rates ? ", " + std::string(of.rates) : std::string()) + "}}\n" +
           (assets.empty() ? "" : "  assets:\n" + assets) +
           (correlations.empty() ? "" : "  correlations:\n" + correlations) + std::string(product) +
           "trades:\n  - {id: call, currency: USD, " + trade +
           ", dates: {start: 0, end: 1, count: " + std::to_string(of.stops) + "}}\n";
}

void measure(const cpu_bench& here, gpu_timer* on, const std::string& why_no_gpu,
             std::span<const example> what, const sizes& paths, const sink& to) {
    std::vector<subject> subjects;
    for (const example& of : what) subjects.emplace_back(here, of, paths.checked);
    if (on != nullptr) {
        std::vector<std::string> texts;
        for (subject& s : subjects) {
            for (const precision p : on_gpu) {
                try {
                    texts.push_back(cuda::path_kernel_text(s.in(p).of.code, s.in(p).how));
                } catch (const error&) {
                    // Ignored here: the row compiles the kernel again, and reports the error.
                }
            }
        }
        on->compile(texts);
    }
    for (subject& s : subjects) {
        for (const precision p : on_cpu) {
            here.says(fmt::format("models: {} on one core, {}", s.walked().name, program::name_of(p)));
            attempt(row_of(s.walked(), "cpu", p), to,
                    [&](row& r) { measure_on_cpu(here, s, p, paths.on_cpu, r); });
        }
        for (const precision p : on_gpu) {
            if (on == nullptr) {
                skip(row_of(s.walked(), "gpu", p), to, why_no_gpu);
                continue;
            }
            here.says(fmt::format("models: {}, {}", s.walked().name, program::name_of(p)));
            attempt(row_of(s.walked(), "gpu", p), to,
                    [&](row& r) { measure_on_gpu(*on, s, p, paths.on_gpu, r); });
        }
    }
}

}  // namespace models

namespace {

std::span<const models::example> models_asked_for(const request& r) {
    const auto all = models::examples();
    if (r.subject.empty()) return all;
    const auto found = std::ranges::find(all, r.subject, &models::example::name);
    if (found != all.end()) return {found, 1};
    std::vector<std::string> known;
    for (const models::example& e : all) known.emplace_back(e.name);
    throw error(error_kind::usage, "found " + config::shown(r.subject) +
                                       ", expected a model of the benchmark" +
                                       config::suggestion(r.subject, known));
}

}  // namespace

void check_models(const request& asked) {
    models_asked_for(asked);
}

void run_models(gpu_timer& on, const request& asked, const sink& to) {
    models::measure({on.until(), on.says, on.cancel}, &on, "", models_asked_for(asked), {}, to);
}

void run_models_on_cpu(const cpu_bench& on, const request& asked, const std::string& why_no_gpu,
                       const sink& to) {
    models::measure(on, nullptr, why_no_gpu, models_asked_for(asked), {}, to);
}

}  // namespace tilewalk::bench
