// SPDX-License-Identifier: Apache-2.0
// The Asian case and Longstaff and Schwartz's Bermudan put by QuantLib's and Tilewalk's Monte Carlo, on one
// core. Asian prices must agree; the put's price by finite differences must lie within Tilewalk's bounds.
#include <cmath>

#include "bench/asian_case.h"

#include <ql/exercise.hpp>
#include <ql/instruments/asianoption.hpp>
#include <ql/instruments/vanillaoption.hpp>
#include <ql/pricingengines/asian/mc_discr_arith_av_price.hpp>
#include <ql/pricingengines/vanilla/fdblackscholesvanillaengine.hpp>
#include <ql/pricingengines/vanilla/mcamericanengine.hpp>
#include <ql/processes/blackscholesprocess.hpp>
#include <ql/quotes/simplequote.hpp>
#include <ql/termstructures/volatility/equityfx/blackconstantvol.hpp>
#include <ql/termstructures/yield/flatforward.hpp>
#include <ql/time/calendars/nullcalendar.hpp>
#include <ql/time/daycounters/actual365fixed.hpp>

namespace {

using tilewalk::bench::asian_case;
namespace ql = QuantLib;

ql::Date first_day() {
    return {15, ql::January, 2026};
}

ql::ext::shared_ptr<ql::BlackScholesMertonProcess> lognormal(double spot, double rate, double volatility) {
    const ql::Date today = first_day();
    ql::Settings::instance().evaluationDate() = today;
    const ql::Actual365Fixed days;
    const auto flat = [&](double r) {
        return ql::Handle<ql::YieldTermStructure>(ql::ext::make_shared<ql::FlatForward>(today, r, days));
    };
    return ql::ext::make_shared<ql::BlackScholesMertonProcess>(
        ql::Handle<ql::Quote>(ql::ext::make_shared<ql::SimpleQuote>(spot)), flat(0.0), flat(rate),
        ql::Handle<ql::BlackVolTermStructure>(
            ql::ext::make_shared<ql::BlackConstantVol>(today, ql::NullCalendar(), volatility, days)));
}

struct price_and_error {
    double price = 0, standard_error = 0;
};

// Prices the Asian of Tilewalk's benchmark with fixings on 252 days of the year: QuantLib takes dates,
// Tilewalk equal steps. The prices differ by less than a hundredth of the tolerance below.
price_and_error price_by_quantlib(const asian_case& c, std::size_t paths) {
    const auto process = lognormal(c.spot, c.rate, c.volatility);
    const ql::Date today = first_day();
    std::vector<ql::Date> fixings;
    for (int i = 1; i <= c.fixings; ++i) {
        fixings.push_back(today + static_cast<ql::Date::serial_type>(std::lround(365.0 * i / c.fixings)));
    }
    ql::DiscreteAveragingAsianOption option(
        ql::Average::Arithmetic, 0.0, 0, fixings,
        ql::ext::make_shared<ql::PlainVanillaPayoff>(ql::Option::Call, c.strike),
        ql::ext::make_shared<ql::EuropeanExercise>(fixings.back()));
    option.setPricingEngine(ql::MakeMCDiscreteArithmeticAPEngine<ql::PseudoRandom>(process)
                                .withBrownianBridge(false)
                                .withControlVariate(false)
                                .withSamples(paths)
                                .withSeed(42));
    return {option.NPV(), option.errorEstimate()};
}

void quantlib(benchmark::State& state) {
    constexpr std::size_t paths = 1 << 13;
    const asian_case c;
    price_and_error theirs;
    for (auto _ : state) theirs = price_by_quantlib(c, paths);
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(paths) * c.fixings);
    state.counters["price"] = theirs.price;
    state.counters["standard_error"] = theirs.standard_error;
}

