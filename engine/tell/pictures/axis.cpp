// SPDX-License-Identifier: Apache-2.0
#include "engine/tell/pictures/axis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

#include "engine/base/shown_numbers.h"

namespace tilewalk::pictures {

namespace {

bool is_power_of_two(double x) {
    int exponent = 0;
    return x > 0 && std::frexp(x, &exponent) == 0.5;
}

// Ticks at 1, 2 and 5 times each power of ten within the range; in a long range only at the powers of ten.
std::vector<double> logarithmic_ticks(double low, double high) {
    std::vector<double> out;
    const double decades = std::log10(high / low);
    for (int power = static_cast<int>(std::floor(std::log10(low)));
         power <= static_cast<int>(std::ceil(std::log10(high))); ++power) {
        for (const int digit : decades > 3 ? std::vector<int>{1} : std::vector<int>{1, 2, 5}) {
            out.push_back(digit * std::pow(10.0, power));
        }
    }
    return out;
}

}  // namespace

double axis::place(double x) const {
    if (!(high > low)) return 0.5;
    if (by_logarithm) return std::log(x / low) / std::log(high / low);
    return (x - low) / (high - low);
}

std::string tick_text(double x) {
    if (x >= 1024 && is_power_of_two(x)) {
        constexpr std::array<std::pair<double, std::string_view>, 3> units{
            {{0x1p30, " Gi"}, {0x1p20, " Mi"}, {0x1p10, " Ki"}}};
        for (const auto& [size, name] : units) {
            if (x >= size) return report::fixed(x / size, 0) + std::string(name);
        }
    }
    if (std::abs(x) >= 1e6) return report::significant(x, 3);
    return report::significant(x, 6);
}

axis y_axis(const std::vector<double>& values, bool by_logarithm) {
    axis out;
    const auto [low, high] = std::ranges::minmax(values);
    out.by_logarithm = low > 0 && (by_logarithm || high / low > 50);
    if (out.by_logarithm) {
        const std::vector<double> ticks = logarithmic_ticks(low, high);
        const auto first = std::ranges::upper_bound(ticks, low * (1 + 1e-9));
        const auto last = std::ranges::lower_bound(ticks, high * (1 - 1e-9));
        out.ticks.assign(first == ticks.begin() ? first : first - 1, last == ticks.end() ? last : last + 1);
    } else {
        out.ticks = low == 0 && high == 0 ? round_ticks(0, 1, 5)
                                          : round_ticks(std::min(0.0, low), std::max(0.0, high), 5);
    }
    out.low = out.ticks.front();
    out.high = out.ticks.back();
    return out;
}

axis x_axis(std::vector<double> values) {
    axis out;
    if (values.empty()) return out;
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    out.low = values.front();
    out.high = values.back();
    out.by_logarithm = out.low > 0 && (out.high / out.low > 20 ||
                                       (values.size() > 2 && std::ranges::all_of(values, is_power_of_two)));
    if (values.size() <= 8 || (out.by_logarithm && std::ranges::all_of(values, is_power_of_two))) {
        out.ticks = values;
    } else {
        for (const double t :
             out.by_logarithm ? logarithmic_ticks(out.low, out.high) : round_ticks(out.low, out.high, 6)) {
            if (t >= out.low && t <= out.high) out.ticks.push_back(t);
        }
    }
    return out;
}

std::vector<double> round_ticks(double low, double high, int about) {
    const double rough = (high - low) / about;
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    double step = 10 * power;
    for (const double digit : {5.0, 2.0, 1.0}) {
        if (digit * power >= rough * (1 - 1e-9)) step = digit * power;
    }
    std::vector<double> out;
    const auto first = static_cast<std::int64_t>(std::floor(low / step + 1e-9));
    const auto last = static_cast<std::int64_t>(std::ceil(high / step - 1e-9));
    for (std::int64_t i = first; i <= std::max(last, first + 1); ++i)
        out.push_back(static_cast<double>(i) * step);
    return out;
}

}  // namespace tilewalk::pictures
