// SPDX-License-Identifier: Apache-2.0
#include "products/language/checking/calls.h"

#include <string>
#include <vector>

#include "products/dates/schedule.h"
#include "products/language/checking/expressions.h"
#include "products/language/checking/wording.h"

namespace tilewalk::language::checking {

const function_entry& calls::find_called(const expression& e) const {
    if (const function_entry* f = find_function(e.text)) return *f;
    if (names_.is_known(e.text)) fail(tree_, e.where, in_quotes(e.text) + " is not a function");
    std::vector<std::string> known;
    for (const auto& f : functions) known.emplace_back(f.name);
    fail(tree_, e.where,
         "unknown function " + in_quotes(e.text) + suggestion_or_all(e.text, known, "functions"));
}

void calls::check_count(const expression& e, const function_entry& f) const {
    const int given = static_cast<int>(e.operands.size());
    if (given >= f.least && given <= f.most) return;
    std::string wanted = std::to_string(f.least);
    if (f.most == any_number)
        wanted += " to " + std::to_string(f.most);
    else if (f.most != f.least)
        wanted += " or " + std::to_string(f.most);
    fail(tree_, e.where,
         in_quotes(f.name) + " takes " + wanted + (wanted == "1" ? " argument" : " arguments") + ", found " +
             std::to_string(given) + "; write " + std::string(f.written));
}

void calls::check_place(const expression& e, const function_entry& f) const {
    const bool needs_date = f.kind == function_kind::market || f.kind == function_kind::rate;
    if (needs_date && names_.where() == surroundings::top) {
        fail(tree_, e.where,
             in_quotes(f.name) + " needs a current date; use it inside an 'on' or 'between' block");
    }
    if (f.kind == function_kind::interval && names_.where() != surroundings::interval) {
        fail(tree_, e.where,
             in_quotes(f.name) +
                 " asks what happens between two dates; it can be used inside a 'between' block only");
    }
}

type calls::check(expression& e) {
    const function_entry& f = find_called(e);
    e.calls = f.code;
    if (f.kind == function_kind::aggregate) {
        fail(tree_, e.where,
             in_quotes(f.name) + " runs over a list of assets; write " + std::string(f.written));
    }
    check_count(e, f);
    check_place(e, f);
    return check_arguments(e, f);
}

void calls::expect_all(expression& e, std::initializer_list<type> wanted) {
    std::size_t i = 0;
    for (const type t : wanted) arguments_.expect(e.operands[i++], t);
}

type calls::check_arguments(expression& e, const function_entry& f) {
    switch (f.code) {
        case function::fx:
            arguments_.expect_exchanged(e.operands[0]);
            return type::number;
        case function::bond:
        case function::forward_rate:
        case function::annuity:
        case function::swap_rate:
        case function::constant_maturity_rate:
            return check_rate(e);
        case function::forward:
            expect_all(e, {type::asset, type::date});
            return type::number;
        case function::call_value:
        case function::put_value:
            expect_all(e, {type::asset, type::number, type::date});
            return type::number;
        case function::given:
            return check_given(e.operands[0]);
        case function::size:
            return check_size(e);
        case function::first:
        case function::last:
            expect_all(e, {type::schedule});
            return type::date;
        case function::position:
            return check_position(e.operands[0]);
        case function::year_fraction:
            expect_all(e, {type::date, type::date});
            if (e.operands.size() == 3) check_day_count(e.operands[2]);
            return type::number;
        default:
            break;
    }
    std::size_t i = 0;
    if (f.kind != function_kind::arithmetic) arguments_.expect(e.operands[i++], type::asset);
    for (; i < e.operands.size(); ++i) arguments_.expect(e.operands[i], type::number);
    return type::number;
}

type calls::check_rate(expression& e) {
    arguments_.expect(e.operands[0], type::currency);
    if (e.calls == function::constant_maturity_rate) {
        check_constant_maturity(e);
        return type::number;
    }
    arguments_.expect(e.operands[1], type::date);
    if (e.calls == function::bond) return type::number;
    const bool has_schedule = e.calls != function::forward_rate;
    arguments_.expect(e.operands[2], has_schedule ? type::schedule : type::date);
    if (e.operands.size() == 4) check_day_count(e.operands[3]);
    return type::number;
}

void calls::check_constant_maturity(expression& e) {
    for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
        expression& number = e.operands[i];
        arguments_.expect(number, type::number);
        const bool is_parameter = number.is == form::name && number.means == meaning::parameter &&
                                  parameters_[number.slot].per.empty();
        if (number.is == form::number || is_parameter) continue;
        fail(tree_, number.where,
             "expected a number or a numeric parameter as the " +
                 std::string(i == 1 ? "years" : "payments a year") +
                 " of 'constant_maturity_rate': it decides which bonds the rate is made of");
    }
}

