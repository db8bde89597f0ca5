// SPDX-License-Identifier: Apache-2.0
// Makes engines. Each study has a file beside this one.
#include "tilewalk/engine.h"

#include <utility>

#include "engine/decide/settled.h"
#include "engine/study/dependence.h"
#include "engine/study/session/engine_state.h"

namespace tilewalk {

engine::engine(engine_settings settings)
    : state_(std::make_shared<studies::engine_state>(
          studies::engine_state{std::move(settings), std::make_shared<cuda::backend>()})) {
    studies::operations_named(state_->settings.instruction_set);
}

engine studies::engine_on(std::shared_ptr<cuda::backend> gpus) {
    return with_state<engine>(std::make_shared<engine_state>(engine_state{{}, std::move(gpus)}));
}

const engine_settings& engine::settings() const {
    return state_->settings;
}

void engine::open_devices(const std::string& device, timings* times) const {
    state_->gpus->open_ahead(device, times);
}

std::vector<trade_dependence> engine::depends_on(const book& trades, const market& in,
                                                 const run_options& options) const {
    return studies::dependence_of(trades, in, {options});
}

std::vector<std::string> engine::instruction_sets() {
    std::vector<std::string> names;
    const auto list = cpu::runnable_instruction_sets();
    for (int i = 0; i < list.count; ++i) names.emplace_back(list.sets[static_cast<std::size_t>(i)]->name);
    return names;
}

}  // namespace tilewalk
