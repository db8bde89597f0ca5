// SPDX-License-Identifier: Apache-2.0
// Reads a file as a book, a market, a product or a calendar and judges it: reports what is wrong with the
// refusal, with values that a second, independent reader reads differently, or with the prices.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "engine/market/market_state.h"
#include "engine/reading/simm_reader.h"
#include "engine/reading/written_market.h"
#include "tests/corpus.h"
#include "tests/independent_reader.h"
#include "tests/own_folder.h"
#include "tests/texts.h"

namespace tilewalk::corpus {

using independent::business_calendars;
using independent::moment;
using independent::tree;

inline const std::string configs = std::string(TILEWALK_SOURCE_DIR) + "/configs/";

enum class form { book, market, product, calendar };

struct base_file {
    form is = form::book;
    std::string name, text;
    std::string trade;  // trade to price: a product's example; a market's book, unless it is the demo's
};

inline std::string bits(double value) {
    std::ostringstream out;
    out.precision(17);
    out << value;
    return out.str();
}
inline bool same(double a, double b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
}

inline bool means_the_same(const tree& a, const tree& b) {
    if (a.kind != b.kind || a.items.size() != b.items.size() || a.members.size() != b.members.size())
        return false;
    if (a.kind == tree::shape::text) {
        const auto x = a.number(), y = b.number();
        if (x && y) return same(*x, *y);
        // Quotes change the meaning only of a number, a day or a truth value, which they turn into text.
        const bool says_more =
            independent::number(a.text) || independent::day(a.text) || a.text == "true" || a.text == "false";
        return a.text == b.text && (a.is_quoted == b.is_quoted || !says_more);
    }
    for (std::size_t i = 0; i < a.items.size(); ++i) {
        if (!means_the_same(a.items[i], b.items[i])) return false;
    }
    for (const auto& [key, value] : a.members) {
        const auto number = independent::number(key);
        const auto other = std::find_if(b.members.begin(), b.members.end(), [&](const auto& m) {
            return m.first == key || (number && independent::number(m.first) == number);
        });
        if (other == b.members.end() || !means_the_same(value, other->second)) return false;
    }
    return true;
}

class judge {
  public:
    std::string said;  // first complaint; empty if nothing is wrong

    void book(const tree& root, const books::book_state& read, const business_calendars& files) {
        const tree* trades = root.find("trades");
        if (!trades || trades->items.size() != read.trades.size()) {
            complain("trades", std::to_string(read.trades.size()) + " trades were read");
            return;
        }
        for (std::size_t i = 0; i < read.trades.size(); ++i) {
            if (!read.trades[i].failure) trade(trades->items[i], read.trades[i], files);
        }
        if (const tree* settings = root.find("settings")) {
            const tree *paths = settings->find("paths"), *seed = settings->find("seed");
            if (paths) whole("settings.paths", *paths, read.settings.paths);
            if (seed) whole("settings.seed", *seed, read.settings.seed);
        }
        const tree* inside = root.find("market");
        if (inside && inside->kind == tree::shape::mapping) {
            if (!read.market) return complain("market", "none was read");
            market(*inside, state_of(*read.market));
        }
    }

