// SPDX-License-Identifier: Apache-2.0
#pragma once

// A kernel's launch bound: how many blocks the compiler should leave registers for on a multiprocessor. If
// the kernel then spills registers, it is compiled again without the bound.
#if defined(TILEWALK_NO_RESIDENT_BLOCKS)
#define TILEWALK_RESIDENT_BLOCKS(count)
#else
#define TILEWALK_RESIDENT_BLOCKS(count) , count
#endif
