// SPDX-License-Identifier: Apache-2.0
// Reads option quotes. Refuses what fits would not notice: prices without volatility, past expiries,
// duplicates.
#include "engine/calibration/option_quotes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "engine/base/numbers.h"
#include "engine/base/text/time_reader.h"
#include "engine/base/wording.h"
#include "engine/calibration/parameters.h"
#include "engine/market/surface_reader.h"
#include "engine/market/wording.h"
#include "engine/models/parameters.h"
#include "engine/reading/scenarios/key_list.h"
#include "tilewalk/bounds.h"

namespace tilewalk::calibrations {

namespace {

using analytics::right;
using config::node;
using markets::rounded;

constexpr std::size_t most_option_quotes = bounds::option_quotes;
constexpr models::range volatilities{1e-4, 5};
constexpr double most_money = bounds::money, most_weight = 1e9;
constexpr double most_log_moneyness = 16;
// The least price, as a fraction of the forward, that determines a volatility.
constexpr double least_worth = 1e-10;

class option_quotes_reader {
  public:
    option_quotes_reader(const node& of, const reading& in)
        : of_(of),
          in_(in),
          asset_(in.market.find_asset(in.of)),
          carry_(in.market.discount_curve(asset_.currency)) {}

    option_quotes read() {
        using written_by = markets::implied_surface::written_by;
        const std::string forms =
            "one of quotes: [{expiry: 2027-01-15, strike: 100, volatility: 0.22}], by_strike or by_moneyness";
        int given = 0;
        for (const std::string& form : option_quote_keys()) given += of_.find(form) != nullptr ? 1 : 0;
        const std::string found = "found " + std::to_string(given) + " forms of quotes, expected " + forms;
        if (given == 0) of_.fail_incomplete(found);
        if (given > 1) of_.fail(found);
        if (const node* list = of_.find("quotes")) {
            read_list(*list);
        } else if (const node* by_strike = of_.find("by_strike")) {
            read_surface(*by_strike, written_by::strike);
        } else {
            read_surface(of_.at("by_moneyness"), written_by::moneyness);
        }
        sort_expiries();
        number_repeated_keys(out_.quotes);
        return std::move(out_);
    }

  private:
    void read_list(const node& list) {
        if (!list.is_sequence()) {
            list.fail("found " + list.found() +
                      ", expected a list of quotes, such as [{expiry: 2027-01-15, strike: 100, volatility: "
                      "0.22}]");
        }
        if (list.items().empty()) list.fail("found no quotes, expected one at least");
        if (list.items().size() > most_option_quotes) {
            list.fail("found " + std::to_string(list.items().size()) + " quotes, expected at most " +
                      std::to_string(most_option_quotes));
        }
        for (const node& item : list.items()) read_quote(item);
    }

