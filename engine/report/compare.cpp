// SPDX-License-Identifier: Apache-2.0
// Two results side by side, in standard errors.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <ostream>

#include "engine/report/columns.h"
#include "engine/report/numbers.h"
#include "tilewalk/results.h"

namespace tilewalk {

namespace {

using finding = price_difference::finding;

price_difference only(const price_row& row, finding found) {
    price_difference d;
    d.trade = row.trade;
    d.currency = row.currency;
    d.found = found;
    return d;
}

price_difference compare(const price_row& a, const price_row& b) {
    price_difference d = only(a, finding::compared);
    const bool failed_a = a.status == trade_status::failed, failed_b = b.status == trade_status::failed;
    if (failed_a || failed_b) {
        d.found = failed_a && failed_b ? finding::failed_both
                  : failed_a           ? finding::failed_first
                                       : finding::failed_second;
        return d;
    }
    d.first = a.price;
    d.second = b.price;
    if (a.currency != b.currency) {
        d.found = finding::other_currency;
        d.currency = a.currency + " -> " + b.currency;
        return d;
    }
    d.difference = b.price - a.price;
    d.error = std::hypot(a.standard_error, b.standard_error);
    if (d.difference != 0)
        d.z = d.error > 0 ? d.difference / d.error
                          : std::copysign(std::numeric_limits<double>::infinity(), d.difference);
    d.same_bits = a.price == b.price && std::signbit(a.price) == std::signbit(b.price) &&
                  a.standard_error == b.standard_error;
    return d;
}

std::string verdict(const price_difference& d, double limit) {
    switch (d.found) {
        case finding::compared:
            return d.same_bits ? "same bits" : d.within(limit) ? "within" : "BEYOND";
        case finding::only_first:
            return "ONLY IN FIRST";
        case finding::only_second:
            return "ONLY IN SECOND";
        case finding::failed_first:
            return "FAILED IN FIRST";
        case finding::failed_second:
            return "FAILED IN SECOND";
        case finding::failed_both:
            return "failed in both";
        case finding::other_currency:
            return "OTHER CURRENCY";
    }
    return {};
}

std::string described(const run_manifest& m) {
    return "tilewalk " + printable(m.version) + ", " + report::counted(m.paths, "path") + ", seed " +
           std::to_string(m.seed) + (m.as_of.empty() ? "" : ", as of " + printable(m.as_of)) + '\n';
}

// Files of the second run whose bytes the first did not read.
std::string changed_inputs(const comparison& c) {
    std::string out;
    for (const auto& input : c.second.inputs)
        if (std::ranges::find(c.first.inputs, input.hash, &input_file::hash) == c.first.inputs.end())
            out += (out.empty() ? "" : ", ") + printable(input.file);
    return out.empty() ? "" : "inputs that are new or changed in second: " + out + '\n';
}

}  // namespace

bool price_difference::within(double limit) const {
    if (found == finding::compared) return std::abs(z) <= limit;
    return found == finding::failed_both;
}

std::size_t comparison::beyond(double limit) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(rows, [limit](const price_difference& d) { return !d.within(limit); }));
}

comparison compare(const results& first, const results& second) {
    comparison c;
    c.first = first.manifest;
    c.second = second.manifest;
    c.common_random_numbers =
        first.manifest.seed == second.manifest.seed && first.manifest.paths == second.manifest.paths;
    // Trades that share an id are matched in their order.
    std::map<std::string, std::vector<std::size_t>, std::less<>> places;
    for (std::size_t i = second.rows.size(); i-- > 0;) places[second.rows[i].trade].push_back(i);
    std::vector<bool> met(second.rows.size());
    for (const auto& row : first.rows) {
        const auto at = places.find(row.trade);
        if (at == places.end() || at->second.empty()) {
            c.rows.push_back(only(row, finding::only_first));
            continue;
        }
        const std::size_t other = at->second.back();
        at->second.pop_back();
        met[other] = true;
        c.rows.push_back(compare(row, second.rows[other]));
    }
    for (std::size_t i = 0; i < second.rows.size(); ++i)
        if (!met[i]) c.rows.push_back(only(second.rows[i], finding::only_second));
    return c;
}

void write(std::ostream& out, const comparison& c, double limit) {
    using report::align;
    std::string text =
        "first:  " + described(c.first) + "second: " + described(c.second) + changed_inputs(c) + '\n';
    report::columns table({{"trade"},
                           {"currency"},
                           {"first", align::point},
                           {"second", align::point},
                           {"difference", align::right},
                           {"std error", align::right},
                           {"in errors", align::point},
                           {"verdict"}});
    std::uint64_t same = 0, compared = 0;
    for (const auto& d : c.rows) {
        std::vector<std::string> cells{printable(d.trade), printable(d.currency)};
        if (d.found == finding::compared) {
            compared += 1;
            same += d.same_bits;
            cells.insert(cells.end(),
                         {report::justified(d.first, d.error), report::justified(d.second, d.error),
                          report::significant(d.difference, 3), report::significant(d.error, 3),
                          std::isfinite(d.z) ? report::fixed(d.z, 2) : report::shortest(d.z)});
        } else {
            cells.insert(cells.end(), 5, "");
        }
        cells.push_back(verdict(d, limit));
        table.add(std::move(cells));
    }
    text += c.rows.empty() ? "no trades\n" : table.text();
    const std::uint64_t beyond = c.beyond(limit);
    text += "\n" + report::counted(c.rows.size(), "trade") + ": " + std::to_string(compared) +
            " priced in both, " + std::to_string(same) + " to the same bits; " + std::to_string(beyond) +
            " beyond " + report::shortest(limit) + " standard errors, missing or failed in one\n";
    text +=
        c.common_random_numbers
            ? "seed and paths are the same, so the random numbers are common and no difference is chance: "
              "it\n"
              "comes from the inputs or the version; the standard error shown is that of independent runs\n"
            : "seed or paths differ: the two runs are taken as independent\n";
    out << text;
}

}  // namespace tilewalk
