// SPDX-License-Identifier: Apache-2.0
// The models that the `model` of an asset or of a currency can name, as text to read.
#pragma once

#include <string>
#include <vector>

namespace tilewalk {

struct model_page {
    std::string name;
    std::string moves;  // "an asset", "interest rates"
    std::string summary;
    std::string scheme;        // by which it steps from one time to the next
    std::string weak_order;    // of that scheme; empty: its steps are exact, or it is not stated
    std::string steps_leave;   // the error of options in basis points of the spot; empty: none
    std::string factors;       // how many sources of noise it has
    std::string held_against;  // what its prices are compared with
};

// All models, those of assets first, each kind in the order of its catalogue.
std::vector<model_page> model_pages();

}  // namespace tilewalk
