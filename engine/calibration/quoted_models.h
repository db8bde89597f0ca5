// SPDX-License-Identifier: Apache-2.0
// Models with the quotes that they are fitted to (`calibrate:`), or were (which a fitted market keeps).
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/text/document.h"
#include "engine/calibration/target.h"
#include "engine/market/market_state.h"
#include "tilewalk/market.h"

namespace tilewalk::calibrations {

struct named_quotes {
    const config::node::member* of = nullptr;
    const config::node::member* quotes = nullptr;
    const catalogue_entry* model = nullptr;
};
std::vector<named_quotes> name_quotes(const config::node& calibrate);

struct quoted_model {
    std::string of;
    fitted_part what = fitted_part::asset;
    std::unique_ptr<target> fit;
};
std::vector<quoted_model> read_quoted_models(const std::vector<named_quotes>& all,
                                             const markets::market_state& market);

// Derivatives of fitted market numbers with respect to the quotes that the market keeps; `only` chooses
// models of assets or of currencies. Throws tilewalk::error: (usage) if the market keeps no quotes, (input)
// if its numbers are not those of the fit, (cancelled).
std::vector<fitted_numbers> follow_quotes(const market& in, const std::atomic<bool>* cancel,
                                          std::optional<fitted_part> only = {});
bool keeps_quotes(const market& in);

}  // namespace tilewalk::calibrations
