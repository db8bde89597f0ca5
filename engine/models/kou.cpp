// SPDX-License-Identifier: Apache-2.0
// Kou's jump diffusion (2002): lognormal with exponential jumps of the logarithm, up with probability p_up
// and rate eta_up, else down with rate eta_down. Up and down jumps are independent Poisson processes; a step
// is exact if it is short enough for its number of jumps (jumps.h).
#include <algorithm>
#include <memory>
#include <string>

#include "engine/models/jumps.h"

namespace tilewalk::models {

step_facts steps_of_kou() {
    return {.scheme = "exact; under continuous watching jumps are at the ends of steps",
            .held_against = "Fourier integrals, Laplace transform of first-passage probabilities"};
}

namespace {

using program::value;

class exponential_jumps final : public jump_law {
  public:
    exponential_jumps(double intensity, double p_up, double eta_up, double eta_down)
        : p_up_(p_up),
          up_(intensity * p_up),
          down_(intensity * (1 - p_up)),
          eta_up_(eta_up),
          eta_down_(eta_down) {}

    double intensity() const override { return std::max(up_, down_); }
    double mean() const override { return up_ / eta_up_ - down_ / eta_down_; }
    double growth() const override { return up_ / (eta_up_ - 1) - down_ / (eta_down_ + 1); }
    value sum_over(step& of) const override {
        const value up = sum_of(of, "jumps_up", up_, eta_up_);
        return up - sum_of(of, "jumps_down", down_, eta_down_);
    }
    using jump_law::beside;
    fourier::characteristic beside(double volatility, double years) const override {
        return fourier::characteristic_of(fourier::kou{volatility, up_ + down_, p_up_, eta_up_, eta_down_},
                                          years);
    }

  private:
    // The sum of exponential jumps is minus the logarithm of a product of uniforms, over eta. A product of
    // sixteen could underflow in single precision; the bound has probability 1e-20.
    static value sum_of(step& of, const std::string& name, double intensity, double eta) {
        constexpr double least_product = 1e-37;
        const value one = of.into().constant(1.0);
        value product = one;
        for (const value is_more : more_jumps_than(of, name, intensity)) {
            product = product * select(is_more, of.uniform(), one);
        }
        const value mean = of.row(name + "_mean", [&](double, double) { return 1 / eta; });
        return -mean * log(max(product, least_product));
    }

    double p_up_, up_, down_, eta_up_, eta_down_;
};

constexpr parameter_row kou_rows[]{
    volatility_row,
    intensity_row,
    {.name = "p_up", .within = {{0, 1}}, .meaning = "probability that a jump goes up"},
    // If up jumps had a rate of 1 or less, the asset would have no mean.
    {.name = "eta_up", .within = {{1, 1e6, false}}, .meaning = "rate of jumps up, 1 over their mean"},
    {.name = "eta_down", .within = {{0, 1e6, false}}, .meaning = "rate of jumps down, 1 over their mean"},
    watched_jumps_row};

}  // namespace

extern const parameter_table parameters_of_kou = kou_rows;

std::shared_ptr<const model> read_kou(const config::node& parameters, const reading& of) {
    refuse_others(parameters, parameters_of_kou);
    const double intensity = read_parameter(parameters, intensity_row);
    const double p_up = read_parameter(parameters, find_row(kou_rows, "p_up"));
    const double eta_up = read_parameter(parameters, find_row(kou_rows, "eta_up"));
    const double eta_down = read_parameter(parameters, find_row(kou_rows, "eta_down"));
    const auto jumps = std::make_shared<exponential_jumps>(intensity, p_up, eta_up, eta_down);
    expect_moderate(parameters, *jumps);
    return lognormal_with_jumps("kou", parameters, of.as_of, jumps);
}

}  // namespace tilewalk::models
