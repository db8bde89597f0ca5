// SPDX-License-Identifier: Apache-2.0
#include "engine/study/asked.h"

#include <algorithm>
#include <array>
#include <memory>

#include "engine/decide/followed.h"
#include "engine/decide/settled.h"
#include "engine/reading/book_state.h"
#include "tilewalk/setting_table.h"

namespace tilewalk::studies {

book with_tolerances_of(study s, const book& trades, const run_options& options) {
    combination own = combined(s, feature::own_tolerance);
    if (own.is == standing::works && over(options.overrides, trades.settings()).replay)
        own = combined(feature::own_tolerance, feature::replay);
    const auto has_own = [](const books::trade& t) { return t.tolerance.has_value(); };
    if (own.is == standing::works || std::ranges::none_of(state_of(trades).trades, has_own)) return trades;
    auto walked = std::make_shared<books::book_state>(state_of(trades));
    for (books::trade& t : walked->trades) {
        if (!t.tolerance) continue;
        t.tolerance.reset();
        if (own.is == standing::left_out) t.left_out = sentence(own, "its tolerance", name_of(s));
    }
    return with_state<book>(std::move(walked));
}

book some_of(const book& trades, const std::vector<std::size_t>& places) {
    auto some = std::make_shared<books::book_state>();
    some->name = state_of(trades).name;
    some->settings = state_of(trades).settings;
    for (const std::size_t i : places) {
        some->trades.push_back(state_of(trades).trades[i]);
        some->trades.back().report.reset();
    }
    return with_state<book>(std::move(some));
}

asked_of_study asked_of(study s, const book& trades, const inner_options& options) {
    refuse_combinations(s, features_asked(trades, options));
    asked_of_study out{with_tolerances_of(s, trades, options), options};
    const run_settings said = over(options.overrides, trades.settings());
    if (!said.decisions && !said.policy) return out;
    const settled run = settle(options, state_of(out.trades), {});
    out.options.followed = run.followed;
    constexpr std::array on_paths_of_one_run{study::scenarios, study::explained_scenarios,
                                             study::scenarios_in_session, study::files_of_greeks,
                                             study::shards_of_differences};
    if (run.takes_decided_paths && std::ranges::find(on_paths_of_one_run, s) != on_paths_of_one_run.end())
        out.options.overrides.paths = run.decisions_to_follow()->paths;
    return out;
}

study study_of(const greek_options& wanted) {
    if (wanted.method == greek_method::bump) return study::greeks_by_bump;
    const auto is_of_second_order = [&](const greek_measure& m) {
        return m.order == 2 && std::ranges::find(wanted.wanted, m.name) != wanted.wanted.end();
    };
    const bool any = std::ranges::any_of(greek_measures(), is_of_second_order);
    return any ? study::greeks_of_second_order : study::greeks;
}

}  // namespace tilewalk::studies
