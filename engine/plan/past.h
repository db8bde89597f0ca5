// SPDX-License-Identifier: Apache-2.0
// The world of a script's past dates: spots are fixings, and nothing is random.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/market/market_view.h"
#include "products/language/payoff.h"
#include "products/language/touch.h"
#include "products/program/recorder.h"

namespace tilewalk::plan {

// A fixing of as_of gets a remark if it is off the spot by more than this many daily moves, or by a factor of
// 1.25: hardly anything moves so far until the close. A daily move is today's volatility over the root of
// 252, at least 0.2 %; 2 % for an asset without a volatility, 1 % for an exchange rate.
inline constexpr double daily_moves_to_a_far_fixing = 5;
inline constexpr double far_fixing = 1.25;

class past_world final : public language::world, public language::touch_listener {
  public:
    past_world(const markets::market_view& market, std::string trade_currency, program::recorder& into)
        : market_(market), trade_currency_(std::move(trade_currency)), into_(into) {}

    // Goes to a day. `exact`: only a fixing of that very day counts; else the last one up to it does.
    void enter(dates::date day, bool exact) {
        day_ = day;
        exact_ = exact;
        starts_ = false;
    }
    // Goes to the moment at which paths start: as_of, with spots even where there are fixings.
    void enter_start() {
        enter(market_.as_of, true);
        starts_ = true;
    }
    std::vector<dates::date> fixing_days(const std::vector<std::string>& assets, dates::date from,
                                         dates::date to) const;

    bool is_past() const override { return true; }
    void saw_touch(const std::string& asset, double level) override;
    const std::vector<std::string>& remarks() const { return remarks_; }
    program::value spot(const std::string& asset) override;
    program::value fx(const std::string& currency) override;
    program::value forward(const std::string& asset, std::span<const double> years,
                           const std::string& named) override;
    program::value option_value(bool call, const std::string& asset, program::value strike,
                                std::span<const double> years, const std::string& named) override;
    program::value bond(const std::string& currency, std::span<const double> years,
                        const std::string& named) override;
    double fx_today(const std::string& currency) const override;
    double discount(const std::string& currency, double years) const override;
    language::bridge path_between(const std::string& asset) override;
    program::value to_coordinate(const std::string& asset, program::value level,
                                 language::interval_end at) override;
    program::value from_coordinate(const std::string& asset, program::value coordinate) override;
    program::value mean_price(const std::string& asset, double fraction, program::value mean,
                              program::value variance) override;
    program::value mean_logarithm(const std::string& asset, const language::bridge& path) override;
    program::value variance_of_mean(const std::string& asset, const language::bridge& path,
                                    language::averaged what) override;

  private:
    struct known_fixing {
        double value;
        bool is_of_today;
    };
    std::optional<known_fixing> fixing(const std::string& name) const;
    double years_from_day(double years) const;
    void compare_with_spot(const std::string& name, double fixing, double spot, double daily_move);
    void remark(std::string sentence);

    const markets::market_view market_;
    std::string trade_currency_;
    program::recorder& into_;
    dates::date day_;
    bool exact_ = true;
    bool starts_ = false;
    std::vector<std::string> remarks_;
};

}  // namespace tilewalk::plan
