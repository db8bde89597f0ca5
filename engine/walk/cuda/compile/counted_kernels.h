// SPDX-License-Identifier: Apache-2.0
// Counts the kernels that one run takes from the store, which runs at the same time may share.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "engine/walk/cuda/compile/kernel_store.h"

namespace tilewalk::cuda {

class counted_kernels {
  public:
    explicit counted_kernels(kernel_store& from) : from_(from) {}

    std::shared_ptr<const std::string> cubin(const compile_request& what);

    std::size_t compiled() const;
    std::size_t from_cache() const;
    std::string why_foreign() const { return from_.why_foreign(); }  // see kernel_store

  private:
    kernel_store& from_;
    mutable std::mutex lock_;
    std::set<std::shared_ptr<const std::string>> taken_, compiled_;
};

}  // namespace tilewalk::cuda
