# SPDX-License-Identifier: Apache-2.0
# Read by ctest after the tests of all programs are known: those that use a real GPU run one at a time, because they
# count on its memory or fill it. Which they are, their names say: a new one is called *_on_gpu.* or *_on_a_gpu.

get_cmake_property(names VARIABLES)
list(FILTER names INCLUDE REGEX "_test_(LONG_)?TESTS$")
foreach(program IN LISTS names)
    foreach(test IN LISTS ${program})
        if(test MATCHES "_on_(a_)?gpu|\\.(real_device|gpu_sources|same_bits)\\.")
            set_tests_properties("${test}" PROPERTIES RESOURCE_LOCK gpu)
        endif()
        # Counts what memory is free, of which every other test that prices takes some where there is a GPU.
        if(test MATCHES "\\.real_device\\.says_that_memory_is_out")
            set_tests_properties("${test}" PROPERTIES RUN_SERIAL TRUE)
        endif()
    endforeach()
endforeach()