void tilewalk_one_core(benchmark::State& state) {
    const asian_case c;
    const auto ours = tilewalk::bench::price_repeatedly(state, c.book(), "auto", 1 << 18, 1);
    const price_and_error theirs = price_by_quantlib(c, 1 << 16);
    const double error = std::hypot(ours.standard_error, theirs.standard_error);
    if (!(std::abs(ours.price - theirs.price) <= 4.5 * error)) state.SkipWithError("the two prices differ");
}

struct put_case {
    double spot = 36, strike = 40, rate = 0.06, volatility = 0.2;
    int dates = 50;

    tilewalk::book book() const {
        return tilewalk::bench::book_on_acme(
            spot, rate, volatility,
            "{id: put, product: bermudan_basket, basket: [ACME], option: put, strike: " +
                std::to_string(strike) +
                ", exercise_dates: {start: 0, end: 1, count: " + std::to_string(dates) + "}}");
    }
    ql::ext::shared_ptr<ql::StrikedTypePayoff> payoff() const {
        return ql::ext::make_shared<ql::PlainVanillaPayoff>(ql::Option::Put, strike);
    }
};

// The put's price by finite differences, exercisable on the same dates.
double truth_of(const put_case& c) {
    std::vector<ql::Date> dates;
    for (int i = 1; i <= c.dates; ++i)
        dates.push_back(first_day() + static_cast<ql::Date::serial_type>(std::lround(365.0 * i / c.dates)));
    ql::VanillaOption option(c.payoff(), ql::ext::make_shared<ql::BermudanExercise>(dates));
    option.setPricingEngine(ql::ext::make_shared<ql::FdBlackScholesVanillaEngine>(
        lognormal(c.spot, c.rate, c.volatility), 1000, 1000));
    return option.NPV();
}

constexpr std::size_t put_paths = 1 << 17, put_training_paths = 1 << 14;

void quantlib_put(benchmark::State& state) {
    const put_case c;
    const auto process = lognormal(c.spot, c.rate, c.volatility);
    ql::VanillaOption option(c.payoff(),
                             ql::ext::make_shared<ql::AmericanExercise>(first_day(), first_day() + 365));
    for (auto _ : state) {
        option.setPricingEngine(ql::MakeMCAmericanEngine<ql::PseudoRandom>(process)
                                    .withSteps(static_cast<ql::Size>(c.dates))
                                    .withSamples(put_paths)
                                    .withCalibrationSamples(put_training_paths)
                                    .withPolynomialOrder(3)
                                    .withSeed(42));
        option.NPV();
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(put_paths));
    state.counters["price"] = option.NPV();
    state.counters["standard_error"] = option.errorEstimate();
    state.counters["bias"] = option.NPV() - truth_of(c);
}

// Takes as many paths as QuantLib for training and valuing the policy, and as many more for the upper bound.
void tilewalk_put_one_core(benchmark::State& state) {
    const put_case c;
    const tilewalk::engine pricer;
    const tilewalk::book book = c.book();
    tilewalk::run_options options;
    options.overrides.controls = tilewalk::technique::none;
    options.overrides.paths = put_paths;
    options.overrides.training_paths = put_training_paths;
    options.overrides.threads = 1;
    tilewalk::price_row row;
    for (auto _ : state) row = pricer.price(book, options).rows.at(0);
    if (!row.early) return state.SkipWithError(row.message.c_str());
    const tilewalk::early_exercise& e = *row.early;
    const double truth = truth_of(c);
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(put_paths));
    state.counters["price"] = row.price;
    state.counters["standard_error"] = row.standard_error;
    state.counters["bias"] = row.price - truth;
    state.counters["lower_bound"] = e.lower_bound;
    state.counters["upper_bound"] = e.upper_bound;
    if (!(e.lower_bound - 4.5 * e.lower_error <= truth && truth <= e.upper_bound + 4.5 * e.upper_error))
        state.SkipWithError("the truth is not between the bounds");
}

BENCHMARK(quantlib)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(tilewalk_one_core)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(quantlib_put)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(tilewalk_put_one_core)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
