// SPDX-License-Identifier: Apache-2.0
// Constant elasticity of variance (Cox 1975) on the forward: dF = volatility F^beta dW.
#include <memory>
#include <string>
#include <utility>

#include "engine/models/sabr.h"

namespace tilewalk::models {

step_facts steps_of_cev() {
    return {.scheme =
                "displaced lognormal step (F^beta by its tangent), absorption at 0 by a bridge (beta 0, 1: "
                "exact)",
            .weak_order = "2 (probability of absorption: 1)",
            .leaves = 1.0,
            .held_against = "noncentral chi-squared distribution, finite differences, 9 published prices"};
}

namespace {

class cev final : public model {
  public:
    explicit cev(sabr_parameters p) : p_(p) {}
    std::string describe() const override {
        return "cev, dF = " + config::shown(p_.alpha) + " F^" + config::shown(p_.beta) + " dW, " +
               models::describe(p_);
    }
    std::optional<double> steps_leave() const override {
        if (p_.is_exact()) return 0.0;
        return p_.has_usual_steps() ? steps_of_cev().leaves : std::nullopt;
    }
    std::unique_ptr<walk> start(const markets::asset& of, const markets::curve& carry) const override {
        return sabr_walk(p_, of, carry);
    }

    bool is_alike_at_any_level() const override { return false; }

  private:
    sabr_parameters p_;
};

constexpr parameter_row cev_rows[]{
    {.name = "volatility", .within = {{0, 1e12}}, .meaning = "factor of F^beta, in units of F^(1 - beta)"},
    beta_row,
    power_steps_row,
    watched_power_row};

}  // namespace

extern const parameter_table parameters_of_cev = cev_rows;

std::shared_ptr<const model> read_cev(const config::node& parameters, const reading& of) {
    refuse_others(parameters, parameters_of_cev);
    sabr_parameters p;
    p.alpha = read_parameter(parameters, find_row(cev_rows, "volatility"));
    p.beta = read_beta(parameters);
    read_steps(parameters, of, p);
    return std::make_shared<cev>(p);
}

}  // namespace tilewalk::models
