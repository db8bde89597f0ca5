// SPDX-License-Identifier: Apache-2.0
// Compares the prices of two results: differences in money, and in standard errors.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <ostream>

#include "engine/base/columns.h"
#include "engine/base/shown_numbers.h"
#include "engine/base/wording.h"
#include "engine/decide/followed.h"
#include "engine/study/estimate.h"
#include "engine/tell/manifest_text.h"
#include "engine/walk/cuda/compile/reductions.h"
#include "engine/walk/units.h"
#include "tilewalk/compare.h"
#include "tilewalk/printable.h"
#include "tilewalk/setting_table.h"

namespace tilewalk {

namespace {

using finding = price_difference::finding;

constexpr double many_degrees = 1e6;

price_difference only(const price_row& row, finding found) {
    price_difference d;
    d.trade = row.trade;
    d.currency = row.currency;
    d.found = found;
    return d;
}

// The difference in standard errors. For few degrees of freedom, the normal quantile that is as unlikely.
double z_of(const price_difference& d, double freedom) {
    if (!(d.error > 0) || !std::isfinite(d.difference))
        return std::copysign(std::numeric_limits<double>::infinity(), d.difference);
    const double z = d.difference / d.error;
    return freedom < many_degrees ? run::normal_of_student(z, freedom) : z;
}

// Degrees of freedom of the error of a difference of two independent prices (Welch-Satterthwaite).
double freedom_of(const price_row& a, const price_row& b) {
    const double x = a.standard_error * a.standard_error, y = b.standard_error * b.standard_error;
    return (x + y) * (x + y) / (x * x / a.degrees_of_freedom() + y * y / b.degrees_of_freedom());
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
    if (d.difference != 0) d.z = z_of(d, freedom_of(a, b));
    d.same_bits = a.price == b.price && std::signbit(a.price) == std::signbit(b.price) &&
                  a.has_error() == b.has_error() && (a.standard_error == b.standard_error || !a.has_error());
    d.other_quantity = a.quantity != b.quantity;
    return d;
}

void take_error_of_parts(price_difference& d, const price_row& a, const price_row& b, const run_manifest& m) {
    if (d.found != finding::compared || m.part_paths == 0 || a.part_means.size() < least_parts ||
        a.part_means.size() != b.part_means.size() || a.paths != b.paths || a.paths % m.paths != 0)
        return;
    const studies::run_parts parts(m);
    const studies::estimate change =
        studies::estimate(b.part_means, parts) - studies::estimate(a.part_means, parts);
    // Independent paths added to reach a tolerance have no part means: scale the error to all paths.
    const bool has_more = a.randomisations == 0 && a.paths > m.paths;
    d.error = change.error() *
              (has_more ? std::sqrt(static_cast<double>(m.paths) / static_cast<double>(a.paths)) : 1);
    d.error_of_parts = true;
    if (d.difference != 0) d.z = z_of(d, std::min(a.degrees_of_freedom(), b.degrees_of_freedom()));
}

// The row with the value of its policy as the price, to compare it with a price that has no upper bound.
price_row by_policy(price_row row) {
    row.price = row.early->policy_value;
    row.standard_error = row.early->policy_error;
    row.part_means = row.early->part_means;
    return row;
}

bool goes_by_size(const comparison& c, const difference_rule& by) {
    return by.tolerance || c.common_random_numbers;
}

// True if both prices use as many random numbers, and the same quasi-random points if any. A walk fingerprint
// of 0 is unknown: results of earlier versions have none.
bool draws_alike(const price_row& a, const price_row& b) {
    return a.randomisations == b.randomisations && a.construction == b.construction && a.paths == b.paths &&
           (a.randomisations == 0 || a.walk == b.walk || a.walk == 0 || b.walk == 0);
}

std::string verdict(const comparison& c, const price_difference& d, const difference_rule& by) {
    switch (d.found) {
        case finding::compared:
            if (d.same_bits) return "same bits";
            if (!c.agrees(d, by)) return by.tolerance || d.common_random_numbers ? "differs" : "BEYOND";
            return d.difference == 0 ? "same price" : "within";
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

// True if different values of the setting mean different random numbers, or other uses of them. All
// precisions but double draw the same shocks.
bool changes_draws(const std::string& setting, const comparison& c) {
    if (setting == "precision") return (c.first.precision == "double") != (c.second.precision == "double");
    static constexpr std::array changing{"paths",        "seed",     "random",     "randomisations",
                                         "construction", "controls", "antithetic", "preintegration",
                                         "importance",   "replay"};
    return std::ranges::find(changing, setting) != changing.end();
}

bool are_numbered_alike(const comparison& c) {
    return c.first.numbered_by == c.second.numbered_by;
}

// True if the GPU added numbers in the order of their arrival, so that the last bits are left to chance.
bool varies(const run_manifest& m) {
    const std::string name = m.settings.reduction.value_or(*default_settings().reduction);
    return !m.devices.empty() && std::ranges::none_of(cuda::reductions(), [&](const auto& known) {
        return known.name == name && known.keeps_bits;
    });
}

std::string that_differ(const std::vector<std::string>& words) {
    return config::joined(words, ", ", " and ") + (words.size() == 1 ? " differs" : " differ");
}

std::uint64_t steps_of(const run_manifest& m) {
    return m.paths == 0 ? 0 : m.path_steps / m.paths;
}

std::string reasons(const comparison& c) {
    std::vector<std::string> draws, bits, harmless;
    const bool sums_vary = varies(c.first) || varies(c.second);
    for (const auto& name : report::settings_that_differ(c.first, c.second)) {
        const auto known = std::ranges::find(setting_table(), name, &run_setting::name);
        const bool decides_bits = name == "reduction" ? sums_vary : known->decides_bits;
        (changes_draws(name, c) ? draws : decides_bits ? bits : harmless).push_back(name);
    }
    if (!are_numbered_alike(c)) draws.emplace_back("the numbering of random numbers");
    // Adding in the order of arrival changes bits even if both runs have the same settings.
    if (sums_vary && std::ranges::find(bits, "reduction") == bits.end()) bits.emplace_back("reduction");
    // The kind of device matters to single_fast alone, which uses the hardware's approximations.
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
        const bool is_any = std::ranges::any_of(c.rows, [](const price_difference& d) {
            return d.found == finding::compared && d.common_random_numbers && !d.same_bits;
        });
        const bool has_other_steps = steps_of(c.first) != steps_of(c.second);
        for (auto& name : bits) name.insert(0, "the ");
        bits.insert(bits.end(), {"the inputs", "the version"});
        if (is_any && has_other_steps)
            out = "the time grids differ, in all " + std::to_string(steps_of(c.first)) + " and " +
                  report::counted(steps_of(c.second), "step") +
                  " a path: a trade whose grid differs has other random numbers, so its difference may be "
                  "chance; other differences come from " +
                  config::joined(bits, ", ", " or ") + '\n';
        else if (is_any)
            out = "the runs share random numbers, so no difference is chance: it comes from " +
                  config::joined(bits, ", ", " or ") + '\n';
    } else {
        out = that_differ(draws) +
              ", so the runs have different random numbers and are treated as independent\n";
    }
    if (!harmless.empty())
        out +=
            that_differ(harmless) + "; no price depends on " + (harmless.size() == 1 ? "it" : "them") + '\n';
    return out;
}

std::string changed_inputs(const comparison& c) {
    std::string out;
    for (const auto& input : c.second.inputs)
        if (std::ranges::find(c.first.inputs, input.hash, &input_file::hash) == c.first.inputs.end())
            out += (out.empty() ? "" : ", ") + printable(input.file);
    return out.empty() ? "" : "inputs new or changed in the second run: " + out + '\n';
}

// Keys of market numbers that only one of the runs changed, or that both changed to different values.
std::string changed_numbers(const comparison& c) {
    std::vector<std::string> keys;
    const auto add = [&](const std::vector<market_number>& these, const std::vector<market_number>& others) {
        for (const market_number& n : these) {
            const bool is_there = std::ranges::any_of(others, [&](const market_number& o) {
                return o.key == n.key && report::shortest(o.value) == report::shortest(n.value);
            });
            const std::string key = printable(n.key);
            if (!is_there && std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
        }
    };
    add(c.first.market_changes, c.second.market_changes);
    add(c.second.market_changes, c.first.market_changes);
    if (keys.empty()) return "";
    constexpr std::size_t most = 8;
    const std::size_t more = keys.size() - std::min(keys.size(), most);
    keys.resize(keys.size() - more);
    return "numbers of the market that the runs changed differently: " + config::joined(keys) +
           (more > 0 ? " and " + std::to_string(more) + " more" : "") + '\n';
}

std::string shown(const price_tolerance& t) {
    return t.is_of_price ? report::shortest(t.size * 1e4) + "bp of the first price"
                         : report::shortest(t.size) + " in the trade's currency";
}

std::string told(const comparison& c, const difference_rule& by) {
    if (by.tolerance) return "rule: prices of one unit may differ by " + shown(*by.tolerance) + '\n';
    if (c.common_random_numbers)
        return "rule: the same random numbers, so prices must be equal; --tolerance allows differences\n";
    return "rule: independent random numbers, so prices may differ by " + report::shortest(by.limit) +
           " standard errors\n";
}

constexpr const char* own_errors_text =
    "std error: that of the difference, from its spread over the parts of the run\n";

struct named_trades {
    std::uint64_t count = 0;
    std::string names{};
};
template <class F>
named_trades trades_that(const comparison& c, const F& counts) {
    named_trades out;
    for (const auto& d : c.rows) {
        if (!counts(d)) continue;
        constexpr std::uint64_t most_named = 5;
        if (++out.count <= most_named) out.names += (out.names.empty() ? "" : ", ") + printable(d.trade);
        if (out.count == most_named + 1) out.names += ", ...";
    }
    return out;
}

std::string other_choices(const comparison& c, const difference_rule& by) {
    if (!c.common_random_numbers) return {};
    const auto told_of = [&](const std::string& what, bool decisions) {
        const named_trades of = trades_that(c, [&](const price_difference& d) {
            return d.found == finding::compared && !d.common_random_numbers && d.other_decisions == decisions;
        });
        if (of.count == 0) return std::string();
        return what + " for " + report::counted(of.count, "trade") +
               (by.tolerance ? ""
                             : ", which may differ by " + report::shortest(by.limit) + " standard errors") +
               ": " + of.names + '\n';
    };
    return told_of("pilots chose other random numbers", false) +
           told_of("the runs have different control variates, for example because the time grids differ,",
                   true);
}

std::string changed_quantities(const comparison& c) {
    const named_trades of = trades_that(c, [](const price_difference& d) { return d.other_quantity; });
    if (of.count == 0) return {};
    return "the quantity of " + report::counted(of.count, "trade") +
           " differs; prices of one unit don't show it: " + of.names + '\n';
}

}  // namespace

bool price_difference::within(double limit) const {
    if (found == finding::compared) return std::abs(z) <= limit;
    return found == finding::failed_both;
}

bool price_difference::within_amount(double amount) const {
    if (found == finding::compared) return std::abs(difference) <= amount;
    return found == finding::failed_both;
}

bool comparison::agrees(const price_difference& d, const difference_rule& by) const {
    if (by.tolerance) return d.within_amount(by.tolerance->amount(d.first));
    return d.common_random_numbers ? d.within_amount(0) : d.within(by.limit);
}

std::size_t comparison::differing(const difference_rule& by) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(rows, [&](const price_difference& d) { return !agrees(d, by); }));
}

comparison compare(const results& first, const results& second) {
    comparison c;
    c.first = first.manifest;
    c.second = second.manifest;
    c.common_random_numbers =
        are_numbered_alike(c) &&
        std::ranges::none_of(report::settings_that_differ(c.first, c.second),
                             [&](const std::string& name) { return changes_draws(name, c); });
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
        const auto add = [&](const price_row& a, const price_row& b) {
            price_difference& d = c.rows.emplace_back(compare(a, b));
            const bool are_common = c.common_random_numbers && draws_alike(a, b);
            d.other_decisions =
                are_common && a.decisions != b.decisions &&
                decide::without_derivatives(a.decisions) != decide::without_derivatives(b.decisions);
            d.common_random_numbers = are_common && !d.other_decisions;
            if (d.common_random_numbers) take_error_of_parts(d, a, b, first.manifest);
        };
        const price_row& beside = second.rows[other];
        if (row.early && beside.early && row.early->wide != beside.early->wide)
            add(by_policy(row), by_policy(beside));
        else
            add(row, beside);
    }
    for (std::size_t i = 0; i < second.rows.size(); ++i)
        if (!met[i]) c.rows.push_back(only(second.rows[i], finding::only_second));
    return c;
}

