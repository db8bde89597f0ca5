// SPDX-License-Identifier: Apache-2.0
// Reads a market from YAML: every key checked for its range, every name for being known, every complaint with
// its place.
#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/config/document.h"
#include "engine/config/time_reader.h"
#include "engine/config/wording.h"
#include "engine/market/market_state.h"
#include "engine/market/wording.h"
#include "engine/models/model.h"
#include "engine/models/rates.h"
#include "tilewalk/bounds.h"

namespace tilewalk::markets {
namespace {

using config::node;

constexpr double most_volatility = bounds::volatility;
constexpr double most_money = bounds::money;  // a spot, a rate of exchange, a fixing
// A world has some 180 currencies; the bound keeps the triangle check quick.
constexpr std::size_t most_currencies = bounds::currencies;
// Factors linked by correlations, whose matrix is factorised.
constexpr std::size_t most_linked_factors = bounds::correlated;
// How far a quoted cross may be from the product of the two rates that imply it.
constexpr double cross_tolerance = 0.01;
// Correlations are written with a few digits; eigenvalues this close to zero are rounding.
constexpr double eigenvalue_tolerance = 1e-9;

void expect_mapping(const node& value, std::string_view expected) {
    if (!value.is_mapping()) value.fail("found " + value.found() + ", expected " + std::string(expected));
}

void expect_sequence(const node& value, std::string_view expected) {
    if (!value.is_sequence()) value.fail("found " + value.found() + ", expected " + std::string(expected));
}

// A number written per one, where people are tempted to write percent.
std::string percent_hint(double value) {
    return rounded(value) + " means " + rounded(100 * value) + " %; " + rounded(value) + " % is written " +
           rounded(value / 100);
}

double read_rate(const node& value) {
    const double rate = value.number();
    if (std::abs(rate) > bounds::market_rate) {
        value.fail("found the rate " + value.text() + ", expected one between -1 and 1; " +
                   percent_hint(rate));
    }
    return rate;
}

double read_volatility_level(const node& value) {
    const double level = value.number();
    if (level < 0) value.fail("found the volatility " + value.text() + ", expected one between 0 and 5");
    if (level > most_volatility) {
        value.fail("found the volatility " + value.text() + ", expected one between 0 and 5; " +
                   percent_hint(level));
    }
    return level;
}

double read_positive(const node& value, std::string_view what) {
    const double number = value.number();
    if (!(number > 0 && number <= most_money)) {
        value.fail("found the " + std::string(what) + " " + value.text() +
                   ", expected more than 0 and at most 1e15");
    }
    return number;
}

// A mapping of times to numbers, in order of time.
struct pillars {
    std::vector<double> years;
    std::vector<double> values;
    std::vector<const node::member*> members;
};

template <class ReadValue>
pillars read_pillars(const node& value, dates::date as_of, std::string_view what, ReadValue read_value) {
    expect_mapping(value, "a mapping of dates or years to " + std::string(what) +
                              ", such as {0.5: ..., 2027-01-15: ...}");
    if (value.members().empty()) value.fail("found no pillars, expected at least one");
    pillars read;
    for (const node::member& pillar : value.members()) {
        const double years =
            config::read_time_point(pillar.key, pillar.where(), pillar.value.key_path()).years(as_of);
        if (!(years > 0)) {
            pillar.fail("found the pillar " + pillar.key + ", expected one after as_of (" +
                        dates::to_string(as_of) + ")");
        }
        if (!read.years.empty() && years <= read.years.back()) {
            pillar.fail("found the pillar " + pillar.key + " after " + read.members.back()->key +
                        ", expected strictly increasing times");
        }
        read.years.push_back(years);
        read.values.push_back(read_value(pillar.value));
        read.members.push_back(&pillar);
    }
    return read;
}

dates::day_count read_day_count(const node& value) {
    const auto count = value.is_scalar() ? dates::parse_day_count(value.text()) : std::nullopt;
    if (count) return *count;
    std::vector<std::string> known;
    for (const dates::day_count_entry& entry : dates::day_counts) known.emplace_back(entry.name);
    value.fail_word(known);
}

// What one year counts in a rate that holds for ever.
double per_year(dates::day_count count, const node* convention) {
    if (count == dates::day_count::act_365f) return 1;
    if (count == dates::day_count::act_360) return 365.0 / 360.0;
    convention->fail(
        "found " + convention->found() +
        " for a rate without pillars, expected ACT/365F or ACT/360: only they count every year alike");
}

// `may_move`: there may be a model beside it.
curve read_curve(const node& value, dates::date as_of, bool may_move = false) {
    const std::string forms = "one of {rate: ...}, {zero_rates: {...}} or {discount_factors: {...}}";
    expect_mapping(value, forms);
    std::vector<std::string> keys{"rate", "zero_rates", "discount_factors", "day_count"};
    if (may_move) keys.emplace_back("model");
    value.only(keys);
    const node* const rate = value.find("rate");
    const node* const rates = value.find("zero_rates");
    const node* const factors = value.find("discount_factors");
    const int given = (rate ? 1 : 0) + (rates ? 1 : 0) + (factors ? 1 : 0);
    const std::string found = "found " + std::to_string(given) + " forms of a curve, expected " + forms;
    if (given == 0) value.fail_incomplete(found);
    if (given > 1) value.fail(found);
    const node* const convention = value.find("day_count");
    const dates::day_count count = convention ? read_day_count(*convention) : dates::day_count::act_365f;
    if (rate) return curve::flat(read_rate(*rate) * per_year(count, convention));
    if (rates) {
        pillars read = read_pillars(*rates, as_of, "rates", read_rate);
        for (std::size_t i = 0; i < read.years.size(); ++i) {
            // A number of years is one by any convention.
            const auto day = dates::parse_date(read.members[i]->key);
            if (day) read.values[i] *= dates::year_fraction(as_of, *day, count) / read.years[i];
        }
        return curve::from_zero_rates(std::move(read.years), std::move(read.values));
    }
    if (convention) convention->fail("found a day count beside discount factors, which need none");
    pillars read = read_pillars(*factors, as_of, "discount factors", [](const node& factor) {
        if (!(factor.number() > 0)) {
            factor.fail("found the discount factor " + factor.text() + ", expected more than 0");
        }
        return factor.number();
    });
    for (std::size_t i = 0; i < read.years.size(); ++i) {
        const double implied = -std::log(read.values[i]) / read.years[i];
        if (std::abs(implied) > 1) {
            read.members[i]->value.fail("found the discount factor " + read.members[i]->value.text() +
                                        ", which is a rate of " + rounded(100 * implied) +
                                        " %, expected one between -100 % and 100 %");
        }
    }
    return curve::from_discount_factors(std::move(read.years), std::move(read.values));
}

// Of an asset alone: it moves with one volatility, an exchange rate may move with two.
bool is_scenario_volatility(const node& value) {
    return value.is_mapping() && (value.find("scenarios") != nullptr || value.find("times") != nullptr);
}

}  // namespace

volatility read_volatility(const node& value, dates::date as_of) {
    if (value.is_scalar()) return volatility::flat(read_volatility_level(value));
    if (!value.is_mapping()) {
        value.fail("found " + value.found() +
                   ", expected a volatility such as 0.2, or one by term such as {0.5: 0.2, 2.0: 0.25}");
    }
    pillars read = read_pillars(value, as_of, "volatilities", read_volatility_level);
    if (const std::size_t at = volatility::falls_at(read.years, read.values); at < read.years.size()) {
        const auto variance = [&](std::size_t i) { return read.values[i] * read.values[i] * read.years[i]; };
        read.members[at]->fail("the total variance falls from " + rounded(variance(at - 1)) + " at " +
                               read.members[at - 1]->key + " (volatility " + rounded(read.values[at - 1]) +
                               ") to " + rounded(variance(at)) + " at " + read.members[at]->key +
                               " (volatility " + rounded(read.values[at]) +
                               "), expected a volatility of at least " +
                               rounded(std::sqrt(variance(at - 1) / read.years[at])) + " there");
    }
    return volatility::by_term(std::move(read.years), std::move(read.values));
}

namespace {

// The nearest correlation matrix in the sum of squares (Higham 2002: projections in turn onto the matrices
// with no negative eigenvalue and onto those with a diagonal of ones, the first corrected as by Dykstra),
// with four digits after the point, and then as much nearer to `anchor` as makes it valid with them. What is
// not 0 in `anchor`, a correlation matrix, is not changed.
Eigen::MatrixXd nearest_correlation(const Eigen::MatrixXd& given, const Eigen::MatrixXd& anchor) {
    const auto anchored = [&](const Eigen::MatrixXd& m) {
        return Eigen::MatrixXd((anchor.array() != 0).select(anchor, m));
    };
    Eigen::MatrixXd near = given, correction = Eigen::MatrixXd::Zero(given.rows(), given.cols());
    // Two that move as one or against each other have the same correlations up to the sign; the nearest such
    // matrix comes first, for the turns would take for ever to find it.
    for (Eigen::Index i = 0; i < near.rows(); ++i) {
        for (Eigen::Index j = i + 1; j < near.rows(); ++j) {
            const double sign = anchor(i, j);
            if (std::abs(sign) != 1) continue;
            near.row(i) = (0.5 * (near.row(i) + sign * near.row(j))).eval();
            near.row(j) = sign * near.row(i);
            near.col(i) = (0.5 * (near.col(i) + sign * near.col(j))).eval();
            near.col(j) = sign * near.col(i);
        }
    }
    for (int turn = 0; turn < 300; ++turn) {
        const Eigen::MatrixXd corrected = near - correction;
        const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solved(corrected);
        const Eigen::MatrixXd positive = solved.eigenvectors() *
                                         solved.eigenvalues().cwiseMax(0.0).asDiagonal() *
                                         solved.eigenvectors().transpose();
        correction = positive - corrected;
        const Eigen::MatrixXd next = anchored(positive);
        const double moved = (next - near).norm();
        near = next;
        if (moved < 1e-9) break;
    }
    for (double towards_anchor = 0;; towards_anchor += 1e-4) {
        const Eigen::MatrixXd shown =
            anchored((near * ((1 - towards_anchor) * 1e4)).array().round().matrix() / 1e4);
        const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solved(shown, Eigen::EigenvaluesOnly);
        if (solved.eigenvalues()(0) >= -0.5 * eigenvalue_tolerance || towards_anchor >= 1) return shown;
    }
}

class market_reader {
  public:
    market_reader(const node& root, const std::filesystem::path& inside, const std::filesystem::path& folder)
        : root_(root), inside_(inside), folder_(folder) {}

