// SPDX-License-Identifier: Apache-2.0
#include "tilewalk/models.h"

#include "engine/models/model.h"
#include "engine/models/rates.h"

namespace tilewalk {

std::vector<model_page> model_pages() {
    std::vector<model_page> pages;
    for (const models::catalogue_entry& e : models::catalogue())
        pages.push_back({std::string(e.name), "an asset", std::string(e.summary)});
    for (const models::rate_catalogue_entry& e : models::rate_catalogue())
        pages.push_back({std::string(e.name), "interest rates", std::string(e.summary)});
    return pages;
}

}  // namespace tilewalk
