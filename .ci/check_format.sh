#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Says which sources clang-format would lay out differently; with --fix, lays them out.
set -euo pipefail
cd "$(dirname "$0")/.."

# Releases differ in small things; the one of Debian 12 decides where there are several.
format=$(command -v clang-format-14 || command -v clang-format) || {
    echo "clang-format is not installed" >&2
    exit 2
}
mode=(--dry-run -Werror)
[ "${1:-}" = --fix ] && mode=(-i)
find engine kernels products tests bench -name '*.cpp' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' |
    sort | xargs "$format" --style=file "${mode[@]}"
