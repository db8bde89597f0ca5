// SPDX-License-Identifier: Apache-2.0
#include "tilewalk/models.h"

#include <utility>

#include "engine/models/model.h"
#include "engine/models/rates/rates.h"

namespace tilewalk {

std::vector<model_page> model_pages() {
    std::vector<model_page> pages;
    const auto add = [&](const auto& entry, const char* moves) {
        const models::step_facts of = entry.steps();
        std::vector<parameter_page> parameters;
        for (const models::parameter_row& row : entry.parameters) {
            parameters.push_back(
                {std::string(row.name), row.takes_text(), row.left_out_text(), std::string(row.meaning)});
        }
        pages.push_back({std::string(entry.name), moves, std::string(entry.summary), std::string(of.scheme),
                         std::string(of.weak_order), of.leaves_text(), std::string(of.factors),
                         std::string(of.held_against), std::move(parameters)});
    };
    for (const models::catalogue_entry& e : models::catalogue()) add(e, "an asset");
    for (const models::rate_catalogue_entry& e : models::rate_catalogue()) add(e, "interest rates");
    return pages;
}

}  // namespace tilewalk
