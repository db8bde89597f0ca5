// SPDX-License-Identifier: Apache-2.0
// The settings of a run and how they are read. GPU knobs are in engine/walk/cuda/compile/knobs.h.
#include "tilewalk/setting_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <concepts>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

#include "engine/base/accuracy.h"
#include "engine/base/wording.h"
#include "engine/walk/cuda/compile/feeds.h"
#include "engine/walk/cuda/compile/knobs.h"
#include "engine/walk/cuda/compile/reductions.h"
#include "engine/walk/cuda/device/spaces.h"
#include "engine/walk/cuda/random/catalogue.h"
#include "tilewalk/error.h"

namespace tilewalk {

namespace {

using value_type = run_setting::value_type;
using part = run_setting::part;

constexpr std::uint64_t any_number = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t most_gpu = 63;

template <class entries>
std::vector<std::string> names_of(const entries& catalogue, std::vector<std::string> names = {}) {
    for (const auto& entry : catalogue) names.emplace_back(entry.name);
    return names;
}

template <choice type>
std::vector<std::string> names_of() {
    return {choice_names<type>.begin(), choice_names<type>.end()};
}

std::vector<std::string> reductions_that_vary() {
    std::vector<std::string> names;
    for (const auto& reduction : cuda::reductions()) {
        if (!reduction.keeps_bits) names.emplace_back(reduction.name);
    }
    return names;
}

run_setting setting_of(const cuda::knob& k) {
    const auto any_field = [](const auto field) -> run_setting::field { return field; };
    run_setting setting{.name = std::string(k.name),
                        .takes = k.values.is_range() ? value_type::count : value_type::choice,
                        .value = std::visit(any_field, k.setting),
                        .meaning = std::string(k.meaning),
                        .choices = cuda::value_names(k),
                        .least = static_cast<std::uint64_t>(k.values.least),
                        .most = static_cast<std::uint64_t>(k.values.most)};
    if (k.takes_auto) {
        setting.preset = "auto";
        setting.choices.insert(setting.choices.begin(), "auto");
    }
    return setting;
}

std::vector<run_setting> settings_of_run() {
    using s = run_settings;
    return {
        {.name = "paths",
         .takes = value_type::count,
         .value = &s::paths,
         .meaning = "Paths for each trade, such as 65536, 100k or 1M",
         .preset = std::to_string(default_paths),
         .least = 1,
         .most = std::uint64_t{1} << 40,
         .decides_bits = true},
        {.name = "seed",
         .takes = value_type::count,
         .value = &s::seed,
         .meaning = "Seed of the random numbers",
         .preset = std::to_string(default_seed),
         .most = any_number,
         .decides_bits = true},
        {.name = "threads",
         .takes = value_type::count,
         .value = &s::threads,
         .meaning = "CPU threads; 0 for all cores",
         .preset = "0",
         .most = 1024},
        {.name = "device",
         .takes = value_type::devices,
         .value = &s::device,
         .meaning = "Where paths are simulated: cpu; cuda, all GPUs; GPUs by number, such as 0,1; or auto, "
                    "the CPU from the start, and in longer runs all usable GPUs beside it",
         .preset = "auto",
         .choices = {"auto", "cpu", "cuda"}},
        {.name = "precision",
         .takes = value_type::choice,
         .value = &s::precision,
         .meaning = "Precision of the paths; single_fast takes the hardware's approximate functions, mixed "
                    "has single-precision shocks and double-precision states",
         .preset = "double",
         .choices = names_of<precision>(),
         .decides_bits = true},
        {.name = "random",
         .takes = value_type::choice,
         .value = &s::random,
         .meaning = "Source of the random numbers; auto takes sobol for trades whose pilot run gains by it, "
                    "from 16384 paths on, and else philox",
         .preset = random::chosen_by_pilot,
         .choices = names_of(random::catalogue(), {random::chosen_by_pilot}),
         .decides_bits = true},
        {.name = "randomisations",
         .takes = value_type::count,
         .value = &s::randomisations,
         .meaning = "Independent randomisations of the quasi-Monte Carlo points; the standard error comes "
                    "from their spread",
         .preset = "16",
         .least = 8,
         .most = 64,
         .decides_bits = true},
        {.name = "construction",
         .takes = value_type::choice,
         .value = &s::construction,
         .meaning = "How quasi-Monte Carlo points become Brownian paths: bridge, a Brownian bridge from the "
                    "last date; principal, the largest principal components first; coarse, a bridge over 32 "
                    "dates and independent numbers between; steps, in order of time; auto, what a pilot run "
                    "finds best for each trade",
         .preset = "auto",
         .choices = names_of<construction>(),
         .decides_bits = true},
        {.name = "controls",
         .takes = value_type::choice,
         .value = &s::controls,
         .meaning = "Control variates; auto takes those that a pilot run fits, where they reduce the error",
         .preset = "auto",
         .choices = names_of<technique>(),
         .decides_bits = true},
        {.name = "antithetic",
         .takes = value_type::choice,
         .value = &s::antithetic,
         .meaning = "Antithetic variates; pairs averages each path with the path of opposite shocks",
         .preset = "none",
         .choices = names_of<antithetic>(),
         .decides_bits = true},
        {.name = "preintegration",
         .takes = value_type::choice,
         .value = &s::preintegration,
         .meaning = "Integration over one direction of the shocks before a deciding date, such as that of a "
                    "barrier or a call; auto takes it where a pilot run shows a smaller error",
         .preset = "none",
         .choices = names_of<technique>(),
         .decides_bits = true},
        {.name = "importance",
         .takes = value_type::choice,
         .value = &s::importance,
         .meaning = "Importance sampling for trades that few paths pay; auto takes the shift of the shocks "
                    "that a pilot run fits, where it reduces the error",
         .preset = "none",
         .choices = names_of<technique>(),
         .decides_bits = true},
        {.name = "tolerance",
         .takes = value_type::accuracy,
         .value = &s::tolerance,
         .meaning =
             "Half-width of the confidence interval to reach for each price, or, as in '100 total', for the "
             "total of each currency; paths are added until it is reached, up to paths if that is set too",
         .decides_bits = true},
        {.name = "confidence",
         .takes = value_type::share,
         .value = &s::confidence,
         .meaning = "Confidence level of the interval for tolerance",
         .preset = "0.95",
         .decides_bits = true},
        {.name = "budget",
         .takes = value_type::duration,
         .value = &s::budget,
         .meaning = "Time after which no more paths are added",
         .decides_bits = true},
        {.name = "decisions",
         .takes = value_type::file,
         .value = &s::decisions,
         .meaning = "Decisions of an earlier run to take instead of running pilots, from its results (JSON) "
                    "or by themselves: sources, constructions, controls, policies and, unless paths is set, "
                    "the paths of each trade",
         .decides_bits = true},
        {.name = "replay",
         .takes = value_type::file,
         .value = &s::replay,
         .meaning = "Shocks to simulate with instead of random ones",
         .decides_bits = true},
        {.name = "training_paths",
         .takes = value_type::count,
         .value = &s::training_paths,
         .meaning = "Paths for training the policies of trades with early exercise; if left out, a quarter "
                    "of the paths, from 4096 to 65536",
         .least = 1,
         .most = std::uint64_t{1} << 40,
         .decides_bits = true},
        {.name = "policy",
         .takes = value_type::file,
         .value = &s::policy,
         .meaning = "Exercise policies from --save-policy to follow instead of training new ones",
         .decides_bits = true},
        {.name = "upper",
         .takes = value_type::choice,
         .value = &s::upper,
         .meaning = "Upper bound for trades with early exercise: regression, from the fit that found the "
                    "policy, or nested, from paths within paths on the CPU, which takes long",
         .preset = "regression",
         .choices = names_of<upper_bound>(),
         .decides_bits = true},
    };
}

std::vector<run_setting> settings_of_gpu() {
    using s = run_settings;
    std::vector<run_setting> all{{.name = "prefetch",
                                  .takes = value_type::choice,
                                  .value = &s::prefetch,
                                  .meaning = "How random numbers (shocks) reach a thread of the GPU",
                                  .preset = "auto",
                                  .choices = names_of(cuda::feeds(), {"auto"})}};
    for (const cuda::knob& k : cuda::knob_table) all.push_back(setting_of(k));
    const std::vector<run_setting> others{
        {.name = "space",
         .takes = value_type::choice,
         .value = &s::space,
         .meaning = "Memory that shocks are read from",
         .choices = cuda::names_of_spaces([](const auto& space) { return space.holds_paths; })},
        {.name = "row_space",
         .takes = value_type::choice,
         .value = &s::row_space,
         .meaning = "Memory that numbers common to all paths are read from",
         .choices = cuda::names_of_spaces([](const auto& space) { return space.holds_rows; })},
        {.name = "reduction",
         .takes = value_type::choice,
         .value = &s::reduction,
         .meaning = "How the payoffs of 1024 paths are summed; the last bits vary from run to run with " +
                    config::joined(reductions_that_vary()),
         .preset = "tree",
         .choices = names_of(cuda::reductions()),
         .decides_bits = true},
        {.name = "correlation",
         .takes = value_type::choice,
         .value = &s::correlation,
         .meaning = "Where shocks are correlated: in the path kernel, or by a matrix product before it",
         .preset = "auto",
         .choices = {"auto", "kernel", "matrix"}},
        {.name = "memory_bytes",
         .takes = value_type::bytes,
         .value = &s::memory_bytes,
         .meaning = "Most GPU memory to use, such as 40GiB; 0 for all that is free",
         .preset = "0",
         .most = std::uint64_t{1} << 50},
    };
    all.insert(all.end(), others.begin(), others.end());
    for (run_setting& setting : all) setting.of = part::gpu;
    return all;
}

std::vector<run_setting> all_settings() {
    std::vector<run_setting> all = settings_of_run();
    for (run_setting& setting : settings_of_gpu()) all.push_back(std::move(setting));
    return all;
}

using unit = std::pair<std::string_view, std::uint64_t>;
constexpr std::array<unit, 3> count_units{{{"k", 1000}, {"K", 1000}, {"M", 1000000}}};
constexpr std::array<unit, 9> byte_units{{{"B", 1},
                                          {"kB", 1000},
                                          {"MB", 1000000},
                                          {"GB", 1000000000},
                                          {"TB", 1000000000000},
                                          {"KiB", std::uint64_t{1} << 10},
                                          {"MiB", std::uint64_t{1} << 20},
                                          {"GiB", std::uint64_t{1} << 30},
                                          {"TiB", std::uint64_t{1} << 40}}};

// Reads digits with an optional unit; also 1e6 and 1.5e3, if a double holds the whole number exactly.
template <std::size_t count>
std::optional<std::uint64_t> parse_natural(std::string_view text, const std::array<unit, count>& units) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    if (digits == 0) return {};
    std::uint64_t number = 0;
    if (std::from_chars(text.data(), text.data() + digits, number).ec != std::errc()) return {};
    const std::string_view rest = text.substr(digits);
    if (rest.empty()) return number;
    for (const auto& [name, size] : units) {
        if (rest == name) return number <= any_number / size ? std::optional(number * size) : std::nullopt;
    }
    double value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size()) return {};
    if (value != std::floor(value) || value > 0x1p53) return {};
    return static_cast<std::uint64_t>(value);
}

