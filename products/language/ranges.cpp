// SPDX-License-Identifier: Apache-2.0
#include "products/language/ranges.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "products/dates/date.h"
#include "tilewalk/bounds.h"

namespace tilewalk::language {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// Sizes of numbers that float can hold too: a larger product may overflow in float, a smaller one become 0.
constexpr double largest = 1e38, smallest = 1e-37;

constexpr range nothing{infinity, -infinity};
constexpr range anything{-largest, largest};
constexpr range truth{0, 1};

bool is_empty(range r) {
    return r.low > r.high;
}
bool has(range r, double x) {
    return r.low <= x && x <= r.high;
}
bool is_finite(range r) {
    return std::isfinite(r.low) && std::isfinite(r.high);
}
range clamped(range r) {
    return {std::clamp(r.low, -largest, largest), std::clamp(r.high, -largest, largest)};
}
range hull(range a, range b) {
    return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

// The range of an operation that rounds: ends may overflow to infinity or underflow to 0.
range rounded(range r) {
    if (!(r.low > -largest)) r.low = -infinity;
    if (!(r.high < largest)) r.high = infinity;
    if (0 < r.low && r.low < smallest) r.low = 0;
    if (-smallest < r.high && r.high < 0) r.high = 0;
    return r;
}

range sum(range a, range b) {
    return rounded({a.low + b.low, a.high + b.high});
}
range negative(range a) {
    return {-a.high, -a.low};
}
double multiplied(double a, double b) {
    return a == 0 || b == 0 ? 0.0 : a * b;
}
range product_of(range a, range b) {
    const auto [low, high] = std::minmax({multiplied(a.low, b.low), multiplied(a.low, b.high),
                                          multiplied(a.high, b.low), multiplied(a.high, b.high)});
    return rounded({low, high});
}
range quotient(range a, range b) {
    return product_of(a, {1 / b.high, 1 / b.low});
}
range absolute(range a) {
    if (has(a, 0)) return {0, std::max(-a.low, a.high)};
    return a.low > 0 ? a : negative(a);
}

bool is_whole(range r) {
    return r.low == r.high && r.low == std::floor(r.low);
}
// Requires a base that is not negative, or a whole exponent.
range power(range a, range b) {
    if (a.low < 0) {
        const range size = power(absolute(a), b);
        return std::fmod(b.low, 2) == 0 ? size : range{-size.high, size.high};
    }
    range r = nothing;
    for (const double x : {a.low, a.high})
        for (const double y : {b.low, b.high}) r = hull(r, {std::pow(x, y), std::pow(x, y)});
    // std::pow is monotone up to its last bits only, so the range is made a little wider.
    return rounded({r.low * (1 - 1e-5), r.high * (1 + 1e-5)});
}
bool has_power(range a, range b) {
    if (a.low > 0) return true;
    if (is_whole(b)) return b.low >= 0;
    return a.low == 0 && b.low > 0;
}

// True for equal expressions. Within a block, they have equal values.
bool is_same(const expression& a, const expression& b) {
    if (a.is != b.is || a.operands.size() != b.operands.size()) return false;
    if (a.is == form::aggregate) return false;
    if (a.text != b.text || a.number != b.number || a.sign != b.sign || a.means != b.means ||
        a.slot != b.slot || a.calls != b.calls)
        return false;
    return std::ranges::equal(a.operands, b.operands, is_same);
}

bool is_variable(const expression& e) {
    return (e.is == form::name || e.is == form::element) && e.means == meaning::variable;
}
bool depends_on(const expression& e, std::size_t variable) {
    if (is_variable(e) && e.slot == variable) return true;
    return std::ranges::any_of(e.operands, [&](const expression& o) { return depends_on(o, variable); });
}
bool is_target(const assignment& a, const expression& e) {
    if (!is_variable(e) || e.slot != a.variable) return false;
    return !a.element || (e.is == form::element && e.operands[0].slot == a.element->slot);
}

struct sum_term {
    const expression* of;
    bool is_subtracted;
};
void add_terms(const expression& e, bool is_subtracted, std::vector<sum_term>& into) {
    const bool subtracts = e.sign == binary_operator::subtract;
    if (e.is == form::binary && (subtracts || e.sign == binary_operator::add)) {
        add_terms(e.operands[0], is_subtracted, into);
        add_terms(e.operands[1], is_subtracted != subtracts, into);
    } else {
        into.push_back({&e, is_subtracted});
    }
}
// If a variable is set to a sum that has the variable itself as a term, the sum's other terms; else empty.
std::vector<sum_term> increments_of(const assignment& a) {
    std::vector<sum_term> terms;
    add_terms(a.to, false, terms);
    const auto itself = std::ranges::find_if(
        terms, [&](const sum_term& t) { return !t.is_subtracted && is_target(a, *t.of); });
    if (itself == terms.end()) return {};
    terms.erase(itself);
    if (std::ranges::any_of(terms, [&](const sum_term& t) { return depends_on(*t.of, a.variable); }))
        return {};
    return terms;
}

// If a variable is set to the min or max of itself and other operands, the other operands; else empty.
std::vector<const expression*> alternatives_of(const assignment& a) {
    const expression& e = a.to;
    if (e.is != form::call || (e.calls != function::min && e.calls != function::max)) return {};
    std::vector<const expression*> others;
    for (const expression& o : e.operands)
        if (!is_target(a, o)) others.push_back(&o);
    return others.size() < e.operands.size() ? others : std::vector<const expression*>{};
}

bool breaks(const expression& e) {
    if (e.is == form::binary) return e.sign == binary_operator::divide;
    if (e.is != form::call) return false;
    return e.calls == function::sqrt || e.calls == function::log || e.calls == function::exp ||
           e.calls == function::pow;
}

constexpr range price{1 / bounds::money, bounds::money};
constexpr range years{-2 * bounds::years, 2 * bounds::years};
// A period in any day count is at most its act_365f years times the first number, plus the second.
constexpr double longest_by_any_day_count = 1.1, days_of_any_day_count = 0.02;

}  // namespace

ranges::ranges(const argued_script& script, const world& market,
               const std::vector<std::vector<double>>& at_first)
    : script_(script), market_(market) {
    for (const std::vector<double>& elements : at_first) {
        variable_range& v = variables_.emplace_back();
        v.set = nothing;
        for (const double x : elements) v.set = hull(v.set, {x, x});
    }
    names_.resize(variables_.size());
    double first = std::min(0.0, -script_.years_since_start()), last = 0;
    for (const block& b : script_.blocks()) {
        if (b.times.empty()) continue;
        first = std::min(first, b.times.front());
        last = std::max(last, b.times.back());
    }
    longest_ = std::min(years.high, longest_by_any_day_count * (last - first) + days_of_any_day_count);
    settle();
    is_settled_ = true;
    walk_all();
}

// Walks the script until ranges hold all values of variables; after some rounds, growing ranges jump to the
// largest.
void ranges::settle() {
    constexpr int free_rounds = 6, most_rounds = 40;
    for (int round = 0; round < most_rounds; ++round) {
        has_changed_ = false;
        is_widening_ = round >= free_rounds;
        for (variable_range& v : variables_) v.next_fall = v.next_rise = 0;
        walk_all();
        for (variable_range& v : variables_) {
            v.next_rise = std::min(v.next_rise, largest);
            v.next_fall = std::max(v.next_fall, -largest);
            if (v.next_rise > v.rise) {
                v.rise = is_widening_ ? largest : v.next_rise;
                has_changed_ = true;
            }
            if (v.next_fall < v.fall) {
                v.fall = is_widening_ ? -largest : v.next_fall;
                has_changed_ = true;
            }
        }
        if (!has_changed_) return;
    }
    for (variable_range& v : variables_) v.set = anything;
}

void ranges::walk_all() {
    const syntax& tree = script_.tree();
    for (std::size_t b = 0; b < tree.blocks.size(); ++b) {
        const block& of = script_.blocks()[b];
        std::ranges::fill(names_, std::nullopt);
        walk(tree.blocks[b].body, static_cast<double>(of.continuous ? bounds::steps : of.times.size()),
             false);
    }
    std::ranges::fill(names_, std::nullopt);
}

void ranges::walk(const statements& list, double times, bool in_loop) {
    for (const statement& s : list) {
        if (const auto* a = std::get_if<assignment>(&s.does)) {
            assign(*a, times, in_loop);
        } else if (const auto* b = std::get_if<branch>(&s.does)) {
            walk(*b, 0, times, in_loop);
        } else if (const auto* l = std::get_if<loop>(&s.does)) {
            std::ranges::fill(names_, std::nullopt);
            if (!script_.is_given(l->list)) continue;
            walk(l->body, times * static_cast<double>(script_.list_of(l->list).size()), true);
        } else if (const auto* p = std::get_if<payment>(&s.does)) {
            range_of(p->amount);
            if (p->at) range_of(*p->at);
        } else if (const auto* r = std::get_if<settlement>(&s.does)) {
            range_of(r->gives.amount);
        }
    }
}

void ranges::walk(const branch& b, std::size_t from_arm, double times, bool in_loop) {
    if (from_arm == b.arms.size()) return walk(b.otherwise, times, in_loop);
    const branch::arm& arm = b.arms[from_arm];
    range_of(arm.condition);
    const std::optional<bool> is_taken = decided(arm.condition);
    if (is_taken == true) return walk(arm.body, times, in_loop);
    if (is_taken == false) return walk(b, from_arm + 1, times, in_loop);
    const names_at_hand before = names_;
    walk(arm.body, times, in_loop);
    const names_at_hand after = std::exchange(names_, before);
    walk(b, from_arm + 1, times, in_loop);
    for (std::size_t v = 0; v < names_.size(); ++v)
        names_[v] = names_[v] && after[v] ? std::optional(hull(*names_[v], *after[v])) : std::nullopt;
}

void ranges::assign(const assignment& a, double times, bool in_loop) {
    const range to = clamped(range_of(a.to));
    variable_range& v = variables_[a.variable];
    const variable& named = script_.tree().variables[a.variable];
    if (!named.is_state && !named.list && !in_loop) {
        names_[a.variable] = to;
        return include(v, to);
    }
    const std::vector<const expression*> alternatives = alternatives_of(a);
    const std::vector<sum_term> added = increments_of(a);
    for (const expression* e : alternatives) include(v, clamped(range_of(*e)));
    for (const sum_term& t : added) {
        range r = clamped(range_of(*t.of));
        if (is_empty(r)) continue;
        if (t.is_subtracted) r = negative(r);
        v.next_rise += times * std::max(r.high, 0.0);
        v.next_fall += times * std::min(r.low, 0.0);
    }
    if (alternatives.empty() && added.empty()) include(v, to);
}

std::optional<bool> ranges::decided(const expression& condition) const {
    const auto operand = [&](std::size_t i) { return decided(condition.operands[i]); };
    switch (condition.is) {
        case form::truth:
            return condition.number != 0;
        case form::logical_not:
            if (const auto known = operand(0)) return !*known;
            return std::nullopt;
        case form::name:
            if (condition.means == meaning::parameter && condition.of == type::truth &&
                script_.is_given(condition.slot))
                return script_.get<bool>(condition.slot);
            return std::nullopt;
        case form::call:
            if (condition.calls == function::given) return script_.is_given(condition.operands[0].slot);
            return std::nullopt;
        case form::binary: {
            const bool is_and = condition.sign == binary_operator::logical_and;
            if (is_and || condition.sign == binary_operator::logical_or) {
                const std::optional<bool> a = operand(0);
                if (a == !is_and) return a;
                const std::optional<bool> b = operand(1);
                if (b == !is_and) return b;
                return a && b ? std::optional(is_and) : std::nullopt;
            }
            const bool equal = condition.sign == binary_operator::equal;
            if (!equal && condition.sign != binary_operator::not_equal) return std::nullopt;
            const expression &left = condition.operands[0], &right = condition.operands[1];
            if (left.of == type::choice && !script_.is_given(left.slot)) return std::nullopt;
            if (left.of == type::choice) return (script_.get<std::string>(left.slot) == right.text) == equal;
            if (left.of != type::truth) return std::nullopt;
            const std::optional<bool> a = operand(0), b = operand(1);
            return a && b ? std::optional((*a == *b) == equal) : std::nullopt;
        }
        default:
            return std::nullopt;
    }
}

void ranges::include(variable_range& v, range r) {
    if (is_empty(r)) return;
    const bool is_new = is_empty(v.set);
    if (r.low < v.set.low) {
        v.set.low = !is_widening_ || is_new ? r.low : r.low >= 0 ? 0 : -largest;
        has_changed_ = true;
    }
    if (r.high > v.set.high) {
        v.set.high = !is_widening_ || is_new ? r.high : r.high <= 0 ? 0 : largest;
        has_changed_ = true;
    }
}

range ranges::of_variable(std::size_t number) const {
    const variable_range& v = variables_[number];
    if (script_.tree().variables[number].of == type::truth) return truth;
    if (names_[number]) return *names_[number];
    return is_empty(v.set) ? nothing : clamped({v.set.low + v.fall, v.set.high + v.rise});
}

range ranges::of_parameter(std::size_t number) const {
    if (script_.parameter_of(number).type == parameter_type::boolean) return truth;
    if (!script_.is_given(number)) return anything;
    const argument& given = script_.argument_of(number);
    if (const auto* x = std::get_if<double>(&given)) return clamped({*x, *x});
    range r = nothing;
    if (const auto* all = std::get_if<std::vector<double>>(&given))
        for (const double x : *all) r = hull(r, {x, x});
    return is_empty(r) ? anything : clamped(r);
}

range ranges::of_spot(const expression& asset) const {
    const auto of_asset = [&](const std::string& name) {
        return market_.is_positive(name) ? price : range{-price.high, price.high};
    };
    if (asset.means != meaning::loop_asset)
        return script_.is_given(asset.slot) ? of_asset(script_.get<std::string>(asset.slot)) : anything;
    if (!script_.is_given(asset.list)) return anything;
    range r = nothing;
    for (const std::string& name : script_.list_of(asset.list)) r = hull(r, of_asset(name));
    return is_empty(r) ? anything : r;
}

range ranges::of_name(const expression& e) const {
    switch (e.means) {
        case meaning::variable:
            return of_variable(e.slot);
        case meaning::parameter:
            return of_parameter(e.slot);
        case meaning::time:
            return {0, longest_};
        case meaning::step:
            return {dates::same_time_years / 2, std::max(longest_, dates::same_time_years)};
        case meaning::index:
            return {1, static_cast<double>(bounds::schedule_dates)};
        case meaning::count: {
            if (!script_.is_given(e.list)) return anything;
            const auto size = static_cast<double>(script_.schedule_of(e.list).times.size());
            return {size, size};
        }
        default:
            return anything;
    }
}

range ranges::of_binary(const expression& e) const {
    const expression &left = e.operands[0], &right = e.operands[1];
    if (e.of == type::truth || left.of != type::number) return truth;
    const range a = range_of(left), b = range_of(right);
    if (is_empty(a) || is_empty(b)) return nothing;
    switch (e.sign) {
        case binary_operator::add:
            return sum(a, b);
        case binary_operator::subtract:
            return sum(a, negative(b));
        case binary_operator::multiply: {
            if (!is_same(left, right)) return product_of(a, b);
            const range size = absolute(a);
            return product_of(size, size);
        }
        case binary_operator::divide: {
            // A divisor that overflows is found by a check of its own.
            const range by = clamped(b);
            if (!has(by, 0)) return quotient(a, by);
            if (by.low == 0 && a.low >= 0) return {0, infinity};
            return {-infinity, infinity};
        }
        default:
            return truth;
    }
}

range ranges::of_call(const expression& e) const {
    const auto operand = [&](std::size_t i) { return range_of(e.operands[i]); };
    switch (e.calls) {
        case function::min:
        case function::max: {
            range r = clamped(operand(0));
            for (std::size_t i = 1; i < e.operands.size(); ++i) {
                const range next = clamped(operand(i));
                if (is_empty(r) || is_empty(next)) return nothing;
                r = e.calls == function::min ? range{std::min(r.low, next.low), std::min(r.high, next.high)}
                                             : range{std::max(r.low, next.low), std::max(r.high, next.high)};
            }
            return r;
        }
        case function::abs:
        case function::floor:
        case function::sqrt:
        case function::log:
        case function::exp:
        case function::norm_cdf: {
            const range x = operand(0);
            if (is_empty(x)) return nothing;
            if (e.calls == function::abs) return absolute(x);
            if (e.calls == function::floor) return {std::floor(x.low), std::floor(x.high)};
            if (e.calls == function::norm_cdf) return truth;
            if (e.calls == function::sqrt)
                return {std::sqrt(std::max(x.low, 0.0)), std::sqrt(std::max(x.high, 0.0))};
            if (e.calls == function::exp)
                return rounded({std::exp(x.low) * (1 - 1e-5), std::exp(x.high) * (1 + 1e-5)});
            const range logarithm{x.low > 0 ? std::log(x.low) : -infinity,
                                  x.high > 0 ? std::log(x.high) : -infinity};
            return {logarithm.low - 1e-5 * std::abs(logarithm.low),
                    logarithm.high + 1e-5 * std::abs(logarithm.high)};
        }
        case function::pow: {
            const range a = operand(0), b = operand(1);
            if (is_empty(a) || is_empty(b)) return nothing;
            return has_power(a, b) ? power(a, b) : range{-infinity, infinity};
        }
        case function::spot:
        case function::forward:
        case function::lowest:
        case function::highest:
        case function::mean_spot:
            return of_spot(e.operands[0]);
        case function::fx:
        case function::bond:
            return price;
        case function::call_value:
        case function::put_value:
        case function::annuity:
            return {0, price.high};
        case function::forward_rate:
        case function::swap_rate:
        case function::constant_maturity_rate:
            return {-price.high, price.high};
        case function::size: {
            const std::size_t slot = e.operands[0].slot;
            if (!script_.is_given(slot)) return anything;
            const auto count = static_cast<double>(e.operands[0].of == type::schedule
                                                       ? script_.schedule_of(slot).times.size()
                                                       : script_.list_of(slot).size());
            return {count, count};
        }
        case function::position:
            return {1, largest};
        case function::given:
        case function::touched_below:
        case function::touched_above:
        case function::touched_outside:
        case function::touches_below:
        case function::touches_above:
            return truth;
        case function::time_above:
        case function::time_below:
        case function::drawn_time_above:
        case function::drawn_time_below:
            return {0, longest_};
        case function::variance_of_time_above:
        case function::variance_of_time_below:
            return {0, longest_ * longest_};
        case function::mean_log_spot:
            return {std::log(price.low), std::log(price.high)};
        case function::variance_of_mean_spot:
            return {0, price.high * price.high};
        case function::variance_of_mean_log_spot:
            return {0, bounds::money};
        case function::year_fraction:
            return of_year_fraction(e);
        case function::touch_time_below:
        case function::touch_time_above:
        case function::last_time_below:
        case function::last_time_above:
            return years;
        default:
            return anything;
    }
}

range ranges::of_year_fraction(const expression& e) const {
    const auto is_fixed = [&](const expression& day) {
        if (day.means == meaning::start) return true;
        if (day.is == form::call) {
            const std::size_t schedule = day.operands[0].slot;
            return script_.is_given(schedule) && !script_.schedule_of(schedule).times.empty();
        }
        return day.is == form::name && day.means == meaning::parameter && script_.is_given(day.slot) &&
               script_.parameter_of(day.slot).per.empty();
    };
    const expression &from = e.operands[0], &to = e.operands[1];
    if (is_fixed(from) && is_fixed(to)) {
        std::string convention = "act_365f";
        if (e.operands.size() > 2 && (e.operands[2].is == form::text || script_.is_given(e.operands[2].slot)))
            convention = e.operands[2].is == form::text ? e.operands[2].text
                                                        : script_.get<std::string>(e.operands[2].slot);
        const double length = dates::year_fraction(script_.date_of(from), script_.date_of(to),
                                                   *dates::parse_day_count(convention), script_.as_of());
        return clamped({length, length});
    }
    const bool rises = (from.means == meaning::previous && to.means == meaning::today) ||
                       (from.means == meaning::today && to.means == meaning::next);
    return rises ? range{0, longest_} : years;
}

range ranges::unchecked(const expression& e) const {
    switch (e.is) {
        case form::number:
            return clamped({e.number, e.number});
        case form::name:
        case form::element:
            return of_name(e);
        case form::negate: {
            const range r = range_of(e.operands[0]);
            return is_empty(r) ? r : negative(r);
        }
        case form::binary:
            return of_binary(e);
        case form::call:
            return of_call(e);
        case form::aggregate: {
            const range r = range_of(e.operands.back());
            if (is_empty(r)) return r;
            if (e.calls != function::sum && e.calls != function::average) return clamped(r);
            if (!script_.is_given(e.list)) return anything;
            const auto size = static_cast<double>(script_.list_of(e.list).size());
            const range all = product_of(r, {size, size});
            return e.calls == function::sum ? all : quotient(all, {size, size});
        }
        default:
            return truth;
    }
}

range ranges::found(const expression& e) const {
    if (!is_settled_) return unchecked(e);
    // The last walk of the script stored the range of each expression where it stands.
    if (const auto at = known_.find(&e); at != known_.end()) return at->second;
    return known_[&e] = unchecked(e);
}

range ranges::range_of(const expression& e) const {
    const range r = found(e);
    return breaks(e) && !is_empty(r) ? clamped(r) : r;
}

bool ranges::may_break(const expression& e) const {
    if (!breaks(e)) return false;
    const range r = found(e);
    if (!is_finite(r)) return true;
    if (e.is == form::binary) return false;
    const range x = range_of(e.operands[0]);
    if (e.calls == function::sqrt) return !(x.low >= 0);
    if (e.calls == function::log) return !(x.low > 0);
    return false;
}

bool ranges::may_overflow(const expression& e) const {
    return e.of == type::number && !is_finite(range_of(e));
}

}  // namespace tilewalk::language