    market_state read() {
        if (!root_.is_mapping()) {
            root_.fail(
                "found " + root_.found_kind() +
                ", expected a market: a mapping with as_of, currencies, assets, fx, correlations, fixings");
        }
        root_.only({"as_of", "currencies", "assets", "fx", "correlations", "fixings"});
        market_.name = root_.where().file;
        market_.as_of = config::read_date(root_.at("as_of"));
        read_currencies(root_.at("currencies"));
        // Exchange rates come first: an asset must not be called as one of them is.
        if (const node* fx = root_.find("fx")) read_fx(*fx);
        if (const node* assets = root_.find("assets")) read_assets(*assets);
        if (const node* correlations = root_.find("correlations")) read_correlations(*correlations);
        if (const node* fixings = root_.find("fixings")) read_fixings(*fixings);
        return std::move(market_);
    }

  private:
    void read_currencies(const node& currencies) {
        expect_mapping(currencies, "a mapping of currencies to curves, such as {USD: {rate: 0.03}}");
        if (currencies.members().empty()) currencies.fail("found no currencies, expected at least one");
        if (currencies.members().size() > most_currencies) {
            currencies.fail("found " + std::to_string(currencies.members().size()) +
                            " currencies, expected at most " + std::to_string(most_currencies));
        }
        for (const node::member& currency : currencies.members()) {
            const bool well_formed =
                currency.key.size() == 3 && std::all_of(currency.key.begin(), currency.key.end(),
                                                        [](char c) { return c >= 'A' && c <= 'Z'; });
            if (!well_formed) {
                currency.fail("found the currency " + config::shown(currency.key) +
                              ", expected three capital letters, such as USD");
            }
            const auto [at, is_new] =
                market_.currencies.emplace(currency.key, read_curve(currency.value, market_.as_of, true));
            currency_names_.push_back(currency.key);
            if (const node* moves = currency.value.find("model")) {
                read_rate_model(*moves, at->first, at->second);
            }
        }
    }

