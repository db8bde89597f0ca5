// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "engine/verify/truth.h"

namespace tilewalk::verify {

// Each in a file of truths/.
known_trade draw_european(dice& d);
known_trade draw_quanto_european(dice& d);
known_trade draw_digital(dice& d);
known_trade draw_barrier(dice& d);
known_trade draw_barrier_on_dates(dice& d);
known_trade draw_geometric_asian(dice& d);
known_trade draw_variance_swap(dice& d);
known_trade draw_worst_of_note(dice& d);

std::span<const truth_entry> truths() {
    static constexpr std::array all{
        truth_entry{"european", "Black's formula", draw_european},
        truth_entry{"european", "Black's formula with a quanto forward", draw_quanto_european},
        truth_entry{"digital", "Black's formula", draw_digital},
        truth_entry{"barrier", "the reflection principle", draw_barrier},
        truth_entry{"barrier", "quadrature from date to date", draw_barrier_on_dates},
        truth_entry{"asian", "the lognormal geometric mean", draw_geometric_asian},
        truth_entry{"variance_swap", "the mean of squared returns", draw_variance_swap},
        truth_entry{"autocallable", "a put on the worst of two and two digitals", draw_worst_of_note},
    };
    return all;
}

}  // namespace tilewalk::verify