    void read_quote(const node& item) {
        if (!item.is_mapping()) {
            item.fail("found " + item.found() +
                      ", expected a quote such as {expiry: 2027-01-15, strike: 100, volatility: 0.22}");
        }
        item.only({"expiry", "strike", "moneyness", "volatility", "price", "option", "weight"});
        const node& when = item.at("expiry");
        const dates::time_point expiry = config::read_time_point(when);
        const double years = expiry.years(in_.market.as_of);
        if (!(years > 0)) {
            when.fail("found the expiry " + when.text() + ", expected one after as_of (" +
                      dates::to_string(in_.market.as_of) + ")");
        }
        const std::size_t at = expiry_number(years, when.text(), when);
        const node* const strike = item.find("strike");
        const node* const moneyness = item.find("moneyness");
        if (!strike == !moneyness) {
            if (strike) item.fail("found both strike and moneyness, expected one of them");
            item.fail_incomplete("found neither strike nor moneyness, expected one of them");
        }
        quoted_option read;
        read.expiry = at;
        const node& level = strike ? *strike : *moneyness;
        const double number = models::read_parameter(level, {0, strike ? most_money : 1000, false, true});
        read.strike = strike ? number : number * out_.expiries[at].forward;
        const node* const volatility = item.find("volatility");
        const node* const price = item.find("price");
        if (!volatility == !price) {
            if (volatility) item.fail("found both volatility and price, expected one of them");
            item.fail_incomplete("found neither volatility nor price, expected one of them");
        }
        const node* const option = item.find("option");
        if (price && !option) item.fail_missing("'option': a price is that of a call or of a put");
        if (option) {
            static constexpr std::array<std::string_view, 2> rights{"call", "put"};
            read.option = models::read_choice(item, "option", rights, 0) == 0 ? right::call : right::put;
        }
        fitted_quote q;
        q.name = when.text() + " " + level.text() + (moneyness ? " of forward" : "") +
                 (price ? read.option == right::call ? " call" : " put" : "");
        q.key = key_of(when.text(), level.text());
        if (price) q.key += read.option == right::call ? ",call" : ",put";
        q.weight = models::read_parameter(item, "weight", {0, most_weight}, 1);
        q.where = item.where();
        if (volatility) {
            q.market = read.volatility = models::read_parameter(*volatility, volatilities);
        } else {
            q.market = price->number();
            read.volatility = implied_of(*price, out_.expiries[at], read);
        }
        add(std::move(read), std::move(q), price != nullptr, level, item.key_path());
    }

    double implied_of(const node& price, const quoted_expiry& at, const quoted_option& q) const {
        const bool is_call = q.option == right::call;
        const double least =
            at.discount * std::max(is_call ? at.forward - q.strike : q.strike - at.forward, 0.0);
        const double most = at.discount * (is_call ? at.forward : q.strike);
        const double worth = price.number();
        if (!(worth > least && worth < most)) {
            price.fail(
                "found the price " + price.text() + ", expected more than " + rounded(least) +
                (least > 0 ? " (exercise on the forward " + rounded(at.forward) + ", discounted)" : "") +
                " and less than " + rounded(most));
        }
        return analytics::implied_volatility(q.option, at.forward, q.strike, at.years, worth / at.discount);
    }

    void read_surface(const node& value, markets::implied_surface::written_by form) {
        const auto forward = [&](double years) { return markets::forward(asset_, carry_, years); };
        const auto surface = markets::read_quoted_surface(value, form, in_.market.as_of, forward);
        const bool by_strike = form == markets::implied_surface::written_by::strike;
        for (const markets::expiry& e : surface.expiries()) {
            const node& smile = value.at(e.written);
            const std::size_t at = expiry_number(e.years, e.written, smile);
            for (const markets::quote& quoted : e.quotes) {
                const node& level = smile.at(quoted.written);
                quoted_option read;
                read.expiry = at;
                read.strike = std::exp(quoted.log_moneyness) * out_.expiries[at].forward;
                read.volatility = quoted.volatility;
                fitted_quote q;
                q.name = e.written + " " + quoted.written + (by_strike ? "" : " of forward");
                q.key = key_of(e.written, quoted.written);
                q.market = quoted.volatility;
                q.where = quoted.where;
                add(std::move(read), std::move(q), false, level, quoted.key_path);
            }
        }
    }

    std::string key_of(const std::string& expiry, const std::string& level) const {
        const auto number = config::plain_number(level);
        return in_.of + ".quote@" + markets::time_name(expiry) + "," +
               (number ? config::shown(*number) : level);
    }

