# SPDX-License-Identifier: Apache-2.0
# Read by ctest after the tests of all programs are known. Tests that use a real GPU have the label `gpu` and run one at a
# time, because they count on its memory or fill it. Their names say which they are: a new one is called *_on_gpu.* or
# *_on_a_gpu.

include(${CMAKE_CURRENT_LIST_DIR}/labels_of.cmake)
get_cmake_property(names VARIABLES)
list(FILTER names INCLUDE REGEX "_test_(LONG_)?TESTS$")
foreach(program IN LISTS names)
    string(REGEX REPLACE "_(LONG_)?TESTS$" "" source "${program}")
    labels_of(${CMAKE_CURRENT_LIST_DIR}/${source}.cpp labels)
    if(program MATCHES "_LONG_TESTS$")
        list(PREPEND labels long)
    else()
        list(PREPEND labels quick)
    endif()
    foreach(test IN LISTS ${program})
        set(all "${labels}")
        if(test MATCHES "_on_(a_)?gpu|\\.(real_device|gpu_sources|same_bits)\\.")
            list(APPEND all gpu)
            set_tests_properties("${test}" PROPERTIES RESOURCE_LOCK gpu)
        endif()
        set_tests_properties("${test}" PROPERTIES LABELS "${all}")
        # Counts what memory is free, of which every other test that prices takes some where there is a GPU.
        if(test MATCHES "\\.real_device\\.says_that_memory_is_out")
            set_tests_properties("${test}" PROPERTIES RUN_SERIAL TRUE)
        endif()
    endforeach()
endforeach()
