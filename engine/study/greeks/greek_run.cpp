// SPDX-License-Identifier: Apache-2.0
#include "engine/study/greeks/greek_stages.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/base/wording.h"
#include "engine/study/manifest.h"

namespace tilewalk::studies {

std::vector<std::string> asked_greeks::keys(std::span<const std::size_t> of) const {
    std::vector<std::string> out;
    for (const std::size_t n : of) out.push_back(key(n));
    return out;
}

asked_greeks greeks_asked(const greek_options& options, const market& in,
                          const std::optional<outer_greeks>& outer) {
    asked_greeks out{options.method};
    const std::vector<std::string>& wanted = options.wanted;
    std::vector<std::string> measures;
    for (const greek_measure& m : greek_measures()) {
        measures.emplace_back(m.name);
        if (m.order == 2 && std::ranges::find(wanted, m.name) != wanted.end())
            out.second_order.emplace_back(m.name);
    }
    std::vector<bool> is_used(wanted.size(), false);
    const auto is_wanted = [&](const std::string& key, std::string_view measure) {
        bool any = wanted.empty();
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            const bool is_this = wanted[i] == measure || greeks::fits(wanted[i], key);
            is_used[i] = is_used[i] || is_this || std::ranges::find(measures, wanted[i]) != measures.end();
            any = any || is_this;
        }
        return any;
    };
    std::vector<std::string> known = measures;
    std::map<std::string_view, double> moves;
    if (outer)
        for (const asked_number& n : outer->asked.numbers) moves[n.number->key] = n.risk.large;
    for (const markets::keyed_number& n : state_of(in).source->numbers()) {
        greeks::risk_number risk = greeks::risk_of(n);
        if (risk.measure.empty()) continue;
        if (outer) risk.large = outer->share * moves.at(n.key);
        known.push_back(n.key);
        out.is_wanted.push_back(is_wanted(n.key, risk.measure));
        out.numbers.push_back({&n, std::move(risk)});
    }
    known.emplace_back(greeks::key_of_day);
    out.is_theta_wanted = is_wanted(std::string(greeks::key_of_day), "theta");
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (is_used[i]) continue;
        throw error(error_kind::usage,
                    "found " + config::shown(wanted[i]) + " among the Greeks, expected a measure (" +
                        language::joined(measures) + ") or a pattern that fits a key of the market" +
                        language::suggestion(wanted[i], known));
    }
    return out;
}

jumps_of_controls greek_run::jumps() const {
    const bool sees_none = asked.by == greek_method::pathwise || asked.by == greek_method::likelihood_ratio;
    return sees_none ? jumps_of_controls::none : jumps_of_controls::beside_those_of_payoffs;
}

std::vector<priced_book> greek_run::walk(const book& some, std::span<const market> markets, const stages& by,
                                         results& to) {
    progress.begin(static_cast<double>(markets.size() * some.size()));
    if (markets.empty()) return {};
    std::vector<priced_book> out = price_book(with, some, markets, progress.options_of_walk(), by);
    for (const priced_book& p : out) add_steps(to.manifest, p.result.manifest);
    return out;
}

}  // namespace tilewalk::studies
