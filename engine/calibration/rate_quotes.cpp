// SPDX-License-Identifier: Apache-2.0
#include "engine/calibration/rate_quotes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <tuple>
#include <utility>

#include "engine/base/numbers.h"
#include "engine/base/text/time_reader.h"
#include "engine/base/wording.h"
#include "engine/calibration/parameters.h"
#include "engine/market/wording.h"
#include "engine/models/parameters.h"
#include "engine/reading/scenarios/key_list.h"
#include "tilewalk/bounds.h"

namespace tilewalk::calibrations {

namespace {

using analytics::right;
using config::node;
using markets::rounded;

constexpr std::size_t most_rate_quotes = bounds::rate_quotes, most_payments = 1'200;
constexpr double most_years = 100, most_rate_weight = 1e9;
constexpr models::range normal_volatilities{1e-7, 1}, black_volatilities{1e-4, 5}, strikes{-1, 1};
constexpr double whole = 1e-9;

// Bachelier's price of an out-of-the-money option on one unit of a rate. `distance` is that between forward
// and strike, `s` the standard deviation.
double normal_out_of_money(double distance, double s) {
    if (!(s > 0)) return 0;
    const double d = distance / s;
    const double density = std::exp(-0.5 * d * d) * (0.5 * std::numbers::inv_sqrtpi * std::numbers::sqrt2);
    return s * (density - d * 0.5 * std::erfc(d / std::numbers::sqrt2));
}

// The price less the intrinsic value at the forwards.
double time_value(rate_unit type, const quoted_rate_option& q, double volatility) {
    double sum = 0;
    for (const optionlet& o : q.lets) {
        const double deviation = volatility * std::sqrt(o.years);
        sum += o.worth * (type == rate_unit::normal
                              ? normal_out_of_money(std::abs(o.forward - q.strike), deviation)
                              : analytics::black_price(q.strike >= o.forward ? right::call : right::put,
                                                       o.forward, q.strike, deviation));
    }
    return sum;
}

double exercised(const quoted_rate_option& q) {
    double sum = 0;
    for (const optionlet& o : q.lets) {
        const double gain = q.option == right::call ? o.forward - q.strike : q.strike - o.forward;
        sum += o.worth * std::max(gain, 0.0);
    }
    return sum;
}

double most_black(const quoted_rate_option& q) {
    double sum = 0;
    for (const optionlet& o : q.lets) sum += o.worth * (q.option == right::call ? o.forward : q.strike);
    return sum;
}

class rate_quotes_reader {
  public:
    rate_quotes_reader(const node& of, const reading& in)
        : of_(of), in_(in), curve_(in.market.discount_curve(in.of)) {}

    rate_quotes read() {
        const node* const swaptions = of_.find("swaptions");
        const node* const caps = of_.find("caps");
        if (!swaptions && !caps) {
            of_.fail_incomplete(
                "found neither swaptions nor caps, expected one of them at least, such as swaptions: "
                "[{expiry: 1, tenor: 5, volatility: 0.0065, type: normal}]");
        }
        if (swaptions) read_list(*swaptions, true);
        if (caps) read_list(*caps, false);
        number_repeated_keys(out_.quotes);
        return std::move(out_);
    }

  private:
    void read_list(const node& list, bool is_swaption) {
        const std::string such = is_swaption
                                     ? "{expiry: 1, tenor: 5, volatility: 0.0065, type: normal}"
                                     : "{maturity: 5, strike: 0.03, volatility: 0.0065, type: normal}";
        if (!list.is_sequence())
            list.fail("found " + list.found() + ", expected a list, such as [" + such + "]");
        if (list.items().empty()) list.fail("found no quotes, expected one at least");
        if (list.items().size() > most_rate_quotes) {
            list.fail("found " + std::to_string(list.items().size()) + " quotes, expected at most " +
                      std::to_string(most_rate_quotes));
        }
        for (const node& item : list.items()) {
            if (!item.is_mapping()) item.fail("found " + item.found() + ", expected a quote such as " + such);
            read_quote(item, is_swaption);
        }
    }

    double years_of(const node& value, const char* what) const {
        const double years = config::read_time_point(value).years(in_.market.as_of);
        if (!(years > 0)) {
            value.fail(std::string("found the ") + what + " " + value.text() +
                       ", expected one after as_of (" + dates::to_string(in_.market.as_of) + ")");
        }
        if (years > most_years) {
            value.fail(std::string("found the ") + what + " " + value.text() + ", expected one within " +
                       rounded(most_years) + " years");
        }
        return years;
    }

