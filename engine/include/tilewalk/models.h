// SPDX-License-Identifier: Apache-2.0
// Descriptions of the models that the `model` of an asset or currency can name.
#pragma once

#include <string>
#include <vector>

namespace tilewalk {

struct parameter_page {
    std::string name;      // "heston.v0" if in a mapping `heston`
    std::string takes;     // accepted values: "a number between 0 and 100, also by term"
    std::string left_out;  // value if left out: "default 100", "computed: ..."; or "required"
    std::string meaning;
};

struct model_page {
    std::string name;
    std::string moves;  // "an asset", "interest rates"
    std::string summary;
    std::string scheme;        // discretisation in time
    std::string weak_order;    // weak order of that scheme; empty if its steps are exact or it is unknown
    std::string steps_leave;   // time step error of options in basis points of the spot; may be empty
    std::string factors;       // number of sources of noise
    std::string held_against;  // reference that tests compare the model with
    std::vector<parameter_page> parameters;
};

std::vector<model_page> model_pages();

}  // namespace tilewalk
