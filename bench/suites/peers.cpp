// SPDX-License-Identifier: Apache-2.0
// The suite `peers`: runs the workloads of bench/peers by other libraries, each in its own process, and by
// Tilewalk. Times are from request to price, kernels already compiled. A price is no result if it disagrees
// with Tilewalk's, or with the first library's where Tilewalk has none. Work on a CPU is compared with
// Tilewalk on one thread.
#include "bench/suites/peers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "bench/measure/attempt.h"
#include "bench/measure/child_process.h"
#include "bench/measure/suites.h"
#include "bench/measure/timing.h"
#include "engine/base/wording.h"
#include "engine/walk/cuda/back/ways_back.h"
#include "engine/walk/cuda/compile/kernel_text.h"
#include "products/program/adjoint.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::bench {

namespace peers {

namespace {

constexpr std::array<std::string_view, 6> known_workloads{"asian",        "heston",       "autocallable",
                                                          "bermudan_put", "asian_greeks", "heston_greeks"};
constexpr std::array<std::string_view, 5> libraries{"torch", "jax", "cupy", "numba", "quantlib"};
constexpr std::array<std::string_view, 2> known_precisions{"float32", "float64"};
constexpr std::size_t most_of_line = 16384, most_of_word = 400;
constexpr double most_seconds = 1200;  // time limit of one program; libraries compile for minutes

bool is_of_greeks(std::string_view workload) {
    return workload.ends_with("_greeks");
}

// A derivative's name in a workload, and our row for it: a market key, or a measure summed over all keys.
struct sensitivity {
    std::string name, row;
};
const std::vector<sensitivity>& sensitivities_of(std::string_view workload) {
    static const std::vector<sensitivity> of_asian{
        {"spot", "A.spot"}, {"volatilities", "vega"}, {"rates", "rho"}},
        of_heston{{"spot", "A.spot"},
                  {"variance", "A.heston.v0"},
                  {"reversion", "A.heston.kappa"},
                  {"mean_variance", "A.heston.theta"},
                  {"volatility_of_variance", "A.heston.sigma"},
                  {"correlation", "A.heston.rho"}};
    return workload == "asian_greeks" ? of_asian : of_heston;
}

template <class list>
bool is_in(const list& of, std::string_view what) {
    for (const auto& one : of) {
        if (one == what) return true;
    }
    return false;
}

}  // namespace

reported read_line(std::string_view line, std::string_view library, const std::string& program, int number) {
    const auto refuse = [&](const std::string& why) {
        throw error(error_kind::input, why, {program, number, 0});
    };
    if (line.size() > most_of_line) {
        refuse(fmt::format("found a line of {} bytes, expected at most {}", line.size(), most_of_line));
    }
    const json read = json::parse(line, nullptr, false);
    if (read.is_discarded() || !read.is_object()) {
        refuse("found " + config::shown(std::string(line.substr(0, 80))) + ", expected a JSON object");
    }
    const auto word = [&](const char* key, bool is_needed) -> std::string {
        if (!read.contains(key) && !is_needed) return {};
        if (!read.contains(key) || !read[key].is_string())
            refuse(std::string("expected text as '") + key + "'");
        std::string out = read[key];
        if (out.size() > most_of_word || (is_needed && out.empty())) {
            refuse(fmt::format("expected 1 to {} bytes as '{}', found {}", most_of_word, key, out.size()));
        }
        for (char& c : out) {
            if (static_cast<unsigned char>(c) < 32 || c == 127) c = ' ';
        }
        return out;
    };
    const auto amount = [&](const char* key, bool may_be_zero) {
        if (!read.contains(key) || !read[key].is_number())
            refuse(std::string("expected a number as '") + key + "'");
        const double out = read[key];
        if (!std::isfinite(out) || out < 0 || (out == 0 && !may_be_zero)) {
            refuse(fmt::format("found {} as '{}', expected more than 0", out, key));
        }
        return out;
    };
    reported out;
    out.skipped = word("skipped", false);
    const bool is_priced = out.skipped.empty();
    out.workload = word("workload", true);
    out.library = word("library", true);
    out.style = word("style", is_priced);
    out.precision = word("precision", is_priced);
    if (!is_in(known_workloads, out.workload)) {
        refuse("found the workload " + config::shown(out.workload) +
               ", expected one of asian, heston, "
               "autocallable, bermudan_put, asian_greeks, heston_greeks");
    }
    if (out.library != library) {
        refuse("found the library " + config::shown(out.library) + ", expected " + std::string(library));
    }
    if (!out.precision.empty() && !is_in(known_precisions, out.precision)) {
        refuse("found the precision " + config::shown(out.precision) + ", expected float32 or float64");
    }
    if (!is_priced) return out;
    out.version = word("version", true);
    out.device = word("device", true);
    out.paths = amount("paths", false);
    out.steps = amount("steps", false);
    out.price = amount("price", true);
    out.standard_error = amount("standard_error", false);
    out.milliseconds = amount("milliseconds", false);
    if (!is_of_greeks(out.workload)) return out;
    if (read.contains("peak_bytes")) out.peak_bytes = amount("peak_bytes", false);
    for (const auto& [name, key] : sensitivities_of(out.workload)) {
        const auto named = [&](const char* of) -> double {
            const auto all = read.find(of);
            const auto at = all != read.end() && all->is_object() ? all->find(name) : json::const_iterator{};
            if (all == read.end() || !all->is_object() || at == all->end() || !at->is_number() ||
                !std::isfinite(at->get<double>()))
                refuse("expected a number as '" + name + "' of '" + of + "'");
            return *at;
        };
        const estimate e{named("gradient"), named("gradient_errors")};
        if (e.standard_error <= 0)
            refuse("expected an error of more than 0 as '" + name + "' of 'gradient_errors'");
        out.gradient[name] = e;
    }
    return out;
}

row row_of(const reported& from) {
    row r;
    r.suite = "peers";
    r.axes = {{"workload", from.workload}, {"library", from.library}};
    if (!from.style.empty()) r.axes["style"] = from.style;
    if (!from.precision.empty()) r.axes["precision"] = from.precision;
    r.skipped = from.skipped;
    if (!r.skipped.empty()) return r;
    r.figures = {{"milliseconds", from.milliseconds},
                 {"price", from.price},
                 {"standard_error", from.standard_error},
                 {"paths", from.paths},
                 {"path_steps_per_second", from.paths * from.steps / (from.milliseconds * 1e-3)}};
    if (!from.version.empty()) r.figures["version"] = from.version;
    if (!from.device.empty()) r.figures["device"] = from.device;
    for (const auto& [name, e] : from.gradient) {
        r.figures["d_" + name] = e.price;
        r.figures["d_" + name + "_error"] = e.standard_error;
    }
    if (from.peak_bytes > 0) r.figures["peak_bytes"] = from.peak_bytes;
    return r;
}

std::string folder() {
    const char* set = std::getenv("TILEWALK_PEERS");
    if (set != nullptr && *set != '\0') return set;
    if (!std::filesystem::is_directory(TILEWALK_PEERS_FOLDER))
        throw error(
            error_kind::usage,
            "TILEWALK_PEERS is to name the folder of the programs to compare with, bench/peers of the "
            "sources of Tilewalk");
    return TILEWALK_PEERS_FOLDER;
}

json read_workloads(const std::string& in) {
    const std::string name = in + "/workloads.json";
    std::ifstream file(name);
    if (!file) {
        throw error(error_kind::io,
                    "can't read it; TILEWALK_PEERS is to name the folder of the programs to compare "
                    "with, bench/peers of the sources",
                    {name, 0, 0});
    }
    const json read = json::parse(file, nullptr, false);
    for (const std::string_view w : known_workloads) {
        if (read.is_object() && read.contains(w) && read[std::string(w)].is_object()) continue;
        throw error(error_kind::input, "found no object '" + std::string(w) + "'", {name, 0, 0});
    }
    return read;
}

std::string asian_book(const json& n) {
    return fmt::format(
        "market: {{as_of: 2026-01-15, currencies: {{USD: {{rate: {}}}}}, assets: {{A: {{currency: USD, spot: "
        "{}, "
        "volatility: {}}}}}}}\n"
        "trades:\n  - {{id: asian, product: asian, underlying: A, option: call, strike: {}, averaging_dates: "
        "{{start: "
        "0, end: {}, count: {}}}}}\n",
        n.at("rate").dump(), n.at("spot").dump(), n.at("volatility").dump(), n.at("strike").dump(),
        n.at("years").dump(), n.at("steps").dump());
}

std::string asian_greeks_book(const json& n) {
    const int steps = n.at("steps");
    const auto by_date = [&](const char* of) {
        std::string out;
        for (int i = 1; i <= steps; ++i)
            out += fmt::format("{}{}: {}", i > 1 ? ", " : "", n.at("years").get<double>() * i / steps,
                               n.at(of).dump());
        return out;
    };
    return fmt::format(
        "market: {{as_of: 2026-01-15, currencies: {{USD: {{zero_rates: {{{}}}}}}}, assets: {{A: {{currency: "
        "USD, spot: {}, volatility: {{{}}}}}}}}}\n"
        "trades:\n  - {{id: asian, product: asian, underlying: A, option: call, strike: {}, averaging_dates: "
        "{{start: 0, end: {}, count: {}}}}}\n",
        by_date("rate"), n.at("spot").dump(), by_date("volatility"), n.at("strike").dump(),
        n.at("years").dump(), steps);
}

std::string autocallable_book(const json& n) {
    const int steps = n.at("steps");
    const double years = n.at("years"), coupon = n.at("coupon_per_year");
    std::string assets, correlations, basket, coupons;
    int count = 0;
    for (const json& volatility : n.at("volatilities")) {
        assets += fmt::format("    A{}: {{currency: USD, spot: {}, volatility: {}}}\n", count,
                              n.at("spot").dump(), volatility.dump());
        for (int j = 0; j < count; ++j) {
            correlations += fmt::format("    - [A{}, A{}, {}]\n", count, j, n.at("correlation").dump());
        }
        basket += fmt::format("{}A{}", count == 0 ? "" : ", ", count);
        ++count;
    }
    for (int i = 1; i <= steps; ++i)
        coupons += fmt::format("{}{}", i > 1 ? ", " : "", coupon * years * i / steps);
    return fmt::format(
        "market:\n  as_of: 2026-01-15\n  currencies: {{USD: {{rate: {}}}}}\n  assets:\n{}  correlations:\n{}"
        "trades:\n  - {{id: note, product: autocallable, basket: [{}], initial_level: {}, observations: "
        "{{start: 0, "
        "end: {}, count: {}}}, call_level: {}, coupon: [{}], protection: {}, notional: {}}}\n",
        n.at("rate").dump(), assets, correlations, basket, n.at("spot").dump(), n.at("years").dump(), steps,
        n.at("call_level").dump(), coupons, n.at("protection").dump(), n.at("notional").dump());
}

std::string heston_book(const json& n) {
    return fmt::format(
        "market: {{as_of: 2026-01-15, currencies: {{USD: {{rate: {}}}}}, assets: {{A: {{currency: USD, spot: "
        "{}, model: "
        "{{heston: {{v0: {}, kappa: {}, theta: {}, sigma: {}, rho: {}, scheme: full_truncation, "
        "steps_per_year: "
        "{}}}}}}}}}}}\n"
        "trades:\n  - {{id: call, product: european, underlying: A, option: call, strike: {}, maturity: "
        "{}}}\n",
        n.at("rate").dump(), n.at("spot").dump(), n.at("variance").dump(), n.at("reversion").dump(),
        n.at("mean_variance").dump(), n.at("volatility_of_variance").dump(), n.at("correlation").dump(),
        n.at("steps").get<double>() / n.at("years").get<double>(), n.at("strike").dump(),
        n.at("years").dump());
}

std::string bermudan_put_book(const json& n) {
    return fmt::format(
        "market: {{as_of: 2026-01-15, currencies: {{USD: {{rate: {}}}}}, assets: {{A: {{currency: USD, spot: "
        "{}, "
        "volatility: {}}}}}}}\n"
        "trades:\n  - {{id: put, product: bermudan_basket, basket: [A], option: put, strike: {}, "
        "exercise_dates: "
        "{{start: 0, end: {}, count: {}}}}}\n",
        n.at("rate").dump(), n.at("spot").dump(), n.at("volatility").dump(), n.at("strike").dump(),
        n.at("years").dump(), n.at("steps").dump());
}

bool agree(const estimate& a, const estimate& b) {
    return std::abs(a.price - b.price) <= 4 * std::hypot(a.standard_error, b.standard_error);
}

namespace {

std::string words_of(const estimate& e) {
    return fmt::format("{:.6f} +- {:.6f}", e.price, e.standard_error);
}

}  // namespace

std::string why_not_the_gradient(const std::map<std::string, estimate>& got,
                                 const std::map<std::string, estimate>& expected, const std::string& whose) {
    constexpr double most_errors = 6;
    for (const auto& [name, e] : expected) {
        const auto found = got.find(name);
        if (found == got.end()) return "there is no derivative to " + name;
        const double apart = std::abs(found->second.price - e.price);
        if (!(apart <= most_errors * std::hypot(found->second.standard_error, e.standard_error)))
            return fmt::format("the derivative to {} is {}, {} {}", name, words_of(found->second), whose,
                               words_of(e));
    }
    return {};
}

namespace {

// A precision for Tilewalk's walks. Other libraries are compared with the first of their precision.
struct own_style {
    program::precision in;
    std::string_view precision;
    // A memory limit too small to keep all shocks for the walk back, so that they are kept in parts.
    std::uint64_t few_bytes;
};
constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr own_style own_styles[] = {{program::precision::single_fast, "float32", 512 * mebibyte},
                                    {program::precision::single, "float32", 512 * mebibyte},
                                    {program::precision::double_, "float64", 1024 * mebibyte}};

planned_walk planned(const std::string& book, program::precision p) {
    cuda::kernel_wish how;
    how.precision = p;
    return plan_walk(book, how);
}

// Results of a workload so far, with which later ones are compared.
struct known {
    std::string who;
    std::optional<estimate> price;
    std::map<std::string, estimate> gradient;
    // The row to which ratios refer, by precision and kind of device.
    struct yardstick {
        json axes;
        double milliseconds_of_path;
    };
    std::map<std::string, yardstick> yardsticks;
};

std::string yardstick_of(const reported& line) {
    return line.precision + (line.device.starts_with("CPU") ? " on the processor" : "");
}

// Adds the ratio to the first result of the same precision and kind of device, or makes this one the first.
void add_ratio(row& r, const reported& line, bool is_own, known& of) {
    const double each = line.milliseconds / line.paths;
    const auto first = of.yardsticks.find(yardstick_of(line));
    if (first != of.yardsticks.end()) {
        r.over = first->second.axes;
        r.figures["ratio"] = first->second.milliseconds_of_path / each;
    } else if (is_own) {
        of.yardsticks[yardstick_of(line)] = {r.axes, each};
    }
}

estimate on_the_cpu(const std::string& text) {
    run_options options;
    options.overrides.controls = technique::none;
    options.overrides.paths = 65536;
    options.overrides.seed = timed_walk::seed + 1;
    options.overrides.device = "cpu";
    options.overrides.random = "philox";
    const results priced = engine().price(tilewalk::book::parse(text, "benchmark"), options);
    const price_row& r = priced.rows.at(0);
    if (r.status != trade_status::priced) throw error(r.kind, "the CPU can't price it: " + r.message);
    return {r.price, r.standard_error};
}

void measure_own(gpu_timer& on, const std::string& workload, const std::string& book, const json& numbers,
                 known& of, const sink& to) {
    const std::uint64_t paths = numbers.at("paths");
    for (const own_style& s : own_styles) {
        reported line;
        line.workload = workload;
        line.library = "tilewalk";
        line.style = program::name_of(s.in);
        line.precision = s.precision;
        row r = row_of(line);
        r.figures = json::object();
        on.says("peers: " + workload + ", Tilewalk, " + line.style);
        attempt(r, to, [&](row& made) {
            const planned_walk p = planned(book, s.in);
            timed_walk w(on, p, paths);
            const auto price = [&] {
                w.run();
                return estimate_of(w.result());
            };
            const estimate got = price(), expected = on_the_cpu(book);
            if (!agree(got, expected)) {
                made.wrong = "the price is " + words_of(got) + ", on the CPU " + words_of(expected);
                return;
            }
            const auto measured = measure(
                [&]() -> std::optional<double> {
                    if (on.cancel != nullptr && *on.cancel) throw error(error_kind::cancelled, "stopped");
                    const double begin = seconds_now();
                    price();
                    return (seconds_now() - begin) * 1e3;
                },
                on.until(), seconds_now);
            line.paths = static_cast<double>(paths);
            line.steps = static_cast<double>(p.trade.when.steps());
            line.price = got.price;
            line.standard_error = got.standard_error;
            line.milliseconds = measured->of.median;
            made.figures = row_of(line).figures;
            made.figures["noise"] = measured->of.noise;
            add_ratio(made, line, true, of);
            if (s.in == program::precision::double_) {
                of.who = "Tilewalk's";
                of.price = got;
            }
        });
    }
}

void compare(row& r, const reported& line, known& with) {
    if (!r.skipped.empty()) return;
    const bool is_own = line.library == "tilewalk";
    const estimate got{line.price, line.standard_error};
    if (!with.price) {
        with.who = is_own ? "Tilewalk's" : line.library + "'s";
        with.price = got;
        with.gradient = line.gradient;
    } else if (r.wrong = why_not_the_gradient(line.gradient, with.gradient, with.who); !r.wrong.empty()) {
        return;
    } else if (!agree(got, *with.price)) {
        r.wrong = "the price is " + words_of(got) + ", " + with.who + " " + words_of(*with.price);
        return;
    }
    add_ratio(r, line, is_own, with);
}

// Tilewalk on one thread walks the paths of a workload divided by this, as peer_quantlib.py does.
constexpr std::uint64_t share_of_one_thread = 32;

void measure_own_on_cpu(const cpu_bench& on, const std::string& workload, const std::string& book,
                        const json& numbers, known& of, const sink& to) {
    reported line;
    line.workload = workload;
    line.library = "tilewalk";
    line.style = "one_thread";
    line.precision = "float64";
    row r = row_of(line);
    r.figures = json::object();
    on.says("peers: " + workload + ", Tilewalk on one thread");
    attempt(r, to, [&](row& made) {
        const tilewalk::book parsed = tilewalk::book::parse(book, "benchmark");
        run_options options;
        options.overrides.controls = technique::none;
        options.overrides.paths =
            std::max<std::uint64_t>(1024, numbers.at("paths").get<std::uint64_t>() / share_of_one_thread);
        options.overrides.seed = timed_walk::seed + 2;
        options.overrides.device = "cpu";
        options.overrides.random = "philox";
        options.overrides.threads = 1;
        const engine pricer;
        const results got = pricer.price(parsed, options);
        const price_row& priced = got.rows.at(0);
        if (priced.status != trade_status::priced) throw error(priced.kind, priced.message);
        const auto measured = measure(
            [&]() -> std::optional<double> {
                if (on.cancel != nullptr && *on.cancel) throw error(error_kind::cancelled, "stopped");
                const double begin = seconds_now();
                pricer.price(parsed, options);
                return (seconds_now() - begin) * 1e3;
            },
            on.until, seconds_now);
        line.version = version();
        line.device = "CPU, one thread";
        line.paths = static_cast<double>(*options.overrides.paths);
        line.steps = static_cast<double>(got.manifest.path_steps) / line.paths;
        line.price = priced.price;
        line.standard_error = priced.standard_error;
        line.milliseconds = measured->of.median;
        made.figures = row_of(line).figures;
        made.figures["noise"] = measured->of.noise;
        compare(made, line, of);
    });
}

struct planned_both_ways {
    planned_walk forth;
    program::adjoint_program adjoint;
    program::path_data data;

