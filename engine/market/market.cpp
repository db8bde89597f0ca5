// SPDX-License-Identifier: Apache-2.0
// The public market: a file or a text, read once and shared.
#include "tilewalk/market.h"

#include "engine/config/digest.h"
#include "engine/config/document.h"
#include "engine/market/market_state.h"

namespace tilewalk {

market market::load(const std::filesystem::path& file) {
    return parse(config::read_file(file, config::limits{}.bytes), file.string());
}

market market::parse(std::string_view yaml, const std::string& name) {
    markets::market_state state = markets::read_market(config::parse(yaml, name));
    state.name = name;
    state.hash = config::sha256(yaml);
    return market(std::make_shared<const markets::market_state>(std::move(state)));
}

std::string market::as_of() const {
    return dates::to_string(state_->as_of);
}

}  // namespace tilewalk