void write(std::ostream& out, const comparison& c, const difference_rule& by, const text_form& form) {
    using report::align;
    const auto line = [&](const std::string& one) { return report::hanging(one, form.columns, 2); };
    const auto lines = [&](const std::string& all) {
        std::string set;
        for (std::size_t at = 0, end = 0; (end = all.find('\n', at)) != std::string::npos; at = end + 1)
            set += line(all.substr(at, end - at));
        return set;
    };
    std::string text = lines("first:  " + described(c.first) + "second: " + described(c.second) +
                             changed_inputs(c) + changed_numbers(c)) +
                       '\n';
    const bool by_size = goes_by_size(c, by);
    std::vector<report::columns::head> heads{{"trade"},
                                             {"verdict"},
                                             {"currency"},
                                             {"first", align::point},
                                             {"second", align::point},
                                             {"difference", align::right}};
    const bool has_own_errors = std::ranges::any_of(c.rows, &price_difference::error_of_parts);
    if (by_size) {
        heads.push_back({"in bp", align::point});
        if (has_own_errors) heads.push_back({"std error", align::right});
    } else {
        heads.insert(heads.end(), {{"std error", align::right}, {"in errors", align::point}});
    }
    report::columns table(heads);
    std::uint64_t same = 0, compared = 0;
    for (const auto& d : c.rows) {
        std::vector<std::string> cells{printable(d.trade), verdict(c, d, by), printable(d.currency)};
        if (d.found == finding::compared) {
            compared += 1;
            same += d.same_bits;
            cells.insert(cells.end(),
                         {report::justified(d.first, d.error), report::justified(d.second, d.error),
                          report::significant(d.difference, 3)});
            const double part = d.difference == 0 ? 0 : 1e4 * (d.difference / std::abs(d.first));
            if (by_size) {
                cells.push_back(std::isfinite(part) ? report::significant(part, 3) : "");
                if (has_own_errors) cells.push_back(d.error_of_parts ? report::significant(d.error, 3) : "");
            } else {
                cells.insert(cells.end(),
                             {is_figure(d.error) ? report::significant(d.error, 3) : "",
                              std::isfinite(d.z) ? report::fixed(d.z, 2) : report::shortest(d.z)});
            }
        } else {
            cells.resize(heads.size());
        }
        table.add(std::move(cells));
    }
    const auto left_out = table.fit(form.columns, {{"trade", 40},
                                                   {"currency", 4},
                                                   {"trade", 24},
                                                   {"std error"},
                                                   {"in bp"},
                                                   {"currency"},
                                                   {"trade", 12},
                                                   {"second"},
                                                   {"trade", 5}});
    text += c.rows.empty() ? "no trades\n" : table.text();
    if (!left_out.empty())
        text += line("left out in " + std::to_string(form.columns) +
                     " columns: " + config::joined(left_out, ", ", " and "));
    const std::uint64_t differing = c.differing(by);
    text +=
        "\n" +
        line(report::counted(c.rows.size(), "trade") + ": " + std::to_string(compared) + " priced in both, " +
             std::to_string(same) + " to the same bits; " + std::to_string(differing) +
             (by_size ? " with other prices" : " beyond " + report::shortest(by.limit) + " standard errors") +
             ", missing or failed in one");
    text += lines(told(c, by) + (by_size && has_own_errors ? own_errors_text : "") + reasons(c) +
                  other_choices(c, by) + changed_quantities(c));
    out << text;
}

}  // namespace tilewalk
