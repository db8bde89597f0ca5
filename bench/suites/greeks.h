// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/measure/suites.h"
#include "tilewalk/results.h"

namespace tilewalk::bench::greeks {

// A trade of 252 steps, and the sensitivities requested.
struct example {
    std::string_view name;  // name in rows
    std::string (*book)();  // market and trade, in YAML
    std::vector<std::string> wanted,
        differenced;          // measures and keys asked for; those to check by differences of prices
    std::size_t numbers = 0;  // number of sensitivities to market numbers
    // Limits on the time of price and sensitivities, in multiples of the price's time; 0: none.
    double target_on_gpu = 0, target_in_single_fast = 0, target_on_one_core = 0;

    double target(std::string_view device, std::string_view precision) const;
};
std::span<const example> examples();

struct place {
    std::string device;  // as run_settings::device says it
    std::string precision;
    std::uint64_t paths = 0, checked = 0;
    int threads = 0;
};

// Says why sensitivities are wrong and can't be timed; empty if right. `got` and `price` are on equal paths;
// `on_cpu` in the same precision, in double for single_fast; `moved` are differences of CPU prices.
std::string why_wrong(const results& got, const results& price, const results& on_cpu, const results& moved,
                      const example& of, bool has_bits_of_cpu);

void measure(const place& at, const example& of, const stop_rule& until, const std::atomic<bool>* cancel,
             const sink& to);

}  // namespace tilewalk::bench::greeks