    void market(const tree& root, const markets::market_state& read) {
        const auto as_of = time_of("as_of", root.find("as_of"));
        if (!as_of || !as_of->is_day || as_of->serial != read.as_of.serial)
            return complain("as_of", to_string(read.as_of));
        if (const tree* all = root.find("currencies")) {
            if (all->members.size() != read.currencies.size())
                complain("currencies", "another number of them");
            for (const auto& [name, said_of] : all->members) {
                const auto at = read.currencies.find(name);
                if (at == read.currencies.end())
                    complain("currencies." + name, "was lost");
                else
                    curve("currencies." + name, said_of, at->second, as_of->serial);
            }
        }
        if (const tree* all = root.find("assets")) {
            if (all->members.size() != read.assets.size()) complain("assets", "another number of them");
            for (const auto& [name, said_of] : all->members) {
                const auto at = read.assets.find(name);
                if (at == read.assets.end())
                    complain("assets." + name, "was lost");
                else
                    asset("assets." + name, said_of, at->second, as_of->serial);
            }
        }
        if (const tree* all = root.find("fx")) {
            if (all->members.size() != read.fx.size()) return complain("fx", "another number of pairs");
            for (std::size_t i = 0; i < read.fx.size(); ++i) {
                const auto& [pair, said_of] = all->members[i];
                if (read.fx[i].base + read.fx[i].quote != pair) complain("fx." + pair, "became another pair");
                number("fx." + pair + ".rate", said_of.find("rate"), read.fx[i].rate);
                volatility("fx." + pair, said_of.find("volatility"), read.fx[i].vol, as_of->serial);
            }
        }
        if (const tree* all = root.find("correlations")) {
            if (all->items.size() != read.correlations.size())
                complain("correlations", "another number of them");
            for (const tree& item : all->items) {
                if (item.items.size() != 3) return complain("correlations", "an entry that is no triple");
                std::string a = item.items[0].text, b = item.items[1].text;
                if (b < a) std::swap(a, b);
                const auto at = read.correlations.find({a, b});
                if (at == read.correlations.end())
                    complain("correlations." + a + "|" + b, "was lost");
                else
                    number("correlations." + a + "|" + b, &item.items[2], at->second);
            }
        }
        if (const tree* all = root.find("fixings")) {
            for (const auto& [name, series] : all->members) {
                const auto at = read.fixings.find(name);
                if (at == read.fixings.end() || at->second.size() != series.members.size()) {
                    complain("fixings." + name, "another number of them");
                    continue;
                }
                for (const auto& [text, value] : series.members) {
                    const auto serial = independent::day(text);
                    const auto found = serial ? at->second.find(dates::date{*serial}) : at->second.end();
                    if (found == at->second.end())
                        complain("fixings." + name + "." + text, "was lost");
                    else
                        number("fixings." + name + "." + text, &value, found->second);
                }
            }
        }
        if (const tree* all = root.find("simm")) {
            const auto simm = markets::read_simm(read.source->root(), read);
            if (!simm || simm->names.size() + 1 != all->members.size())
                return complain("simm", "another number of names");
            for (const auto& [name, said_of] : all->members) {
                if (name == "currency") {
                    if (said_of.text != simm->currency) complain("simm.currency", "another one");
                    continue;
                }
                const auto at = simm->names.find(name);
                if (at == simm->names.end() || said_of.find("qualifier")->text != at->second.qualifier ||
                    said_of.find("bucket")->text != at->second.bucket)
                    complain("simm." + name, "another qualifier or bucket");
            }
        }
    }

    void product(const tree& root, const language::product& read) {
        const tree* parameters = root.find("parameters");
        const tree* script = root.find("script");
        if (!parameters || parameters->members.size() != read.parameters.size())
            return complain("parameters", "another number of them");
        const auto bare = [](std::string lines) {
            while (lines.ends_with('\n')) lines.pop_back();
            return lines;
        };
        if (!script || bare(script->text) != bare(read.payoff.source()))
            complain("script", "another text:\n" + read.payoff.source());
        // A product keeps its example as a trade in YAML on one line.
        const tree* example = root.find("example");
        tree kept = independent::yaml("trade: " + read.example + "\n").members.at(0).second;
        kept.members.erase(kept.members.begin(), kept.members.begin() + 2);  // drops id and product
        if (!example || !means_the_same(*example, kept)) complain("example", "became " + read.example);
        for (std::size_t i = 0; i < read.parameters.size(); ++i) {
            const auto& [name, said_of] = parameters->members[i];
            const language::parameter& p = read.parameters[i];
            if (p.name != name) complain(name, "became " + p.name);
            const std::pair<const char*, const std::optional<double>*> bounds[] = {
                {"minimum", &p.minimum}, {"maximum", &p.maximum}, {"above", &p.above}, {"below", &p.below}};
            for (const auto& [key, bound] : bounds) {
                const tree* given = said_of.find(key);
                if ((given != nullptr) != bound->has_value()) {
                    complain(name + "." + key, "was lost or made up");
                } else if (given) {
                    number(name + "." + key, given, **bound);
                }
            }
            const tree* fallback = said_of.find("default");
            if (fallback && p.fallback && p.same_as.empty()) {
                if (const auto* value = std::get_if<double>(&*p.fallback))
                    number(name + ".default", fallback, *value);
                if (const auto* when = std::get_if<dates::time_point>(&*p.fallback))
                    time(name + ".default", fallback, *when);
            }
        }
    }

