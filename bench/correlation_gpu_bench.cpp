// SPDX-License-Identifier: Apache-2.0
// Benchmark of correlated assets on a GPU: from how many assets on is a kernel ahead of the path kernel
// faster at correlating (engine/walk/cuda/compile/correlation.h)? `tilewalk bench tiles` times such kernels.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/plan/trade_program.h"
#include "engine/reading/book_state.h"
#include "engine/walk/cuda/compile/compiler.h"
#include "engine/walk/cuda/compile/correlation.h"
#include "engine/walk/cuda/compile/kernel_store.h"
#include "engine/walk/cuda/compile/kernel_text.h"
#include "engine/walk/cuda/device/device.h"
#include "engine/walk/cuda/device/memory.h"
#include "engine/walk/cuda/paths/launcher.h"
#include "engine/walk/cuda/paths/noise_rows.h"
#include "engine/walk/cuda/paths/packed_trades.h"
#include "engine/walk/cuda/random/catalogue.h"
#include "engine/walk/cuda/random/random_source.h"
#include "kernels/arguments.h"
#include "kernels/tile.h"
#include "kernels/tile_result.h"
#include "products/program/moves.h"
#include "tilewalk/book.h"
#include "tilewalk/error.h"

namespace {

using namespace tilewalk;
using cuda::device_memory;
using cuda::precision;
using kernels::tile_result;

constexpr auto stream = cuda::stream::standard;

struct gpu {
    explicit gpu(int index) : loaded(cuda::open_device(index)) {}

    cuda::loaded_device loaded;
    cuda::kernel_store store{cuda::nvrtc_compiler(), cuda::default_cache_folder()};

    cuda::device& on() { return loaded.get(); }
    cuda::kernel kernel_of(const std::string& text, const char* name) {
        return loaded.find(store.cubin({text, on().properties().architecture()}), name);
    }
    template <class work>
    double seconds(const work& act) {
        const auto begin = cuda::new_event(on(), stream);
        act();
        const auto end = cuda::new_event(on(), stream);
        on().wait(stream);
        return on().milliseconds_between(begin.get(), end.get()) / 1000;
    }
};

gpu& the_gpu() {
    static const std::unique_ptr<gpu> found = [] {
        for (const auto& d : cuda::survey_devices().devices) {
            if (d.why_not.empty()) return std::make_unique<gpu>(d.properties.index);
        }
        throw error(error_kind::device, "there is no GPU that can be used");
    }();
    return *found;
}

std::size_t bytes_of_real(precision p) {
    return bytes_of(program::real_type(p));
}

struct cube_memory {
    std::uint64_t pitch, rows;
    device_memory memory;

    cube_memory(std::uint64_t paths, std::uint64_t rows_, precision p)
        : pitch(random::padded_paths(paths, arrays::element::single_)),
          rows(rows_),
          memory(the_gpu().on(), rows_ * pitch * bytes_of_real(p)) {}

    kernels::array_argument argument(std::uint64_t per_step) const {
        return {memory.as<void>(), per_step * pitch, pitch, 0};
    }
};

class filler {
  public:
    filler(std::uint64_t paths, std::uint64_t rows, precision p, const plan::trade_program& t)
        : keyed_(rows_of(t).keyed(the_gpu().on(), slots_, stream)),
          paths_(kernels::tiles_of(paths) * kernels::paths_per_tile),
          source_(random::catalogue()[0].open(
              {the_gpu().on(),
               [](const std::string& text, const char* name) { return the_gpu().kernel_of(text, name); },
               seed, paths, rows, program::shock_type(p)})) {}

    void fill(const cube_memory& c) {
        source_->fill({c.memory.as<void>(), c.pitch, c.rows, random::shock_kind::normal, keyed_}, 0, paths_,
                      stream);
    }

    static constexpr std::uint64_t seed = 42;

  private:
    static cuda::noise_rows rows_of(const plan::trade_program& t) {
        cuda::noise_rows out;
        out.add(t.code.normal_streams, t.code.normals_per_step, t.data.normal_names, t.when.steps());
        return out;
    }

