// SPDX-License-Identifier: Apache-2.0
// cuRAND's host functions, loaded at run time: a machine without cuRAND has all other sources.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace tilewalk::random {

// Under cuRAND's own names. Generators and streams are opaque; types and orderings are numbers.
struct curand_functions {
    using generator = void*;
    int (*curandGetVersion)(int* version) = nullptr;
    int (*curandCreateGenerator)(generator* made, int type) = nullptr;
    int (*curandDestroyGenerator)(generator g) = nullptr;
    int (*curandSetStream)(generator g, void* stream) = nullptr;
    int (*curandSetPseudoRandomGeneratorSeed)(generator g, unsigned long long seed) = nullptr;
    int (*curandSetGeneratorOffset)(generator g, unsigned long long offset) = nullptr;
    int (*curandSetGeneratorOrdering)(generator g, int ordering) = nullptr;
    int (*curandSetQuasiRandomGeneratorDimensions)(generator g, unsigned int dimensions) = nullptr;
    int (*curandGenerate)(generator g, unsigned int* into, std::size_t count) = nullptr;
    int (*curandGenerateLongLong)(generator g, unsigned long long* into, std::size_t count) = nullptr;
};

// The first of these that is a cuRAND; stays loaded. Throws tilewalk::error (device) listing what was tried.
curand_functions open_curand(std::span<const std::string> libraries);

// Thread-safe.
const curand_functions& curand_of_machine();

class curand_generator {
  public:
    curand_generator(const curand_functions& functions, int type);
    ~curand_generator();
    curand_generator(const curand_generator&) = delete;
    curand_generator& operator=(const curand_generator&) = delete;

    // Throws cuda::device_error with the function's name if the call fails.
    template <class function, class... rest>
    void call(const char* name, function curand_functions::*f, rest... arguments) const {
        check(name, (functions_.*f)(generator_, arguments...));
    }

  private:
    static void check(const char* name, int status);

    const curand_functions& functions_;
    curand_functions::generator generator_ = nullptr;
};

}  // namespace tilewalk::random