    std::size_t count_of(const node& value, double length, double per_year) const {
        const double periods = length * per_year, count = std::round(periods);
        if (!(count >= 1 && count <= most_payments) || std::abs(periods - count) > whole * count) {
            value.fail("found " + rounded(periods) + " periods between start and end with " +
                       rounded(per_year) + " a year, expected a whole number from 1 to " +
                       std::to_string(most_payments));
        }
        return static_cast<std::size_t>(count);
    }

    void read_quote(const node& item, bool is_swaption) {
        if (is_swaption) {
            item.only({"expiry", "tenor", "payments_per_year", "strike", "volatility", "type", "price",
                       "option", "weight"});
        } else {
            item.only({"start", "maturity", "payments_per_year", "strike", "volatility", "type", "price",
                       "option", "weight"});
        }
        quoted_rate_option q;
        q.is_swaption = is_swaption;
        const double per_year =
            models::read_parameter(item, "payments_per_year", {1, 12}, is_swaption ? 1 : 4);
        const std::string name = is_swaption ? take_swaption(item, per_year, q) : take_cap(item, per_year, q);

        const node* const strike = item.find("strike");
        q.strike = strike ? models::read_parameter(*strike, strikes) : at_the_money(q);

        static constexpr std::array<std::string_view, 2> swaption_rights{"payer", "receiver"},
            cap_rights{"cap", "floor"};
        const bool is_call =
            models::read_choice(item, "option", is_swaption ? swaption_rights : cap_rights, 0) == 0;
        q.option = is_call ? right::call : right::put;

        fitted_quote quote;
        quote.name = name + (strike ? " at " + strike->text() : "") +
                     (is_call       ? ""
                      : is_swaption ? " receiver"
                                    : " floor");
        const node* const begin = item.find(is_swaption ? "expiry" : "start");
        quote.key = in_.of + ".quote@" + (begin ? markets::time_name(begin->text()) + "," : "") +
                    markets::time_name(item.at(is_swaption ? "tenor" : "maturity").text()) +
                    (strike ? "," + config::shown(q.strike) : "") + "," +
                    std::string((is_swaption ? swaption_rights : cap_rights)[is_call ? 0 : 1]);
        quote.weight = models::read_parameter(item, "weight", {0, most_rate_weight}, 1);
        quote.where = item.where();
        take_value(item, q, quote);

        const auto key = std::tuple(is_swaption, q.lets.front().years, q.lets.size(),
                                    is_swaption ? q.swap.payments.back() : q.periods.back().end, per_year,
                                    q.strike, is_call);
        const auto [first, is_new] = seen_.emplace(key, quote.where);
        if (!is_new) {
            item.fail("found the quote " + quote.name + " again, given first at " + to_string(first->second) +
                      "; expected each option once");
        }
        out_.options.push_back(std::move(q));
        out_.quotes.push_back(std::move(quote));
    }

    std::string take_swaption(const node& item, double per_year, quoted_rate_option& q) const {
        const node& expiry = item.at("expiry");
        q.expiry = q.swap.start = years_of(expiry, "expiry");
        const node& tenor = item.at("tenor");
        const double length = models::read_parameter(tenor, {0, most_years, false, true});
        const std::size_t payments = count_of(tenor, length, per_year);
        for (std::size_t i = 1; i <= payments; ++i) {
            q.swap.payments.push_back(q.expiry + static_cast<double>(i) / per_year);
            q.swap.accruals.push_back(1 / per_year);
        }
        q.lets = {{q.expiry, rates::swap_rate(curve_, q.swap), rates::annuity(curve_, q.swap)}};
        return "swaption " + expiry.text() + " x " + tenor.text();
    }

    std::string take_cap(const node& item, double per_year, quoted_rate_option& q) const {
        const node& maturity = item.at("maturity");
        const double end = years_of(maturity, "maturity");
        const node* const first = item.find("start");
        const double start = first ? years_of(*first, "start") : 1 / per_year;
        if (!(start < end)) {
            maturity.fail("found the maturity " + maturity.text() + ", expected one after the start at " +
                          rounded(start) + " years" + (first ? "" : ", which is one period"));
        }
        const std::size_t periods = count_of(maturity, end - start, per_year);
        for (std::size_t i = 0; i < periods; ++i) {
            const rates::period p{start + static_cast<double>(i) / per_year,
                                  start + static_cast<double>(i + 1) / per_year, 1 / per_year};
            q.periods.push_back(p);
            const double from = curve_.discount(p.start), to = curve_.discount(p.end);
            q.lets.push_back({p.start, (from / to - 1) / p.accrual, p.accrual * to});
        }
        return "cap " + (first ? first->text() + " .. " : std::string()) + maturity.text();
    }

