// SPDX-License-Identifier: Apache-2.0
// The engine against pricers written here in plain C++ from the market's numbers, without programs or tiles.
// With the standard library's random numbers they agree within standard errors; with the numbers that the
// contract promises to each path, up to rounding.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "kernels/philox.h"
#include "kernels/shocks.h"
#include "tests/market_text.h"
#include "tests/plain_paths.h"
#include "tilewalk/tilewalk.h"

namespace tilewalk::independent_test {
namespace {

using tests::product_in_words;

// Three assets: ONE has a continuous yield and a proportional dividend, TWO has cash dividends, and THREE is
// quoted in euros, while its payoff is paid as that many dollars.
constexpr double usd = 0.03, eur = 0.015;
constexpr double one_spot = 100, one_yield = 0.02, one_volatility = 0.25, one_proportion = 0.03,
                 one_ex_date = 0.6;
constexpr double two_spot = 60, two_volatility = 0.3;
constexpr std::array<double, 3> two_ex_dates{0.2, 0.7, 1.2}, two_amounts{1.0, 1.5, 1.25};
constexpr double three_spot = 40, three_yield = 0.01, three_volatility = 0.35;
constexpr double eurusd_volatility = 0.12;
constexpr double one_two = 0.5, one_three = 0.3, two_three = 0.4, three_eurusd = -0.35;

const std::string market_text = R"(
as_of: 2026-01-15
currencies:
  USD: {rate: 0.03}
  EUR: {rate: 0.015}
assets:
  ONE: {currency: USD, spot: 100, dividend_yield: 0.02, volatility: 0.25, dividends: [{date: 0.6, proportion: 0.03}]}
  TWO:
    currency: USD
    spot: 60
    volatility: 0.3
    dividends: [{date: 0.2, amount: 1.0}, {date: 0.7, amount: 1.5}, {date: 1.2, amount: 1.25}]
  THREE: {currency: EUR, spot: 40, dividend_yield: 0.01, volatility: 0.35}
fx:
  EURUSD: {rate: 1.1, volatility: 0.12}
correlations:
  - [ONE, TWO, 0.5]
  - [ONE, THREE, 0.3]
  - [TWO, THREE, 0.4]
  - [THREE, EURUSD, -0.35]
fixings:
  ONE: {2025-12-31: 97, 2026-01-15: 100}
)";

using normals = std::function<double()>;

struct spots {
    double one, two, three;
};

class three_assets {
  public:
    spots next(double years, const normals& draw) {
        const double dt = years - now_, root = std::sqrt(dt);
        now_ = years;
        const double e1 = draw(), e2 = draw(), e3 = draw();
        const double c2 = std::sqrt(1 - one_two * one_two);
        const double c32 = (two_three - one_three * one_two) / c2;
        const double c3 = std::sqrt(1 - one_three * one_three - c32 * c32);
        w1_ += root * e1;
        w2_ += root * (one_two * e1 + c2 * e2);
        w3_ += root * (one_three * e1 + c32 * e2 + c3 * e3);

        const auto grown = [&](double spot, double rate, double volatility, double w) {
            return spot * std::exp((rate - 0.5 * volatility * volatility) * years + volatility * w);
        };
        double still_to_come = 0, all_to_come = 0;
        for (std::size_t i = 0; i < two_amounts.size(); ++i) {
            all_to_come += two_amounts[i] * std::exp(-usd * two_ex_dates[i]);
            if (two_ex_dates[i] > years)
                still_to_come += two_amounts[i] * std::exp(-usd * (two_ex_dates[i] - years));
        }
        return {(years >= one_ex_date ? 1 - one_proportion : 1) *
                    grown(one_spot, usd - one_yield, one_volatility, w1_),
                grown(two_spot - all_to_come, usd, two_volatility, w2_) + still_to_come,
                grown(three_spot, eur - three_yield - three_eurusd * three_volatility * eurusd_volatility,
                      three_volatility, w3_)};
    }

