// SPDX-License-Identifier: Apache-2.0
// Trades of the library's products in any market: the products' examples, on assets and currencies of it.
#pragma once

#include <atomic>
#include <span>
#include <string>
#include <vector>

#include "engine/decide/settled.h"
#include "engine/reading/book_state.h"
#include "tilewalk/engine.h"
#include "tilewalk/market.h"

namespace tilewalk::studies {

struct library_trades {
    // A product has several trades if assets, or currencies, of the market move in several forms. Ids are
    // such as "asian", or "asian/ACME" then.
    std::vector<books::trade> trades;
    std::vector<unwarmed> left_out;
};
// Assets have the same form if trades on them have the same programs. A product on several assets takes
// others of the first one's currency and form, as far as there are any. Amounts follow the spot. `products`
// as in engine::warm_library.
library_trades library_trades_in(const market& in, const settled& run, std::span<const std::string> products,
                                 const std::atomic<bool>* cancel);

}  // namespace tilewalk::studies
