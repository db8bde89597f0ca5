// SPDX-License-Identifier: Apache-2.0
#include "engine/calibration/parameters.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

#include "engine/base/numbers.h"
#include "engine/base/shown_numbers.h"
#include "engine/base/wording.h"

namespace tilewalk::calibrations {

namespace {

// Relative rounding error that the search variable may leave in a parameter.
constexpr double same_parameter = 1e-9;
// A market's numbers count as fitted if one more step of the fit moves quotes by at most this fraction.
constexpr double most_left = 1e-5;

std::vector<std::string> names_of(std::span<const parameter> all) {
    std::vector<std::string> names;
    for (const parameter& p : all) names.emplace_back(p.name);
    return names;
}

between read_bounds(const config::node& value, const parameter& of) {
    if (!value.is_sequence() || value.items().size() != 2) {
        value.fail("found " + value.found() + ", expected two numbers, such as [0.1, 2]");
    }
    between read = of.searched;
    read.low = models::read_parameter(value.items()[0], of.admissible);
    read.high = models::read_parameter(value.items()[1], of.admissible);
    if (!(read.low < read.high)) {
        value.items()[1].fail("found the bound " + value.items()[1].text() + " after " +
                              value.items()[0].text() + ", expected a higher one");
    }
    if (!(read.low > 0)) read.by = between::scale::even;
    return read;
}

}  // namespace

parameter_space::parameter_space(std::span<const parameter> all, const config::node& of) : all_(all) {
    const config::node* const fixed = of.find("fixed");
    const config::node* const bounds = of.find("bounds");
    for (const config::node* said : {fixed, bounds}) {
        if (said == nullptr) continue;
        if (!said->is_mapping()) {
            said->fail("found " + said->found() + ", expected a mapping of parameters, such as " +
                       (said == fixed ? "{" + std::string(all[0].name) + ": 0.04}"
                                      : "{" + std::string(all[0].name) + ": [0.01, 0.1]}"));
        }
        said->only(names_of(all));
    }
    for (const parameter& p : all) {
        const config::node* const held = fixed == nullptr ? nullptr : fixed->find(p.name);
        const config::node* const said = bounds == nullptr ? nullptr : bounds->find(p.name);
        if (held != nullptr && said != nullptr) {
            said->fail("found bounds of " + std::string(p.name) +
                       ", which is also under fixed; expected one of the two");
        }
        fixed_.push_back(held != nullptr ? models::read_parameter(*held, p.admissible)
                                         : std::numeric_limits<double>::quiet_NaN());
        searched_.push_back(said != nullptr ? read_bounds(*said, p) : p.searched);
        if (held == nullptr) free_.push_back(fixed_.size() - 1);
    }
    if (free_.empty()) fixed->fail("found every parameter fixed, expected one at least to fit");
}

std::vector<between> parameter_space::bounds() const {
    std::vector<between> out;
    for (const std::size_t i : free_) out.push_back(searched_[i]);
    return out;
}

std::vector<double> parameter_space::all(std::span<const double> free) const {
    std::vector<double> out = fixed_;
    for (std::size_t i = 0; i < free_.size(); ++i) out[free_[i]] = free[i];
    return out;
}

std::vector<double> parameter_space::free_of(std::span<const double> all) const {
    std::vector<double> out;
    for (const std::size_t i : free_) out.push_back(std::clamp(all[i], searched_[i].low, searched_[i].high));
    return out;
}

std::vector<std::string> parameter_space::names() const {
    return names_of(all_);
}

std::vector<fitted_parameter> parameter_space::fitted(const minimum& found) const {
    const std::vector<double> values = all(found.at);
    std::vector<fitted_parameter> out;
    for (std::size_t i = 0; i < all_.size(); ++i) {
        out.push_back({std::string(all_[i].name), values[i], fitted_parameter::state::fixed});
    }
    for (std::size_t i = 0; i < free_.size(); ++i) {
        out[free_[i]].is =
            found.is_at_bound[i] ? fitted_parameter::state::at_bound : fitted_parameter::state::fitted;
    }
    return out;
}

std::string parameter_space::written(std::span<const double> free) const {
    const std::vector<double> values = all(free);
    std::string out;
    for (std::size_t i = 0; i < all_.size(); ++i) {
        out += (i == 0 ? "{" : ", ") + std::string(all_[i].name) + ": " + config::shown(values[i]);
    }
    return out + "}";
}

namespace {

// The fit as least squares. The result refers to `how`, `into` and `values`, which must outlive it.
least_squares problem_of(const fitting& how, const model_fit& into, std::vector<double>& values) {
    least_squares problem;
    problem.bounds = how.space.bounds();
    problem.good_enough = how.good_enough;
    problem.cancel = how.cancel;
    for (const fitted_quote& q : into.quotes) problem.residuals += q.weight > 0 ? 1 : 0;
    problem.evaluate = [&](std::span<const double> free, std::span<double> residuals) {
        how.model(how.space.all(free), values);
        std::size_t at = 0;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const fitted_quote& q = into.quotes[i];
            if (q.weight > 0) residuals[at++] = std::sqrt(q.weight) * (values[i] - q.market);
        }
    };
    return problem;
}

}  // namespace

