// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/compile/counted_kernels.h"

namespace tilewalk::cuda {

std::shared_ptr<const std::string> counted_kernels::cubin(const compile_request& what) {
    bool compiled_here = false;
    auto got = from_.cubin(what, &compiled_here);
    const std::lock_guard guard(lock_);
    taken_.insert(got);
    if (compiled_here) compiled_.insert(got);
    return got;
}

std::size_t counted_kernels::compiled() const {
    const std::lock_guard guard(lock_);
    return compiled_.size();
}

std::size_t counted_kernels::from_cache() const {
    const std::lock_guard guard(lock_);
    return taken_.size() - compiled_.size();
}

}  // namespace tilewalk::cuda
