// SPDX-License-Identifier: Apache-2.0
// The CGMY process (Carr, Geman, Madan and Yor 2002), whose jumps x have the intensity C exp(-M x) / x^(1 +
// Y) up and C exp(-G |x|) / |x|^(1 + Y) down. Tables turn its law, known by its transform, into a function of
// one standard normal. Plain loops of the kernels' arithmetic make them, so they have the same bits with any
// compiler on any machine.
#pragma once

#include <cstddef>

#include "engine/models/step_tables.h"

namespace tilewalk::models {

struct cgmy_parameters {
    double c = 0, g = 0, m = 0, y = 0;
};

// A year's variance of the logarithm, and the logarithm of the mean minus the mean of the logarithm.
double cgmy_variance(const cgmy_parameters& p);
double cgmy_gap(const cgmy_parameters& p);

// x = Q(Phi(z)), with the quantile Q of the law, at evenly spaced z over the range of draws. With linear
// interpolation the mean of exp(x) is 1. Inner numbers are x minus a twelfth of the second difference, so
// that the mean over an interval is right to fourth order in the spacing.
struct cgmy_table {
    step_table table;
    // Absolute error of probabilities from inverting the transform.
    double inversion_error = 0;
    // The shift beyond the law's drift that gives the right mean: it replaces the tails beyond the ends.
    double moved = 0;
    // Mean distance between the lines and the law, relative to that of exp(x) from 1.
    double coarseness = 0;
};
cgmy_table make_cgmy_table(const cgmy_parameters& p, double years, std::size_t points);

}  // namespace tilewalk::models
