// SPDX-License-Identifier: Apache-2.0
#include "products/language/recording/checks.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tilewalk::language::recording {

std::size_t checked_operations::number_of(const expression& e, program::recorder& into) {
    const auto at = std::ranges::find(operations, &e);
    const auto number = static_cast<std::size_t>(at - operations.begin());
    if (at == operations.end()) {
        operations.push_back(&e);
        if (are_told_apart) states.push_back(into.state("flaw " + std::to_string(number), 0.0));
    }
    return number;
}

std::string told(const expression& operation) {
    if (operation.is == form::call) {
        switch (operation.calls) {
            case function::sqrt:
                return "sqrt of a negative number; write sqrt(max(x, 0))";
            case function::log:
                return "log of 0 or a negative number; write log(max(x, 1e-12))";
            case function::exp:
                return "exp of a large number overflows; write exp(min(x, 80))";
            case function::pow:
                return "pow has no finite value, such as for a negative base or a large exponent; "
                       "write pow(max(x, 0), y)";
            default:
                break;
        }
    }
    if (operation.is == form::binary && operation.sign == binary_operator::divide)
        return "division by zero; ask 'if' whether the divisor is 0, or write x / max(y, 1e-12)";
    return "the number overflows; write min(x, 1e12)";
}

void checks::check_operation(const expression& e, value v, frame& f) {
    if (at_.known == nullptr || at_.known->may_break(e)) check(e, v, f);
}
void checks::check_overflow(const expression& e, value v, frame& f) {
    if (at_.known != nullptr && at_.known->may_overflow(e)) check(e, v, f);
}

void checks::check(const expression& e, value v, frame& f) {
    if (!f.is_played || (v.is_constant() && std::isfinite(v.constant()))) return;
    if (at_.checked == nullptr) {  // played at once
        if (v.is_constant()) at_.script.fail(e.where, told(e));
        return;
    }
    const std::size_t number = at_.checked->number_of(e, at_.into);
    const value none = made_.number(0);
    const value flaw = chosen(f.going.valid() ? f.going : made_.truth(true), v, none);
    value& all = f.flaws[at_.checked->are_told_apart ? number : 0];
    all = all.valid() ? all + flaw : flaw;
}

value checks::chosen(value condition, value yes, value no) {
    if (is(condition, true)) no = yes;  // so that the condition need not be looked at
    return at_.into.apply(program::operation::flaw, condition, yes, no);
}

void checks::add(value condition, bool side, const flaws& more, flaws& to) {
    const value none = made_.number(0);
    for (const auto& [number, flaw] : more) {
        const value here = side ? chosen(condition, flaw, none) : chosen(condition, none, flaw);
        value& all = to[number];
        all = all.valid() ? all + here : here;
    }
}

void checks::join(value condition, flaws& yes, const flaws& no) {
    const value none = made_.number(0);
    for (const auto& entry : no) yes.try_emplace(entry.first);
    for (auto& [number, flaw] : yes) {
        const auto other = no.find(number);
        const value b = other == no.end() ? none : other->second;
        if (flaw.valid() && flaw.index() == b.index()) continue;
        flaw = chosen(condition, flaw.valid() ? flaw : none, b);
    }
}

flaws checks::only(value condition, const flaws& of) {
    flaws out;
    add(condition, true, of, out);
    return out;
}

void checks::write(frame& f, value alive) {
    if (alive.valid()) f.flaws = only(alive, f.flaws);
    for (const auto& [number, flaw] : f.flaws) {
        if (!at_.checked->are_told_apart) {
            f.flaw = flaw;
            continue;
        }
        const std::uint32_t state = at_.checked->states[number];
        at_.into.write(state, at_.into.read(state) + flaw);
    }
}

}  // namespace tilewalk::language::recording
