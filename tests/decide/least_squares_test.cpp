// SPDX-License-Identifier: Apache-2.0
// label: no_sanitizer (kernels through the run-time compiler)
// Least squares on a GPU, which fit policies: sums by matrix instructions have the CPU's bits, and cuSOLVER
// finds the same solutions.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "engine/decide/exercise/regression.h"
#include "engine/walk/cuda/device/memory.h"
#include "tests/on_a_gpu.h"
#include "tests/product_sums.h"

namespace tilewalk::least_squares_test {
namespace {

class least_squares_on_a_gpu : public tests::on_a_gpu {
  protected:
    cuda::device& on() { return chosen_.devices.front()->get(); }
    cuda::device_memory with(const std::vector<double>& numbers) {
        cuda::device_memory out(on(), numbers.size() * sizeof(double));
        on().upload(out.as<void>(), numbers.data(), out.bytes(), cuda::stream::standard);
        return out;
    }
    std::vector<double> numbers_in(const cuda::device_memory& m) {
        std::vector<double> out(m.bytes() / sizeof(double));
        on().download(out.data(), m.as<void>(), m.bytes(), cuda::stream::standard);
        on().wait(cuda::stream::standard);
        return out;
    }
};

TEST_F(least_squares_on_a_gpu, have_sums_of_the_cpu) {
    const auto cubin =
        gpus_.kernels().cubin({tests::text_of_product_sums, on().properties().architecture(), {}});
    const cuda::kernel kernel = chosen_.devices.front()->find(cubin, "sum_products");
    tests::expect_product_sums_of_the_cpu([&](const std::vector<double>& columns, int rows, int cols,
                                              bool is_lower, const std::vector<double>& before) {
        const cuda::device_memory from = with(columns), into = with(before);
        tests::product_sums_arguments a{from.as<double>(), rows, cols, is_lower ? 1u : 0u, into.as<double>()};
        void* arguments[] = {&a};
        cuda::launch how;
        how.threads = kernels::paths_of_block;
        how.shared_bytes = tests::bytes_of_product_sums(is_lower ? rows : rows + cols);
        on().run(kernel, how, arguments, cuda::stream::standard);
        return numbers_in(into);
    });
}

// The functions of cuSOLVER that this test calls, loaded at run time: nothing else needs the library.
class cusolver {
  public:
    cusolver() {
        for (const char* name : {"libcusolver.so", "libcusolver.so.12", "libcusolver.so.11"})
            if (library_ == nullptr) library_ = ::dlopen(name, RTLD_NOW);
        if (library_ != nullptr) call<int (*)(void**)>("cusolverDnCreate", &handle_);
    }
    ~cusolver() {
        if (handle_ != nullptr) call<int (*)(void*)>("cusolverDnDestroy", handle_);
        if (library_ != nullptr) ::dlclose(library_);
    }
    cusolver(const cusolver&) = delete;
    cusolver& operator=(const cusolver&) = delete;
    bool is_there() const { return handle_ != nullptr; }

    static constexpr int lower = 0;  // CUBLAS_FILL_MODE_LOWER
    int bytes_to_factor(int n, double* matrix) {
        int numbers = 0;
        call<int (*)(void*, int, int, double*, int, int*)>("cusolverDnDpotrf_bufferSize", handle_, lower, n,
                                                           matrix, n, &numbers);
        return numbers * static_cast<int>(sizeof(double));
    }
    void factor(int n, double* matrix, double* room, int bytes, int* info) {
        call<int (*)(void*, int, int, double*, int, double*, int, int*)>(
            "cusolverDnDpotrf", handle_, lower, n, matrix, n, room, bytes / static_cast<int>(sizeof(double)),
            info);
    }
    void solve(int n, const double* matrix, double* right, int* info) {
        call<int (*)(void*, int, int, int, const double*, int, double*, int, int*)>(
            "cusolverDnDpotrs", handle_, lower, n, 1, matrix, n, right, n, info);
    }

  private:
    template <class function, class... values>
    void call(const char* name, values... with) {
        const auto of = reinterpret_cast<function>(::dlsym(library_, name));
        ASSERT_NE(of, nullptr) << name;
        ASSERT_EQ(of(with...), 0) << name;
    }
    void* library_ = nullptr;
    void* handle_ = nullptr;
};

// The regressors of a put's fit: powers of a nearly normal variable. Their equations have a condition of 1e5.
TEST_F(least_squares_on_a_gpu, are_those_of_cusolver) {
    cusolver by;
    if (!by.is_there()) {
        ASSERT_FALSE(is_required()) << "a GPU without cuSOLVER";
        GTEST_SKIP() << "no cuSOLVER";
    }
    constexpr std::size_t functions = 6, blocks = 16;
    std::vector<double> matrix(functions * functions), right(functions);
    std::uint64_t state = 5;
    const auto uniform = [&] {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<double>(state >> 11) * 0x1p-53;
    };
    for (std::size_t block = 0; block < blocks; ++block) {
        std::vector<exercise::block_column> of(functions);
        exercise::block_column comes{};
        for (std::size_t p = 0; p < comes.size(); ++p) {
            double x = -6;
            for (int k = 0; k < 12; ++k) x += uniform();
            for (std::size_t f = 0; f < functions; ++f) of[f][p] = f == 0 ? 1 : of[f - 1][p] * x;
            comes[p] = std::max(0.3 - x, 0.0) + uniform();
        }
        for (std::size_t i = 0; i < functions; ++i) {
            for (std::size_t j = 0; j < functions; ++j)
                matrix[i * functions + j] += exercise::sum_of_products(of[i], of[j]);
            right[i] += exercise::sum_of_products(of[i], comes);
        }
    }
    const exercise::pivoted_factor ours(matrix, functions, functions);
    ASSERT_EQ(ours.rank(), functions);
    const std::vector<double> found = ours.solve(right);

    const cuda::device_memory factored = with(matrix), solved = with(right);
    const cuda::device_memory info(on(), sizeof(int));
    constexpr int n = static_cast<int>(functions);
    const int bytes = by.bytes_to_factor(n, factored.as<double>());
    const cuda::device_memory room(on(), static_cast<std::size_t>(std::max(bytes, 1)));
    by.factor(n, factored.as<double>(), room.as<double>(), bytes, info.as<int>());
    by.solve(n, factored.as<double>(), solved.as<double>(), info.as<int>());
    const std::vector<double> expected = numbers_in(solved);
    for (std::size_t i = 0; i < functions; ++i) EXPECT_NEAR(found[i], expected[i], 1e-10) << i;
}

}  // namespace
}  // namespace tilewalk::least_squares_test
