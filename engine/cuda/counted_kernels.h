// SPDX-License-Identifier: Apache-2.0
// What one run takes from the kernel store, counted for it alone: other runs may take theirs at the same
// time.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "engine/cuda/kernel_store.h"

namespace tilewalk::cuda {

class counted_kernels {
  public:
    explicit counted_kernels(kernel_store& from) : from_(from) {}

    // As of the store.
    std::shared_ptr<const std::string> cubin(const compile_request& what);

    // Kernels, however often they were asked for.
    std::size_t compiled() const;
    std::size_t from_cache() const;

  private:
    kernel_store& from_;
    mutable std::mutex lock_;
    std::set<std::shared_ptr<const std::string>> taken_, compiled_;
};

}  // namespace tilewalk::cuda
