// SPDX-License-Identifier: Apache-2.0
// The results themselves: counting failures, and the choice of a form to write them in.
#include "tilewalk/results.h"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "engine/report/formats.h"

namespace tilewalk {

namespace {

// What reads as a price must be one, whichever form it is written in.
void check_finite(const price_row& row) {
    const bool priced = row.status == trade_status::priced;
    const auto sound = [](double x) { return std::isfinite(x); };
    if (sound(row.quantity) && sound(row.effective_hits) && sound(row.shadow_difference.value_or(0)) &&
        (!priced || (sound(row.price) && sound(row.standard_error) && sound(row.low) && sound(row.high))))
        return;
    throw error(error_kind::internal, "trade '" + row.trade + "' has a figure that is not finite", row.where);
}

}  // namespace

std::size_t results::failed() const {
    return static_cast<std::size_t>(std::ranges::count(rows, trade_status::failed, &price_row::status));
}

void write(std::ostream& out, const results& r, output_format format) {
    std::ranges::for_each(r.rows, check_finite);
    switch (format) {
        case output_format::table:
            out << report::table(r);
            return;
        case output_format::csv:
            out << report::csv(r);
            return;
        case output_format::json:
            out << report::json(r);
            return;
    }
}

}  // namespace tilewalk
