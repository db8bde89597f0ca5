// SPDX-License-Identifier: Apache-2.0
#include "engine/study/scenarios/next_day.h"

#include <memory>

#include "engine/market/market_state.h"
#include "engine/reading/book_state.h"
#include "engine/reading/market_changes.h"
#include "engine/reading/rolled.h"
#include "tilewalk/error.h"

namespace tilewalk::studies {

namespace {
constexpr int one_day = 1;
}

next_day::next_day(const market& today) {
    try {
        const auto now = std::make_shared<const markets::market_state>(state_of(today));
        in_ =
            with_state<market>(std::make_shared<const markets::market_state>(markets::rolled(now, one_day)));
    } catch (const error& e) {
        if (e.kind() != error_kind::input) throw;
        why_not_ = "a day later it is no market: " + e.message();
    }
}

book next_day::aged(const book& trades) const {
    auto out = std::make_shared<books::book_state>(state_of(trades));
    for (books::trade& t : out->trades) t = books::rolled(std::move(t), one_day);
    return with_state<book>(std::move(out));
}

}  // namespace tilewalk::studies
