// SPDX-License-Identifier: Apache-2.0
// The CGMY process (Carr, Geman, Madan and Yor 2002), whose jumps x have the intensity C exp(-M x) / x^(1 +
// Y) up and C exp(-G |x|) / |x|^(1 + Y) down. Tables turn its law, which is known by its transform, into a
// function of one standard normal. They use the kernels' arithmetic alone, so they have the same bits for any
// compiler and machine.
#pragma once

#include <cstddef>

#include "engine/models/step_tables.h"

namespace tilewalk::models {

struct cgmy_parameters {
    double c = 0, g = 0, m = 0, y = 0;
};

// Variance of a year's log asset, and the gap: log of the asset's mean less the mean of its log.
double cgmy_variance(const cgmy_parameters& p);
double cgmy_gap(const cgmy_parameters& p);

// x = Q(Phi(z)) at evenly spaced normals z over the range of draws, where Q is the quantile function of a
// step's law, shifted such that the interpolated exp(x) has mean 1. Inner numbers are x minus a twelfth of
// the second difference, so that the mean over an interval is right to fourth order in the spacing.
struct cgmy_table {
    step_table table;
    // Absolute error of probabilities from inverting the transform.
    double inversion_error = 0;
    // The shift of x, beyond the law's drift, that makes the mean of exp(x) 1 without tails beyond the table.
    double moved = 0;
    // Mean distance between the interpolated exp(x) and the law's, relative to the mean of |exp(x) - 1|.
    double coarseness = 0;
};
cgmy_table make_cgmy_table(const cgmy_parameters& p, double years, std::size_t points);

}  // namespace tilewalk::models
