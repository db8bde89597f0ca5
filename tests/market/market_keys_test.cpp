// SPDX-License-Identifier: Apache-2.0
// Keys of a market's numbers, such as ACME.spot. Each form of a market has one, a shift moves the number that
// its key names and nothing else, and a change to an invalid market is refused by the key's name.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "engine/market/market_state.h"
#include "tests/all_forms.h"
#include "tests/every_model.h"
#include "tests/own_folder.h"
#include "tests/rows_by_id.h"
#include "tests/texts.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::market_keys_test {
namespace {

using tests::all_forms;
using tests::book_on_all_forms;
using tests::same_bits;
using tests::texts;

std::vector<std::string> keys_of(const market& of) {
    std::vector<std::string> out;
    for (const market_number& n : of.numbers()) out.push_back(n.key);
    return out;
}

TEST(market_keys, every_form_has_its_key) {
    const std::vector<std::string> expected =
        texts("USD.rate", "USD.hull_white.mean_reversion", "USD.hull_white.volatility@1y",
              "USD.hull_white.volatility@30y", "EUR.rate@0.5y", "EUR.rate@2027-01-15", "GBP.rate@1y",
              "GBP.rate@2028-01-15", "GBP.forward_market.loadings@1,1", "GBP.forward_market.loadings@1,2",
              "GBP.forward_market.loadings@2,1", "GBP.forward_market.loadings@2,2", "CHF.rate",
              "CHF.forward_market.volatility@1", "CHF.forward_market.volatility@2",
              "CHF.forward_market.volatility@3", "JPY.rate", "JPY.g2.a", "JPY.g2.sigma", "JPY.g2.b",
              "JPY.g2.eta", "JPY.g2.rho", "ACME.spot", "ACME.dividend_yield", "ACME.volatility", "BETA.spot",
              "BETA.dividend_yield@1y", "BETA.dividend@1.5y", "BETA.dividend@2026-06-01",
              "BETA.dividend@2026-06-01#2", "BETA.volatility@0.5y", "BETA.volatility@2027-07-15", "HEST.spot",
              "HEST.heston.v0", "HEST.heston.kappa", "HEST.heston.theta", "HEST.heston.sigma",
              "HEST.heston.rho", "ROUGH.spot", "ROUGH.rough_bergomi.xi@0.25y", "ROUGH.rough_bergomi.xi@1y",
              "ROUGH.rough_bergomi.eta", "ROUGH.rough_bergomi.rho", "ROUGH.rough_bergomi.hurst",
              "STRIKES.spot", "STRIKES.volatility@0.5y,5000", "STRIKES.volatility@0.5y,6000",
              "STRIKES.volatility@0.5y,7000", "STRIKES.volatility@2027-01-15,5000",
              "STRIKES.volatility@2027-01-15,6000", "STRIKES.volatility@2027-01-15,7000", "MONEY.spot",
              "MONEY.volatility@1y,0.8", "MONEY.volatility@1y,1", "MONEY.volatility@1y,1.2", "SVI.spot",
              "SVI.volatility@0.5y,a", "SVI.volatility@0.5y,b", "SVI.volatility@0.5y,rho",
              "SVI.volatility@0.5y,m", "SVI.volatility@0.5y,sigma",
              "SVI.stochastic_local_volatility.heston.v0", "SVI.stochastic_local_volatility.heston.kappa",
              "SVI.stochastic_local_volatility.heston.theta", "SVI.stochastic_local_volatility.heston.sigma",
              "SVI.stochastic_local_volatility.heston.rho", "GRID.spot", "GRID.volatility@0y,80",
              "GRID.volatility@0y,120", "GRID.volatility@2027-01-15,80", "GRID.volatility@2027-01-15,120",
              "EURUSD.rate", "EURUSD.volatility", "GBPUSD.rate", "GBPUSD.volatility@1y", "CHFUSD.rate",
              "CHFUSD.volatility", "USDJPY.rate", "USDJPY.volatility", "BETA|ACME.correlation",
              "BETA|EURUSD.correlation", "USD.rate|ACME.correlation", "HEST.variance|ACME.correlation",
              "ACME.fixing@2026-01-02", "ACME.fixing@2026-01-15", "EURUSD.fixing@2026-01-02");
    EXPECT_EQ(keys_of(market::parse(all_forms)), expected);
}

TEST(market_keys, every_number_of_every_model_can_be_shifted) {
    const market of_models = *book::parse(book_of_every_model()).market();
    std::set<std::string> models;
    for (const market_number& n : of_models.numbers()) {
        if (n.unit.starts_with("parameter of ")) models.insert(n.unit.substr(13));
        const double step = 1e-6 * std::max(1.0, std::abs(n.value));
        try {
            const market up = of_models.shifted(n.key, step);
            EXPECT_EQ(up.number(n.key).value, n.value + step) << n.key;
        } catch (const error&) {
            EXPECT_NO_THROW(of_models.shifted(n.key, -step)) << n.key;
        }
    }
    for (const auto& entry : models::catalogue()) {
        const bool has_own = entry.name != std::string_view("black_scholes") &&
                             entry.name != std::string_view("local_volatility");
        EXPECT_EQ(models.contains(std::string(entry.name)), has_own) << entry.name;
    }
    for (const auto& entry : models::rate_catalogue())
        EXPECT_TRUE(models.contains(std::string(entry.name))) << entry.name;
}

TEST(market_keys, names_may_be_written_in_other_ways) {
    const market m = market::parse(all_forms);
    for (const auto& [other, key] : std::map<std::string, std::string>{
             {"EUR.rate@0.50y", "EUR.rate@0.5y"},
             {"EUR.rate@0.5", "EUR.rate@0.5y"},
             {"STRIKES.volatility@.5y,6e3", "STRIKES.volatility@0.5y,6000"},
             {"GBP.forward_market.loadings@1,2", "GBP.forward_market.loadings@1,2"},
             {"ACME|BETA.correlation", "BETA|ACME.correlation"},
             {"ACME|HEST.variance.correlation", "HEST.variance|ACME.correlation"}})
        EXPECT_EQ(m.number(other).key, key) << other;
    for (const auto& [wrong, near] :
         std::map<std::string, std::string>{{"ACME.spott", "did you mean 'ACME.spot'"},
                                            {"EUR.rate@0.6y", "EUR.rate@0.5y"},
                                            {"", "unknown market key ''"},
                                            {"@", "unknown market key '@'"},
                                            {"ACME.spot@", "did you mean 'ACME.spot'"},
                                            {"|.correlation", "unknown market key"}}) {
        try {
            m.number(wrong);
            ADD_FAILURE() << wrong;
        } catch (const error& e) {
            EXPECT_EQ(e.kind(), error_kind::usage);
            EXPECT_NE(e.message().find(near), std::string::npos) << e.message();
        }
    }
    const market twice = market::parse(
        "as_of: 2026-01-15\ncurrencies: {USD: {rate: 0}}\nassets:\n"
        "  A: {currency: USD, spot: 1, model: {cev: {volatility: 2, beta: 0.5}}}\n"
        "  A.cev: {currency: USD, spot: 1, volatility: 0.2}\n");
    EXPECT_THROW(twice.number("A.cev.volatility"), error);
}

double in_tree(const value& root, const std::vector<std::string>& path) {
    const value* at = &root;
    for (const std::string& step : path)
        at = at->is_list() ? &at->items().at(std::stoul(step)) : &at->at(step);
    return at->number();
}

TEST(market_keys, a_shift_moves_the_number_it_names) {
    const market m = market::parse(all_forms);
    const struct {
        const char* key;
        double by;
        std::vector<std::string> path;
    } cases[] = {
        {"USD.rate", 0.001, {"currencies", "USD", "rate"}},
        {"EUR.rate@2027-01-15", -0.001, {"currencies", "EUR", "zero_rates", "2027-01-15"}},
        {"GBP.forward_market.loadings@2,1",
         0.01,
         {"currencies", "GBP", "model", "forward_market", "loadings", "1", "0"}},
        {"BETA.dividend@2026-06-01#2", 0.125, {"assets", "BETA", "dividends", "2", "amount"}},
        {"STRIKES.volatility@0.5y,6000",
         0.0078125,
         {"assets", "STRIKES", "model", "local_volatility", "surface", "by_strike", "0.5", "6000"}},
        {"SVI.volatility@0.5y,rho",
         0.0625,
         {"assets", "SVI", "model", "stochastic_local_volatility", "surface", "svi", "0.5", "rho"}},
        {"GRID.volatility@2027-01-15,80",
         0.01,
         {"assets", "GRID", "model", "local_volatility", "surface", "local", "volatilities", "1", "0"}},
        {"GBPUSD.volatility@1y", 0.01, {"fx", "GBPUSD", "volatility", "1.0"}},
        {"ACME|BETA.correlation", -0.25, {"correlations", "pairs", "0", "2"}},
        {"ACME.fixing@2026-01-02", 0.5, {"fixings", "ACME", "2026-01-02"}},
    };
    const value before = m.written();
    for (const auto& c : cases) {
        const market shifted = m.shifted(c.key, c.by);
        value after = shifted.written();
        EXPECT_EQ(in_tree(after, c.path), in_tree(before, c.path) + c.by) << c.key;
        EXPECT_EQ(shifted.number(c.key).value, m.number(c.key).value + c.by) << c.key;
        ASSERT_EQ(shifted.changes().size(), 1u) << c.key;
        EXPECT_EQ(shifted.changes().front().key, m.number(c.key).key);
        value* at = &after;
        for (const std::string& step : c.path)
            at = at->is_list() ? &at->items().at(std::stoul(step)) : &(*at)[step];
        const value* old = &before;
        for (const std::string& step : c.path)
            old = old->is_list() ? &old->items().at(std::stoul(step)) : &old->at(step);
        *at = *old;
        EXPECT_EQ(after, before) << c.key;
        EXPECT_EQ(market::from_value(shifted.written()).written(), shifted.written()) << c.key;
        EXPECT_EQ(shifted.with(c.key, m.number(c.key).value).changes().size(), 0u) << c.key;
    }
}

TEST(market_keys, a_discount_factor_is_known_by_its_zero_rate) {
    const market m = market::parse(all_forms);
    const market_number before = m.number("GBP.rate@1y");
    EXPECT_NEAR(before.value, -std::log(0.96), 1e-15);
    const market up = m.shifted(before.key, 0.01);
    EXPECT_NEAR(up.number(before.key).value, -std::log(0.96) + 0.01, 1e-15);
    EXPECT_NEAR(state_of(up).discount_curve("GBP").discount(1), 0.96 * std::exp(-0.01), 1e-15);
    EXPECT_TRUE(same_bits(state_of(up).discount_curve("GBP").discount(2),
                          state_of(m).discount_curve("GBP").discount(2)));
    const market back = up.with(before.key, before.value);
    EXPECT_TRUE(same_bits(state_of(back).discount_curve("GBP").discount(1), 0.96));
    EXPECT_TRUE(back.changes().empty());
    EXPECT_TRUE(back.written() == m.written());
}

std::map<std::string, double> prices(const market& in) {
    run_options how;
    how.overrides.paths = 1024;
    how.overrides.device = "cpu";
    std::map<std::string, double> out;
    for (const price_row& row : engine().price(book::parse(book_on_all_forms()), in, how).rows) {
        EXPECT_NE(row.status, trade_status::failed) << row.trade << ": " << row.message;
        out[row.trade] = row.price;
    }
    return out;
}

TEST(market_keys, a_shift_of_nothing_changes_no_bit_and_the_old_market_keeps_its_own) {
    const market m = market::parse(all_forms);
    const auto first = prices(m);
    std::vector<market_change> nothing, all;
    for (const market_number& n : m.numbers()) {
        nothing.push_back({n.key, 0.0});
        all.push_back({n.key, n.value, market_change::way::set});
    }
    EXPECT_EQ(prices(m.changed(nothing)), first);
    EXPECT_EQ(prices(m.changed(all)), first);
    market away = m;
    for (const market_number& n : m.numbers()) {
        try {
            away = away.shifted(n.key, 1e-6);
        } catch (const error&) {
            away = away.shifted(n.key, -1e-6);
        }
    }
    EXPECT_EQ(away.changes().size(), m.numbers().size());
    const auto moved = prices(away);
    for (const auto& [trade, price] : moved) EXPECT_NE(price, first.at(trade)) << trade;
    EXPECT_EQ(prices(away.changed(all)), first);
    EXPECT_EQ(prices(m), first);
    EXPECT_EQ(prices(market::from_value(away.written())), moved);
}

TEST(market_keys, a_shift_moves_the_prices_that_depend_on_it) {
    const market m = market::parse(all_forms);
    const auto first = prices(m);
    const std::map<std::string, std::set<std::string>> moved{
        {"ACME.spot", {"ACME", "both", "seen"}},
        {"ACME.volatility", {"ACME", "both", "seen"}},
        {"ACME.fixing@2026-01-02", {"seen"}},
        {"BETA.dividend@2026-06-01#2", {"BETA", "both", "quanto"}},
        {"BETA|EURUSD.correlation", {"both", "quanto"}},
        {"BETA|ACME.correlation", {"both"}},
        {"EURUSD.volatility", {"both", "quanto"}},
        {"HEST.heston.sigma", {"HEST"}},
        {"ROUGH.rough_bergomi.eta", {"ROUGH"}},
        {"STRIKES.volatility@2027-01-15,6000", {"STRIKES"}},
        {"MONEY.volatility@1y,0.8", {"MONEY"}},
        {"SVI.volatility@0.5y,b", {"SVI"}},
        {"SVI.stochastic_local_volatility.heston.kappa", {"SVI"}},
        {"GRID.volatility@0y,80", {"GRID"}},
        {"USD.rate",
         {"ACME", "HEST", "ROUGH", "STRIKES", "MONEY", "SVI", "GRID", "both", "quanto", "seen",
          "paid_in_USD"}},
        {"EUR.rate@2027-01-15", {"BETA", "both", "quanto", "paid_in_EUR"}},
        {"GBP.forward_market.loadings@1,1", {"paid_in_GBP"}},
        {"CHF.forward_market.volatility@1", {"paid_in_CHF"}},
        {"JPY.g2.eta", {"paid_in_JPY"}},
        {"GBPUSD.rate", {}},
    };
    for (const auto& [key, expected] : moved) {
        const double by = key.ends_with(".spot") || key.find("fixing") != std::string::npos ? 1 : 0.001;
        std::set<std::string> others;
        const market shifted = m.shifted(key, by);
        const auto moved_prices = prices(shifted);
        for (const auto& [trade, price] : moved_prices) {
            if (!same_bits(price, first.at(trade))) others.insert(trade);
        }
        EXPECT_EQ(others, expected) << key;
        EXPECT_EQ(prices(market::from_value(shifted.written())), moved_prices) << key;
    }
}

TEST(market_keys, a_call_lists_the_numbers_that_a_trade_depends_on) {
    const market m = market::parse(all_forms);
    const book trades = book::parse(book_on_all_forms());
    run_options how;
    how.overrides.paths = 1024;
    how.overrides.device = "cpu";
    std::map<std::string, std::set<std::string>> by_trade;
    for (const trade_dependence& t : engine().depends_on(trades, m, how)) {
        EXPECT_EQ(t.failure, "") << t.trade;
        for (const market_number& n : t.numbers) by_trade[t.trade].insert(n.key);
    }
    EXPECT_EQ(by_trade.at("ACME"),
              (std::set<std::string>{"USD.rate", "USD.hull_white.mean_reversion",
                                     "USD.hull_white.volatility@1y", "ACME.spot", "ACME.dividend_yield",
                                     "ACME.volatility", "USD.rate|ACME.correlation"}));
    EXPECT_TRUE(by_trade.at("seen").contains("ACME.fixing@2026-01-02"));
    EXPECT_FALSE(by_trade.at("seen").contains("EURUSD.fixing@2026-01-02"));
    EXPECT_TRUE(by_trade.at("quanto").contains("BETA|EURUSD.correlation"));
    EXPECT_FALSE(by_trade.at("BETA").contains("BETA|EURUSD.correlation"));
    EXPECT_TRUE(by_trade.at("BETA").contains("BETA.volatility@2027-07-15"));
    EXPECT_FALSE(by_trade.at("BETA").contains("GBP.rate@1y"));
    // A trade's price moves only with numbers that depends_on lists for the trade.
    const auto first = prices(m);
    for (const market_number& n : m.numbers()) {
        const double by = n.value == 0 ? 1e-4 : 1e-3 * std::abs(n.value);
        market other = m;
        try {
            other = m.shifted(n.key, by);
        } catch (const error&) {
            other = m.shifted(n.key, -by);
        }
        for (const auto& [trade, price] : prices(other)) {
            const bool is_listed = by_trade[trade].contains(n.key);
            EXPECT_TRUE(same_bits(price, first.at(trade)) || is_listed) << trade << " " << n.key;
        }
    }
    const book broken =
        book::parse("trades: [{id: x, product: european, underlying: NONE, strike: 1, maturity: 1}]");
    EXPECT_NE(engine().depends_on(broken, m, how)[0].failure.find("unknown asset 'NONE'"), std::string::npos);
}

TEST(market_keys, what_is_no_market_is_refused_by_name) {
    const market m = market::parse(all_forms, "forms.yaml");
    const struct {
        const char* key;
        double by;
        std::vector<std::string> parts;
    } cases[] = {
        {"ACME.spot",
         -100,
         {"ACME.spot moved by -100 to 0", "no market", "found the spot 0", "forms.yaml:1"}},
        {"BETA.volatility@2027-07-15", -0.2, {"BETA.volatility@2027-07-15", "total variance falls"}},
        {"STRIKES.volatility@0.5y,6000", 0.1, {"STRIKES.volatility@0.5y,6000", "arbitrage: repair"}},
        {"SVI.volatility@0.5y,rho", -0.5, {"found the correlation rho"}},
        {"HEST.heston.kappa", -2, {"HEST.heston.kappa", "expected a number"}},
        {"EURUSD.rate", -2, {"found the rate"}},
        {"BETA|ACME.correlation", 0.6, {"found the correlation 1.1"}},
        {"BETA.dividend@2026-06-01", 1000, {"BETA"}},
    };
    for (const auto& c : cases) {
        try {
            m.shifted(c.key, c.by);
            ADD_FAILURE() << c.key;
        } catch (const error& e) {
            EXPECT_EQ(e.kind(), error_kind::input) << c.key;
            for (const std::string& part : c.parts)
                EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
        }
    }
    EXPECT_THROW(m.shifted("ACME.spot", std::nan("")), error);
    const std::array<market_change, 2> twice{market_change{"ACME|BETA.correlation", 0.1},
                                             market_change{"BETA|ACME.correlation", 0.1}};
    EXPECT_THROW(m.changed(twice), error);
}

TEST(market_keys, a_matrix_that_no_factors_have_is_refused) {
    const market m = market::parse(
        "as_of: 2026-01-15\ncurrencies: {USD: {rate: 0}}\nassets:\n"
        "  A: {currency: USD, spot: 1, volatility: 0.2}\n  B: {currency: USD, spot: 1, volatility: 0.2}\n"
        "  C: {currency: USD, spot: 1, model: {heston: {v0: 0.04, kappa: 1, theta: 0.04, sigma: 0.3, rho: "
        "-0.5}}}\n"
        "correlations: [[A, B, 0.8], [B, C, 0.7], [A, C, 0.9], [C.variance, A, -0.3]]\n");
    const auto refused = [&](const std::string& key, double to, const std::string& part) {
        try {
            m.with(key, to);
            ADD_FAILURE() << key;
        } catch (const error& e) {
            EXPECT_NE(e.message().find(part), std::string::npos) << e.message();
        }
    };
    refused("A|C.correlation", -0.5,
            "A|C.correlation set to -0.5: this is no market: the correlation matrix");
    // The correlation of Heston's own variance is a part of the matrix as well.
    refused("C.heston.rho", 0.95, "the correlation matrix has the negative eigenvalue");
    EXPECT_NO_THROW(m.with("C.heston.rho", -0.55));
    // Two changes, each invalid alone and valid with the other.
    refused("A|C.correlation", -0.2, "negative eigenvalue");
    refused("A|B.correlation", 0, "negative eigenvalue");
    const std::array<market_change, 2> both{market_change{"A|C.correlation", -0.2, market_change::way::set},
                                            market_change{"A|B.correlation", 0, market_change::way::set}};
    const market turned = m.changed(both);
    EXPECT_EQ(state_of(turned).correlation("A", "C"), -0.2);
}

TEST(market_keys, quoted_crosses_have_to_agree) {
    const market m = market::parse(
        "as_of: 2026-01-15\ncurrencies: {USD: {rate: 0}, EUR: {rate: 0}, GBP: {rate: 0}}\n"
        "fx: {EURUSD: {rate: 1.25}, GBPUSD: {rate: 1.5}, EURGBP: {rate: 0.8333}}\n");
    EXPECT_THROW(m.shifted("EURUSD.rate", 0.1), error);
    const std::array<market_change, 2> both{market_change{"EURUSD.rate", 0.15},
                                            market_change{"EURGBP.rate", 0.1}};
    EXPECT_NO_THROW(m.changed(both));
}

TEST(market_keys, a_surface_that_is_bent_elsewhere_is_told) {
    const std::string text =
        "as_of: 2026-01-15\ncurrencies: {USD: {rate: 0}}\nassets:\n  A:\n    currency: USD\n    spot: 100\n"
        "    model: {local_volatility: {surface: {by_strike: {0.5: {80: 0.25, 100: 0.2, 120: 0.19}, 1.0: "
        "{80: 0.24, 100: 0.2, 120: 0.19}}, arbitrage: repair}}}\n";
    const market m = market::parse(text);
    const std::size_t before = m.remarks().size();
    const market bent = m.shifted("A.volatility@0.5y,100", 0.2);
    ASSERT_GT(bent.remarks().size(), before + 1);
    EXPECT_NE(bent.remarks().back().find("these remarks changed with the market"), std::string::npos)
        << bent.remarks().back();
    EXPECT_EQ(bent.shifted("A.volatility@0.5y,100", -0.2).with("A.volatility@0.5y,100", 0.2).remarks(),
              m.remarks());
}

TEST(market_keys, scenarios_are_shifted_row_by_row) {
    const tests::own_folder folder;
    // Writes NumPy's format 1.0: two rows of four paths.
    const auto write = [&](const char* file, float more) {
        std::string bytes("\x93NUMPY\x01\x00\x76\x00", 10);
        bytes += "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }";
        bytes.resize(127, ' ');
        bytes += '\n';
        for (const float level :
             {0.2F, 0.21F, 0.22F, 0.23F, 0.3F + more, 0.31F + more, 0.32F + more, 0.33F + more})
            bytes.append(reinterpret_cast<const char*>(&level), sizeof level);
        folder.write(file, bytes);
    };
    write("vols.npy", 0);
    const std::string text =
        "as_of: 2026-01-15\ncurrencies: {USD: {rate: 0}}\nassets:\n  A: {currency: USD, spot: 100, "
        "volatility: {scenarios: vols.npy, times: [0.5, 1.0]}}\n";
    const market m = market::parse(text, (folder.path() / "market.yaml").string());
    EXPECT_EQ(keys_of(m),
              (std::vector<std::string>{"USD.rate", "A.spot", "A.volatility@0.5y", "A.volatility@1y"}));
    EXPECT_EQ(m.number("A.volatility@1y").value, 0);
    const auto price = [](const market& in) {
        run_options how;
        how.overrides.paths = 4;
        how.overrides.device = "cpu";
        const results got = engine().price(
            book::parse("trades: [{id: call, product: european, underlying: A, strike: 100, maturity: 1.0, "
                        "option: call}]"),
            in, how);
        EXPECT_EQ(got.rows[0].status, trade_status::priced) << got.rows[0].message;
        return got.rows[0].price;
    };
    const double before = price(m);
    EXPECT_TRUE(same_bits(price(m.shifted("A.volatility@1y", 0)), before));
    const market up = m.shifted("A.volatility@1y", 0.0625);
    EXPECT_NE(price(up), before);
    EXPECT_TRUE(same_bits(price(up.with("A.volatility@1y", 0)), before));
    run_options few;
    few.overrides.paths = 4;
    few.overrides.device = "cpu";
    const session ready = engine().open(
        book::parse("trades: [{id: call, product: european, underlying: A, strike: 100, maturity: 1.0}]"));
    EXPECT_TRUE(same_bits(ready.price(m, few).rows[0].price, before));
    EXPECT_TRUE(same_bits(ready.price(up, few).rows[0].price, price(up)));
    EXPECT_EQ(up.files(), m.files());
    write("higher.npy", 0.0625F);
    const std::string higher = tests::replaced(text, "vols.npy", "higher.npy");
    EXPECT_NEAR(price(market::parse(higher, (folder.path() / "other.yaml").string())), price(up), 1e-5);
    EXPECT_THROW(m.shifted("A.volatility@0.5y", -0.5), error);
}

// A key's form, without its names: "BETA.volatility@2027-07-15" and "ACME.volatility@0.5y" are both
// ".volatility@time". Parameters of models are ".model".
std::string shape_of(std::string_view key, std::string_view unit) {
    std::string out(unit.starts_with("parameter of") && !unit.starts_with("parameter of SVI")
                        ? ".model"
                        : key.substr(key.find_first_of(".|")));
    if (key.ends_with(".correlation")) return ".correlation";
    if (out.starts_with(".model") && key.find('@') != std::string_view::npos)
        out += key.substr(key.find('@'));
    const std::size_t at = out.find('@');
    if (at == std::string::npos) return out;
    std::string shape = out.substr(0, at), rest = out.substr(at + 1);
    for (char before = '@'; !rest.empty(); before = ',') {
        const std::string one = rest.substr(0, rest.find(','));
        rest.erase(0, one.size() + 1);
        const bool is_number = one.find_first_not_of("0123456789.") == std::string::npos;
        const bool is_date = one.size() >= 10 && one[4] == '-';
        const bool is_time = is_date || one.ends_with('y');
        shape += before + std::string(is_time ? "time" : is_number ? "number" : "name");
    }
    return shape;
}

// Fails for a number of the market whose form has no row in the table, and for a row without such a number.
TEST(market_keys, the_table_has_the_forms_of_the_list) {
    std::set<std::string> listed, told;
    for (const market_number& n : market::parse(all_forms).numbers()) listed.insert(shape_of(n.key, n.unit));
    for (const market_key_form& form : market_key_forms()) told.insert(shape_of(form.key, form.unit));
    EXPECT_EQ(listed, told);
}

TEST(market_keys_values, a_market_is_built_read_changed_and_written) {
    value built;
    built["as_of"] = "2026-01-15";
    built["currencies"]["USD"]["rate"] = 0.03;
    value& acme = built["assets"]["ACME"];
    acme["currency"] = "USD";
    acme["spot"] = 100;
    acme["volatility"]["0.5"] = 0.2;
    acme["volatility"]["2027-01-15"] = 0.21;
    built["correlations"] = value::list();
    const market m = market::from_value(built);
    EXPECT_EQ(state_of(m).find_asset("ACME").spot, 100);
    EXPECT_EQ(m.written(), built);
    EXPECT_EQ(market::parse(built.yaml()).written(), built);
    value changed = m.written();
    changed["assets"]["ACME"]["spot"] = 101.5;
    EXPECT_EQ(market::from_value(changed).number("ACME.spot").value, 101.5);
    changed["assets"]["ACME"]["spott"] = 1;
    try {
        market::from_value(changed, "built");
        ADD_FAILURE();
    } catch (const error& e) {
        EXPECT_NE(std::string(e.what()).find("did you mean 'spot'"), std::string::npos) << e.what();
        EXPECT_EQ(e.key_path(), "assets.ACME.spott");
    }
}

TEST(market_keys_values, a_book_is_built_read_changed_and_written) {
    value built;
    built["market"] = value::parse(all_forms);
    built["settings"]["paths"] = 1024;
    value trade;
    trade["id"] = "call";
    trade["product"] = "european";
    trade["underlying"] = "ACME";
    trade["strike"] = 100;
    trade["maturity"] = "2027-01-15";
    built["trades"] = value::list({trade});
    trade["id"] = "007";
    trade["strike"] = "none";
    built["trades"].items().push_back(trade);
    built["trade_count"] = 2;
    const book made = book::from_value(built);
    EXPECT_EQ(made.written(), built);
    EXPECT_EQ(made.size(), 2u);
    const book one = made.only({"call"});
    EXPECT_EQ(one.written().at("trades").items().size(), 1u);
    EXPECT_EQ(book::from_value(one.written()).written(), one.written());
    const results of_two = engine().price(made), of_one = engine().price(book::from_value(one.written()));
    EXPECT_EQ(of_two.rows[0].price, of_one.rows[0].price);
    EXPECT_EQ(of_two.rows[1].trade, "007");
    EXPECT_EQ(of_two.rows[1].status, trade_status::failed);
    value changed = one.written();
    changed["trades"].items()[0]["strike"] = 90;
    EXPECT_GT(engine().price(book::from_value(changed)).rows[0].price, of_one.rows[0].price);
}

TEST(market_keys_values, results_say_which_numbers_were_changed) {
    const market m = market::parse(all_forms);
    const book calls =
        book::parse("trades: [{id: call, product: european, underlying: ACME, strike: 100, maturity: 1.0}]");
    run_options how;
    how.overrides.paths = 1024;
    how.overrides.device = "cpu";
    EXPECT_TRUE(engine().price(calls, m, how).manifest.market_changes.empty());
    const results got = engine().price(calls, m.shifted("ACME.spot", 1), how);
    ASSERT_EQ(got.manifest.market_changes.size(), 1u);
    EXPECT_EQ(got.manifest.market_changes[0].key, "ACME.spot");
    std::ostringstream difference;
    write(difference, compare(engine().price(calls, m, how), got));
    EXPECT_NE(difference.str().find("numbers of the market that the runs changed differently: ACME.spot"),
              std::string::npos)
        << difference.str();
    results one = got, other = got;
    for (int k = 0; k < 8; ++k)
        other.manifest.market_changes.push_back({"K" + std::to_string(k) + ".spot", 1, "USD"});
    one.manifest.market_changes.clear();
    std::ostringstream many;
    write(many, compare(one, other));
    EXPECT_NE(many.str().find("K5.spot, K6.spot and 1 more\n"), std::string::npos) << many.str();
    std::ostringstream json;
    write(json, got, output_format::json);
    const results back = read_results(json.str(), "back");
    ASSERT_EQ(back.manifest.market_changes.size(), 1u);
    EXPECT_EQ(back.manifest.market_changes[0].value, 101);
    EXPECT_EQ(back.manifest.market_changes[0].unit, "USD");
}

TEST(market_keys_values, all_shipped_files_read_back_as_they_were) {
    std::size_t files = 0;
    for (const char* const folder : {"configs", "products/library"}) {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(
                 std::filesystem::path(TILEWALK_SOURCE_DIR) / folder)) {
            if (entry.path().extension() != ".yaml") continue;
            const value read = value::parse(tests::text_of(entry.path()), entry.path().string());
            EXPECT_EQ(value::parse(read.yaml()), read) << entry.path();
            ++files;
        }
    }
    EXPECT_GT(files, 45u);
}

TEST(market_keys_values, scalars_keep_their_kind) {
    value v =
        value::mapping({{"a", 0.1}, {"b", "0.1"}, {"c", true}, {"d", "true"}, {"e", -3}, {"f", "x: y"}});
    v["g"] = value::list({1, "two", value()});
    v["h"] = "several\nlines\n";
    v["i"]["j"] = "no last\n\nline end";
    v["k"] = value::list({value::mapping({{"script", "pay 1\n"}, {"n", 2}}), 5e-324});
    v["l"] = "null";
    v["m"] = " \n odd start\n";
    v["n: #"] = "\t\"quoted\"\\";
    const value back = value::parse(v.yaml());
    EXPECT_EQ(back, v) << v.yaml();
    EXPECT_EQ(back.at("a").number(), 0.1);
    EXPECT_THROW(back.at("b").number(), error);
    EXPECT_EQ(back.at("k").items()[1].number(), 5e-324);
    EXPECT_THROW(back.at("x"), error);
    EXPECT_THROW(back.items(), error);
    v.erase("a");
    EXPECT_EQ(v.find("a"), nullptr);
}

}  // namespace
}  // namespace tilewalk::market_keys_test