    std::vector<device_memory> slots_;
    std::vector<random::keyed_rows> keyed_;
    std::uint64_t paths_;
    std::unique_ptr<random::random_source> source_;
};

device_memory uploaded(const void* from, std::size_t bytes) {
    device_memory out(the_gpu().on(), bytes);
    the_gpu().on().upload(out.as<void>(), from, bytes, stream);
    the_gpu().on().wait(stream);
    return out;
}

// A call on the mean of a basket over the last of `steps` dates, all assets correlated.
plan::trade_program basket_trade(int assets, int steps) {
    std::string market, names, correlations;
    for (int i = 0; i < assets; ++i) {
        const std::string name = "A" + std::to_string(i);
        market +=
            "    " + name + ": {currency: USD, spot: " + std::to_string(50 + i) + ", volatility: 0.2}\n";
        names += (i > 0 ? ", " : "") + name;
        for (int j = 0; j < i; ++j) correlations += "    - [A" + std::to_string(j) + ", " + name + ", 0.4]\n";
    }
    const auto b =
        book::parse("market:\n  as_of: 2026-01-15\n  currencies: {USD: {rate: 0.03}}\n  assets:\n" + market +
                    "  correlations:" + (correlations.empty() ? " []\n" : "\n" + correlations) +
                    "products:\n  - product: mean_of_basket\n    summary: Call on the mean of a basket.\n    "
                    "parameters:\n"
                    "      basket: {type: asset_list, help: The assets.}\n"
                    "      dates: {type: schedule, help: The days that count.}\n"
                    "    example: {basket: [A0], dates: [1.0]}\n"
                    "    script: |\n      mean = 0\n      on dates:\n"
                    "          mean = mean + average(spot(a) for a in basket) / size(dates)\n"
                    "      on last(dates):\n          pay max(mean - 60, 0)\n"
                    "trades:\n  - {id: t, product: mean_of_basket, basket: [" +
                    names + "], dates: {start: 0, end: 1, count: " + std::to_string(steps) + "}}\n");
    const auto& t = state_of(b).trades.at(0);
    if (t.failure) throw *t.failure;
    return plan::plan_trade(t, state_of(*b.market()));
}

class timed_walk {
  public:
    timed_walk(const program::path_program& code, const program::path_data& data,
               const program::timeline& when, const cuda::kernel_decision& how, std::uint64_t paths)
        : threads_(static_cast<std::uint32_t>(how[cuda::knobs::block])),
          shared_bytes_(static_cast<std::uint32_t>(cuda::path_kernel_shared_bytes(code, how))),
          kernel_(the_gpu().kernel_of(cuda::path_kernel_text(code, how), "walk")) {
        const run::job job{&code, &data, &when};
        const auto packed = cuda::pack({&job, 1}, program::real_type(how.precision));
        if (packed.failures[0]) throw *packed.failures[0];
        numbers_ = uploaded(packed.numbers.data(), packed.numbers.size());
        words_ = uploaded(packed.words.data(), packed.words.size() * sizeof(kernels::word32));
        record_ = uploaded(packed.records.data(), sizeof(kernels::trade_record));
        const std::uint64_t tiles = kernels::tiles_of(paths);
        results_.emplace(the_gpu().on(), tiles * sizeof(tile_result));
        arguments_.trades = record_->as<kernels::trade_record>();
        arguments_.numbers = numbers_->as<void>();
        arguments_.words = words_->as<kernels::word32>();
        arguments_.results = results_->as<tile_result>();
        arguments_.seed = filler::seed;
        arguments_.keys = kernels::schedule_of(filler::seed);
        arguments_.paths = paths;
        arguments_.trade_count = 1;
        arguments_.tiles = static_cast<kernels::word32>(tiles);
        arguments_.part_tiles = arguments_.tiles;
    }

    void run(const kernels::array_argument& normals) {
        arguments_.normal = normals;
        void* arguments[] = {&arguments_};
        the_gpu().on().run(kernel_, {arguments_.tiles, threads_, shared_bytes_}, arguments, stream);
    }

    std::vector<std::byte> results() const {
        std::vector<std::byte> out(results_->bytes());
        the_gpu().on().download(out.data(), results_->as<void>(), out.size(), stream);
        the_gpu().on().wait(stream);
        return out;
    }
    // Bytes of local memory per thread, for numbers that did not fit into registers.
    double local_bytes() const {
        return static_cast<double>(
            the_gpu().on().attributes(kernel_, {arguments_.tiles, threads_, shared_bytes_}).local_bytes);
    }

