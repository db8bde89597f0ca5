// SPDX-License-Identifier: Apache-2.0
// The suite `greeks`: the time of a price, and of a price with all first-order sensitivities, for walks and
// for whole calls. Checked before timing: the price's bits do not change; a GPU's sensitivities have the
// CPU's bits (in single_fast: agree with double within errors); some agree with differences of prices.
#include "bench/suites/greeks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "bench/measure/attempt.h"
#include "engine/base/machine.h"
#include "engine/base/wording.h"
#include "engine/reading/settings/precision_named.h"
#include "engine/walk/cpu/lane_operations.h"
#include "tilewalk/book.h"
#include "tilewalk/engine.h"
#include "tilewalk/error.h"

namespace tilewalk::bench {

namespace greeks {

namespace {

constexpr int steps = 252;

std::string by_date(double number) {
    std::string out = "{";
    for (int i = 1; i <= steps; ++i)
        out += fmt::format("{}{}: {}", i > 1 ? ", " : "", static_cast<double>(i) / steps, number);
    return out + "}";
}

std::string asian_in(const std::string& rates, const std::string& volatility) {
    return fmt::format(R"(
market: {{as_of: 2026-01-15, currencies: {{USD: {}}}, assets: {{A: {{currency: USD, spot: 100, volatility: {}}}}}}}
trades:
  - {{id: asian, product: asian, underlying: A, strike: 100, averaging_dates: {{start: 0, end: 1, count: {}}}}}
)",
                       rates, volatility, steps);
}

std::string asian_by_date() {
    return asian_in("{zero_rates: " + by_date(0.05) + "}", by_date(0.2));
}
std::string flat_asian() {
    return asian_in("{rate: 0.05}", "0.2");
}

std::string heston_call() {
    return fmt::format(R"(
market:
  as_of: 2026-01-15
  currencies: {{USD: {{rate: 0.05}}}}
  assets:
    A:
      currency: USD
      spot: 100
      model: {{heston: {{v0: 0.04, kappa: 1.5, theta: 0.04, sigma: 0.3, rho: -0.7, scheme: full_truncation, steps_per_year: {}}}}}
trades:
  - {{id: call, product: european, underlying: A, strike: 100, maturity: 1.0}}
)",
                       steps);
}

std::string autocallable() {
    constexpr std::array volatilities{0.20, 0.25, 0.30, 0.22, 0.28};
    std::string assets, correlations, basket, coupons;
    for (std::size_t i = 0; i < volatilities.size(); ++i) {
        assets +=
            fmt::format("    A{}: {{currency: USD, spot: 100, volatility: {{0.25: {}, 0.5: {}, 1.0: {}}}}}\n",
                        i, volatilities[i] + 0.01, volatilities[i] + 0.005, volatilities[i]);
        for (std::size_t j = 0; j < i; ++j) correlations += fmt::format("    - [A{}, A{}, 0.5]\n", i, j);
        basket += fmt::format("{}A{}", i > 0 ? ", " : "", i);
    }
    for (int i = 1; i <= steps; ++i) coupons += fmt::format("{}{}", i > 1 ? ", " : "", 0.1 * i / steps);
    return fmt::format(R"(
market:
  as_of: 2026-01-15
  currencies: {{USD: {{zero_rates: {{0.25: 0.03, 0.5: 0.03, 1.0: 0.03}}}}}}
  assets:
{}  correlations:
{}trades:
  - {{id: note, product: autocallable, basket: [{}], initial_level: 100, observations: {{start: 0, end: 1, count: {}}}, call_level: 1.0, coupon: [{}], protection: 0.6, notional: 100}}
)",
                       assets, correlations, basket, steps, coupons);
}

const std::array catalogue{
    example{"asian_by_date", &asian_by_date, {"delta", "vega", "rho"}, {"A.spot"}, 505, 1.7, 2.2, 3.5},
    example{"asian",
            &flat_asian,
            {"delta", "vega", "rho"},
            {"A.spot", "A.volatility", "USD.rate"},
            3,
            1.25,
            1.25,
            1.25},
    example{
        "heston_delta_and_rho", &heston_call, {"delta", "rho"}, {"A.spot", "USD.rate"}, 2, 1.25, 1.25, 1.25},
    example{"heston_full_truncation",
            &heston_call,
            {"delta", "parameter"},
            {"A.spot", "A.heston.v0", "A.heston.rho"},
            6,
            1.9,
            2.6},
    example{"worst_of_autocallable",
            &autocallable,
            {"delta", "vega", "rho", "correlation"},
            {"A0.spot", "A2.volatility@1y"},
            5 + 15 + 3 + 10,
            3,
            3},
};

