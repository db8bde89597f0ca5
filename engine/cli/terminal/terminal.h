// SPDX-License-Identifier: Apache-2.0
// The terminal behind standard output.
#pragma once

#include "tilewalk/results.h"
#include "tilewalk/write.h"

namespace tilewalk::cli {

inline constexpr std::size_t narrowest_columns = 60, widest_columns = 200;

// The layout of text for standard output: the width of COLUMNS or of the terminal, clamped to 60 to 200
// columns; 200 if unknown.
text_form form_of_stdout();

}  // namespace tilewalk::cli
