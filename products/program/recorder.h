// SPDX-License-Identifier: Apache-2.0
// Records a program while ordinary C++ runs: `value` behaves like a number, every operation becomes a node.
// Constants are folded by the functions that run the paths, so folding never changes a bit.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "products/program/evaluate.h"
#include "products/program/program.h"

namespace tilewalk::program {

class recorder;

using evaluator = double (*)(operation code, double a, double b, double c);

// A handle of a number or a truth of the open section. A default-constructed value belongs to no recorder.
class value {
  public:
    value() = default;
    bool valid() const { return home_ != nullptr; }
    bool is_constant() const;
    double constant() const;  // valid only if is_constant()
    recorder* home() const { return home_; }
    std::uint32_t index() const { return index_; }

  private:
    friend class recorder;
    value(recorder* home, std::uint32_t section, std::uint32_t index)
        : home_(home), section_(section), index_(index) {}
    recorder* home_ = nullptr;
    std::uint32_t section_ = 0;  // to detect the use of a value outside of its section
    std::uint32_t index_ = 0;
};

class tabulated {
  public:
    tabulated() = default;

  private:
    friend class recorder;
    tabulated(recorder* home, std::uint32_t section, std::uint32_t slot)
        : home_(home), section_(section), slot_(slot) {}
    recorder* home_ = nullptr;
    std::uint32_t section_ = 0;
    std::uint32_t slot_ = 0;
};

class recorder {
  public:
    // Tests pass an evaluator of their own, to compare programs with independent arithmetic.
    explicit recorder(evaluator with = &evaluate) : evaluate_(with) {}

    // While eager, nothing is recorded: terms and rows are constants, states are read and written at once. A
    // script is first run over the past in this way; its states become the start of every path.
    void set_eager(bool eager) { eager_ = eager; }

    // Code that records a long program calls poll() at least once for every `most_between_polls` numbers that
    // it computes. The callback of poll() may throw, which ends the recording.
    static constexpr std::size_t most_between_polls = 64;
    void set_poll(std::function<void()> poll) { poll_ = std::move(poll); }
    void poll() const {
        if (poll_) poll_();
    }

    // Declares a state of the path, at any time; `initial` is data, not structure.
    std::uint32_t state(std::string name, double initial);
    void output(std::uint32_t state) { outputs_.push_back(state); }
    // Also tallies the cross moment of two outputs; second > first.
    void cross(std::uint32_t first, std::uint32_t second) { crossed_.push_back({first, second}); }

    // Opens section `number` (0 is the step), which runs `runs` times along the path. Values of the section
    // before must no longer be used. Sections are recorded once, in any order.
    void open_section(std::size_t number, std::string name, std::size_t runs);

    value constant(double number);
    value truth(bool yes) { return constant(yes ? 1.0 : 0.0); }
    // Records a term. The same name gives the same slot: names, not numbers, decide the structure.
    value term(std::string_view name, double number);
    // Records a row: `numbers` has one entry for each run. An eager recorder returns its one entry.
    value row(std::string_view name, std::span<const double> numbers);
    value read(std::uint32_t state);
    double initial(std::uint32_t state) const { return initial_[state]; }
    void write(std::uint32_t state, value v);
    // A new shock of the step that ends at this grid time, from the named stream: each call takes the next
    // slot of the program and the next dimension of the stream. Programs without names have one stream.
    value normal(std::string_view stream = {});
    value lone_normal(std::string_view stream = {});
    value uniform(std::string_view stream = {});
    // The normal number of a slot taken before, in a section of the same step.
    value normal_again(std::uint32_t slot);
    // The path's number in the array on this step. The same name gives the same slot.
    value scenario(std::string_view name, const scenario_rows& from);

    // A table with a row of `size` numbers for each run (see program.h). The same name gives the same slot.
    tabulated table(std::string_view name, std::span<const double> numbers, std::size_t size);
    // The position is in grid units. An eager recorder returns a constant.
    value interpolate(tabulated in, value position);

    value apply(operation code, value a, value b = {}, value c = {});

    struct recorded {
        program code;
        program_data data;
    };
    recorded finish() &&;

  private:
    friend class value;
    struct open {
        section code;
        std::size_t runs = 0;
        bool recorded = false;
        std::map<std::string, std::uint32_t, std::less<>> row_slots;
        std::vector<std::vector<double>> columns;
        std::map<std::string, std::uint32_t, std::less<>> table_slots;
        std::vector<std::vector<double>> tables;
    };
    struct shocks {
        std::vector<std::uint32_t> streams;  // by slot
        std::vector<stream_name> names;      // by stream
    };
    value shock(operation kind, shocks& of, std::string_view stream);
    void check(const shocks& of) const;
    const node& node_of(value v) const;
    value add_node(const node& n);
    double interpolated(const std::vector<double>& table, double position) const;
    open& current();

    evaluator evaluate_;
    std::function<void()> poll_;
    std::vector<std::string> states_;
    std::vector<double> initial_;
    std::vector<std::uint32_t> outputs_;
    std::vector<output_pair> crossed_;
    std::vector<std::string> terms_;
    std::vector<double> term_numbers_;
    std::map<std::string, std::uint32_t, std::less<>> term_slots_;
    std::vector<scenario_rows> scenarios_;
    std::map<std::string, std::uint32_t, std::less<>> scenario_slots_;
    std::vector<open> sections_;
    std::vector<node> eager_nodes_;
    std::vector<std::vector<double>> eager_tables_;
    std::uint32_t current_ = 0;
    bool eager_ = false;
    shocks normals_, uniforms_;
    std::vector<std::uint32_t> lone_normals_;
};

value operator+(value a, value b);
value operator-(value a, value b);
value operator*(value a, value b);
value operator/(value a, value b);
value operator-(value a);
value operator+(value a, double b);
value operator+(double a, value b);
value operator-(value a, double b);
value operator-(double a, value b);
value operator*(value a, double b);
value operator*(double a, value b);
value operator/(value a, double b);
value operator/(double a, value b);
value operator<(value a, value b);
value operator<(double a, value b);
value operator<=(value a, value b);
value operator>(value a, value b);
value operator>=(value a, value b);
value operator!(value a);
value operator&&(value a, value b);
value operator||(value a, value b);
value equal(value a, value b);
value abs(value a);
value sqrt(value a);
value exp(value a);
value log(value a);
value sin(value a);
value cos(value a);
value floor(value a);
value norm_cdf(value a);
value norm_inv(value a);
value normal_to_exponential(value a);
value min(value a, value b);
value max(value a, value b);
value max(value a, double b);
value min(value a, double b);
value pow(value a, value b);
value fma(value a, value b, value c);
value fma(double a, value b, value c);
value fma(value a, value b, double c);
// condition ? a : b; folds if the condition is constant or both sides are the same value.
value select(value condition, value a, value b);
value select(value condition, value a, double b);

}  // namespace tilewalk::program
