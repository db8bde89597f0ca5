// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/random/point_tables.h"

#include <cstdint>

#include "engine/numerics/quasi/directions.h"
#include "engine/numerics/quasi/normal_tables.h"

namespace tilewalk::random {

const void* point_tables::normals(cuda::stream s) {
    if (normals_) return normals_->as<void>();
    const auto place = [&](const void* from, std::size_t bytes) {
        const cuda::device_memory& there = arrays_.emplace_back(on_, bytes);
        on_.upload(there.as<void>(), from, bytes, s);
        return there.as<void>();
    };
    const auto put = [&](const auto& table) {
        normals_.emplace(on_, sizeof table);
        on_.upload(normals_->as<void>(), &table, sizeof table, s);
        on_.wait(s);
    };
    if (of_ == arrays::element::double_) {
        constexpr std::size_t rows = kernels::normal_table<double>::rows;
        const auto& of = quasi::normal_table<double>();
        put(kernels::normal_table<double>{
            static_cast<const double*>(place(of.low, 2 * rows * sizeof(double))),
            static_cast<const float*>(place(of.high, 4 * rows * sizeof(float)))});
    } else {
        constexpr std::size_t rows = kernels::normal_table<float>::rows;
        put(kernels::normal_table<float>{
            static_cast<const float*>(place(quasi::normal_table<float>().all, 4 * rows * sizeof(float)))});
    }
    return normals_->as<void>();
}

const kernels::word32* point_tables::directions(std::size_t dimensions, cuda::stream s) {
    const std::size_t numbers = dimensions * kernels::bits_of_index;
    if (numbers > known_) {
        // Waits for work that reads the old directions.
        on_.wait(s);
        directions_.emplace(on_, numbers * sizeof(kernels::word32));
        on_.upload(directions_->as<void>(), quasi::directions(static_cast<std::uint32_t>(dimensions)).data(),
                   directions_->bytes(), s);
        on_.wait(s);
        known_ = numbers;
    }
    return directions_ ? directions_->as<kernels::word32>() : nullptr;
}

}  // namespace tilewalk::random
