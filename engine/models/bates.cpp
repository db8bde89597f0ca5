// SPDX-License-Identifier: Apache-2.0
// Bates (1996): Heston's stochastic variance with normal jumps of the logarithm.
#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "engine/models/heston.h"
#include "engine/models/jumps.h"

namespace tilewalk::models {

step_facts steps_of_bates() {
    return {.scheme = "as Heston, with Merton's jumps",
            .weak_order = "1",
            .leaves = 0.7,
            .factors = "2",
            .held_against = "Fourier integrals"};
}

namespace {

class bates final : public model {
  public:
    bates(heston_parameters p, std::shared_ptr<const jump_law> jumps)
        : p_(std::move(p)), jumps_(std::move(jumps)) {}

    std::string describe() const override { return "bates, " + models::describe(p_); }
    std::vector<own_factor> own_factors() const override { return {{"variance", p_.rho}}; }
    std::optional<double> implied_volatility(double years, double log_moneyness) const override {
        const bool is_constant = p_.kappa.is_constant() && p_.theta.is_constant() && p_.sigma.is_constant() &&
                                 p_.rho.is_constant();
        if (!is_constant) return std::nullopt;
        return implied_by(
            [&] {
                return jumps_->beside(
                    {p_.v0, p_.kappa.from(0), p_.theta.from(0), p_.sigma.from(0), p_.rho.from(0)}, years);
            },
            years, log_moneyness);
    }
    std::optional<double> steps_leave() const override {
        if (!p_.has_usual_steps() || p_.by != heston_parameters::scheme::quadratic_exponential) return {};
        return steps_of_bates().leaves;
    }
    std::unique_ptr<walk> start(const markets::asset& of, const markets::curve&) const override {
        return with_jumps(heston_walk(p_, of), jumps_, p_.watched_steps_per_year);
    }

  private:
    heston_parameters p_;
    std::shared_ptr<const jump_law> jumps_;
};

constexpr auto bates_rows = [] {
    constexpr std::size_t of_heston = std::size(heston_rows);
    std::array<parameter_row, of_heston + std::size(normal_jump_rows)> rows{};
    std::ranges::copy(heston_rows, rows.begin());
    std::ranges::copy(normal_jump_rows, rows.begin() + of_heston);
    return rows;
}();

}  // namespace

extern const parameter_table parameters_of_bates = bates_rows;

std::shared_ptr<const model> read_bates(const config::node& parameters, const reading& of) {
    refuse_others(parameters, parameters_of_bates);
    // The default of watched_steps_per_year is Heston's, which is at least the default for jumps.
    heston_parameters p = read_heston_parameters(parameters, of.as_of);
    return std::make_shared<bates>(std::move(p), read_normal_jumps(parameters));
}

}  // namespace tilewalk::models
