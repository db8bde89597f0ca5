// SPDX-License-Identifier: Apache-2.0
#include "engine/numerics/quasi/normal_tables.h"

#include <array>
#include <cstddef>
#include <vector>

#include "kernels/normal_distribution.h"

namespace tilewalk::quasi {

namespace {

// Zeros of the Chebyshev polynomials of degree 6 and 4, at which the tables' polynomials are exact.
constexpr std::array<double, 6> zeros_of_six{0x1.ee8dd4748bf15p-1,  0x1.6a09e667f3bcdp-1,
                                             0x1.0907dc193069p-2,   -0x1.0907dc193069p-2,
                                             -0x1.6a09e667f3bcdp-1, -0x1.ee8dd4748bf15p-1};
constexpr std::array<double, 4> zeros_of_four{0x1.d906bcf328d46p-1, 0x1.87de2a6aea963p-2,
                                              -0x1.87de2a6aea963p-2, -0x1.d906bcf328d46p-1};

// The coefficients, by power, of the polynomial that interpolates f at the nodes.
template <std::size_t count, class function>
std::array<double, count> interpolated(const std::array<double, count>& nodes, const function& f) {
    std::array<double, count> differences{}, out{};
    for (std::size_t k = 0; k < count; ++k) differences[k] = f(nodes[k]);
    for (std::size_t j = 1; j < count; ++j)
        for (std::size_t k = count - 1; k >= j; --k)
            differences[k] = (differences[k] - differences[k - 1]) / (nodes[k] - nodes[k - j]);
    out[0] = differences[count - 1];
    for (std::size_t k = count - 1; k-- > 0;) {
        for (std::size_t power = count - 1; power > 0; --power)
            out[power] = out[power - 1] - nodes[k] * out[power];
        out[0] = differences[k] - nodes[k] * out[0];
    }
    return out;
}

// Calls of(row, coefficients) for rows of octaves below 2^top units; probabilities above 1/2 get zeros.
template <class shock, std::size_t count, class body>
void for_rows(const std::array<double, count>& nodes, int top, double unit, const body& of) {
    using table = kernels::normal_table<shock>;
    constexpr int parts = 1 << table::bits_of_part;
    double octave = unit;
    for (int i = 0; i < top; ++i) octave *= 2;
    for (int o = 0; o < table::octaves; ++o) {
        octave /= 2;
        for (int part = 0; part < parts; ++part) {
            const double low = octave * (1 + part / double{parts}),
                         high = octave * (1 + (part + 1) / double{parts});
            std::array<double, count> c{};
            if (low < 0.5)
                c = interpolated(nodes, [&](double t) {
                    return -kernels::norm_inv((low + high) / 2 + (high - low) / 2 * t);
                });
            of(static_cast<std::size_t>(o * parts + parts - 1 - part), c);
        }
    }
}

struct double_rows {
    std::vector<double> low;
    std::vector<float> high;
    kernels::normal_table<double> table;

    double_rows() {
        constexpr std::size_t rows = kernels::normal_table<double>::rows;
        low.resize(rows * 2);
        high.resize(rows * 4);
        for_rows<double>(zeros_of_six, 52, 0x1p-53, [&](std::size_t row, const std::array<double, 6>& c) {
            for (std::size_t k = 0; k < 2; ++k) low[k * rows + row] = c[k];
            for (std::size_t k = 0; k < 4; ++k) high[k * rows + row] = static_cast<float>(c[k + 2]);
        });
        table = {low.data(), high.data()};
    }
};

struct single_rows {
    std::vector<float> all;
    kernels::normal_table<float> table;

    single_rows() {
        all.resize(std::size_t{kernels::normal_table<float>::rows} * 4);
        for_rows<float>(zeros_of_four, 32, 0x1p-32, [&](std::size_t row, const std::array<double, 4>& c) {
            for (std::size_t k = 0; k < 4; ++k) all[4 * row + k] = static_cast<float>(c[k]);
        });
        table = {all.data()};
    }
};

}  // namespace

template <>
const kernels::normal_table<double>& normal_table<double>() {
    static const double_rows made;
    return made.table;
}
template <>
const kernels::normal_table<float>& normal_table<float>() {
    static const single_rows made;
    return made.table;
}

}  // namespace tilewalk::quasi