bool are_devices(std::string_view text) {
    std::vector<std::uint64_t> seen;
    for (;;) {
        const std::string_view item = text.substr(0, text.find(','));
        std::uint64_t number = 0;
        const auto [end, code] = std::from_chars(item.data(), item.data() + item.size(), number);
        if (code != std::errc() || end != item.data() + item.size() || number > most_gpu) return false;
        if (item != std::to_string(number) || std::ranges::find(seen, number) != seen.end()) return false;
        seen.push_back(number);
        if (item.size() == text.size()) return true;
        text.remove_prefix(item.size() + 1);
    }
}

std::optional<std::uint64_t> natural_of(const run_setting& of, const std::string& text) {
    const auto number =
        of.takes == value_type::bytes ? parse_natural(text, byte_units) : parse_natural(text, count_units);
    return number && *number >= of.least && *number <= of.most ? number : std::nullopt;
}

std::optional<std::string> text_in(const run_setting& of, const std::string& text) {
    switch (of.takes) {
        case value_type::count:
            if (const auto number = natural_of(of, text)) return std::to_string(*number);
            return {};
        case value_type::devices:
            return are_devices(text) ? std::optional(text) : std::nullopt;
        case value_type::file:
            return text.empty() ? std::nullopt : std::optional(text);
        default:
            return {};
    }
}

