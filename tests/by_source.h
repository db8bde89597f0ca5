// SPDX-License-Identifier: Apache-2.0
// For tests of prices against known values: runs each with every source of random numbers, which are
// independent paths, and Sobol points by each construction.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/walk/units.h"
#include "tests/known_error.h"
#include "tests/named_choice.h"
#include "tilewalk/engine.h"

namespace tilewalk {

struct random_source {
    std::string random, construction;
};
inline const random_source independent_paths{"philox", "bridge"}, bridged_points{"sobol", "bridge"},
    points_in_time{"sobol", "steps"};

// Prints the source, since GoogleTest would print bytes: names of tests must be the same in every build.
inline void PrintTo(const random_source& from, std::ostream* out) {
    *out << from.random << ' ' << from.construction;
}

inline std::string name_of_source(const testing::TestParamInfo<random_source>& at) {
    return at.param.random == "philox" ? "philox" : at.param.random + "_" + at.param.construction;
}

// Welch's (1947) degrees of freedom of `error`, a root of squares of which the row's error is one part.
inline double degrees_of(const price_row& row, double error) {
    const double part = known_error(row) / error;
    return row.degrees_of_freedom() / (part * part * part * part);
}
inline bool is_student(const price_row& row, double error) {
    return row.randomisations > 0 && error > 0 && degrees_of(row, error) < 1e6;
}
// The normal quantile that is exceeded as rarely as `t` times this error.
inline double normal_of_errors(double t, const price_row& row, double error) {
    return is_student(row, error) ? run::normal_of_student(t, degrees_of(row, error)) : t;
}
// The quantile of Student's t that is exceeded as rarely as `normal` by a normal variable: 6.8 for 4.5 if
// there are 16 randomisations.
inline double student_of_normal(double normal, double degrees) {
    double low = normal, high = 1e3 * normal;
    while (high - low > 1e-9 * low) {
        const double middle = 0.5 * (low + high);
        (run::normal_of_student(middle, degrees) < normal ? low : high) = middle;
    }
    return low;
}
inline double errors_of_normal(double normal, const price_row& row, double error) {
    return is_student(row, error) ? student_of_normal(normal, degrees_of(row, error)) : normal;
}
// How far a price may be from its true value: exceeded as rarely as `normal` by a normal variable.
inline double chance_of(const price_row& row, double normal) {
    return errors_of_normal(normal, row, known_error(row)) * known_error(row);
}

// Sets the source of random numbers for tests by source, while it lives; otherwise paths are independent.
class source_in_use {
  public:
    explicit source_in_use(const random_source& of) { current() = of; }
    ~source_in_use() { current() = independent_paths; }
    source_in_use(const source_in_use&) = delete;
    source_in_use& operator=(const source_in_use&) = delete;

    static const random_source& now() { return current(); }

  private:
    static random_source& current() {
        static random_source of = independent_paths;
        return of;
    }
};

inline void take_source(run_options& into) {
    into.overrides.random = source_in_use::now().random;
    into.overrides.construction = tests::named{source_in_use::now().construction};
}

class by_source : public testing::TestWithParam<random_source> {
    const source_in_use source_{GetParam()};
};

}  // namespace tilewalk
