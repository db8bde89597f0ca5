// SPDX-License-Identifier: Apache-2.0
#include "products/language/checking/expressions.h"

#include <algorithm>

#include "products/language/checking/wording.h"
#include "products/language/nearest.h"

namespace tilewalk::language::checking {

namespace {

bool is_comparison(binary_operator sign) {
    return sign >= binary_operator::less && sign <= binary_operator::not_equal;
}
bool is_equality(binary_operator sign) {
    return sign == binary_operator::equal || sign == binary_operator::not_equal;
}

}  // namespace

type expressions::check(expression& e) {
    e.of = type_of_form(e);
    return e.of;
}

type expressions::expect(expression& e, type wanted) {
    const bool is_name = e.is == form::name;
    const type t = is_name ? e.of = names_.resolve(e, wanted == type::asset) : check(e);
    if (t != wanted) {
        fail(tree_, e.where,
             "expected " + described(wanted) + ", found " + described(t) + hint(wanted, t, e));
    }
    return t;
}

void expressions::expect_exchanged(expression& e) {
    expect(e, type::currency);
    if (e.means == meaning::parameter) tree_.parameter_exchanged[e.slot] = true;
}

std::string expressions::hint(type wanted, type got, const expression& e) const {
    const std::string name = e.is == form::name ? e.text : std::string();
    if (wanted == type::truth && got == type::number) return "; compare it, as in x > 0";
    if (got == type::choice && !name.empty()) {
        const auto& choices = parameters_[e.slot].choices;
        return choices.empty() ? "" : "; compare it, as in " + name + " == " + choices.front();
    }
    if (wanted == type::number && e.is == form::binary) return "; use it in 'if CONDITION:'";
    if (name.empty()) return "";
    if (wanted == type::number) {
        if (got == type::asset) return "; write spot(" + name + ")";
        if (got == type::asset_list)
            return "; write worst(spot(a) for a in " + name + "), or sum, average, best";
        if (got == type::date) return "; write year_fraction(start, " + name + ")";
        if (got == type::schedule) return "; write size(" + name + ")";
        if (got == type::currency) return "; write fx(" + name + ")";
        if (got == type::truth) return "; write 'if " + name + ":'";
    }
    if (wanted == type::date && got == type::schedule)
        return "; write first(" + name + ") or last(" + name + ")";
    if (wanted == type::asset && got == type::asset_list) return "; write 'for a in " + name + "'";
    return "";
}

type expressions::type_of_form(expression& e) {
    switch (e.is) {
        case form::number:
            return type::number;
        case form::truth:
            return type::truth;
        case form::text:
            fail(tree_, e.where, "a text can only be a day count or a choice, found \"" + e.text + "\"");
        case form::name:
            return names_.resolve(e);
        case form::element:
            return names_.resolve_element(e);
        case form::negate:
            return expect(e.operands[0], type::number);
        case form::logical_not:
            return expect(e.operands[0], type::truth);
        case form::binary:
            return check_binary(e);
        case form::call:
            return calls_.check(e);
        case form::aggregate:
            return calls_.check_aggregate(e);
    }
    return type::number;
}

type expressions::check_binary(expression& e) {
    expression& left = e.operands[0];
    expression& right = e.operands[1];
    if (e.sign == binary_operator::logical_and || e.sign == binary_operator::logical_or) {
        expect(left, type::truth);
        return expect(right, type::truth);
    }
    if (!is_comparison(e.sign)) {
        expect(left, type::number);
        return expect(right, type::number);
    }
    const type t = check(left);
    if (t == type::choice) {
        if (!is_equality(e.sign)) fail(tree_, e.where, "choices are compared with == or !=");
        check_word(right, parameters_[left.slot]);
    } else if (t == type::truth) {
        if (!is_equality(e.sign))
            fail(tree_, left.where, "expected a number, found a condition (true or false)");
        expect(right, type::truth);
    } else if (t == type::date) {
        expect(right, type::date);
    } else if (t == type::number) {
        expect(right, type::number);
    } else {
        fail(tree_, left.where, "expected a number, found " + described(t) + hint(type::number, t, left));
    }
    return type::truth;
}

void expressions::check_word(expression& e, const parameter& of) const {
    if (e.is != form::name && e.is != form::text) {
        fail(tree_, e.where,
             "expected one of the choices of " + in_quotes(of.name) + ": " + listed("", of.choices));
    }
    if (std::find(of.choices.begin(), of.choices.end(), e.text) == of.choices.end()) {
        fail(tree_, e.where,
             in_quotes(e.text) + " is not a choice of " + in_quotes(of.name) +
                 behind(suggestion(e.text, of.choices), "choices: " + listed(e.text, of.choices)));
    }
    e.means = meaning::word;
    e.of = type::choice;
}

}  // namespace tilewalk::language::checking
