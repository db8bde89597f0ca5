// SPDX-License-Identifier: Apache-2.0
// The suite `calls`: percentiles of the times of calls that a service makes often: reading a book, pricing
// three small trades, pricing them as a prepared book in the same and in a moved market, and stopping a long
// run. Checks first that calls that price alike give equal bits.
#include "bench/suites/calls.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "bench/measure/attempt.h"
#include "tilewalk/book.h"
#include "tilewalk/engine.h"
#include "tilewalk/error.h"
#include "tilewalk/session.h"

namespace tilewalk::bench {

namespace calls {

namespace {

using clock = std::chrono::steady_clock;

double milliseconds_since(clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(clock::now() - begin).count();
}

std::string market_text(double spot) {
    return fmt::format(R"(as_of: 2026-01-15
currencies: {{USD: {{rate: 0.03}}}}
assets:
  ACME: {{currency: USD, spot: {}, volatility: 0.2}}
  BETA: {{currency: USD, spot: 50, volatility: {{0.5: 0.2, 2.0: 0.25}}}}
correlations: [[ACME, BETA, 0.5]]
)",
                       spot);
}

const std::string book_text = R"(
trades:
  - {id: call, product: european, underlying: ACME, strike: 100, maturity: 1.0}
  - {id: asian, product: asian, underlying: ACME, strike: 100, averaging_dates: {start: 0, end: 1, count: 12}}
  - {id: worst, product: worst_of, basket: [ACME, BETA], initial_level: [100, 50], strike: 0.9, maturity: 1.0}
)";

void expect_same_bits(const results& got, const results& wanted) {
    if (got.rows.size() != wanted.rows.size()) throw error(error_kind::internal, "a call has other rows");
    for (std::size_t i = 0; i < got.rows.size(); ++i) {
        const price_row &a = got.rows[i], &b = wanted.rows[i];
        if (a.status == trade_status::failed) throw error(error_kind::internal, a.trade + ": " + a.message);
        if (std::memcmp(&a.price, &b.price, sizeof a.price) != 0 ||
            std::memcmp(&a.standard_error, &b.standard_error, sizeof a.standard_error) != 0)
            throw error(error_kind::internal, a.trade + " has other bits than a plain call's");
    }
}

// Milliseconds of `times` calls, after one more call that warms up.
template <class F>
std::vector<double> timed(int times, const F& call) {
    call(0);
    std::vector<double> out;
    for (int k = 1; k <= times; ++k) {
        const auto begin = clock::now();
        call(k);
        out.push_back(milliseconds_since(begin));
    }
    return out;
}

json figures_of(const std::vector<double>& samples) {
    const percentiles p = percentiles_of(samples);
    return {{"milliseconds", p.p50},
            {"p95_milliseconds", p.p95},
            {"p99_milliseconds", p.p99},
            {"samples", samples.size()}};
}

// Milliseconds from the request to stop a run until the run has returned.
double stopped(const engine& e, const book& trades, const market& in, run_options options) {
    std::atomic<bool> stop{false};
    clock::time_point told{};
    options.cancel = &stop;
    options.on_progress = [&](const progress& p) {
        if (stop || p.path_steps_done == 0) return;
        told = clock::now();
        stop = true;
    };
    try {
        e.price(trades, in, options);
    } catch (const error& what) {
        if (what.kind() != error_kind::cancelled) throw;
        return milliseconds_since(told);
    }
    throw error(error_kind::internal, "the run ended before it was told to stop");
}

}  // namespace

percentiles percentiles_of(std::vector<double> samples) {
    if (samples.empty()) return {};
    std::ranges::sort(samples);
    const auto rank = [&](double share) {
        const double nth = std::ceil(share * static_cast<double>(samples.size()));
        return samples[static_cast<std::size_t>(std::max(nth, 1.0)) - 1];
    };
    return {rank(0.5), rank(0.95), rank(0.99)};
}

void measure_reading(const sizes& of, const sink& to) {
    const std::string text = book_text, of_market = market_text(100);
    row read;
    read.suite = "calls";
    read.axes = {{"call", "read a book and its market"}, {"device", "cpu"}};
    attempt(std::move(read), to, [&](row& r) {
        r.figures = figures_of(timed(of.readings, [&](int) {
            const market in = market::parse(of_market);
            if (book::parse(text).size() != 3 || in.as_of().empty())
                throw error(error_kind::internal, "the book has not its trades");
        }));
    });
}

void measure(const std::string& device, const sizes& of, const std::function<void(const std::string&)>& says,
             const std::atomic<bool>* cancel, const sink& to) {
    const book trades = book::parse(book_text);
    const std::vector<market> in{market::parse(market_text(100)), market::parse(market_text(101))};
    const engine e;
    run_options options;
    options.overrides.controls = technique::none;
    options.overrides.device = device;
    options.overrides.paths = of.paths;
    options.overrides.random = "philox";
    options.cancel = cancel;
    const auto row_of = [&](const std::string& call, std::uint64_t paths) {
        says(device + ": " + call);
        row r;
        r.suite = "calls";
        r.axes = {{"call", call},
                  {"device", device == "cpu" ? "cpu" : "gpu"},
                  {"trades", trades.size()},
                  {"paths", paths}};
        return r;
    };
    std::vector<results> wanted;
    const auto add = [&](const std::string& call, const std::function<results(int)>& priced, int markets) {
        attempt(row_of(call, of.paths), to, [&](row& r) {
            if (wanted.empty()) {
                for (const market& m : in) wanted.push_back(e.price(trades, m, options));
            }
            for (int k = 0; k < 2 * markets; ++k)
                expect_same_bits(priced(k), wanted[static_cast<std::size_t>(k % markets)]);
            r.figures = figures_of(timed(of.calls, priced));
        });
    };
    add(
        "price", [&](int) { return e.price(trades, in[0], options); }, 1);
    const session open = e.open(trades);
    add(
        "prepared", [&](int) { return open.price(in[0], options); }, 1);
    add(
        "prepared, a spot has moved",
        [&](int k) { return open.price(in[static_cast<std::size_t>(k % 2)], options); }, 2);
    run_options long_run = options;
    long_run.overrides.paths = of.paths_to_cancel;
    attempt(row_of("stop a run", of.paths_to_cancel), to, [&](row& r) {
        std::vector<double> samples;
        for (int k = 0; k < of.stops; ++k) {
            if (cancel != nullptr && cancel->load())
                throw error(error_kind::cancelled, "the run was stopped");
            samples.push_back(stopped(e, trades, in[0], long_run));
        }
        r.figures = figures_of(samples);
    });
}

}  // namespace calls

namespace {

calls::sizes sizes_for(const request& asked) {
    calls::sizes of;
    if (asked.paths > 0) of.paths = asked.paths;
    return of;
}

}  // namespace

void run_calls_on_cpu(const cpu_bench& on, const request& asked, const std::string&, const sink& to) {
    calls::measure_reading(sizes_for(asked), to);
    calls::measure("cpu", sizes_for(asked), on.says, on.cancel, to);
}

void run_calls(gpu_timer& on, const request& asked, const sink& to) {
    calls::measure_reading(sizes_for(asked), to);
    calls::measure("cpu", sizes_for(asked), on.says, on.cancel, to);
    calls::measure("cuda", sizes_for(asked), on.says, on.cancel, to);
}

}  // namespace tilewalk::bench
