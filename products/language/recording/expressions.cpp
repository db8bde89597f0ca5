// SPDX-License-Identifier: Apache-2.0
#include "products/language/recording/expressions.h"

#include <utility>
#include <variant>

#include "products/program/row_names.h"

namespace tilewalk::language::recording {

using program::operation;

namespace {

// Times closer than same_time_years are equal: the last of equal steps may miss the end by a rounding error.
value compare_dates(binary_operator sign, value a, value b) {
    const value later = b + dates::same_time_years < a, earlier = a + dates::same_time_years < b;
    switch (sign) {
        case binary_operator::less:
            return earlier;
        case binary_operator::less_equal:
            return !later;
        case binary_operator::greater:
            return later;
        case binary_operator::greater_equal:
            return !earlier;
        case binary_operator::equal:
            return !(later || earlier);
        default:
            return later || earlier;
    }
}

}  // namespace

value expressions::evaluate(const expression& e, frame& f) {
    const value v = unchecked(e, f);
    checks_.check_operation(e, v, f);
    return v;
}

value expressions::number(const expression& e, frame& f) {
    const value v = evaluate(e, f);
    checks_.check_overflow(e, v, f);
    return v;
}

value expressions::unchecked(const expression& e, frame& f) {
    made_.spend(e.where, 1);
    switch (e.is) {
        case form::number:
            return made_.number(e.number);
        case form::truth:
            return made_.truth(e.number != 0);
        case form::name:
            return name(e, f);
        case form::element:
            return element(e, f);
        case form::negate:
            return made_.apply(operation::neg, evaluate(e.operands[0], f));
        case form::logical_not:
            return made_.apply(operation::logical_not, evaluate(e.operands[0], f));
        case form::binary:
            return binary(e, f);
        case form::call:
            return call(e, f);
        case form::aggregate:
            return aggregate(e, f);
        case form::text:
            break;
    }
    throw error(error_kind::internal, "a text is evaluated");
}

value expressions::name(const expression& e, frame& f) {
    switch (e.means) {
        case meaning::variable:
            return variables_.value_of(f, e.slot, 0);
        case meaning::parameter:
            return parameter_of(e);
        case meaning::time:
            return made_.row(
                "time", [&](const occurrence& run) { return run.ends + at_.script.years_since_start(); });
        case meaning::step:
            return made_.step_length();
        case meaning::index:
            return made_.row("index", [&](const occurrence& run) {
                return static_cast<double>(at_.place_in_schedule(run) + 1);
            });
        case meaning::count:
            return schedule_size(e.list);
        default:
            throw error(error_kind::internal, "'" + e.text + "' has no value of its own");
    }
}

value expressions::parameter_of(const expression& e) {
    const argued_script& script = at_.script;
    const parameter& p = script.parameter_of(e.slot);
    if (p.type == parameter_type::boolean) return made_.truth(script.get<bool>(e.slot));
    if (p.per.empty()) return made_.term("param:" + p.name, script.get<double>(e.slot));
    const argument& given = script.argument_of(e.slot);
    return made_.row("param:" + p.name, [&](const occurrence& run) {
        if (const auto* numbers = std::get_if<std::vector<double>>(&given))
            return (*numbers)[at_.place_in_schedule(run)];
        return script.get<double>(e.slot);
    });
}

value expressions::element(const expression& e, frame& f) {
    const std::size_t element = element_at(e.operands[0]);
    if (e.means == meaning::variable) return variables_.value_of(f, e.slot, element);
    const parameter& p = at_.script.parameter_of(e.slot);
    const argument& given = at_.script.argument_of(e.slot);
    const auto* numbers = std::get_if<std::vector<double>>(&given);
    return made_.term("param:" + p.name + "[" + std::to_string(element) + "]",
                      numbers != nullptr ? (*numbers)[element] : at_.script.get<double>(e.slot));
}

value expressions::schedule_size(std::size_t parameter) {
    return made_.term(program::row_names::schedule_size(at_.script.parameter_of(parameter).name),
                      static_cast<double>(at_.script.schedule_of(parameter).times.size()));
}

value expressions::binary(const expression& e, frame& f) {
    const expression &left = e.operands[0], &right = e.operands[1];
    if (e.sign == binary_operator::logical_and || e.sign == binary_operator::logical_or) {
        const bool is_and = e.sign == binary_operator::logical_and;
        const value a = evaluate(left, f);
        if (is(a, !is_and)) return a;  // the other side is not evaluated
        // Flaws of the right side count only on paths where the left side does not decide.
        const flaws before = std::exchange(f.flaws, {});
        const value b = evaluate(right, f);
        const flaws of_right = std::exchange(f.flaws, before);
        checks_.add(a, is_and, of_right, f.flaws);
        return is_and ? both(a, b) : either(a, b);
    }
    if (left.of == type::choice) {
        const bool same = at_.script.get<std::string>(left.slot) == right.text;
        return made_.truth(same == (e.sign == binary_operator::equal));
    }
    if (left.of == type::date) return compare_dates(e.sign, days_.years_of(left), days_.years_of(right));
    // An operand's overflow needs no check if it shows in the result: of a sum, a product, or a quotient's
    // numerator.
    const bool shows = e.of == type::number;
    const bool shows_right = shows && e.sign != binary_operator::divide;
    const value a = shows ? evaluate(left, f) : number(left, f);
    const value b = shows_right ? evaluate(right, f) : number(right, f);
    switch (e.sign) {
        case binary_operator::add:
            return made_.apply(operation::add, a, b);
        case binary_operator::subtract:
            return made_.apply(operation::sub, a, b);
        case binary_operator::multiply:
            return made_.apply(operation::mul, a, b);
        case binary_operator::divide:
            return made_.apply(operation::div, a, b);
        case binary_operator::less:
            return made_.apply(operation::less, a, b);
        case binary_operator::less_equal:
            return made_.apply(operation::less_equal, a, b);
        case binary_operator::greater:
            return made_.apply(operation::less, b, a);
        case binary_operator::greater_equal:
            return made_.apply(operation::less_equal, b, a);
        case binary_operator::equal:
            return made_.apply(operation::equal, a, b);
        default:
            return made_.apply(operation::logical_not, made_.apply(operation::equal, a, b));
    }
}

const std::string& expressions::asset_of(const expression& e) const {
    if (e.means == meaning::loop_asset) return *loops_[e.slot].name;
    return at_.script.get<std::string>(e.slot);
}

value expressions::call(const expression& e, frame& f) {
    switch (e.calls) {
        case function::spot:
            // A spot inside `between` is read at the interval's end: the price depends on the length of
            // intervals.
            if (at_.of != nullptr && at_.of->continuous) at_.market->approximates_inside();
            return market_.spot(asset_of(e.operands[0]));
        case function::fx: {
            const std::string& currency = at_.script.currency_of(e.operands[0]);
            return currency == at_.script.trade_currency() ? made_.number(1) : market_.fx(currency);
        }
        case function::forward:
            return forward(e);
        case function::call_value:
        case function::put_value:
            return option_value(e, f);
        case function::bond:
            return rates_.bond(e);
        case function::forward_rate:
            return rates_.forward_rate(e);
        case function::annuity:
            return rates_.annuity(e);
        case function::swap_rate:
            return rates_.swap_rate(e);
        case function::constant_maturity_rate:
            return rates_.constant_maturity_rate(e);
        case function::given:
            return made_.truth(at_.script.is_given(e.operands[0].slot));
        case function::size:
            if (e.operands[0].of == type::schedule) return schedule_size(e.operands[0].slot);
            return made_.number(fixed_number(e));
        case function::position:
            return made_.number(fixed_number(e));
        case function::year_fraction:
            return days_.year_fraction(e.operands[0], e.operands[1], days_.day_count_of(e, 2));
        default:
            break;
    }
    const bool is_arithmetic = entry_of(e.calls).kind == function_kind::arithmetic;
    return is_arithmetic ? arithmetic(e, f) : interval(e, f);
}

value expressions::arithmetic(const expression& e, frame& f) {
    const bool shows = e.calls == function::abs || e.calls == function::floor || e.calls == function::log ||
                       e.calls == function::sqrt;
    const value first = shows ? evaluate(e.operands[0], f) : number(e.operands[0], f);
    switch (e.calls) {
        case function::min:
        case function::max: {
            const operation code = e.calls == function::min ? operation::min : operation::max;
            value v = first;
            for (std::size_t i = 1; i < e.operands.size(); ++i)
                v = made_.apply(code, v, number(e.operands[i], f));
            return v;
        }
        case function::abs:
            return made_.apply(operation::abs, first);
        case function::exp:
            return made_.apply(operation::exp, first);
        case function::log:
            return made_.apply(operation::log, first);
        case function::sqrt:
            return made_.apply(operation::sqrt, first);
        case function::pow:
            return made_.apply(operation::pow, first, number(e.operands[1], f));
        case function::floor:
            return made_.apply(operation::floor, first);
        case function::norm_cdf:
            return made_.apply(operation::norm_cdf, first);
        default:
            throw error(error_kind::internal, "'" + e.text + "' is not a function of numbers alone");
    }
}

value expressions::forward(const expression& e) {
    const auto years = days_.years_ahead(e.operands[1], e.where, "the forward price");
    return market_.forward(asset_of(e.operands[0]), years, written(e.operands[1]));
}

value expressions::option_value(const expression& e, frame& f) {
    const auto years = days_.years_ahead(e.operands[2], e.where, "the value of an option");
    const value strike = number(e.operands[1], f);
    return at_.market->option_value(e.calls == function::call_value, asset_of(e.operands[0]), strike, years,
                                    written(e.operands[2]));
}

value expressions::interval(const expression& e, frame& f) {
    std::vector<value> levels;
    for (std::size_t i = 1; i < e.operands.size(); ++i) levels.push_back(number(e.operands[i], f));
    return intervals_.value_of(e.calls, asset_of(e.operands[0]), levels);
}

void expressions::for_each_asset(std::size_t list, const std::function<void()>& with) {
    const auto& names = at_.script.list_of(list);
    const open_loop here(loops_);
    for (std::size_t i = 0; i < names.size(); ++i) {
        loops_.back() = {i, &names[i]};
        with();
    }
}

value expressions::aggregate(const expression& e, frame& f) {
    std::vector<value> each;
    const bool shows = e.calls == function::sum || e.calls == function::average;
    for_each_asset(e.list, [&] {
        each.push_back(shows ? evaluate(e.operands.back(), f) : number(e.operands.back(), f));
    });
    keep_compared(e, each);
    if (e.calls == function::nth) return nth(e.operands[0], std::move(each));
    value v = each[0];
    for (std::size_t i = 1; i < each.size(); ++i) {
        if (e.calls == function::worst) {
            v = program::min(v, each[i]);
        } else if (e.calls == function::best) {
            v = program::max(v, each[i]);
        } else {
            v = v + each[i];
        }
    }
    return e.calls == function::average ? v / static_cast<double>(each.size()) : v;
}

void expressions::keep_compared(const expression& e, const std::vector<value>& each) {
    const bool is_sum = e.calls == function::sum || e.calls == function::average;
    if (is_sum || !compared_.assets.empty()) return;
    compared_ = {written(e.operands.back()), at_.script.list_of(e.list), each, e.calls == function::worst};
}

// Evaluates a number that decides which operations are recorded, so it can't be a term or vary by path.
double expressions::fixed_number(const expression& e) const {
    switch (e.is) {
        case form::number:
            return e.number;
        case form::name:
            return at_.script.get<double>(e.slot);
        case form::binary: {
            const double a = fixed_number(e.operands[0]), b = fixed_number(e.operands[1]);
            return e.sign == binary_operator::add ? a + b : a - b;
        }
        default: {
            const expression& of = e.operands[0];
            const bool is_position = e.calls == function::position;
            return static_cast<double>(is_position ? element_at(of) + 1 : at_.script.list_of(of.slot).size());
        }
    }
}

// The k-th smallest: k passes of a bubble sort from the nearer end, as a network of min and max.
value expressions::nth(const expression& rank, std::vector<value> each) {
    const double k = fixed_number(rank);
    const std::size_t n = each.size();
    if (!(k >= 1 && k <= static_cast<double>(n))) {
        at_.script.fail(rank.where, "'nth' is asked for number " + std::to_string(static_cast<long>(k)) +
                                        " of " + std::to_string(n) + " assets; expected 1 to " +
                                        std::to_string(n));
    }
    const auto from_below = static_cast<std::size_t>(k), from_above = n + 1 - from_below;
    const bool upwards = from_below <= from_above;
    const std::size_t passes = upwards ? from_below : from_above;
    for (std::size_t pass = 0; pass < passes; ++pass) {
        for (std::size_t i = n - 1; i > pass; --i) {
            const value a = each[i - 1], b = each[i];
            each[i - 1] = upwards ? program::min(a, b) : program::max(a, b);
            each[i] = upwards ? program::max(a, b) : program::min(a, b);
        }
    }
    return each[passes - 1];
}

}  // namespace tilewalk::language::recording