    planned_both_ways(const std::string& book, program::precision p)
        : forth(planned(book, p)),
          adjoint(program::adjoint(forth.code, program::all_numbers_of(forth.code))),
          data(program::data_of_back(adjoint, forth.trade.data)) {}
    tilewalk::run::job job() const {
        return {&forth.code, &forth.trade.data, &forth.trade.when, {&adjoint, &data}};
    }
};

// How to compute a gradient: on a GPU with at most memory_bytes (0: no limit), timed from the planned trade
// to both sums; or on one thread, timed as the walk of the call.
struct greeks_place {
    gpu_timer* gpu;  // null: one CPU thread
    own_style style;
    std::uint64_t memory_bytes = 0;
};

void measure_own_greeks(const cpu_bench& on, const std::string& workload, const std::string& text,
                        std::uint64_t paths, const greeks_place& at, known& of, const sink& to) {
    const bool is_on_cpu = at.gpu == nullptr;
    reported line;
    line.workload = workload;
    line.library = "tilewalk";
    line.style = is_on_cpu ? "one_thread" : program::name_of(at.style.in);
    if (at.memory_bytes > 0) line.style += fmt::format("_in_{}_MiB", at.memory_bytes / mebibyte);
    line.precision = at.style.precision;
    row r = row_of(line);
    r.figures = json::object();
    on.says("peers: " + workload + ", Tilewalk, " + line.style);
    attempt(r, to, [&](row& made) {
        const tilewalk::book b = tilewalk::book::parse(text, "benchmark");
        run_options options;
        options.overrides.controls = technique::none;
        options.overrides.paths = paths;
        options.overrides.seed = timed_walk::seed + 3;
        options.overrides.device = is_on_cpu ? "cpu" : "cuda";
        options.overrides.random = "philox";
        options.overrides.precision = at.style.in;
        if (is_on_cpu) options.overrides.threads = 1;
        options.overrides.memory_bytes = at.memory_bytes;
        options.cancel = on.cancel;
        const engine pricer;
        const greek_options wanted{workload == "asian_greeks"
                                       ? std::vector<std::string>{"delta", "vega", "rho"}
                                       : std::vector<std::string>{"delta", "parameter"}};
        const results got = pricer.greeks(b, *b.market(), wanted, options);
        const price_row& priced = got.rows.at(0);
        if (priced.status != trade_status::priced) throw error(priced.kind, priced.message);
        if (!is_on_cpu && got.manifest.devices.empty())
            throw error(error_kind::internal, "the GPU has walked none of it");
        for (const auto& [name, row] : sensitivities_of(workload)) {
            const auto found = std::ranges::find_if(got.greeks, [&, &key = row](const greek_row& g) {
                return g.key == key || (g.key.empty() && g.measure == key);
            });
            if (found == got.greeks.end() || found->has_failed())
                throw error(error_kind::internal, "there is no sensitivity " + row);
            // Our rows state vega per 1 % and rho per 1 bp; workloads state plain derivatives.
            const double per = row == "vega" ? 1e-2 : row == "rho" ? 1e-4 : 1;
            line.gradient[name] = {found->value / per, found->standard_error / per};
        }
        line.version = version();
        line.device = is_on_cpu ? "CPU, one thread" : got.manifest.devices.front();
        line.paths = static_cast<double>(paths);
        line.steps = static_cast<double>(got.manifest.path_steps) / line.paths;
        line.price = priced.price;
        line.standard_error = priced.standard_error;
        std::function<double()> walked = [&] {
            return 1e3 * pricer.greeks(b, *b.market(), wanted, options).manifest.path_seconds;
        };
        std::optional<planned_both_ways> planned;
        double kernels = 0;
        if (!is_on_cpu) {
            planned.emplace(text, at.style.in);
            walked = [&] {
                const tilewalk::run::job job = planned->job();
                tilewalk::run::walk all;
                all.seed = timed_walk::seed + 3;
                all.paths = paths;
                all.jobs = {&job, 1};
                all.cancel = on.cancel;
                const double begin = seconds_now();
                cuda::ways_back walks({&at.gpu->loaded(), 1}, at.gpu->kernels(),
                                      cuda::ways_back::as_suits(at.style.in, kernels::philox_rounds),
                                      at.memory_bytes, 1);
                const auto failures = walks.walk(all, [](std::size_t, const tilewalk::run::tally&) {});
                if (failures.front()) throw error(*failures.front());
                const double took = (seconds_now() - begin) * 1e3;
                kernels = walks.facts().kernel_seconds * 1e3;
                return took;
            };
        }
        walked();  // compiles kernels, untimed
        const auto measured =
            measure([&]() -> std::optional<double> { return walked(); }, on.until, seconds_now);
        line.milliseconds = measured->of.median;
        made.figures = row_of(line).figures;
        made.figures["noise"] = measured->of.noise;
        if (planned) {
            made.figures["kernel_milliseconds"] = kernels;
            made.figures["numbers"] = program::places_of(planned->adjoint, planned->forth.trade.data).size;
        }
        compare(made, line, of);
    });
}

// Times a Bermudan put. Tilewalk's call includes training on separate paths and both bounds. Other libraries
// value a policy on the paths it was trained on, without a bound, so the policy's value is compared.
void measure_own_right(const cpu_bench& on, const std::string& text, std::uint64_t paths, bool is_on_gpu,
                       const own_style& style, known& of, const sink& to) {
    reported line;
    line.workload = "bermudan_put";
    line.library = "tilewalk";
    line.style = is_on_gpu ? program::name_of(style.in) : "one_thread";
    line.precision = style.precision;
    row r = row_of(line);
    r.figures = json::object();
    on.says("peers: bermudan_put, Tilewalk, " + line.style);
    attempt(r, to, [&](row& made) {
        const tilewalk::book b = tilewalk::book::parse(text, "benchmark");
        run_options options;
        options.overrides.controls = technique::none;
        options.overrides.paths = paths;
        options.overrides.seed = timed_walk::seed + 4;
        options.overrides.device = is_on_gpu ? "cuda" : "cpu";
        options.overrides.random = "philox";
        options.overrides.precision = style.in;
        if (!is_on_gpu) options.overrides.threads = 1;
        options.cancel = on.cancel;
        const engine pricer;
        const results got = pricer.price(b, options);
        const price_row& priced = got.rows.at(0);
        if (priced.status != trade_status::priced) throw error(priced.kind, priced.message);
        const auto measured = measure(
            [&]() -> std::optional<double> {
                const double begin = seconds_now();
                pricer.price(b, options);
                return (seconds_now() - begin) * 1e3;
            },
            on.until, seconds_now);
        line.version = version();
        line.device = is_on_gpu ? got.manifest.devices.at(0) : "CPU, one thread";
        line.paths = static_cast<double>(paths);
        line.steps = static_cast<double>(got.manifest.path_steps) / line.paths;
        line.price = priced.early->policy_value;
        line.standard_error = priced.early->policy_error;
        line.milliseconds = measured->of.median;
        made.figures = row_of(line).figures;
        made.figures["noise"] = measured->of.noise;
        made.figures["upper_bound"] = priced.early->upper_bound;
        made.figures["upper_error"] = priced.early->upper_error;
        made.figures["training_paths"] = priced.early->training_paths;
        compare(made, line, of);
    });
}

// Runs the programs of one library, for the workload `only`; empty: for all.
void measure_library(const cpu_bench& on, const std::string& in, std::string_view library,
                     const std::string& only, std::map<std::string, known>& all, const sink& to) {
    const std::string program = fmt::format("{}/peer_{}.py", in, library);
    on.says(fmt::format("peers: {}, which may take minutes", library));
    std::vector<std::string> command{"python3", "-B", program};
    if (!only.empty()) command.insert(command.end(), {"--only", only});
    const child_outcome ran = run_child(command, most_seconds, std::size_t{1} << 20, on.cancel);
    std::istringstream lines(ran.output);
    std::string text, refused;
    for (int number = 1; refused.empty() && std::getline(lines, text); ++number) {
        if (text.empty()) continue;
        reported line;
        try {
            line = read_line(text, library, program, number);
        } catch (const error& e) {
            refused = e.what();
            break;
        }
        row r = row_of(line);
        compare(r, line, all[line.workload]);
        to(std::move(r));
    }
    std::string amiss = ran.why_not.empty() ? "" : program + ": " + ran.why_not;
    if (!ran.last_error.empty() && !amiss.empty()) amiss += ": " + ran.last_error;
    if (!refused.empty()) amiss += (amiss.empty() ? "" : "; ") + refused;
    if (amiss.empty()) return;
    row whole;
    whole.suite = "peers";
    whole.axes = {{"workload", "all"}, {"library", library}};
    (ran.has_started ? whole.wrong : whole.skipped) = amiss;
    to(std::move(whole));
}

reported own_line(const std::string& workload) {
    reported line;
    line.workload = workload;
    line.library = "tilewalk";
    return line;
}

void measure_all(const cpu_bench& here, gpu_timer* on, const std::string& only, const std::string& why_no_gpu,
                 const sink& to) {
    const auto is_asked = [&](const auto& of) { return only.empty() || only == of.first; };
    const std::string in = folder();
    const json numbers = read_workloads(in);
    std::vector<std::pair<std::string, std::string>> books{
        {"asian", asian_book(numbers.at("asian"))},
        {"heston", heston_book(numbers.at("heston"))},
        {"autocallable", autocallable_book(numbers.at("autocallable"))}};
    std::erase_if(books, std::not_fn(is_asked));
    if (on != nullptr) {
        std::vector<std::string> texts{cuda::merge_kernel_text()};
        for (const auto& [name, book] : books) {
            for (const auto& s : own_styles) texts.push_back(planned(book, s.in).text());
        }
        on->compile(texts);
    }
    std::map<std::string, known> all;
    for (const auto& [name, book] : books) {
        if (on != nullptr) {
            measure_own(*on, name, book, numbers.at(name), all[name], to);
        } else {
            skip(row_of(own_line(name)), to, why_no_gpu);
        }
        measure_own_on_cpu(here, name, book, numbers.at(name), all[name], to);
    }
    std::vector<std::pair<std::string, std::string>> with_greeks{
        {"asian_greeks", asian_greeks_book(numbers.at("asian_greeks"))},
        {"heston_greeks", heston_book(numbers.at("heston_greeks"))}};
    std::erase_if(with_greeks, std::not_fn(is_asked));
    for (const auto& [name, book] : with_greeks) {
        const std::uint64_t paths = numbers.at(name).at("paths");
        if (on != nullptr) {
            // Double goes first: its gradient is the reference of later precisions and libraries.
            for (auto s = std::rbegin(own_styles); s != std::rend(own_styles); ++s)
                for (const std::uint64_t bytes : {std::uint64_t{0}, s->few_bytes})
                    measure_own_greeks(here, name, book, paths, {on, *s, bytes}, all[name], to);
        } else {
            skip(row_of(own_line(name)), to, why_no_gpu);
        }
        measure_own_greeks(here, name, book, std::max<std::uint64_t>(paths / share_of_one_thread, 1 << 14),
                           {nullptr, {program::precision::double_, "float64", 0}}, all[name], to);
    }
    if (only.empty() || only == "bermudan_put") {
        const std::string book = bermudan_put_book(numbers.at("bermudan_put"));
        const std::uint64_t paths = numbers.at("bermudan_put").at("paths");
        known& of = all["bermudan_put"];
        if (on != nullptr) {
            for (auto s = std::rbegin(own_styles); s != std::rend(own_styles); ++s)
                measure_own_right(here, book, paths, true, *s, of, to);
        } else {
            skip(row_of(own_line("bermudan_put")), to, why_no_gpu);
        }
        measure_own_right(here, book, paths / 4, false, {program::precision::double_, "float64", 0}, of, to);
    }
    for (const std::string_view library : libraries) measure_library(here, in, library, only, all, to);
}

}  // namespace

}  // namespace peers

void check_peers(const request& asked) {
    using peers::known_workloads;
    if (!asked.subject.empty() && !peers::is_in(known_workloads, asked.subject)) {
        const std::vector<std::string> known(known_workloads.begin(), known_workloads.end());
        throw error(error_kind::usage, "found " + config::shown(asked.subject) + ", expected one of " +
                                           config::joined(known) + config::suggestion(asked.subject, known));
    }
}

void run_peers(gpu_timer& on, const request& r, const sink& to) {
    peers::measure_all({on.until(), on.says, on.cancel}, &on, r.subject, "", to);
}

void run_peers_on_cpu(const cpu_bench& on, const request& r, const std::string& why_no_gpu, const sink& to) {
    peers::measure_all(on, nullptr, r.subject, why_no_gpu, to);
}

}  // namespace tilewalk::bench
