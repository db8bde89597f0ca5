// SPDX-License-Identifier: Apache-2.0
// Tilewalk's elementary functions, for both back ends: no priced number passes through another library's.
#pragma once

#include "kernels/arithmetic.h"
#include "kernels/exponential.h"
#include "kernels/normal_distribution.h"
#include "kernels/trigonometric.h"
