// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "engine/market/term_reader.h"
#include "engine/models/model.h"
#include "engine/models/rates/rates.h"
#include "engine/reading/market_parts.h"

namespace tilewalk::markets {

using config::node;

void read_currency(const node::member& currency, market_so_far& into) {
    market_state& market = into.market;
    const curve& today =
        market.currencies.insert_or_assign(currency.key, read_curve(currency.value, market.as_of, true))
            .first->second;
    const node* const moves = currency.value.find("model");
    if (moves == nullptr) return;
    auto read = models::read_rate_model(*moves, {market.as_of, currency.key, today});
    const std::string first = currency.key + "." + read->factors().front().name;
    into.rate_names.push_back(first);
    for (const models::own_factor& f : read->factors()) {
        const std::string name = currency.key + "." + f.name;
        if (name == first) continue;
        market.own_factors[name] = {first, f.correlation.from(0), f.correlation.is_constant()};
    }
    market.rate_models.insert_or_assign(currency.key, std::move(read));
    market.rate_parameters.insert_or_assign(
        currency.key, models::parameters_as_written(moves->members().front().value, market.as_of));
}

}  // namespace tilewalk::markets
