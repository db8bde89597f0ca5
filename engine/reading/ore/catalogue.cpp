// SPDX-License-Identifier: Apache-2.0
// The kinds of trades that can be imported. To add one, add a line here and its function.
#include "engine/reading/ore/trade.h"

namespace tilewalk::reading::ore {

const std::vector<trade_type>& trade_types() {
    static const std::vector<trade_type> all{
        {"EquityOption", "EquityOptionData", "european, american, bermudan_basket", read_equity_option},
        {"FxOption", "FxOptionData", "european, american, bermudan_basket", read_fx_option},
        {"EquityBarrierOption", "EquityBarrierOptionData", "barrier", read_equity_barrier},
        {"FxBarrierOption", "FxBarrierOptionData", "barrier", read_fx_barrier},
        {"EquityDoubleBarrierOption", "EquityDoubleBarrierOptionData", "double_barrier",
         read_equity_double_barrier},
        {"FxDoubleBarrierOption", "FxDoubleBarrierOptionData", "double_barrier", read_fx_double_barrier},
        {"EquityDigitalOption", "EquityDigitalOptionData", "digital", read_equity_digital},
        {"FxDigitalOption", "FxDigitalOptionData", "digital", read_fx_digital},
        {"EquityTouchOption", "EquityTouchOptionData", "one_touch", read_equity_touch},
        {"FxTouchOption", "FxTouchOptionData", "one_touch", read_fx_touch},
        {"FxDoubleTouchOption", "FxDoubleTouchOptionData", "double_touch", read_fx_double_touch},
        {"EquityAsianOption", "EquityAsianOptionData", "asian", read_asian},
        {"FxAsianOption", "FxAsianOptionData", "asian", read_asian},
        {"EquityVarianceSwap", "EquityVarianceSwapData", "variance_swap", read_variance_swap},
        {"FxVarianceSwap", "FxVarianceSwapData", "variance_swap", read_variance_swap},
        {"EquityCliquetOption", "EquityCliquetOptionData", "cliquet", read_cliquet},
        {"EquityTaRF", "EquityTaRFData", "target_redemption_forward", read_target_redemption},
        {"FxTaRF", "FxTaRFData", "target_redemption_forward", read_target_redemption},
        {"EquityAccumulator", "EquityAccumulatorData", "accumulator", read_accumulator},
        {"FxAccumulator", "FxAccumulatorData", "accumulator", read_accumulator},
        {"Autocallable_01", "Autocallable01Data", "ore_autocallable_01", read_autocallable},
        {"Swap", "SwapData", "swap", read_swap},
        {"Swaption", "SwaptionData", "swaption, bermudan_swaption", read_swaption},
        {"CapFloor", "CapFloorData", "cap_floor", read_cap_floor},
        {"Bond", "BondData", "coupon_bond, zero_coupon_bond", read_bond},
    };
    return all;
}

}  // namespace tilewalk::reading::ore
