// SPDX-License-Identifier: Apache-2.0
// CGMY (Carr, Geman, Madan and Yor 2002): pure jumps with intensity C / |x|^(1 + Y), damped by exp(-M x) up
// and exp(-G |x|) down. A step applies the quantile function of the law of its jumps, tabulated by step
// length, to one normal. Correlations are those of the normals, so assets have a Gaussian copula over a step,
// and a change of measure that shifts a normal moves the asset exactly.
#include <memory>
#include <utility>

#include "engine/market/wording.h"
#include "engine/models/cgmy_law.h"
#include "engine/models/jumps.h"
#include "engine/models/step_tables.h"
#include "kernels/math.h"
#include "tilewalk/error.h"

namespace tilewalk::models {

step_facts steps_of_cgmy() {
    return {.scheme = "increments by their quantile function, from a table for each step length",
            .weak_order = "3 in the spacing of the table",
            .leaves = 0.1,
            .held_against = "Fourier integrals, 4 published prices"};
}

namespace {

using program::value;

// Intervals of a table. Calls over one step are off by some 2e-7 of the step's standard deviation for Y >= 0,
// some 1e-5 below. The error falls with the third power of the interval, its smooth part with the fourth.
constexpr std::size_t intervals = 512;

class cgmy_walk final : public walk_by_jumps {
  public:
    cgmy_walk(std::shared_ptr<step_tables> tables, double longest_step, const markets::asset& of)
        : walk_by_jumps("cgmy", of), tables_(std::move(tables)), longest_step_(longest_step), of_(of) {}

    double longest_step(const path_ahead&) const override { return longest_step_; }

    arrival record(step& of, value x) override {
        const auto quantile = record_tables(of, *tables_, "cgmy of " + of_.name);
        const value per_root =
            of.row("per_root", [](double from, double to) { return 1 / kernels::sqrt(to - from); });
        return {x + quantile(per_root * of.own())};
    }

  private:
    std::shared_ptr<step_tables> tables_;
    double longest_step_;
    const markets::asset& of_;
};

class cgmy_model final : public model {
  public:
    cgmy_model(const cgmy_parameters& p, const config::node& given, const std::string& asset)
        : p_(p), longest_step_(most_variance / cgmy_variance(p)) {
        by_length_ = std::make_shared<step_tables>(
            [p, asset, where = given.where(), key = given.key_path()](double, double years, const auto&) {
                cgmy_table made = make_cgmy_table(p, years, intervals + 1);
                if (is_good(made)) return std::move(made.table);
                throw error(error_kind::input,
                            "found a table of the moves of '" + asset + "' by cgmy in a step of " +
                                markets::rounded(years) + " years that is off by " + fault_of(made),
                            where, key);
            });
        // Rounds step lengths to float, since lengths that are meant to be equal differ in their last digits.
        tables_ =
            std::make_shared<step_tables>([by_length = by_length_](double from, double to, const auto& poll) {
                return *by_length->find_or_make(0, static_cast<double>(static_cast<float>(to - from)), poll);
            });
    }

    std::string describe() const override {
        return "cgmy, exact between dates but for tables of " + std::to_string(intervals) + " intervals";
    }
    std::uint64_t tables_made() const override { return by_length_->made(); }
    std::optional<double> steps_leave() const override { return steps_of_cgmy().leaves; }
    std::unique_ptr<walk> start(const markets::asset& of, const markets::curve&) const override {
        return std::make_unique<cgmy_walk>(tables_, longest_step_, of);
    }
    std::optional<double> implied_volatility(double years, double log_moneyness) const override {
        return implied_by(
            [&] {
                return fourier::characteristic_of(fourier::cgmy{p_.c, p_.g, p_.m, p_.y}, years);
            },
            years, log_moneyness);
    }

  private:
    // Beyond this variance of a step, the normals that make up the mean of exp(x) are outside the table.
    static constexpr double most_variance = 4;
    static constexpr double most_moved = 1e-5, most_coarseness = 1e-2, most_inversion_error = 1e-9;

    static bool is_good(const cgmy_table& t) {
        return kernels::abs(t.moved) <= most_moved && t.coarseness <= most_coarseness &&
               t.inversion_error <= most_inversion_error;
    }
    static std::string fault_of(const cgmy_table& t) {
        if (!(kernels::abs(t.moved) <= most_moved))
            return markets::rounded(t.moved) + " in the mean of its price, expected at most " +
                   markets::rounded(most_moved) + "; take a larger M";
        if (!(t.coarseness <= most_coarseness))
            return "a share of " + markets::rounded(t.coarseness) + " in its changes, expected at most " +
                   markets::rounded(most_coarseness) + "; take a larger Y";
        return markets::rounded(t.inversion_error) + " in probabilities, expected at most " +
               markets::rounded(most_inversion_error) + "; take a larger M or Y";
    }

    cgmy_parameters p_;
    double longest_step_;
    std::shared_ptr<step_tables> by_length_, tables_;
};

constexpr parameter_row cgmy_rows[]{
    {.name = "C", .within = {{1e-6, 1e6}}, .meaning = "number of jumps"},
    {.name = "G", .within = {{0.01, 1e4}}, .meaning = "damping of jumps down"},
    {.name = "M", .within = {{1, 1e4, false}}, .meaning = "damping of jumps up"},
    {.name = "Y", .within = {{-1, 2, true, false}}, .meaning = "power of small jumps"}};

}  // namespace

extern const parameter_table parameters_of_cgmy = cgmy_rows;

std::shared_ptr<const model> read_cgmy(const config::node& parameters, const reading& of) {
    refuse_others(parameters, parameters_of_cgmy);
    cgmy_parameters p;
    p.c = read_parameter(parameters, find_row(cgmy_rows, "C"));
    p.g = read_parameter(parameters, find_row(cgmy_rows, "G"));
    p.m = read_parameter(parameters, find_row(cgmy_rows, "M"));
    p.y = read_parameter(parameters, find_row(cgmy_rows, "Y"));
    expect_moderate(parameters, cgmy_gap(p));
    return std::make_shared<cgmy_model>(p, parameters, of.asset.name);
}

}  // namespace tilewalk::models
