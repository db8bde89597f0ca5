// SPDX-License-Identifier: Apache-2.0
// Prices that a block asks its world for; each question is asked once and its answer kept.
#pragma once

#include <span>
#include <string>

#include "products/language/recording/values.h"

namespace tilewalk::language::recording {

class market_at_hand {
  public:
    market_at_hand(const block_at_hand& at, values& made) : at_(at), made_(made) {}

    value spot(const std::string& asset) {
        return made_.once("spot " + asset, [&] { return at_.market->spot(asset); });
    }
    value fx(const std::string& currency) {
        return made_.once("fx " + currency, [&] { return at_.market->fx(currency); });
    }
    value forward(const std::string& asset, std::span<const double> years, const std::string& named) {
        return made_.once("forward " + asset + " " + named,
                          [&] { return at_.market->forward(asset, years, named); });
    }
    value bond(const std::string& currency, std::span<const double> years, const std::string& named) {
        return made_.once("bond " + currency + " " + named,
                          [&] { return at_.market->bond(currency, years, named); });
    }

  private:
    const block_at_hand& at_;
    values& made_;
};

}  // namespace tilewalk::language::recording
