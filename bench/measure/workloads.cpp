// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/workloads.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "engine/base/wording.h"
#include "engine/market/market_state.h"
#include "engine/plan/trade_program.h"
#include "engine/reading/book_state.h"
#include "products/program/evaluate.h"
#include "products/program/recorder.h"
#include "tilewalk/book.h"
#include "tilewalk/error.h"

namespace tilewalk::bench {

namespace {

using program::precision;

constexpr std::uint64_t few_assets_paths = std::uint64_t{1} << 20, many_assets_paths = std::uint64_t{1} << 18,
                        large_basket_paths = std::uint64_t{1} << 16;

workload of_trade(std::string name, precision in, plan::trade_program made, std::uint64_t paths) {
    workload out;
    out.name = std::move(name);
    out.precision = in;
    out.code = std::move(made.code);
    out.trades.push_back({std::move(made.data), std::move(made.when)});
    out.paths = paths;
    return out;
}

workload of_book_text(std::string name, const std::string& yaml, precision in, std::uint64_t paths) {
    const book b = book::parse(yaml, name);
    const auto& trade = state_of(b).trades.at(0);
    if (trade.failure) throw *trade.failure;
    return of_trade(std::move(name), in, plan::plan_trade(trade, state_of(*b.market()), in), paths);
}

// Arithmetic Asian on one asset: one shock and one exponential a step.
workload asian(precision in) {
    return of_book_text("asian", R"(
market: {as_of: 2026-01-15, currencies: {USD: {rate: 0.05}}, assets: {A: {currency: USD, spot: 100, volatility: 0.2}}}
trades:
  - {id: asian, product: asian, underlying: A, strike: 100, averaging_dates: {start: 0, end: 1, count: 252}}
)",
                        in, few_assets_paths);
}

// The Asian with the arrays of a production run on Sobol points, built by a Brownian bridge.
workload sobol_bridge(precision in) {
    workload out = asian(in);
    out.name = "sobol_bridge";
    out.points = quasi::points{quasi::construction::bridge};
    return out;
}

workload backward(precision in) {
    workload out = asian(in);
    out.name = "backward";
    return out;
}

// Worst-of autocallable, five correlated assets observed daily: five exponentials, fifteen products a step.
workload autocallable(precision in) {
    std::string coupons;
    for (int i = 1; i <= 252; ++i) coupons += (i > 1 ? ", " : "") + std::to_string(0.1 * i / 252);
    const std::array volatilities = {"0.20", "0.25", "0.30", "0.22", "0.28"};
    std::string assets, correlations;
    for (std::size_t i = 0; i < volatilities.size(); ++i) {
        const std::string name(1, static_cast<char>('A' + i));
        assets += "    " + name + ": {currency: USD, spot: 100, volatility: " + volatilities[i] + "}\n";
        for (std::size_t j = 0; j < i; ++j)
            correlations += "    - [" + name + ", " + static_cast<char>('A' + j) + ", 0.5]\n";
    }
    return of_book_text(
        "autocallable",
        "market:\n  as_of: 2026-01-15\n  currencies: {USD: {rate: 0.03}}\n  assets:\n" + assets +
            "  correlations:\n" + correlations +
            "trades:\n  - {id: autocallable, product: autocallable, basket: [A, B, C, D, E], "
            "initial_level: 100, observations: {start: 0, end: 1, count: 252}, call_level: 1.0, coupon: [" +
            coupons + "], protection: 0.6, notional: 100}\n",
        in, many_assets_paths);
}

// Heston by Euler with full truncation: two shocks, a square root and a long chain of operations a step.
workload heston_step(precision in) {
    constexpr int steps = 252;
    constexpr double rate = 0.03, kappa = 1.5, theta = 0.04, of_volatility = 0.5, rho = -0.7, spot = 100,
                     strike = 100, years = 1;
    program::recorder into;
    const auto x = into.state("log_spot", 0.0), variance = into.state("variance", theta),
               payoff = into.state("payoff", 0.0);
    into.output(payoff);
    into.open_section(1, "payoff", 1);
    into.write(payoff, into.term("discount", std::exp(-rate * years)) *
                           max(into.term("spot", spot) * exp(into.read(x)) - into.term("strike", strike),
                               into.constant(0.0)));
    into.open_section(0, "step", steps);
    const auto dt = into.row("dt", std::vector<double>(steps, years / steps));
    const auto first = into.normal(), second = into.normal(),
               v = max(into.read(variance), into.constant(0.0)), root = sqrt(v * dt);
    into.write(variance, into.read(variance) +
                             into.term("kappa", kappa) * (into.term("theta", theta) - v) * dt +
                             into.term("of_volatility", of_volatility) * root * first);
    into.write(x, into.read(x) + (into.term("rate", rate) - 0.5 * v) * dt +
                      root * (into.term("rho", rho) * first +
                              into.term("rho_bar", std::sqrt(1 - rho * rho)) * second));
    const auto made = std::move(into).finish();
    plan::trade_program out;
    out.code = program::hoist(program::optimise(made.code, {.is_fast = program::is_fast(in)}));
    out.data = program::bind(out.code, made.data);
    for (int s = 1; s <= steps; ++s) {
        if (s == steps) out.when.add({1, 0});
        out.when.times.push_back(years * s / steps);
        out.when.close_step();
    }
    return of_trade("heston_step", in, std::move(out), few_assets_paths);
}

// Local volatility: a step also reads its own table of volatilities, at three places that depend on the path.
workload local_volatility(precision in) {
    return of_book_text("local_volatility", R"(
market:
  as_of: 2026-01-15
  currencies: {USD: {rate: 0.05}}
  assets:
    A:
      currency: USD
      spot: 100
      model:
        local_volatility:
          points: 100
          steps_per_year: 252
          surface:
            by_strike:
              0.25: {80: 0.245, 90: 0.22, 100: 0.2, 110: 0.19, 120: 0.185}
              1.0: {70: 0.24, 85: 0.22, 100: 0.2, 115: 0.19, 130: 0.185}
trades:
  - {id: local_volatility, product: asian, underlying: A, strike: 100, averaging_dates: {start: 0, end: 1, count: 252}}
)",
                        in, few_assets_paths);
}