    void trade(const tree& row, const books::trade& read, const business_calendars& files) {
        for (const auto& [key, value] : row.members) {
            const std::string at = read.id + "." + key;
            if (key == "id") {
                text(at, value, read.id);
            } else if (key == "product") {
                text(at, value, read.product_name);
            } else if (key == "currency" && read.args.find("currency") == read.args.end()) {
                text(at, value, read.currency);
            } else if (key == "quantity") {
                number(at, &value, read.quantity);
            } else if (key == "report") {
                const tree* price = value.find("price");
                if (price && read.report) number(at + ".price", price, read.report->price);
            } else {
                const auto found = read.args.find(key);
                if (found == read.args.end())
                    complain(at, "was lost");
                else
                    argument(at, value, found->second, files);
            }
        }
    }

  private:
    void complain(const std::string& at, const std::string& what) {
        if (said.empty()) said = at + ": " + what;
    }
    void text(const std::string& at, const tree& value, const std::string& read) {
        if (value.kind != tree::shape::text || value.text != read)
            complain(at, "read '" + read + "', the file says '" + value.text + "'");
    }
    void number(const std::string& at, const tree* value, double read) {
        if (!value) return complain(at, "read " + bits(read) + ", the file says nothing");
        const auto meant = value->number();
        if (!meant) return complain(at, "read " + bits(read) + ", but '" + value->text + "' is no number");
        if (!same(*meant, read)) complain(at, "read " + bits(read) + " for '" + value->text + "'");
    }
    // Complains unless both numbers are equal up to rounding, relative to 1 or to `meant` if that is larger.
    void near(const std::string& at, double meant, double read) {
        if (!(std::abs(meant - read) <= 1e-13 * std::max(1.0, std::abs(meant))))
            complain(at, "read " + bits(read) + ", the file means " + bits(meant));
    }
    // Complains unless a whole-number setting was read right; in the file it may end in k or M.
    void whole(const std::string& at, const tree& value, const std::optional<std::uint64_t>& read) {
        std::string digits = value.text;
        double unit = 1;
        if (digits.ends_with('k') || digits.ends_with('M')) {
            unit = digits.back() == 'k' ? 1e3 : 1e6;
            digits.pop_back();
        }
        const auto meant = value.is_quoted ? std::nullopt : independent::number(digits);
        if (!meant || !read || *meant < 0 || *meant >= 0x1p63 ||
            static_cast<std::uint64_t>(*meant * unit) != *read)
            complain(at, "read " + (read ? std::to_string(*read) : "nothing") + " for '" + value.text + "'");
    }
    std::optional<moment> time_of(const std::string& at, const tree* value) {
        const auto meant = value ? independent::moment_of(*value) : std::nullopt;
        if (!meant) complain(at, "was read, but '" + (value ? value->text : "") + "' is no time");
        return meant;
    }
    bool equal(const moment& meant, const dates::time_point& read) {
        if (const auto* on = std::get_if<dates::date>(&read.when))
            return meant.is_day && on->serial == meant.serial;
        return !meant.is_day && same(std::get<double>(read.when), meant.years);
    }
    void time(const std::string& at, const tree* value, const dates::time_point& read) {
        const auto meant = time_of(at, value);
        if (meant && !equal(*meant, read))
            complain(at, "read " + to_string(read) + " for '" + value->text + "'");
    }
    void argument(const std::string& at, const tree& value, const language::argument& read,
                  const business_calendars& files) {
        if (const auto* one = std::get_if<double>(&read)) return number(at, &value, *one);
        if (const auto* one = std::get_if<bool>(&read)) return text(at, value, *one ? "true" : "false");
        if (const auto* one = std::get_if<std::string>(&read)) return text(at, value, *one);
        if (const auto* one = std::get_if<dates::time_point>(&read)) {
            if (value.kind != tree::shape::mapping) return time(at, &value, *one);
            const tree *day = value.find("date"), *calendar = value.find("calendar"),
                       *roll = value.find("roll");
            const auto meant = time_of(at, day);
            if (!meant || !calendar || !roll || !files.contains(calendar->text)) return;
            const int serial = independent::rolled(meant->serial, files.at(calendar->text), roll->text);
            if (!equal({true, serial, 0}, *one)) complain(at, "rolled to " + to_string(*one));
            return;
        }
        if (const auto* made = std::get_if<dates::schedule>(&read)) return schedule(at, value, *made, files);
        const auto each = [&](std::size_t many, auto&& check) {
            if (value.kind == tree::shape::list && value.items.size() != many)
                return complain(at, "became a list of " + std::to_string(many));
            for (std::size_t i = 0; i < many; ++i)
                check(at + "[" + std::to_string(i) + "]",
                      value.kind == tree::shape::list ? value.items[i] : value, i);
        };
        if (const auto* names = std::get_if<std::vector<std::string>>(&read)) {
            each(names->size(), [&](const std::string& where, const tree& v, std::size_t i) {
                text(where, v, (*names)[i]);
            });
        } else if (const auto* numbers = std::get_if<std::vector<double>>(&read)) {
            each(numbers->size(), [&](const std::string& where, const tree& v, std::size_t i) {
                number(where, &v, (*numbers)[i]);
            });
        } else if (const auto* times = std::get_if<std::vector<dates::time_point>>(&read)) {
            each(times->size(), [&](const std::string& where, const tree& v, std::size_t i) {
                if (v.kind == tree::shape::text) time(where, &v, (*times)[i]);
            });
        }
    }
    void schedule(const std::string& at, const tree& value, const dates::schedule& read,
                  const business_calendars& files) {
        std::optional<std::vector<moment>> meant;
        if (value.kind == tree::shape::mapping) {
            meant = independent::schedule_of(value, files);
        } else {
            meant.emplace();
            for (const tree& item : value.items) {
                const auto one = independent::moment_of(item);
                if (one)
                    meant->push_back(*one);
                else
                    meant.reset();
                if (!meant) break;
            }
        }
        if (!meant) return complain(at, "was read, but is no schedule");
        if (meant->size() != read.times.size()) {
            return complain(at, "has " + std::to_string(read.times.size()) + " times, the file means " +
                                    std::to_string(meant->size()));
        }
        for (std::size_t i = 0; i < read.times.size(); ++i) {
            if (!equal((*meant)[i], read.times[i]))
                return complain(at + "[" + std::to_string(i) + "]", "is " + to_string(read.times[i]));
        }
    }

