// SPDX-License-Identifier: Apache-2.0
#include "engine/models/world/path_states.h"

#include <string>

#include "products/program/row_names.h"

namespace tilewalk::models {

using language::interval_end;
using language::occurrence;
using program::recorder;
using program::value;

namespace {

std::string state_of(const factor& f) {
    return program::row_names::moving_number(static_cast<std::size_t>(f.number));
}

}  // namespace

void path_states::begin() {
    for (const factor& f : of_.factors()) {
        kept_[f.number].now = in_.into().state(state_of(f), f.is_logarithm() ? 0.0 : 1.0);
        if (!f.walk) continue;
        own_section<section_at_hand> seen(in_, f);
        f.walk->begin(seen);
    }
    for (const moving_rates& r : of_.rates()) {
        own_section<section_at_hand> seen(in_, r);
        r.walk->begin(seen);
    }
}

value path_states::growth(const moving_rates& r) const {
    own_section<section_at_hand> seen(in_, r);
    return r.walk->log_growth(seen);
}

value path_states::grown(const factor& f, value x) const {
    const auto by = [&](value growth) { return f.is_logarithm() ? x + growth : x * exp(growth); };
    const moving_rates* const domestic = of_.domestic_rates();
    if (!f.is_asset() && domestic) x = by(growth(*domestic));
    if (!f.rates) return x;
    const value risen = growth(*f.rates);
    return f.is_asset() ? by(risen) : by(-risen);
}

value path_states::martingale(const factor& f) const {
    const value x = at(f);
    return f.is_logarithm() ? exp(x) : x;
}

value path_states::risen(const factor& f) const {
    const value x = grown(f, at(f));
    return f.is_logarithm() ? exp(x) : x;
}

value path_states::level(const factor& f) const {
    const value moved = in_.row(program::row_names::scale, f.number, [&](const occurrence& o) {
        return of_.map_of(f, o.years).scale;
    }) * risen(f);
    return f.has_cash_dividends ? moved + shift(f, interval_end::end, false) : moved;
}

value path_states::shift(const factor& f, interval_end end, bool inside) const {
    if (!f.has_cash_dividends) return in_.into().constant(0.0);
    const std::string_view name = end == interval_end::start ? "shift_start" : inside ? "shift_end" : "shift";
    return in_.row(name, f.number, [&](const occurrence& o) {
        return end == interval_end::start ? of_.map_of(f, o.start_years).shift
                                          : of_.map_of(f, o.years, inside).shift;
    });
}

void path_states::watch(const factor& f) {
    of_factor& kept = kept_[f.number];
    if (kept.is_watched) return;
    kept.is_watched = true;
    recorder& into = in_.into();
    kept.before = into.state(state_of(f) + "_before", 0.0);
    if (f.falls) kept.before_fall = into.state(state_of(f) + "_before_fall", 0.0);
    if (f.jumps()) kept.before_jumps = into.state(state_of(f) + "_before_jumps", 0.0);
}

value path_states::before_fall(const factor& f) const {
    return in_.into().read(f.falls ? kept_[f.number].before_fall : kept_[f.number].now);
}

value path_states::growth_before(const moving_rates& r) {
    of_rates& kept = kept_of_rates_[r.number];
    if (!kept.is_watched) {
        kept.is_watched = true;
        kept.before = in_.into().state(r.currency + "_growth_before", 0.0);
    }
    return in_.into().read(kept.before);
}

void path_states::keep_start(const factor& f, value start, value x) {
    const of_factor& kept = kept_[f.number];
    if (!kept.is_watched) return;
    in_.into().write(kept.before, grown(f, start));
    if (f.jumps()) in_.into().write(kept.before_jumps, grown(f, x));
}

void path_states::keep_before_fall(const factor& f, value end) {
    if (kept_[f.number].is_watched) in_.into().write(kept_[f.number].before_fall, end);
}

void path_states::keep_growth(const moving_rates& r) {
    const of_rates& kept = kept_of_rates_[r.number];
    if (kept.is_watched) in_.into().write(kept.before, growth(r));
}

}  // namespace tilewalk::models
