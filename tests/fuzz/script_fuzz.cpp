// SPDX-License-Identifier: Apache-2.0
// Any bytes as a payoff script. The first line names a product of the library, whose example gives the
// arguments. The script gets those of the product's parameters that it names. An accepted script is planned.
#include <algorithm>
#include <map>

#include "engine/market/market_state.h"
#include "engine/plan/trade_program.h"
#include "engine/reading/book_state.h"
#include "engine/reading/library.h"
#include "tests/fuzz/fuzzed.h"
#include "tilewalk/book.h"

namespace {

std::map<std::string, tilewalk::books::trade, std::less<>> examples() {
    std::map<std::string, tilewalk::books::trade, std::less<>> all;
    for (const auto& product : tilewalk::books::read_library()) {
        const auto book = tilewalk::book::parse("trades:\n  - " + product->example + "\n");
        all.emplace(product->name, state_of(book).trades.at(0));
    }
    return all;
}

// The parameters that the script names: a script with an unused parameter would not reach planning.
std::vector<tilewalk::language::parameter> named_in(std::string_view script,
                                                    const std::vector<tilewalk::language::parameter>& all) {
    std::vector<tilewalk::language::parameter> named;
    for (const auto& p : all) {
        const auto needs = [&](const auto& q) {
            return (q.per == p.name || q.same_as == p.name) && script.find(q.name) != std::string_view::npos;
        };
        if (script.find(p.name) != std::string_view::npos || std::any_of(all.begin(), all.end(), needs)) {
            named.push_back(p);
        }
    }
    return named;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using tilewalk::error;
    static const auto known = examples();
    static const tilewalk::market market = tilewalk::market::parse(tilewalk::fuzzed::market_text);
    const std::string_view text = tilewalk::fuzzed::text_of(data, size);
    const std::size_t line_end = text.find('\n');
    if (line_end == std::string_view::npos) return -1;
    const auto found = known.find(text.substr(0, line_end));
    if (found == known.end()) return -1;
    try {
        tilewalk::language::product made = *found->second.product;
        const std::string_view script = text.substr(line_end + 1);
        made.parameters = named_in(script, made.parameters);
        made.payoff = tilewalk::language::script(std::string(script), {"p.yaml", 1, 1}, made.parameters);
        tilewalk::books::trade trade = found->second;
        trade.product = std::make_shared<const tilewalk::language::product>(std::move(made));
        tilewalk::plan::plan_trade(trade, state_of(market));
    } catch (const error& e) {
        tilewalk::fuzzed::check_refusal(e);
    }
    return 0;
}