    void read_rate_model(const node& value, const std::string& currency, const curve& today) {
        auto read = models::read_rate_model(value, {market_.as_of, currency, today});
        const std::string first = currency + "." + read->factors().front().name;
        rate_names_.push_back(first);
        for (const models::own_factor& f : read->factors()) {
            const std::string name = currency + "." + f.name;
            if (name == first) continue;
            market_.own_factors[name] = {first, f.correlation.from(0), f.correlation.is_constant()};
        }
        market_.rate_models.emplace(currency, std::move(read));
        market_.rate_parameters.emplace(
            currency, models::parameters_as_written(value.members().front().value, market_.as_of));
    }

    // The two currencies of a pair of six letters, if both are known and differ.
    std::optional<std::pair<std::string, std::string>> split_pair(const std::string& pair) const {
        if (pair.size() != 6) return std::nullopt;
        const std::string base = pair.substr(0, 3), quote = pair.substr(3);
        if (base == quote || !market_.currencies.contains(base) || !market_.currencies.contains(quote)) {
            return std::nullopt;
        }
        return std::pair(base, quote);
    }

    void read_fx(const node& fx) {
        expect_mapping(fx, "a mapping of pairs to rates, such as {EURUSD: {rate: 1.10, volatility: 0.1}}");
        for (const node::member& pair : fx.members()) {
            const auto currencies = split_pair(pair.key);
            if (!currencies) {
                // The unknown half is the likelier mistake, so it is named where there is one.
                for (const std::size_t half : {std::size_t{0}, std::size_t{3}}) {
                    if (pair.key.size() != 6 || market_.currencies.contains(pair.key.substr(half, 3)))
                        continue;
                    pair.fail("found the pair " + config::shown(pair.key) + ": " +
                              unknown_name("currency", pair.key.substr(half, 3), currency_names_));
                }
                pair.fail("found the pair " + config::shown(pair.key) +
                          ", expected six letters of two different currencies, such as EURUSD");
            }
            const auto& [base, quote] = *currencies;
            if (market_.fx_pair(base, quote).first) {
                pair.fail("found " + pair.key + " beside " + quote + base +
                          ", expected a pair of currencies to be quoted once");
            }
            expect_mapping(pair.value,
                           "a mapping with rate and volatility, such as {rate: 1.10, volatility: 0.1}");
            pair.value.only({"rate", "volatility"});
            fx_rate read{base, quote, read_positive(pair.value.at("rate"), "rate"), std::nullopt,
                         pair.where()};
            if (const node* vol = pair.value.find("volatility")) {
                if (is_scenario_volatility(*vol)) {
                    vol->fail("found scenarios for the volatility of the exchange rate " + pair.key +
                              ", which only an asset's can have; expected a volatility such as 0.1, or one "
                              "by term such as {0.5: 0.1, 2.0: 0.12}");
                }
                read.vol = read_volatility(*vol, market_.as_of);
            }
            market_.fx.push_back(std::move(read));
            pair_names_.push_back(pair.key);
        }
        check_crosses(fx);
    }

