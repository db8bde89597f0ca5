# SPDX-License-Identifier: Apache-2.0
# Writes OUTPUT, the C++ source of FUNCTION (declared in HEADER, in NAMESPACE): a span of ELEMENTs, each the name and the
# text of a file of LIST (a file that holds a CMake list of paths); names count from FOLDER. Each byte is written as a
# number, so no length limit of string literals and no character of the text matters.
file(READ "${LIST}" files)
list(SORT files)

set(texts "")
set(entries "")
set(number 0)
foreach(path IN LISTS files)
    file(RELATIVE_PATH name "${FOLDER}" "${path}")
    file(READ "${path}" bytes HEX)
    string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
    string(APPEND texts "constexpr char text_${number}[] = {${bytes}'\\0'};\n")
    string(APPEND entries "    {\"${name}\", {text_${number}, sizeof text_${number} - 1}},\n")
    math(EXPR number "${number} + 1")
endforeach()

file(WRITE "${OUTPUT}" "// SPDX-License-Identifier: Apache-2.0
// Made by embed_files.cmake: do not edit.
#include <array>

#include \"${HEADER}\"

namespace ${NAMESPACE} {
namespace {
${texts}
constexpr std::array<${ELEMENT}, ${number}> files{{
${entries}}};
}  // namespace

std::span<const ${ELEMENT}> ${FUNCTION}() { return files; }

}  // namespace ${NAMESPACE}
")