  private:
    double now_ = 0, w1_ = 0, w2_ = 0, w3_ = 0;
};

constexpr std::array<double, 4> call_dates{0.25, 0.5, 1.0, 1.5}, coupons{0.03, 0.06, 0.12, 0.18},
    call_levels{1.05, 1.0, 0.95, 0.9};
const std::string autocallable =
    "product: autocallable, basket: [ONE, TWO, THREE], initial_level: [100, 60, 40], observations: [0.25, "
    "0.5, 1.0, 1.5], "
    "coupon: [0.03, 0.06, 0.12, 0.18], call_level: [1.05, 1.0, 0.95, 0.9], protection: 0.65, notional: 1000";

double autocallable_payoff(const normals& draw) {
    three_assets assets;
    for (std::size_t i = 0; i < call_dates.size(); ++i) {
        const spots s = assets.next(call_dates[i], draw);
        const double worst = std::min({s.one / 100, s.two / 60, s.three / 40});
        const double discount = std::exp(-usd * call_dates[i]);
        if (worst >= call_levels[i]) return 1000 * (1 + coupons[i]) * discount;
        if (i + 1 == call_dates.size()) return (worst >= 0.65 ? 1000 : 1000 * worst) * discount;
    }
    return 0;
}

// An average over 14 dates: two are past, the second of them today, and twelve are to come.
const std::string asian =
    "product: asian, underlying: ONE, strike: 99, averaging_dates: [2025-12-31, 2026-01-15, 2026-02-14, "
    "2026-03-16, "
    "2026-04-15, 2026-05-15, 2026-06-14, 2026-07-14, 2026-08-13, 2026-09-12, 2026-10-12, 2026-11-11, "
    "2026-12-11, "
    "2027-01-10]";

double asian_payoff(const normals& draw) {
    double total = 97 + 100, log_spot = std::log(one_spot), before = 0;
    for (int month = 1; month <= 12; ++month) {
        const double years = 30 * month / 365.0, dt = years - before;
        log_spot += (usd - one_yield - 0.5 * one_volatility * one_volatility) * dt +
                    one_volatility * std::sqrt(dt) * draw();
        if (before < one_ex_date && one_ex_date <= years) log_spot += std::log(1 - one_proportion);
        total += std::exp(log_spot);
        before = years;
    }
    return std::exp(-usd * before) * std::max(total / 14 - 99, 0.0);
}

price_row engine_price(const std::string& trade, std::uint64_t paths, const std::string& products = "") {
    run_options options = tests::plain_paths();
    options.overrides.paths = paths;
    options.overrides.seed = 20260115;
    options.overrides.threads = 2;
    options.overrides.random = "philox";
    const auto b = book::parse(products + "trades:\n  - {id: t, " + trade + "}\n");
    auto rows = engine().price(b, market::parse(market_text), options).rows;
    EXPECT_EQ(rows.at(0).status, trade_status::priced) << rows.at(0).message;
    return rows.at(0);
}

void expect_agreement(const std::string& trade, double (*payoff)(const normals&), double largest_error) {
    constexpr int paths = 300'000;
    const price_row engine_row = engine_price(trade, 1 << 19);
    std::mt19937_64 random(12345);
    std::normal_distribution<double> normal;
    const normals draw = [&] { return normal(random); };
    double sum = 0, squares = 0;
    for (int p = 0; p < paths; ++p) {
        const double x = payoff(draw);
        sum += x;
        squares += x * x;
    }
    const double mean = sum / paths;
    const double error = std::sqrt((squares / paths - mean * mean) / paths);
    const double both = std::hypot(error, engine_row.standard_error);
    EXPECT_LT(std::abs(engine_row.price - mean), 4.5 * both)
        << trade << "\nengine " << engine_row.price << " +- " << engine_row.standard_error << ", here "
        << mean << " +- " << error << ", z = " << (engine_row.price - mean) / both;
    EXPECT_LT(both, largest_error) << trade << ": too noisy to say anything";
    // Both estimate the same standard deviation of one path.
    EXPECT_NEAR(
        engine_row.standard_error * std::sqrt(static_cast<double>(1 << 19)) / (error * std::sqrt(paths)), 1,
        0.02);
}

TEST(independent, worst_of_autocallable) {
    expect_agreement(autocallable, autocallable_payoff, 0.6);
}

TEST(independent, arithmetic_asian_with_a_past) {
    expect_agreement(asian, asian_payoff, 0.03);
}

// By contract each asset has a stream of random numbers, whose 62-bit name is the upper part of a hash of the
// asset's name: 64-bit FNV-1a, then the finaliser of MurmurHash3.
std::uint64_t key_of(const std::string& name) {
    std::uint64_t h = 14695981039346656037u;
    for (const char c : name) h = (h ^ static_cast<std::uint64_t>(c)) * 1099511628211u;
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53u;
    return (h ^ (h >> 33)) >> 2;
}

// Random numbers of one path: step s takes number s of each stream, and block b has numbers 2b and 2b + 1.
class numbers_of_path {
  public:
    using maker = kernels::pair_of_shocks (*)(kernels::word64, kernels::word64, kernels::word32,
                                              kernels::stream_key);
    numbers_of_path(maker make, const std::vector<std::string>& streams, std::uint64_t path)
        : make_(make), path_(path) {
        for (const std::string& name : streams) keys_.push_back(kernels::stream_key_of(key_of(name)));
    }
    double next() {
        const std::size_t step = count_ / keys_.size(), stream = count_ % keys_.size();
        ++count_;
        const auto two = make_(20260115, path_, static_cast<std::uint32_t>(step / 2), keys_[stream]);
        return step % 2 == 0 ? two.first : two.second;
    }

