// SPDX-License-Identifier: Apache-2.0
#include "products/language/recording/interest_rates.h"

#include <algorithm>
#include <cmath>
#include <locale>
#include <sstream>
#include <string>
#include <vector>

namespace tilewalk::language::recording {

namespace {

std::string shown(double number) {
    std::ostringstream text;
    text.imbue(std::locale::classic());
    text << number;
    return text.str();
}

}  // namespace

value interest_rates::bond_until(const expression& e, const expression& day) {
    return market_.bond(at_.script.currency_of(e.operands[0]),
                        days_.years_ahead(day, day.where, "'" + e.text + "'"), written(day));
}

value interest_rates::forward_rate(const expression& e) {
    const value from = bond_until(e, e.operands[1]), to = bond_until(e, e.operands[2]);
    const value length = days_.year_fraction(e.operands[1], e.operands[2], days_.day_count_of(e, 3));
    return (from / to - 1.0) / length;
}

const dates::schedule& interest_rates::payments_of(const expression& e) const {
    const dates::schedule& schedule = at_.script.schedule_of(e.operands[2].slot);
    if (schedule.times.empty())
        at_.script.fail(e.where, "'" + e.text + "' is asked for a schedule without dates");
    return schedule;
}

// The payments of a swap that begins on the call's second argument: in each run, the schedule's later dates.
interest_rates::payments interest_rates::payments_of_swap(const expression& e) const {
    payments out{payments_of(e).times, days_.dates_of(e.operands[1]), {}};
    const dates::date as_of = at_.script.as_of();
    for (std::size_t run = 0; run < at_.runs.size(); ++run) {
        const double from = out.begin.of(run).years(as_of);
        std::size_t first = 0;
        while (first < out.times.size() && !(from < out.times[first].years(as_of))) ++first;
        if (first == out.times.size()) {
            at_.script.fail(e.where, "'" + e.text + "' begins at " + written(e.operands[1]) + " (" +
                                         to_string(out.begin.of(run)) +
                                         "), expected before its last payment on " +
                                         to_string(out.times.back()));
        }
        out.first.push_back(first);
    }
    return out;
}

value interest_rates::bond_of_schedule(const expression& e, const payments& of, std::size_t number) {
    const dates::time_point& day = of.times[number];
    const std::string named = written(e.operands[2]) + "[" + std::to_string(number) + "]";
    std::vector<double> years(at_.runs.size(), day.years(at_.script.as_of()));
    for (std::size_t run = 0; run < years.size(); ++run) {
        const double today = at_.runs[run].years;
        if (years[run] >= today - dates::same_time_years) continue;
        if (number >= of.first[run]) {
            at_.script.fail(e.where, "'" + e.text + "' counts the payment on " + to_string(day) + ", date " +
                                         std::to_string(number + 1) + " of '" + written(e.operands[2]) +
                                         "', which on " + to_string(at_.label_of(at_.runs[run])) +
                                         " has passed; expected a schedule of dates to come");
        }
        years[run] = today;  // stands in for a payment that this run weights with 0
    }
    return market_.bond(at_.script.currency_of(e.operands[0]), years, named);
}

value interest_rates::annuity(const expression& e) {
    const dates::date as_of = at_.script.as_of();
    const payments of = payments_of_swap(e);
    const std::string convention = days_.day_count_of(e, 3);
    const dates::day_count count = *dates::parse_day_count(convention);
    const std::string name = convention + " of " + written(e.operands[2]);
    value sum;
    for (std::size_t i = *std::ranges::min_element(of.first); i < of.times.size(); ++i) {
        made_.spend(e.where, 3);
        const auto length_in = [&](std::size_t run) {
            if (i < of.first[run]) return 0.0;
            const dates::time_point& from = i == of.first[run] ? of.begin.of(run) : of.times[i - 1];
            return dates::year_fraction(from, of.times[i], count, as_of);
        };
        const std::string number = name + "[" + std::to_string(i) + "]";
        const bool is_first = std::ranges::find(of.first, i) != of.first.end();
        const bool is_of_all = std::ranges::all_of(of.first, [&](std::size_t f) { return f <= i; });
        const std::string named = is_first ? number + " from " + written(e.operands[1]) : number;
        const bool is_same = is_of_all && (!is_first || !of.begin.each_run);
        const value length =
            is_same ? made_.term(named, length_in(0))
                    : made_.row(named, [&](const occurrence& run) { return length_in(at_.number_of(run)); });
        const value paid = length * bond_of_schedule(e, of, i);
        sum = sum.valid() ? sum + paid : paid;
    }
    return sum;
}

value interest_rates::swap_rate(const expression& e) {
    const value begin = bond_until(e, e.operands[1]);
    const payments of = payments_of_swap(e);
    return (begin - bond_of_schedule(e, of, of.times.size() - 1)) / annuity(e);
}

value interest_rates::constant_maturity_rate(const expression& e) {
    const auto fixed = [&](std::size_t i) {
        const expression& number = e.operands[i];
        return number.is == form::number ? number.number : at_.script.get<double>(number.slot);
    };
    const double years = fixed(1), a_year = fixed(2), paid = years * a_year;
    const double whole = std::floor(paid + 0.5);
    if (!(a_year > 0 && a_year <= 366 && whole >= 1 && whole <= 100'000 &&
          std::abs(paid - whole) < 1e-9 * whole)) {
        at_.script.fail(e.where, "'" + e.text + "' is asked for " + shown(years) + " years with " +
                                     shown(a_year) +
                                     " payments a year; expected a whole number of payments, at least one");
    }
    const std::string& currency = at_.script.currency_of(e.operands[0]);
    value sum, ahead;
    for (double k = 1; k <= whole; ++k) {
        made_.spend(e.where, 2);
        std::vector<double> until;
        until.reserve(at_.runs.size());
        for (const occurrence& run : at_.runs) until.push_back(run.years + k / a_year);
        ahead = market_.bond(currency, until, shown(k) + " / " + shown(a_year) + " years ahead");
        sum = sum.valid() ? sum + ahead : ahead;
    }
    return (1.0 - ahead) * made_.number(a_year) / sum;
}

}  // namespace tilewalk::language::recording
