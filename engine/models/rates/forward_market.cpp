// SPDX-License-Identifier: Apache-2.0
// Displaced lognormal forward rates of the periods between given dates (Brace, Gatarek and Musiela 1997;
// Jamshidian 1997). F_j belongs to the period from date j to date j + 1 and is fixed at its start. The
// numeraire reinvests 1 at each period's rate in turn. In period i, with loadings L and accruals a,
//
//     d log(F_j + d) = L_j . (sum over i < k <= j of a_k (F_k + d) / (1 + a_k F_k) L_k dt + dW)
//                      - |L_j|^2 / 2 dt.
//
// A step uses the mean of the drifts at its start and at its predicted end (Hunter, Jaeckel and Joshi 2001).
// The drift of a rate depends only on itself and earlier rates, so one pass does both.
//
// Between dates, a bond divided by its value on the curve is linear in its maturity, and a path's discount
// factor divided by the curve's is linear in time. Each follows from the other, so numeraire and bonds agree,
// the curve is matched at every time, and a path learns nothing within a period about the time until its end.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/text/time_reader.h"
#include "engine/market/wording.h"
#include "engine/models/rates/rates.h"
#include "engine/numerics/jacobi.h"
#include "kernels/math.h"
#include "tilewalk/error.h"

namespace tilewalk::models {

step_facts steps_of_forward_market() {
    return {
        .scheme = "predictor-corrector steps between the dates of its periods; `steps_per_year` adds steps",
        .leaves = std::nullopt,
        .factors = "1 to 3",
        .held_against =
            "Black's formula for caplets, and for options on bonds and assets where these are lognormal, "
            "martingale tests, simulation under another measure, 12 published prices"};
}

namespace {

using dates::same_time_years;
using markets::rounded;
using markets::volatility;
using program::value;

constexpr std::size_t most_rate_factors = 3, most_periods = 240;
// Most forward rates that a path can carry, each as a state of its program.
constexpr std::size_t most_live_rates = 64;
// Largest variance of the logarithm of a rate; with more, too many paths would be needed to find the mean.
constexpr double most_variance = 16;
// Bound on the displaced interest of a period, against overflow in any precision.
constexpr double most_interest = 1e9;
// Bound on the logarithm of a path's growth relative to the curve: such a path discounts by 4e-18.
constexpr double most_growth = 40;

using loadings = std::array<double, most_rate_factors>;

// Loadings of each period up to a time; the last slice has no end.
struct slice {
    double until = 0;
    std::vector<loadings> by_period;
};

struct forward_rates {
    std::string currency;
    location where;
    std::vector<double> dates;     // dates[0] is 0
    std::vector<double> interest;  // interest of each period on today's curve
    double displacement = 0;
    std::size_t factors = 1;
    std::vector<slice> slices;
    double steps_per_year = 0;  // 0: each step goes from date to date

    std::size_t periods() const { return interest.size(); }
    double accrual(std::size_t period) const { return dates[period + 1] - dates[period]; }

    std::size_t at(double years) const {
        const auto next = std::ranges::upper_bound(dates, years + same_time_years);
        return static_cast<std::size_t>(next - dates.begin()) - 1;
    }
    double passed(double years) const {
        const std::size_t period = at(years);
        if (period >= periods() || years - dates[period] <= same_time_years) return 0;
        return std::min((years - dates[period]) / accrual(period), 1.0);
    }
    // Loading at `years` and just after; 0 for a rate that is fixed.
    loadings loading(double years, std::size_t period) const {
        if (period >= periods() || period <= at(years)) return {};
        const auto now = std::ranges::upper_bound(slices, years + same_time_years, {}, &slice::until);
        return (now == slices.end() ? slices.back() : *now).by_period[period];
    }
    double variance(std::size_t period, double until) const {
        std::vector<double> times{0};
        add_breaks(until, times);
        times.push_back(until);
        std::ranges::sort(times);
        double sum = 0;
        for (std::size_t i = 0; i + 1 < times.size(); ++i) {
            for (const double l : loading(times[i], period)) sum += l * l * (times[i + 1] - times[i]);
        }
        return sum;
    }
    void add_breaks(double last, std::vector<double>& times) const {
        for (const double t : dates) {
            if (t > 0 && t < last) times.push_back(t);
        }
        for (const slice& s : slices) {
            if (s.until > 0 && s.until < last) times.push_back(s.until);
        }
    }
};

// States of a path: the displaced interest a (F + d) of each rate that is not fixed yet, nearest first; the
// growth of the numeraire relative to the curve; for the current period, growth on the curve / actual growth.
class forward_walk final : public rate_walk {
  public:
    forward_walk(const forward_rates& of, const markets::curve& today) : of_(of), today_(today) {}

