// SPDX-License-Identifier: Apache-2.0
// Curves, volatilities, dividends and exchange rates against independent sums; every refusal of the market
// reader.
#include "tilewalk/market.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "engine/base/digest.h"
#include "engine/market/market_state.h"
#include "tests/texts.h"

namespace market_test {
namespace {

using namespace tilewalk;
using namespace tilewalk::markets;

std::filesystem::path configs() {
    return std::filesystem::path(TILEWALK_SOURCE_DIR) / "configs";
}

// The accuracy of a sum of a few exponentials.
constexpr double rounding = 1e-13;

TEST(market_digest, known_answers) {
    // SHA-256 of messages in FIPS 180-2, and by sha256sum for sizes around the edges of the padding.
    EXPECT_EQ(config::sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(config::sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(config::sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(config::sha256(std::string(1'000'000, 'a')),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    const struct {
        std::size_t size;
        const char* expected;
    } edges[] = {
        {55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
        {56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
        {63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"},
        {64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
        {65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"},
        {119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"},
        {120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"},
        {128, "6836cf13bac400e9105071cd6af47084dfacad4e5e302c94bfed24e013afb73e"},
    };
    for (const auto& edge : edges)
        EXPECT_EQ(config::sha256(std::string(edge.size, 'a')), edge.expected) << edge.size;
}

TEST(market_curve, flat_is_an_exponential) {
    const curve c = curve::flat(0.05);
    EXPECT_EQ(c.discount(0), 1);
    for (const double t : {0.01, 0.5, 1.0, 7.3, 50.0}) {
        EXPECT_NEAR(c.discount(t), std::exp(-0.05 * t), rounding) << t;
        EXPECT_EQ(c.log_discount(t), -0.05 * t) << t;
    }
    EXPECT_TRUE(c.pillars().empty());
}

TEST(market_curve, log_linear_between_pillars_and_the_last_forward_after_them) {
    const std::vector<double> years = {0.5, 1.0, 3.0}, rates = {0.02, 0.03, 0.025};
    const curve c = curve::from_zero_rates(years, rates);
    EXPECT_EQ(c.discount(0), 1);
    for (std::size_t i = 0; i < years.size(); ++i) {
        EXPECT_EQ(c.log_discount(years[i]), -rates[i] * years[i]) << years[i];
    }
    // Forward rates are constant: 0.02 until 0.5 years, 0.04 until 1, 0.0225 after it.
    const auto integral = [](double t) {
        return 0.02 * std::min(t, 0.5) + 0.04 * std::min(std::max(t - 0.5, 0.0), 0.5) +
               0.0225 * std::max(t - 1, 0.0);
    };
    for (double t = 0; t < 6; t += 0.0625) EXPECT_NEAR(c.log_discount(t), -integral(t), rounding) << t;
    EXPECT_EQ(c.pillars(), years);
}

TEST(market_curve, the_same_from_rates_and_from_factors) {
    const std::vector<double> years = {0.25, 2.0, 10.0}, rates = {-0.004, 0.011, 0.028};
    std::vector<double> factors;
    for (std::size_t i = 0; i < years.size(); ++i) factors.push_back(std::exp(-rates[i] * years[i]));
    const curve a = curve::from_zero_rates(years, rates), b = curve::from_discount_factors(years, factors);
    for (double t = 0; t < 15; t += 0.17) EXPECT_NEAR(a.log_discount(t), b.log_discount(t), rounding) << t;
    for (std::size_t i = 0; i < years.size(); ++i) EXPECT_NEAR(b.discount(years[i]), factors[i], rounding);

    const curve one = curve::from_discount_factors({2.0}, {0.9});
    EXPECT_NEAR(one.discount(1), std::sqrt(0.9), rounding);
    EXPECT_NEAR(one.discount(4), 0.81, rounding);
}

TEST(market_curve, refuses_what_is_no_curve) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW(curve::from_zero_rates({}, {}), error);
    EXPECT_THROW(curve::from_zero_rates({1.0}, {0.01, 0.02}), error);
    EXPECT_THROW(curve::from_zero_rates({0.0, 1.0}, {0.01, 0.02}), error);
    EXPECT_THROW(curve::from_zero_rates({1.0, 1.0}, {0.01, 0.02}), error);
    EXPECT_THROW(curve::from_zero_rates({2.0, 1.0}, {0.01, 0.02}), error);
    EXPECT_THROW(curve::from_zero_rates({nan}, {0.01}), error);
    EXPECT_THROW(curve::from_zero_rates({1.0}, {nan}), error);
    EXPECT_THROW(curve::from_discount_factors({1.0}, {0.0}), error);
    EXPECT_THROW(curve::from_discount_factors({1.0}, {-0.5}), error);
    EXPECT_THROW(curve::from_discount_factors({1.0}, {nan}), error);
}

TEST(market_volatility, total_variance) {
    const volatility flat = volatility::flat(0.2);
    EXPECT_EQ(flat.total_variance(0), 0);
    EXPECT_NEAR(flat.total_variance(3), 0.12, rounding);

    const volatility term = volatility::by_term({0.5, 2.0}, {0.2, 0.25});
    EXPECT_NEAR(term.total_variance(0.25), 0.04 * 0.25, rounding);
    EXPECT_NEAR(term.total_variance(0.5), 0.02, rounding);
    EXPECT_NEAR(term.total_variance(1.25), (0.02 + 0.125) / 2, rounding);
    EXPECT_NEAR(term.total_variance(2.0), 0.125, rounding);
    EXPECT_NEAR(term.total_variance(8.0), 0.0625 * 8, rounding);
}

TEST(market_volatility, covariance_is_the_integral) {
    const std::vector<volatility> known = {
        volatility::flat(0.2),
        volatility::flat(0),
        volatility::by_term({1.0}, {0.3}),
        volatility::by_term({0.5, 2.0}, {0.2, 0.25}),
        volatility::by_term({0.25, 0.5, 1.0, 3.0}, {0.3, 0.27, 0.26, 0.28}),
        volatility::by_term({1.0, 4.0}, {0.2, 0.1}),  // no variance between the pillars
    };
    // Local volatility from differences of the total variance; no step below straddles a pillar.
    const auto local = [](const volatility& v, double t, double step) {
        return std::sqrt(std::max(0.0, (v.total_variance(t + step) - v.total_variance(t)) / step));
    };
    const double step = 1.0 / 1024;
    for (std::size_t i = 0; i < known.size(); ++i) {
        for (std::size_t j = 0; j < known.size(); ++j) {
            for (const auto& [from, to] : std::vector<std::pair<double, double>>{
                     {0, 0.125}, {0, 1}, {0.25, 0.75}, {0.375, 3.5}, {1, 1}, {3, 5}, {5, 7.25}}) {
                double sum = 0;
                for (double t = from; t < to; t += step)
                    sum += local(known[i], t, step) * local(known[j], t, step) * step;
                const double found = volatility::covariance(known[i], known[j], from, to);
                EXPECT_NEAR(found, sum, 2e-9) << i << " and " << j << " from " << from << " to " << to;
                EXPECT_EQ(found, volatility::covariance(known[j], known[i], from, to)) << i << " and " << j;
                if (i == j) {
                    EXPECT_NEAR(found, known[i].total_variance(to) - known[i].total_variance(from), 1e-14)
                        << i << " from " << from << " to " << to;
                }
            }
        }
    }
}

TEST(market_volatility, refuses_what_is_no_volatility) {
    EXPECT_THROW(volatility::by_term({}, {}), error);
    EXPECT_THROW(volatility::by_term({1.0}, {0.1, 0.2}), error);
    EXPECT_THROW(volatility::by_term({1.0, 0.5}, {0.1, 0.2}), error);
    EXPECT_THROW(volatility::by_term({1.0}, {-0.1}), error);
    EXPECT_THROW(volatility::by_term({1.0, 2.0}, {0.2, 0.1}), error);
    EXPECT_NO_THROW(volatility::by_term({1.0, 4.0}, {0.2, 0.1}));  // equal total variance
}

asset payer() {
    asset a;
    a.name = "PAYER";
    a.currency = "USD";
    a.spot = 100;
    a.dividend_yield = curve::from_zero_rates({1.0, 3.0}, {0.01, 0.02});
    a.dividends = {{0.25, 2.0, false}, {0.5, 0.03, true},  {1.0, 1.5, false}, {1.0, 0.01, true},
                   {1.5, 0.02, true},  {1.5, 0.75, false}, {2.5, 4.0, false}};
    return a;
}

const curve& rates() {
    static const curve c = curve::from_zero_rates({0.5, 2.0, 5.0}, {0.03, 0.035, 0.04});
    return c;
}

// The factor by which the forward price grows over (from, to], with proportional dividends from number
// `first` on and without cash dividends.
double growth(const asset& a, double from, double to, std::size_t first) {
    double factor = rates().discount(from) / rates().discount(to) * a.dividend_yield.discount(to) /
                    a.dividend_yield.discount(from);
    for (std::size_t j = first; j < a.dividends.size() && a.dividends[j].years <= to; ++j) {
        if (a.dividends[j].proportional) factor *= 1 - a.dividends[j].amount;
    }
    return factor;
}

TEST(market_dividends, forward_is_the_grown_spot_less_the_grown_cash) {
    const asset a = payer();
    for (double t = 0; t < 4; t += 0.0625) {
        double expected = a.spot * growth(a, 0, t, 0);
        for (std::size_t j = 0; j < a.dividends.size() && a.dividends[j].years <= t; ++j) {
            const dividend& d = a.dividends[j];
            if (!d.proportional) expected -= d.amount * growth(a, d.years, t, j + 1);
        }
        EXPECT_NEAR(forward(a, rates(), t), expected, 1e-11) << t;
    }
}

TEST(market_dividends, forward_by_walking_from_ex_date_to_ex_date) {
    const asset a = payer();
    double level = a.spot, now = 0;
    for (const dividend& d : a.dividends) {
        level *= growth(a, now, d.years, a.dividends.size());
        now = d.years;
        if (d.proportional) level *= 1 - d.amount;
        if (!d.proportional) level -= d.amount;
    }
    EXPECT_NEAR(forward(a, rates(), now), level, 1e-11);
}

TEST(market_dividends, affine_form) {
    const asset a = payer();
    const affine today = spot_map(a, rates(), 0);
    EXPECT_NEAR(today.scale + today.shift, a.spot, rounding * a.spot);
    // Today's shift is the sum of cash dividends, discounted and scaled up by the yield and earlier
    // proportions.
    double worth = 0, kept = 1;
    for (const dividend& d : a.dividends) {
        if (d.proportional) {
            kept *= 1 - d.amount;
        } else {
            worth += d.amount * rates().discount(d.years) / (kept * a.dividend_yield.discount(d.years));
        }
    }
    EXPECT_NEAR(today.shift, worth, 1e-12);
    EXPECT_EQ(spot_map(a, rates(), 2.5).shift, 0);
    EXPECT_NEAR(spot_map(a, rates(), 2.5, true).shift, 4.0, 1e-12);
}

// For any value x of the martingale, the price must fall by exactly its dividend on every ex-date and grow at
// the carry in between, so that trading dividends against the spot earns nothing.
TEST(market_dividends, every_path_falls_by_the_dividend_and_grows_at_the_carry) {
    const asset a = payer();
    for (const double x : {0.2, 1.0, 3.5}) {
        const auto at = [&](double t, bool before) {
            const affine map = spot_map(a, rates(), t, before);
            return map.scale * x + map.shift;
        };
        double last = 0;
        for (std::size_t j = 0; j < a.dividends.size();) {
            const double t = a.dividends[j].years;
            EXPECT_NEAR(at(t, true), at(last, false) * growth(a, last, t, a.dividends.size()), 1e-11)
                << x << ' ' << t;
            double expected = at(t, true);
            for (; j < a.dividends.size() && a.dividends[j].years == t; ++j) {
                expected -=
                    a.dividends[j].proportional ? expected * a.dividends[j].amount : a.dividends[j].amount;
            }
            EXPECT_NEAR(at(t, false), expected, 1e-11) << x << ' ' << t;
            last = t;
        }
    }
    for (double t = 0; t < 4; t += 0.03125) {
        const affine map = spot_map(a, rates(), t);
        EXPECT_NEAR(map.scale + map.shift, forward(a, rates(), t), 1e-12) << t;
        EXPECT_GT(map.scale, 0) << t;
        EXPECT_GE(map.shift, 0) << t;
    }
}

TEST(market_dividends, without_cash_there_is_no_shift) {
    asset a = payer();
    std::erase_if(a.dividends, [](const dividend& d) { return !d.proportional; });
    for (double t = 0; t < 4; t += 0.125) {
        const affine map = spot_map(a, rates(), t);
        EXPECT_EQ(map.shift, 0) << t;
        EXPECT_NEAR(map.scale, a.spot * growth(a, 0, t, 0), 1e-11) << t;
    }
    EXPECT_EQ(spot_map(a, rates(), 0).scale, a.spot);
}

TEST(market_dividends, more_cash_than_spot_is_refused) {
    asset a = payer();
    a.dividends.push_back({3.0, 120.0, false});
    try {
        spot_map(a, rates(), 1);
        FAIL() << "accepted";
    } catch (const error& e) {
        EXPECT_EQ(e.kind(), error_kind::input);
        EXPECT_NE(e.message().find("PAYER"), std::string::npos) << e.message();
        EXPECT_NE(e.message().find("less than the spot 100"), std::string::npos) << e.message();
    }
}

const std::string sound = R"(as_of: 2026-01-15
currencies:
  USD: {rate: 0.03}
  EUR: {zero_rates: {0.5: 0.02, 2027-01-15: 0.021}}
  GBP: {discount_factors: {1.0: 0.96}}
assets:
  ACME: {currency: USD, spot: 100, dividend_yield: 0.01, volatility: 0.2}
  BETA:
    currency: EUR
    spot: 50
    volatility: {0.5: 0.2, 2.0: 0.25}
    dividends:
      - {date: 1.5, proportion: 0.01}
      - {date: 2026-06-01, amount: 0.5}
      - {date: 2025-06-01, amount: 0.5}
  GAMMA: {currency: GBP, spot: 10, dividend_yield: {zero_rates: {1.0: 0.02}}}
fx:
  EURUSD: {rate: 1.25, volatility: 0.1}
  GBPUSD: {rate: 1.5}
correlations:
  - [BETA, ACME, 0.5]
  - [BETA, EURUSD, -0.2]
fixings:
  ACME: {2026-01-02: 99.5, 2026-01-15: 100}
  GBPEUR: {2026-01-02: 1.15}
)";

TEST(market, everything_it_says) {
    const market read = market::parse(sound, "sound.yaml");
    const market_state& m = state_of(read);
    EXPECT_EQ(read.as_of(), "2026-01-15");
    EXPECT_EQ(m.name, "sound.yaml");
    EXPECT_EQ(m.hash, config::sha256(sound));
    EXPECT_EQ(m.hash.size(), 64u);
    EXPECT_NEAR(m.discount_curve("USD").discount(2), std::exp(-0.06), rounding);
    EXPECT_NEAR(m.discount_curve("EUR").log_discount(1), -0.021, rounding);
    EXPECT_NEAR(m.discount_curve("GBP").discount(2), 0.96 * 0.96, rounding);

    const asset& acme = m.find_asset("ACME");
    EXPECT_EQ(acme.spot, 100);
    EXPECT_EQ(acme.where.line, 7);
    EXPECT_NEAR(forward(acme, m.discount_curve("USD"), 2), 100 * std::exp(0.04), 1e-11);
    const asset& beta = m.find_asset("BETA");
    ASSERT_TRUE(beta.vol);
    EXPECT_NEAR(beta.vol->total_variance(2), 0.125, rounding);
    ASSERT_EQ(beta.dividends.size(), 2u);
    EXPECT_EQ(beta.dividends[0].years, 137 / 365.0);
    EXPECT_FALSE(beta.dividends[0].proportional);
    EXPECT_TRUE(beta.dividends[1].proportional);
    EXPECT_FALSE(m.find_asset("GAMMA").vol);
    EXPECT_NEAR(m.find_asset("GAMMA").dividend_yield.discount(3), std::exp(-0.06), rounding);

    EXPECT_EQ(m.correlation("ACME", "BETA"), 0.5);
    EXPECT_EQ(m.correlation("BETA", "ACME"), 0.5);
    EXPECT_EQ(m.correlation("EURUSD", "BETA"), -0.2);
    EXPECT_EQ(m.correlation("ACME", "EURUSD"), 0);
    EXPECT_EQ(m.correlation("ACME", "ACME"), 1);
    ASSERT_EQ(m.fixings.at("ACME").size(), 2u);
    EXPECT_EQ(m.fixings.at("ACME").at(*dates::parse_date("2026-01-02")), 99.5);
    EXPECT_EQ(m.fixings.at("GBPEUR").size(), 1u);
}

// The same zero rate gives another discount factor under another day count.
TEST(market, rates_by_day_count) {
    const auto log_discount = [](const std::string& curve, double years) {
        const std::string text = "as_of: 2027-07-15\ncurrencies: {USD: " + curve + "}\n";
        return state_of(market::parse(text, "m")).discount_curve("USD").log_discount(years);
    };
    // From 15 July 2027 to the pillar are 383 days: 170 in 2027 and 213 in 2028, a leap year.
    const double years = 383 / 365.0;
    const std::string pillar = "{zero_rates: {2028-08-01: 0.04}";
    EXPECT_NEAR(log_discount(pillar + "}", years), -0.04 * years, rounding);
    EXPECT_NEAR(log_discount(pillar + ", day_count: ACT/365F}", years), -0.04 * years, rounding);
    EXPECT_NEAR(log_discount(pillar + ", day_count: ACT/360}", years), -0.04 * 383 / 360, rounding);
    EXPECT_NEAR(log_discount(pillar + ", day_count: 30/360}", years), -0.04 * 376 / 360, rounding);
    EXPECT_NEAR(log_discount(pillar + ", day_count: ACT/ACT}", years), -0.04 * (170 / 365.0 + 213 / 366.0),
                rounding);
    EXPECT_NEAR(log_discount("{zero_rates: {1.5: 0.04}, day_count: 30/360}", 1.5), -0.06, rounding);
    EXPECT_NEAR(log_discount("{rate: 0.04, day_count: ACT/360}", 2), -0.08 * 365 / 360, rounding);
}

TEST(market, exchange_rates) {
    const market read = market::parse(sound);
    const market_state& m = state_of(read);
    EXPECT_EQ(m.fx_spot("USD", "USD"), 1);
    EXPECT_EQ(m.fx_spot("EUR", "USD"), 1.25);
    EXPECT_EQ(m.fx_spot("USD", "EUR"), 0.8);
    EXPECT_NEAR(m.fx_spot("EUR", "GBP"), 1.25 / 1.5, rounding);
    EXPECT_NEAR(m.fx_spot("GBP", "EUR"), 1.5 / 1.25, rounding);
    const auto [direct, inverted] = m.fx_pair("EUR", "USD");
    ASSERT_TRUE(direct);
    EXPECT_EQ(direct->base, "EUR");
    EXPECT_FALSE(inverted);
    EXPECT_TRUE(m.fx_pair("USD", "EUR").second);
    EXPECT_EQ(m.fx_pair("USD", "EUR").first, direct);
    EXPECT_FALSE(m.fx_pair("EUR", "GBP").first);
}

void expect_refused(const std::string& name, const auto& action, const std::vector<std::string>& expected) {
    try {
        action();
        ADD_FAILURE() << name << " was accepted";
    } catch (const error& e) {
        EXPECT_EQ(e.kind(), error_kind::input) << name;
        for (const std::string& part : expected) {
            EXPECT_NE(std::string(e.what()).find(part), std::string::npos)
                << name << ": " << e.what() << "\n  lacks: " << part;
        }
    }
}

TEST(market, questions_about_what_is_not_there) {
    const market read = market::parse(sound + "", "sound.yaml");
    const market_state& m = state_of(read);
    expect_refused("currency", [&] { m.discount_curve("USF"); },
                   {"unknown currency 'USF'", "EUR, GBP, USD", "did you mean 'USD'?"});
    expect_refused("asset", [&] { m.find_asset("ACNE"); }, {"unknown asset 'ACNE'", "did you mean 'ACME'?"});
    expect_refused("fx currency", [&] { m.fx_spot("EUR", "CHF"); }, {"unknown currency 'CHF'"});
    const market apart = market::parse("as_of: 2026-01-15\ncurrencies: {USD: {rate: 0}, EUR: {rate: 0}}\n");
    expect_refused("fx", [&] { state_of(apart).fx_spot("EUR", "USD"); },
                   {"no exchange rate from EUR to USD", "quotes none"});
}

TEST(market, the_demo_market_is_sound) {
    const market read = market::load(configs() / "markets/demo.yaml");
    const market_state& m = state_of(read);
    EXPECT_EQ(read.as_of(), "2026-01-15");
    for (const auto& [name, a] : m.assets) {
        const curve& discount = m.discount_curve(a.currency);
        EXPECT_NEAR(forward(a, discount, 0), a.spot, rounding * a.spot) << name;
        for (double t = 0; t < 10; t += 0.25)
            EXPECT_GT(spot_map(a, discount, t).scale, 0) << name << ' ' << t;
        EXPECT_TRUE(a.vol) << name;
    }
    for (const char* currency : {"USD", "EUR", "GBP", "JPY"})
        EXPECT_GT(m.fx_spot(currency, "USD"), 0) << currency;
}

TEST(market, refusals_say_where_what_and_what_was_expected) {
    const struct {
        const char *from, *to;
        int line;
        std::string key_path;
        std::vector<std::string> expected;
    } cases[] = {
        {"as_of: 2026-01-15\n", "\n", 2, "", {"'as_of'"}},
        {"as_of: 2026-01-15", "as_of: 0.5", 1, "as_of", {"found '0.5'", "YYYY-MM-DD"}},
        {"as_of: 2026-01-15", "as_of: 2026-02-30", 1, "as_of", {"there is no day"}},
        {"correlations:",
         "corelations:",
         20,
         "",
         {"unknown key 'corelations'", "did you mean 'correlations'?"}},
        {"USD: {rate: 0.03}", "usd: {rate: 0.03}", 3, "currencies.usd", {"'usd'", "three capital letters"}},
        {"{rate: 0.03}",
         "{rate: 5}",
         3,
         "currencies.USD.rate",
         {"found the rate 5", "between -1 and 1", "5 means 500 %", "5 % is written 0.05"}},
        {"{rate: 0.03}", "{rate: -1.5}", 3, "currencies.USD.rate", {"found the rate -1.5"}},
        {"{rate: 0.03}", "{rate: 3%}", 3, "currencies.USD.rate", {"'3%'"}},
        {"{rate: 0.03}",
         "{rte: 0.03}",
         3,
         "currencies.USD.rte",
         {"unknown key 'rte'", "did you mean 'rate'?"}},
        {"{rate: 0.03}", "{}", 3, "currencies.USD", {"found 0 forms of a curve", "zero_rates"}},
        {"{rate: 0.03}", "0.03", 3, "currencies.USD", {"found '0.03'", "{rate: ...}"}},
        {"{rate: 0.03}",
         "{rate: 0.03, discount_factors: {1.0: 0.9}}",
         3,
         "currencies.USD",
         {"found 2 forms of a curve"}},
        {"{rate: 0.03}", "{day_count: ACT/360}", 3, "currencies.USD", {"found 0 forms of a curve"}},
        {"{rate: 0.03}",
         "{rate: 0.03, day_count: ACT/ACT}",
         3,
         "currencies.USD.day_count",
         {"for a rate without pillars, expected ACT/365F or ACT/360"}},
        {"{rate: 0.03}",
         "{rate: 0.03, day_count: ACT/361}",
         3,
         "currencies.USD.day_count",
         {"found 'ACT/361'", "expected one of ACT/365F, ACT/360, ACT/ACT, 30/360",
          "did you mean 'ACT/360'?"}},
        {"{discount_factors: {1.0: 0.96}}",
         "{discount_factors: {1.0: 0.96}, day_count: ACT/360}",
         5,
         "currencies.GBP.day_count",
         {"beside discount factors, which need none"}},
        {"{0.5: 0.02, 2027-01-15: 0.021}", "{}", 4, "currencies.EUR.zero_rates", {"no pillars"}},
        {"{0.5: 0.02,", "{0: 0.02,", 4, "currencies.EUR.zero_rates.0", {"found the pillar 0", "after as_of"}},
        {"{0.5: 0.02,", "{2026-01-15: 0.02,", 4, "currencies.EUR.zero_rates.2026-01-15", {"after as_of"}},
        {"{0.5: 0.02,",
         "{1.5: 0.02,",
         4,
         "currencies.EUR.zero_rates.2027-01-15",
         {"found the pillar 2027-01-15 after 1.5", "strictly increasing"}},
        {"{0.5: 0.02,", "{6m: 0.02,", 4, "currencies.EUR.zero_rates.6m", {"found '6m'", "number of years"}},
        {"{0.5: 0.02,", "{0.5: 2.0,", 4, "currencies.EUR.zero_rates.0.5", {"2 means 200 %"}},
        {"{1.0: 0.96}",
         "{1.0: 0}",
         5,
         "currencies.GBP.discount_factors.1.0",
         {"found the discount factor 0", "more than 0"}},
        {"{1.0: 0.96}", "{1.0: 96}", 5, "currencies.GBP.discount_factors.1.0", {"96", "-456.435 %"}},
        {"currency: USD, spot",
         "currency: USF, spot",
         7,
         "assets.ACME.currency",
         {"unknown currency 'USF'", "did you mean 'USD'?"}},
        {"currency: USD, spot: 100,", "currency: USD,", 7, "assets.ACME", {"spot"}},
        {"spot: 100,", "spot: 0,", 7, "assets.ACME.spot", {"found the spot 0", "more than 0"}},
        {"spot: 100,", "spot: -100,", 7, "assets.ACME.spot", {"found the spot -100"}},
        {"spot: 100,", "spot: 1e16,", 7, "assets.ACME.spot", {"at most 1e15"}},
        {"spot: 100,", "spot: '100 USD',", 7, "assets.ACME.spot", {"100 USD"}},
        {"spot: 100,", "spt: 100,", 7, "assets.ACME.spt", {"unknown key 'spt'", "did you mean 'spot'?"}},
        {"dividend_yield: 0.01",
         "dividend_yield: 1.01",
         7,
         "assets.ACME.dividend_yield",
         {"1.01 means 101 %"}},
        {"volatility: 0.2}",
         "volatility: 20}",
         7,
         "assets.ACME.volatility",
         {"found the volatility 20", "between 0 and 5", "20 means 2000 %", "20 % is written 0.2"}},
        {"volatility: 0.2}", "volatility: -0.2}", 7, "assets.ACME.volatility", {"found the volatility -0.2"}},
        {"volatility: 0.2}",
         "volatility: [0.2]}",
         7,
         "assets.ACME.volatility",
         {"such as 0.2, or one by term"}},
        {"{0.5: 0.2, 2.0: 0.25}",
         "{0.5: 0.2, 2026-10-15: 0.15, 2.0: 0.25}",
         11,
         "assets.BETA.volatility.2026-10-15",
         {"total variance falls", "at 0.5 ", "at 2026-10-15", "volatility 0.15", "at least 0.163"}},
        {"  ACME: {", "  'AC ME': {", 7, "", {"'AC ME'", "visible ASCII"}},
        {"  ACME: {", "  GBPEUR: {", 7, "assets.GBPEUR", {"pair of currencies", "under fx"}},
        {"  GAMMA: {currency", "  ACME: {currency", 16, "", {"duplicate key 'ACME'"}},
        {"proportion: 0.01",
         "proportion: 1",
         13,
         "assets.BETA.dividends[0].proportion",
         {"found the proportion 1", "less than 1"}},
        {"proportion: 0.01", "proportion: -0.01", 13, "assets.BETA.dividends[0].proportion", {"at least 0"}},
        {"proportion: 0.01", "percent: 1", 13, "assets.BETA.dividends[0].percent", {"unknown key 'percent'"}},
        {", proportion: 0.01", "", 13, "assets.BETA.dividends[0]", {"neither amount nor proportion"}},
        {"proportion: 0.01",
         "proportion: 0.01, amount: 1",
         13,
         "assets.BETA.dividends[0]",
         {"both amount and proportion"}},
        {"amount: 0.5}",
         "amount: -0.5}",
         14,
         "assets.BETA.dividends[1].amount",
         {"found the amount -0.5", "0 or more"}},
        {"amount: 0.5}",
         "amount: 51}",
         8,
         "assets.BETA",
         {"cash dividends of 'BETA'", "less than the spot 50"}},
        {"date: 1.5",
         "date: -1.5",
         13,
         "assets.BETA.dividends[0].date",
         {"found -1.5 years", "above 0 or a date"}},
        {"date: 1.5", "date: soon", 13, "assets.BETA.dividends[0].date", {"found 'soon'"}},
        {"EURUSD: {", "EUROUSD: {", 18, "fx.EUROUSD", {"'EUROUSD'", "six letters"}},
        {"EURUSD: {", "EURUSF: {", 18, "fx.EURUSF", {"unknown currency 'USF'", "did you mean 'USD'?"}},
        {"EURUSD: {", "CHFUSD: {", 18, "fx.CHFUSD", {"unknown currency 'CHF'"}},
        {"EURUSD: {", "USDUSD: {", 18, "fx.USDUSD", {"two different currencies"}},
        {"GBPUSD: {rate: 1.5}",
         "USDEUR: {rate: 0.8}",
         19,
         "fx.USDEUR",
         {"found USDEUR beside EURUSD", "quoted once"}},
        {"GBPUSD: {rate: 1.5}", "GBPUSD: {rate: 0}", 19, "fx.GBPUSD.rate", {"found the rate 0"}},
        {"GBPUSD: {rate: 1.5}", "GBPUSD: {}", 19, "fx.GBPUSD", {"rate"}},
        {"GBPUSD: {rate: 1.5}", "GBPUSD: 1.5", 19, "fx.GBPUSD", {"found '1.5'", "{rate: 1.10"}},
        {"GBPUSD: {rate: 1.5}",
         "GBPUSD: {rate: 1.5}\n  GBPEUR: {rate: 0.9}",
         18,
         "fx.EURUSD.rate",
         {"found EURUSD at 1.25", "through GBP", "within 1 %"}},
        {"[BETA, ACME, 0.5]",
         "[BETA, ACME, 1.5]",
         21,
         "correlations[0][2]",
         {"found the correlation 1.5", "between -1 and 1"}},
        {"[BETA, ACME, 0.5]",
         "[BETA, ACNE, 0.5]",
         21,
         "correlations[0][1]",
         {"'ACNE'", "did you mean 'ACME'?"}},
        {"[BETA, ACME, 0.5]", "[BETA, BETA, 1]", 21, "correlations[0][1]", {"BETA with itself"}},
        {"[BETA, ACME, 0.5]", "[BETA, 0.5]", 21, "correlations[0]", {"list of 2", "[ACME, BETA, 0.5]"}},
        {"[BETA, ACME, 0.5]", "ACME", 21, "correlations[0]", {"found 'ACME'", "[ACME, BETA, 0.5]"}},
        {"[BETA, EURUSD, -0.2]",
         "[ACME, BETA, 0.4]",
         22,
         "correlations[1]",
         {"again", "sound.yaml:21", "each pair once"}},
        {"[BETA, EURUSD, -0.2]",
         "[BETA, USDEUR, 0.2]",
         22,
         "correlations[1][1]",
         {"quoted as EURUSD", "opposite sign"}},
        {"[BETA, EURUSD, -0.2]",
         "[BETA, EURUSD, -0.9]\n  - [ACME, EURUSD, 0.9]",
         21,
         "correlations",
         {"negative eigenvalue -0.5", "expected none below 0", "BETA", "ACME", "EURUSD"}},
        {"ACME: {2026-01-02: 99.5, 2026-01-15: 100}",
         "ACNE: {2026-01-02: 99.5}",
         24,
         "fixings.ACNE",
         {"'ACNE'", "did you mean 'ACME'?"}},
        {"2026-01-02: 99.5",
         "2026-01-16: 99.5",
         24,
         "fixings.ACME.2026-01-16",
         {"2026-01-16", "none after as_of (2026-01-15)"}},
        {"2026-01-02: 99.5", "0.5: 99.5", 24, "fixings.ACME.0.5", {"found '0.5'", "YYYY-MM-DD"}},
        {"2026-01-02: 99.5", "2026-01-02: 0", 24, "fixings.ACME.2026-01-02", {"found the fixing 0"}},
        {"ACME: {2026-01-02: 99.5, 2026-01-15: 100}",
         "ACME: 99.5",
         24,
         "fixings.ACME",
         {"found '99.5'", "dates to values"}},
    };
    for (const auto& c : cases) {
        const std::string text = tests::replaced(sound, c.from, c.to);
        try {
            market::parse(text, "sound.yaml");
            ADD_FAILURE() << c.to << " was accepted";
        } catch (const error& e) {
            const std::string what = e.what();
            EXPECT_EQ(e.kind(), error_kind::input) << what;
            EXPECT_EQ(e.where().file, "sound.yaml") << what;
            if (c.line > 0) {
                EXPECT_EQ(e.where().line, c.line) << what;
                EXPECT_GT(e.where().column, 0) << what;
            }
            if (!c.key_path.empty()) {
                EXPECT_EQ(e.key_path(), c.key_path) << what;
            }
            for (const std::string& part : c.expected) {
                EXPECT_NE(what.find(part), std::string::npos) << what << "\n  lacks: " << part;
            }
        }
    }
}

TEST(market, texts_that_are_no_market) {
    for (const char* text : {"", "[1, 2]", "hello", "as_of: 2026-01-15\ncurrencies: {}",
                             "as_of: 2026-01-15\ncurrencies: [USD]", "as_of: 2026-01-15"}) {
        EXPECT_THROW(market::parse(text), error) << text;
    }
    expect_refused("no mapping", [] { market::parse("[1, 2]", "list.yaml"); },
                   {"list.yaml", "expected a market"});
    EXPECT_THROW(market::load(configs() / "markets/no_such_file.yaml"), error);
}

TEST(market, singular_and_unlinked_correlations_are_sound) {
    std::string text = "as_of: 2026-01-15\ncurrencies: {USD: {rate: 0}}\nassets:\n";
    for (const char* name : {"A", "B", "C", "D", "E"})
        text += "  " + std::string(name) + ": {currency: USD, spot: 1}\n";
    const auto with = [&](const std::string& correlations) {
        return market::parse(text + "correlations: " + correlations + "\n");
    };
    EXPECT_NO_THROW(with("[[A, B, 1]]"));
    EXPECT_NO_THROW(with("[[A, B, -1]]"));
    EXPECT_NO_THROW(with("[[A, B, 1], [A, C, 1], [B, C, 1]]"));
    EXPECT_NO_THROW(
        with("[[A, B, -0.5], [A, C, -0.5], [B, C, -0.5]]"));  // the lowest common correlation of three
    EXPECT_THROW(with("[[A, B, -0.51], [A, C, -0.5], [B, C, -0.5]]"), error);
    EXPECT_THROW(with("[[A, B, 1], [A, C, 1]]"), error);  // B and C count as independent
    EXPECT_NO_THROW(with("[[A, B, 0.9], [C, D, -0.9]]"));
    EXPECT_THROW(with("[[A, B, 0.9], [C, D, 0.9], [D, E, 0.9], [C, E, -0.9]]"), error);
    EXPECT_NO_THROW(with("[]"));
}

TEST(market, random_correlation_matrices) {
    std::mt19937_64 random(20260115);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (int round = 0; round < 20; ++round) {
        const std::size_t size = 3 + static_cast<std::size_t>(round) % 6;
        std::vector<std::vector<double>> loadings(size, std::vector<double>(size));
        for (auto& row : loadings) {
            double norm = 0;
            for (double& x : row) x = uniform(random);
            for (const double x : row) norm += x * x;
            for (double& x : row) x /= std::sqrt(norm);
        }
        std::string text = "as_of: 2026-01-15\ncurrencies: {USD: {rate: 0}}\nassets:\n";
        for (std::size_t i = 0; i < size; ++i)
            text += "  A" + std::to_string(i) + ": {currency: USD, spot: 1}\n";
        text += "correlations:\n";
        for (std::size_t i = 0; i < size; ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                double rho = 0;
                for (std::size_t k = 0; k < size; ++k) rho += loadings[i][k] * loadings[j][k];
                text += "  - [A" + std::to_string(i) + ", A" + std::to_string(j) + ", " +
                        std::to_string(rho) + "]\n";
            }
        }
        EXPECT_NO_THROW(market::parse(text)) << text;
    }
}

}  // namespace

}  // namespace market_test
