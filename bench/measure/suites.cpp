// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/suites.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "engine/base/wording.h"
#include "tilewalk/error.h"

namespace tilewalk::bench {

void check_prefetch(const request& asked);
void run_prefetch(gpu_timer& on, const request& asked, const sink& to);
void run_l2_hint(gpu_timer& on, const request& asked, const sink& to);
void run_tiles(gpu_timer& on, const request& asked, const sink& to);
void run_memory(gpu_timer& on, const request& asked, const sink& to);
void run_reductions(gpu_timer& on, const request& asked, const sink& to);
void run_random(gpu_timer& on, const request& asked, const sink& to);
void check_peers(const request& asked);
void run_peers(gpu_timer& on, const request& asked, const sink& to);
void run_peers_on_cpu(const cpu_bench& on, const request& asked, const std::string& why_no_gpu,
                      const sink& to);
void run_auto(gpu_timer& on, const request& asked, const sink& to);
void run_models(gpu_timer& on, const request& asked, const sink& to);
void check_models(const request& asked);
void run_models_on_cpu(const cpu_bench& on, const request& asked, const std::string& why_no_gpu,
                       const sink& to);
void check_steps(const request& asked);
void run_steps(gpu_timer& on, const request& asked, const sink& to);
void run_steps_on_cpu(const cpu_bench& on, const request& asked, const std::string& why_no_gpu,
                      const sink& to);
void run_calls(gpu_timer& on, const request& asked, const sink& to);
void run_calls_on_cpu(const cpu_bench& on, const request& asked, const std::string& why_no_gpu,
                      const sink& to);
void check_greeks(const request& asked);
void run_greeks(gpu_timer& on, const request& asked, const sink& to);
void run_greeks_on_cpu(const cpu_bench& on, const request& asked, const std::string& why_no_gpu,
                       const sink& to);
void check_convergence(const request& asked);
void run_convergence(gpu_timer& on, const request& asked, const sink& to);
void run_convergence_on_cpu(const cpu_bench& on, const request& asked, const std::string& why_no_gpu,
                            const sink& to);
void run_python(gpu_timer& on, const request& asked, const sink& to);
void run_python_on_cpu(const cpu_bench& on, const request& asked, const std::string& why_no_gpu,
                       const sink& to);
void check_start(const request& asked);
void run_start(gpu_timer& on, const request& asked, const sink& to);
void run_start_on_cpu(const cpu_bench& on, const request& asked, const std::string& why_no_gpu,
                      const sink& to);

namespace {

// All suites, in the order in which a performance engineer would ask about them.
constexpr auto catalogue = std::to_array<suite_entry>({
    {"prefetch",
     "every feed by distance, layout, width and resident warps, on path kernels",
     {.subject = "a workload", .ways = true, .precisions = true, .paths = true, .untimed = true},
     check_prefetch,
     "five strategies on an A100: uneven without padding, +60 % at distance 6 with it",
     run_prefetch},
    {"l2_hint",
     "loads and copies that ask the second-level cache for more than they read",
     {},
     nullptr,
     "tanh and sum of 2^28 floats on an H20, 16-byte loads: 355.90 us, with L2::256B 313.95 us",
     run_l2_hint},
    {"tiles",
     "correlated moves by every matrix kernel and by cuBLAS; GFLOPS of the triangle alone",
     {},
     nullptr,
     "GeForce 8800: untiled 10.58 GFLOPS, tiles of 16 x 16 unrolled 46.49 GFLOPS",
     run_tiles},
    {"memory",
     "the memories of a GPU: bandwidth, latency, and what ways to read them cost",
     {},
     nullptr,
     "",
     run_memory},
    {"reductions",
     "how payoffs become one result, after a path kernel and alone, and whose bits stay",
     {},
     nullptr,
     "",
     run_reductions},
    {"random",
     "normals a second of every random source, and shocks in registers against a cube",
     {},
     nullptr,
     "",
     run_random},
    {"peers",
     "the same payoffs in PyTorch, JAX, CuPy, Numba and QuantLib, where they are installed",
     {.subject = "a workload"},
     check_peers,
     "",
     run_peers,
     run_peers_on_cpu},
    {"auto", "the tuner's choice against a full search, on 20 kernels", {}, nullptr, "", run_auto},
    {"models",
     "every model on a path of 252 steps, on the GPU and on one core of the processor",
     {.subject = "a model"},
     check_models,
     "",
     run_models,
     run_models_on_cpu},
    {"steps",
     "errors of option prices by the steps each model takes by itself, in basis points of the spot",
     {.subject = "a model", .paths = true},
     check_steps,
     "",
     run_steps,
     run_steps_on_cpu},
    {"calls",
     "calls of the library on three small trades, plain and prepared, and how soon a run stops",
     {.paths = true},
     nullptr,
     "",
     run_calls,
     run_calls_on_cpu},
    {"greeks",
     "a price, and the price with all its sensitivities, on the GPU and on one core",
     {.subject = "a trade's name", .paths = true},
     check_greeks,
     "",
     run_greeks,
     run_greeks_on_cpu},
    {"convergence",
     "errors of prices by paths, independent and quasi-random, and the time to a basis point",
     {.subject = "a trade's name", .precisions = true, .paths = true, .untimed = true},
     check_convergence,
     "",
     run_convergence,
     run_convergence_on_cpu},
    {"python",
     "a book from Python beside the command, and a million rows as a DataFrame",
     {.paths = true},
     nullptr,
     "",
     run_python,
     run_python_on_cpu},
    {"start",
     "books from an empty machine to the answer, cold and warm, by device",
     {.subject = "a book", .paths = true},
     check_start,
     "",
     run_start,
     run_start_on_cpu},
});

std::string choices_described(const open_choices& open) {
    std::vector<std::string> out;
    if (!open.subject.empty()) out.emplace_back(open.subject);
    if (open.ways) out.emplace_back("feeds, distances, layouts, widths, occupancy");
    if (open.precisions) out.emplace_back("precisions");
    if (open.paths) out.emplace_back("a number of paths");
    return config::joined(out, ", ", " and ");
}

}  // namespace

std::span<const suite_entry> suites() {
    return catalogue;
}

const suite_entry& suite_named(std::string_view name) {
    const auto found = std::ranges::find(catalogue, name, &suite_entry::name);
    if (found != catalogue.end()) return *found;
    std::vector<std::string> known;
    for (const suite_entry& s : catalogue) known.emplace_back(s.name);
    throw error(error_kind::usage, "there is no benchmark " + config::shown(name) +
                                       config::alternatives(name, "there are", known));
}

void check(const suite_entry& suite, const request& asked) {
    const auto refuse = [&](std::string_view found) {
        std::string text = fmt::format("the benchmark '{}' {}", suite.name, found);
        if (const std::string taken = choices_described(suite.open); !taken.empty())
            text += "; it takes " + taken;
        throw error(error_kind::usage, text);
    };
    if (suite.open.subject.empty() && !asked.subject.empty())
        refuse("takes no subject, found " + config::shown(asked.subject));
    const struct {
        std::string_view of;
        bool is_open, is_made;
    } choices[] = {
        {"feeds", suite.open.ways, !asked.feeds.empty()},
        {"distances", suite.open.ways, !asked.distances.empty()},
        {"layouts", suite.open.ways, !asked.layouts.empty()},
        {"widths", suite.open.ways, !asked.widths.empty()},
        {"occupancy", suite.open.ways, !asked.warps.empty()},
        {"precision", suite.open.precisions, !asked.precisions.empty()},
        {"paths", suite.open.paths, asked.paths > 0},
    };
    for (const auto& choice : choices) {
        if (choice.is_made && !choice.is_open) refuse(fmt::format("takes no choice of {}", choice.of));
    }
    if (!asked.is_timed && !suite.open.untimed) refuse("can't go untimed");
    if (suite.check_values != nullptr) suite.check_values(asked);
}

}  // namespace tilewalk::bench