    std::vector<std::vector<rate_noise>> noises() const override {
        std::vector<std::vector<rate_noise>> out;
        for (std::size_t f = 0; f < of_.factors; ++f) out.push_back({{f, &one_, {}}});
        return out;
    }

    void add_breaks(double last, std::vector<double>& times) const override {
        expect_known(last, "a path goes on until");
        of_.add_breaks(last, times);
    }
    double longest_step(double) const override { return of_.steps_per_year > 0 ? 1 / of_.steps_per_year : 0; }

    void begin(section_at_hand& of) override {
        last_ = of.grid().back();
        growth_ = of.state("growth", 0);
        ratio_ = of.state("ratio", 1);
        carry(of, of_.passed(last_) > 0 ? of_.at(last_) : std::max<std::size_t>(of_.at(last_), 1) - 1);
    }

    void record(rate_step& of) override {
        const std::size_t n = live_.size(), factors = of_.factors;
        if (n == 0) return;
        const value length = of.row("length", [](double from, double to) { return to - from; });
        const value fixes =
            of.row("fixes", [&](double from, double to) { return of_.at(to) > of_.at(from) ? 1.0 : 0.0; });
        const value before = of.row("passed", [&](double from, double) { return of_.passed(from); });
        const value after = of.row("passing", [&](double from, double to) {
            return of_.at(to) > of_.at(from) ? 1.0 : of_.passed(to);
        });
        // Sums of the drift at the start and at the predicted end.
        std::array<value, most_rate_factors> now, foretold;
        now.fill(of.into().constant(0));
        foretold = now;
        std::vector<value> next;
        value ratio;
        for (std::size_t k = 0; k < n; ++k) {
            const auto ahead = [&](double from) { return of_.at(from) + 1 + k; };
            const std::string of_rate = std::to_string(k);
            const value u = of.into().read(live_[k]);
            const value offset =
                of.row("offset" + of_rate, [&](double from, double) { return offset_of(ahead(from)); });
            std::array<value, most_rate_factors> by;
            for (std::size_t f = 0; f < factors; ++f) {
                by[f] = of.row("loading" + of_rate + "_" + std::to_string(f),
                               [&](double from, double) { return of_.loading(from, ahead(from))[f]; });
            }
            const auto add = [&](value interest, std::array<value, most_rate_factors>& sums) {
                const value weight = interest / (interest + offset);
                for (std::size_t f = 0; f < factors; ++f) sums[f] = fma(weight, by[f], sums[f]);
            };
            const auto grown = [&](value exponent) { return min(u * exp(exponent), most_interest); };
            add(u, now);
            value noise = by[0] * of.noise(0), drift = by[0] * fma(by[0], of.into().constant(-0.5), now[0]);
            for (std::size_t f = 1; f < factors; ++f) {
                noise = fma(by[f], of.noise(f), noise);
                drift = fma(by[f], fma(by[f], of.into().constant(-0.5), now[f]), drift);
            }
            add(grown(fma(length, drift, noise)), foretold);
            value at_both = by[0] * (now[0] + foretold[0] - by[0]);
            for (std::size_t f = 1; f < factors; ++f)
                at_both = fma(by[f], now[f] + foretold[f] - by[f], at_both);
            next.push_back(grown(fma(0.5 * length, at_both, noise)));
            if (k == 0) {
                ratio = of.row("expected", [&](double from, double) { return growth_of(ahead(from)); }) /
                        (next[0] + offset);
            }
        }
        const value q = of.into().read(ratio_), is_fixed = fixes > of.into().constant(0.5);
        const value growth = of.into().read(growth_) + log(between(before, q) / between(after, q));
        of.into().write(growth_, min(growth, most_growth));
        of.into().write(ratio_, select(is_fixed, ratio, q));
        // If this step fixes the nearest rate, each other rate moves to the state before it.
        for (std::size_t k = 0; k < n; ++k)
            of.into().write(live_[k], k + 1 < n ? select(is_fixed, next[k + 1], next[k]) : next[k]);
    }