  private:
    std::uint32_t threads_, shared_bytes_;
    cuda::kernel kernel_;
    std::optional<device_memory> numbers_, words_, record_, results_;
    kernels::path_arguments arguments_{};
};

// The place where normals are correlated: in the path kernel (drawn there or read from memory), or ahead.
enum class way { in_kernel_inline, in_kernel_from_memory, ahead };

void price_basket_repeatedly(benchmark::State& state, way how, precision p) {
    constexpr std::uint64_t paths = 1 << 20;
    constexpr int steps = 12;
    const auto assets = static_cast<std::size_t>(state.range(0));
    const plan::trade_program t = basket_trade(static_cast<int>(assets), steps);
    cuda::kernel_decision built;
    built.precision = p;
    built.feed = how == way::in_kernel_inline ? "inline" : "none";

    std::optional<program::separated_moves> separated;
    program::path_data data = t.data;
    if (how == way::ahead) {
        separated = program::separate_moves(t.code);
        if (!separated) throw error(error_kind::internal, "the moves of a basket can't be taken out");
        data = program::data_of_code(*separated, t.data);
    }
    const auto begin = std::chrono::steady_clock::now();
    timed_walk path_kernel(separated ? separated->code : t.code, data, t.when, built, paths);
    const std::chrono::duration<double> built_in = std::chrono::steady_clock::now() - begin;

    const std::uint64_t rows = how == way::in_kernel_inline ? 1 : assets * steps;
    const cube_memory shocks(paths, rows, p), moves(paths, how == way::ahead ? rows : 1, p);
    filler normals(paths, rows, p, t);
    const auto& variant = cuda::best_correlation_variant(assets);
    std::optional<device_memory> numbers;
    cuda::kernel matrix{};
    if (separated) {
        const auto packed = cuda::correlation_numbers(numbers_of_moves(*separated, t.data), p);
        numbers = uploaded(packed.data(), packed.size());
        matrix = the_gpu().kernel_of(cuda::correlation_text(variant, p), "correlate");
    }

    double fill = 0, product = 0, walked = 0;
    const auto once = [&] {
        if (how != way::in_kernel_inline) fill += the_gpu().seconds([&] { normals.fill(shocks); });
        if (separated) {
            const cuda::correlation_job job{numbers->as<void>(),
                                            shocks.memory.as<void>(),
                                            moves.memory.as<void>(),
                                            shocks.pitch,
                                            moves.pitch,
                                            paths,
                                            assets,
                                            steps};
            product +=
                the_gpu().seconds([&] { cuda::make_moves(the_gpu().on(), matrix, variant, p, job, stream); });
        }
        const cube_memory& read = separated ? moves : shocks;
        walked += the_gpu().seconds([&] { path_kernel.run(read.argument(assets)); });
        return fill + product + walked;
    };
    once();

    // Checks, before timing, that each way gives the bits of the first way that ran.
    static std::map<std::pair<precision, std::size_t>, std::vector<std::byte>> results;
    const auto got = path_kernel.results();
    if (results.try_emplace({p, assets}, got).first->second != got) {
        state.SkipWithError("the results differ from those of another way");
        return;
    }
    fill = product = walked = 0;
    double before = 0;
    for (auto _ : state) {
        const double all = once();
        state.SetIterationTime(all - before);
        before = all;
    }
    const auto each = [&](double seconds) { return seconds * 1e3 / static_cast<double>(state.iterations()); };
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(paths) * steps);
    state.counters["fill_ms"] = each(fill);
    state.counters["matrix_ms"] = each(product);
    state.counters["walk_ms"] = each(walked);
    state.counters["local_bytes"] = path_kernel.local_bytes();
    state.counters["build_s"] = built_in.count();  // to compile the path kernel; little if it was cached
}

// Turns an exception of a benchmark into its error, so that the other benchmarks still run.
template <class work>
auto guarded(const work& act) {
    return [act](benchmark::State& state) {
        try {
            act(state);
        } catch (const std::exception& e) {
            state.SkipWithError(e.what());
        }
    };
}

void register_all() {
    const std::pair<precision, const char*> precisions[] = {{precision::double_, "double"},
                                                            {precision::single, "single"}};
    const std::pair<way, const char*> ways[] = {{way::in_kernel_inline, "in_kernel"},
                                                {way::in_kernel_from_memory, "in_kernel_from_memory"},
                                                {way::ahead, "ahead"}};
    for (const auto& [p, precision_name] : precisions) {
        for (const auto& [w, way_name] : ways) {
            auto* b = benchmark::RegisterBenchmark(
                (std::string("basket/") + precision_name + "/" + way_name).c_str(),
                guarded([w = w, p = p](benchmark::State& s) { price_basket_repeatedly(s, w, p); }));
            // The path kernel correlates at most 64 assets: more take minutes to compile.
            for (const int assets : {4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 64, 96, 128}) {
                if (w == way::ahead || assets <= 64) b->Arg(assets);
            }
            b->ArgName("assets")->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(5);
        }
    }
}

const bool registered = (register_all(), true);

}  // namespace
