// SPDX-License-Identifier: Apache-2.0
// The cuBLAS functions that our matrix products are compared with, found at run time: Tilewalk is never
// linked with cuBLAS, and a machine without it has all other rows.
#pragma once

#include <span>
#include <string>

#include "engine/walk/cuda/device/device.h"

namespace tilewalk::bench {

// Functions under cuBLAS's own names. A handle and a stream are opaque; modes of operation are numbers.
struct cublas_functions {
    using handle = void*;
    template <class real>
    using gemm = int (*)(handle, int, int, int m, int n, int k, const real* alpha, const real* a, int lda,
                         const real* b, int ldb, const real* beta, real* c, int ldc);
    template <class real>
    using trmm = int (*)(handle, int side, int uplo, int, int diag, int m, int n, const real* alpha,
                         const real* a, int lda, const real* b, int ldb, real* c, int ldc);
    int (*cublasCreate_v2)(handle* made) = nullptr;
    int (*cublasDestroy_v2)(handle) = nullptr;
    int (*cublasSetStream_v2)(handle, void* stream) = nullptr;
    int (*cublasGetVersion_v2)(handle, int* version) = nullptr;
    gemm<float> cublasSgemm_v2 = nullptr;
    gemm<double> cublasDgemm_v2 = nullptr;
    trmm<float> cublasStrmm_v2 = nullptr;
    trmm<double> cublasDtrmm_v2 = nullptr;
};

// Opens the first of these libraries that is a cuBLAS; it stays loaded. Throws tilewalk::error (device) with
// what was tried if there is none.
cublas_functions open_cublas(std::span<const std::string> libraries);
const cublas_functions& cublas_of_machine();

// cuBLAS in one stream of a device. Calls throw cuda::device_error with the function's name if they fail.
class cublas {
  public:
    cublas(const cublas_functions& functions, cuda::device& on, cuda::stream in);
    ~cublas();
    cublas(const cublas&) = delete;
    cublas& operator=(const cublas&) = delete;

    int version() const;
    // Computes moves = shocks times the transposed roots; a row of a cube is a column for cuBLAS. `roots` is
    // square, row by row, with zeros above the diagonal. `general` uses a general product, `triangular` a
    // triangular one.
    template <class real>
    void general(const real* roots, const real* shocks, real* moves, int factors, int paths, int pitch);
    template <class real>
    void triangular(const real* roots, const real* shocks, real* moves, int factors, int paths, int pitch);

  private:
    cublas_functions functions_;
    cublas_functions::handle handle_ = nullptr;
};

}  // namespace tilewalk::bench