    // A quoted cross must agree with the two rates through any third currency, else one of the three is
    // mistyped.
    void check_crosses(const node& fx) const {
        std::map<std::string, std::map<std::string, double>> rates;
        for (const fx_rate& pair : market_.fx) {
            rates[pair.base][pair.quote] = pair.rate;
            rates[pair.quote][pair.base] = 1 / pair.rate;
        }
        for (std::size_t i = 0; i < market_.fx.size(); ++i) {
            const fx_rate& pair = market_.fx[i];
            for (const auto& [third, to_third] : rates[pair.base]) {
                const auto second = rates[third].find(pair.quote);
                if (third == pair.quote || second == rates[third].end()) continue;
                const double implied = to_third * second->second;
                if (std::abs(pair.rate / implied - 1) <= cross_tolerance) continue;
                fx.members()[i].value.at("rate").fail(
                    "found " + pair.base + pair.quote + " at " + rounded(pair.rate) + ", but through " +
                    third + " it is " + rounded(implied) + "; expected them within 1 %");
            }
        }
    }

    void read_assets(const node& assets) {
        expect_mapping(assets, "a mapping of names to assets, such as {ACME: {currency: USD, spot: 100}}");
        for (const node::member& member : assets.members()) {
            const bool well_formed =
                !member.key.empty() && member.key.size() <= 64 &&
                std::all_of(member.key.begin(), member.key.end(), [](char c) { return c > ' ' && c <= '~'; });
            if (!well_formed) {
                member.fail("found the asset name " + config::shown(member.key) +
                            ", expected 1 to 64 visible ASCII characters without spaces");
            }
            if (split_pair(member.key)) {
                member.fail("found the asset name '" + member.key +
                            "', which is a pair of currencies; exchange rates stand under fx");
            }
            if (std::find(rate_names_.begin(), rate_names_.end(), member.key) != rate_names_.end()) {
                member.fail("found the asset name '" + member.key +
                            "', which is what correlations call the rates of a currency; expected another "
                            "name");
            }
            market_.assets.emplace(member.key, read_asset(member));
            asset_names_.push_back(member.key);
        }
        for (const node::member& member : assets.members()) {
            const auto own = market_.own_factors.find(member.key);
            if (own == market_.own_factors.end()) continue;
            member.fail("found the asset name '" + member.key +
                        "', which is what correlations call a factor of " + own->second.of +
                        "; expected another name");
        }
    }

