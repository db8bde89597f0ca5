// SPDX-License-Identifier: Apache-2.0
#include "products/language/recording/values.h"

#include <bit>
#include <vector>

namespace tilewalk::language::recording {

// Most values that a block may record: nested loops are unrolled, which multiplies their values.
constexpr std::size_t most_values = std::size_t{1} << 20U;

bool is(value v, bool yes) {
    return v.valid() && v.is_constant() && (v.constant() != 0) == yes;
}

value both(value a, value b) {
    if (is(a, true) || is(b, false)) return b;
    if (is(b, true) || is(a, false)) return a;
    return a && b;
}

value either(value a, value b) {
    if (is(a, false) || is(b, true)) return b;
    if (is(b, false) || is(a, true)) return a;
    return a || b;
}

value values::number(double number) {
    value& known = numbers_[std::bit_cast<std::uint64_t>(number)];
    if (!known.valid()) known = at_.into.constant(number);
    return known;
}

value values::apply(program::operation code, value a, value b) {
    value& known = applied_[{code, a.index(), b.index()}];
    if (!known.valid()) known = at_.into.apply(code, a, b);
    return known;
}

value values::term(const std::string& name, double number) {
    return once(name, [&] { return at_.into.term(name, number); });
}

value values::row(const std::string& name, const std::function<double(const occurrence&)>& number_at) {
    return once(name, [&] {
        std::vector<double> numbers;
        numbers.reserve(at_.runs.size());
        for (const occurrence& run : at_.runs) numbers.push_back(number_at(run));
        return at_.into.row(name, numbers);
    });
}

value values::flag(const std::string& name, const std::function<bool(const occurrence&)>& is_set) {
    return 0.5 < row(name, [&](const occurrence& run) { return is_set(run) ? 1.0 : 0.0; });
}

value values::step_length() {
    return row("step", [](const occurrence& run) { return run.ends - run.begins; });
}

value values::over_parts(const std::string& name, value of_part, const std::function<value(value)>& with) {
    if (!is_in_parts_) return of_part;
    const std::uint32_t kept = at_.into.state(name, 0.0);
    const value so_far = at_.into.read(kept);
    const value opens = flag("opens", [](const occurrence& run) { return run.opens(); });
    const value all = program::select(opens, of_part, with(so_far));
    at_.into.write(kept, all);
    return all;
}

void values::spend(place where, std::size_t count) {
    spent_ += count;
    if (spent_ > most_values) {
        at_.script.fail(where, "the block unrolls to more than " + std::to_string(most_values) +
                                   " values, which is the limit; take shorter lists, or nest fewer loops");
    }
}

}  // namespace tilewalk::language::recording