type calls::check_given(expression& e) {
    const auto number = e.is == form::name ? parameters_.find(e.text) : std::nullopt;
    if (!number || !parameters_[*number].optional) {
        fail(tree_, e.where,
             "expected a parameter with 'optional: true', which a trade need not give, found " +
                 (e.is == form::name ? in_quotes(e.text) : "something else") +
                 suggestion_or_all(e.text, parameters_.names_of_optional(), "optional parameters"));
    }
    names_.resolve_question(e, *number);
    return type::truth;
}

type calls::check_size(expression& e) {
    const type t = arguments_.check(e.operands[0]);
    if (t != type::asset_list && t != type::schedule) {
        fail(tree_, e.operands[0].where, "expected a list of assets or a schedule, found " + described(t));
    }
    return type::number;
}

type calls::check_position(expression& e) {
    arguments_.expect(e, type::asset);
    if (e.means != meaning::loop_asset) {
        fail(tree_, e.where,
             "expected the asset of a loop in position(...), found " + in_quotes(e.text) +
                 ", which is in no list");
    }
    return type::number;
}

void calls::check_day_count(expression& e) {
    const auto refuse = [&](const std::string& got) {
        std::vector<std::string> known;
        std::string words;
        for (const dates::day_count_entry& entry : dates::day_counts) {
            known.emplace_back(entry.word);
            words += (words.empty() ? "\"" : ", \"") + known.back() + '"';
        }
        fail(tree_, e.where,
             "unknown day count " + in_quotes(got) + behind(suggestion(got, known), "known: " + words));
    };
    if (e.is == form::name) {
        const auto number = parameters_.find(e.text);
        if (!number || parameters_[*number].type != parameter_type::choice) {
            fail(tree_, e.where,
                 "expected a day count in quotes, or a choice parameter of day counts, found " +
                     in_quotes(e.text));
        }
        names_.resolve_parameter(e, *number);
        for (const std::string& c : parameters_[*number].choices) {
            if (!dates::parse_day_count(c)) refuse(c);
        }
        return;
    }
    if (e.is != form::text) fail(tree_, e.where, "expected a day count in quotes, such as \"act_360\"");
    if (!dates::parse_day_count(e.text)) refuse(e.text);
}

type calls::check_aggregate(expression& e) {
    const function_entry& f = find_called(e);
    e.calls = f.code;
    if (f.kind != function_kind::aggregate) {
        fail(tree_, e.where,
             in_quotes(f.name) + " does not run over a list; write " + std::string(f.written));
    }
    check_count(e, f);
    if (f.code == function::nth) check_rank(e.operands[0]);
    e.list = names_.find_list(e.list_name, e.list_where);
    names_.enter_loop(e.loop_name, e.loop_where, e.list);
    arguments_.expect(e.operands.back(), type::number);
    names_.leave_loop();
    return type::number;
}

// The rank of `nth` decides which operations are recorded, so it can't vary along a path.
void calls::check_rank(expression& e) {
    arguments_.expect(e, type::number);
    if (!is_fixed(e)) {
        fail(tree_, e.where,
             "expected a number known from the start as the first argument of 'nth': a whole number, an "
             "integer parameter, size(LIST) or position(a), or a sum or difference of them");
    }
}

bool calls::is_fixed(const expression& e) const {
    switch (e.is) {
        case form::number:
            return e.number <= 1e6 && e.number == static_cast<double>(static_cast<long>(e.number));
        case form::name:
            return e.means == meaning::parameter && parameters_[e.slot].type == parameter_type::integer &&
                   parameters_[e.slot].per.empty();
        case form::call:
            return e.calls == function::position ||
                   (e.calls == function::size && e.operands[0].of == type::asset_list);
        case form::binary:
            return (e.sign == binary_operator::add || e.sign == binary_operator::subtract) &&
                   is_fixed(e.operands[0]) && is_fixed(e.operands[1]);
        default:
            return false;
    }
}

}  // namespace tilewalk::language::checking
