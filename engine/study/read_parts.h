// SPDX-License-Identifier: Apache-2.0
// Tells whether a plan has read a part of the market.
#pragma once

#include "engine/market/market_view.h"
#include "engine/reading/written_market.h"

namespace tilewalk::studies {

inline bool reads_part(const markets::market_reads& reads, const markets::market_part& part) {
    switch (part.in) {
        case markets::market_part::section::currencies:
            return reads.curves.contains(part.name) || reads.rate_models.contains(part.name);
        case markets::market_part::section::fx:
            return reads.all_fx || !reads.fx_legs.empty();
        case markets::market_part::section::assets:
            return reads.assets.contains(part.name);
        case markets::market_part::section::correlations:
            return !reads.correlations.empty();
        case markets::market_part::section::fixings:
            break;
    }
    return reads.fixings.contains(part.name);
}

}  // namespace tilewalk::studies
