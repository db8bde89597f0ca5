// SPDX-License-Identifier: Apache-2.0
#include "engine/market/term_reader.h"

#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/text/time_reader.h"
#include "engine/market/wording.h"

namespace tilewalk::markets {

using config::node;

void expect_mapping(const node& value, std::string_view expected) {
    if (!value.is_mapping()) value.fail("found " + value.found() + ", expected " + std::string(expected));
}

void expect_sequence(const node& value, std::string_view expected) {
    if (!value.is_sequence()) value.fail("found " + value.found() + ", expected " + std::string(expected));
}

double read_in_range(const node& value, range_check check) {
    const double number = value.number();
    if (check(number, {})) value.fail(*check(number, value.text()));
    return number;
}

double read_rate(const node& value) {
    return read_in_range(value, check_rate);
}

double read_volatility_level(const node& value) {
    return read_in_range(value, check_volatility);
}

double read_positive(const node& value, std::string_view what) {
    const double number = value.number();
    if (check_positive(number, what, {})) value.fail(*check_positive(number, what, value.text()));
    return number;
}

namespace {

struct pillars {
    std::vector<double> years;
    std::vector<double> values;
    std::vector<const node::member*> members;
};

template <class ReadValue>
pillars read_pillars(const node& value, dates::date as_of, std::string_view what, ReadValue read_value) {
    expect_mapping(value, "a mapping of dates or years to " + std::string(what) +
                              ", such as {0.5: ..., 2027-01-15: ...}");
    if (value.members().empty()) value.fail("found no pillars, expected at least one");
    pillars read;
    for (const node::member& pillar : value.members()) {
        const double years = config::read_time_point(pillar).years(as_of);
        if (!(years > 0)) {
            pillar.fail("found the pillar " + pillar.key + ", expected one after as_of (" +
                        dates::to_string(as_of) + ")");
        }
        if (!read.years.empty() && years <= read.years.back()) {
            pillar.fail("found the pillar " + pillar.key + " after " + read.members.back()->key +
                        ", expected strictly increasing times");
        }
        read.years.push_back(years);
        read.values.push_back(read_value(pillar.value));
        read.members.push_back(&pillar);
    }
    return read;
}

dates::day_count read_day_count(const node& value) {
    const auto count = value.is_scalar() ? dates::parse_day_count(value.text()) : std::nullopt;
    if (count) return *count;
    std::vector<std::string> known;
    for (const dates::day_count_entry& entry : dates::day_counts) known.emplace_back(entry.name);
    value.fail_word(known);
}

// Factor from a flat rate by `count` to one by ACT/365F. Fails at `convention` if the years of `count` vary.
double per_year(dates::day_count count, const node* convention) {
    if (count == dates::day_count::act_365f) return 1;
    if (count == dates::day_count::act_360) return 365.0 / 360.0;
    convention->fail(
        "found " + convention->found() +
        " for a rate without pillars, expected ACT/365F or ACT/360: only they count every year alike");
}

}  // namespace

curve read_curve(const node& value, dates::date as_of, bool may_move) {
    const std::string forms = "one of {rate: ...}, {zero_rates: {...}} or {discount_factors: {...}}";
    expect_mapping(value, forms);
    std::vector<std::string> keys{"rate", "zero_rates", "discount_factors", "day_count"};
    if (may_move) keys.emplace_back("model");
    value.only(keys);
    const node* const rate = value.find("rate");
    const node* const rates = value.find("zero_rates");
    const node* const factors = value.find("discount_factors");
    const int given = (rate ? 1 : 0) + (rates ? 1 : 0) + (factors ? 1 : 0);
    const std::string found = "found " + std::to_string(given) + " forms of a curve, expected " + forms;
    if (given == 0) value.fail_incomplete(found);
    if (given > 1) value.fail(found);
    const node* const convention = value.find("day_count");
    const dates::day_count count = convention ? read_day_count(*convention) : dates::day_count::act_365f;
    if (rate) return curve::flat(read_rate(*rate) * per_year(count, convention));
    if (rates) {
        pillars read = read_pillars(*rates, as_of, "rates", read_rate);
        for (std::size_t i = 0; i < read.years.size(); ++i) {
            // A pillar given in years has the same time under every day count, so its rate stays as written.
            const auto day = dates::parse_date(read.members[i]->key);
            if (day) read.values[i] *= dates::year_fraction(as_of, *day, count) / read.years[i];
        }
        return curve::from_zero_rates(std::move(read.years), std::move(read.values));
    }
    if (convention) convention->fail("found a day count beside discount factors, which need none");
    pillars read =
        read_pillars(*factors, as_of, "discount factors", [](const node& factor) { return factor.number(); });
    for (std::size_t i = 0; i < read.years.size(); ++i) {
        const node& factor = read.members[i]->value;
        if (check_discount_factor(read.values[i], read.years[i], {}))
            factor.fail(*check_discount_factor(read.values[i], read.years[i], factor.text()));
    }
    return curve::from_discount_factors(std::move(read.years), std::move(read.values));
}

volatility read_volatility(const node& value, dates::date as_of) {
    if (value.is_scalar()) return volatility::flat(read_volatility_level(value));
    if (!value.is_mapping()) {
        value.fail("found " + value.found() +
                   ", expected a volatility such as 0.2, or one by term such as {0.5: 0.2, 2.0: 0.25}");
    }
    pillars read = read_pillars(value, as_of, "volatilities", read_volatility_level);
    if (const std::size_t at = volatility::falls_at(read.years, read.values); at < read.years.size()) {
        const auto variance = [&](std::size_t i) { return read.values[i] * read.values[i] * read.years[i]; };
        read.members[at]->fail("the total variance falls from " + rounded(variance(at - 1)) + " at " +
                               read.members[at - 1]->key + " (volatility " + rounded(read.values[at - 1]) +
                               ") to " + rounded(variance(at)) + " at " + read.members[at]->key +
                               " (volatility " + rounded(read.values[at]) +
                               "), expected a volatility of at least " +
                               rounded(std::sqrt(variance(at - 1) / read.years[at])) + " there");
    }
    return volatility::by_term(std::move(read.years), std::move(read.values));
}

}  // namespace tilewalk::markets