    // The keys (years from as_of) and numbers of a mapping by term, as the second reader understands them.
    std::optional<std::vector<std::pair<double, double>>> pillars(const std::string& at, const tree& value,
                                                                  int as_of) {
        std::vector<std::pair<double, double>> made;
        for (const auto& [key, given] : value.members) {
            const auto when = independent::moment_of(key);
            const auto meant = given.number();
            if (!when || !meant) {
                complain(at + "." + key, "was read, but is no pillar");
                return std::nullopt;
            }
            made.emplace_back(when->is_day ? (when->serial - as_of) / 365.0 : when->years, *meant);
        }
        return made;
    }
    void times(const std::string& at, const std::vector<std::pair<double, double>>& meant,
               const std::vector<double>& read) {
        for (std::size_t i = 0; i < read.size(); ++i) near(at, meant[i].first, read[i]);
    }
    void curve(const std::string& at, const tree& value, const markets::curve& read, int as_of) {
        if (value.find("day_count")) return;
        if (const tree* rate = value.find("rate")) {
            const auto meant = rate->number();
            if (!meant) return complain(at + ".rate", "was read, but '" + rate->text + "' is no number");
            for (const double years : {0.75, 7.0})
                near(at + ".rate", -*meant * years, read.log_discount(years));
        }
        for (const char* key : {"zero_rates", "discount_factors"}) {
            const tree* given = value.find(key);
            if (!given) continue;
            const auto meant = pillars(at + "." + key, *given, as_of);
            if (!meant) return;
            if (meant->size() != read.pillars().size()) return complain(at, "another number of pillars");
            times(at + "." + key, *meant, read.pillars());
            for (const auto& [years, number] : *meant) {
                near(at + "." + key, key[0] == 'z' ? -number * years : std::log(number),
                     read.log_discount(years));
            }
        }
    }
    void volatility(const std::string& at, const tree* value, const std::optional<markets::volatility>& read,
                    int as_of) {
        if (!value || !read) {
            if (read && !value) complain(at + ".volatility", "was made up");
            return;
        }
        if (value->kind == tree::shape::text) {
            const auto meant = value->number();
            if (!meant)
                return complain(at + ".volatility", "was read, but '" + value->text + "' is no number");
            return near(at + ".volatility", *meant * *meant * 1.25, read->total_variance(1.25));
        }
        const auto meant = pillars(at + ".volatility", *value, as_of);
        if (!meant) return;
        if (meant->size() != read->pillars().size()) return complain(at, "another number of volatilities");
        times(at + ".volatility", *meant, read->pillars());
        for (const auto& [years, level] : *meant)
            near(at + ".volatility", level * level * years, read->total_variance(years));
    }
    void asset(const std::string& at, const tree& value, const markets::asset& read, int as_of) {
        number(at + ".spot", value.find("spot"), read.spot);
        if (const tree* currency = value.find("currency")) text(at + ".currency", *currency, read.currency);
        volatility(at, value.find("volatility"), read.vol, as_of);
        if (const tree* yield = value.find("dividend_yield")) {
            if (yield->kind == tree::shape::text) {
                const auto meant = yield->number();
                if (!meant) return complain(at + ".dividend_yield", "was read, but is no number");
                near(at + ".dividend_yield", -*meant * 2.5, read.dividend_yield.log_discount(2.5));
            } else {
                curve(at + ".dividend_yield", *yield, read.dividend_yield, as_of);
            }
        }
        const tree* dividends = value.find("dividends");
        if (!dividends) {
            if (!read.dividends.empty()) complain(at + ".dividends", "were made up");
            return;
        }
        std::vector<std::pair<double, const tree*>> coming;
        for (const tree& item : dividends->items) {
            const auto when = time_of(at + ".dividends", item.find("date"));
            if (!when) return;
            const double years = when->is_day ? (when->serial - as_of) / 365.0 : when->years;
            if (years > 0) coming.emplace_back(years, &item);
        }
        std::stable_sort(coming.begin(), coming.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        if (coming.size() != read.dividends.size())
            return complain(at + ".dividends", "another number of them");
        for (std::size_t i = 0; i < coming.size(); ++i) {
            const char* key = read.dividends[i].proportional ? "proportion" : "amount";
            near(at + ".dividends.date", coming[i].first, read.dividends[i].years);
            number(at + ".dividends." + key, coming[i].second->find(key), read.dividends[i].amount);
        }
    }
};

struct outcome {
    std::string defect;  // what is wrong; empty if nothing
    bool accepted = false;
    bool is_judged = false;  // false if the second reader can't read such files
    std::string lenient;     // set if accepted although the second reader finds invalid YAML
    std::string refusal, failed_trade;
    std::vector<price_row> rows;
};

class court {
  public:
    explicit court(std::vector<base_file> bases) : bases_(std::move(bases)) {
        const std::string demo = configs + "markets/demo.yaml";
        demo_.emplace(tilewalk::market::load(demo));
        probe_.emplace(tilewalk::book::load(configs + "books/demo.yaml"));
    }
    const std::vector<base_file>& bases() const { return bases_; }

