// SPDX-License-Identifier: Apache-2.0
// CRIF, the input of ISDA SIMM: its lines, and the shifts and derivatives that they take.
#pragma once

#include "engine/calibration/target.h"
#include "engine/study/files/book_shifts.h"
#include "engine/study/scenarios/gains_of_trades.h"
#include "tilewalk/engine.h"

namespace tilewalk::studies {

struct simm_shifts {
    // Scenarios in which a currency rises against the currency of calculation, by currency.
    std::map<std::string, std::size_t> currencies;
    std::vector<calibrations::fitted_numbers> fits;  // fits of rate models to volatilities
    std::vector<std::vector<std::size_t>> fits_of;   // by trade: fits whose numbers it depends on

    // Reports fits that can't be followed. Throws tilewalk::error (input) for an asset without a SIMM name.
    simm_shifts(const difference_request& of, const keys_by_trade& keys, book_shifts& beside,
                difference_results& to);
    bool has_fit(std::size_t trade) const { return !fits_of[trade].empty(); }
    // True if CRIF's volatility lines cover the parameter, since its rate model is fitted to quotes.
    bool tells_of(const std::string& key) const;
    greek_options by_numbers_of_fits() const;
};

// Derivatives by the numbers of fits, for the trades of one scenario run.
struct rate_greeks {
    results found{};
    std::map<std::string_view, std::vector<const greek_row*>> of{};  // by trade

    rate_greeks() = default;
    explicit rate_greeks(results all);
};

struct crif_inputs {
    const difference_request& of;
    const book_shifts& shifts;
    const simm_shifts& simm;
    const gains_of_trades& gains;
    const rate_greeks& greeks;
};
void add_crif(const crif_inputs& from, std::size_t trade, difference_results& to);

}  // namespace tilewalk::studies
