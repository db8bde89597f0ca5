// SPDX-License-Identifier: Apache-2.0
// Combinations of studies, which are calls such as prices, greeks or scenarios, and features, such as control
// variates: which go together, and why others do not. Error messages, docs/combinations.md and notes of
// `tilewalk validate` follow from this list.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewalk/book.h"
#include "tilewalk/engine.h"

namespace tilewalk {

enum class study : std::uint8_t {
    price,
    price_in_markets,
    greeks,
    greeks_by_bump,
    greeks_of_second_order,
    files_of_greeks,
    scenarios,
    explained_scenarios,
    price_in_session,
    greeks_in_session,
    scenarios_in_session,
    explain,
    warm,
    tune,
    tune_greeks,
    shards_of_prices,
    shards_of_greeks,
    shards_of_scenarios,
    shards_of_differences,
};

enum class feature : std::uint8_t {
    controls,
    points,
    preintegration,
    importance,
    pairs,
    rights,
    nested_bounds,
    tolerance,
    budget,
    own_tolerance,  // tolerance stated in a trade
    replay,
    decisions,
    policy,
    kept_policies,
    journal,
    curand,
    single_fast,
};

enum class standing : std::uint8_t {
    works,
    left_out,    // the study ignores the feature for trades that ask for it; their rows say so
    no_meaning,  // accepted, but without effect on the study
    missing,     // refused because it is not implemented yet
    impossible,  // refused for a mathematical reason
};

struct combination {
    standing is = standing::works;
    std::string_view why{};
    bool is_refused() const { return is == standing::missing || is == standing::impossible; }
};

std::span<const study> all_studies();
std::span<const feature> all_features();
std::string_view name_of(study s);    // "greeks by bump"
std::string_view name_of(feature f);  // "importance: auto"

combination combined(study s, feature f);
combination combined(feature a, feature b);

// Returns a sentence such as "importance: auto does not go with greeks yet: ...".
std::string sentence(const combination& of, std::string_view name, std::string_view other);

// Returns features that `options` or the book asks for by name. Defaults left to pilot runs, such as
// `controls: auto`, do not count.
std::vector<feature> features_asked(const book& trades, const run_options& options);
// Returns sentences about studies that refuse or ignore a feature among `asked`.
std::vector<std::string> remarks_on_other_studies(std::span<const feature> asked);

std::string combinations_text();

}  // namespace tilewalk