    value log_growth(section_at_hand& of) const override { return of.into().read(growth_); }

    // Interpolates between bonds for the dates around the maturity, each relative to its value on the curve.
    value bond(section_at_hand& of, std::span<const double> maturities,
               const std::string& named) const override {
        struct bond_place {
            std::size_t period, dates_ahead;
            double passed;
        };
        std::vector<bond_place> places;  // place of the maturity among the dates, for each run
        std::size_t nearest = most_periods, farthest = 0;
        const value expected = of.row("bond " + named, [&](double, double now) {
            const double maturity = std::max(maturities[places.size()], now);
            expect_known(maturity, "a bond is asked for that matures at");
            const bond_place p{of_.at(now), of_.at(maturity) - of_.at(now), of_.passed(maturity)};
            const std::size_t last = p.dates_ahead + (p.passed > 0 ? 1 : 0);
            nearest = std::min(nearest, p.dates_ahead);
            farthest = std::max(farthest, last);
            carry(of, p.period + std::max<std::size_t>(last, 1) - 1);
            places.push_back(p);
            return today_.discount(maturity) / today_.discount(now);
        });
        const value passed = of.row("passed", [&](double, double now) { return of_.passed(now); });
        const value q = of.into().read(ratio_), so_far = between(passed, q);
        value until = of.into().constant(1), sum = of.into().constant(0);
        for (std::size_t ahead = 0; ahead <= farthest; ++ahead) {
            if (ahead == 1) until = q;
            if (ahead > 1) {
                const std::string of_rate = std::to_string(ahead - 2);
                const auto rate = [&](double now) { return of_.at(now) + ahead - 1; };
                const value offset =
                    of.row("offset" + of_rate, [&](double, double now) { return offset_of(rate(now)); });
                const value growth =
                    of.row("expected" + of_rate, [&](double, double now) { return growth_of(rate(now)); });
                until = until * (growth / (of.into().read(live_[ahead - 2]) + offset));
            }
            if (ahead < nearest) continue;
            if (nearest == farthest) return expected * (until / so_far);
            std::size_t run = 0;
            const value share = of.row("share" + std::to_string(ahead) + " " + named, [&](double, double) {
                const bond_place& p = places[run++];
                return p.dates_ahead == ahead ? 1 - p.passed : p.dates_ahead + 1 == ahead ? p.passed : 0.0;
            });
            sum = fma(share, until, sum);
        }
        return expected * (sum / so_far);
    }

  private:
    static value between(value passed, value ratio) { return fma(passed, ratio, 1.0 - passed); }

    // Difference between 1 + a F and the displaced interest a (F + d).
    double offset_of(std::size_t period) const {
        return period < of_.periods() ? 1 - of_.accrual(period) * of_.displacement : 1;
    }
    double growth_of(std::size_t period) const {
        return period < of_.periods() ? 1 + of_.interest[period] : 1;
    }

    void carry(section_at_hand& of, std::size_t period) const {
        if (period > most_live_rates) {
            throw error(error_kind::input,
                        "a trade depends on " + std::to_string(period) + " forward rates of " + of_.currency +
                            ", the last from " + rounded(of_.dates[period]) + " years on, expected at most " +
                            std::to_string(most_live_rates) + "; longer periods make fewer",
                        of_.where);
        }
        while (live_.size() < period) {
            const std::size_t j = live_.size() + 1;
            const double variance = of_.variance(j, std::min(last_, of_.dates[j]));
            if (variance > most_variance) {
                throw error(error_kind::input,
                            "the rates of " + of_.currency + " move too far: the logarithm of the one from " +
                                rounded(of_.dates[j]) + " years on has a variance of " + rounded(variance) +
                                ", expected at most " + rounded(most_variance) + "; lower the volatility",
                            of_.where);
            }
            live_.push_back(of.state("forward" + std::to_string(j - 1),
                                     of_.interest[j] + of_.accrual(j) * of_.displacement));
        }
    }

