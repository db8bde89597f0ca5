// SPDX-License-Identifier: Apache-2.0
#include "products/language/recording/frames.h"

namespace tilewalk::language::recording {

frames::frames(const block_at_hand& at, const state_slots& slots, values& made)
    : at_(at), slots_(slots), made_(made) {
    for (const variable& v : at.script.tree().variables) {
        first_.variables.emplace_back(at.script.elements(v));
        elements_ += first_.variables.back().size();
    }
}

value frames::value_of(const frame& f, std::size_t variable, std::size_t element) {
    const value v = f.variables[variable][element];
    return v.valid() ? v : at_start(variable, element);
}

// The value of a state when the block began, read once.
value frames::at_start(std::size_t variable, std::size_t element) {
    value& v = read_[{variable, element}];
    if (!v.valid()) v = at_.into.read(slots_.variables[variable][element]);
    return v;
}

void frames::join(value condition, frame& yes, const frame& no) {
    for (std::size_t v = 0; v < yes.variables.size(); ++v) {
        for (std::size_t e = 0; e < yes.variables[v].size(); ++e) {
            value& a = yes.variables[v][e];
            value b = no.variables[v][e];
            if (!a.valid() && !b.valid()) continue;
            if (is_state(v)) {
                if (!a.valid()) a = at_start(v, e);
                if (!b.valid()) b = at_start(v, e);
            }
            // A local that only one branch sets is read on that branch only.
            if (!a.valid()) a = b;
            if (b.valid()) a = program::select(condition, a, b);
        }
    }
    if (yes.paid.valid() || no.paid.valid()) {
        const value a = yes.paid.valid() ? yes.paid : made_.number(0),
                    b = no.paid.valid() ? no.paid : made_.number(0);
        yes.paid = program::select(condition, a, b);
    }
    if (yes.going.valid() || no.going.valid()) {
        const value a = yes.going.valid() ? yes.going : made_.truth(true);
        const value b = no.going.valid() ? no.going : made_.truth(true);
        if (is(a, false)) {
            yes.going = both(!condition, b);
        } else if (is(b, false)) {
            yes.going = both(condition, a);
        } else {
            yes.going = program::select(condition, a, b);
        }
    }
}

value frames::interval_ends() {
    return made_.flag("closes", [](const occurrence& run) { return run.closes(); });
}

void frames::keep_until_the_interval_ends(frame& f) {
    const value closes = interval_ends();
    for (std::size_t v = 0; v < f.variables.size(); ++v) {
        if (!is_state(v)) continue;
        for (std::size_t e = 0; e < f.variables[v].size(); ++e) {
            value& now = f.variables[v][e];
            if (now.valid()) now = program::select(closes, now, at_start(v, e));
        }
    }
    if (f.paid.valid()) f.paid = program::select(closes, f.paid, made_.number(0));
    if (f.going.valid()) f.going = either(!closes, f.going);
}

void frames::write(const frame& f, value alive) {
    for (std::size_t v = 0; v < f.variables.size(); ++v) {
        if (!is_state(v)) continue;
        for (std::size_t e = 0; e < f.variables[v].size(); ++e) {
            if (f.variables[v][e].valid()) at_.into.write(slots_.variables[v][e], f.variables[v][e]);
        }
    }
    if (f.paid.valid() || f.suspect.valid()) {
        value sum = at_.into.read(slots_.value);
        if (f.paid.valid())
            sum = sum + (alive.valid() ? program::select(alive, f.paid, made_.number(0)) : f.paid);
        if (f.suspect.valid()) {
            const value counts = alive.valid() ? alive : made_.truth(true);
            sum = at_.into.apply(program::operation::flaw, counts, f.suspect, sum);
        }
        at_.into.write(slots_.value, sum);
    }
    if (f.going.valid()) at_.into.write(slots_.alive, both(alive, f.going));
}

}  // namespace tilewalk::language::recording
