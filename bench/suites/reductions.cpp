// SPDX-License-Identifier: Apache-2.0
// The suite `reductions`: every way to sum payoffs, at the end of a path kernel that does little else, and
// alone on payoffs in memory. Before timing, ten runs each show whether bits are as promised.
#include "bench/suites/reductions.h"

#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <optional>
#include <utility>

#include "bench/measure/attempt.h"
#include "bench/measure/suites.h"
#include "bench/measure/timing.h"
#include "engine/walk/cuda/compile/kernel_text.h"
#include "engine/walk/cuda/random/fill_kernels.h"
#include "kernels/arguments.h"
#include "kernels/tile.h"
#include "tilewalk/error.h"

namespace tilewalk::bench {

namespace reductions {

namespace {

using kernels::tile_result;

constexpr double spot = 100, strike = 100, rate = 0.05, volatility = 0.2;
constexpr std::uint32_t threads = 256;
constexpr int runs = 10;
constexpr std::array<int, 7> sizes_log2{12, 14, 16, 18, 20, 22, 24};

double normal_cdf(double x) {
    return 0.5 * std::erfc(-x / std::sqrt(2.0));
}

}  // namespace

planned_walk cheap_walk(const cuda::reduction_entry& by) {
    cuda::kernel_wish how;
    how.reduction = by.name;
    how[cuda::knobs::width] = 1;
    how[cuda::knobs::block] = threads;
    how.blocks = 0;
    return plan_walk(
        "market: {as_of: 2026-01-15, currencies: {USD: {rate: 0.05}}, assets: {A: {currency: USD, spot: 100, "
        "volatility: 0.2}}}\n"
        "trades:\n  - {id: european, product: european, underlying: A, option: call, strike: 100, maturity: "
        "1.0}\n",
        how);
}

double closed_form() {
    const double above = (std::log(spot / strike) + rate) / volatility + 0.5 * volatility;
    return spot * normal_cdf(above) - strike * std::exp(-rate) * normal_cdf(above - volatility);
}

std::string reduce_text(const cuda::reduction_entry& by) {
    const std::string name(by.name);
    return "#include \"" + by.header() +
           "\"\n#include \"kernels/studies/reduce.h\"\n"
           "extern \"C\" __global__ void __launch_bounds__(256)\n"
           "reduce(const __grid_constant__ tilewalk::kernels::path_arguments a) {\n"
           "    extern __shared__ __align__(16) char shared[];\n"
           "    tilewalk::kernels::studies::reduce<tilewalk::kernels::reductions::" +
           name + "<256>>(a, shared);\n}\n";
}

tile_result on_host(std::vector<double> payoffs) {
    std::vector<kernels::moments> tiles;
    for (std::size_t first = 0; first < payoffs.size(); first += kernels::paths_per_tile) {
        tiles.push_back(kernels::tile_moments(payoffs.data() + first, kernels::paths_per_tile));
    }
    return {kernels::merge_tiles(tiles.data(), tiles.size()), 0, ~kernels::word64{0}};
}

bool same_bits(const tile_result& a, const tile_result& b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
}

std::string why_not_alike(const tile_result& got, const tile_result& tree, bool keeps_bits) {
    if (same_bits(got, tree)) return {};
    if (keeps_bits) return "other bits than those of tree, which it promises";
    // Tolerances for a sum in another order: the mean may be off by a few roundings of a tile's sum, the
    // squares around it by these and by roundings of their own.
    const double n = tree.moments.count, deviation = std::sqrt(tree.moments.m2 / n);
    const bool alike =
        got.moments.count == n && got.not_finite == tree.not_finite &&
        std::abs(got.moments.mean - tree.moments.mean) <= 1e-12 * (std::abs(tree.moments.mean) + deviation) &&
        std::abs(got.moments.m2 - tree.moments.m2) <= 1e-10 * tree.moments.m2;
    return alike ? "" : "the result is not that of tree, by more than rounding";
}

namespace {

struct reducer {
    std::function<void()> run;
    std::function<tile_result()> result;
};

class lone {
  public:
    lone(gpu_timer& on, const cuda::reduction_entry& by, double* payoffs, std::uint64_t paths)
        : on_(on),
          by_(by),
          reduce_(by.stores_payoffs ? cuda::kernel{} : on.find(reduce_text(by), "reduce")),
          merge_(on.find(cuda::merge_kernel_text(), "merge_tiles")),
          results_(on.device(), kernels::tiles_of(paths) * sizeof(tile_result)),
          merged_(on.device(), sizeof(tile_result)),
          finished_(on.device(), sizeof(kernels::word32)),
          waits_(on.device(), {on.stream()}) {
        check(by, on.device().properties());
        arguments_.payoffs = payoffs;
        arguments_.results = results_.as<tile_result>();
        arguments_.merged = merged_.as<tile_result>();
        arguments_.finished = finished_.as<kernels::word32>();
        arguments_.paths = paths;
        arguments_.tiles = static_cast<kernels::word32>(kernels::tiles_of(paths));
        arguments_.part_tiles = arguments_.tiles;
        on.device().fill(merged_.as<void>(), 0xff, merged_.bytes(), on.stream());
    }

