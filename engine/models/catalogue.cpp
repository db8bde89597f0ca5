// SPDX-License-Identifier: Apache-2.0
// The catalogue of asset models. A new model adds its declaration and a line here.
#include <algorithm>
#include <array>

#include "engine/market/wording.h"
#include "engine/models/model.h"

namespace tilewalk::models {

extern const parameter_table parameters_of_black_scholes, parameters_of_heston, parameters_of_schobel_zhu,
    parameters_of_local_volatility, parameters_of_cev, parameters_of_sabr,
    parameters_of_stochastic_local_volatility, parameters_of_merton, parameters_of_kou, parameters_of_bates,
    parameters_of_variance_gamma, parameters_of_rough_bergomi, parameters_of_nig, parameters_of_cgmy;

step_facts steps_of_black_scholes();
step_facts steps_of_heston();
step_facts steps_of_schobel_zhu();
step_facts steps_of_local_volatility();
step_facts steps_of_cev();
step_facts steps_of_sabr();
step_facts steps_of_stochastic_local_volatility();
step_facts steps_of_merton();
step_facts steps_of_kou();
step_facts steps_of_bates();
step_facts steps_of_variance_gamma();
step_facts steps_of_rough_bergomi();
step_facts steps_of_nig();
step_facts steps_of_cgmy();

std::shared_ptr<const model> read_black_scholes(const config::node& parameters, const reading& of);
std::shared_ptr<const model> read_heston(const config::node& parameters, const reading& of);
std::shared_ptr<const model> read_schobel_zhu(const config::node& parameters, const reading& of);
std::shared_ptr<const model> read_local_volatility(const config::node& parameters, const reading& of);
std::shared_ptr<const model> read_cev(const config::node& parameters, const reading& of);
std::shared_ptr<const model> read_sabr(const config::node& parameters, const reading& of);
std::shared_ptr<const model> read_stochastic_local_volatility(const config::node& parameters,
                                                              const reading& of);
std::shared_ptr<const model> read_merton(const config::node& parameters, const reading& of);
std::shared_ptr<const model> read_kou(const config::node& parameters, const reading& of);
std::shared_ptr<const model> read_bates(const config::node& parameters, const reading& of);
std::shared_ptr<const model> read_variance_gamma(const config::node& parameters, const reading& of);
std::shared_ptr<const model> read_rough_bergomi(const config::node& parameters, const reading& of);
std::shared_ptr<const model> read_nig(const config::node& parameters, const reading& of);
std::shared_ptr<const model> read_cgmy(const config::node& parameters, const reading& of);

const model& default_model();

std::span<const catalogue_entry> catalogue() {
    static const std::array entries{
        catalogue_entry{"black_scholes",
                        "lognormal, its volatility flat, by term or by path; exact between dates",
                        parameters_of_black_scholes, steps_of_black_scholes, read_black_scholes},
        catalogue_entry{"heston", "stochastic variance that reverts to a mean", parameters_of_heston,
                        steps_of_heston, read_heston},
        catalogue_entry{"schobel_zhu", "stochastic volatility that reverts to a mean",
                        parameters_of_schobel_zhu, steps_of_schobel_zhu, read_schobel_zhu},
        catalogue_entry{"local_volatility", "volatility by time and spot, of an implied surface or given",
                        parameters_of_local_volatility, steps_of_local_volatility, read_local_volatility},
        catalogue_entry{"cev", "a power of the forward as its volatility, absorbed at zero",
                        parameters_of_cev, steps_of_cev, read_cev},
        catalogue_entry{"sabr", "a power of the forward by a lognormal volatility, absorbed at zero",
                        parameters_of_sabr, steps_of_sabr, read_sabr},
        catalogue_entry{"stochastic_local_volatility",
                        "stochastic variance with a leverage by time and spot that gives a surface back",
                        parameters_of_stochastic_local_volatility, steps_of_stochastic_local_volatility,
                        read_stochastic_local_volatility},
        catalogue_entry{"merton", "lognormal with normal jumps", parameters_of_merton, steps_of_merton,
                        read_merton},
        catalogue_entry{"kou", "lognormal with exponential jumps up and down", parameters_of_kou,
                        steps_of_kou, read_kou},
        catalogue_entry{"bates", "stochastic variance with normal jumps", parameters_of_bates, steps_of_bates,
                        read_bates},
        catalogue_entry{"variance_gamma", "Brownian motion on a gamma clock", parameters_of_variance_gamma,
                        steps_of_variance_gamma, read_variance_gamma},
        catalogue_entry{"rough_bergomi",
                        "stochastic variance that moves roughly, from a curve of forward variance",
                        parameters_of_rough_bergomi, steps_of_rough_bergomi, read_rough_bergomi},
        catalogue_entry{"nig", "Brownian motion on an inverse Gaussian clock", parameters_of_nig,
                        steps_of_nig, read_nig},
        catalogue_entry{"cgmy", "jumps alone, as powers of their size that are damped exponentially",
                        parameters_of_cgmy, steps_of_cgmy, read_cgmy},
    };
    return entries;
}

std::string step_facts::leaves_text() const {
    if (!leaves) return "not known";
    if (*leaves == 0) return {};
    std::string text = config::shown(*leaves);
    if (other_leaves) text += " (Euler: " + config::shown(*other_leaves) + ")";
    if (!leaves_too.empty()) text += ", " + std::string(leaves_too);
    return text;
}

std::size_t find_model(const config::node& value, std::span<const std::string> known,
                       const std::string& example) {
    const std::vector<std::string> names(known.begin(), known.end());
    if (!value.is_mapping() || value.members().size() != 1) {
        value.fail("found " +
                   (value.is_mapping() ? std::to_string(value.members().size()) + " models" : value.found()) +
                   ", expected a model with its parameters, such as " + example +
                   "; known: " + config::joined(names));
    }
    const config::node::member& only = value.members().front();
    const auto at = std::ranges::find(names, only.key);
    if (at == names.end()) only.fail(markets::unknown_name("model", only.key, names));
    if (!only.value.is_mapping()) {
        only.value.fail("found " + only.value.found() + ", expected the parameters of the model " + only.key +
                        " as a mapping");
    }
    return static_cast<std::size_t>(at - names.begin());
}

std::shared_ptr<const model> read_model(const config::node& value, const reading& of) {
    std::vector<std::string> known;
    for (const catalogue_entry& e : catalogue()) known.emplace_back(e.name);
    const std::size_t number = find_model(value, known, "{heston: {v0: 0.04, ...}}");
    return catalogue()[number].read(value.members().front().value, of);
}

const model& model_of(const markets::asset& a) {
    return a.model ? *a.model : default_model();
}

const markets::volatility& walk::scale() const {
    static const markets::volatility one = markets::volatility::flat(1);
    return one;
}

}  // namespace tilewalk::models