    // Reads the text as the kind of file that `base` is, judges it, and prices it if `prices`.
    outcome held(const base_file& base, const std::string& text, bool prices) {
        outcome made;
        const memory_watch watch;
        try {
            read_and_judge(base, text, prices, made);
        } catch (const error& e) {
            made.refusal = e.what();
            made.defect = fault_of(e);
            made.accepted = false;
        } catch (const std::exception& e) {
            made.defect = std::string("threw what is no tilewalk::error: ") + e.what();
        }
        if (made.defect.empty() && watch.most() > most_memory)
            made.defect = "took " + std::to_string(watch.most()) + " bytes";
        return made;
    }

    // Says what the judge finds if Tilewalk reads `read` and the second reader `said`; empty if nothing.
    std::string between(const base_file& base, const std::string& read, const std::string& said) {
        outcome made;
        try {
            read_and_judge(base, read, false, made, &said);
        } catch (const error& e) {
            return std::string("refused: ") + e.what();
        }
        return made.defect;
    }

  private:
    std::optional<tree> second_reading(const std::string& text, outcome& into) {
        try {
            tree read = independent::yaml(text);
            into.is_judged = true;
            return read;
        } catch (const independent::no_yaml& e) {
            into.lenient = e.what();
        } catch (const independent::not_judged&) {
        }
        return std::nullopt;
    }
    static business_calendars usual() {
        business_calendars known;
        known["none"];
        known["weekends"].is_weekend = {false, false, false, false, false, true, true};
        return known;
    }