// A correct sensitivity is off by more than this many standard errors once in 150,000 times.
constexpr double most_errors = 4.5;

bool have_same_bits(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

using by_key = std::map<std::string, const greek_row*>;
by_key to_keys(const results& of) {
    by_key out;
    for (const greek_row& g : of.greeks)
        if (!g.key.empty()) out.emplace(g.key, &g);
    return out;
}

std::string why_not_near(const greek_row& got, const greek_row& expected, const char* whose) {
    const double error = std::hypot(got.standard_error, expected.standard_error);
    // Differences of prices come with ten significant digits, hence the last term.
    const double most = most_errors * error + got.bias + expected.bias + 1e-9 * std::abs(expected.value);
    if (std::abs(got.value - expected.value) <= most) return {};
    return fmt::format("{} is {}, {} {}, further apart than {}", got.key, got.value, whose, expected.value,
                       most);
}

double milliseconds(double seconds) {
    return 1e3 * seconds;
}

}  // namespace

double example::target(std::string_view device, std::string_view precision) const {
    if (device == "cpu") return precision == "double" ? target_on_one_core : 0;
    if (precision == "single_fast") return target_in_single_fast;
    return precision == "double" ? target_on_gpu : 0;
}

std::span<const example> examples() {
    return catalogue;
}

std::string why_wrong(const results& got, const results& price, const results& on_cpu, const results& moved,
                      const example& of, bool has_bits_of_cpu) {
    for (const results* r : {&got, &price, &on_cpu, &moved}) {
        for (const price_row& p : r->rows)
            if (p.status == trade_status::failed) return p.trade + ": " + p.message;
        for (const greek_row& g : r->greeks)
            if (g.has_failed()) return g.key + ": " + g.message;
    }
    if (!have_same_bits(got.rows.at(0).price, price.rows.at(0).price))
        return fmt::format("the price beside sensitivities is {:.17g}, alone {:.17g}", got.rows[0].price,
                           price.rows[0].price);
    const by_key mine = to_keys(got), theirs = to_keys(on_cpu);
    if (mine.size() != of.numbers || theirs.size() != of.numbers)
        return fmt::format("found sensitivities to {} numbers, on the processor to {}, expected {}",
                           mine.size(), theirs.size(), of.numbers);
    for (const auto& [key, row] : mine) {
        const auto other = theirs.find(key);
        if (other == theirs.end()) return "the processor has no sensitivity to " + key;
        if (has_bits_of_cpu && !have_same_bits(row->value, other->second->value))
            return fmt::format("{} is {:.17g}, on the processor {:.17g}", key, row->value,
                               other->second->value);
        if (std::string why = why_not_near(*row, *other->second, "on the processor"); !why.empty())
            return why;
    }
    const by_key differences = to_keys(moved);
    for (const std::string& key : of.differenced) {
        const auto row = mine.find(key), other = differences.find(key);
        if (row == mine.end() || other == differences.end()) return "there is no sensitivity to " + key;
        if (std::string why = why_not_near(*row->second, *other->second, "by moving it"); !why.empty())
            return why;
    }
    return {};
}

