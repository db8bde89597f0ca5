// SPDX-License-Identifier: Apache-2.0
#include "bench/suites/points_of_paths.h"

#include <array>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "bench/measure/attempt.h"
#include "engine/market/market_state.h"
#include "engine/plan/trade_program.h"
#include "engine/reading/book_state.h"
#include "engine/walk/cuda/compile/decide.h"
#include "engine/walk/cuda/compile/kernel_text.h"
#include "engine/walk/tuning/path_timer.h"
#include "tilewalk/book.h"
#include "tilewalk/engine.h"

namespace tilewalk::bench::normals {

namespace {

using cuda::point_way;
using program::precision;

cuda::kernel_decision way_of(const tuning::workload& of, point_way way) {
    cuda::kernel_wish asked;
    asked.precision = of.precision;
    asked.reads_shocks = true;
    asked.points = way;
    return cuda::decide(asked, of.code, [](const cuda::kernel_decision&, int) { return true; });
}

constexpr std::array precisions{precision::double_, precision::single, precision::single_fast};
constexpr std::array days_of_trades{1, 4, 12, 32};

book asian_over(int days) {
    return book::parse(fmt::format(R"(
market: {{as_of: 2026-01-15, currencies: {{USD: {{rate: 0.05}}}}, assets: {{A: {{currency: USD, spot: 100, volatility: 0.2}}}}}}
trades:
  - {{id: asian, product: asian, underlying: A, strike: 100, averaging_dates: {{start: 0, end: 1, count: {}}}}}
)",
                                   days),
                       "benchmark");
}

// Says how the price differs from the CPU's by more than rounding; empty if it agrees. The CPU sums tiles
// otherwise, and has no single_fast, which is compared with single.
std::string why_not_the_cpus(const std::vector<kernels::tile_result>& tiles, const tuning::workload& of,
                             std::uint64_t paths) {
    double sum = 0;
    for (const kernels::tile_result& t : tiles) sum += t.moments.count * t.moments.mean;
    const double price = sum / static_cast<double>(paths);
    run_options options;
    options.overrides.controls = technique::none;
    options.overrides.paths = paths;
    options.overrides.seed = tuning::path_timer::seed;
    options.overrides.device = "cpu";
    options.overrides.random = "sobol";
    options.overrides.construction = construction::steps;
    const bool is_double = of.precision == precision::double_;
    options.overrides.precision = is_double ? precision::double_ : precision::single;
    const price_row expected =
        engine().price(asian_over(static_cast<int>(of.trades[0].when.steps())), options).rows.at(0);
    if (expected.status != trade_status::priced) return "the CPU can't price it: " + expected.message;
    const double most = is_double ? 1e-12 : of.precision == precision::single ? 1e-9 : 1e-5;
    if (std::abs(price - expected.price) <= most * expected.price) return {};
    return fmt::format("the price is {}, on the CPU {}", price, expected.price);
}

}  // namespace

std::vector<std::string> texts_of_points_of_paths() {
    std::vector<std::string> out;
    for (const precision in : precisions) {
        for (const int days : days_of_trades) {
            const tuning::workload of = asian_in_steps(in, days);
            for (const point_way way : {point_way::read, point_way::made})
                out.push_back(cuda::path_kernel_text(of.code, way_of(of, way)));
        }
    }
    return out;
}

tuning::workload asian_in_steps(precision in, int days) {
    const book b = asian_over(days);
    plan::trade_program made = plan::plan_trade(state_of(b).trades.at(0), state_of(*b.market()), in);
    tuning::workload out;
    out.name = fmt::format("asian over {} days", days);
    out.precision = in;
    out.code = std::move(made.code);
    out.trades.push_back({std::move(made.data), std::move(made.when)});
    out.points = quasi::points{quasi::construction::steps};
    return out;
}

void measure_points_of_paths(gpu_timer& on, std::uint64_t paths, const sink& to) {
    for (const precision in : precisions) {
        for (const int days : days_of_trades) {
            const tuning::workload of = asian_in_steps(in, days);
            const auto row_of = [&](const char* points) {
                row r;
                r.suite = "random";
                r.axes = {{"kind", "lone_trade"},
                          {"points", points},
                          {"dimensions", days},
                          {"precision", program::name_of(in)}};
                return r;
            };
            on.says("random: " + of.name + ", " + std::string(program::name_of(in)));
            std::vector<kernels::tile_result> of_rows;
            double milliseconds_of_rows = 0;
            const auto measure = [&](row& r, point_way way) {
                tuning::path_timer kernel(on, of, paths);
                const cuda::kernel_decision how = way_of(of, way);
                const auto ready = kernel.prepare(how, 0);
                const auto walk = [&] {
                    kernel.fill(how);
                    kernel.launch(how, ready);
                };
                walk();
                const auto got = kernel.results();
                if (way == point_way::read) {
                    r.wrong = why_not_the_cpus(got, of, kernel.paths());
                    if (!r.wrong.empty()) return;
                    of_rows = got;
                } else if (of_rows.size() != got.size() ||
                           std::memcmp(of_rows.data(), got.data(), got.size() * sizeof got[0]) != 0) {
                    r.wrong = "other bits than from rows";
                    return;
                }
                const auto t = on.time(walk);
                r.figures = figures_of(t);
                r.figures["paths"] = kernel.paths();
                r.figures["feed"] = cuda::described(how);
                if (way == point_way::read) {
                    milliseconds_of_rows = t.milliseconds.median;
                    r.figures["fill_milliseconds"] = on.time([&] { kernel.fill(how); }).milliseconds.median;
                } else if (milliseconds_of_rows > 0) {
                    r.over = row_of("rows").axes;
                    r.figures["ratio"] = milliseconds_of_rows / t.milliseconds.median;
                }
            };
            attempt(row_of("rows"), to, [&](row& r) { measure(r, point_way::read); });
            attempt(row_of("registers"), to, [&](row& r) { measure(r, point_way::made); });
        }
    }
}

}  // namespace tilewalk::bench::normals