    void run() {
        cuda::device& device = on_.device();
        if (by_.merges_tiles) device.fill(finished_.as<void>(), 0, finished_.bytes(), on_.stream());
        if (by_.stores_payoffs) {
            device.reduce_stored(
                {arguments_.payoffs, arguments_.results, 1, arguments_.tiles, 0, arguments_.paths},
                on_.stream());
        } else {
            void* arguments[] = {&arguments_};
            cuda::launch how;
            how.blocks = arguments_.tiles;
            how.threads = threads;
            how.shared_bytes =
                kernels::paths_per_tile * sizeof(double) + static_cast<std::uint32_t>(by_.shared_bytes);
            on_.run(reduce_, how, arguments);
        }
        if (by_.merges_tiles) return;
        kernels::merge_arguments merge{arguments_.results, arguments_.merged, arguments_.tiles,
                                       arguments_.tiles};
        void* arguments[] = {&merge};
        cuda::launch how;
        how.threads = threads;
        on_.run(merge_, how, arguments);
    }
    tile_result result() { return on_.downloaded<tile_result>(merged_.as<void>(), 1).at(0); }

  private:
    gpu_timer& on_;
    const cuda::reduction_entry& by_;
    cuda::kernel reduce_, merge_;
    cuda::device_memory results_, merged_, finished_;
    kernels::path_arguments arguments_{};
    cuda::in_flight waits_;
};

class comparison {
  public:
    comparison(gpu_timer& on, const char* kind, std::uint64_t paths) : on_(on), kind_(kind), paths_(paths) {}

    row new_row(const cuda::reduction_entry& by) const {
        row r;
        r.suite = "reductions";
        r.axes = {{"kind", kind_}, {"reduction", by.name}, {"paths", paths_}};
        return r;
    }

    // Checks and times a reduction. `why_not` says what is wrong with the result of `tree`; empty if right.
    void measure(row& r, const cuda::reduction_entry& by, const reducer& reduce,
                 const std::function<std::string(const tile_result&)>& why_not) {
        const bool is_tree = &by == &cuda::reductions().front();
        reduce.run();
        const tile_result first = reduce.result();
        int differ = 0;
        for (int i = 1; i < runs; ++i) {
            reduce.run();
            if (!same_bits(reduce.result(), first)) ++differ;
        }
        if (is_tree) {
            r.wrong = why_not(first);
            if (r.wrong.empty()) tree_ = first;
        } else if (!tree_) {
            r.wrong = "there is no right result of tree to compare with";
        } else {
            r.wrong = why_not_alike(first, *tree_, by.keeps_bits);
        }
        if (r.wrong.empty() && by.keeps_bits && differ > 0) {
            r.wrong = "promises one result, and " + std::to_string(differ) + " of " + std::to_string(runs) +
                      " runs gave other bits";
        }
        if (!r.wrong.empty()) return;
        const auto t = on_.time(reduce.run);
        r.figures = figures_of(t);
        r.figures["payoffs_per_second"] = static_cast<double>(paths_) / (t.milliseconds.median * 1e-3);
        r.figures["bits_differ_runs"] = differ;
        r.figures["promised"] = by.keeps_bits ? "the bits of tree in every run" : "no bits";
        if (is_tree) {
            milliseconds_ = t.milliseconds.median;
        } else {
            r.over = new_row(cuda::reductions().front()).axes;
            r.figures["ratio"] = milliseconds_ / t.milliseconds.median;
        }
    }

