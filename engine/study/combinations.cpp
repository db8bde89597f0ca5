// SPDX-License-Identifier: Apache-2.0
#include "tilewalk/combinations.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "engine/base/columns.h"
#include "engine/base/wording.h"
#include "engine/numerics/quasi/order.h"
#include "engine/plan/trade_program.h"
#include "engine/reading/book_state.h"
#include "engine/study/asked.h"
#include "engine/walk/cuda/random/catalogue.h"
#include "products/program/precision.h"
#include "tilewalk/error.h"
#include "tilewalk/setting_table.h"

namespace tilewalk {

namespace {

using enum study;
using enum feature;
using enum standing;

struct named_study {
    study is;
    std::string_view name;
};
constexpr std::array study_names{
    named_study{price, "price"},
    named_study{price_in_markets, "price in several markets"},
    named_study{greeks, "greeks"},
    named_study{greeks_by_bump, "greeks by bump"},
    named_study{greeks_of_second_order, "greeks of the second order"},
    named_study{files_of_greeks, "greeks --files"},
    named_study{study::scenarios, "scenarios"},
    named_study{explained_scenarios, "scenarios --explain"},
    named_study{price_in_session, "price in a session"},
    named_study{greeks_in_session, "greeks in a session"},
    named_study{scenarios_in_session, "scenarios in a session"},
    named_study{study::explain, "explain"},
    named_study{study::warm, "warm"},
    named_study{study::tune, "tune"},
    named_study{study::tune_greeks, "tune --greeks"},
    named_study{shards_of_prices, "shards of prices"},
    named_study{shards_of_greeks, "shards of greeks"},
    named_study{shards_of_scenarios, "shards of scenarios"},
    named_study{shards_of_differences, "shards of differences"},
};

struct named_feature {
    feature is;
    std::string_view name;
};
constexpr std::array feature_names{
    named_feature{controls, "controls: auto"},
    named_feature{points, "random: sobol"},
    named_feature{preintegration, "preintegration: auto"},
    named_feature{importance, "importance: auto"},
    named_feature{pairs, "antithetic: pairs"},
    named_feature{rights, "rights of a trade"},
    named_feature{nested_bounds, "upper: nested"},
    named_feature{tolerance, "a tolerance of the run"},
    named_feature{budget, "a budget"},
    named_feature{own_tolerance, "a tolerance of a trade"},
    named_feature{replay, "a replay"},
    named_feature{decisions, "a file of decisions"},
    named_feature{policy, "a policy file"},
    named_feature{kept_policies, "--save-policy"},
    named_feature{journal, "a journal"},
    named_feature{curand, "a random source of cuRAND"},
    named_feature{single_fast, "precision: single_fast"},
};

// Features that a study does not take; every other pair of a feature and a study works.
struct rule {
    std::vector<feature> of;
    std::vector<study> in;
    combination found;
};
const std::vector<rule>& rules() {
    static const std::vector<rule> all{
        {{budget},
         {shards_of_prices, shards_of_greeks, shards_of_scenarios, shards_of_differences},
         {impossible, "it depends on the clock, which differs between processes"}},
        {{tolerance, budget, own_tolerance},
         {study::tune_greeks},
         {no_meaning, "kernels are timed on paths of their own"}},
        {{tolerance, budget, own_tolerance},
         {study::warm, study::tune},
         {no_meaning, "kernels are the same for any number of paths"}},
        {{nested_bounds}, {study::explain}, {no_meaning, "it shows no bound"}},
        {{journal, kept_policies},
         {study::explain, study::warm, study::tune, study::tune_greeks},
         {no_meaning, "they have no result to keep"}},
    };
    return all;
}

// Features that can't be combined with each other.
struct rule_of_two {
    feature one;
    std::vector<feature> others;
    combination found;
};
const std::vector<rule_of_two>& rules_of_two() {
    static const std::vector<rule_of_two> all{
        {replay, {tolerance, budget}, {impossible, "a file of shocks has no more paths to add"}},
        {replay, {own_tolerance}, {left_out, "a file of shocks has no more paths to add"}},
        {replay,
         {points, preintegration, importance, curand},
         {impossible, "the shocks of a file are drawn already"}},
        {replay,
         {controls},
         {impossible, "the mean of a control variate is that of the model, not of the file"}},
        {replay, {decisions}, {impossible, "decisions are made for shocks that are drawn"}},
        {replay,
         {nested_bounds},
         {impossible, "nested paths follow the model, and those of a file another law"}},
    };
    return all;
}

template <class wanted>
bool has(const std::vector<wanted>& all, wanted one) {
    return std::ranges::find(all, one) != all.end();
}

template <class named, std::size_t count>
constexpr auto listed(const std::array<named, count>& names) {
    std::array<decltype(named::is), count> out{};
    std::ranges::transform(names, out.begin(), &named::is);
    return out;
}

}  // namespace

std::span<const study> all_studies() {
    static constexpr auto all = listed(study_names);
    return all;
}

std::span<const feature> all_features() {
    static constexpr auto all = listed(feature_names);
    return all;
}

std::string_view name_of(study s) {
    return std::ranges::find(study_names, s, &named_study::is)->name;
}

std::string_view name_of(feature f) {
    return std::ranges::find(feature_names, f, &named_feature::is)->name;
}

combination combined(study s, feature f) {
    for (const rule& r : rules())
        if (has(r.of, f) && has(r.in, s)) return r.found;
    return {};
}

combination combined(feature a, feature b) {
    for (const rule_of_two& r : rules_of_two())
        if ((r.one == a && has(r.others, b)) || (r.one == b && has(r.others, a))) return r.found;
    return {};
}

std::string sentence(const combination& of, std::string_view name, std::string_view other) {
    switch (of.is) {
        case works:
            return fmt::format("{} goes with {}", name, other);
        case left_out:
            return fmt::format("{} is left out beside {}: {}", name, other, of.why);
        case no_meaning:
            return fmt::format("{} changes nothing for {}: {}", name, other, of.why);
        case missing:
            return fmt::format("{} does not go with {} yet: {}", name, other, of.why);
        case impossible:
            break;
    }
    return fmt::format("{} does not go with {}: {}", name, other, of.why);
}

std::vector<feature> features_asked(const book& trades, const run_options& options) {
    const std::vector<books::trade>& all = state_of(trades).trades;
    const run_settings said = over(options.overrides, trades.settings());
    const auto any = [&](auto what) { return std::ranges::any_of(all, what); };
    const random::catalogue_entry* const source = !said.random || *said.random == random::chosen_by_pilot
                                                      ? nullptr
                                                      : &random::find(*said.random, random::back_end::gpu);
    const auto is_asked = [&](feature f) {
        switch (f) {
            case feature::controls:
                return said.controls == technique::automatic;
            case points:
                return source != nullptr && source->is_points;
            case preintegration:
                return said.preintegration == technique::automatic;
            case feature::importance:
                return said.importance == technique::automatic;
            case pairs:
                return said.antithetic == antithetic::pairs;
            case rights:
                return any(
                    [](const books::trade& t) { return !t.failure && t.product && plan::has_rights(t); });
            case nested_bounds:
                return said.upper == upper_bound::nested;
            case tolerance:
                return said.tolerance.has_value();
            case budget:
                return said.budget.has_value();
            case own_tolerance:
                return any([](const books::trade& t) { return t.tolerance.has_value(); });
            case replay:
                return said.replay.has_value();
            case feature::decisions:
                return said.decisions.has_value();
            case policy:
                return said.policy.has_value();
            case kept_policies:
                return options.keep_policies;
            case journal:
                return !options.journal.empty();
            case curand:
                return source != nullptr && !source->is_keyed;
            case single_fast:
                break;
        }
        return said.precision == precision::single_fast;
    };
    std::vector<feature> out;
    std::ranges::copy_if(all_features(), std::back_inserter(out), is_asked);
    return out;
}

void studies::refuse_combinations(study s, std::span<const feature> asked) {
    for (const feature f : asked)
        if (const combination c = combined(s, f); c.is_refused())
            throw error(error_kind::usage, sentence(c, name_of(f), name_of(s)));
    for (std::size_t i = 0; i < asked.size(); ++i)
        for (std::size_t k = 0; k < i; ++k)
            if (const combination c = combined(asked[k], asked[i]); c.is_refused())
                throw error(error_kind::usage, sentence(c, name_of(asked[k]), name_of(asked[i])));
}

namespace {

std::vector<std::string> sentences_on(feature f, bool also_on_what_changes_nothing) {
    std::vector<std::string> out;
    for (const rule& r : rules()) {
        if (!has(r.of, f) || (r.found.is == no_meaning && !also_on_what_changes_nothing)) continue;
        std::vector<std::string> names;
        for (const study s : r.in) names.emplace_back(name_of(s));
        out.push_back(sentence(r.found, name_of(f), config::joined(names, ", ", " and ")));
    }
    return out;
}

std::string_view mark_of(standing is) {
    switch (is) {
        case works:
            return "+";
        case left_out:
            return "o";
        case no_meaning:
            return ".";
        case missing:
            return "-";
        case impossible:
            break;
    }
    return "x";
}

}  // namespace

std::vector<std::string> remarks_on_other_studies(std::span<const feature> asked) {
    std::vector<std::string> out;
    for (const feature f : asked)
        for (std::string& one : sentences_on(f, false)) out.push_back(std::move(one));
    return out;
}

std::string combinations_text() {
    constexpr std::size_t width = 28;
    std::string out = fmt::format("{:{}}", "", width);
    for (std::size_t k = 1; k <= feature_names.size(); ++k) out += fmt::format("{:>3}", k);
    out += '\n';
    for (const named_study& s : study_names) {
        out += fmt::format("{:{}}", s.name, width);
        for (const named_feature& f : feature_names)
            out += fmt::format("{:>3}", mark_of(combined(s.is, f.is).is));
        out += '\n';
    }
    out += '\n';
    for (std::size_t k = 0; k < feature_names.size(); ++k)
        out += fmt::format("{:>2} {}\n", k + 1, feature_names[k].name);
    out +=
        "\n+ works   - is refused, and may come   x is refused, by mathematics\n"
        "o is left out, and the trade's row says so   . changes nothing\n\n";
    constexpr std::size_t most = 100, indent = 2;
    const auto say = [&](const std::string& one) { out += report::hanging(one + ".", most, indent); };
    for (const named_feature& f : feature_names)
        for (const std::string& one : sentences_on(f.is, true)) say(one);
    out += "\nFeatures beside each other, in every study:\n";
    for (const rule_of_two& r : rules_of_two())
        for (const feature f : r.others) say(sentence(r.found, name_of(f), name_of(r.one)));
    return out;
}

}  // namespace tilewalk
