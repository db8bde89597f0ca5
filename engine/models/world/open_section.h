// SPDX-License-Identifier: Apache-2.0
// The section of a trade's program being recorded: its recorder, runs, and rows (numbers by run).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/models/world/members.h"
#include "products/language/payoff.h"
#include "products/program/recorder.h"
#include "products/program/row_names.h"

namespace tilewalk::models {

class open_section {
  public:
    void begin(std::vector<double> grid, program::recorder& into) {
        grid_ = std::move(grid);
        into_ = &into;
    }
    void enter(std::span<const language::occurrence> runs) {
        runs_ = runs;
        is_step_ = false;
    }
    // Lets `by` supply the numbers of row_until(); null restores the computed numbers.
    void look_ahead_by(language::numbers_ahead* by) { ahead_ = by; }
    bool is_looking_ahead() const { return ahead_ != nullptr; }
    void enter_step() { is_step_ = true; }

    program::recorder& into() const { return *into_; }
    std::span<const double> grid() const { return grid_; }

    // Records a row `name`#`number` with one number for each run of a section after steps.
    program::value row(std::string_view name, std::size_t number,
                       const std::function<double(const language::occurrence&)>& of) const;
    // Records a row whose numbers also depend on a later time, which `years` has for each run.
    program::value row_until(std::string_view name, std::size_t number, std::span<const double> years,
                             const std::function<double(const language::occurrence&, double)>& of) const;
    // Records a row with one number for the interval of each run, in any section.
    program::value row_between(std::string_view name, std::size_t number,
                               const std::function<double(double from, double to)>& of) const;

  private:
    std::vector<double> numbers(std::size_t runs, const std::function<double(std::size_t)>& of) const;
    program::value made(std::string_view name, std::size_t number, std::size_t runs,
                        const std::function<double(std::size_t)>& of) const;

    std::vector<double> grid_;
    program::recorder* into_ = nullptr;
    std::span<const language::occurrence> runs_;
    bool is_step_ = false;
    language::numbers_ahead* ahead_ = nullptr;
};

// The open section as one walk sees it, with names of its own. `Seen` is section_at_hand or derived from it.
template <class Seen>
class own_section : public Seen {
  public:
    own_section(const open_section& in, const factor& f)
        : in_(in), number_(f.number), states_("x" + std::to_string(f.number) + "_"), stream_(f.stream) {}
    own_section(const open_section& in, const moving_rates& r)
        : in_(in),
          rows_(program::row_names::of_currency(r.currency, "")),
          states_(r.currency + "_"),
          stream_(r.stream()) {}

    program::recorder& into() const final { return in_.into(); }
    std::span<const double> grid() const final { return in_.grid(); }
    program::value row(std::string_view name, const std::function<double(double, double)>& number) final {
        return in_.row_between(rows_ + std::string(name), number_, number);
    }
    std::uint32_t state(std::string_view name, double initial) final {
        return into().state(states_ + std::string(name), initial);
    }
    program::value normal() final { return into().normal(stream_); }
    program::value lone_normal() final { return into().lone_normal(stream_); }
    program::value uniform() final { return into().uniform(stream_); }

  private:
    const open_section& in_;
    std::size_t number_ = 0;
    std::string rows_, states_;  // prefixes of names of rows and states
    std::string stream_;
};

}  // namespace tilewalk::models
