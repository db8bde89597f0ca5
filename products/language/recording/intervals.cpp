// SPDX-License-Identifier: Apache-2.0
#include "products/language/recording/intervals.h"

#include <algorithm>
#include <utility>

#include "products/language/bridge.h"
#include "products/language/touch.h"

namespace tilewalk::language::recording {

namespace {

std::string name_of(function asked, const std::string& asset) {
    return std::string(entry_of(asked).name) + " " + asset;
}

// True if any payoff may use the answer without bias. A mean logarithm is normal with known variance.
bool is_exact(function asked) {
    return asked != function::mean_spot && asked != function::variance_of_mean_spot &&
           asked != function::time_above && asked != function::time_below &&
           asked != function::variance_of_time_above && asked != function::variance_of_time_below;
}

// Groups of answers that are exact together: a touch time is drawn for paths that touch, and a mean is used
// with its variance.
enum class company : std::uint8_t { none, touch, mean };
company company_of(function asked) {
    switch (asked) {
        case function::touched_below:
        case function::touched_above:
        case function::touch_time_below:
        case function::touch_time_above:
        case function::last_time_below:
        case function::last_time_above:
            return company::touch;
        case function::mean_log_spot:
        case function::variance_of_mean_log_spot:
            return company::mean;
        default:
            return company::none;
    }
}

bridge jumps_last(const bridge& path) {
    return {path.unjumped, path.end - (path.start - path.unjumped), path.variance};
}

}  // namespace

value intervals::value_of(function asked, const std::string& asset, const std::vector<value>& levels) {
    if (at_.market->is_past()) {
        const value seen = market_.spot(asset);
        tell_of_touch(asked, asset, seen, levels);
        return in_the_past(asked, seen, levels);
    }
    std::vector<std::uint32_t> by_level;
    for (const value level : levels) by_level.push_back(level.index());
    value& known = known_[{asked, asset, by_level}];
    if (known.valid()) return known;
    known = to_come({asked, asset, levels, at_.market->path_between(asset)});
    const bool contradicts = std::ranges::any_of(known_, [&](const auto& other) {
        const auto& [function_of_other, asset_of_other, levels_of_other] = other.first;
        if (asset_of_other != asset || (function_of_other == asked && levels_of_other == by_level))
            return false;
        return levels_of_other != by_level || company_of(asked) == company::none ||
               company_of(asked) != company_of(function_of_other);
    });
    if (contradicts || !is_exact(asked)) at_.market->approximates_inside();
    return known;
}

void intervals::tell_of_touch(function asked, const std::string& asset, value seen,
                              const std::vector<value>& levels) const {
    auto* listener = dynamic_cast<touch_listener*>(at_.market);
    if (listener == nullptr || levels.empty()) return;
    const bool looks_down = asked == function::touched_below || asked == function::touched_outside;
    const bool looks_up = asked == function::touched_above || asked == function::touched_outside;
    if (looks_down && seen.constant() <= levels.front().constant())
        listener->saw_touch(asset, levels.front().constant());
    if (looks_up && seen.constant() >= levels.back().constant())
        listener->saw_touch(asset, levels.back().constant());
}

value intervals::in_the_past(function asked, value level, const std::vector<value>& levels) {
    const value one = made_.number(1), none = made_.number(0);
    switch (asked) {
        case function::touched_below:
        case function::touches_below:
            return program::select(level <= levels[0], one, none);
        case function::touched_above:
        case function::touches_above:
            return program::select(level >= levels[0], one, none);
        case function::touched_outside:
            return program::select(level <= levels[0] || level >= levels[1], one, none);
        case function::lowest:
        case function::highest:
        case function::mean_spot:
            return level;
        case function::mean_log_spot:
            return log(level);
        case function::variance_of_mean_spot:
        case function::variance_of_mean_log_spot:
        case function::variance_of_time_above:
        case function::variance_of_time_below:
            return none;
        case function::time_above:
        case function::drawn_time_above:
            return program::select(level > levels[0], made_.step_length(), none);
        case function::time_below:
        case function::drawn_time_below:
            return program::select(level < levels[0], made_.step_length(), none);
        default:
            return made_.number(at_.runs.front().years);
    }
}

// Answers for a future interval. Touches, extremes and drawn times take jumps at the interval's start. Means
// and mean times average over jumps at the start and at the end.
value intervals::to_come(const question& q) {
    switch (q.asked) {
        case function::touched_below:
        case function::touched_above:
        case function::touched_outside:
            return touched(q);
        case function::lowest:
        case function::highest:
            return extreme(q);
        case function::mean_spot:
            return mean_spot(q);
        case function::mean_log_spot:
            return mean_log_spot(q);
        case function::variance_of_mean_spot:
        case function::variance_of_mean_log_spot:
            return variance_of_mean(q);
        case function::time_above:
        case function::time_below:
            return time_beyond(q);
        case function::variance_of_time_above:
        case function::variance_of_time_below:
            return variance_of_time_beyond(q);
        case function::drawn_time_above:
        case function::drawn_time_below:
            return drawn_time_beyond(q);
        case function::touches_below:
        case function::touches_above:
            return touches(q);
        default:
            return time_of_touch(q);
    }
}

intervals::distances intervals::from_above(const question& q, value level) {
    const value start = q.path.start - at_.market->to_coordinate(q.asset, level, interval_end::start);
    return {start, q.path.end - at_.market->to_coordinate(q.asset, level, interval_end::end)};
}

intervals::distances intervals::from_below(const question& q, value level) {
    const distances up = from_above(q, level);
    const value start = -up.start;
    return {start, -up.end};
}

value intervals::part_length() {
    return made_.row("length", [](const occurrence& run) { return run.years - run.start_years; });
}

value intervals::sum_over_parts(const question& q, value in_part) {
    return made_.over_parts(name_of(q.asked, q.asset), in_part,
                            [&](value so_far) { return so_far + in_part; });
}

value intervals::touched(const question& q) {
    value in_part;
    if (q.asked == function::touched_outside) {
        const distances lower = from_above(q, q.levels[0]), upper = from_below(q, q.levels[1]);
        in_part = exit_probability({lower.start, lower.end, upper.start, upper.end}, q.path.variance);
    } else {
        const bool is_below = q.asked == function::touched_below;
        const distances d = is_below ? from_above(q, q.levels[0]) : from_below(q, q.levels[0]);
        in_part = touch_probability(d.start, d.end, q.path.variance);
    }
    return made_.over_parts(name_of(q.asked, q.asset), in_part,
                            [&](value so_far) { return so_far + (1.0 - so_far) * in_part; });
}

value intervals::normal_between(const std::string& asset) {
    return at_.into.normal(stream_between(asset));
}
value intervals::uniform_between(const std::string& asset) {
    return at_.into.uniform(stream_between(asset));
}

value intervals::extreme(const question& q) {
    const bool is_low = q.asked == function::lowest;
    const auto sampled = is_low ? sampled_lowest : sampled_highest;
    const value in_part = at_.market->from_coordinate(
        q.asset, sampled(q.path.start, q.path.end, q.path.variance, uniform_between(q.asset)));
    return made_.over_parts(name_of(q.asked, q.asset), in_part, [&](value so_far) {
        return is_low ? min(so_far, in_part) : max(so_far, in_part);
    });
}

value intervals::mean_over_parts(const question& q, value mean) {
    if (!made_.is_in_parts()) return mean;
    const value in_part = part_length() * mean;
    return sum_over_parts(q, in_part) / made_.step_length();
}

value intervals::mean_price(const question& q, const bridge& path) {
    return mean_between(path.start, path.end, path.variance, [&](double at, value m, value v) {
        return at_.market->mean_price(q.asset, at, m, v);
    });
}

value intervals::mean_spot(const question& q) {
    value mean = mean_price(q, q.path);
    if (q.path.unjumped.valid()) mean = 0.5 * (mean + mean_price(q, jumps_last(q.path)));
    return mean_over_parts(q, mean);
}

value intervals::mean_log_spot(const question& q) {
    value mean = at_.market->mean_logarithm(q.asset, q.path);
    if (q.path.unjumped.valid())
        mean = 0.5 * (mean + at_.market->mean_logarithm(q.asset, jumps_last(q.path)));
    return mean_over_parts(q, mean);
}

// A jump at a uniform moment spreads the mean uniformly between its values for a jump at start and end.
value intervals::variance_of_mean(const question& q) {
    const averaged what = q.asked == function::variance_of_mean_spot ? averaged::price : averaged::logarithm;
    value variance = at_.market->variance_of_mean(q.asset, q.path, what);
    if (q.path.unjumped.valid()) {
        const bridge last = jumps_last(q.path);
        const auto mean = [&](const bridge& path) {
            return what == averaged::price ? mean_price(q, path) : at_.market->mean_logarithm(q.asset, path);
        };
        const value gap = mean(q.path) - mean(last);
        variance =
            0.5 * (variance + at_.market->variance_of_mean(q.asset, last, what)) + gap * gap * (1.0 / 12);
    }
    if (!made_.is_in_parts()) return variance;
    const value length = part_length(), in_part = length * length * variance;
    return sum_over_parts(q, in_part) / (made_.step_length() * made_.step_length());
}

value intervals::time_beyond(const question& q) {
    const bool is_above = q.asked == function::time_above;
    const distances d = is_above ? from_above(q, q.levels[0]) : from_below(q, q.levels[0]);
    value share = share_above(d.start, d.end, q.path.variance);
    if (q.path.unjumped.valid()) {
        const value jump = q.path.start - q.path.unjumped, away = is_above ? -jump : jump;
        share = 0.5 * (share + share_above(d.start + away, d.end + away, q.path.variance));
    }
    return sum_over_parts(q, part_length() * share);
}

value intervals::variance_of_time_beyond(const question& q) {
    const bool is_above = q.asked == function::variance_of_time_above;
    const distances d = is_above ? from_above(q, q.levels[0]) : from_below(q, q.levels[0]);
    value variance = variance_of_share_above(d.start, d.end, q.path.variance);
    if (q.path.unjumped.valid()) {
        const value jump = q.path.start - q.path.unjumped, away = is_above ? -jump : jump;
        const value start = d.start + away, end = d.end + away;
        const value gap =
            share_above(d.start, d.end, q.path.variance) - share_above(start, end, q.path.variance);
        variance =
            0.5 * (variance + variance_of_share_above(start, end, q.path.variance)) + gap * gap * (1.0 / 12);
    }
    const value length = part_length();
    return sum_over_parts(q, length * length * variance);
}

value intervals::drawn_time_beyond(const question& q) {
    const bool is_above = q.asked == function::drawn_time_above;
    const distances d = is_above ? from_above(q, q.levels[0]) : from_below(q, q.levels[0]);
    share_shocks shocks;
    shocks.touch = uniform_between(q.asset);
    shocks.first_normal = normal_between(q.asset);
    shocks.first_uniform = uniform_between(q.asset);
    shocks.last_normal = normal_between(q.asset);
    shocks.between = uniform_between(q.asset);
    return sum_over_parts(q, part_length() * sampled_share_above(d.start, d.end, q.path.variance, shocks));
}

value intervals::touches(const question& q) {
    const bool is_below = q.asked == function::touches_below;
    const distances d = is_below ? from_above(q, q.levels[0]) : from_below(q, q.levels[0]);
    const value likely = touch_probability(d.start, d.end, q.path.variance);
    const value in_part =
        program::select(uniform_between(q.asset) < likely, made_.number(1), made_.number(0));
    return made_.over_parts(name_of(q.asked, q.asset), in_part,
                            [&](value so_far) { return max(so_far, in_part); });
}

value intervals::time_of_touch(const question& q) {
    const bool is_below = q.asked == function::touch_time_below || q.asked == function::last_time_below;
    const bool is_last = q.asked == function::last_time_below || q.asked == function::last_time_above;
    const distances d = is_below ? from_above(q, q.levels[0]) : from_below(q, q.levels[0]);
    // A first and a last touch of one level share this first touch, so that they are a joint sample.
    value& first = first_touches_[{is_below, q.asset, q.levels[0].index()}];
    if (!first.valid()) {
        const value normal = normal_between(q.asset);
        first = sampled_touch(d.start, d.end, q.path.variance, normal, uniform_between(q.asset));
    }
    value fraction = first;
    if (is_last) {
        const value normal = normal_between(q.asset);
        fraction =
            sampled_last_touch(d.start, d.end, q.path.variance, first, normal, uniform_between(q.asset));
    }
    const value start = made_.row("start", [](const occurrence& run) { return run.start_years; });
    const value in_part = start + part_length() * fraction;
    if (!made_.is_in_parts()) return in_part;

    // The first touch is in this part if this part has a touch and no earlier one has. The last touch so far
    // is in this part if this part has a touch.
    const std::string name = name_of(q.asked, q.asset);
    const value here = touch_probability(d.start, d.end, q.path.variance), fresh = uniform_between(q.asset);
    value is_here;
    made_.over_parts(name + " chance", here, [&](value so_far) {
        const value now = (1.0 - so_far) * here, all = so_far + now;
        is_here = fresh * all < (is_last ? here : now);
        return all;
    });
    return made_.over_parts(name, in_part,
                            [&](value so_far) { return program::select(is_here, in_part, so_far); });
}

}  // namespace tilewalk::language::recording