void measure(const place& at, const example& of, const stop_rule& until, const std::atomic<bool>* cancel,
             const sink& to) {
    const bool is_on_cpu = at.device == "cpu";
    row made;
    made.suite = "greeks";
    made.axes = {{"of", of.name}, {"device", is_on_cpu ? "cpu" : "gpu"}, {"precision", at.precision}};
    if (at.threads > 0) made.axes["threads"] = at.threads;
    attempt(std::move(made), to, [&](row& r) {
        const engine e;
        const book b = book::parse(of.book(), "benchmark");
        const market& in = *b.market();
        const auto options = [&](const std::string& device, const std::string& precision,
                                 std::uint64_t paths) {
            run_options out;
            out.overrides.controls = technique::none;
            out.overrides.device = device;
            out.overrides.random = "philox";
            out.overrides.precision = precision_named(precision);
            out.overrides.paths = paths;
            if (device == "cpu" && at.threads > 0) out.overrides.threads = at.threads;
            out.cancel = cancel;
            return out;
        };
        const bool is_fast = at.precision == "single_fast";
        const run_options few = options(at.device, at.precision, at.checked),
                          on_cpu = options("cpu", is_fast ? "double" : at.precision, at.checked),
                          many = options(at.device, at.precision, at.paths);
        const greek_options wanted{of.wanted}, differences{of.differenced, greek_method::bump};
        r.wrong =
            why_wrong(e.greeks(b, in, wanted, few), e.price(b, in, few), e.greeks(b, in, wanted, on_cpu),
                      e.greeks(b, in, differences, on_cpu), of, !is_fast);
        if (!r.wrong.empty()) return;

        std::vector<double> calls;
        results last;
        const auto timed = [&](const std::function<results()>& call) {
            calls.clear();
            const auto sample = [&]() -> std::optional<double> {
                const double begin = seconds_now();
                last = call();
                calls.push_back(milliseconds(seconds_now() - begin));
                return milliseconds(last.manifest.path_seconds);
            };
            sample();  // compiles kernels and warms caches, untimed
            if (!is_on_cpu && last.manifest.devices.empty())
                throw error(error_kind::internal, "the GPU has walked none of it");
            calls.clear();
            return bench::measure(sample, until, seconds_now)->of;
        };
        const summary price = timed([&] { return e.price(b, in, many); });
        const double price_call = summarise(calls).median;
        const summary both = timed([&] { return e.greeks(b, in, wanted, many); });
        r.figures = {{"milliseconds", both.median},
                     {"noise", both.noise},
                     {"price_milliseconds", price.median},
                     {"price_noise", price.noise},
                     {"times_the_price", both.median / price.median}};
        if (const double target = of.target(is_on_cpu ? "cpu" : "gpu", at.precision); target > 0)
            r.figures["target_times_the_price"] = target;
        r.figures["numbers"] = of.numbers;
        // Walks in multiples of the trade's own. Smoothing of jumps takes more than one, to try widths.
        r.figures["walks"] =
            static_cast<double>(last.manifest.path_steps) / static_cast<double>(at.paths * steps);
        r.figures["call_milliseconds"] = summarise(calls).median;
        r.figures["price_call_milliseconds"] = price_call;
        r.figures["price"] = last.rows.at(0).price;
        r.figures["standard_error"] = last.rows.at(0).standard_error;
        r.figures["paths"] = at.paths;
        r.figures["steps"] = steps;
        if (!is_on_cpu) return;
        r.figures["instruction_set"] = last.manifest.instruction_set;
        r.figures["processor"] = processor_name();
    });
}

}  // namespace greeks

namespace {

constexpr std::uint64_t greek_paths_on_gpu = std::uint64_t{1} << 20, checked = std::uint64_t{1} << 14,
                        paths_on_one_core = std::uint64_t{1} << 14;

std::span<const greeks::example> greeks_asked_for(const request& r) {
    const auto all = greeks::examples();
    if (r.subject.empty()) return all;
    const auto found = std::ranges::find(all, r.subject, &greeks::example::name);
    if (found != all.end()) return {found, 1};
    std::vector<std::string> known;
    for (const greeks::example& e : all) known.emplace_back(e.name);
    throw error(error_kind::usage, "found " + config::shown(r.subject) + ", expected one of " +
                                       config::joined(known) + config::suggestion(r.subject, known));
}

}  // namespace

void check_greeks(const request& asked) {
    greeks_asked_for(asked);
}

void run_greeks_on_cpu(const cpu_bench& on, const request& asked, const std::string& why_no_gpu,
                       const sink& to) {
    for (const greeks::example& of : greeks_asked_for(asked)) {
        for (const char* const precision : {"single", "double"}) {
            on.says(fmt::format("greeks: {} on one core, {}", of.name, precision));
            greeks::measure({"cpu", precision, asked.paths > 0 ? asked.paths : paths_on_one_core, checked, 1},
                            of, on.until, on.cancel, to);
        }
        if (why_no_gpu.empty()) continue;
        row r;
        r.suite = "greeks";
        r.axes = {{"of", of.name}, {"device", "gpu"}};
        skip(std::move(r), to, why_no_gpu);
    }
}

void run_greeks(gpu_timer& on, const request& asked, const sink& to) {
    for (const greeks::example& of : greeks_asked_for(asked)) {
        for (const char* const precision : {"single_fast", "single", "double"}) {
            on.says(fmt::format("greeks: {}, {}", of.name, precision));
            greeks::measure(
                {"cuda", precision, asked.paths > 0 ? asked.paths : greek_paths_on_gpu, checked, 0}, of,
                on.until(), on.cancel, to);
        }
    }
    run_greeks_on_cpu({on.until(), on.says, on.cancel}, asked, "", to);
}

}  // namespace tilewalk::bench
