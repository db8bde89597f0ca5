// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "engine/base/text/time_reader.h"
#include "engine/market/term_reader.h"
#include "engine/reading/market_parts.h"

namespace tilewalk::markets {

using config::node;

void read_fixings(const node::member& series, market_so_far& into) {
    expect_mapping(series.value, "a mapping of dates to values, such as {2026-01-02: 99.5}");
    std::map<dates::date, double>& values = into.market.fixings[series.key];
    values.clear();
    for (const node::member& fixing : series.value.members()) {
        const dates::date day = config::read_date(fixing);
        if (day > into.market.as_of) {
            fixing.fail("found a fixing of " + fixing.key + ", expected none after as_of (" +
                        dates::to_string(into.market.as_of) + ")");
        }
        values.emplace(day, read_positive(fixing.value, "fixing"));
    }
}

}  // namespace tilewalk::markets
