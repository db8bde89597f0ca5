// SPDX-License-Identifier: Apache-2.0
#include "engine/models/world/bridges.h"

#include <string>

#include "kernels/math.h"
#include "products/language/bridge.h"
#include "products/program/row_names.h"

namespace tilewalk::models {

using language::averaged;
using language::bridge;
using language::interval_end;
using language::occurrence;
using program::value;

// log(level - shift) is taken as a Brownian motion between grid times: a watched path stops at every pillar,
// so log(scale) is linear. If level - shift is the Brownian motion, scale is taken as linear.
bridge bridges::path_between(const factor& f) const {
    states_.watch(f);
    if (!f.is_logarithm()) return level_between(f);
    const value scale_at_start = in_.row("log_scale_start", f.number, [&](const occurrence& o) {
        return kernels::log(of_.map_of(f, o.start_years).scale);
    });
    const value start = states_.before(f) + scale_at_start;
    const value end = states_.grown(f, states_.before_fall(f)) +
                      in_.row("log_scale_end", f.number, [&](const occurrence& o) {
                          return kernels::log(of_.map_of(f, o.years, true).scale);
                      });
    const value variance = scaled_variance(f);
    if (!f.walk) return {start, end, variance};
    own_section<section_at_hand> seen(in_, f);
    const bridge path{start, end, f.walk->variance_between(seen, variance)};
    if (!f.walk->jumps()) return path;
    return {path.start, path.end, path.variance, states_.before_jumps(f) + scale_at_start};
}

bridge bridges::level_between(const factor& f) const {
    const value at_start = in_.row("scale_start", f.number,
                                   [&](const occurrence& o) { return of_.map_of(f, o.start_years).scale; });
    const value at_end = in_.row("scale_end", f.number,
                                 [&](const occurrence& o) { return of_.map_of(f, o.years, true).scale; });
    const value scaled = scaled_variance(f);
    own_section<section_at_hand> seen(in_, f);
    const value start = at_start * states_.before(f), end = at_end * states_.grown(f, states_.at(f));
    value of_scale = at_start * at_end;
    if (f.rates) of_scale = of_scale * exp(2.0 * states_.growth(*f.rates));
    return {start, end, of_scale * f.walk->variance_between(seen, scaled)};
}

value bridges::scaled_variance(const factor& f) const {
    return in_.row(program::row_names::variance, f.number,
                   [&](const occurrence& o) { return of_.variance(f, o.start_years, o.years); });
}

value bridges::to_coordinate(const factor& f, value level, interval_end end) const {
    // A path never comes down to a level at or below future dividends, so such a level is put far away.
    constexpr double far_below = 1e-300, far_below_zero = -1e15;
    if (f.moves_in() == coordinate::level) return level - states_.shift(f, end);
    if (f.moves_in() == coordinate::level_from_zero) {
        const value over_shift = level - states_.shift(f, end);
        return select(over_shift < in_.into().constant(0.0), in_.into().constant(far_below_zero), over_shift);
    }
    return log(max(level - states_.shift(f, end), far_below));
}

value bridges::from_coordinate(const factor& f, value at) const {
    switch (f.moves_in()) {
        case coordinate::logarithm:
            break;
        case coordinate::level:
            return at + states_.shift(f, interval_end::end);
        case coordinate::level_from_zero:
            return max(at, 0.0) + states_.shift(f, interval_end::end);
    }
    return exp(at) + states_.shift(f, interval_end::end);
}

value bridges::mean_price(const factor& f, double fraction, value mean, value variance) const {
    value price = mean;
    if (f.moves_in() == coordinate::logarithm) price = exp(fma(0.5, variance, mean));
    if (f.moves_in() == coordinate::level_from_zero) price = max(mean, 0.0);
    return f.has_cash_dividends ? price + shift_at(f, fraction) : price;
}

value bridges::shift_at(const factor& f, double fraction) const {
    return in_.row("shift_at " + std::to_string(fraction), f.number, [&](const occurrence& o) {
        return of_.map_of(f, o.start_years + fraction * (o.years - o.start_years)).shift;
    });
}

bool bridges::has_logarithm_for_coordinate(const factor& f) const {
    return f.is_logarithm() && !f.has_cash_dividends;
}

// Price at coordinate `at` and a fraction of the interval, at least least_price, so that it has a logarithm.
value bridges::price_at(const factor& f, double fraction, value at) const {
    constexpr double least_price = 1e-30;  // representable in single precision
    return max(mean_price(f, fraction, at, in_.into().constant(0.0)), least_price);
}

value bridges::slope_of_logarithm(const factor& f, double fraction, value at) const {
    const value price = price_at(f, fraction, at);
    return f.is_logarithm() ? exp(at) / price : 1.0 / price;
}

// Mean of the log price over the interval. If the coordinate is not this logarithm, integrates a quadratic.
value bridges::mean_logarithm(const factor& f, const bridge& path) const {
    if (has_logarithm_for_coordinate(f)) return 0.5 * (path.start + path.end);
    return language::mean_between(path.start, path.end, path.variance, [&](double at, value mean, value v) {
        const value slope = slope_of_logarithm(f, at, mean);
        const value bend = f.is_logarithm() ? slope * (1.0 - slope) * v : -min(slope * slope * v, 1.0);
        return fma(0.5, bend, log(price_at(f, at, mean)));
    });
}

value bridges::variance_of_mean(const factor& f, const bridge& path, averaged what) const {
    if (what == averaged::price && f.is_logarithm())
        return language::variance_of_mean_exponential(path.start, path.end, path.variance);
    const value variance = language::variance_of_mean(path.variance);
    if (what == averaged::price || has_logarithm_for_coordinate(f)) return variance;
    const value slope = slope_of_logarithm(f, 0.5, 0.5 * (path.start + path.end));
    return min(slope * slope * variance, 1.0);
}

}  // namespace tilewalk::models