// Basket of fifty assets: fifty shocks a step, and a triangle of 1,275 numbers that correlates them.
workload basket_of_50(precision in) {
    constexpr int assets = 50;
    std::string members, basket, correlations;
    for (int i = 0; i < assets; ++i) {
        members +=
            fmt::format("    A{}: {{currency: USD, spot: 100, volatility: {}}}\n", i, 0.15 + 0.005 * i);
        basket += fmt::format("{}A{}", i == 0 ? "" : ", ", i);
        for (int j = 0; j < i; ++j) correlations += fmt::format("    - [A{}, A{}, 0.4]\n", i, j);
    }
    return of_book_text("basket_of_50",
                        "products:\n"
                        "  - product: mean_basket\n"
                        "    summary: A call on the mean of a basket over some dates.\n"
                        "    parameters:\n"
                        "      basket: {type: asset_list, help: The assets.}\n"
                        "      dates: {type: schedule, help: The dates.}\n"
                        "    example: {basket: [A, B], dates: [0.5, 1.0]}\n"
                        "    script: |\n"
                        "      total = 0\n"
                        "      on dates:\n"
                        "          total = total + average(spot(a) for a in basket)\n"
                        "      on last(dates):\n"
                        "          pay max(total / size(dates) - 100, 0)\n"
                        "market:\n  as_of: 2026-01-15\n  currencies: {USD: {rate: 0.03}}\n  assets:\n" +
                            members + "  correlations:\n" + correlations +
                            "trades:\n  - {id: basket_of_50, product: mean_basket, basket: [" + basket +
                            "], dates: {start: 0, end: 1, count: 252}}\n",
                        in, large_basket_paths);
}

