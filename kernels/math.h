// SPDX-License-Identifier: Apache-2.0
// The elementary functions of Tilewalk, for both back ends: no priced number passes through another library's
// functions.
#pragma once

#include "kernels/arithmetic.h"
#include "kernels/exponential.h"
#include "kernels/normal_distribution.h"
#include "kernels/trigonometric.h"
