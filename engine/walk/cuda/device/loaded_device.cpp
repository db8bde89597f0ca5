// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/device/loaded_device.h"

#include <string_view>

namespace tilewalk::cuda {

loaded_device::~loaded_device() {
    for (const auto& [key, m] : modules_) device_.unload(m.in);
}

kernel loaded_device::find(const std::shared_ptr<const std::string>& cubin, const char* name) {
    const std::lock_guard guard(lock_);
    auto found = modules_.find(cubin.get());
    if (found == modules_.end()) {
        found =
            modules_.emplace(cubin.get(), loaded{cubin, device_.load({cubin->data(), cubin->size()})}).first;
    }
    loaded& code = found->second;
    const auto known = code.kernels.find(std::string_view(name));
    if (known != code.kernels.end()) return known->second;
    return code.kernels.emplace(name, device_.find(code.in, name)).first->second;
}

std::span<std::byte> loaded_device::variable(const std::shared_ptr<const std::string>& cubin,
                                             const char* name) {
    const std::lock_guard guard(lock_);
    return device_.variable(modules_.at(cubin.get()).in, name);
}

}  // namespace tilewalk::cuda
