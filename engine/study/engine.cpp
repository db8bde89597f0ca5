// SPDX-License-Identifier: Apache-2.0
// Makes engines. Verbs have files beside this one.
#include "tilewalk/engine.h"

#include <utility>

#include "engine/decide/settled.h"
#include "engine/study/dependence.h"
#include "engine/walk/cuda/device/backend.h"

namespace tilewalk {

engine::engine(engine_settings settings) : engine(std::move(settings), std::make_shared<cuda::backend>()) {}

engine::engine(engine_settings settings, std::shared_ptr<cuda::backend> gpus)
    : settings_(std::move(settings)), gpus_(std::move(gpus)) {
    verbs::operations_named(settings_.instruction_set);
}

void engine::open_devices(const std::string& device, timings* times) const {
    gpus_->open_ahead(device, times);
}

std::vector<trade_dependence> engine::depends_on(const book& trades, const market& in,
                                                 const run_options& options) const {
    return verbs::dependence_of(trades, in, options);
}

std::vector<std::string> engine::instruction_sets() {
    std::vector<std::string> names;
    const auto list = cpu::runnable_instruction_sets();
    for (int i = 0; i < list.count; ++i) names.emplace_back(list.sets[static_cast<std::size_t>(i)]->name);
    return names;
}

}  // namespace tilewalk
