// SPDX-License-Identifier: Apache-2.0
// Bates (1996): Heston's stochastic variance, with normal jumps of the logarithm.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/models/heston.h"
#include "engine/models/jumps.h"

namespace tilewalk::models {

namespace {

class bates final : public model {
  public:
    bates(heston_parameters p, std::shared_ptr<const jump_law> jumps, double watched_steps_per_year)
        : p_(std::move(p)), jumps_(std::move(jumps)), watched_steps_per_year_(watched_steps_per_year) {}

    std::string describe() const override {
        return "bates, " + models::describe(p_) + ", " + config::shown(watched_steps_per_year_) +
               " where watched continuously";
    }
    std::vector<own_factor> own_factors() const override { return {{"variance", p_.rho}}; }
    std::unique_ptr<walk> start(const markets::asset& of, const markets::curve&) const override {
        return with_jumps(heston_walk(p_, of), jumps_, watched_steps_per_year_);
    }

  private:
    heston_parameters p_;
    std::shared_ptr<const jump_law> jumps_;
    double watched_steps_per_year_;
};

}  // namespace

std::shared_ptr<const model> read_bates(const config::node& parameters, const reading& of) {
    std::vector<std::string> keys = heston_keys();
    for (std::string& key : normal_jump_keys()) keys.push_back(std::move(key));
    parameters.only(keys);
    return std::make_shared<bates>(read_heston_parameters(parameters, of.as_of),
                                   read_normal_jumps(parameters), read_watched_steps(parameters));
}

}  // namespace tilewalk::models
