// SPDX-License-Identifier: Apache-2.0
#include "engine/models/subordinated.h"

#include <utility>

#include "kernels/math.h"
#include "tilewalk/error.h"

namespace tilewalk::models {

namespace {

using program::value;

class subordinated_walk final : public walk {
  public:
    subordinated_walk(subordinated s, const markets::asset& of) : s_(std::move(s)), of_(of) {}

    moved record(step& of, value x) override {
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

    value variance_between(step&, value) override {
        throw error(error_kind::input,
                    "asset '" + of_.name + "' moves by jumps alone (" + s_.name +
                        "), so what it did between two dates does not follow from where it was on them; "
                        "expected a product that looks at it on dates only: give watching_dates or "
                        "monitoring_dates where the product has them",
                    of_.where);
    }

    std::string why_not_lognormal() const override {
        return "is not known ahead of an asset that moves by jumps; expected an asset with a volatility";
    }
    location where() const override { return of_.where; }

  private:
    subordinated s_;
    const markets::asset& of_;
};

class subordinated_model final : public model {
  public:
    explicit subordinated_model(subordinated s) : s_(std::move(s)) {}
    std::string describe() const override { return s_.name + ", exact between dates"; }
    std::unique_ptr<walk> start(const markets::asset& of, const markets::curve&) const override {
        return std::make_unique<subordinated_walk>(s_, of);
    }

  private:
    subordinated s_;
};

}  // namespace

std::shared_ptr<const model> model_on_clock(subordinated s) {
    return std::make_shared<subordinated_model>(std::move(s));
}

}  // namespace tilewalk::models
