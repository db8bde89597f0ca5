// SPDX-License-Identifier: Apache-2.0
#include "products/language/recording/interest_rates.h"

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

// The schedule of an annuity or a swap rate, its dates numbered from 0.
const dates::schedule& interest_rates::payments_of(const expression& e) const {
    const dates::schedule& schedule = at_.script.schedule_of(e.operands[2].slot);
    if (schedule.times.empty())
        at_.script.fail(e.where, "'" + e.text + "' is asked for a schedule without dates");
    return schedule;
}

value interest_rates::bond_of_schedule(const expression& e, std::size_t number) {
    const dates::time_point& day = payments_of(e).times[number];
    const std::string named = written(e.operands[2]) + "[" + std::to_string(number) + "]";
    const std::vector<double> years(at_.runs.size(), day.years(at_.script.as_of()));
    for (const occurrence& run : at_.runs) {
        if (years[0] < run.years - dates::same_time_years) {
            at_.script.fail(e.where, "'" + e.text + "' counts the payment on " + to_string(day) + ", date " +
                                         std::to_string(number + 1) + " of '" + written(e.operands[2]) +
                                         "', which on " + to_string(at_.label_of(run)) +
                                         " has passed; expected a schedule of dates to come");
        }
    }
    return market_.bond(at_.script.currency_of(e.operands[0]), years, named);
}

value interest_rates::annuity(const expression& e) {
    const dates::date as_of = at_.script.as_of();
    const auto& times = payments_of(e).times;
    const run_dates start = days_.of(e.operands[1]);
    const std::string convention = days_.day_count_of(e, 3);
    const dates::day_count count = *dates::parse_day_count(convention);
    const std::string name = convention + " of " + written(e.operands[2]);
    const auto first = [&](std::size_t run) {
        const dates::time_point& from = start.of(run);
        if (!(from.years(as_of) < times[0].years(as_of))) {
            at_.script.fail(e.where, "'" + e.text + "' begins at " + written(e.operands[1]) + " (" +
                                         to_string(from) + "), expected before its first payment on " +
                                         to_string(times[0]));
        }
        return dates::year_fraction(from, times[0], count, as_of);
    };
    const std::string from_start = name + "[0] from " + written(e.operands[1]);
    const value first_length =
        !start.each_run
            ? made_.term(from_start, first(0))
            : made_.row(from_start, [&](const occurrence& run) { return first(at_.number_of(run)); });
    value sum = first_length * bond_of_schedule(e, 0);
    for (std::size_t i = 1; i < times.size(); ++i) {
        made_.spend(e.where, 3);
        const value length = made_.term(name + "[" + std::to_string(i) + "]",
                                        dates::year_fraction(times[i - 1], times[i], count, as_of));
        sum = sum + length * bond_of_schedule(e, i);
    }
    return sum;
}

value interest_rates::swap_rate(const expression& e) {
    const value begin = bond_until(e, e.operands[1]);
    const value end = bond_of_schedule(e, payments_of(e).times.size() - 1);
    return (begin - end) / annuity(e);
}

value interest_rates::constant_maturity_rate(const expression& e) {
    const auto fixed = [&](std::size_t i) {
        const expression& number = e.operands[i];
        return number.is == form::number ? number.number : at_.script.get<double>(number.slot);
    };
    const double years = fixed(1), a_year = fixed(2), payments = years * a_year;
    const double whole = std::floor(payments + 0.5);
    if (!(a_year > 0 && a_year <= 366 && whole >= 1 && whole <= 100'000 &&
          std::abs(payments - whole) < 1e-9 * whole)) {
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
