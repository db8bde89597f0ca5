// SPDX-License-Identifier: Apache-2.0
// Lists the instruction sets that this machine can run. Compiled for the baseline, as it runs on any machine.
#include "engine/walk/cpu/lane_operations.h"

namespace tilewalk::cpu {

#if defined(__x86_64__)

extern const lane_operations x86_64_v3;
extern const lane_operations x86_64_v4;

instruction_set_list runnable_instruction_sets() {
    // Tests the features of x86-64-v3 and v4 that compilers use; the compiler's function also asks whether
    // the operating system saves the registers. Every set has FMA: emulating it is 34 times slower.
    __builtin_cpu_init();
    const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
    instruction_set_list list;
    if (v4) list.sets[static_cast<unsigned>(list.count++)] = &x86_64_v4;
    if (v3) list.sets[static_cast<unsigned>(list.count++)] = &x86_64_v3;
    return list;
}

#else

extern const lane_operations native;

// Architectures with FMA in their baseline (64-bit ARM) have one set.
instruction_set_list runnable_instruction_sets() {
    return {{&native}, 1};
}

#endif

}  // namespace tilewalk::cpu
