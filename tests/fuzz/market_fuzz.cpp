// SPDX-License-Identifier: Apache-2.0
// Any bytes as a market; in one that is accepted, trades are planned.
#include "engine/book/book_state.h"
#include "engine/market/market_state.h"
#include "engine/plan/trade_program.h"
#include "tests/fuzz/fuzzed.h"
#include "tilewalk/book.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using tilewalk::error;
    static const auto book = tilewalk::book::parse(
        "trades:\n"
        "  - {id: a, product: european, underlying: ACME, strike: 100, maturity: 1.5}\n"
        "  - {id: b, product: asian, underlying: GAMMA, strike: 65, averaging_dates: {start: 0, end: 1, "
        "count: 4}, "
        "currency: USD}\n");
    try {
        const auto market = tilewalk::market::parse(tilewalk::fuzzed::text_of(data, size), "market.yaml");
        for (const auto& trade : book.state().trades) tilewalk::plan::plan_trade(trade, market.state());
    } catch (const error& e) {
        tilewalk::fuzzed::check_refusal(e);
    }
    return 0;
}
