// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduce_stored.h"

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_segmented_reduce.cuh>

namespace tilewalk::kernels {

namespace {

struct result_at {
    stored_payoffs what;
    __host__ __device__ tile_result operator()(long long place) const { return what.at(word64(place)); }
};
struct begin_of {
    stored_payoffs what;
    __host__ __device__ long long operator()(long long i) const { return what.begin_of(word64(i)); }
};
struct end_of {
    stored_payoffs what;
    __host__ __device__ long long operator()(long long i) const { return what.end_of(word64(i)); }
};
struct merged {
    __host__ __device__ tile_result operator()(const tile_result& a, const tile_result& b) const {
        return merge(a, b);
    }
};

}  // namespace

bool can_reduce_stored() {
    return true;
}

int reduce_stored(const stored_payoffs& what, void* scratch, word64& scratch_bytes, void* stream) {
    const thrust::counting_iterator<long long> numbers(0);
    std::size_t bytes = scratch_bytes;
    const cudaError_t said = cub::DeviceSegmentedReduce::Reduce(
        scratch, bytes, thrust::make_transform_iterator(numbers, result_at{what}), what.results,
        static_cast<int>(what.count()), thrust::make_transform_iterator(numbers, begin_of{what}),
        thrust::make_transform_iterator(numbers, end_of{what}), merged{}, tile_result{},
        static_cast<cudaStream_t>(stream));
    scratch_bytes = bytes;
    return said;
}

}  // namespace tilewalk::kernels
