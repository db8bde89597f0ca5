// SPDX-License-Identifier: Apache-2.0
// The Asian case by QuantLib's Monte Carlo engine and by Tilewalk, on one core each, in one run. Both must
// agree on the price before a time counts.
#include <cmath>

#include "bench/asian_case.h"

#include <ql/exercise.hpp>
#include <ql/instruments/asianoption.hpp>
#include <ql/pricingengines/asian/mc_discr_arith_av_price.hpp>
#include <ql/processes/blackscholesprocess.hpp>
#include <ql/quotes/simplequote.hpp>
#include <ql/termstructures/volatility/equityfx/blackconstantvol.hpp>
#include <ql/termstructures/yield/flatforward.hpp>
#include <ql/time/calendars/nullcalendar.hpp>
#include <ql/time/daycounters/actual365fixed.hpp>

namespace {

using tilewalk::bench::asian_case;
namespace ql = QuantLib;

struct price_and_error {
    double price = 0, standard_error = 0;
};

// The same payoff on 252 days of the year: QuantLib fixes on dates, Tilewalk in equal steps. The prices
// differ by less than a hundredth of the bound below.
price_and_error price_by_quantlib(const asian_case& c, std::size_t paths) {
    const ql::Date today(15, ql::January, 2026);
    ql::Settings::instance().evaluationDate() = today;
    const ql::Actual365Fixed days;
    const auto flat = [&](double rate) {
        return ql::Handle<ql::YieldTermStructure>(ql::ext::make_shared<ql::FlatForward>(today, rate, days));
    };
    const auto process = ql::ext::make_shared<ql::BlackScholesMertonProcess>(
        ql::Handle<ql::Quote>(ql::ext::make_shared<ql::SimpleQuote>(c.spot)), flat(0.0), flat(c.rate),
        ql::Handle<ql::BlackVolTermStructure>(
            ql::ext::make_shared<ql::BlackConstantVol>(today, ql::NullCalendar(), c.volatility, days)));
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

BENCHMARK(quantlib)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(tilewalk_one_core)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
