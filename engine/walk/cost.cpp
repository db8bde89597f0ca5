// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cost.h"

#include <cstddef>

#include "products/program/cost.h"

namespace tilewalk::run {

namespace {

constexpr double of_random_number = 30;  // operations that one random number costs

double operations_of(const program::path_program& code, const job& of) {
    double all = 0;
    const double steps = static_cast<double>(of.when->steps());
    for (std::size_t s = 0; s < code.sections.size(); ++s) {
        double of_run = 1;
        for (const program::node& n : code.sections[s].nodes) of_run += program::cost(n.code);
        all += of_run * (s == 0 ? steps : static_cast<double>(of.data->runs[s]));
    }
    return all + of_random_number * (code.normals_per_step + code.uniforms_per_step) * steps;
}

}  // namespace

double operations_of(const job& of) {
    double all = operations_of(*of.code, of);
    if (of.back.code != nullptr)
        all += operations_of(of.back.code->again, of) + operations_of(of.back.code->back, of);
    return all;
}

}  // namespace tilewalk::run
