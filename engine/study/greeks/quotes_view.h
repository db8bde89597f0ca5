// SPDX-License-Identifier: Apache-2.0
// Sensitivities to the quotes that models were fitted to, instead of those to the fitted numbers.
#pragma once

#include <atomic>
#include <functional>

#include "tilewalk/engine.h"

namespace tilewalk::studies {

// Calls `find` with keys of the market, and converts its results if the view asks for quotes. Throws first
// what calibrations::follow_quotes() throws.
results seen_as(const greek_options& wanted, const market& in, const std::atomic<bool>* cancel,
                const std::function<results(const greek_options&)>& find);

}  // namespace tilewalk::studies
