# SPDX-License-Identifier: Apache-2.0
# Writes OUTPUT, the source that knows the commit of the checkout SOURCE; untouched if it is as it was, so that nothing
# is compiled or linked for it. What .ci records of stages that passed changes no program. Run with cmake -P.
set(commit "unknown")
find_program(git NAMES git)
if(git AND EXISTS "${SOURCE}/.git")  # which is a file in a worktree; not the repository of a folder around
    execute_process(COMMAND ${git} -C ${SOURCE} rev-parse --short=12 HEAD
                    OUTPUT_VARIABLE head ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
    execute_process(COMMAND ${git} -C ${SOURCE} diff --quiet HEAD -- . ":(exclude).ci/passed" ":(exclude).ci/nightly"
                            ":(exclude)tests/mistakes/scores"
                    ERROR_QUIET RESULT_VARIABLE is_dirty)
    if(failed EQUAL 0 AND head MATCHES "^[0-9a-f]+$")
        set(commit "${head}")
        if(NOT is_dirty EQUAL 0)
            string(APPEND commit "-dirty")
        endif()
    endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [[
// SPDX-License-Identifier: Apache-2.0
// Written by build_commit.cmake.
#include "engine/cli/build_commit.h"

namespace tilewalk::cli {

const char* build_commit() noexcept { return "@commit@"; }

}  // namespace tilewalk::cli
]] @ONLY)
