// SPDX-License-Identifier: Apache-2.0
#include "engine/reading/market_changes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "engine/base/wording.h"
#include "engine/market/correlation_check.h"
#include "engine/models/model.h"
#include "engine/models/rates/rates.h"
#include "engine/reading/market_parts.h"
#include "engine/reading/market_reader.h"
#include "engine/reading/written_market.h"
#include "tilewalk/error.h"

namespace tilewalk::markets {
namespace {

using config::node;
using section = market_part::section;

bool same_bits(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

// Records the new values in `now`. Returns the parts of the market in which a number differs from before.
std::set<market_part> note(std::span<const market_change> changes, const written_market& in,
                           written_market::changes& now) {
    std::set<market_part> touched;
    std::set<std::string_view> seen;
    for (const market_change& c : changes) {
        const keyed_number& number = in.find(c.key);
        if (!std::isfinite(c.amount)) {
            throw error(error_kind::usage, "found the amount " + config::shown(c.amount) +
                                               " for the market key " + config::shown(c.key) +
                                               ", expected a finite number");
        }
        if (!seen.insert(number.key).second) {
            throw error(error_kind::usage, "the market key " + config::shown(c.key) +
                                               " is changed twice, expected each number once");
        }
        const auto noted = now.find(number.key);
        const double before = noted == now.end() ? number.value : noted->second;
        const double after = c.is == market_change::way::set ? c.amount : before + c.amount;
        if (same_bits(before, after) || before == after) continue;
        touched.insert(number.of);
        if (same_bits(after, number.value))
            now.erase(number.key);
        else
            now.insert_or_assign(number.key, after);
    }
    return touched;
}

std::vector<std::string> names_in(const node& root, std::string_view key) {
    std::vector<std::string> out;
    if (const node* all = root.find(key)) {
        for (const node::member& m : all->members()) out.push_back(m.key);
    }
    return out;
}

market_so_far as_it_was(const market_state& from) {
    const written_market& in = *from.source;
    market_so_far out{from, in.inside(), in.folder(), {}, {}, {}, {}};
    out.currency_names = names_in(in.root(), "currencies");
    out.pair_names = names_in(in.root(), "fx");
    out.asset_names = names_in(in.root(), "assets");
    for (const auto& [currency, model] : from.rate_models)
        out.rate_names.push_back(currency + "." + model->factors().front().name);
    return out;
}

// True if read_asset looks at the discount curve of the asset's currency.
bool depends_on_curve(const asset& a) {
    return !a.dividends.empty() || a.model != nullptr;
}

void read_again(std::set<market_part> touched, market_so_far& so_far) {
    market_state& market = so_far.market;
    const written_market& in = *market.source;
    const auto own_factors = market.own_factors;
    const auto changed = in.by_part(market.changes);
    const auto each = [&](section s, auto read) {
        for (const market_part& p : touched) {
            if (p.in != s) continue;
            const auto numbers = changed.find(p);
            const lent_part lent(
                in, p, numbers == changed.end() ? std::span<const changed_number>{} : numbers->second);
            read(lent.as_member());
        }
    };
    each(section::currencies, [&](const node::member& m) { read_currency(m, so_far); });
    for (const auto& [name, asset] : market.assets) {
        if (touched.contains({section::currencies, asset.currency}) && depends_on_curve(asset))
            touched.insert({section::assets, name});
    }
    each(section::fx, [&](const node::member& m) { read_exchange_rate(m, so_far); });
    if (std::ranges::any_of(touched, [](const market_part& p) { return p.in == section::fx; }))
        check_crosses(in.root().at("fx"), market);
    each(section::assets, [&](const node::member& m) {
        if (!market.remarks_as_read.contains(m.key))
            market.remarks_as_read.emplace(m.key, models::model_of(market.find_asset(m.key)).remarks());
        read_asset(m, so_far);
    });
    each(section::correlations, [&](const node::member& m) { read_correlations(m.value, so_far); });
    if (own_factors != market.own_factors) {
        if (const auto fault = fault_of_correlations(market))
            throw error(error_kind::input, *fault, in.root().at("correlations").where(), "correlations");
    }
    each(section::fixings, [&](const node::member& m) { read_fixings(m, so_far); });
}

// Names the changes for a message, such as "ACME.spot moved by -1 to 99, USD.rate set to 0.03".
std::string described(std::span<const market_change> changes, const written_market::changes& now) {
    constexpr std::size_t most = 3;
    std::string out;
    for (std::size_t i = 0; i < std::min(changes.size(), most); ++i) {
        const market_change& c = changes[i];
        const bool is_set = c.is == market_change::way::set;
        out += (i == 0 ? "" : ", ") + c.key + (is_set ? " set to " : " moved by ") + config::shown(c.amount);
        if (const auto at = now.find(c.key); !is_set && at != now.end())
            out += " to " + config::shown(at->second);
    }
    return changes.size() <= most ? out : out + " and " + std::to_string(changes.size() - most) + " more";
}

}  // namespace

market_state changed(const market_state& from, std::span<const market_change> changes) {
    market_so_far so_far = as_it_was(from);
    market_state& market = so_far.market;
    std::set<market_part> touched = note(changes, *from.source, market.changes);
    try {
        read_again(std::move(touched), so_far);
    } catch (const error& e) {
        if (e.kind() != error_kind::input) throw;
        throw error(error_kind::input,
                    described(changes, market.changes) + ": this is no market: " + e.message(), e.where(),
                    e.key_path());
    }
    return std::move(market);
}

market_state rolled(std::shared_ptr<const market_state> from, int days) {
    const written_market& source = *from->source;
    const config::node today = source.whole(from->changes);
    config::node next = today.at("as_of");
    next.write(to_string(dates::date{from->as_of.serial + days}));
    market_state out = read_market(today.with("as_of", std::move(next)), source.inside(), source.folder());
    std::vector<market_change> rates;
    for (const keyed_number& n : out.source->numbers()) {
        if (n.factor_years == 0) continue;
        const auto changed = from->changes.find(n.key);
        rates.push_back({n.key, changed == from->changes.end() ? source.find(n.key).value : changed->second,
                         market_change::way::set});
    }
    if (!rates.empty()) out = changed(out, rates);
    out.name = from->name;
    out.hash = from->hash;
    out.day_before = std::move(from);
    return out;
}

}  // namespace tilewalk::markets
