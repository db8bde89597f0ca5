// SPDX-License-Identifier: Apache-2.0
// The catalogue of functions and special words. Checker, recording and suggestions are driven by its rows.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tilewalk::language {

enum class function : std::uint8_t {
    min,
    max,
    abs,
    exp,
    log,
    sqrt,
    pow,
    floor,
    norm_cdf,
    spot,
    fx,
    forward,
    call_value,
    put_value,
    bond,
    forward_rate,
    annuity,
    swap_rate,
    constant_maturity_rate,
    given,
    size,
    first,
    last,
    position,
    year_fraction,
    touched_below,
    touched_above,
    touched_outside,
    touch_time_below,
    touch_time_above,
    touches_below,
    touches_above,
    last_time_below,
    last_time_above,
    lowest,
    highest,
    mean_spot,
    mean_log_spot,
    variance_of_mean_spot,
    variance_of_mean_log_spot,
    time_above,
    time_below,
    variance_of_time_above,
    variance_of_time_below,
    drawn_time_above,
    drawn_time_below,
    sum,
    average,
    worst,
    best,
    nth,
};

enum class function_kind : std::uint8_t {
    arithmetic,  // takes and returns numbers only
    market,      // needs a block, which has a current date
    rate,        // needs a currency and a current date
    calendar,    // schedules, lists, dates, and the question whether the trade gives a parameter
    interval,    // what happens between two dates; for `between` blocks only
    aggregate,   // f(expression for a in basket)
};

inline constexpr int any_number = 64;

struct function_entry {
    function code;
    std::string_view name;
    function_kind kind;
    int least, most;           // number of arguments
    std::string_view written;  // an example of a call
};

