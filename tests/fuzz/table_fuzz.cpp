// SPDX-License-Identifier: Apache-2.0
// Any bytes as a CSV table of trades. One thread and three read the same trades, and the trades written as
// YAML and read back equal the rows.
#include <string>

#include "engine/reading/book_state.h"
#include "tests/fuzz/fuzzed.h"
#include "tilewalk/book.h"

namespace {

std::string told(const tilewalk::book& of) {
    std::string out;
    for (const auto& t : state_of(of).trades) {
        out += t.id + ' ' + to_string(t.where) + ' ' + t.product_name + ' ' + t.currency + '\n';
        if (t.failure) out += std::string(t.failure->what()) + '\n';
    }
    return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using tilewalk::book;
    const std::string_view rows = tilewalk::fuzzed::text_of(data, size);
    try {
        const book one = book::parse(rows, "trades.csv", "/nowhere", {.threads = 1});
        const book several = book::parse(rows, "trades.csv", "/nowhere", {.threads = 3});
        tilewalk::fuzzed::demand(told(one) == told(several), "threads differ",
                                 told(one) + "---\n" + told(several));
        const book again = book::from_value(one.written());
        for (std::size_t i = 0; i < one.size(); ++i) {
            const auto &a = state_of(one).trades[i], &b = state_of(again).trades[i];
            if (a.failure) {
                tilewalk::fuzzed::check_refusal(*a.failure);
                continue;
            }
            tilewalk::fuzzed::demand(!b.failure && a.id == b.id && a.args == b.args,
                                     "written as another trade", a.id);
        }
    } catch (const tilewalk::error& e) {
        tilewalk::fuzzed::check_refusal(e);
    }
    return 0;
}
