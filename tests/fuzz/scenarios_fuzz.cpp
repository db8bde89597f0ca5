// SPDX-License-Identifier: Apache-2.0
// Any bytes as a scenario file, in YAML or CSV, for a small market; no other market is made.
#include "tests/fuzz/fuzzed.h"
#include "tilewalk/scenarios.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const tilewalk::market in = tilewalk::market::parse(tilewalk::fuzzed::market_text);
    try {
        tilewalk::scenario_list::parse(tilewalk::fuzzed::text_of(data, size), "scenarios.yaml", in);
    } catch (const tilewalk::error& e) {
        tilewalk::fuzzed::check_refusal(e);
    }
    return 0;
}
