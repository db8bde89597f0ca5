// SPDX-License-Identifier: Apache-2.0
// Any bytes as a market with quotes to calibrate to; nothing is fitted.
#include "tests/fuzz/fuzzed.h"
#include "tilewalk/calibration.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        tilewalk::market_quotes::parse(tilewalk::fuzzed::text_of(data, size), "quotes.yaml");
    } catch (const tilewalk::error& e) {
        tilewalk::fuzzed::check_refusal(e);
    }
    return 0;
}