    std::size_t expiry_number(double years, const std::string& written, const node& place) {
        for (std::size_t i = 0; i < out_.expiries.size(); ++i) {
            if (std::abs(out_.expiries[i].years - years) < dates::same_time_years) return i;
        }
        quoted_expiry made;
        made.years = years;
        if (asset_.falls_by_dividends && markets::cash_fall(asset_, carry_, 0, years) > 0) {
            place.fail("found quotes of " + in_.of + " that expire at " + written +
                       ", after a cash dividend under dividend_model: spot, expected dividend_model: "
                       "escrowed, with which alone they can be fitted");
        }
        made.spot = markets::spot_map(asset_, carry_, years);
        made.forward = made.spot.scale + made.spot.shift;
        made.discount = carry_.discount(years);
        made.written = written;
        if (!(made.forward > 0) || !std::isfinite(made.forward) || !(made.discount > 0)) {
            place.fail("the forward of " + in_.of + " at " + written + " is " + rounded(made.forward) +
                       ", expected more than 0");
        }
        out_.expiries.push_back(std::move(made));
        return out_.expiries.size() - 1;
    }

    void add(quoted_option read, fitted_quote q, bool by_price, const node& level,
             const std::string& key_path) {
        const quoted_expiry& at = out_.expiries[read.expiry];
        const auto fail = [&](const std::string& message) {
            throw error(error_kind::input, message, q.where, key_path);
        };
        if (out_.quotes.empty()) out_.by_price = by_price;
        if (out_.by_price != by_price) {
            fail(std::string("found a ") +
                 (by_price ? "price among volatilities" : "volatility among prices") +
                 ", expected all quotes of a fit to be volatilities, or all to be prices");
        }
        if (!(read.strike > at.spot.shift)) {
            level.fail("found the strike " + rounded(read.strike) + ", expected more than " +
                       rounded(at.spot.shift) +
                       ", the value at the expiry of later cash dividends: the spot does not fall below it");
        }
        if (std::abs(std::log(read.strike / at.forward)) > most_log_moneyness) {
            level.fail("found the strike " + rounded(read.strike) + ", which is " +
                       rounded(read.strike / at.forward) + " times the forward " + rounded(at.forward) +
                       ", expected between 1e-6 and 1e6 times");
        }
        const right out_of_money = read.strike >= at.forward ? right::call : right::put;
        const double worth = analytics::black_price(out_of_money, at.forward, read.strike,
                                                    read.volatility * std::sqrt(at.years));
        if (!(worth > least_worth * std::min(at.forward, read.strike))) {
            fail("found a volatility of " + rounded(read.volatility) +
                 ", with which the option out of the money is worth " + rounded(worth) +
                 ", expected at least 1e-10 of the strike or of the forward " + rounded(at.forward) +
                 ": prices are not exact enough to fit less; leave the quote out");
        }
        const auto key =
            std::pair(read.expiry, std::pair(std::lround(1e9 * std::log(read.strike / at.forward)),
                                             by_price && read.option == right::put));
        const auto [first, is_new] = seen_.emplace(key, q.where);
        if (!is_new) {
            fail("found the quote " + q.name + " again, given first at " + to_string(first->second) +
                 "; expected each option once");
        }
        out_.options.push_back(read);
        out_.quotes.push_back(std::move(q));
    }

    void sort_expiries() {
        std::vector<std::size_t> order(out_.expiries.size()), place(order.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::ranges::sort(order, {}, [&](std::size_t i) { return out_.expiries[i].years; });
        std::vector<quoted_expiry> sorted;
        for (std::size_t i = 0; i < order.size(); ++i) {
            place[order[i]] = i;
            sorted.push_back(out_.expiries[order[i]]);
        }
        out_.expiries = std::move(sorted);
        for (quoted_option& q : out_.options) q.expiry = place[q.expiry];
    }

    const node& of_;
    const reading& in_;
    const markets::asset& asset_;
    const markets::curve& carry_;
    option_quotes out_;
    std::map<std::pair<std::size_t, std::pair<long, bool>>, location> seen_;
};

}  // namespace

double option_quotes::log_moneyness(const quoted_option& q) const {
    return std::log(q.strike / expiries[q.expiry].forward);
}

std::vector<std::string> option_quote_keys() {
    return {"quotes", "by_strike", "by_moneyness"};
}

option_quotes read_option_quotes(const node& of, const reading& in) {
    return option_quotes_reader(of, in).read();
}

}  // namespace tilewalk::calibrations
