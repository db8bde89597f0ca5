// SPDX-License-Identifier: Apache-2.0
// Any bytes as a scenario file, in YAML or CSV, read for a small market, to which no scenario is applied.
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
