// SPDX-License-Identifier: Apache-2.0
// Moves of a CGMY process (Carr, Geman, Madan and Yor 2002), which it adds to the logarithm of an asset over
// a step. The process has jumps by x at the rate C exp(-M x) / x^(1 + Y) up and C exp(-G |x|) / |x|^(1 + Y)
// down, and its law is known by its transform; here it becomes a function of one standard normal. Plain loops
// of the kernels' arithmetic give these tables, which prices are made of, the same bits with any compiler on
// any machine.
#pragma once

#include <cstddef>

#include "engine/models/step_tables.h"

namespace tilewalk::models {

struct cgmy_parameters {
    double c = 0, g = 0, m = 0, y = 0;
};

// A year's variance of the logarithm, and how far its mean lies below the logarithm of the mean.
double cgmy_variance(const cgmy_parameters& p);
double cgmy_gap(const cgmy_parameters& p);

// x = Q(Phi(z)), Q the quantile of the law, at evenly spaced z as far as draws go; read with lines between,
// the mean of exp(x) is 1. Each number but the first and the last is lower by a twelfth of the second
// difference than x: the mean of a line over an interval is then that of x to the fourth order of the
// spacing.
struct cgmy_table {
    step_table table;
    // Error of a probability by the inversion of the transform.
    double inversion_error = 0;
    // The shift that gave the table its mean, beside the drift of the law: it stands for the tails beyond the
    // table's ends.
    double moved = 0;
    // The mean distance between the lines and the law, as a share of that of exp(x) from 1.
    double coarseness = 0;
};
cgmy_table make_cgmy_table(const cgmy_parameters& p, double years, std::size_t points);

}  // namespace tilewalk::models
