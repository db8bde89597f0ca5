// SPDX-License-Identifier: Apache-2.0
// Times the kernels that are generated from YAML, each alone and many times over: the Asian and the worst-of
// autocallable with shocks in registers, and the Asian with shocks from memory by every feed, at several
// occupancies. Results end in device memory; time is that of the path kernel between two events. Prints one
// JSON object a line; bench/gpu_figures.py sets them beside the hand-written kernels of bench/gpu_baselines.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/book/book_state.h"
#include "engine/cuda/best_choice.h"
#include "engine/cuda/device.h"
#include "engine/cuda/feeds.h"
#include "engine/cuda/kernel_store.h"
#include "engine/cuda/kernel_text.h"
#include "engine/cuda/memory.h"
#include "engine/cuda/packed_trades.h"
#include "engine/market/market_state.h"
#include "engine/plan/precision.h"
#include "engine/plan/trade_program.h"
#include "engine/random/fill_kernels.h"
#include "kernels/tile.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::bench {

namespace {

using cuda::kernel_choice;
using cuda::precision;
using kernels::word64;

constexpr word64 seed = 42;

// The cases of bench/gpu_baselines.cu, as a user writes them.
const std::string asian_book = R"(
market: {as_of: 2026-01-15, currencies: {USD: {rate: 0.05}}, assets: {A: {currency: USD, spot: 100, volatility: 0.2}}}
trades:
  - {id: asian, product: asian, underlying: A, strike: 100, averaging_dates: {start: 0, end: 1, count: 252}}
)";

std::string autocallable_book() {
    std::string coupons;
    for (int i = 1; i <= 252; ++i) coupons += (i > 1 ? ", " : "") + std::to_string(0.1 * i / 252);
    const char* volatilities[] = {"0.20", "0.25", "0.30", "0.22", "0.28"};
    std::string assets, correlations;
    for (int i = 0; i < 5; ++i) {
        const std::string name(1, static_cast<char>('A' + i));
        assets += "    " + name + ": {currency: USD, spot: 100, volatility: " + volatilities[i] + "}\n";
        for (int j = 0; j < i; ++j)
            correlations += "    - [" + name + ", " + static_cast<char>('A' + j) + ", 0.5]\n";
    }
    return "market:\n  as_of: 2026-01-15\n  currencies: {USD: {rate: 0.03}}\n  assets:\n" + assets +
           "  correlations:\n" + correlations +
           "trades:\n  - {id: autocallable, product: autocallable, basket: [A, B, C, D, E], "
           "initial_level: 100, observations: {start: 0, end: 1, count: 252}, call_level: 1.0, coupon: [" +
           coupons + "], protection: 0.6, notional: 100}\n";
}

// A trade in the program of each precision.
struct planned_trade {
    plan::trade_program fast, exact;

    const plan::trade_program& in(precision p) const { return p == precision::single_fast ? fast : exact; }
};

planned_trade planned(const std::string& text) {
    const book b = book::parse(text, "case");
    const auto& trade = b.state().trades.at(0);
    if (trade.failure) throw *trade.failure;
    return {plan::plan_trade(trade, b.market()->state(), precision::single_fast),
            plan::plan_trade(trade, b.market()->state())};
}

struct generated_case {
    std::string payoff;
    const plan::trade_program* trade = nullptr;
    word64 paths = 0;
    kernel_choice how;
    std::vector<int> warps;  // per multiprocessor; empty: as many as fit
    // Made before anything is timed.
    program::path_program code{};
    std::string failure{};
};

// A kernel of the device, loaded from the store.
class loaded_kernels {
  public:
    loaded_kernels(cuda::device& on, cuda::kernel_store& store) : on_(on), store_(store) {}

    cuda::kernel find(const std::string& text, const char* name) {
        auto at = modules_.find(text);
        if (at == modules_.end()) {
            const auto cubin = store_.cubin({text, on_.properties().architecture()});
            at = modules_.emplace(text, on_.load({cubin->data(), cubin->size()})).first;
        }
        return on_.find(at->second, name);
    }

  private:
    cuda::device& on_;
    cuda::kernel_store& store_;
    std::map<std::string, cuda::module> modules_;
};

