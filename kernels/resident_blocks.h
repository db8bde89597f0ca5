// SPDX-License-Identifier: Apache-2.0
#pragma once

// For the launch bounds of a kernel: the number of blocks resident on a multiprocessor, for which the
// compiler leaves registers. A kernel that spills is compiled again without it.
#if defined(TILEWALK_NO_RESIDENT_BLOCKS)
#define TILEWALK_RESIDENT_BLOCKS(count)
#else
#define TILEWALK_RESIDENT_BLOCKS(count) , count
#endif
