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
};

// All models, those of assets first, each kind in the order of its catalogue.
std::vector<model_page> model_pages();

}  // namespace tilewalk
