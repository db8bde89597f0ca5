// SPDX-License-Identifier: Apache-2.0
#include "engine/reading/scenarios/key_list.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/numbers.h"
#include "engine/base/text/time_reader.h"
#include "engine/base/wording.h"
#include "engine/market/scenarios.h"
#include "engine/models/parameters.h"
#include "kernels/exponential.h"

namespace tilewalk::markets {
namespace {

using config::node;
using section = market_part::section;

bool is_time(const std::string& key) {
    return dates::parse_date(key) || config::plain_number(key);
}

bool is_number(const node& value) {
    return value.is_scalar() && !value.is_quoted() && config::plain_number(value.text()).has_value();
}

complaint check_spot(double number, std::string_view written) {
    return check_positive(number, "spot", written);
}
complaint check_exchange_rate(double number, std::string_view written) {
    return check_positive(number, "rate", written);
}
complaint check_fixing(double number, std::string_view written) {
    return check_positive(number, "fixing", written);
}

// Lists the numbers of all parts with their keys. `place_` is the path of indexes from the part to a value.
class lister {
  public:
    lister(const node& root, dates::date as_of) : root_(root), as_of_(as_of) {}

    std::vector<keyed_number> list() {
        each("currencies", section::currencies, [&](const node::member& of) {
            curve(of.value, of.key + ".rate");
            model(of);
        });
        each("assets", section::assets, [&](const node::member& of) { asset(of); });
        each("fx", section::fx, [&](const node::member& of) {
            const std::string unit = of.key.substr(3) + " for one " + of.key.substr(0, 3);
            child(of.value, "rate",
                  [&](const node& rate) { add(of.key + ".rate", unit, check_exchange_rate, rate); });
            child(of.value, "volatility", [&](const node& vol) { volatility(vol, of.key + ".volatility"); });
        });
        if (const node* given = root_.find("correlations")) correlations(*given);
        each("fixings", section::fixings, [&](const node::member& of) {
            members(of.value, [&](const node::member& m) {
                add(of.key + ".fixing@" + m.key, unit_of_fixing(of.key), check_fixing, m.value);
            });
        });
        return std::move(out_);
    }

  private:
    template <class See>
    void each(std::string_view key, section in, See see) {
        const node* const all = root_.find(key);
        if (all == nullptr) return;
        for (const node::member& m : all->members()) {
            part_ = {in, m.key};
            see(m);
        }
    }
    template <class See>
    void members(const node& of, See see) {
        place_.push_back(0);
        for (const node::member& m : of.members()) {
            see(m);
            ++place_.back();
        }
        place_.pop_back();
    }
    template <class See>
    void items(const node& of, See see) {
        place_.push_back(0);
        for (const node& item : of.items()) {
            see(item);
            ++place_.back();
        }
        place_.pop_back();
    }
    template <class See>
    void child(const node& of, std::string_view key, See see) {
        members(of, [&](const node::member& m) {
            if (m.key == key) see(m.value);
        });
    }

    keyed_number& add(std::string key, std::string unit, range_check in_range, const node& number) {
        return out_.emplace_back(keyed_number{.key = std::move(key),
                                              .unit = std::move(unit),
                                              .value = number.number(),
                                              .of = part_,
                                              .place = place_,
                                              .in_range = in_range});
    }

    void curve(const node& value, const std::string& key) {
        const std::string unit = "rate a year";
        if (value.is_scalar()) {
            add(key, unit, check_rate, value);
            return;
        }
        child(value, "rate", [&](const node& rate) { add(key, unit, check_rate, rate); });
        child(value, "zero_rates", [&](const node& rates) {
            members(rates, [&](const node::member& m) {
                add(key + "@" + time_name(m.key), unit, check_rate, m.value);
            });
        });
        child(value, "discount_factors", [&](const node& factors) {
            members(factors, [&](const node::member& m) {
                keyed_number& made = add(key + "@" + time_name(m.key), unit, check_rate, m.value);
                made.factor_years = config::read_time_point(m).years(as_of_);
                made.value = -kernels::log(made.value) / made.factor_years;
            });
        });
    }

    void asset(const node::member& of) {
        const std::string currency = of.value.at("currency").text();
        child(of.value, "spot", [&](const node& spot) { add(of.key + ".spot", currency, check_spot, spot); });
        child(of.value, "dividend_yield",
              [&](const node& yield) { curve(yield, of.key + ".dividend_yield"); });
        child(of.value, "dividends", [&](const node& all) { dividends(all, of.key, currency); });
        child(of.value, "volatility", [&](const node& vol) { volatility(vol, of.key + ".volatility"); });
        model(of);
    }

    // The second dividend of a day has a key such as "@2026-06-01#2", the first one "@2026-06-01".
    void dividends(const node& all, const std::string& of, const std::string& currency) {
        std::map<std::string, int> of_day;
        items(all, [&](const node& item) {
            const std::string& day = item.at("date").text();
            const int number = ++of_day[day];
            const std::string key =
                of + ".dividend@" + time_name(day) + (number > 1 ? "#" + std::to_string(number) : "");
            if (!(config::read_time_point(item.at("date")).years(as_of_) > 0)) return;
            child(item, "amount", [&](const node& amount) { add(key, currency, check_dividend, amount); });
            child(item, "proportion",
                  [&](const node& part) { add(key, "share of the spot", check_dividend_proportion, part); });
        });
    }

