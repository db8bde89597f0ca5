// SPDX-License-Identifier: Apache-2.0
#pragma once

// In the launch bounds of a kernel: so many blocks are to be resident on a multiprocessor, for which the
// compiler then leaves registers. A kernel that spills is compiled again without that wish.
#if defined(TILEWALK_NO_RESIDENT_BLOCKS)
#define TILEWALK_RESIDENT_BLOCKS(count)
#else
#define TILEWALK_RESIDENT_BLOCKS(count) , count
#endif
