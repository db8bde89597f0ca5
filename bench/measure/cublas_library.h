// SPDX-License-Identifier: Apache-2.0
// The cuBLAS functions that our matrix products are compared with, loaded at run time. Tilewalk is never
// linked with cuBLAS; on a machine without it only the rows of cuBLAS are missing.
#pragma once

#include <span>
#include <string>

#include "engine/walk/cuda/device/device.h"

namespace tilewalk::bench {

// Pointers to cuBLAS functions, under their own names. Handles and streams are opaque, enumerations numbers.
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

// cuBLAS on one stream of a device. Calls throw cuda::device_error with the name of a function that fails.
class cublas {
  public:
    cublas(const cublas_functions& functions, cuda::device& on, cuda::stream in);
    ~cublas();
    cublas(const cublas&) = delete;
    cublas& operator=(const cublas&) = delete;

    int version() const;
    // Computes moves = shocks times transposed roots. A cube's row (one shock of all paths) is a column to
    // cuBLAS, which stores by columns. `roots` is a square matrix, row by row, with zeros above the diagonal.
    // `general` calls a general matrix product, `triangular` a triangular one.
    template <class real>
    void general(const real* roots, const real* shocks, real* moves, int factors, int paths, int pitch);
    template <class real>
    void triangular(const real* roots, const real* shocks, real* moves, int factors, int paths, int pitch);

  private:
    cublas_functions functions_;
    cublas_functions::handle handle_ = nullptr;
};

}  // namespace tilewalk::bench
