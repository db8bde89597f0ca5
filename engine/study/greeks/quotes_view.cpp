// SPDX-License-Identifier: Apache-2.0
#include "engine/study/greeks/quotes_view.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/wording.h"
#include "engine/calibration/quoted_models.h"
#include "engine/market/market_state.h"
#include "engine/plan/measures.h"
#include "engine/reading/written_market.h"
#include "engine/study/greek_sums.h"

namespace tilewalk::studies {

namespace {

using calibrations::fitted_numbers;

struct quote_kind {
    std::string_view measure;
    double per = 1;
    std::string per_words;
};

quote_kind kind_of(const fitted_numbers& of, const markets::market_state& in) {
    if (of.unit == "normal volatility") return {"vega", 1e-4, "1 bp of normal volatility"};
    if (of.unit != "price") return {"vega", 1e-2, "1 % of volatility"};
    const auto asset = in.assets.find(of.of);
    if (asset == in.assets.end()) return {"parameter", 1e-4, "1 bp of option price"};
    return {"parameter", 1, "1 " + asset->second.currency + " of option price"};
}

class quotes_view {
  public:
    quotes_view(const greek_options& wanted, const market& in, const std::atomic<bool>* cancel)
        : wanted_(wanted), in_(state_of(in)), fits_(calibrations::follow_quotes(in, cancel)) {
        for (std::size_t f = 0; f < fits_.size(); ++f)
            for (std::size_t k = 0; k < fits_[f].keys.size(); ++k) places_[fits_[f].keys[k]] = {f, k};
    }

    // Returns options that ask for the fitted numbers instead of the quotes that the user wants.
    greek_options of_market() const {
        greek_options out = wanted_;
        out.wanted.clear();
        std::set<std::string> numbers;
        for (const std::string& one : wanted_.wanted) {
            if (places_.contains(one)) {
                throw error(
                    error_kind::usage,
                    "found " + config::shown(one) +
                        " among the Greeks, a number fitted to quotes, expected for the view quotes a "
                        "key of a quote, such as " +
                        fits_[places_.at(one).fit].quotes.front().key);
            }
            bool is_of_quotes = false;
            for (const fitted_numbers& fit : fits_) {
                const bool is_any = std::ranges::any_of(
                    fit.quotes, [&](const fitted_quote& q) { return is_meant(one, fit, q); });
                if (is_any) numbers.insert(fit.keys.begin(), fit.keys.end());
                is_of_quotes = is_of_quotes || is_any;
            }
            // Keeps a wish for other numbers too: a measure, or a pattern that fits their keys.
            if (!is_of_quotes || is_of_market(one)) out.wanted.push_back(one);
        }
        out.wanted.insert(out.wanted.end(), numbers.begin(), numbers.end());
        return out;
    }

    void put_into(results& of) const {
        const std::vector<greek_row> found = std::exchange(of.greeks, {});
        for (auto first = found.begin(); first != found.end();) {
            const auto end =
                std::find_if(first, found.end(), [&](const greek_row& r) { return r.trade != first->trade; });
            report::add_with_totals(of, of_trade({first, end}, of.manifest));
            first = end;
        }
    }

  private:
    struct number_of_fit {
        std::size_t fit, number;
    };

    bool is_meant(const std::string& one, const fitted_numbers& of, const fitted_quote& q) const {
        return one == kind_of(of, in_).measure || greeks::fits(one, q.key);
    }

    bool is_of_market(const std::string& one) const {
        const auto is_measure = [&](const greek_measure& m) { return m.name == one; };
        if (std::ranges::any_of(greek_measures(), is_measure)) return true;
        return std::ranges::any_of(in_.source->numbers(), [&](const markets::keyed_number& n) {
            return !places_.contains(n.key) && greeks::fits(one, n.key);
        });
    }

    bool is_wanted(const fitted_numbers& of, const fitted_quote& q) const {
        return wanted_.wanted.empty() || std::ranges::any_of(wanted_.wanted, [&](const std::string& one) {
                   return is_meant(one, of, q);
               });
    }

    // Returns rows without totals, with a fit's quotes in the place of its first number.
    std::vector<greek_row> of_trade(std::vector<greek_row> rows, const run_manifest& manifest) const {
        std::map<std::size_t, std::vector<const greek_row*>> fitted;
        for (const greek_row& r : rows)
            if (const auto at = places_.find(r.key); at != places_.end())
                fitted[at->second.fit].push_back(&r);
        std::vector<greek_row> out;
        for (const greek_row& r : rows) {
            if (r.key.empty()) continue;
            const auto at = places_.find(r.key);
            if (at == places_.end()) {
                out.push_back(r);
            } else if (const auto of = fitted.find(at->second.fit); of->second.front() == &r) {
                add_quotes(out, fits_[of->first], of->second, manifest);
            }
        }
        return out;
    }

    void add_quotes(std::vector<greek_row>& to, const fitted_numbers& fit,
                    const std::vector<const greek_row*>& rows, const run_manifest& manifest) const {
        const quote_kind kind = kind_of(fit, in_);
        for (std::size_t q = 0; q < fit.quotes.size(); ++q) {
            if (!is_wanted(fit, fit.quotes[q])) continue;
            std::vector<report::greek_term> terms;
            for (const greek_row* r : rows) {
                const double per = greeks::risk_of(in_.source->find(r->key)).per;
                terms.push_back({r, kind.per / per * fit.moves[places_.at(r->key).number][q]});
            }
            greek_row row = *rows.front();
            row.measure = kind.measure;
            row.key = fit.quotes[q].key;
            row.unit = row.unit.substr(0, row.unit.find(" per ")) + " per " + kind.per_words;
            to.push_back(report::sum_of(terms, std::move(row), manifest));
        }
    }

    const greek_options& wanted_;
    const markets::market_state& in_;
    std::vector<fitted_numbers> fits_;
    std::map<std::string, number_of_fit> places_;  // of each fitted number, by its key
};

}  // namespace

results seen_as(const greek_options& wanted, const market& in, const std::atomic<bool>* cancel,
                const std::function<results(const greek_options&)>& find) {
    if (wanted.view == greek_view::market) return find(wanted);
    const quotes_view view(wanted, in, cancel);
    results out = find(view.of_market());
    view.put_into(out);
    return out;
}

}  // namespace tilewalk::studies