    static double at_the_money(const quoted_rate_option& q) {
        double rates = 0, worth = 0;
        for (const optionlet& o : q.lets) {
            rates += o.worth * o.forward;
            worth += o.worth;
        }
        return rates / worth;
    }

    void take_value(const node& item, const quoted_rate_option& q, fitted_quote& quote) {
        const node* const volatility = item.find("volatility");
        const node* const price = item.find("price");
        if (!volatility == !price) {
            if (volatility) item.fail("found both volatility and price, expected one of them");
            item.fail_incomplete("found neither volatility nor price, expected one of them");
        }
        rate_unit unit = rate_unit::price;
        if (volatility) {
            if (item.find("type") == nullptr) {
                item.fail_missing("'type': a volatility of rates is normal or black");
            }
            static constexpr std::array<std::string_view, 2> types{"normal", "black"};
            unit = models::read_choice(item, "type", types, 0) == 0 ? rate_unit::normal : rate_unit::black;
            quote.market = models::read_parameter(
                *volatility, unit == rate_unit::normal ? normal_volatilities : black_volatilities);
            for (const optionlet& o : q.lets) {
                if (unit == rate_unit::normal || (o.forward > 0 && q.strike > 0)) continue;
                item.fail("found a Black volatility where the forward rate is " + rounded(o.forward) +
                          " and the strike " + rounded(q.strike) +
                          ", expected both above 0, or type: normal");
            }
        } else {
            if (const node* type = item.find("type")) {
                type->fail("found a type beside a price, expected it beside a volatility");
            }
            quote.market = price->number();
            const double least = exercised(q);
            if (!(quote.market > least && quote.market < 1)) {
                price->fail("found the price " + price->text() + ", expected more than " + rounded(least) +
                            " (the value of exercise on the forward rates) and less than 1, as prices are "
                            "for a notional of 1");
            }
        }
        if (out_.quotes.empty()) out_.unit = unit;
        if (out_.unit != unit) {
            item.fail(
                "found a quote in another unit than the first quote, expected all to be normal "
                "volatilities, all Black volatilities, or all prices");
        }
    }

    const node& of_;
    const reading& in_;
    const markets::curve& curve_;
    rate_quotes out_;
    std::map<std::tuple<bool, double, std::size_t, double, double, double, bool>, location> seen_;
};

}  // namespace

std::vector<std::string> rate_quote_keys() {
    return {"swaptions", "caps"};
}

rate_quotes read_rate_quotes(const config::node& of, const reading& in) {
    return rate_quotes_reader(of, in).read();
}

double price_by(rate_unit type, const quoted_rate_option& q, double volatility) {
    return exercised(q) + time_value(type, q, volatility);
}

double volatility_of(rate_unit type, const quoted_rate_option& q, double price) {
    // A Gaussian rate can make an option worth more than any Black volatility does; such a price is cut.
    const double most = type == rate_unit::black ? (1 - 1e-12) * most_black(q) : price;
    const double wanted = std::min(price, most) - exercised(q);
    if (!(wanted > 0)) return 0;
    // Newton in log price and log volatility; bisection if a step leaves the bracket.
    double low = 1e-12, high = 1;
    while (time_value(type, q, high) < wanted && high < 1e6) high *= 4;
    double volatility = type == rate_unit::normal ? 0.01 : 0.2;
    for (int step = 0; step < 200; ++step) {
        const double is = time_value(type, q, volatility);
        if (is == wanted) return volatility;
        (is < wanted ? low : high) = volatility;
        const double h = 1e-5 * volatility;
        const double slope =
            is > 0
                ? volatility * (time_value(type, q, volatility + h) - time_value(type, q, volatility - h)) /
                      (2 * h * is)
                : 0;
        double next = slope > 0 ? volatility * std::exp(std::log(wanted / is) / slope) : 0;
        if (!(next > low && next < high)) next = std::sqrt(low * high);
        if (std::abs(next - volatility) <= 1e-15 * volatility) return next;
        volatility = next;
    }
    return volatility;
}

}  // namespace tilewalk::calibrations
