// SPDX-License-Identifier: Apache-2.0
// Random sources that use cuRAND. They take its functions as an argument, so that tests can replace them.
#pragma once

#include <memory>

#include "engine/walk/cuda/random/curand_library.h"
#include "engine/walk/cuda/random/random_source.h"

namespace tilewalk::random {

// The types have the values of cuRAND's curandRngType.
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
