// SPDX-License-Identifier: Apache-2.0
// Tails of gains over scenarios: their ranks, the errors of sampling and of noise, and the shares of trades.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "engine/study/risk/noise.h"
#include "engine/study/risk/risks.h"
#include "engine/study/risk/sampling.h"
#include "engine/study/risk/tails.h"
#include "engine/walk/units.h"
#include "kernels/normal_distribution.h"
#include "kernels/philox.h"

namespace tilewalk::risk_test {
namespace {

class numbers {
  public:
    explicit numbers(std::uint64_t seed) : seed_(seed) {}
    double uniform() {
        const kernels::philox_block b = kernels::path_block(seed_, next_++, 0, kernels::uniform_stream);
        return (static_cast<double>(b.x0) + 0.5) / 4294967296.0;
    }
    double normal() { return kernels::norm_inv(uniform()); }

  private:
    std::uint64_t seed_, next_ = 0;
};

double mean_of(const std::vector<double>& x) {
    return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}
double spread_of(const std::vector<double>& x) {
    double sum = 0;
    for (const double v : x) sum += (v - mean_of(x)) * (v - mean_of(x));
    return std::sqrt(sum / static_cast<double>(x.size() - 1));
}

TEST(risk_places, are_one_more_than_lie_within_the_level) {
    struct row {
        std::size_t gains;
        double level;
        std::size_t place;
    };
    // Rows with 1,000, 250 and 100 gains are ORE's own (see tests/ore_files_test.py).
    for (const row& r :
         {row{1000, 0.01, 11}, row{1000, 0.025, 26}, row{1000, 0.05, 51}, row{250, 0.01, 3},
          row{250, 0.025, 7}, row{250, 0.05, 13}, row{100, 0.01, 2}, row{101, 0.01, 2}, row{99, 0.01, 1},
          row{1, 0.01, 1}, row{1, 0.999, 1}, row{2, 0.5, 2}, row{3, 0.5, 2}, row{10, 0.999, 10},
          row{100, 0.07, 8}, row{100, 0.29, 30}, row{300, 0.01, 4}, row{700, 0.03, 22}, row{1000, 0.95, 951}})
        EXPECT_EQ(risk::place_of_quantile(r.level, r.gains), r.place) << r.gains << " at " << r.level;
    for (std::size_t n = 1; n <= 1000; ++n) {
        for (std::size_t whole = 0; whole < n; whole += 7) {
            const double level = static_cast<double>(whole) / static_cast<double>(n);
            EXPECT_EQ(risk::place_of_quantile(level, n), whole + 1) << n;
        }
    }
}

TEST(risk_tails, are_those_of_a_sorted_list) {
    numbers at_random(3);
    for (const std::size_t n : {1U, 2U, 3U, 31U, 250U, 1000U}) {
        std::vector<double> gains;
        for (std::size_t i = 0; i < n; ++i)
            gains.push_back(std::floor(20 * at_random.normal()));  // many ties
        std::vector<double> sorted = gains;
        std::ranges::sort(sorted);
        const std::vector<std::size_t> places{1, n, (n + 1) / 2, (n + 1) / 2,
                                              std::max<std::size_t>(n / 20, 1)};
        risk::tail_finder find(places);
        for (int again = 0; again < 2; ++again) {
            const auto found = find.tails_of(gains);
            for (std::size_t i = 0; i < places.size(); ++i) {
                const double quantile = sorted[places[i] - 1];
                EXPECT_EQ(found[i].quantile, quantile);
                std::vector<double> within;
                for (const double g : gains)
                    if (g <= quantile) within.push_back(g);
                EXPECT_EQ(found[i].within, within.size());
                EXPECT_NEAR(found[i].shortfall, mean_of(within), 1e-12);
            }
        }
    }
}

risk::sampling_errors drawn_errors(const std::vector<double>& sorted, std::size_t place, std::size_t within,
                                   int times) {
    numbers at_random(17);
    std::vector<double> quantiles, shortfalls;
    for (int i = 0; i < times; ++i) {
        std::vector<double> drawn;
        for (std::size_t j = 0; j < sorted.size(); ++j)
            drawn.push_back(
                sorted[static_cast<std::size_t>(at_random.uniform() * static_cast<double>(sorted.size()))]);
        std::ranges::sort(drawn);
        quantiles.push_back(drawn[place - 1]);
        shortfalls.push_back(
            std::accumulate(drawn.begin(), drawn.begin() + static_cast<std::ptrdiff_t>(within), 0.0) /
            static_cast<double>(within));
    }
    return {spread_of(quantiles), spread_of(shortfalls)};
}

// The spread of 4,000 draws has a standard error of 1.1 %, slightly more for long tails; 6 % are allowed.
TEST(risk_sampling_errors, are_those_of_a_bootstrap_that_draws) {
    numbers at_random(5);
    for (const std::size_t n : {2U, 5U, 60U, 250U}) {
        std::vector<double> sorted;
        for (std::size_t i = 0; i < n; ++i) sorted.push_back(1e6 + at_random.normal());
        std::ranges::sort(sorted);
        for (const std::size_t place : {std::size_t{1}, n / 20 + 1, n / 2 + 1, n}) {
            const risk::sampling_errors exact = risk::sampling_errors_of(sorted, place, place);
            const risk::sampling_errors drawn = drawn_errors(sorted, place, place, 4000);
            EXPECT_NEAR(exact.quantile, drawn.quantile, 0.06 * drawn.quantile) << n << " at " << place;
            EXPECT_NEAR(exact.shortfall, drawn.shortfall, 0.06 * drawn.shortfall) << n << " at " << place;
        }
    }
}

TEST(risk_sampling_errors, are_known_for_means_and_for_two) {
    const std::vector<double> gains{-9, -4, -3, 0, 2, 2, 8};
    double squares = 0;
    for (const double g : gains) squares += (g - mean_of(gains)) * (g - mean_of(gains));
    EXPECT_NEAR(risk::sampling_errors_of(gains, 2, 7).shortfall, std::sqrt(squares) / 7, 1e-12);
    // The lesser of two draws from -1 and 1 is 1 once in four times, so its variance is 3/4.
    EXPECT_NEAR(risk::sampling_errors_of(std::vector{-1.0, 1.0}, 1, 1).quantile, std::sqrt(0.75), 1e-12);
    EXPECT_EQ(risk::sampling_errors_of(std::vector{-1.0}, 1, 1).quantile, 0);
    EXPECT_EQ(risk::sampling_errors_of(std::vector{3.0, 3.0, 3.0}, 2, 3).quantile, 0);
    EXPECT_EQ(risk::sampling_errors_of(std::vector{3.0, 3.0, 3.0}, 2, 3).shortfall, 0);
}

// The median of 100 draws of 100 gains is almost never the worst or best gain: once in 10^71 times.
TEST(risk_sampling_errors, know_nothing_of_gains_that_no_resample_puts_there) {
    numbers at_random(11);
    std::vector<double> sorted;
    for (int i = 0; i < 100; ++i) sorted.push_back(at_random.normal());
    std::ranges::sort(sorted);
    const double usual = risk::sampling_errors_of(sorted, 50, 50).quantile;
    EXPECT_GT(usual, 0);
    std::vector<double> worst = sorted, best = sorted;
    worst.front() = -1e60;
    best.back() = 1e60;
    EXPECT_EQ(risk::sampling_errors_of(worst, 50, 50).quantile, usual);
    EXPECT_EQ(risk::sampling_errors_of(best, 50, 50).quantile, usual);
}

// For many normal gains the quantile's error is sqrt(a (1 - a) / n) over the density at the quantile; the
// shortfall's variance is (variance within the tail + (1 - a) (quantile - shortfall)^2) / (a n).
TEST(risk_sampling_errors, tend_to_the_formulas_for_normal_gains) {
    const std::size_t n = 20000;
    std::vector<double> sorted;
    for (std::size_t i = 0; i < n; ++i)
        sorted.push_back(kernels::norm_inv((static_cast<double>(i) + 0.5) / static_cast<double>(n)));
    for (const double a : {0.01, 0.025, 0.05, 0.5}) {
        const std::size_t place = risk::place_of_quantile(a, n);
        const risk::sampling_errors found = risk::sampling_errors_of(sorted, place, place);
        const double q = kernels::norm_inv(a),
                     density = std::exp(-q * q / 2) / std::sqrt(2 * 3.14159265358979);
        const double count = static_cast<double>(n);
        EXPECT_NEAR(found.quantile, std::sqrt(a * (1 - a) / count) / density, 0.01 * found.quantile) << a;
        const double shortfall = -density / a;
        const double variance = 1 - q * density / a - shortfall * shortfall;
        const double formula =
            std::sqrt((variance + (1 - a) * (q - shortfall) * (q - shortfall)) / (a * count));
        EXPECT_NEAR(found.shortfall, formula, 0.01 * formula) << a;
    }
}

// Against the truth: the spread of the figures over samples of 250 normal gains.
TEST(risk_sampling_errors, are_of_the_size_of_the_spread_over_samples) {
    numbers at_random(29);
    const std::size_t n = 250, place = 13;
    std::vector<double> quantiles, shortfalls, of_quantile, of_shortfall;
    for (int i = 0; i < 1000; ++i) {
        std::vector<double> sorted;
        for (std::size_t j = 0; j < n; ++j) sorted.push_back(at_random.normal());
        std::ranges::sort(sorted);
        risk::tail_finder find({place});
        quantiles.push_back(find.tails_of(sorted)[0].quantile);
        shortfalls.push_back(find.tails_of(sorted)[0].shortfall);
        const risk::sampling_errors errors = risk::sampling_errors_of(sorted, place, place);
        of_quantile.push_back(errors.quantile);
        of_shortfall.push_back(errors.shortfall);
    }
    EXPECT_NEAR(mean_of(of_quantile), spread_of(quantiles), 0.1 * spread_of(quantiles));
    EXPECT_NEAR(mean_of(of_shortfall), spread_of(shortfalls), 0.1 * spread_of(shortfalls));
}

// A run with known gains: normal noise of size `error` in each of 250 normal gains; a fraction `common` of
// its variance is shared by all.
struct noisy_run {
    std::vector<double> gains, means, shares;
};
noisy_run run_with(const std::vector<double>& truth, double error, double common, std::size_t parts,
                   numbers& at_random) {
    noisy_run out{std::vector<double>(truth.size()), std::vector<double>(truth.size() * parts),
                  risk::shares_of_parts(parts, 100, 100 * parts - 60)};
    for (std::size_t p = 0; p < parts; ++p) {
        const double of_part = error / std::sqrt(out.shares[p]);
        const double alike = std::sqrt(common) * at_random.normal();
        for (std::size_t s = 0; s < truth.size(); ++s) {
            double& mean = out.means[s * parts + p];
            mean = truth[s] + of_part * (alike + std::sqrt(1 - common) * at_random.normal());
            out.gains[s] += out.shares[p] * mean;
        }
    }
    return out;
}

// Over 1,000 runs the stated error has the size of the spread. It is larger where noise that differs between
// scenarios also moves the tail outwards, so that twice the error holds the truth often enough. False alarms:
// the spread of 1,000 figures has an error of 2.2 %, so a bound of 1.1 on the ratio, 4 errors away, fails for
// one seed in 15,000; more than 72 of 1,000 intervals with probability 0.95 miss for one seed in 1,000. With
// 16 parts 2 errors hold 93.6 %, so 88 may miss.
TEST(risk_noise_errors, are_of_the_size_of_the_spread_over_runs) {
    struct row {
        double error;  // in mean distances between gains near the quantile
        double common;
        std::size_t parts;
        double least, most;  // bounds of the quantile's error over its spread
    };
    for (const row& r : {row{0.01, 0, 64, 0.9, 1.1}, row{0.3, 0, 64, 0.9, 1.25}, row{1, 0, 64, 1.0, 1.35},
                         row{1, 0.9, 16, 0.9, 1.1}, row{3, 0.9, 64, 0.9, 1.1}}) {
        numbers at_random(41);
        std::vector<double> truth;
        for (int s = 0; s < 250; ++s) truth.push_back(at_random.normal());
        const std::size_t place = risk::place_of_quantile(0.05, truth.size());
        std::vector<double> sorted = truth;
        std::ranges::sort(sorted);
        const double error = r.error * (sorted[place + 2] - sorted[place - 4]) / 6;
        risk::tail_finder find({place});
        const risk::tail_values true_tail = find.tails_of(truth)[0];
        std::vector<double> quantiles, shortfalls;
        double of_quantile = 0, of_shortfall = 0;
        int quantiles_missed = 0, shortfalls_missed = 0;
        constexpr int runs = 1000;
        for (int i = 0; i < runs; ++i) {
            const noisy_run run = run_with(truth, error, r.common, r.parts, at_random);
            const risk::noise_errors noise = risk::noise_errors_of(run.gains, run.means, run.shares, find)[0];
            const risk::tail_values tail = find.tails_of(run.gains)[0];
            quantiles.push_back(tail.quantile);
            shortfalls.push_back(tail.shortfall);
            of_quantile += noise.quantile * noise.quantile / runs;
            of_shortfall += noise.shortfall * noise.shortfall / runs;
            quantiles_missed += std::abs(tail.quantile - true_tail.quantile) > 2 * noise.quantile;
            shortfalls_missed += std::abs(tail.shortfall - true_tail.shortfall) > 2 * noise.shortfall;
        }
        const std::string row_text = "error " + std::to_string(r.error) + ", common " +
                                     std::to_string(r.common) + ", parts " + std::to_string(r.parts);
        const double size = std::sqrt(of_quantile) / spread_of(quantiles);
        EXPECT_GE(size, r.least) << row_text;
        EXPECT_LE(size, r.most) << row_text;
        EXPECT_NEAR(std::sqrt(of_shortfall) / spread_of(shortfalls), 1, 0.1) << row_text;
        const int most_missed = r.parts < 64 ? 88 : 72;
        EXPECT_LE(quantiles_missed, most_missed) << row_text;
        EXPECT_LE(shortfalls_missed, most_missed) << row_text;
    }
}

// The quantile's error is that of the one gain there if noise never changes the order of gains.
TEST(risk_noise_errors, are_those_of_one_gain_where_gains_are_far_apart) {
    for (const std::size_t parts : {16U, 23U, 64U}) {
        numbers at_random(1);
        std::vector<double> truth;
        for (int s = 0; s < 40; ++s) truth.push_back(1000.0 * ((s * 7) % 40));
        const noisy_run run = run_with(truth, 1, 0.5, parts, at_random);
        risk::tail_finder find({3});
        const risk::noise_errors noise = risk::noise_errors_of(run.gains, run.means, run.shares, find)[0];
        const std::vector<double> means(run.means.begin(), run.means.end());
        const auto at = static_cast<std::size_t>(std::ranges::find(truth, 2000.0) - truth.begin());
        const double expected =
            run::error_of_parts(std::span(means).subspan(at * parts, parts), 100, 100 * parts - 60);
        EXPECT_NEAR(noise.quantile, expected, 1e-9 * expected);
        // The shortfall's error is that of the mean of the three worst gains.
        std::vector<double> together(parts);
        for (const double value : {0.0, 1000.0, 2000.0}) {
            const auto s = static_cast<std::size_t>(std::ranges::find(truth, value) - truth.begin());
            for (std::size_t p = 0; p < parts; ++p) together[p] += means[s * parts + p] / 3;
        }
        const double expected_mean = run::error_of_parts(together, 100, 100 * parts - 60);
        EXPECT_NEAR(noise.shortfall, expected_mean, 1e-9 * expected_mean);
    }
}

TEST(risk_noise_errors, take_the_shares_of_parts_from_their_paths) {
    EXPECT_EQ(risk::shares_of_parts(4, 100, 340),
              (std::vector{100 / 340.0, 100 / 340.0, 100 / 340.0, 40 / 340.0}));
    EXPECT_EQ(risk::shares_of_parts(2, 0, 0), (std::vector{0.5, 0.5}));
}

// Made-up results of a book in two currencies and two portfolios, for a likely set of scenarios and another.
// Gains have noise by parts of a run, and `totals` are added up as the engine does.
struct made {
    scenario_results r;
    scenario_list asked;
};

void add_total(scenario_results& r, const std::vector<double>& parts_of_cells, std::size_t parts,
               const std::string& portfolio, const std::string& currency, bool converted) {
    portfolio_gains of;
    of.portfolio = portfolio;
    of.currency = currency;
    of.is_converted = converted;
    const auto& gains = converted ? r.converted_gains : r.gains;
    for (std::size_t t = 0; t < r.trades(); ++t)
        if ((converted || r.base.rows[t].currency == currency) &&
            (portfolio.empty() || r.portfolios[t] == portfolio))
            of.trades.push_back(t);
    of.gains.assign(r.scenarios.size(), 0);
    of.failed.assign(r.scenarios.size(), 0);
    of.means_of_parts.assign(parts > 0 ? r.scenarios.size() * parts : 0, 0);
    of.parts = parts;
    for (std::size_t s = 0; s < r.scenarios.size(); ++s) {
        for (const std::size_t t : of.trades) {
            const std::size_t cell = s * r.trades() + t;
            if (!is_figure(gains[cell])) {
                ++of.failed[s];
                continue;
            }
            of.gains[s] += gains[cell];
            const double rate = converted && r.base.rows[t].currency == "EUR" ? 1.25 : 1;
            for (std::size_t p = 0; p < parts; ++p)
                of.means_of_parts[s * parts + p] += rate * parts_of_cells[cell * parts + p];
        }
        of.errors.push_back(parts == 0
                                ? 0
                                : run::error_of_parts(std::span(of.means_of_parts).subspan(s * parts, parts),
                                                      r.base.manifest.part_paths, r.base.manifest.paths));
    }
    r.totals.push_back(std::move(of));
}

made made_results(std::size_t trades, std::size_t scenarios, std::size_t parts, bool fails = false) {
    made out;
    scenario_results& r = out.r;
    numbers at_random(7);
    r.base.manifest.part_paths = 1024;
    r.base.manifest.paths = parts > 0 ? 1024 * parts - 500 : 0;
    for (std::size_t t = 0; t < trades; ++t) {
        price_row row;
        row.trade = "T" + std::to_string(t);
        row.currency = t % 3 == 0 ? "EUR" : "USD";
        row.status = fails && t == 2 ? trade_status::failed : trade_status::priced;
        r.base.rows.push_back(row);
        r.portfolios.push_back(t % 2 == 0 ? "even" : "odd");
    }
    const std::vector<double> shares =
        parts > 0 ? risk::shares_of_parts(parts, 1024, r.base.manifest.paths) : std::vector<double>{};
    std::vector<double> cells;
    for (std::size_t s = 0; s < scenarios; ++s) {
        r.scenarios.push_back({s % 10 == 9 ? "stress" : "history", "S" + std::to_string(s)});
        const double move = at_random.normal();
        for (std::size_t t = 0; t < trades; ++t) {
            const double rate = r.base.rows[t].currency == "EUR" ? 1.25 : 1;
            const double truth = 10 * move + 5 * at_random.normal();
            double gain = parts == 0 ? truth : 0;
            std::vector<double> means;
            for (std::size_t p = 0; p < parts; ++p) {
                means.push_back(truth + at_random.normal());
                gain += shares[p] * means.back();
            }
            double error = parts == 0 ? 0 : run::error_of_parts(means, 1024, r.base.manifest.paths);
            cells.insert(cells.end(), means.begin(), means.end());
            const bool failed = r.base.rows[t].status == trade_status::failed || (fails && s == 4 && t == 1);
            if (fails && s == 4 && t == 1) r.failures.push_back({s, t, "no", error_kind::numeric});
            if (failed) gain = error = no_figure;
            r.gains.push_back(gain);
            r.errors.push_back(error);
            r.converted_gains.push_back(rate * gain);
            r.converted_errors.push_back(rate * error);
        }
    }
    for (const std::string portfolio : {"", "even", "odd"})
        for (const std::string currency : {"EUR", "USD"})
            add_total(r, cells, parts, portfolio, currency, false);
    for (const std::string portfolio : {"", "even", "odd"})
        add_total(r, cells, parts, portfolio, "USD", true);
    out.asked.likely_sets = {"history", "nothing"};
    return out;
}

TEST(risks, are_told_for_each_total_of_each_likely_set) {
    const made m = made_results(12, 300, 32);
    const std::vector<portfolio_risk> risks = risk::risks_of(m.r, m.asked);
    ASSERT_EQ(risks.size(), m.r.totals.size());
    for (std::size_t i = 0; i < risks.size(); ++i) {
        const portfolio_risk& risk = risks[i];
        const portfolio_gains& of = m.r.totals[i];
        EXPECT_EQ(risk.set, "history");
        EXPECT_EQ(risk.portfolio, of.portfolio);
        EXPECT_EQ(risk.currency, of.currency);
        EXPECT_EQ(risk.is_converted, of.is_converted);
        EXPECT_EQ(risk.scenarios, 270U);
        EXPECT_TRUE(risk.left_out.empty());
        std::vector<double> sorted;
        for (std::size_t s = 0; s < of.gains.size(); ++s)
            if (m.r.scenarios[s].set == "history") sorted.push_back(of.gains[s]);
        std::ranges::sort(sorted);
        ASSERT_EQ(risk.tails.size(), 3U);
        for (const tail& t : risk.tails) {
            const std::size_t place = risk::place_of_quantile(t.level, 270);
            EXPECT_EQ(t.quantile.value, sorted[place - 1]);
            EXPECT_EQ(of.gains[t.at], t.quantile.value);
            EXPECT_EQ(m.r.scenarios[t.at].set, "history");
            EXPECT_LT(t.shortfall.value, t.quantile.value);
            EXPECT_GT(t.quantile.noise, 0);
            EXPECT_GT(t.shortfall.noise, 0);
            // Noise is small beside the distance between gains, so the quantile's is about that of one gain.
            EXPECT_LT(t.quantile.noise, 3 * of.errors[t.at]);
            EXPECT_GT(t.quantile.sampling, t.quantile.noise);
            EXPECT_GT(t.shortfall.sampling, 0);
        }
    }
}

TEST(risks, are_the_sums_of_their_components) {
    for (const bool fails : {false, true}) {
        const made m = made_results(13, 200, 32, fails);
        for (const portfolio_risk& risk : risk::risks_of(m.r, m.asked)) {
            for (const tail& t : risk.tails) {
                double quantile = 0, shortfall = 0, largest = 0;
                std::size_t trades = 0;
                for (const trade_in_tail& share : risk.shares) {
                    if (share.level != t.level) continue;
                    ++trades;
                    quantile += share.component_quantile;
                    shortfall += share.component_shortfall;
                    largest = std::max(largest, std::abs(share.component_quantile));
                    const auto& cells = risk.is_converted ? m.r.converted_gains : m.r.gains;
                    EXPECT_EQ(share.component_quantile, cells[t.at * m.r.trades() + share.trade]);
                    const auto& errors = risk.is_converted ? m.r.converted_errors : m.r.errors;
                    EXPECT_EQ(share.component_quantile_error, errors[t.at * m.r.trades() + share.trade]);
                }
                EXPECT_GT(trades, 0U);
                EXPECT_NEAR(quantile, t.quantile.value, 1e-13 * largest);
                EXPECT_NEAR(shortfall, t.shortfall.value, 1e-13 * largest);
            }
        }
    }
}

TEST(risks, are_less_the_risk_without_a_trade_by_the_incremental_figure) {
    const made m = made_results(9, 150, 0);
    const std::vector<portfolio_risk> risks = risk::risks_of(m.r, m.asked);
    // Subtracts the trade's gains from the total of the whole book, converted into one currency.
    for (std::size_t trade = 0; trade < 9; ++trade) {
        scenario_results without = m.r;
        for (std::size_t s = 0; s < without.scenarios.size(); ++s)
            for (portfolio_gains& of : without.totals)
                if (of.is_converted && of.portfolio.empty())
                    of.gains[s] -= m.r.converted_gains[s * 9 + trade];
        const std::vector<portfolio_risk> less = risk::risks_of(without, m.asked);
        for (std::size_t i = 0; i < risks.size(); ++i) {
            if (!risks[i].is_converted || !risks[i].portfolio.empty()) continue;
            for (std::size_t l = 0; l < 3; ++l) {
                const trade_in_tail& share = risks[i].shares[l * 9 + trade];
                EXPECT_EQ(share.trade, trade);
                EXPECT_EQ(share.level, m.asked.levels[l]);
                EXPECT_EQ(share.incremental_quantile,
                          risks[i].tails[l].quantile.value - less[i].tails[l].quantile.value);
                EXPECT_EQ(share.incremental_shortfall,
                          risks[i].tails[l].shortfall.value - less[i].tails[l].shortfall.value);
                EXPECT_NE(share.incremental_shortfall, 0);
            }
        }
    }
}

TEST(risks, leave_out_trades_that_are_not_priced_everywhere) {
    const made m = made_results(6, 100, 32, true);
    for (const portfolio_risk& risk : risk::risks_of(m.r, m.asked)) {
        const bool has_first = risk.portfolio != "even" && risk.currency == "USD";  // trade 1
        const bool has_second = risk.portfolio != "odd" && risk.currency == "USD";  // trade 2
        std::vector<std::size_t> expected;
        if (has_first) expected.push_back(1);
        if (has_second) expected.push_back(2);
        EXPECT_EQ(risk.left_out, expected) << risk.portfolio << risk.currency;
        for (const trade_in_tail& share : risk.shares) {
            EXPECT_NE(share.trade, 1U);
            EXPECT_NE(share.trade, 2U);
        }
        for (const tail& t : risk.tails) {
            EXPECT_TRUE(is_figure(t.quantile.value));
            // The part means of totals include a trade that fails in a scenario, so their noise is unknown.
            EXPECT_EQ(is_figure(t.quantile.noise), !has_first);
            EXPECT_EQ(is_figure(t.shortfall.noise), !has_first);
        }
    }
    made elsewhere = made_results(6, 100, 32);
    elsewhere.r.failures.push_back({9, 1, "no", error_kind::numeric});
    for (const portfolio_risk& risk : risk::risks_of(elsewhere.r, elsewhere.asked))
        EXPECT_TRUE(risk.left_out.empty());
}

TEST(risks, have_no_figure_where_a_failed_trade_can_not_be_taken_out) {
    made m = made_results(6, 100, 32, true);
    m.r.gains.clear();
    m.r.errors.clear();
    m.r.converted_gains.clear();
    m.r.converted_errors.clear();
    std::size_t without = 0;
    for (const portfolio_risk& risk : risk::risks_of(m.r, m.asked)) {
        const bool fails = risk.portfolio != "even" && risk.currency == "USD";  // trade 1
        without += fails;
        EXPECT_TRUE(risk.shares.empty());
        ASSERT_EQ(risk.tails.size(), 3U);
        for (const tail& t : risk.tails) {
            EXPECT_EQ(is_figure(t.quantile.value), !fails) << risk.portfolio << risk.currency;
            EXPECT_EQ(is_figure(t.shortfall.value), !fails) << risk.portfolio << risk.currency;
        }
    }
    EXPECT_EQ(without, 4U);
}

TEST(risks, have_noise_only_as_far_as_parts_tell) {
    for (const std::size_t parts : {15U, 16U}) {
        const made m = made_results(3, 60, parts);
        for (const portfolio_risk& risk : risk::risks_of(m.r, m.asked))
            for (const tail& t : risk.tails) EXPECT_EQ(is_figure(t.quantile.noise), parts >= least_parts);
    }
    {
        const made m = made_results(1, 60, 16);
        const std::vector<tail> tails = risk::risks_of(m.r, m.asked).at(0).tails;
        ASSERT_GE(tails.size(), 2U);
        EXPECT_NE(tails[0].quantile.noise, tails[1].quantile.noise) << "each level has its own";
    }
    made m = made_results(3, 60, 0);  // nothing is random
    for (const portfolio_risk& risk : risk::risks_of(m.r, m.asked)) {
        for (const tail& t : risk.tails) {
            EXPECT_EQ(t.quantile.noise, 0);
            EXPECT_EQ(t.shortfall.noise, 0);
        }
    }
    for (portfolio_gains& of : m.r.totals) of.errors.assign(60, no_figure);  // unknown, as for a single path
    for (const portfolio_risk& risk : risk::risks_of(m.r, m.asked))
        for (const tail& t : risk.tails) EXPECT_FALSE(is_figure(t.quantile.noise));
}

TEST(risks, take_one_scenario) {
    const made m = made_results(2, 1, 32);
    for (const portfolio_risk& risk : risk::risks_of(m.r, m.asked)) {
        for (const tail& t : risk.tails) {
            EXPECT_EQ(t.at, 0U);
            EXPECT_EQ(t.quantile.value, t.shortfall.value);
            EXPECT_EQ(t.quantile.sampling, 0);
        }
    }
}

TEST(risks, of_gains_that_are_alike_take_the_first_scenario) {
    made m = made_results(1, 40, 0);
    for (portfolio_gains& of : m.r.totals) of.gains.assign(40, -1);
    for (const portfolio_risk& risk : risk::risks_of(m.r, m.asked)) {
        EXPECT_EQ(risk.tails[0].at, 0U);
        EXPECT_EQ(risk.tails[0].quantile.value, -1);
        EXPECT_EQ(risk.tails[0].shortfall.value, -1);
        EXPECT_EQ(risk.tails[0].shortfall.sampling, 0);
    }
}

}  // namespace
}  // namespace tilewalk::risk_test