    void read_and_judge(const base_file& base, const std::string& text, bool prices, outcome& into,
                        const std::string* said = nullptr) {
        if (!said) said = &text;
        judge looks;
        if (base.is == form::market) {
            const auto read = tilewalk::market::parse(text, "market.yaml");
            into.accepted = true;
            if (const auto root = second_reading(*said, into)) looks.market(*root, state_of(read));
            into.defect = looks.said;
            if (!prices || !into.defect.empty()) return;
            if (base.trade.empty()) return price(*probe_, &read, into);
            price(tilewalk::book::parse(base.trade, "probe.yaml"), &read, into);
            return;
        }
        std::string yaml = text, folder = configs + "books";
        if (base.is == form::product) {
            folder_.write("own.yaml", text);
            yaml = "market: " + configs + "markets/demo.yaml\nproducts: [own.yaml]\ntrades:\n  - " +
                   base.trade + "\n";
        } else if (base.is == form::calendar) {
            folder_.write("own.yaml", text);
            yaml =
                "calendars: {own: own.yaml}\ntrades:\n"
                "  - {id: days, product: asian, underlying: ACME, strike: 100, averaging_dates: {start: "
                "2024-12-30, end: 2041-01-10, every: 1b, calendar: own}}\n"
                "  - {id: rolls, product: asian, underlying: ACME, strike: 100, averaging_dates: {start: "
                "2024-12-28, end: 2041-01-06, every: 2d, calendar: own, roll: modified_preceding}}\n";
        }
        if (base.is != form::book) folder = folder_.path().string();
        const auto read = tilewalk::book::parse(yaml, "book.yaml", folder);
        into.accepted = true;
        for (const auto& trade : state_of(read).trades) {
            if (!trade.failure) continue;
            into.failed_trade = trade.failure->what();
            into.defect = fault_of(*trade.failure);
            if (!into.defect.empty()) return;
        }
        business_calendars known = usual();
        const auto root = second_reading(*said, into);
        if (root && base.is == form::product) {
            for (const auto& trade : state_of(read).trades) {
                if (trade.product) looks.product(*root, *trade.product);
            }
        } else if (root && base.is == form::book) {
            looks.book(*root, state_of(read), known);
        } else if (root && base.is == form::calendar) {
            const auto own = independent::calendar_of(*root);
            if (own) {
                known["own"] = *own;
                looks.book(independent::yaml(yaml), state_of(read), known);
            } else {
                looks.said = "holidays: were read, but hold a day that is none";
            }
        }
        into.defect = looks.said;
        if (prices && into.defect.empty() && base.is != form::calendar) price(read, nullptr, into);
    }

    void price(const tilewalk::book& trades, const tilewalk::market* in, outcome& into) {
        if (!in && trades.market()) in = &*trades.market();
        if (!in) in = &*demo_;
        into.rows = engine_.price(trades, *in, few_paths()).rows;
        for (const price_row& row : into.rows) {
            if (into.defect.empty()) into.defect = fault_of(row);
        }
    }

    std::vector<base_file> bases_;
    std::optional<tilewalk::market> demo_;
    std::optional<tilewalk::book> probe_;
    tests::own_folder folder_;
    engine engine_;
};

}  // namespace tilewalk::corpus