    void volatility(const node& value, const std::string& key) {
        if (value.is_scalar()) {
            add(key, "volatility", check_volatility, value);
        } else if (is_scenario_volatility(value)) {
            scenarios(value, key);
        } else {
            members(value, [&](const node::member& m) {
                add(key + "@" + time_name(m.key), "volatility", check_volatility, m.value);
            });
        }
    }

    // Volatilities by path have no keys. A row of them has a key for its shift.
    void scenarios(const node& value, const std::string& key) {
        const node* const added = value.find("shift");
        items(value.at("times"), [&](const node& time) {
            keyed_number made{key + "@" + time_name(time.text()), "volatility", 0, part_, {place_.back()}};
            if (added != nullptr) made.value = added->items()[made.place.front()].number();
            made.is_added = true;
            out_.push_back(std::move(made));
        });
    }

    void surface(const node& value, const std::string& key) {
        for (const char* const quoted : {"by_strike", "by_moneyness", "svi"}) {
            child(value, quoted, [&](const node& expiries) {
                members(expiries, [&](const node::member& expiry) {
                    members(expiry.value, [&](const node::member& m) {
                        const auto strike = config::plain_number(m.key);
                        add(key + "@" + time_name(expiry.key) + "," +
                                (strike ? config::shown(*strike) : m.key),
                            strike ? "volatility" : "parameter of SVI",
                            strike ? check_quoted_volatility : nullptr, m.value);
                    });
                });
            });
        }
        child(value, "local", [&](const node& grid) {
            const auto &times = grid.at("times").items(), &spots = grid.at("spots").items();
            child(grid, "volatilities", [&](const node& rows) {
                items(rows, [&](const node& row) {
                    const std::string time = time_name(times[place_.back()].text());
                    items(row, [&](const node& level) {
                        add(key + "@" + time + "," + config::shown(spots[place_.back()].number()),
                            "volatility", check_volatility, level);
                    });
                });
            });
        });
    }

    void model(const node::member& of) {
        child(of.value, "model", [&](const node& moves) {
            if (!moves.is_mapping()) return;
            members(moves, [&](const node::member& m) {
                if (m.value.is_mapping()) parameters(m.value, of.key, of.key + "." + m.key, m.key);
            });
        });
    }

    // The numbers of a model. A key is the parameter's name, with "@" and a time or index if it has several.
    void parameters(const node& value, const std::string& of, const std::string& key,
                    const std::string& model) {
        members(value, [&](const node::member& m) {
            if (m.key == "surface") {
                surface(m.value, of + ".volatility");
            } else if (models::says_how(m.key)) {
                return;
            } else if (m.value.is_mapping() && !is_time(m.value.members().front().key)) {
                parameters(m.value, of, key + "." + m.key, model);
            } else {
                at_coordinates(m.value, key + "." + m.key, '@', model);
            }
        });
    }
    void at_coordinates(const node& value, const std::string& key, char before, const std::string& model) {
        if (is_number(value)) {
            add(key, "parameter of " + model, nullptr, value);
        } else if (value.is_sequence()) {
            items(value, [&](const node& item) {
                at_coordinates(item, key + before + std::to_string(place_.back() + 1), ',', model);
            });
        } else if (value.is_mapping()) {
            members(value, [&](const node::member& m) {
                at_coordinates(m.value, key + before + time_name(m.key), ',', model);
            });
        }
    }

    void correlations(const node& given) {
        part_ = {section::correlations, ""};
        const auto pairs = [&](const node& all) {
            items(all, [&](const node& item) {
                place_.push_back(2);
                add(item.items()[0].text() + "|" + item.items()[1].text() + ".correlation", "correlation",
                    check_correlation, item.items()[2]);
                place_.pop_back();
            });
        };
        if (given.is_sequence())
            pairs(given);
        else
            child(given, "pairs", pairs);
    }

    std::string unit_of_fixing(const std::string& of) const {
        const node* const assets = root_.find("assets");
        const node* const found = assets != nullptr ? assets->find(of) : nullptr;
        return found != nullptr ? found->at("currency").text() : of.substr(3) + " for one " + of.substr(0, 3);
    }

    const node& root_;
    dates::date as_of_;
    market_part part_;
    std::vector<std::size_t> place_;
    std::vector<keyed_number> out_;
};

}  // namespace

std::string time_name(const std::string& written) {
    if (dates::parse_date(written)) return written;
    const auto years = config::plain_number(written);
    return years ? config::shown(*years) + "y" : written;
}

std::vector<keyed_number> list_keys(const node& root, dates::date as_of) {
    return lister(root, as_of).list();
}

}  // namespace tilewalk::markets
