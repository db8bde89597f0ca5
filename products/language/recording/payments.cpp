// SPDX-License-Identifier: Apache-2.0
#include "products/language/recording/payments.h"

#include <algorithm>

namespace tilewalk::language::recording {

void payments::pay(place where, const payment& p, frame& f) {
    const std::string& own = at_.script.trade_currency();
    const std::string& currency = p.in ? at_.script.currency_of(*p.in) : own;
    const std::string in = currency == own ? "" : " in " + p.in->text;
    const std::vector<double> when = payment_years(p, where);
    // In the past, a block has one run, and payments before as_of are dropped. An amount in another currency
    // that was fixed before as_of and is still to be paid is converted at today's exchange rate.
    world& market = *at_.market;
    const bool past = market.is_past();
    if (past && when[0] < -dates::same_time_years) return;
    const bool fixed_before = past && at_.runs.front().years < -dates::same_time_years;

    // The amount of a right is compared before it is paid, which may hide an overflow.
    const bool shows = !at_.of->right_of;
    value paid = shows ? amounts_.evaluate(p.amount, f) : amounts_.number(p.amount, f);
    if (p.at && !past) {
        paid = paid * discount_inside(*p.at, currency, in, f);
    } else if (!past && is_random(currency)) {
        paid = paid * market.discount_on_path(own, interval_end::end);
        if (p.on) paid = paid * market_.bond(currency, when, written(*p.on));
    } else if (!in.empty() && fixed_before) {
        paid = paid * made_.number(discount(currency, when[0]) * market.fx_today(currency));
    } else {
        paid = paid * discount_of(p, when, currency, in);
    }
    if (!in.empty() && !fixed_before) paid = paid * market_.fx(currency);
    if (f.going.valid()) paid = program::select(f.going, paid, made_.number(0));
    f.paid = f.paid.valid() ? f.paid + paid : paid;
}

// The years from as_of to each run's payment. A payment `at` a time inside the interval counts at its end.
std::vector<double> payments::payment_years(const payment& p, place where) const {
    std::vector<double> when;
    when.reserve(at_.runs.size());
    const run_dates on = p.on ? days_.dates_of(*p.on) : run_dates{};
    for (std::size_t i = 0; i < at_.runs.size(); ++i) {
        const occurrence& run = at_.runs[i];
        if (!p.on) {
            when.push_back(run.years);
            continue;
        }
        const dates::time_point& day = on.of(i);
        when.push_back(day.years(at_.script.as_of()));
        if (when[i] < run.years - dates::same_time_years) {
            at_.script.fail(where, "a payment on " + written(*p.on) + " (" + to_string(day) +
                                       ") comes before the date that decides it (" +
                                       to_string(at_.label_of(run)) + ")");
        }
    }
    return when;
}

// True if the present value of a payment in this currency is known along the path only.
bool payments::is_random(const std::string& currency) const {
    return at_.market->has_random_rates(currency) ||
           at_.market->has_random_rates(at_.script.trade_currency());
}

double payments::discount(const std::string& currency, double years) const {
    return years < -dates::same_time_years ? 0.0 : at_.market->discount(currency, std::max(years, 0.0));
}

// The present value of one unit of `currency` paid at `when`, to be multiplied by the current exchange rate.
value payments::discount_of(const payment& p, const std::vector<double>& when, const std::string& currency,
                            const std::string& in) {
    const std::string& own = at_.script.trade_currency();
    const std::string name = p.on ? "discount " + written(*p.on) + in : "discount";
    if (in.empty() && p.on && !days_.dates_of(*p.on).each_run)
        return made_.term(name, discount(own, when[0]));
    return made_.row(name, [&](const occurrence& run) {
        const double paid = when[at_.number_of(run)];
        if (in.empty() || !p.on) return discount(own, paid);
        const double now = std::max(run.years, 0.0);
        return at_.market->discount(own, now) * discount(currency, paid) /
               at_.market->discount(currency, now);
    });
}

// For a payment inside the interval, whose discount factor is log-linear between the ends. A payment in
// another currency waits in that currency until the interval's end, where the exchange rate is known.
value payments::discount_inside(const expression& at, const std::string& currency, const std::string& in,
                                frame& f) {
    world& market = *at_.market;
    const std::string& own = at_.script.trade_currency();
    const value start = made_.row("begins", [](const occurrence& run) { return run.begins; });
    const value length = made_.step_length();
    const auto discount_at = [&](const std::string& name, interval_end end) {
        const bool at_start = end == interval_end::start;
        if (is_random(currency)) {
            const value there = market.discount_on_path(currency, end);
            return at_start ? made_.over_parts(name + in, there, [](value first) { return first; }) : there;
        }
        return made_.row(name + in, [&](const occurrence& run) {
            return market.discount(currency, at_start ? run.begins : run.ends);
        });
    };
    const value log_start = program::log(discount_at("discount start", interval_end::start));
    const value log_end = program::log(discount_at("discount end", interval_end::end));
    const value forward = (log_start - log_end) / length;
    const value time = amounts_.number(at, f);
    const value factor = program::exp(log_start - forward * (time - start));
    if (in.empty()) return factor;
    if (is_random(currency)) {
        return factor * (market.discount_on_path(own, interval_end::end) /
                         market.discount_on_path(currency, interval_end::end));
    }
    return factor * made_.row("discount ratio" + in, [&](const occurrence& run) {
        return market.discount(own, run.years) / market.discount(currency, run.years);
    });
}

}  // namespace tilewalk::language::recording
