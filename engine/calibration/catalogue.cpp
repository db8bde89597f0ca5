// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "engine/calibration/target.h"

namespace tilewalk::calibrations {

std::span<const catalogue_entry> catalogue() {
    static constexpr std::array entries{
        catalogue_entry{"heston", fitted_part::asset, read_heston},
        catalogue_entry{"bates", fitted_part::asset, read_bates},
        catalogue_entry{"svi", fitted_part::asset, read_svi},
        catalogue_entry{"hull_white", fitted_part::currency, read_hull_white},
        catalogue_entry{"g2", fitted_part::currency, read_g2},
    };
    return entries;
}

}  // namespace tilewalk::calibrations
