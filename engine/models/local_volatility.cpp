// SPDX-License-Identifier: Apache-2.0
// A volatility that depends on time and spot, as Dupire's formula finds it in an implied surface, or as
// given. What a step needs of the surface is a table of the mean volatility over it at evenly spaced spots,
// so no path searches for its place: it reads between two neighbours. Platen's explicit scheme (Kloeden and
// Platen 1992, section 15.1) is of weak order 2 and reads the table at three places; Euler's, of order 1, at
// one.
#include "engine/market/local_volatility.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "engine/market/surface_reader.h"
#include "engine/models/model.h"
#include "kernels/math.h"

namespace tilewalk::models {

namespace {

using markets::local_volatility;
using program::value;

enum class scheme { second_order, euler };
constexpr std::array<std::string_view, 2> scheme_names{"second_order", "euler"};

// The tables of steps, which most trades on the asset share: steps end at multiples of one length.
class step_tables {
  public:
    struct of_step {
        double low, high;
        std::vector<double> volatilities;
    };

    step_tables(local_volatility local, std::size_t points) : local_(std::move(local)), points_(points) {}

    std::shared_ptr<const of_step> find_or_make(double from, double to) {
        {
            const std::lock_guard guard(lock_);
            if (const auto at = made_.find({from, to}); at != made_.end()) return at->second;
        }
        const auto [low, high] = local_.table_range(from, to);
        auto made = std::make_shared<of_step>(of_step{low, high, std::vector<double>(points_)});
        local_.table(from, to, low, high, made->volatilities);
        const std::lock_guard guard(lock_);
        if (made_.size() < most_kept) made_.emplace(std::pair(from, to), made);
        return made;
    }
    std::size_t points() const { return points_; }

  private:
    static constexpr std::size_t most_kept = 20'000;

    local_volatility local_;
    std::size_t points_;
    std::mutex lock_;
    std::map<std::pair<double, double>, std::shared_ptr<const of_step>> made_;
};

class local_volatility_walk final : public walk {
  public:
    local_volatility_walk(std::shared_ptr<step_tables> tables, scheme by, double steps_per_year,
                          double watched_steps_per_year, const markets::asset& of)
        : tables_(std::move(tables)),
          by_(by),
          steps_per_year_(steps_per_year),
          watched_steps_per_year_(watched_steps_per_year),
          of_(of) {}

    void add_breaks(double last, std::vector<double>& times) const override {
        for (double k = 1; k < last * steps_per_year_; ++k) times.push_back(k / steps_per_year_);
    }
    // A smile is steep at short maturities, so that a path that ends soon takes some steps, too.
    double longest_step(double last) const override {
        constexpr double least_steps = 16;
        return last / least_steps;
    }
    double longest_watched_step() const override { return 1 / watched_steps_per_year_; }

    moved record(step& of, value x) override {
        const std::size_t points = tables_->points();
        std::vector<double> numbers;
        std::vector<std::pair<double, double>> ranges;
        for (std::size_t i = 0; i + 1 < of.grid().size(); ++i) {
            const auto table = tables_->find_or_make(of.grid()[i], of.grid()[i + 1]);
            numbers.insert(numbers.end(), table->volatilities.begin(), table->volatilities.end());
            ranges.emplace_back(table->low, table->high);
        }
        const double intervals = static_cast<double>(points - 1);
        const auto row = [&](std::string_view name, const std::function<double(double, double)>& of_range) {
            std::size_t i = 0;
            return of.row(name, [&](double, double) {
                const auto [low, high] = ranges[i++];
                return of_range(low, high);
            });
        };
        const value per_x = row("per_x", [&](double low, double high) { return intervals / (high - low); });
        const value first =
            row("first", [&](double low, double high) { return -low * intervals / (high - low); });
        const program::tabulated table = of.into().table("local_volatility of " + of_.name, numbers, points);
        const auto volatility_at = [&](value level) {
            return of.into().interpolate(table, fma(level, per_x, first));
        };
        const value length = of.row("length", [](double from, double to) { return to - from; });
        const value volatility = volatility_at(x), variance = volatility * volatility * length;
        if (is_watched_) of.into().write(between_, variance);
        if (by_ == scheme::euler) return {x + fma(volatility, of.own(), -0.5 * variance)};

        // Platen's explicit scheme, the drift at the predicted end taken as a line through the two supports.
        const value root = of.row("root", [](double from, double to) { return kernels::sqrt(to - from); });
        const value z = of.row("per_root", [](double from, double to) {
            return 1 / kernels::sqrt(to - from);
        }) * of.own();
        const value predicted = fma(of.into().constant(-0.5), variance, x);
        const value up = volatility_at(fma(volatility, root, predicted));
        const value down = volatility_at(fma(-volatility, root, predicted));
        const value squares = fma(up, up, down * down), difference = up - down;
        const value drift =
            -0.125 * length * (fma(difference * (up + down), z, squares) + 2.0 * (volatility * volatility));
        const value noise =
            0.25 * root *
            fma((up + down) + 2.0 * volatility, z, difference * fma(z, z, of.into().constant(-1.0)));
        return {x + (drift + noise)};
    }

