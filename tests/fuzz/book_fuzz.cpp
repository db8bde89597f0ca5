// SPDX-License-Identifier: Apache-2.0
// Any bytes as a book. The two ways of reading YAML (`reads_entries`) must agree on the values and on whether
// the text is refused, but not on which of several mistakes; the first trades are planned.
#include <algorithm>

#include "engine/base/text/document.h"
#include "engine/market/market_state.h"
#include "engine/plan/trade_program.h"
#include "engine/reading/book_state.h"
#include "tests/fuzz/fuzzed.h"
#include "tilewalk/book.h"

namespace {

using tilewalk::error;
using tilewalk::config::limits;
using tilewalk::config::node;

void write(const node& value, std::string& out) {
    out += to_string(value.where()) + ' ' + value.key_path() + ' ' + value.found() + '\n';
    if (value.is_sequence()) {
        for (const auto& item : value.items()) write(item, out);
    } else if (value.is_mapping()) {
        for (const auto& member : value.members()) {
            out += to_string(member.where()) + ' ' + member.key + '\n';
            write(member.value, out);
        }
    }
}

std::string written(std::string_view yaml, bool reads_entries) {
    try {
        std::string out;
        write(tilewalk::config::parse(yaml, "f", {.reads_entries = reads_entries}), out);
        return out;
    } catch (const error& e) {
        tilewalk::fuzzed::check_refusal(e);
        return "refused";
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view yaml = tilewalk::fuzzed::text_of(data, size);
    const std::string quickly = written(yaml, true), slowly = written(yaml, false);
    tilewalk::fuzzed::demand(quickly == slowly, "the two ways of reading differ",
                             quickly + "\n---\n" + slowly);

    static const tilewalk::market market = tilewalk::market::parse(tilewalk::fuzzed::market_text);
    try {
        const auto book = tilewalk::book::parse(yaml, "book.yaml", "/nowhere");
        const auto& trades = state_of(book).trades;
        for (std::size_t i = 0; i < std::min<std::size_t>(trades.size(), 3); ++i) {
            if (trades[i].failure) {
                tilewalk::fuzzed::check_refusal(*trades[i].failure);
                continue;
            }
            try {
                tilewalk::plan::plan_trade(trades[i], state_of(market));
            } catch (const error& e) {
                tilewalk::fuzzed::check_refusal(e);
            }
        }
    } catch (const error& e) {
        tilewalk::fuzzed::check_refusal(e);
    }
    return 0;
}
