// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "engine/verify/random_market.h"
#include "engine/verify/truth.h"

namespace tilewalk::verify {

namespace {

struct drawn_terms {
    bool buys;
    double strike, barrier, gearing;
    int dates;

    drawn_terms(dice& d, const random_market& m) : buys(d.coin()) {
        const double away = buys ? 1 : -1, sd = std::sqrt(m.variance(m.years));
        strike = m.spot * std::exp(-away * d.between(0, 0.5) * sd);
        barrier = m.spot * std::exp(away * d.between(0.2, 1.2) * sd);
        gearing = d.between(1, 3);
        dates = d.up_to(6);
    }
    std::string text(const random_market& m, const char* watched) const {
        return one_trade(fmt::format(
            "product: accumulator, side: {}, strike: {}, barrier: {}, gearing: {}, watched: {}, "
            "observations: {{start: 0, end: {}, count: {}}}",
            buys ? "accumulate" : "decumulate", strike, barrier, gearing, watched, m.years, dates));
    }
};

}  // namespace

known_trade draw_accumulator(dice& d) {
    const random_market m(d, true);
    const drawn_terms t(d, m);
    return known_in(
        m, t.text(m, "on_dates"),
        [=](const random_market& now) {
            std::vector<truth::move> moves;
            for (int i = 0; i < t.dates; ++i)
                moves.push_back(now.step(m.years * i / t.dates, m.years * (i + 1) / t.dates));
            return truth::backward(now.spot, moves, {t.barrier, t.strike},
                                   [&](std::size_t, double s, double on) {
                                       if (t.buys ? s >= t.barrier : s <= t.barrier) return 0.0;
                                       const double gain = t.buys ? s - t.strike : t.strike - s;
                                       return (gain < 0 ? t.gearing * gain : gain) + on;
                                   });
        },
        m.spot);
}

// With continuous monitoring, each date is a knock-out call less knock-out puts, or a put less calls.
known_trade draw_accumulator_continuous(dice& d) {
    const random_market m(d, false);
    const drawn_terms t(d, m);
    return known_in(
        m, t.text(m, "continuous"),
        [=](const random_market& now) {
            double sum = 0;
            for (int i = 1; i <= t.dates; ++i) {
                const double years = m.years * i / t.dates;
                const auto option = [&](truth::side side) {
                    return truth::barrier_option({side, !t.buys, true, now.spot, t.strike, t.barrier, 0,
                                                  false, (now.first_rate - now.yield) * years,
                                                  now.variance(years), now.first_rate * years});
                };
                const double call = option(truth::side::call), put = option(truth::side::put);
                sum += t.buys ? call - t.gearing * put : put - t.gearing * call;
            }
            return sum;
        },
        m.spot);
}

}  // namespace tilewalk::verify