    value variance_between(step& of, value) override {
        if (!is_watched_) between_ = of.state("between", 0.0);
        is_watched_ = true;
        return of.into().read(between_);
    }
    std::string why_not_lognormal() const override {
        return "is not known ahead under local volatility; expected an asset with a volatility";
    }
    location where() const override { return of_.where; }

  private:
    std::shared_ptr<step_tables> tables_;
    scheme by_;
    double steps_per_year_, watched_steps_per_year_;
    const markets::asset& of_;
    std::uint32_t between_ = 0;
    bool is_watched_ = false;
};

class local_volatility_model final : public model {
  public:
    local_volatility_model(markets::surface_reading read, scheme by, std::size_t points,
                           double steps_per_year, double watched_steps_per_year)
        : tables_(std::make_shared<step_tables>(std::move(read.local), points)),
          by_(by),
          steps_per_year_(steps_per_year),
          watched_steps_per_year_(watched_steps_per_year) {
        for (const markets::arbitrage& a : read.findings) {
            remarks_.push_back("arbitrage at " + tilewalk::to_string(a.where) + ", " + a.key_path + ": " +
                               a.message + (a.in_quotes ? "" : " (between the quotes)") +
                               "; the local volatility is bounded there");
        }
    }
    std::string describe() const override {
        return "local_volatility, " + std::string(scheme_names[static_cast<std::size_t>(by_)]) + ", " +
               std::to_string(tables_->points()) + " points a step, at least " +
               config::shown(steps_per_year_) + " steps a year, " + config::shown(watched_steps_per_year_) +
               " where watched continuously";
    }
    std::vector<std::string> remarks() const override { return remarks_; }
    std::unique_ptr<walk> start(const markets::asset& of, const markets::curve&) const override {
        return std::make_unique<local_volatility_walk>(tables_, by_, steps_per_year_, watched_steps_per_year_,
                                                       of);
    }

  private:
    std::shared_ptr<step_tables> tables_;
    scheme by_;
    double steps_per_year_, watched_steps_per_year_;
    std::vector<std::string> remarks_;
};

}  // namespace

std::shared_ptr<const model> read_local_volatility(const config::node& parameters, const reading& of) {
    // A bridge between two steps has a variance that does not move. Where the volatility is as 1 / spot, the
    // price of an option with a barrier is off by 0.5 % with 100 steps a year, and by 0.1 % with 500.
    constexpr double usual_points = 128, usual_steps_per_year = 100, usual_watched_steps_per_year = 500;
    parameters.only({"surface", "scheme", "points", "steps_per_year", "watched_steps_per_year"});
    const config::node& surface = parameters.at("surface");
    const bool has_cash =
        std::ranges::any_of(of.asset.dividends, [](const auto& d) { return !d.proportional; });
    if (has_cash && surface.is_mapping()) {
        for (const char* const form : {"by_strike", "local"}) {
            const config::node* const given = surface.find(form);
            if (given == nullptr) continue;
            given->fail("found " + std::string(form) +
                        " for an asset with cash dividends, whose random part has no strikes; expected "
                        "by_moneyness or svi, which are of that part");
        }
    }
    const auto forward = [asset = of.asset, carry = of.carry](double years) {
        return markets::forward(asset, carry, years);
    };
    const double points = read_parameter(parameters, "points", {2, 4096}, usual_points);
    const double steps = read_parameter(parameters, "steps_per_year", {1, 100'000}, usual_steps_per_year);
    const double watched =
        read_parameter(parameters, "watched_steps_per_year", {1, 100'000}, usual_watched_steps_per_year);
    if (points != std::floor(points))
        parameters.at("points").fail("found " + parameters.at("points").text() + ", expected a whole number");
    const auto by = static_cast<scheme>(read_choice(parameters, "scheme", scheme_names, 0));
    return std::make_shared<local_volatility_model>(markets::read_surface(surface, of.as_of, forward), by,
                                                    static_cast<std::size_t>(points), steps, watched);
}

}  // namespace tilewalk::models
