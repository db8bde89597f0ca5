// SPDX-License-Identifier: Apache-2.0
#include "engine/models/subordinated.h"

#include <utility>

#include "engine/models/jumps.h"
#include "engine/models/known_law.h"
#include "kernels/math.h"

namespace tilewalk::models {

namespace {

using program::value;

class subordinated_walk final : public walk_by_jumps {
  public:
    subordinated_walk(const subordinated& s, const markets::asset& of) : walk_by_jumps(s.name, of), s_(s) {}

    arrival record(step& of, value x) override {
        const value per_root =
            of.row("per_root", [](double from, double to) { return 1 / kernels::sqrt(to - from); });
        const value drift =
            of.row("clock_drift", [&](double from, double to) { return s_.drift * (to - from); });
        const value lean = of.row("clock_lean", [&](double, double) { return s_.lean; });
        const value deviation = of.row("clock_deviation", [&](double, double) { return s_.deviation; });
        const value time = s_.clock->over(of);
        const value noise = deviation * sqrt(time) * (per_root * of.own());
        return {x + (fma(lean, time, drift) + noise)};
    }

  private:
    subordinated s_;
};

class subordinated_model final : public model {
  public:
    explicit subordinated_model(subordinated s) : s_(std::move(s)) {}
    std::string describe() const override { return s_.name + ", exact between dates"; }
    std::optional<double> steps_leave() const override { return 0.0; }
    bool is_as_exact_beside_others() const override { return false; }
    std::unique_ptr<walk> start(const markets::asset& of, const markets::curve&) const override {
        return std::make_unique<subordinated_walk>(s_, of);
    }
    std::optional<double> implied_volatility(double years, double log_moneyness) const override {
        return implied_by([&] { return s_.law(years); }, years, log_moneyness);
    }

  private:
    subordinated s_;
};

}  // namespace

std::shared_ptr<const model> model_on_clock(subordinated s) {
    return std::make_shared<subordinated_model>(std::move(s));
}

}  // namespace tilewalk::models