// Compiles on all cores what will be wanted.
void warm(std::vector<generated_case>& cases, cuda::kernel_store& store, const std::string& architecture) {
    std::atomic<std::size_t> next{0};
    std::vector<std::jthread> threads;
    const unsigned count = std::max(1u, std::thread::hardware_concurrency());
    for (unsigned t = 0; t < count; ++t) {
        threads.emplace_back([&] {
            for (std::size_t i = next++; i < cases.size(); i = next++) {
                try {
                    store.cubin({cuda::path_kernel_text(cases[i].code, cases[i].how), architecture});
                } catch (const std::exception& e) {
                    cases[i].failure = e.what();
                }
            }
        });
    }
}

bool is_single(precision p) {
    return p == precision::single || p == precision::single_fast;
}

// A cube of the normals of a trade, of the type that the kernel reads.
class shock_cube {
  public:
    shock_cube(cuda::device& on, loaded_kernels& kernels, cuda::stream s, word64 paths, word64 rows,
               random::element of)
        : of_(of), pitch_(random::padded_paths(paths, of)), memory_(on, pitch_ * rows * bytes_of(of)) {
        const random::opening from{
            on,   [&](const std::string& text, const char* name) {
                                       return kernels.find(text, name); },
            seed, paths,
            rows, of};
        random::draw_cube(from, {memory_.as<void>(), pitch_, rows, random::shock_kind::normal}, 0, paths, s);
        on.wait(s);
    }

    random::element element() const { return of_; }
    kernels::array_argument argument(int normals_per_step) const {
        return {memory_.as<void>(), pitch_ * word64(normals_per_step), pitch_, 0};
    }

  private:
    random::element of_;
    word64 pitch_;
    cuda::device_memory memory_;
};

struct measured {
    double median, p10, p90;  // milliseconds
};

class workbench {
  public:
    workbench(cuda::device& on, loaded_kernels& kernels)
        : on_(on), kernels_(kernels), stream_(cuda::new_stream(on)) {}

    void measure(const generated_case& c) {
        const cuda::gpu_job job{&c.code, &c.trade->data, &c.trade->when};
        const auto packed = cuda::pack(
            {&job, 1}, is_single(c.how.precision) ? cuda::number_type::single : cuda::number_type::double_);
        if (packed.failures.at(0)) throw *packed.failures[0];
        const cuda::device_memory numbers = uploaded(packed.numbers), words = uploaded(packed.words),
                                  records = uploaded(packed.records);
        const auto tiles = static_cast<std::uint32_t>(kernels::tiles_of(c.paths));
        const cuda::device_memory results(on_, tiles * sizeof(kernels::tile_result));
        kernels::path_arguments a{};
        a.trades = records.as<kernels::trade_record>();
        a.numbers = numbers.as<void>();
        a.words = words.as<kernels::word32>();
        a.results = results.as<kernels::tile_result>();
        a.seed = seed;
        a.keys = kernels::schedule_of(seed);
        a.paths = c.paths;
        a.trade_count = 1;
        a.tiles = tiles;
        if (c.how.feed != "inline") {
            a.normal = cube_for(c).argument(c.code.normals_per_step);
        }
        const cuda::kernel k = kernels_.find(cuda::path_kernel_text(c.code, c.how), "walk");
        cuda::launch how{tiles, static_cast<std::uint32_t>(c.how.threads),
                         static_cast<std::uint32_t>(cuda::path_kernel_shared_bytes(c.code, c.how)), nullptr,
                         0};
        if (c.warps.empty()) {
            report(c, k, how, a, results);
            return;
        }
        int before = 0;
        for (const int warps : c.warps) {
            const int resident = limit(k, how, warps * 32 / c.how.threads);
            // More than fit, so that the last occupancy was this one already.
            if (resident == before) continue;
            before = resident;
            report(c, k, how, a, results);
        }
    }

  private:
    template <class value>
    cuda::device_memory uploaded(const std::vector<value>& from) {
        cuda::device_memory to(on_, from.size() * sizeof(value));
        on_.upload(to.as<void>(), from.data(), from.size() * sizeof(value), stream_.get());
        on_.wait(stream_.get());
        return to;
    }