template <class type>
std::optional<type> value_of(const run_setting& of, const std::string& text) {
    const bool is_choice = std::ranges::find(of.choices, text) != of.choices.end();
    if constexpr (choice<type>) {
        return choice_named<type>(text);
    } else if constexpr (std::is_same_v<type, accuracy>) {
        return config::accuracy_of(text);
    } else if constexpr (std::is_same_v<type, double>) {
        return config::share_of(text);
    } else if constexpr (std::is_same_v<type, std::chrono::duration<double>>) {
        return config::duration_of(text);
    } else if constexpr (std::is_same_v<type, std::string>) {
        return is_choice ? std::optional(text) : text_in(of, text);
    } else {
        const auto number = of.takes != value_type::choice ? natural_of(of, text)
                            : is_choice                    ? parse_natural(text, count_units)
                                                           : std::nullopt;
        return number ? std::optional(static_cast<type>(*number)) : std::nullopt;
    }
}

using config::text_of;
std::string text_of(std::integral auto number) {
    return std::to_string(number);
}
std::string text_of(const std::string& text) {
    return text;
}
std::string text_of(choice auto value) {
    return std::string(name_of(value));
}

std::string bound(std::uint64_t number) {
    if (number == any_number) return "2^64 - 1";
    if (number >= 1000000 && std::has_single_bit(number))
        return "2^" + std::to_string(std::countr_zero(number));
    return std::to_string(number);
}

}  // namespace

