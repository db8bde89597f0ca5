// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/cublas_library.h"

#include <dlfcn.h>

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "engine/walk/cuda/device/toolkit_libraries.h"
#include "tilewalk/error.h"

namespace tilewalk::bench {

namespace {

// Values of cuBLAS's enumerations, whose header is not included.
constexpr int not_transposed = 0, right_side = 1, upper = 1, any_diagonal = 0;
constexpr int allocation_failed = 3;

void check(const char* name, int status) {
    if (status == 0) return;
    throw cuda::device_error(
        status == allocation_failed ? cuda::device_failure::out_of_memory : cuda::device_failure::other,
        "cuBLAS's " + std::string(name) + " failed with status " + std::to_string(status));
}

// Loads a cuBLAS. Returns null functions if the library is missing (`why_not` stays empty) or unsuitable.
cublas_functions open(const std::string& library, std::string& why_not) {
    void* handle = cuda::open_library(library, why_not);
    if (handle == nullptr) return {};
    cublas_functions f;
    if (cuda::find_function(handle, "cublasDestroy_v2", f.cublasDestroy_v2) &&
        cuda::find_function(handle, "cublasSetStream_v2", f.cublasSetStream_v2) &&
        cuda::find_function(handle, "cublasGetVersion_v2", f.cublasGetVersion_v2) &&
        cuda::find_function(handle, "cublasSgemm_v2", f.cublasSgemm_v2) &&
        cuda::find_function(handle, "cublasDgemm_v2", f.cublasDgemm_v2) &&
        cuda::find_function(handle, "cublasStrmm_v2", f.cublasStrmm_v2) &&
        cuda::find_function(handle, "cublasDtrmm_v2", f.cublasDtrmm_v2) &&
        cuda::find_function(handle, "cublasCreate_v2", f.cublasCreate_v2)) {
        return f;
    }
    ::dlclose(handle);
    why_not = "lacks functions of cuBLAS";
    return {};
}

}  // namespace

cublas_functions open_cublas(std::span<const std::string> libraries) {
    cuda::vain_search looked_for;
    for (const std::string& library : libraries) {
        std::string why_not;
        const cublas_functions found = open(library, why_not);
        if (found.cublasCreate_v2 != nullptr) return found;
        looked_for.add(library, why_not);
    }
    throw error(error_kind::device, "this machine has no cuBLAS; looked for " + looked_for.words());
}

const cublas_functions& cublas_of_machine() {
    static const cublas_functions found = [] {
        constexpr std::string_view names[] = {"libcublas.so.13", "libcublas.so.12"};
        return open_cublas(cuda::toolkit_libraries(names));
    }();
    return found;
}

cublas::cublas(const cublas_functions& functions, cuda::device& on, cuda::stream in) : functions_(functions) {
    on.free_bytes();  // makes the device this thread's, which cuBLAS requires; the result is not used
    check("cublasCreate", functions_.cublasCreate_v2(&handle_));
    const int status =
        functions_.cublasSetStream_v2(handle_, reinterpret_cast<void*>(static_cast<std::uintptr_t>(in)));
    if (status != 0) functions_.cublasDestroy_v2(handle_);
    check("cublasSetStream", status);
}

cublas::~cublas() {
    functions_.cublasDestroy_v2(handle_);
}

int cublas::version() const {
    int found = 0;
    check("cublasGetVersion", functions_.cublasGetVersion_v2(handle_, &found));
    return found;
}

template <class real>
void cublas::general(const real* roots, const real* shocks, real* moves, int factors, int paths, int pitch) {
    const real one = 1, zero = 0;
    const auto call = [&](const char* name, cublas_functions::gemm<real> f) {
        check(name, f(handle_, not_transposed, not_transposed, paths, factors, factors, &one, shocks, pitch,
                      roots, factors, &zero, moves, pitch));
    };
    if constexpr (std::is_same_v<real, float>) {
        call("cublasSgemm", functions_.cublasSgemm_v2);
    } else {
        call("cublasDgemm", functions_.cublasDgemm_v2);
    }
}

template <class real>
void cublas::triangular(const real* roots, const real* shocks, real* moves, int factors, int paths,
                        int pitch) {
    const real one = 1;
    // cuBLAS stores by columns: our lower triangle by rows is an upper one to it.
    const auto call = [&](const char* name, cublas_functions::trmm<real> f) {
        check(name, f(handle_, right_side, upper, not_transposed, any_diagonal, paths, factors, &one, roots,
                      factors, shocks, pitch, moves, pitch));
    };
    if constexpr (std::is_same_v<real, float>) {
        call("cublasStrmm", functions_.cublasStrmm_v2);
    } else {
        call("cublasDtrmm", functions_.cublasDtrmm_v2);
    }
}

template void cublas::general(const float*, const float*, float*, int, int, int);
template void cublas::general(const double*, const double*, double*, int, int, int);
template void cublas::triangular(const float*, const float*, float*, int, int, int);
template void cublas::triangular(const double*, const double*, double*, int, int, int);

}  // namespace tilewalk::bench
