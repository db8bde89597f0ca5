// SPDX-License-Identifier: Apache-2.0
// Tilewalk's elementary functions, for CPU and GPU: no price depends on functions of another library.
#pragma once

#include "kernels/arithmetic.h"
#include "kernels/exponential.h"
#include "kernels/normal_distribution.h"
#include "kernels/trigonometric.h"
