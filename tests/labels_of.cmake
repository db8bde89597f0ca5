# SPDX-License-Identifier: Apache-2.0
# The labels of a test program beside `quick` or `long`, from what its source says: `threads` asks for threads or for the
# command with them; `no_sanitizer`, by a line "// label: no_sanitizer (why)", says nothing about memory or takes hours
# under a sanitizer. Read when programs are chosen to be built, and by ctest.
function(labels_of source result)
    set(labels "")
    file(STRINGS ${source} threads REGEX "<thread>|--threads|(overrides|options)[.]threads")
    if(threads)
        list(APPEND labels threads)
    endif()
    file(STRINGS ${source} no_sanitizer REGEX "^// label: no_sanitizer \\(")
    if(no_sanitizer)
        list(APPEND labels no_sanitizer)
    endif()
    set(${result} "${labels}" PARENT_SCOPE)
endfunction()
