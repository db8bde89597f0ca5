// SPDX-License-Identifier: Apache-2.0
// Trades whose scripts have more blocks than the masks of a kernel have bits.
#pragma once

#include <fmt/format.h>

#include <string>

namespace tilewalk::tests {

// Products `many_blocks` and (if `calls` is not 0) `called_by_date` as YAML, and a trade of each on `asset`.
// `many_blocks` has `blocks` blocks: one on every step, one on three dates, and others on one date each.
// Every fifth of these shares its date with the block before.
struct many_blocks {
    std::string products, trades;
};
inline many_blocks of_many_blocks(int blocks, const std::string& asset, int calls = 0) {
    const auto day = [](int k) { return fmt::format("{}", 0.05 + 0.02 * (k - (k % 5 == 0 ? 1 : 0))); };
    std::string parameters, values, script;
    for (int k = 1; k <= blocks - 2; ++k) {
        parameters += fmt::format("      d{}: {{type: date, help: A day.}}\n", k);
        values += fmt::format(", d{}: {}", k, day(k));
        script += fmt::format(
            "      on d{}:\n          total = total + {} * max(spot(underlying) - {} * strike, "
            "0) + 0.01 * low\n",
            k, k, 0.8 + 0.01 * (k % 30));
    }
    const std::string last = fmt::format("d{}", blocks - 2);
    many_blocks out;
    const std::string given = "strike: 100, dates: [0.06, 0.21, 0.33]" + values;
    out.products =
        "  - product: many_blocks\n    summary: A test.\n    parameters:\n"
        "      underlying: {type: asset, help: It.}\n      strike: {type: amount, help: It.}\n"
        "      dates: {type: schedule, help: They.}\n" +
        parameters + "    example: {underlying: " + asset + ", " + given +
        "}\n    script: |\n      total = 0\n      low = 2 * strike\n      between start and " + last +
        ":\n          low = min(low, lowest(underlying))\n      on dates:\n          total = " +
        "total + spot(underlying) / 3\n" + script + "          pay total / " + std::to_string(blocks) + "\n";
    out.trades = "  - {id: many, product: many_blocks, underlying: " + asset + ", " + given + "}\n";
    if (calls == 0) return out;
    parameters.clear();
    values.clear();
    script.clear();
    for (int k = 1; k <= calls; ++k) {
        parameters += fmt::format("      c{}: {{type: date, help: A day.}}\n", k);
        values += fmt::format("{}c{}: {}", k == 1 ? "" : ", ", k, 0.25 * k);
        script += fmt::format("      call on c{}:\n          pay {}\n", k, 104 - 0.1 * k);
    }
    const std::string maturity = fmt::format(", maturity: {}", 0.25 * (calls + 1));
    out.products +=
        "  - product: called_by_date\n    summary: A test.\n    parameters:\n"
        "      underlying: {type: asset, help: It.}\n      maturity: {type: date, help: It.}\n" +
        parameters + "    example: {underlying: " + asset + ", " + values + maturity + "}\n    script: |\n" +
        script + "      on maturity:\n          pay max(spot(underlying), 90)\n";
    out.trades +=
        "  - {id: called, product: called_by_date, underlying: " + asset + ", " + values + maturity + "}\n";
    return out;
}

}  // namespace tilewalk::tests