std::vector<double> fit(const fitting& how, model_fit& into) {
    std::vector<double> values(into.quotes.size());
    const least_squares problem = problem_of(how, into, values);
    std::vector<std::vector<double>> starts;
    for (const std::vector<double>& start : how.starts) starts.push_back(how.space.free_of(start));
    const minimum found = minimise(problem, starts);
    how.model(how.space.all(found.at), values);
    for (std::size_t i = 0; i < values.size(); ++i) into.quotes[i].model = values[i];
    into.parameters = how.space.fitted(found);
    std::string loose;
    for (const std::size_t i : found.undetermined) {
        loose += (loose.empty() ? "" : ", ") + how.space.name_of_free(i);
    }
    if (!loose.empty()) {
        into.remarks.push_back("the quotes hardly determine " + loose +
                               ": other values fit as well; fix one, or add quotes");
    }
    into.has_converged = found.has_converged;
    into.starts = found.starts;
    into.iterations = found.iterations;
    into.evaluations = found.evaluations;
    summarise(into);
    return found.at;
}

fitted_numbers follow(const fitting& how, const model_fit& of, const number_by_key& now) {
    std::vector<std::string> keys;
    std::vector<double> at;
    for (const std::string& name : how.space.names()) {
        keys.push_back(of.of + "." + of.model + "." + name);
        at.push_back(now(keys.back()));
    }
    const std::vector<double> free = how.space.free_of(at), back = how.space.all(free);
    for (std::size_t i = 0; i < at.size(); ++i) {
        if (std::abs(back[i] - at[i]) <= same_parameter * std::abs(back[i])) continue;
        fail_as_no_fit(of, "found " + keys[i] + " at " + config::shown(at[i]) +
                               ", outside the bounds of its fit, which allow " + config::shown(back[i]));
    }
    std::vector<double> values(of.quotes.size());
    const auto moves = moves_by_quote(problem_of(how, of, values), of, free);
    fitted_numbers out{of.of, of.unit, {}, weighed(of.quotes), {}};
    for (std::size_t i = 0; i < moves.size(); ++i) {
        if (std::ranges::all_of(moves[i], [](double m) { return m == 0; })) continue;
        out.keys.push_back(keys[how.space.number_of_free(i)]);
        out.moves.push_back(moves[i]);
    }
    return out;
}

std::vector<fitted_quote> weighed(const std::vector<fitted_quote>& quotes) {
    std::vector<fitted_quote> out;
    std::ranges::copy_if(quotes, std::back_inserter(out), [](const fitted_quote& q) { return q.weight > 0; });
    return out;
}

std::vector<std::vector<double>> moves_by_quote(const least_squares& problem, const model_fit& of,
                                                std::span<const double> at) {
    const std::vector<fitted_quote> quotes = weighed(of.quotes);
    const moved_minimum found = move_minimum(problem, at);
    double squares = 0;
    for (const fitted_quote& q : quotes) squares += q.weight * q.market * q.market;
    const double size = std::sqrt(squares / static_cast<double>(quotes.size()));
    if (!found.is_determined) {
        fail_as_no_fit(
            of, "found quotes that do not determine the parameters, so there are no sensitivities to them");
    }
    if (!(found.root_mean_square_left <= most_left * size)) {
        fail_as_no_fit(of,
                       "found parameters that are not the best fit of these quotes: one more step of the fit "
                       "would move the "
                       "fitted quotes by " +
                           report::significant(found.root_mean_square_left, 2));
    }
    std::vector<std::vector<double>> out = found.slopes;
    for (auto& of_parameter : out) {
        of_parameter.resize(quotes.size());
        for (std::size_t i = 0; i < quotes.size(); ++i) of_parameter[i] *= std::sqrt(quotes[i].weight);
    }
    return out;
}

void fail_as_no_fit(const model_fit& of, const std::string& found) {
    throw error(error_kind::input,
                "the quotes of " + of.of + (of.part.empty() ? "" : " at " + of.part) + " for its " +
                    of.model + ": " + found +
                    "; expected a market as 'tilewalk calibrate' writes it, unchanged",
                of.quotes.front().where);
}

void number_repeated_keys(std::vector<fitted_quote>& quotes) {
    std::map<std::string, int> seen;
    for (fitted_quote& q : quotes)
        if (const int number = ++seen[q.key]; number > 1) q.key += "#" + std::to_string(number);
}

void summarise(model_fit& of) {
    double squares = 0, weights = 0;
    of.largest = 0;
    for (const fitted_quote& q : of.quotes) {
        squares += q.weight * q.difference() * q.difference();
        weights += q.weight;
        if (q.weight > 0) of.largest = std::max(of.largest, std::abs(q.difference()));
    }
    of.root_mean_square = std::sqrt(squares / weights);
}

void expect_enough(const config::node& at, const std::vector<fitted_quote>& quotes, std::size_t parameters) {
    const auto weighed = static_cast<std::size_t>(
        std::ranges::count_if(quotes, [](const fitted_quote& q) { return q.weight > 0; }));
    if (weighed >= parameters) return;
    at.fail(
        "found " + std::to_string(weighed) + " quotes" +
        (weighed < quotes.size() ? " with a weight above 0" : "") + " for " + std::to_string(parameters) +
        " free parameters, expected at least as many quotes as parameters; add quotes, or fix parameters");
}

}  // namespace tilewalk::calibrations