    // One cube at a time: that of the Asian in double takes two gigabytes.
    const shock_cube& cube_for(const generated_case& c) {
        const auto of =
            c.how.precision == precision::double_ ? random::element::double_ : random::element::single_;
        if (!cube_ || cube_->element() != of) {
            cube_.reset();
            cube_.emplace(on_, kernels_, stream_.get(), c.paths,
                          c.trade->when.steps() * static_cast<word64>(c.code.normals_per_step), of);
        }
        return *cube_;
    }

    // Takes dynamic shared memory until at most `blocks` are resident; returns how many are.
    int limit(cuda::kernel k, cuda::launch& how, int blocks) {
        int resident = on_.attributes(k, how).blocks_per_multiprocessor;
        const auto most = static_cast<std::uint32_t>(on_.properties().shared_bytes_per_block);
        while (resident > blocks && how.shared_bytes + 512 <= most) {
            how.shared_bytes += 512;
            resident = on_.attributes(k, how).blocks_per_multiprocessor;
        }
        return resident;
    }

    measured time(cuda::kernel k, const cuda::launch& how, kernels::path_arguments& a) {
        constexpr int warm_up = 3;
        constexpr std::size_t repetitions = 21;
        void* arguments[] = {&a};
        for (int i = 0; i < warm_up; ++i) on_.run(k, how, arguments, stream_.get());
        std::vector<double> milliseconds;
        for (std::size_t i = 0; i < repetitions; ++i) {
            const auto begin = cuda::new_event(on_, stream_.get());
            on_.run(k, how, arguments, stream_.get());
            const auto end = cuda::new_event(on_, stream_.get());
            on_.wait(stream_.get());
            milliseconds.push_back(on_.milliseconds_between(begin.get(), end.get()));
        }
        std::sort(milliseconds.begin(), milliseconds.end());
        return {milliseconds[repetitions / 2], milliseconds[repetitions / 10],
                milliseconds[repetitions - 1 - repetitions / 10]};
    }

    void report(const generated_case& c, cuda::kernel k, const cuda::launch& how, kernels::path_arguments& a,
                const cuda::device_memory& results) {
        const auto attributes = on_.attributes(k, how);
        const measured m = time(k, how, a);
        std::vector<kernels::tile_result> tiles(how.blocks);
        on_.download(tiles.data(), results.as<void>(), results.bytes(), stream_.get());
        on_.wait(stream_.get());
        kernels::tile_result all{};
        for (const auto& t : tiles) all = kernels::merge(all, t);
        const double n = all.moments.count, path_steps = double(c.paths) * double(c.trade->when.steps());
        const bool streams = c.how.feed != "inline";
        const double bytes =
            streams ? path_steps * c.code.normals_per_step * (c.how.precision == precision::double_ ? 8 : 4)
                    : 0;
        static const char* const layouts[] = {"plain", "padded", "transposed"};
        std::printf(
            "{\"generated\": \"%s\", \"precision\": \"%s\", \"feed\": \"%s\", \"distance\": %d, \"rows\": "
            "%d, "
            "\"layout\": \"%s\", \"width\": %d, \"block\": %d, \"warps_per_multiprocessor\": %d, "
            "\"registers\": %d, \"local_bytes\": %zu, \"rate\": %.4g, \"unit\": \"path-steps/s\", "
            "\"bytes_per_second\": %.4g, \"milliseconds\": %.4f, \"p10\": %.4f, \"p90\": %.4f, "
            "\"price\": %.6f, \"standard_error\": %.6f, \"not_finite\": %llu}\n",
            c.payoff.c_str(), std::string(plan::name_of(c.how.precision)).c_str(), c.how.feed.c_str(),
            c.how.distance, c.how.rows, layouts[static_cast<int>(c.how.layout)], c.how.width, c.how.threads,
            attributes.blocks_per_multiprocessor * c.how.threads / 32, attributes.registers,
            attributes.local_bytes, path_steps / (m.median * 1e-3), bytes / (m.median * 1e-3), m.median,
            m.p10, m.p90, all.moments.mean, std::sqrt(all.moments.m2 / (n - 1) / n), all.not_finite);
        std::fflush(stdout);
    }