constexpr std::array workload_catalogue{
    workload_entry{"asian", "one asset, one exponential a step: arithmetic average over 252 days", asian},
    workload_entry{"sobol_bridge", "asian, whose shocks are Sobol points that a bridge makes paths of",
                   sobol_bridge},
    workload_entry{"heston_step", "a price and its variance: two shocks, a square root, a long chain a step",
                   heston_step},
    workload_entry{"autocallable", "worst of five correlated assets, watched on 252 days", autocallable},
    workload_entry{"local_volatility",
                   "one asset that reads a table of 100 volatilities a step, over 252 days",
                   local_volatility},
    workload_entry{"basket_of_50", "mean of fifty correlated assets over 252 days", basket_of_50, true},
    workload_entry{"backward", "asian, walked both ways, its kept shocks read back", backward, true, true},
};

std::vector<workload> of_book(const std::string& file, precision in,
                              const std::function<void(const std::string&)>& leaves_out) {
    const book whole = book::load(file);
    if (!whole.market()) {
        throw error(error_kind::usage, "this book names no market", {file, 0, 0});
    }
    const std::string short_name = std::filesystem::path(file).filename().string();
    std::map<std::string, workload> by_shape;
    for (const auto& trade : state_of(whole).trades) {
        try {
            if (trade.failure) throw *trade.failure;
            auto made = plan::plan_trade(trade, state_of(*whole.market()), in);
            if (made.is_certain()) throw error(error_kind::input, "walks no path: everything is past");
            if (made.code.scenarios_per_step > 0) {
                throw error(error_kind::input, "reads scenario arrays, which a benchmark has none of");
            }
            const auto shape = program::shape_of(made.code);
            auto [at, is_new] = by_shape.try_emplace(shape);
            if (is_new) {
                at->second = of_trade(short_name + ": " + trade.product->name, in, std::move(made), 0);
            } else {
                at->second.trades.push_back({std::move(made.data), std::move(made.when)});
            }
        } catch (const error& e) {
            leaves_out("trade " + trade.id + " is left out: " + e.message());
        }
    }
    std::vector<workload> out;
    std::map<std::string, int> names;
    for (auto& [shape, w] : by_shape) {
        w.paths = paths_to_time(w.path_steps());
        out.push_back(std::move(w));
    }
    if (out.empty()) throw error(error_kind::input, "no trade of the book can be timed", {file, 0, 0});
    std::stable_sort(out.begin(), out.end(), [](const workload& a, const workload& b) {
        return a.paths * a.path_steps() > b.paths * b.path_steps();
    });
    for (workload& w : out) {
        if (const int number = ++names[w.name]; number > 1) w.name += fmt::format(", shape {}", number);
    }
    return out;
}

}  // namespace

std::span<const workload_entry> workloads() {
    return workload_catalogue;
}

bool goes_back(std::string_view subject) {
    const auto found = std::ranges::find(workload_catalogue, subject, &workload_entry::name);
    return found != workload_catalogue.end() && found->goes_back;
}

void check_subject(const std::string& subject) {
    if (std::ranges::find(workload_catalogue, subject, &workload_entry::name) != workload_catalogue.end() ||
        std::filesystem::exists(subject)) {
        return;
    }
    std::vector<std::string> known;
    for (const workload_entry& w : workload_catalogue) known.emplace_back(w.name);
    throw error(error_kind::usage,
                "found " + config::shown(subject) +
                    config::alternatives(subject, "expected a book's file or a workload:", known));
}

std::vector<workload> workloads_named(const std::string& subject, precision in,
                                      const std::function<void(const std::string&)>& leaves_out) {
    const auto found = std::ranges::find(workload_catalogue, subject, &workload_entry::name);
    if (found != workload_catalogue.end()) {
        std::vector<workload> out;
        out.push_back(found->make(in));
        return out;
    }
    check_subject(subject);
    return of_book(subject, in, leaves_out);
}

}  // namespace tilewalk::bench
