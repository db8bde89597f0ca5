// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/random/curand_library.h"

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/walk/cuda/device/device.h"
#include "engine/walk/cuda/device/toolkit_libraries.h"

namespace tilewalk::random {

namespace {

constexpr std::pair<int, std::string_view> status_names[] = {
    {100, "CURAND_STATUS_VERSION_MISMATCH"},
    {101, "CURAND_STATUS_NOT_INITIALIZED"},
    {102, "CURAND_STATUS_ALLOCATION_FAILED"},
    {103, "CURAND_STATUS_TYPE_ERROR"},
    {104, "CURAND_STATUS_OUT_OF_RANGE"},
    {105, "CURAND_STATUS_LENGTH_NOT_MULTIPLE"},
    {106, "CURAND_STATUS_DOUBLE_PRECISION_REQUIRED"},
    {201, "CURAND_STATUS_LAUNCH_FAILURE"},
    {202, "CURAND_STATUS_PREEXISTING_FAILURE"},
    {203, "CURAND_STATUS_INITIALIZATION_FAILED"},
    {204, "CURAND_STATUS_ARCH_MISMATCH"},
    {999, "CURAND_STATUS_INTERNAL_ERROR"},
};
constexpr int allocation_failed = 102;

// Functions of a library; null if it is missing (then why_not is empty) or unsuitable.
curand_functions open(const std::string& library, std::string& why_not) {
    void* handle = cuda::open_library(library, why_not);
    if (handle == nullptr) return {};
    curand_functions f;
    if (cuda::find_function(handle, "curandGetVersion", f.curandGetVersion) &&
        cuda::find_function(handle, "curandDestroyGenerator", f.curandDestroyGenerator) &&
        cuda::find_function(handle, "curandSetStream", f.curandSetStream) &&
        cuda::find_function(handle, "curandSetPseudoRandomGeneratorSeed",
                            f.curandSetPseudoRandomGeneratorSeed) &&
        cuda::find_function(handle, "curandSetGeneratorOffset", f.curandSetGeneratorOffset) &&
        cuda::find_function(handle, "curandSetGeneratorOrdering", f.curandSetGeneratorOrdering) &&
        cuda::find_function(handle, "curandSetQuasiRandomGeneratorDimensions",
                            f.curandSetQuasiRandomGeneratorDimensions) &&
        cuda::find_function(handle, "curandGenerate", f.curandGenerate) &&
        cuda::find_function(handle, "curandGenerateLongLong", f.curandGenerateLongLong) &&
        cuda::find_function(handle, "curandCreateGenerator", f.curandCreateGenerator)) {
        return f;
    }
    why_not = "lacks functions of cuRAND";
    return {};
}

std::vector<std::string> known_libraries() {
    constexpr std::string_view names[] = {"libcurand.so.10", "libcurand.so.11"};
    return cuda::toolkit_libraries(names);
}

}  // namespace

curand_functions open_curand(std::span<const std::string> libraries) {
    cuda::vain_search looked_for;
    for (const std::string& library : libraries) {
        std::string why_not;
        const curand_functions found = open(library, why_not);
        if (found.curandCreateGenerator != nullptr) return found;
        looked_for.add(library, why_not);
    }
    throw error(
        error_kind::device,
        "this machine has no cuRAND, which this random source needs; looked for " + looked_for.words());
}

const curand_functions& curand_of_machine() {
    static const curand_functions found = open_curand(known_libraries());
    return found;
}

curand_generator::curand_generator(const curand_functions& functions, int type) : functions_(functions) {
    check("curandCreateGenerator", functions.curandCreateGenerator(&generator_, type));
}

curand_generator::~curand_generator() {
    functions_.curandDestroyGenerator(generator_);
}

void curand_generator::check(const char* name, int status) {
    if (status == 0) return;
    std::string text = "cuRAND's " + std::string(name) + " failed: ";
    for (const auto& [number, words] : status_names) {
        if (number == status) text += std::string(words) + ' ';
    }
    throw cuda::device_error(
        status == allocation_failed ? cuda::device_failure::out_of_memory : cuda::device_failure::other,
        text + "(" + std::to_string(status) + ")");
}

}  // namespace tilewalk::random
