// SPDX-License-Identifier: Apache-2.0
// Two results side by side, in standard errors.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <ostream>

#include "engine/cuda/reductions.h"
#include "engine/report/columns.h"
#include "engine/report/manifest_text.h"
#include "engine/report/numbers.h"
#include "tilewalk/results.h"
#include "tilewalk/setting_table.h"

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
           std::to_string(m.seed) + ", " + report::draws_text(m) +
           (m.as_of.empty() ? "" : ", as of " + printable(m.as_of)) +
           (m.devices.empty() ? "" : ", on " + report::devices_text(m.devices)) + '\n';
}

// Of the settings that differ those that change the random numbers: all but double take the same shocks.
bool changes_draws(const std::string& setting, const comparison& c) {
    if (setting == "precision") return (c.first.precision == "double") != (c.second.precision == "double");
    return setting == "paths" || setting == "seed" || setting == "random" || setting == "replay";
}

// Whether the order of additions, and with it the last bits, was left to chance.
bool varies(const run_manifest& m) {
    const std::string name = m.settings.reduction.value_or(*default_settings().reduction);
    return !m.devices.empty() && std::ranges::none_of(cuda::reductions(), [&](const auto& known) {
        return known.name == name && known.keeps_bits;
    });
}

// "a, b or c", with `last` between the last two.
std::string joined(const std::vector<std::string>& words, const std::string& last) {
    std::string out;
    for (std::size_t i = 0; i < words.size(); ++i)
        out += (i == 0 ? "" : i + 1 == words.size() ? last : ", ") + words[i];
    return out;
}

std::string that_differ(const std::vector<std::string>& words) {
    return joined(words, " and ") + (words.size() == 1 ? " differs" : " differ");
}

// What a difference may come from, and what it can't.
std::string reasons(const comparison& c) {
    std::vector<std::string> draws, bits, harmless;
    const bool sums_vary = varies(c.first) || varies(c.second);
    for (const auto& name : report::settings_that_differ(c.first, c.second)) {
        const auto known = std::ranges::find(setting_table(), name, &run_setting::name);
        const bool decides_bits = name == "reduction" ? sums_vary : known->decides_bits;
        (changes_draws(name, c) ? draws : decides_bits ? bits : harmless).push_back(name);
    }
    // Sums in the order of arrival are a reason even between two runs alike.
    if (sums_vary && std::ranges::find(bits, "reduction") == bits.end()) bits.emplace_back("reduction");
    // Only the approximations of the hardware differ between one kind of device and another.
    const bool fast = c.first.precision == "single_fast" && c.second.precision == "single_fast";
    const bool other_device = c.first.devices != c.second.devices;
    if (other_device && std::ranges::find(harmless, "device") == harmless.end())
        harmless.insert(harmless.begin(), "device");
    if (other_device && fast) {
        std::erase(harmless, "device");
        bits.push_back("device");
    }
    std::string out;
    if (c.common_random_numbers) {
        for (auto& name : bits) name.insert(0, "the ");
        bits.insert(bits.end(), {"the inputs", "the version"});
        out = "the random numbers are common, so no difference is chance: it comes from " +
              joined(bits, " or ") + ";\nthe standard error shown is that of independent runs\n";
    } else {
        out = that_differ(draws) +
              ", so the random numbers are not common: the two runs are taken as independent\n";
    }
    if (!harmless.empty())
        out +=
            that_differ(harmless) + "; no price depends on " + (harmless.size() == 1 ? "it" : "them") + '\n';
    return out;
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
        std::ranges::none_of(report::settings_that_differ(c.first, c.second),
                             [&](const std::string& name) { return changes_draws(name, c); });
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
    text += reasons(c);
    out << text;
}

}  // namespace tilewalk