    // The array that a file holds; a file that several assets name is opened once.
    std::uint32_t scenarios_in(const node& value) {
        if (!value.is_scalar() || value.text().empty()) {
            value.fail("found " + value.found() + ", expected the name of a file, such as vols.npy");
        }
        const auto folder =
            folder_.empty() ? std::filesystem::path(value.where().file).parent_path() : folder_;
        const std::string file = (folder / value.text()).lexically_normal().string();
        auto& known = market_.scenarios;
        const auto at =
            std::find_if(known.begin(), known.end(), [&](const scenario_array& a) { return a.name == file; });
        if (at != known.end()) return static_cast<std::uint32_t>(at - known.begin());
        try {
            known.push_back(open_volatilities(file, inside_));
        } catch (const error& e) {
            const bool is_file = e.kind() == error_kind::input;
            value.fail(config::shown(file) + ": " + e.message() +
                       (is_file ? "" : "; expected a NumPy array (.npy) of the shape (times, paths)"));
        }
        known.back().where = value.where();
        return static_cast<std::uint32_t>(known.size() - 1);
    }

    scenario_volatility read_scenario_volatility(const node& value) {
        value.only({"scenarios", "times"});
        scenario_volatility read;
        const node& times = value.at("times");
        read.where = times.where();
        expect_sequence(times, "a list of times, one for each row of the file, such as [0.5, 2027-01-15]");
        for (const node& time : times.items()) {
            const double years = config::read_time_point(time).years(market_.as_of);
            if (!(years > 0)) {
                time.fail("found the time " + time.text() + ", expected one after as_of (" +
                          dates::to_string(market_.as_of) + ")");
            }
            if (!read.years.empty() && years <= read.years.back()) {
                time.fail("found the time " + time.text() + " after " +
                          times.items()[read.years.size() - 1].text() +
                          ", expected strictly increasing times");
            }
            read.years.push_back(years);
        }
        read.array = scenarios_in(value.at("scenarios"));
        const scenario_array& array = market_.scenarios[read.array];
        if (array.cube.steps != read.years.size()) {
            times.fail("found " + std::to_string(read.years.size()) + " times for the " +
                       std::to_string(array.cube.steps) + " rows of " + config::shown(array.name) +
                       ", expected one for each: row k holds from the time before to its own" +
                       (array.cube.paths == read.years.size()
                            ? "; the array has " + std::to_string(array.cube.paths) +
                                  " paths: is it the wrong way round?"
                            : ""));
        }
        return read;
    }

    asset read_asset(const node::member& member) {
        const node& value = member.value;
        expect_mapping(
            value, "a mapping with currency and spot, such as {currency: USD, spot: 100, volatility: 0.2}");
        value.only(
            {"currency", "spot", "dividend_yield", "dividends", "dividend_model", "volatility", "model"});
        asset read;
        read.name = member.key;
        read.where = member.where();
        const node& currency = value.at("currency");
        read.currency = currency.text();
        if (!market_.currencies.contains(read.currency)) {
            currency.fail(unknown_name("currency", read.currency, currency_names_));
        }
        read.spot = read_positive(value.at("spot"), "spot");
        if (const node* yield = value.find("dividend_yield")) {
            read.dividend_yield =
                yield->is_scalar() ? curve::flat(read_rate(*yield)) : read_curve(*yield, market_.as_of);
        }
        if (const node* vol = value.find("volatility")) {
            if (is_scenario_volatility(*vol)) {
                read.scenario_vol = read_scenario_volatility(*vol);
            } else {
                read.vol = read_volatility(*vol, market_.as_of);
                read.model_parameters = models::parameters_as_written("volatility", *vol, market_.as_of);
            }
        }
        const node* const dividend_model = value.find("dividend_model");
        if (dividend_model != nullptr) {
            static const std::vector<std::string> known{"escrowed", "spot"};
            const bool is_word = dividend_model->is_scalar();
            if (!is_word || std::ranges::find(known, dividend_model->text()) == known.end()) {
                dividend_model->fail("found " + dividend_model->found() + ", expected one of " +
                                     config::joined(known) +
                                     (is_word ? config::suggestion(dividend_model->text(), known) : ""));
            }
            read.falls_by_dividends = dividend_model->text() == "spot";
        }
        if (const node* dividends = value.find("dividends")) {
            expect_sequence(*dividends, "a list of dividends, such as [{date: 2026-06-01, amount: 0.5}]");
            for (const node& item : dividends->items()) {
                if (const auto paid = read_dividend(item)) read.dividends.push_back(*paid);
            }
            // Dividends of one day keep the order of the file.
            std::stable_sort(read.dividends.begin(), read.dividends.end(),
                             [](const dividend& a, const dividend& b) { return a.years < b.years; });
            spot_map(read, market_.discount_curve(read.currency), 0);  // complains if they exceed the spot
        }
        if (const node* moves = value.find("model")) {
            if (value.find("volatility") != nullptr) {
                moves->fail("found a model beside a volatility, expected one of them");
            }
            read.model =
                models::read_model(*moves, {market_.as_of, read, market_.discount_curve(read.currency)});
            read.model_parameters =
                models::parameters_as_written(moves->members().front().value, market_.as_of);
            for (const models::own_factor& f : read.model->own_factors()) {
                market_.own_factors[member.key + "." + f.name] = {member.key, f.correlation.from(0),
                                                                  f.correlation.is_constant()};
            }
            if (read.falls_by_dividends && !read.model->is_alike_at_any_level()) {
                dividend_model->fail("found the dividend_model spot beside the model " +
                                     moves->members().front().key +
                                     ", whose steps depend on where the asset is and know of no fall by an "
                                     "amount; expected escrowed");
            }
        }
        return read;
    }

