// SPDX-License-Identifier: Apache-2.0
#include "engine/calibration/parameters.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/config/wording.h"

namespace tilewalk::calibrations {

namespace {

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
            said->fail("found bounds of " + std::string(p.name) + ", which is fixed; expected one of them");
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

std::vector<double> fit(const fitting& how, model_fit& into) {
    std::vector<double> values(into.quotes.size());
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
                               ": other values fit as well; fix one, or add quotes that tell");
    }
    into.has_converged = found.has_converged;
    into.starts = found.starts;
    into.iterations = found.iterations;
    into.evaluations = found.evaluations;
    summarise(into);
    return found.at;
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
    at.fail("found " + std::to_string(weighed) + " quotes" +
            (weighed < quotes.size() ? " with a weight above 0" : "") + " for " + std::to_string(parameters) +
            " free parameters, expected as many at least");
}

}  // namespace tilewalk::calibrations
