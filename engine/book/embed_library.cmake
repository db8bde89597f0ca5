# SPDX-License-Identifier: Apache-2.0
# Writes OUTPUT, the C++ source that carries every file of LIST (a file that holds a CMake list of paths). Each byte is
# written as a number, so no length limit of string literals and no character of the text matters.
file(READ "${LIST}" files)
list(SORT files)

set(texts "")
set(entries "")
set(number 0)
foreach(path IN LISTS files)
    get_filename_component(name "${path}" NAME)
    file(READ "${path}" bytes HEX)
    string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
    string(APPEND texts "constexpr char text_${number}[] = {${bytes}'\\0'};\n")
    string(APPEND entries "    {\"${name}\", {text_${number}, sizeof text_${number} - 1}},\n")
    math(EXPR number "${number} + 1")
endforeach()

file(WRITE "${OUTPUT}" "// SPDX-License-Identifier: Apache-2.0
// Made by embed_library.cmake from products/library: do not edit.
#include <array>

#include \"engine/book/library.h\"

namespace tilewalk::books {
namespace {
${texts}
constexpr std::array<library_file, ${number}> files{{
${entries}}};
}  // namespace

std::span<const library_file> library_files() { return files; }

}  // namespace tilewalk::books
")