    // Empty for a dividend whose date has passed: the spot has fallen by it already, and a list need not be
    // cut every day.
    std::optional<dividend> read_dividend(const node& item) const {
        expect_mapping(item, "a dividend such as {date: 2026-06-01, amount: 0.5}");
        item.only({"date", "amount", "proportion"});
        const node& date = item.at("date");
        const dates::time_point when = config::read_time_point(date);
        const node* amount = item.find("amount");
        const node* proportion = item.find("proportion");
        if (!amount == !proportion) {
            if (amount) item.fail("found both amount and proportion, expected one of them");
            item.fail_incomplete("found neither amount nor proportion, expected one of them");
        }
        dividend read{when.years(market_.as_of), 0, proportion != nullptr};
        if (amount) {
            read.amount = amount->number();
            if (!(read.amount >= 0 && read.amount <= most_money)) {
                amount->fail("found the amount " + amount->text() + ", expected 0 or more and at most 1e15");
            }
        } else {
            read.amount = proportion->number();
            if (!(read.amount >= 0 && read.amount < 1)) {
                proportion->fail("found the proportion " + proportion->text() +
                                 ", expected one of at least 0 and less than 1" +
                                 (read.amount >= 1 ? "; " + percent_hint(read.amount) : ""));
            }
        }
        if (read.years > 0) return read;
        if (std::holds_alternative<double>(when.when)) {
            date.fail("found " + date.text() + " years, expected a number above 0 or a date");
        }
        return std::nullopt;
    }

    std::string read_factor(const node& value) const {
        const std::string& name = value.text();
        if (market_.assets.contains(name) || market_.own_factors.contains(name) ||
            std::find(pair_names_.begin(), pair_names_.end(), name) != pair_names_.end() ||
            std::find(rate_names_.begin(), rate_names_.end(), name) != rate_names_.end()) {
            return name;
        }
        if (const auto pair = split_pair(name); pair && market_.fx_pair(pair->first, pair->second).first) {
            value.fail("found '" + name + "', but the pair is quoted as " + pair->second + pair->first +
                       "; its correlations have the opposite sign");
        }
        std::vector<std::string> known = asset_names_;
        known.insert(known.end(), pair_names_.begin(), pair_names_.end());
        known.insert(known.end(), rate_names_.begin(), rate_names_.end());
        for (const auto& [own, of] : market_.own_factors) known.push_back(own);
        value.fail(unknown_name("asset or exchange rate", name, known));
    }

    void read_correlations(const node& given) {
        if (!given.is_mapping()) return read_pairs(given);
        given.only({"complete", "pairs"});
        if (const node* complete = given.find("complete")) market_.has_all_correlations = complete->boolean();
        read_pairs(given.at("pairs"));
    }

