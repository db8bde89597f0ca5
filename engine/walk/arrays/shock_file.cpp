// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/arrays/shock_file.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/wording.h"
#include "engine/walk/arrays/layout.h"
#include "engine/walk/arrays/mapped_file.h"
#include "tilewalk/error.h"

namespace tilewalk::arrays {

namespace {

template <class shock>
bool is_normal_shock(double x) {
    // The smallest double that rounds to infinity in the type `shock`.
    constexpr double limit = sizeof(shock) == 4 ? 0x1.ffffffp127 : std::numeric_limits<double>::infinity();
    return std::abs(x) < limit;
}
template <class shock>
bool is_uniform_shock(double x) {
    if (!(x > 0 && x < 1)) return false;
    const auto rounded = static_cast<shock>(x);
    return rounded > 0 && rounded < 1;
}

// Index of the first invalid number, or `count`. Checks stretches without a branch, so that they vectorise.
template <class number, class check>
std::uint64_t first_bad(const number* x, std::uint64_t count, const check& is_good) {
    constexpr std::uint64_t stretch = 4096;
    for (std::uint64_t from = 0; from < count; from += stretch) {
        const std::uint64_t to = std::min(count, from + stretch);
        bool good = true;
        for (std::uint64_t i = from; i < to; ++i) good &= is_good(x[i]);
        if (good) continue;
        for (std::uint64_t i = from;; ++i) {
            if (!is_good(x[i])) return i;
        }
    }
    return count;
}

template <class check>
void check_values(const shock_cube& v, const std::string& name, const std::string& kind,
                  const std::string& expected, const check& is_good) {
    std::visit(
        [&](const auto* first) {
            const std::uint64_t count = v.steps * v.slots * v.paths;
            const std::uint64_t at = first_bad(first, count, is_good);
            if (at == count) return;
            throw error(error_kind::input,
                        "found " + config::shown(static_cast<double>(first[at])) + " as " + kind + ' ' +
                            std::to_string(at / v.paths % v.slots) + " of step " +
                            std::to_string(at / v.paths / v.slots) + " on path " +
                            std::to_string(at % v.paths) + " (all counted from 0), expected " + expected,
                        {name});
        },
        v.first);
}

template <class shock>
void check_all(const shock_cube& normals, const shock_cube& uniforms, const std::string& name) {
    const std::string in_precision = sizeof(shock) == 4 ? " in single precision" : "";
    check_values(normals, name, "normal", "a finite number" + in_precision,
                 [](double x) { return is_normal_shock<shock>(x); });
    check_values(uniforms, name, "uniform", "a number strictly between 0 and 1" + in_precision,
                 [](double x) { return is_uniform_shock<shock>(x); });
}

shock_cube view(const layout& l, const std::byte* at, std::uint64_t slots) {
    shock_cube v;
    if (l.of == element::double_) {
        v.first = reinterpret_cast<const double*>(at);
    } else {
        v.first = reinterpret_cast<const float*>(at);
    }
    v.step_stride = slots * l.paths;
    v.slot_stride = l.paths;
    v.steps = l.steps;
    v.slots = slots;
    v.paths = l.paths;
    return v;
}

std::string words_of(const needs& n) {
    return std::to_string(n.steps) + " steps of " + std::to_string(n.normals_per_step) + " normals and " +
           std::to_string(n.uniforms_per_step) + " uniforms on " + std::to_string(n.paths) + " paths";
}

}  // namespace

shock_file::shock_file(const std::filesystem::path& file, element walked_as) : name_(file.string()) {
    const mapped_file mapped = map_file(file);
    mapped_ = mapped.keeps;
    const layout found = read_layout(mapped.bytes, name_);
    const std::byte* const data = mapped.bytes.data() + found.data_at;
    normals_ = view(found, data, found.normals_per_step);
    const std::uint64_t count = found.steps * found.normals_per_step * found.paths;
    uniforms_ = view(found, data + count * arrays::bytes_of(found.of), found.uniforms_per_step);
    if (walked_as == element::double_) {
        check_all<double>(normals_, uniforms_, name_);
    } else {
        check_all<float>(normals_, uniforms_, name_);
    }
}

void shock_file::check(const needs& of_trade) const {
    const needs has{normals_.steps, normals_.slots, uniforms_.slots, normals_.paths};
    if (of_trade.steps <= has.steps && of_trade.normals_per_step <= has.normals_per_step &&
        of_trade.uniforms_per_step <= has.uniforms_per_step && of_trade.paths <= has.paths)
        return;
    throw error(error_kind::input,
                "the trade takes " + words_of(of_trade) + ", the file has " + words_of(has), {name_});
}

template <class shock>
void copy_row(const shock_cube& from, std::uint64_t step, std::uint64_t slot, std::uint64_t first_path,
              std::uint64_t count, shock* to) {
    std::visit(
        [&](const auto* first) {
            const auto* row = first + step * from.step_stride + slot * from.slot_stride;
            const std::uint64_t there =
                first_path < from.paths ? std::min(count, from.paths - first_path) : 0;
            for (std::uint64_t i = 0; i < there; ++i) to[i] = static_cast<shock>(row[first_path + i]);
            std::fill(to + there, to + count, static_cast<shock>(row[from.paths - 1]));
        },
        from.first);
}

template void copy_row(const shock_cube&, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                       double*);
template void copy_row(const shock_cube&, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, float*);

}  // namespace tilewalk::arrays