    cuda::device& on_;
    loaded_kernels& kernels_;
    cuda::owned_stream stream_;
    std::optional<shock_cube> cube_;
};

bool anything_fits(const kernel_choice&, int) {
    return true;
}

// Shocks in registers: every block and width, with the registers of the best choice and the compiler's.
void add_inline(const std::string& payoff, const planned_trade& trade, word64 paths,
                std::vector<generated_case>& to) {
    for (const precision p :
         {precision::single_fast, precision::single, precision::mixed, precision::double_}) {
        for (const int threads : {64, 128, 256}) {
            for (const int width : {1, 2, 4}) {
                generated_case c{payoff, &trade.in(p), paths, {}, {}};
                c.how.precision = p;
                c.how.feed = "inline";
                c.how.threads = threads;
                c.how.width = width;
                c.how.blocks = kernel_choice::automatic_blocks;
                c.how = best_choice(c.how, c.trade->code, anything_fits);
                to.push_back(c);
                if (c.how.blocks == 0) continue;
                c.how.blocks = 0;
                to.push_back(c);
            }
        }
    }
}

// Shocks from memory: every feed, with few warps on a multiprocessor and with many.
void add_streamed(const planned_trade& trade, word64 paths, std::vector<generated_case>& to) {
    for (const precision p : {precision::single_fast, precision::double_}) {
        for (const auto& feed : cuda::feeds()) {
            if (!feed.makes_use_of(cuda::feed_entry::array)) continue;
            const bool has_distance = feed.makes_use_of(cuda::feed_entry::distance);
            const bool has_rows = feed.makes_use_of(cuda::feed_entry::rows);
            for (const int width : {1, 2, 4}) {
                for (const int distance : has_rows       ? std::vector{24}
                                          : has_distance ? std::vector{6, 8, 12}
                                                         : std::vector{8}) {
                    generated_case c{"asian", &trade.in(p), paths, {}, {64, 32, 16, 8}};
                    c.how.precision = p;
                    c.how.feed = std::string(feed.name);
                    c.how.distance = distance;
                    c.how.rows = has_rows ? 12 : c.how.rows;
                    c.how.width = width;
                    c.how.layout = kernels::ring_layout::padded;
                    to.push_back(c);
                    if (!feed.makes_use_of(cuda::feed_entry::layout)) continue;
                    c.how.layout = kernels::ring_layout::transposed;
                    to.push_back(c);
                }
            }
        }
    }
}

int run() {
    const auto device = cuda::open_device(0);
    cuda::kernel_store store(cuda::nvrtc_compiler(), cuda::default_cache_folder());
    loaded_kernels kernels(*device, store);
    const planned_trade asian = planned(asian_book), autocallable = planned(autocallable_book());
    std::vector<generated_case> cases;
    add_inline("asian", asian, word64{1} << 20, cases);
    add_inline("autocallable", autocallable, word64{1} << 18, cases);
    add_streamed(asian, word64{1} << 20, cases);

    const auto& p = device->properties();
    for (generated_case& c : cases) {
        c.code = c.how.precision == precision::single_fast ? program::contract(c.trade->code) : c.trade->code;
        try {
            check(c.how, c.code.slots_per_step(), {p.major, p.minor, p.shared_bytes_per_block});
        } catch (const error& e) {
            c.failure = e.message();
        }
    }
    // What the device can't do is no case of it.
    std::erase_if(cases, [](const generated_case& c) { return !c.failure.empty(); });
    warm(cases, store, p.architecture());
    workbench bench(*device, kernels);
    int failures = 0;
    for (const generated_case& c : cases) {
        try {
            if (!c.failure.empty()) throw error(error_kind::compile, c.failure);
            bench.measure(c);
        } catch (const std::exception& e) {
            ++failures;
            std::fprintf(stderr, "%s, %s, %s, distance %d, width %d, block %d: %s\n", c.payoff.c_str(),
                         std::string(plan::name_of(c.how.precision)).c_str(), c.how.feed.c_str(),
                         c.how.distance, c.how.width, c.how.threads, e.what());
        }
    }
    return failures == 0 ? 0 : 1;
}

}  // namespace

}  // namespace tilewalk::bench

int main() {
    try {
        return tilewalk::bench::run();
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