    void read_pairs(const node& correlations) {
        const std::string form = "a pair with its correlation, such as [ACME, BETA, 0.5]";
        expect_sequence(
            correlations,
            "a list of correlations, such as [[ACME, BETA, 0.5]], or {complete: true, pairs: [...]}");
        std::map<std::pair<std::string, std::string>, location> given;
        for (const node& item : correlations.items()) {
            expect_sequence(item, form);
            if (item.items().size() != 3) {
                item.fail("found a list of " + std::to_string(item.items().size()) + ", expected " + form);
            }
            const std::string first = read_factor(item.items()[0]), second = read_factor(item.items()[1]);
            if (first == second) {
                item.items()[1].fail("found " + first +
                                     " with itself, whose correlation is always 1; expected " + form);
            }
            const node& number = item.items()[2];
            const double rho = number.number();
            if (std::abs(rho) > 1) {
                number.fail("found the correlation " + number.text() + ", expected one between -1 and 1");
            }
            const std::pair<std::string, std::string> key = std::minmax(first, second);
            for (const auto& [own, asset] : {key, std::pair(key.second, key.first)}) {
                const auto of = market_.own_factors.find(own);
                if (of == market_.own_factors.end() || of->second.of != asset) continue;
                item.fail("found the correlation of " + own + " with " + asset + ", which its model says: " +
                          rounded(of->second.correlation) + "; expected one with another factor");
            }
            const auto one = market_.own_factors.find(first), other = market_.own_factors.find(second);
            if (one != market_.own_factors.end() && other != market_.own_factors.end() &&
                one->second.of == other->second.of) {
                item.fail("found the correlation of " + first + " with " + second +
                          ", which their model says: 0; expected one with another factor");
            }
            for (const std::string& name : {first, second}) {
                const auto of = market_.own_factors.find(name);
                if (of == market_.own_factors.end() || of->second.is_constant) continue;
                item.fail("found a correlation of " + name + ", whose correlation with " + of->second.of +
                          " changes with time; expected none with others");
            }
            const auto [place, is_new] = given.emplace(key, item.where());
            if (!is_new) {
                item.fail("found the correlation of " + first + " and " + second + " again, given first at " +
                          to_string(place->second) + "; expected each pair once");
            }
            market_.correlations.emplace(key, rho);
        }
        check_positive_semi_definite(correlations);
    }

    // Factors that no correlation links are independent, so each linked group stands for itself.
    void check_positive_semi_definite(const node& correlations) const {
        std::map<std::string, std::size_t> number;
        std::vector<std::string> names;
        std::vector<std::size_t> parent;
        const auto number_of = [&](const std::string& name) {
            const auto [place, is_new] = number.emplace(name, names.size());
            if (is_new) {
                parent.push_back(names.size());
                names.push_back(name);
            }
            return place->second;
        };
        // An own factor of a model that is named here is linked to its asset; one that is not agrees with
        // all.
        const auto asset_of = [&](const std::string& name) {
            const auto own = market_.own_factors.find(name);
            return own == market_.own_factors.end() ? name : own->second.of;
        };
        const auto root_of = [&](std::size_t i) {
            while (parent[i] != i) i = parent[i] = parent[parent[i]];
            return i;
        };
        for (const auto& [pair, rho] : market_.correlations) {
            if (rho == 0) continue;
            const std::size_t first = number_of(pair.first), second = number_of(pair.second);
            parent[root_of(first)] = root_of(second);
            for (const std::string& name : {pair.first, pair.second}) {
                const std::size_t own = number_of(name), asset = number_of(asset_of(name));
                parent[root_of(own)] = root_of(asset);
            }
        }
        std::map<std::size_t, std::vector<std::size_t>> groups;
        for (std::size_t i = 0; i < names.size(); ++i) groups[root_of(i)].push_back(i);
        for (const auto& [root, members] : groups) check_group(correlations, names, members);
    }

    void check_group(const node& correlations, const std::vector<std::string>& names,
                     const std::vector<std::size_t>& members) const {
        if (members.size() > most_linked_factors) {
            correlations.fail("found " + std::to_string(members.size()) +
                              " factors linked by correlations, expected at most " +
                              std::to_string(most_linked_factors));
        }
        const auto size = static_cast<Eigen::Index>(members.size());
        Eigen::MatrixXd matrix(size, size);
        for (Eigen::Index i = 0; i < size; ++i) {
            for (Eigen::Index j = 0; j < size; ++j) {
                matrix(i, j) = market_.correlation(names[members[static_cast<std::size_t>(i)]],
                                                   names[members[static_cast<std::size_t>(j)]]);
            }
        }
        // Most matrices are definite, which is cheap to see.
        if (Eigen::LLT<Eigen::MatrixXd>(matrix).info() == Eigen::Success) return;
        const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solved(matrix);
        const double smallest = solved.eigenvalues()(0);
        if (smallest >= -eigenvalue_tolerance) return;

        // The factors that the offending direction is made of, heaviest first.
        std::vector<Eigen::Index> heaviest(members.size());
        std::iota(heaviest.begin(), heaviest.end(), Eigen::Index{0});
        const Eigen::VectorXd direction = solved.eigenvectors().col(0).cwiseAbs();
        std::stable_sort(heaviest.begin(), heaviest.end(),
                         [&](Eigen::Index a, Eigen::Index b) { return direction(a) > direction(b); });
        std::string involved;
        for (std::size_t i = 0; i < std::min<std::size_t>(heaviest.size(), 4); ++i) {
            involved += (i ? ", " : "") + names[members[static_cast<std::size_t>(heaviest[i])]];
        }
        correlations.fail("the correlation matrix has the negative eigenvalue " + rounded(smallest) +
                          ", expected none below 0; most involved: " + involved +
                          " (pairs that are not given count as 0)" + nearest_valid(matrix, names, members));
    }

