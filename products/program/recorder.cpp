// SPDX-License-Identifier: Apache-2.0
#include "products/program/recorder.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <utility>

#include "tilewalk/error.h"

namespace tilewalk::program {

namespace {

constexpr std::uint32_t eager_section = std::numeric_limits<std::uint32_t>::max();

[[noreturn]] void defect(const std::string& what) {
    throw error(error_kind::internal, "recording: " + what);
}

bool same_bits(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

value apply(operation code, value a, value b = {}, value c = {}) {
    recorder* home = a.valid() ? a.home() : b.valid() ? b.home() : c.home();
    if (home == nullptr) defect("an operation on values of no recorder");
    return home->apply(code, a, b, c);
}

}  // namespace

bool value::is_constant() const {
    return home_ != nullptr && home_->node_of(*this).code == operation::constant;
}

double value::constant() const {
    const node& n = home_->node_of(*this);
    if (n.code != operation::constant) defect("a value is taken for a constant and is none");
    return n.number;
}

std::uint32_t recorder::state(std::string name, double initial) {
    states_.push_back(std::move(name));
    initial_.push_back(initial);
    return static_cast<std::uint32_t>(states_.size() - 1);
}

void recorder::open_section(std::size_t number, std::string name, std::size_t runs) {
    if (sections_.size() <= number) sections_.resize(number + 1);
    open& s = sections_[number];
    if (s.recorded) defect("section '" + name + "' is recorded twice");
    s.recorded = true;
    s.code.name = std::move(name);
    s.runs = runs;
    current_ = static_cast<std::uint32_t>(number);
}

recorder::open& recorder::current() {
    if (current_ >= sections_.size() || !sections_[current_].recorded) defect("no section is open");
    return sections_[current_];
}

const node& recorder::node_of(value v) const {
    if (v.section_ == eager_section) return eager_nodes_[v.index_];
    return sections_[v.section_].code.nodes[v.index_];
}

value recorder::add_node(const node& n) {
    if (eager_) {
        eager_nodes_.push_back(n);
        return {this, eager_section, static_cast<std::uint32_t>(eager_nodes_.size() - 1)};
    }
    auto& nodes = current().code.nodes;
    nodes.push_back(n);
    return {this, current_, static_cast<std::uint32_t>(nodes.size() - 1)};
}

value recorder::constant(double number) {
    return add_node({operation::constant, {}, number});
}

value recorder::term(std::string_view name, double number) {
    if (eager_) return constant(number);
    const auto found = term_slots_.find(name);
    std::uint32_t slot = 0;
    if (found != term_slots_.end()) {
        slot = found->second;
        if (!same_bits(term_numbers_[slot], number))
            defect("term '" + std::string(name) + "' has two numbers");
    } else {
        slot = static_cast<std::uint32_t>(terms_.size());
        terms_.emplace_back(name);
        term_numbers_.push_back(number);
        term_slots_.emplace(name, slot);
    }
    return add_node({operation::term, {slot, 0, 0}, 0});
}

value recorder::row(std::string_view name, std::span<const double> numbers) {
    if (eager_) {
        if (numbers.size() != 1) defect("row '" + std::string(name) + "' is eager and has not one number");
        return constant(numbers[0]);
    }
    open& s = current();
    if (numbers.size() != s.runs) defect("row '" + std::string(name) + "' does not have one number a run");
    const auto found = s.row_slots.find(name);
    std::uint32_t slot = 0;
    if (found != s.row_slots.end()) {
        slot = found->second;
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            if (!same_bits(s.columns[slot][i], numbers[i]))
                defect("row '" + std::string(name) + "' is given twice");
        }
    } else {
        slot = static_cast<std::uint32_t>(s.columns.size());
        s.code.rows.emplace_back(name);
        s.columns.emplace_back(numbers.begin(), numbers.end());
        s.row_slots.emplace(name, slot);
    }
    return add_node({operation::row, {slot, 0, 0}, 0});
}

value recorder::read(std::uint32_t state) {
    if (eager_) return constant(initial_[state]);
    return add_node({operation::state, {state, 0, 0}, 0});
}

void recorder::write(std::uint32_t state, value v) {
    if (v.home_ != this) defect("a state is written with a value of another recorder");
    if (eager_) {
        initial_[state] = v.constant();
        return;
    }
    if (v.section_ != current_) defect("a state is written with a value of another section");
    for (auto& w : current().code.writes) {
        if (w.state == state) {
            w.node = v.index_;
            return;
        }
    }
    current().code.writes.push_back({state, v.index_});
}

value recorder::shock(operation kind, shocks& of, std::string_view stream) {
    if (eager_) defect("a shock in the past");
    const auto slot = static_cast<std::uint32_t>(of.streams.size());
    auto at = std::ranges::find(of.names, stream, &stream_name::text);
    if (at == of.names.end()) {
        of.names.push_back(stream.empty() ? stream_name() : stream_name(std::string(stream)));
        at = std::prev(of.names.end());
    }
    of.streams.push_back(static_cast<std::uint32_t>(at - of.names.begin()));
    return add_node({kind, {slot, 0, 0}, 0});
}

value recorder::normal(std::string_view stream) {
    return shock(operation::normal, normals_, stream);
}

value recorder::lone_normal(std::string_view stream) {
    lone_normals_.push_back(static_cast<std::uint32_t>(normals_.streams.size()));
    return normal(stream);
}

value recorder::normal_again(std::uint32_t slot) {
    if (slot >= normals_.streams.size()) defect("a normal number that was not taken");
    return add_node({operation::normal, {slot, 0, 0}, 0});
}

value recorder::uniform(std::string_view stream) {
    return shock(operation::uniform, uniforms_, stream);
}

value recorder::scenario(std::string_view name, const scenario_rows& from) {
    if (eager_) defect("a scenario in the past");
    const auto [found, is_new] =
        scenario_slots_.try_emplace(std::string(name), static_cast<std::uint32_t>(scenarios_.size()));
    const std::uint32_t slot = found->second;
    if (is_new) {
        scenarios_.push_back(from);
    } else if (scenarios_[slot].array != from.array || scenarios_[slot].rows != from.rows) {
        defect("scenario '" + std::string(name) + "' is given twice");
    }
    return add_node({operation::scenario, {slot, 0, 0}, 0});
}

tabulated recorder::table(std::string_view name, std::span<const double> numbers, std::size_t size) {
    const std::string quoted = "table '" + std::string(name) + "'";
    if (size < least_table_size || size > most_table_size) {
        defect(quoted + " has " + std::to_string(size) + " numbers in a row, not " +
               std::to_string(least_table_size) + " to " + std::to_string(most_table_size));
    }
    if (eager_) {
        if (numbers.size() != size) defect(quoted + " is eager and has not one row");
        eager_tables_.emplace_back(numbers.begin(), numbers.end());
        return {this, eager_section, static_cast<std::uint32_t>(eager_tables_.size() - 1)};
    }
    open& s = current();
    if (numbers.size() != s.runs * size) defect(quoted + " does not have one row a run");
    const auto [found, is_new] =
        s.table_slots.try_emplace(std::string(name), static_cast<std::uint32_t>(s.tables.size()));
    const std::uint32_t slot = found->second;
    if (is_new) {
        s.code.tables.push_back({std::string(name), static_cast<std::uint32_t>(size)});
        s.tables.emplace_back(numbers.begin(), numbers.end());
    } else if (s.code.tables[slot].size != size ||
               !std::equal(numbers.begin(), numbers.end(), s.tables[slot].begin(), same_bits)) {
        defect(quoted + " is given twice");
    }
    return {this, current_, slot};
}

value recorder::interpolate(tabulated in, value position) {
    const std::uint32_t section = eager_ ? eager_section : current_;
    if (in.home_ != this || in.section_ != section) defect("a table belongs to another section or recorder");
    if (position.home_ != this || position.section_ != section) {
        defect("the position in a table belongs to another section or recorder");
    }
    if (eager_) return constant(interpolated(eager_tables_[in.slot_], position.constant()));
    return add_node({operation::interpolate, {position.index_, in.slot_, 0}, 0});
}

// Interpolates with the arithmetic that paths use (see program.h).
double recorder::interpolated(const std::vector<double>& table, double position) const {
    using enum operation;
    const auto last = static_cast<double>(table.size() - 1);
    const double at = evaluate_(min, last, evaluate_(max, 0.0, position, 0), 0);
    const double i = evaluate_(min, evaluate_(floor, evaluate_(max, at, 0.0, 0), 0, 0), last - 1, 0);
    const double* from = table.data() + static_cast<std::size_t>(i);
    return evaluate_(fma, evaluate_(sub, at, i, 0), evaluate_(sub, from[1], from[0], 0), from[0]);
}

value recorder::apply(operation code, value a, value b, value c) {
    if (reads_table(code)) defect("an operand of '" + std::string(entry_of(code).name) + "' is a table");
    const int arity = entry_of(code).arity;
    const std::array<value, 3> args{a, b, c};
    node n{code, {}, 0};
    std::array<double, 3> numbers{};
    bool all_constant = true;
    for (int i = 0; i < arity; ++i) {
        const value& arg = args[static_cast<std::size_t>(i)];
        if (arg.home_ != this) defect("an operand of '" + std::string(entry_of(code).name) + "' is missing");
        if (arg.section_ != (eager_ ? eager_section : current_)) {
            defect("an operand of '" + std::string(entry_of(code).name) + "' belongs to another section");
        }
        n.args[static_cast<std::size_t>(i)] = arg.index_;
        const node& from = node_of(arg);
        if (from.code == operation::constant) {
            numbers[static_cast<std::size_t>(i)] = from.number;
        } else {
            all_constant = false;
        }
    }
    if (all_constant) return constant(evaluate_(code, numbers[0], numbers[1], numbers[2]));
    if (code == operation::select && b.index_ == c.index_) return b;
    return add_node(n);
}

// Throws if two streams share a key, or if a path's numbers of one stream do not fit its counter.
void recorder::check(const shocks& of) const {
    if (const std::string fault = fault_of_keys(of.names); !fault.empty())
        throw error(error_kind::input, fault);
    if (sections_.empty()) return;
    for (const place_in_stream& p : places_in_streams(of.streams, static_cast<int>(of.streams.size()))) {
        const std::uint64_t numbers = sections_[0].runs * std::uint64_t{p.dimensions};
        if (numbers <= most_numbers_of_stream) continue;
        throw error(error_kind::input, "found " + std::to_string(numbers) + " random numbers of '" +
                                           of.names[p.stream].text + "' along a path, expected at most " +
                                           std::to_string(most_numbers_of_stream) +
                                           "; take fewer or longer steps");
    }
}

recorder::recorded recorder::finish() && {
    check(normals_);
    check(uniforms_);
    recorded out;
    out.code.states = std::move(states_);
    out.code.terms = std::move(terms_);
    out.code.outputs = std::move(outputs_);
    out.code.crossed = std::move(crossed_);
    out.code.normals_per_step = static_cast<int>(normals_.streams.size());
    out.code.uniforms_per_step = static_cast<int>(uniforms_.streams.size());
    out.code.normal_streams = std::move(normals_.streams);
    out.code.uniform_streams = std::move(uniforms_.streams);
    out.code.lone_normals = std::move(lone_normals_);
    out.data.normal_names = std::move(normals_.names);
    out.data.uniform_names = std::move(uniforms_.names);
    out.code.scenarios_per_step = static_cast<int>(scenarios_.size());
    out.data.terms = std::move(term_numbers_);
    out.data.initial_states = std::move(initial_);
    out.data.scenarios = std::move(scenarios_);
    for (open& s : sections_) {
        const std::size_t width = s.columns.size();
        std::vector<double> rows(width * s.runs);
        for (std::size_t column = 0; column < width; ++column) {
            for (std::size_t run = 0; run < s.runs; ++run)
                rows[run * width + column] = s.columns[column][run];
        }
        out.data.rows.push_back(std::move(rows));
        out.data.runs.push_back(s.runs);
        out.data.widths.push_back(width);
        out.data.tables.push_back(std::move(s.tables));
        out.code.sections.push_back(std::move(s.code));
    }
    return out;
}

value operator+(value a, value b) {
    return apply(operation::add, a, b);
}
value operator-(value a, value b) {
    return apply(operation::sub, a, b);
}
value operator*(value a, value b) {
    return apply(operation::mul, a, b);
}
value operator/(value a, value b) {
    return apply(operation::div, a, b);
}
value operator-(value a) {
    return apply(operation::neg, a);
}
value operator+(value a, double b) {
    return a + a.home()->constant(b);
}
value operator+(double a, value b) {
    return b.home()->constant(a) + b;
}
value operator-(value a, double b) {
    return a - a.home()->constant(b);
}
value operator-(double a, value b) {
    return b.home()->constant(a) - b;
}
value operator*(value a, double b) {
    return a * a.home()->constant(b);
}
value operator*(double a, value b) {
    return b.home()->constant(a) * b;
}
value operator/(value a, double b) {
    return a / a.home()->constant(b);
}
value operator/(double a, value b) {
    return b.home()->constant(a) / b;
}
value operator<(value a, value b) {
    return apply(operation::less, a, b);
}
value operator<(double a, value b) {
    return b.home()->constant(a) < b;
}
value operator<=(value a, value b) {
    return apply(operation::less_equal, a, b);
}
value operator>(value a, value b) {
    return apply(operation::less, b, a);
}
value operator>=(value a, value b) {
    return apply(operation::less_equal, b, a);
}
value operator!(value a) {
    return apply(operation::logical_not, a);
}
value operator&&(value a, value b) {
    return apply(operation::logical_and, a, b);
}
value operator||(value a, value b) {
    return apply(operation::logical_or, a, b);
}
value equal(value a, value b) {
    return apply(operation::equal, a, b);
}
value abs(value a) {
    return apply(operation::abs, a);
}
value sqrt(value a) {
    return apply(operation::sqrt, a);
}
value exp(value a) {
    return apply(operation::exp, a);
}
value log(value a) {
    return apply(operation::log, a);
}
value sin(value a) {
    return apply(operation::sin, a);
}
value cos(value a) {
    return apply(operation::cos, a);
}
value floor(value a) {
    return apply(operation::floor, a);
}
value norm_cdf(value a) {
    return apply(operation::norm_cdf, a);
}
value norm_inv(value a) {
    return apply(operation::norm_inv, a);
}
value normal_to_exponential(value a) {
    return apply(operation::normal_to_exponential, a);
}
value min(value a, value b) {
    return apply(operation::min, a, b);
}
value max(value a, value b) {
    return apply(operation::max, a, b);
}
value max(value a, double b) {
    return max(a, a.home()->constant(b));
}
value min(value a, double b) {
    return min(a, a.home()->constant(b));
}
value pow(value a, value b) {
    return apply(operation::pow, a, b);
}
value fma(value a, value b, value c) {
    return apply(operation::fma, a, b, c);
}
value fma(double a, value b, value c) {
    return fma(b.home()->constant(a), b, c);
}
value fma(value a, value b, double c) {
    return fma(a, b, a.home()->constant(c));
}

value select(value condition, value a, value b) {
    if (condition.is_constant()) return condition.constant() != 0 ? a : b;
    return apply(operation::select, condition, a, b);
}
value select(value condition, value a, double b) {
    return select(condition, a, a.home()->constant(b));
}

}  // namespace tilewalk::program