std::string run_setting::option() const {
    std::string out = "--" + name;
    std::ranges::replace(out, '_', '-');
    return out;
}

std::string run_setting::variable() const {
    std::string out = "TILEWALK_";
    for (const char c : name) out += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    return out;
}

std::string run_setting::expected() const {
    const std::string or_else = choices.empty() ? "" : config::joined(choices) + " or ";
    switch (takes) {
        case value_type::count:
            return or_else + "a whole number from " + bound(least) + " to " + bound(most) +
                   (most >= 1000000 ? ", such as 65536, 100k or 1M" : "");
        case value_type::bytes:
            return or_else + "a number of bytes up to " + bound(most) + ", such as 512MB or 40GiB";
        case value_type::choice:
            return config::joined(choices);
        case value_type::devices:
            return or_else + "numbers of GPUs, such as 0 or 0,1";
        case value_type::file:
            return "the name of a file";
        case value_type::accuracy:
            return "an amount above 0, such as 0.01, basis points, such as 1bp, or an amount for totals, "
                   "such as "
                   "'100 total'";
        case value_type::share:
            return "a share above 0.5 and below 1, such as 0.99";
        case value_type::duration:
            return "a time above 0, such as 30s, 5m or 2h";
    }
    return {};
}

bool run_setting::is_number() const {
    return std::holds_alternative<member<std::uint64_t>>(value) || std::holds_alternative<member<int>>(value);
}

std::optional<std::string> run_setting::text(const run_settings& settings) const {
    return std::visit(
        [&](const auto at) {
            const auto& said = settings.*at;
            return said ? std::optional(text_of(*said)) : std::nullopt;
        },
        value);
}

std::optional<std::string> run_setting::read(const std::string& text, run_settings& settings) const {
    const bool is_read = std::visit(
        [&](const auto at) {
            const auto found =
                value_of<typename std::remove_reference_t<decltype(settings.*at)>::value_type>(*this, text);
            if (found) settings.*at = found;
            return found.has_value();
        },
        value);
    if (is_read) return {};
    // The list may be long, so begin with the nearest name. For "gpu" that is cuda, not the similar cpu.
    const std::string near =
        config::suggestion(takes == value_type::devices && text == "gpu" ? "cuda" : text, choices);
    return (near.empty() ? "," : near) + " expected " + expected();
}

const std::vector<run_setting>& setting_table() {
    static const std::vector<run_setting> table = all_settings();
    return table;
}

run_settings default_settings() {
    run_settings preset;
    for (const auto& setting : setting_table())
        if (!setting.preset.empty()) setting.read(setting.preset, preset);
    return preset;
}

run_settings over(run_settings first, const run_settings& second) {
    for (const auto& setting : setting_table()) {
        std::visit(
            [&](const auto member) {
                if (!(first.*member)) first.*member = second.*member;
            },
            setting.value);
    }
    return first;
}

void check(const run_settings& settings) {
    run_settings read;
    for (const auto& setting : setting_table()) {
        const auto said = setting.text(settings);
        if (!said) continue;
        if (const auto wrong = setting.read(*said, read))
            throw error(error_kind::usage, setting.name + ": found " + config::shown(*said) + *wrong);
    }
}

}  // namespace tilewalk