    void expect_known(double years, const std::string& what) const {
        if (years <= of_.dates.back() + same_time_years) return;
        throw error(error_kind::input,
                    "the periods of " + of_.currency + " end after " + rounded(of_.dates.back()) +
                        " years, but " + what + " " + rounded(years) +
                        " years; expected a later `until`, or more dates",
                    of_.where);
    }

    const forward_rates& of_;
    const markets::curve& today_;
    const volatility one_ = volatility::flat(1);
    double last_ = 0;
    std::uint32_t growth_ = 0, ratio_ = 0;
    // States of rates; more are added while sections ask for bonds, before the step is recorded.
    mutable std::vector<std::uint32_t> live_;
};

class forward_model final : public rate_model {
  public:
    explicit forward_model(forward_rates of) : of_(std::move(of)) {}

    std::string describe() const override {
        return "forward_market, " + std::to_string(of_.periods()) + " periods, " +
               (of_.factors == 1 ? "a factor" : std::to_string(of_.factors) + " factors") +
               ", predictor and corrector from date to date" +
               (of_.steps_per_year > 0 ? " in steps of at most " + rounded(1 / of_.steps_per_year) + " years"
                                       : "");
    }
    bool is_exact() const override { return false; }
    std::vector<own_factor> factors() const override {
        std::vector<own_factor> out{{"rate", by_term::flat(1)}};
        for (std::size_t f = 2; f <= of_.factors; ++f)
            out.push_back({"rate_" + std::to_string(f), by_term::flat(0)});
        return out;
    }
    location where() const override { return of_.where; }
    std::unique_ptr<rate_walk> start(const markets::curve& today) const override {
        return std::make_unique<forward_walk>(of_, today);
    }