    // What could be written in their place: "; the nearest valid correlations: [A, B, 0.81], ...".
    std::string nearest_valid(const Eigen::MatrixXd& given, const std::vector<std::string>& names,
                              const std::vector<std::size_t>& members) const {
        constexpr Eigen::Index most_factors = 200;
        constexpr std::size_t most_told = 10;
        if (given.rows() > most_factors) return "";
        // That of an own factor with its asset is the model's, and cannot be written here.
        Eigen::MatrixXd anchor = Eigen::MatrixXd::Identity(given.rows(), given.cols());
        for (Eigen::Index i = 0; i < given.rows(); ++i) {
            const auto own = market_.own_factors.find(names[members[static_cast<std::size_t>(i)]]);
            if (own == market_.own_factors.end()) continue;
            for (Eigen::Index j = 0; j < given.cols(); ++j) {
                if (names[members[static_cast<std::size_t>(j)]] == own->second.of)
                    anchor(i, j) = anchor(j, i) = given(i, j);
            }
        }
        const Eigen::MatrixXd near = nearest_correlation(given, anchor);
        std::string told;
        std::size_t changed = 0;
        for (Eigen::Index i = 0; i < near.rows(); ++i) {
            for (Eigen::Index j = i + 1; j < near.rows(); ++j) {
                const std::string &one = names[members[static_cast<std::size_t>(i)]],
                                  &other = names[members[static_cast<std::size_t>(j)]];
                // What is not written of an own factor follows from its asset, which may change.
                const bool follows =
                    anchor(i, j) == 0 && !market_.correlations.contains(std::minmax(one, other)) &&
                    (market_.own_factors.contains(one) || market_.own_factors.contains(other));
                const bool is_left = std::abs(near(i, j) - given(i, j)) < 5e-5 && !follows;
                if (is_left || ++changed > most_told) continue;
                told += (told.empty() ? "" : ", ") + std::string("[") + one + ", " + other + ", " +
                        rounded(near(i, j)) + "]";
            }
        }
        if (changed > most_told) told += " and " + std::to_string(changed - most_told) + " more";
        return "; the nearest valid matrix has " + told;
    }

    void read_fixings(const node& fixings) {
        expect_mapping(fixings,
                       "a mapping of assets or pairs to past values, such as {ACME: {2026-01-02: 99.5}}");
        for (const node::member& series : fixings.members()) {
            if (!market_.assets.contains(series.key) && !split_pair(series.key)) {
                std::vector<std::string> known = asset_names_;
                known.insert(known.end(), pair_names_.begin(), pair_names_.end());
                series.fail(unknown_name("asset or pair of currencies", series.key, known));
            }
            expect_mapping(series.value, "a mapping of dates to values, such as {2026-01-02: 99.5}");
            std::map<dates::date, double>& values = market_.fixings[series.key];
            for (const node::member& fixing : series.value.members()) {
                const dates::date day =
                    config::read_date(fixing.key, fixing.where(), fixing.value.key_path());
                if (day > market_.as_of) {
                    fixing.fail("found a fixing of " + fixing.key + ", expected none after as_of (" +
                                dates::to_string(market_.as_of) + ")");
                }
                values.emplace(day, read_positive(fixing.value, "fixing"));
            }
        }
    }

    const node& root_;
    const std::filesystem::path &inside_, &folder_;
    market_state market_;
    std::vector<std::string> currency_names_, pair_names_, asset_names_,
        rate_names_;  // in the order of the file
};

}  // namespace

market_state read_market(const config::node& root, const std::filesystem::path& inside,
                         const std::filesystem::path& folder) {
    return market_reader(root, inside, folder).read();
}

}  // namespace tilewalk::markets
