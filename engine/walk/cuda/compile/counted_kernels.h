// SPDX-License-Identifier: Apache-2.0
// The kernels that one run takes from the store, counted for it alone, because other runs may take theirs at
// the same time.
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

    // Same as kernel_store::cubin.
    std::shared_ptr<const std::string> cubin(const compile_request& what);

    // Counts of kernels; each counts once, however often it was asked for.
    std::size_t compiled() const;
    std::size_t from_cache() const;

  private:
    kernel_store& from_;
    mutable std::mutex lock_;
    std::set<std::shared_ptr<const std::string>> taken_, compiled_;
};

}  // namespace tilewalk::cuda