  private:
    gpu_timer& on_;
    const char* kind_;
    std::uint64_t paths_;
    std::optional<tile_result> tree_;
    double milliseconds_ = 0;
};

std::string why_skipped(const cuda::reduction_entry& by, const gpu_timer& on) {
    try {
        check(by, on.device().properties());
        return {};
    } catch (const error& e) {
        return e.message();
    }
}

void measure_walks(gpu_timer& on, std::uint64_t paths, const sink& to) {
    comparison all(on, "path_kernel", paths);
    for (const auto& by : cuda::reductions()) {
        if (const std::string why = why_skipped(by, on); !why.empty()) {
            skip(all.new_row(by), to, why);
            continue;
        }
        attempt(all.new_row(by), to, [&](row& r) {
            const planned_walk planned = cheap_walk(by);
            timed_walk w(on, planned, paths);
            all.measure(r, by, {[&] { w.run(); }, [&] { return w.result(); }},
                        [&](const tile_result& got) -> std::string {
                            const estimate e = estimate_of(got);
                            const bool right = got.moments.count == static_cast<double>(paths) &&
                                               std::abs(e.price - closed_form()) <= 5 * e.standard_error;
                            return right ? ""
                                         : "the price is " + std::to_string(e.price) + " +- " +
                                               std::to_string(e.standard_error) + ", exactly " +
                                               std::to_string(closed_form());
                        });
        });
    }
}

void measure_alone(gpu_timer& on, std::uint64_t paths, const sink& to) {
    comparison all(on, "alone", paths);
    const cuda::device_memory payoffs(on.device(), paths * sizeof(double));
    const random::opening from{on.device(),
                               [&](const std::string& text, const char* name) { return on.find(text, name); },
                               timed_walk::seed,
                               paths,
                               1,
                               arrays::element::double_};
    random::draw_cube(from, {payoffs.as<void>(), paths, 1, random::shock_kind::normal}, 0, paths,
                      on.stream());
    const tile_result expected = on_host(on.downloaded<double>(payoffs.as<void>(), paths));
    for (const auto& by : cuda::reductions()) {
        if (const std::string why = why_skipped(by, on); !why.empty()) {
            skip(all.new_row(by), to, why);
            continue;
        }
        attempt(all.new_row(by), to, [&](row& r) {
            lone l(on, by, payoffs.as<double>(), paths);
            all.measure(r, by, {[&] { l.run(); }, [&] { return l.result(); }},
                        [&](const tile_result& got) -> std::string {
                            return same_bits(got, expected) ? "" : "other bits than on the host";
                        });
            if (!r.wrong.empty()) return;
            const double milliseconds = r.figures["milliseconds"];
            const double bytes = static_cast<double>(paths) * sizeof(double);
            r.figures["bytes_per_second"] = bytes / (milliseconds * 1e-3);
            r.figures["share_of_copy"] = bytes / (milliseconds * 1e-3) / on.copy_rate();
        });
    }
}

}  // namespace

}  // namespace reductions

void run_reductions(gpu_timer& on, const request&, const sink& to) {
    std::vector<std::string> texts{cuda::merge_kernel_text(),
                                   random::draw_text(arrays::element::double_, random::shock_kind::normal)};
    for (const auto& by : cuda::reductions()) {
        texts.push_back(reductions::cheap_walk(by).text());
        if (!by.stores_payoffs) texts.push_back(reductions::reduce_text(by));
    }
    on.compile(texts);
    for (const int log2 : reductions::sizes_log2) {
        on.says("reductions: 2^" + std::to_string(log2) + " paths");
        reductions::measure_walks(on, std::uint64_t{1} << log2, to);
        reductions::measure_alone(on, std::uint64_t{1} << log2, to);
    }
}

}  // namespace tilewalk::bench
