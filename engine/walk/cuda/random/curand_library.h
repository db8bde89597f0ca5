// SPDX-License-Identifier: Apache-2.0
// cuRAND's host functions, loaded at run time, so that machines without cuRAND still have all other sources.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace tilewalk::random {

// cuRAND's functions by name. Generators and streams are opaque pointers; types and orderings are ints.
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

// Opens the first library that is cuRAND; never closes it. Throws tilewalk::error (device) listing them all.
curand_functions open_curand(std::span<const std::string> libraries);

// The functions of this machine's cuRAND. Thread-safe.
const curand_functions& curand_of_machine();

class curand_generator {
  public:
    curand_generator(const curand_functions& functions, int type);
    ~curand_generator();
    curand_generator(const curand_generator&) = delete;
    curand_generator& operator=(const curand_generator&) = delete;

    // Calls a function. Throws cuda::device_error with its `name` if it fails.
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