inline constexpr std::array functions{
    function_entry{function::min, "min", function_kind::arithmetic, 2, any_number, "min(a, b, ...)"},
    function_entry{function::max, "max", function_kind::arithmetic, 2, any_number, "max(a, b, ...)"},
    function_entry{function::abs, "abs", function_kind::arithmetic, 1, 1, "abs(x)"},
    function_entry{function::exp, "exp", function_kind::arithmetic, 1, 1, "exp(x)"},
    function_entry{function::log, "log", function_kind::arithmetic, 1, 1, "log(x)"},
    function_entry{function::sqrt, "sqrt", function_kind::arithmetic, 1, 1, "sqrt(x)"},
    function_entry{function::pow, "pow", function_kind::arithmetic, 2, 2, "pow(a, b)"},
    function_entry{function::floor, "floor", function_kind::arithmetic, 1, 1, "floor(x)"},
    function_entry{function::norm_cdf, "norm_cdf", function_kind::arithmetic, 1, 1, "norm_cdf(x)"},
    function_entry{function::spot, "spot", function_kind::market, 1, 1, "spot(asset)"},
    function_entry{function::fx, "fx", function_kind::market, 1, 1, "fx(currency)"},
    function_entry{function::forward, "forward", function_kind::market, 2, 2, "forward(asset, maturity)"},
    function_entry{function::call_value, "call_value", function_kind::market, 3, 3,
                   "call_value(asset, strike, maturity)"},
    function_entry{function::put_value, "put_value", function_kind::market, 3, 3,
                   "put_value(asset, strike, maturity)"},
    function_entry{function::bond, "bond", function_kind::rate, 2, 2, "bond(currency, maturity)"},
    function_entry{function::forward_rate, "forward_rate", function_kind::rate, 3, 4,
                   "forward_rate(currency, from, to, \"act_360\")"},
    function_entry{function::annuity, "annuity", function_kind::rate, 3, 4,
                   "annuity(currency, start, schedule, \"act_360\")"},
    function_entry{function::swap_rate, "swap_rate", function_kind::rate, 3, 4,
                   "swap_rate(currency, start, schedule, \"act_360\")"},
    function_entry{function::constant_maturity_rate, "constant_maturity_rate", function_kind::rate, 3, 3,
                   "constant_maturity_rate(currency, years, payments_per_year)"},
    function_entry{function::given, "given", function_kind::calendar, 1, 1, "given(parameter)"},
    function_entry{function::size, "size", function_kind::calendar, 1, 1, "size(basket)"},
    function_entry{function::first, "first", function_kind::calendar, 1, 1, "first(schedule)"},
    function_entry{function::last, "last", function_kind::calendar, 1, 1, "last(schedule)"},
    function_entry{function::position, "position", function_kind::calendar, 1, 1, "position(a)"},
    function_entry{function::year_fraction, "year_fraction", function_kind::calendar, 2, 3,
                   "year_fraction(from, to, \"act_360\")"},
    function_entry{function::touched_below, "touched_below", function_kind::interval, 2, 2,
                   "touched_below(asset, level)"},
    function_entry{function::touched_above, "touched_above", function_kind::interval, 2, 2,
                   "touched_above(asset, level)"},
    function_entry{function::touched_outside, "touched_outside", function_kind::interval, 3, 3,
                   "touched_outside(asset, lower, upper)"},
    function_entry{function::touch_time_below, "touch_time_below", function_kind::interval, 2, 2,
                   "touch_time_below(asset, level)"},
    function_entry{function::touch_time_above, "touch_time_above", function_kind::interval, 2, 2,
                   "touch_time_above(asset, level)"},
    function_entry{function::touches_below, "touches_below", function_kind::interval, 2, 2,
                   "touches_below(asset, level)"},
    function_entry{function::touches_above, "touches_above", function_kind::interval, 2, 2,
                   "touches_above(asset, level)"},
    function_entry{function::last_time_below, "last_time_below", function_kind::interval, 2, 2,
                   "last_time_below(asset, level)"},
    function_entry{function::last_time_above, "last_time_above", function_kind::interval, 2, 2,
                   "last_time_above(asset, level)"},
    function_entry{function::lowest, "lowest", function_kind::interval, 1, 1, "lowest(asset)"},
    function_entry{function::highest, "highest", function_kind::interval, 1, 1, "highest(asset)"},
    function_entry{function::mean_spot, "mean_spot", function_kind::interval, 1, 1, "mean_spot(asset)"},
    function_entry{function::mean_log_spot, "mean_log_spot", function_kind::interval, 1, 1,
                   "mean_log_spot(asset)"},
    function_entry{function::variance_of_mean_spot, "variance_of_mean_spot", function_kind::interval, 1, 1,
                   "variance_of_mean_spot(asset)"},
    function_entry{function::variance_of_mean_log_spot, "variance_of_mean_log_spot", function_kind::interval,
                   1, 1, "variance_of_mean_log_spot(asset)"},
    function_entry{function::time_above, "time_above", function_kind::interval, 2, 2,
                   "time_above(asset, level)"},
    function_entry{function::time_below, "time_below", function_kind::interval, 2, 2,
                   "time_below(asset, level)"},
    function_entry{function::variance_of_time_above, "variance_of_time_above", function_kind::interval, 2, 2,
                   "variance_of_time_above(asset, level)"},
    function_entry{function::variance_of_time_below, "variance_of_time_below", function_kind::interval, 2, 2,
                   "variance_of_time_below(asset, level)"},
    function_entry{function::drawn_time_above, "drawn_time_above", function_kind::interval, 2, 2,
                   "drawn_time_above(asset, level)"},
    function_entry{function::drawn_time_below, "drawn_time_below", function_kind::interval, 2, 2,
                   "drawn_time_below(asset, level)"},
    function_entry{function::sum, "sum", function_kind::aggregate, 1, 1, "sum(spot(a) for a in basket)"},
    function_entry{function::average, "average", function_kind::aggregate, 1, 1,
                   "average(spot(a) for a in basket)"},
    function_entry{function::worst, "worst", function_kind::aggregate, 1, 1,
                   "worst(spot(a) for a in basket)"},
    function_entry{function::best, "best", function_kind::aggregate, 1, 1, "best(spot(a) for a in basket)"},
    function_entry{function::nth, "nth", function_kind::aggregate, 2, 2, "nth(2, spot(a) for a in basket)"},
};

constexpr const function_entry& entry_of(function code) {
    return functions[static_cast<std::size_t>(code)];
}

static_assert([] {
    for (std::size_t i = 0; i < functions.size(); ++i) {
        if (static_cast<std::size_t>(functions[i].code) != i) return false;
    }
    return true;
}());

// Words that the language defines. `value` and `alive` are states of every path; `currency` is the trade's.
inline constexpr std::array<std::string_view, 11> special_names{
    "time", "step", "index", "count", "today", "start", "previous", "next", "value", "alive", "currency"};

inline const function_entry* find_function(std::string_view name) {
    const auto at = std::ranges::find(functions, name, &function_entry::name);
    return at == functions.end() ? nullptr : &*at;
}
inline bool is_special(std::string_view name) {
    return std::ranges::find(special_names, name) != special_names.end();
}

}  // namespace tilewalk::language
