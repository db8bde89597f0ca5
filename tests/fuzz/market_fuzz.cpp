// SPDX-License-Identifier: Apache-2.0
// Any bytes as a market. An accepted market, written and read back, is the same; setting its numbers to their
// own values changes nothing; trades can be planned in it.
#include "engine/market/market_state.h"
#include "engine/plan/trade_program.h"
#include "engine/reading/book_state.h"
#include "tests/fuzz/fuzzed.h"
#include "tilewalk/book.h"

namespace {

bool is_shared(const tilewalk::market& in, const std::string& key) {
    try {
        in.number(key);
        return false;
    } catch (const tilewalk::error& e) {
        return e.kind() == tilewalk::error_kind::usage;
    }
}

void check_values(const tilewalk::market& read) {
    constexpr std::size_t most_numbers = 50;
    using tilewalk::fuzzed::demand;
    const auto written = read.written();
    demand(tilewalk::market::from_value(written, "market.yaml").written() == written,
           "written as another market", written.yaml());
    std::vector<tilewalk::market_change> same;
    for (const auto& n : read.numbers()) {
        if (same.size() == most_numbers) break;
        if (!is_shared(read, n.key)) same.push_back({n.key, n.value, tilewalk::market_change::way::set});
    }
    demand(read.changed(same).changes().empty(), "changed by its own numbers", written.yaml());
}

}  // namespace

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
        check_values(market);
        for (const auto& trade : state_of(book).trades) tilewalk::plan::plan_trade(trade, state_of(market));
    } catch (const error& e) {
        tilewalk::fuzzed::check_refusal(e);
    }
    return 0;
}
