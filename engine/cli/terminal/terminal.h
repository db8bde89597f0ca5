// SPDX-License-Identifier: Apache-2.0
// The terminal behind standard output.
#pragma once

#include "tilewalk/results.h"
#include "tilewalk/write.h"

namespace tilewalk::cli {

inline constexpr std::size_t narrowest_columns = 60, widest_columns = 200;

// Returns the layout of text for standard output. Its width is COLUMNS or that of the terminal, between 60
// and 200 columns; 200 if unknown.
text_form form_of_stdout();

}  // namespace tilewalk::cli
