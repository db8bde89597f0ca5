// SPDX-License-Identifier: Apache-2.0
// Sensitivities to quotes: in place of the numbers that models were fitted with, what the fits were made to.
#pragma once

#include <atomic>
#include <functional>

#include "tilewalk/engine.h"

namespace tilewalk::verbs {

// The results of `find`, which takes wishes in terms of the market's own keys, in the view that is wanted.
// Throws what calibrations::follow_quotes() throws before it calls it.
results seen_as(const greek_options& wanted, const market& in, const std::atomic<bool>* cancel,
                const std::function<results(const greek_options&)>& find);

}  // namespace tilewalk::verbs
