// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/error_of_steps.h"

#include <cmath>
#include <string>

#include "engine/models/model.h"
#include "engine/plan/broken_line.h"
#include "products/dates/date.h"
#include "tilewalk/error.h"

namespace tilewalk::plan {

namespace {

using language::block;
using program::value;

// A world with one asset on the only future date. The asset's price is a state; discounts are to that date.
class one_price final : public language::world {
  public:
    one_price(const markets::market_view& market, std::uint32_t price, double years, program::recorder& into)
        : market_(market), price_(price), years_(years), into_(into) {}

    value spot(const std::string&) override { return into_.read(price_); }
    double discount(const std::string& currency, double years) const override {
        const markets::curve& curve = market_.discount_curve(currency);
        return curve.discount(years) / curve.discount(years_);
    }
    bool is_past() const override { return false; }

    value fx(const std::string&) override { refuse(); }
    value forward(const std::string&, std::span<const double>, const std::string&) override { refuse(); }
    value option_value(bool, const std::string&, value, std::span<const double>,
                       const std::string&) override {
        refuse();
    }
    value bond(const std::string&, std::span<const double>, const std::string&) override { refuse(); }
    language::bridge path_between(const std::string&) override { refuse(); }
    value to_coordinate(const std::string&, value, language::interval_end) override { refuse(); }
    value from_coordinate(const std::string&, value) override { refuse(); }
    value mean_price(const std::string&, double, value, value) override { refuse(); }
    value mean_logarithm(const std::string&, const language::bridge&) override { refuse(); }
    value variance_of_mean(const std::string&, const language::bridge&, language::averaged) override {
        refuse();
    }

  private:
    [[noreturn]] static void refuse() { throw error(error_kind::input, "more than a price is asked for"); }

    const markets::market_view& market_;
    std::uint32_t price_;
    double years_;
    program::recorder& into_;
};

bool is_to_come(const block& b) {
    return !b.times.empty() && b.times.back() > dates::same_time_years;
}

// Returns the only future time that the blocks look at; empty if there are several, or an interval.
std::optional<double> only_date(std::span<const block> blocks) {
    std::optional<double> only;
    for (const block& b : blocks) {
        if (b.continuous && is_to_come(b)) return {};
        for (const double t : b.times) {
            if (t <= dates::same_time_years) continue;
            if (only && std::abs(t - *only) > dates::same_time_years) return {};
            only = t;
        }
    }
    return only;
}

// Returns how many options make up the payoff of one price on one date; empty if it is not piecewise linear.
std::optional<double> options_in(language::payoff& script, std::span<const block> blocks,
                                 std::span<const double> initial, double years,
                                 const markets::market_view& market) {
    program::recorder into;
    into.set_eager(true);
    script.declare(into);
    const std::uint32_t price = into.state("price", 0);
    into.set_eager(false);
    one_price world(market, price, years, into);
    std::size_t sections = 0;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        for (std::size_t i = 0; i < blocks[b].times.size(); ++i) {
            if (blocks[b].times[i] <= dates::same_time_years) continue;
            const language::occurrence run = language::on_date(blocks[b].times[i], static_cast<int>(i) + 1);
            into.open_section(++sections, blocks[b].name, 1);
            script.record(b, {&run, 1}, world, into);
        }
    }
    into.open_section(0, "step", 1);
    const program::recorder::recorded made = std::move(into).finish();
    std::vector<broken_line> states;
    for (std::size_t s = 0; s < made.code.states.size(); ++s)
        states.push_back(broken_line{s < price ? initial[s] : made.data.initial_states[s]});
    states[price] = {0, 1};
    for (std::size_t s = 1; s <= sections; ++s)
        if (!run_on_lines(made.code.sections[s], made.data.terms, made.data.rows[s], states)) return {};
    return states[script.value_state()].options();
}

}  // namespace

std::optional<double> error_of_steps(const models::world& in, language::payoff& script,
                                     std::span<const block> blocks, std::span<const double> initial,
                                     const markets::market_view& market) {
    // A script that sets a longest step of its own takes care of the error itself.
    for (const block& b : blocks)
        if (b.continuous && b.longest_step > 0 && is_to_come(b)) return {};
    const std::optional<double> leaves = in.steps_leave();
    if (!leaves || *leaves == 0) return leaves;
    const std::optional<double> years = only_date(blocks);
    if (!years || *years > models::step_facts::told_until_years || script.has_rights()) return {};
    try {
        const std::optional<double> options = options_in(script, blocks, initial, *years, market);
        if (!options) return {};
        constexpr double basis_points = 1e4;
        return *options * *leaves * market.find_asset(script.assets().front()).spot / basis_points;
    } catch (const error&) {
        return {};  // the script needs more than one price
    }
}

}  // namespace tilewalk::plan