  private:
    forward_rates of_;
};

// --- what a market says ------------------------------------------------------------------------------------

constexpr parameter_row forward_market_rows[]{
    {.name = "tenor",
     .within = {{1.0 / 52, 10}},
     .meaning = "years of a period",
     .otherwise = "required without dates"},
    {.name = "until",
     .within = {{0, 100, false, true}},
     .meaning = "years until rates end, beside tenor",
     .preset = 30},
    {.name = "dates",
     .meaning = "ends of the periods",
     .takes = "a list of dates or years",
     .otherwise = "required without tenor"},
    {.name = "volatility",
     .within = {{0, 3}},
     .meaning = "volatility of rates plus displacement",
     .may_be_by_term = true,
     .takes = "a number or a list by period",
     .otherwise = "required without loadings"},
    {.name = "correlation_decay",
     .within = {{0, 100}},
     .meaning = "decay of the correlation of two rates a year between them",
     .preset = 0},
    {.name = "factors",
     .within = {{1, most_rate_factors}},
     .meaning = "sources of noise",
     .takes = "a whole number",
     .preset = 1},
    {.name = "loadings",
     .within = {{-3, 3}},
     .meaning = "volatility of rates plus displacement, a number for each factor",
     .may_be_by_term = true,
     .takes = "rows of numbers",
     .otherwise = "required without volatility"},
    {.name = "displacement",
     .within = {{-0.1, 1}},
     .meaning = "what is added to rates to make them lognormal",
     .preset = 0},
    {.name = "steps_per_year",
     .within = {{0, 1000, false, true}},
     .meaning = "least steps a year",
     .otherwise = "computed: steps from date to date"}};

void expect_sequence(const config::node& value, const std::string& of) {
    if (!value.is_sequence() || value.items().empty())
        value.fail("found " + value.found() + ", expected a list of " + of);
}

[[noreturn]] void too_many_periods(const config::node& value) {
    value.fail("found more than " + std::to_string(most_periods) +
               " periods, which is the limit; take longer periods");
}

std::vector<double> read_dates(const config::node& parameters, dates::date as_of) {
    const config::node *const tenor = parameters.find("tenor"), *const given = parameters.find("dates");
    if ((tenor == nullptr) == (given == nullptr))
        parameters.fail(
            std::string(tenor == nullptr ? "found neither tenor nor dates" : "found both tenor and dates") +
            ", expected either tenor, the years of a period, or dates");
    std::vector<double> out{0};
    if (given != nullptr) {
        if (const config::node* const until = parameters.find("until"))
            until->fail(
                "found until beside dates, expected no until: the periods end on the last of the dates");
        expect_sequence(*given, "dates or years");
        for (const config::node& one : given->items()) {
            const double years = config::read_time_point(one).years(as_of);
            if (!(years > out.back() + same_time_years))
                one.fail("found " + one.text() + ", expected one after " +
                         (out.size() == 1 ? "as_of (" + dates::to_string(as_of) + ")" : "the one before"));
            if (out.size() > most_periods) too_many_periods(*given);
            out.push_back(years);
        }
        return out;
    }
    const double length = read_parameter(parameters, find_row(forward_market_rows, "tenor")),
                 until = read_parameter(parameters, find_row(forward_market_rows, "until"));
    const double periods = std::max(1.0, std::ceil(until / length - same_time_years));
    if (periods > double(most_periods)) too_many_periods(*tenor);
    for (double i = 1; i <= periods; ++i) out.push_back(i * length);
    return out;
}

// Approximates the correlations exp(-decay * years between) by `factors` factors: the eigenvectors of the
// largest eigenvalues, with rows rescaled to length 1. Signs are such that the nearest rates rise with each
// factor.
std::vector<loadings> directions(const forward_rates& of, double decay, std::size_t factors) {
    const std::size_t n = of.periods() - 1;
    std::vector<loadings> out(of.periods(), loadings{});
    if (n == 0) return out;
    std::vector<double> correlation;
    for (std::size_t i = 1; i <= n; ++i) {
        for (std::size_t j = 1; j <= n; ++j)
            correlation.push_back(kernels::exp(-decay * std::abs(of.dates[i] - of.dates[j])));
    }
    const std::vector<analytics::eigen_pair> found = analytics::eigen_pairs(std::move(correlation), n);
    constexpr double nothing = 1e-12;
    for (std::size_t i = 0; i < n; ++i) {
        loadings& row = out[i + 1];
        double square = 0;
        for (std::size_t f = 0; f < std::min(n, factors); ++f) {
            const auto& [weight, direction] = found[f];
            if (weight <= nothing * double(n)) continue;
            row[f] = (direction[0] < 0 ? -1 : 1) * kernels::sqrt(weight) * direction[i];
            square += row[f] * row[f];
        }
        for (double& l : row) l /= kernels::sqrt(square);
    }
    return out;
}

void read_volatility(const config::node& parameters, dates::date as_of, forward_rates& of) {
    of.factors = std::size_t(read_parameter(parameters, find_row(forward_market_rows, "factors")));
    if (const config::node* const given = parameters.find("factors"); given != nullptr) given->integer();
    const double decay = read_parameter(parameters, find_row(forward_market_rows, "correlation_decay"));
    const std::vector<loadings> rows = directions(of, decay, of.factors);
    const auto scaled = [&](double until, const auto& volatility_of) {
        slice s{until, rows};
        for (std::size_t j = 1; j < of.periods(); ++j) {
            for (double& l : s.by_period[j]) l *= volatility_of(j);
        }
        of.slices.push_back(std::move(s));
    };
    constexpr const parameter_row& row = find_row(forward_market_rows, "volatility");
    const config::node& given = parameters.at(row.name);
    if (given.is_sequence()) {
        expect_sequence(given, "volatilities by period");
        std::vector<double> levels;
        for (const config::node& one : given.items())
            levels.push_back(read_parameter(one, row.within.value()));
        scaled(0, [&](std::size_t j) { return levels[std::min(j, levels.size()) - 1]; });
        return;
    }
    const by_term levels = read_by_term(parameters, row, as_of);
    for (std::size_t i = 0; i < levels.values.size(); ++i)
        scaled(levels.years.empty() ? 0 : levels.years[i], [&](std::size_t) { return levels.values[i]; });
}

std::vector<loadings> read_rows(const config::node& value, std::size_t& factors) {
    constexpr range of_loadings = find_row(forward_market_rows, "loadings").within.value();
    expect_sequence(value, "rows, such as [0.15, 0.05]");
    std::vector<loadings> out;
    for (const config::node& row : value.items()) {
        expect_sequence(row, "one number for each factor");
        if (factors == 0) factors = row.items().size();
        if (row.items().size() != factors || factors > most_rate_factors) {
            row.fail("found a row of " + std::to_string(row.items().size()) + " numbers, expected " +
                     (factors > most_rate_factors ? "at most " + std::to_string(most_rate_factors)
                                                  : "as many as in the first, " + std::to_string(factors)));
        }
        out.emplace_back();
        for (std::size_t f = 0; f < factors; ++f) out.back()[f] = read_parameter(row.items()[f], of_loadings);
    }
    return out;
}

// Reads loadings. A list has a row for each number of dates until a rate's fixing. A mapping has, for each of
// several times, rows by period, from the rate fixed at the first date on. The last row holds for later ones.
void read_loadings(const config::node& given, const config::node& parameters, dates::date as_of,
                   forward_rates& of) {
    for (const char* const other : {"volatility", "factors", "correlation_decay"}) {
        if (const config::node* const beside = parameters.find(other); beside != nullptr)
            beside->fail(
                "found " + std::string(other) +
                " beside loadings, expected loadings alone: they determine volatilities and correlations");
    }
    of.factors = 0;
    const auto add = [&](double until, const std::vector<loadings>& rows, std::size_t first) {
        slice s{until, std::vector<loadings>(of.periods(), loadings{})};
        for (std::size_t j = first; j < of.periods(); ++j)
            s.by_period[j] = rows[std::min(j - first, rows.size() - 1)];
        of.slices.push_back(std::move(s));
    };
    if (!given.is_mapping()) {
        const std::vector<loadings> rows = read_rows(given, of.factors);
        for (std::size_t i = 0; i < of.periods(); ++i) add(of.dates[i + 1], rows, i + 1);
        return;
    }
    if (given.members().empty()) given.fail("found no times, expected at least one");
    for (const config::node::member& m : given.members()) {
        const double until = config::read_time_point(m).years(as_of);
        if (!(until > (of.slices.empty() ? 0 : of.slices.back().until)))
            m.fail("found the time " + m.key + ", expected one after " +
                   (of.slices.empty() ? "as_of (" + dates::to_string(as_of) + ")" : "the one before"));
        add(until, read_rows(m.value, of.factors), 1);
    }
}

void check_displacement(const config::node& place, const forward_rates& of) {
    for (std::size_t j = 0; j < of.periods(); ++j) {
        const double rate = of.interest[j] / of.accrual(j);
        const std::string period =
            "from " + rounded(of.dates[j]) + " to " + rounded(of.dates[j + 1]) + " years";
        if (j > 0 && !(rate + of.displacement > 0)) {
            place.fail("the forward rate " + period + " is " + rounded(rate) + " and the displacement " +
                       rounded(of.displacement) + ", expected one above " + rounded(-rate));
        }
        if (!(of.accrual(j) * of.displacement <= 1)) {
            place.fail("found a displacement of " + rounded(of.displacement) + " and a period " + period +
                       ", expected a displacement of at most " + rounded(1 / of.accrual(j)));
        }
    }
}

}  // namespace

extern const parameter_table parameters_of_forward_market = forward_market_rows;

std::shared_ptr<const rate_model> read_forward_market(const config::node& parameters,
                                                      const rate_reading& from) {
    refuse_others(parameters, parameters_of_forward_market);
    forward_rates of;
    of.currency = from.currency;
    of.where = parameters.where();
    of.dates = read_dates(parameters, from.as_of);
    for (std::size_t j = 0; j + 1 < of.dates.size(); ++j)
        of.interest.push_back(from.today.discount(of.dates[j]) / from.today.discount(of.dates[j + 1]) - 1);
    of.displacement = read_parameter(parameters, find_row(forward_market_rows, "displacement"));
    of.steps_per_year = read_parameter(parameters, find_row(forward_market_rows, "steps_per_year"), 0);
    const config::node* const displacement = parameters.find("displacement");
    check_displacement(displacement == nullptr ? parameters : *displacement, of);
    if (const config::node* const given = parameters.find("loadings"); given != nullptr)
        read_loadings(*given, parameters, from.as_of, of);
    else
        read_volatility(parameters, from.as_of, of);
    return std::make_shared<forward_model>(std::move(of));
}

}  // namespace tilewalk::models
