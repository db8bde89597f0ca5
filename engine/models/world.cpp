// SPDX-License-Identifier: Apache-2.0
// Assets and interest rates moved by their models, and lognormal exchange rates, all correlated, under the
// measure of the trade currency's numeraire. Handles dividends and currencies, so that models need not.
#include "engine/models/world.h"

#include <memory>
#include <utility>

#include "engine/models/world/bridges.h"
#include "engine/models/world/joint_step.h"
#include "engine/models/world/members.h"
#include "engine/models/world/numbers.h"
#include "engine/models/world/open_section.h"
#include "engine/models/world/path_states.h"
#include "engine/models/world/prices_ahead.h"
#include "engine/models/world/stops.h"

namespace tilewalk::models {

namespace {

using language::averaged;
using language::bridge;
using language::interval_end;
using language::occurrence;
using program::recorder;
using program::value;

class joint_world final : public world {
  public:
    explicit joint_world(const world_needs& from) : members_(from) {}
    joint_world(const joint_world&) = delete;
    joint_world& operator=(const joint_world&) = delete;

    void add_stops(double from, double to, std::vector<double>& times) const override {
        models::add_stops(members_, from, to, times);
    }
    void add_breaks(double last, std::vector<double>& times) const override {
        models::add_breaks(members_, last, times);
    }
    double longest_step(std::span<const double> stops) const override {
        return models::longest_step(members_, stops);
    }

    std::optional<double> steps_leave() const override {
        return approximates_ ? std::nullopt : models::steps_leave(members_, states_);
    }
    void approximates_inside() override { approximates_ = true; }

    std::vector<std::string> describe() const override { return descriptions(members_); }
    std::vector<correlation_taken> correlations() const override { return correlations_taken(members_); }
    market_numbers numbers_at(std::span<const double> years) const override {
        return models::numbers_at(members_, years);
    }

    void begin(std::vector<double> grid, recorder& into) override {
        section_.begin(std::move(grid), into);
        states_.begin();
    }
    void enter(std::span<const occurrence> runs) override { section_.enter(runs); }
    void record_step(hears_moves* by) override {
        section_.enter_step();
        record_joint_step(members_, section_, states_, by);
    }
    std::vector<value> ratios() override {
        std::vector<value> out;
        for (const factor& f : members_.factors())
            if (f.has_mean_of_one() && !f.walk->why_not_lognormal().empty())
                out.push_back(states_.martingale(f));
        return out;
    }

    value spot(const std::string& asset) override { return states_.level(members_.find_asset(asset)); }
    bool is_positive(const std::string& asset) const override {
        const factor& f = members_.find_asset(asset);
        return f.is_logarithm() && !f.falls;
    }
    value fx(const std::string& currency) override {
        if (currency == members_.trade_currency()) return section_.into().constant(1.0);
        return states_.level(members_.find_currency(currency));
    }

    value forward(const std::string& asset, std::span<const double> years,
                  const std::string& named) override {
        return ahead_.forward(members_.find_asset(asset), years, named);
    }
    value option_value(bool call, const std::string& asset, value strike, std::span<const double> years,
                       const std::string& named) override {
        return ahead_.option_value(call, members_.find_asset(asset), strike, years, named);
    }
    value bond(const std::string& currency, std::span<const double> years,
               const std::string& named) override {
        return ahead_.bond(currency, years, named);
    }
    void look_ahead_by(language::numbers_ahead* by) override { section_.look_ahead_by(by); }
    double discount(const std::string& currency, double years) const override {
        return members_.market().discount_curve(currency).discount(years);
    }
    bool has_random_rates(const std::string& currency) const override {
        return members_.find_rates(currency) != nullptr;
    }
    value discount_on_path(const std::string& currency, interval_end end) override {
        return ahead_.discount_on_path(currency, end);
    }

    bridge path_between(const std::string& asset) override {
        return bridges_.path_between(members_.find_asset(asset));
    }
    value to_coordinate(const std::string& asset, value level, interval_end end) override {
        return bridges_.to_coordinate(members_.find_asset(asset), level, end);
    }
    value from_coordinate(const std::string& asset, value at) override {
        return bridges_.from_coordinate(members_.find_asset(asset), at);
    }
    value mean_price(const std::string& asset, double fraction, value mean, value variance) override {
        return bridges_.mean_price(members_.find_asset(asset), fraction, mean, variance);
    }
    value mean_logarithm(const std::string& asset, const bridge& path) override {
        return bridges_.mean_logarithm(members_.find_asset(asset), path);
    }
    value variance_of_mean(const std::string& asset, const bridge& path, averaged what) override {
        return bridges_.variance_of_mean(members_.find_asset(asset), path, what);
    }

  private:
    members members_;
    open_section section_;
    path_states states_{members_, section_};
    bridges bridges_{members_, section_, states_};
    prices_ahead ahead_{members_, section_, states_};
    bool approximates_ = false;
};

}  // namespace

std::unique_ptr<world> make_world(const world_needs& from) {
    return std::make_unique<joint_world>(from);
}

}  // namespace tilewalk::models
