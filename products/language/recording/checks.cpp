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
    if (at_.checked == nullptr) {  // the block is executed at once, not recorded
        if (v.is_constant()) at_.script.fail(e.where, told(e));
        return;
    }
    const std::size_t number = at_.checked->number_of(e, at_.into);
    value& suspect = f.flaws[at_.checked->are_told_apart ? number : 0];
    const bool is_first = !suspect.valid();
    if (is_first && !f.going.valid()) {
        suspect = v;
    } else {
        suspect =
            flawed(f.going.valid() ? f.going : made_.truth(true), v, is_first ? made_.number(0) : suspect);
    }
}

value checks::flawed(value condition, value suspect, value number) {
    return at_.into.apply(program::operation::flaw, condition, suspect, number);
}

void checks::add(value condition, bool side, const flaws& more, flaws& to) {
    if (more.empty()) return;
    const value is_so = side ? condition : !condition;
    for (const auto& [number, suspect] : more) {
        value& all = to[number];
        all = flawed(is_so, suspect, all.valid() ? all : made_.number(0));
    }
}

void checks::join(value condition, const flaws& before, flaws& yes, const flaws& no) {
    flaws both = before;
    const auto is_new = [&](const auto& entry) {
        const auto at = before.find(entry.first);
        return at == before.end() || at->second.index() != entry.second.index();
    };
    for (const auto& entry : yes)
        if (is_new(entry)) add(condition, true, {entry}, both);
    for (const auto& entry : no)
        if (is_new(entry)) add(condition, false, {entry}, both);
    yes = std::move(both);
}

flaws checks::only(value condition, const flaws& of) {
    flaws out;
    add(condition, true, of, out);
    return out;
}

void checks::write(frame& f, value alive) {
    const value counts = alive.valid() ? alive : made_.truth(true);
    for (const auto& [number, suspect] : f.flaws) {
        if (!at_.checked->are_told_apart) {
            f.suspect = suspect;
            continue;
        }
        const std::uint32_t state = at_.checked->states[number];
        at_.into.write(state, flawed(counts, suspect, at_.into.read(state)));
    }
}

}  // namespace tilewalk::language::recording
