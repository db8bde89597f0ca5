// SPDX-License-Identifier: Apache-2.0
// Combinations: which study of a book takes which feature of a run, which features stand beside each other,
// and why the others do not. Refusals, the table of the documentation and the notes of `tilewalk validate`
// follow from this list.
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
    own_tolerance,  // of a trade
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
    left_out,    // of the trades that ask for it, whose rows say so
    no_meaning,  // nothing there depends on it
    missing,     // refused, and nothing but work stands against it
    impossible,  // refused, and the reason is one of mathematics
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
// In all studies.
combination combined(feature a, feature b);

// "importance: auto does not go with greeks yet: ...".
std::string sentence(const combination& of, std::string_view name, std::string_view other);

// Features that the caller or the book names. A default that is left to a pilot, such as `controls: auto`, is
// no demand: it stands back where it can do nothing.
std::vector<feature> features_asked(const book& trades, const run_options& options);
// Throws tilewalk::error (usage) for the first feature that the study does not take, or that does not go with
// another.
void refuse_combinations(study s, std::span<const feature> asked);
// Sentences on the studies that refuse a feature or leave it out.
std::vector<std::string> remarks_on_other_studies(std::span<const feature> asked);

// The table of all studies and features, with the reasons.
std::string combinations_text();

}  // namespace tilewalk
