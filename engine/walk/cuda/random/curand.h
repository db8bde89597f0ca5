// SPDX-License-Identifier: Apache-2.0
// Sources that use cuRAND, opened with its functions, which tests replace.
#pragma once

#include <memory>

#include "engine/walk/cuda/random/curand_library.h"
#include "engine/walk/cuda/random/random_source.h"

namespace tilewalk::random {

// Values of curandRngType.
enum class curand_type : int {
    xorwow = 101,
    mrg32k3a = 121,
    mt19937 = 142,
    philox = 161,
    scrambled_sobol64 = 204,
};

std::unique_ptr<random_source> open_curand_source(const opening& from, const curand_functions& functions,
                                                  curand_type type);
std::unique_ptr<random_source> open_sobol_source(const opening& from, const curand_functions& functions);

}  // namespace tilewalk::random