  private:
    maker make_;
    std::uint64_t path_;
    std::vector<kernels::stream_key> keys_;
    std::size_t count_ = 0;
};

double mean_over_contract(double (*payoff)(const normals&), const std::vector<std::string>& streams,
                          std::uint64_t paths) {
    long double sum = 0;
    for (std::uint64_t p = 0; p < paths; ++p) {
        numbers_of_path numbers(kernels::normals, streams, p);
        sum += payoff([&] { return numbers.next(); });
    }
    return static_cast<double>(sum / static_cast<long double>(paths));
}

// Random numbers promised to users' code are Philox4x32-10. The seed is the key; the counter has path (40
// bits), block (24), kind (2) and stream name (62). A uniform has 52 bits, and normals are by Box-Muller.
TEST(independent_random_number_contract, numbers_are_philox_and_box_muller) {
    for (const std::uint64_t path : {std::uint64_t{0}, std::uint64_t{1023}, (std::uint64_t{1} << 40) - 5}) {
        for (const kernels::word32 block : {0U, 1U, 100000U}) {
            const std::uint64_t name = key_of("ONE");
            const auto bits = [&](kernels::word32 kind) {
                const auto upper = static_cast<std::uint32_t>(path >> 32);
                return kernels::philox(
                    {static_cast<std::uint32_t>(path), upper % 4 + 4 * static_cast<std::uint32_t>(name),
                     block + (kind << 24) + (upper / 4 << 26), static_cast<std::uint32_t>(name >> 30)},
                    {20260115U, 0U});
            };
            const auto unit = [](std::uint32_t low, std::uint32_t high) {
                return (static_cast<double>(((std::uint64_t{high} << 32) | low) >> 12) + 0.5) * 0x1p-52;
            };
            const auto n = bits(0), u = bits(1);
            const auto uniforms = kernels::uniforms(20260115, path, block, kernels::stream_key_of(name));
            EXPECT_EQ(uniforms.first, unit(u.x0, u.x1));
            EXPECT_EQ(uniforms.second, unit(u.x2, u.x3));
            const double radius = std::sqrt(-2 * std::log(unit(n.x0, n.x1)));
            const double turn = 2 * 3.14159265358979323846 *
                                std::ldexp(static_cast<double>((std::uint64_t{n.x3} << 32) | n.x2), -64);
            const auto two_normals = kernels::normals(20260115, path, block, kernels::stream_key_of(name));
            EXPECT_NEAR(two_normals.first, radius * std::cos(turn), 4e-15 * (1 + radius));
            EXPECT_NEAR(two_normals.second, radius * std::sin(turn), 4e-15 * (1 + radius));
        }
    }
}

TEST(independent_random_number_contract, a_number_of_each_of_three_streams_a_step) {
    for (const std::uint64_t paths : {1U, 3U, 1025U, 20000U}) {
        const double expected = mean_over_contract(autocallable_payoff, {"ONE", "TWO", "THREE"}, paths);
        EXPECT_NEAR(engine_price(autocallable, paths).price / expected, 1, 1e-12) << paths;
    }
}

TEST(independent_random_number_contract, one_number_a_step) {
    for (const std::uint64_t paths : {5U, 1025U, 20000U}) {
        const double expected = mean_over_contract(asian_payoff, {"ONE"}, paths);
        ASSERT_GT(expected, 0);
        EXPECT_NEAR(engine_price(asian, paths).price / expected, 1, 1e-12) << paths;
    }
}

// A sampled minimum takes one uniform on each step, from the stream for an asset's path between dates.
TEST(independent_random_number_contract, uniforms_are_counted_apart) {
    const std::string products = "products:\n" + product_in_words("low", "The lowest price there was.",
                                                                  "underlying: asset, stops: schedule",
                                                                  "low = 1000000\n"
                                                                  "seen = 0\n"
                                                                  "on stops:\n"
                                                                  "    seen = seen + spot(underlying)\n"
                                                                  "between start and last(stops):\n"
                                                                  "    low = min(low, lowest(underlying))\n"
                                                                  "on last(stops):\n"
                                                                  "    pay low + seen\n");
    constexpr std::array<double, 3> stops{0.1, 0.25, 0.5};
    constexpr std::uint64_t paths = 5000;
    long double sum = 0;
    for (std::uint64_t p = 0; p < paths; ++p) {
        numbers_of_path normal(kernels::normals, {"ONE"}, p), uniform(kernels::uniforms, {"ONE between"}, p);
        double x = std::log(one_spot), before = 0, low = 1e6, seen = 0;
        for (const double t : stops) {
            const double variance = one_volatility * one_volatility * (t - before);
            const double end =
                x + (usd - one_yield) * (t - before) - 0.5 * variance + std::sqrt(variance) * normal.next();
            low = std::min(
                low,
                std::exp(0.5 * (x + end -
                                std::sqrt((end - x) * (end - x) - 2 * variance * std::log(uniform.next())))));
            seen += std::exp(end);
            x = end;
            before = t;
        }
        sum += std::exp(-usd * 0.5) * (low + seen);
    }
    const double expected = static_cast<double>(sum / static_cast<long double>(paths));
    const auto r = engine_price("product: low, underlying: ONE, stops: [0.1, 0.25, 0.5]", paths, products);
    EXPECT_NEAR(r.price / expected, 1, 1e-12);
}

}  // namespace
}  // namespace tilewalk::independent_test
