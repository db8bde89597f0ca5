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
sources=$(find engine kernels products python tests bench -name '*.cpp' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' | sort)
if [ "${1:-}" = --fix ]; then
    xargs "$format" --style=file -i <<< "$sources"
    exit 0
fi
# shellcheck disable=SC2016
check='for source; do
    "$0" --style=file "$source" | cmp -s - "$source" && continue
    echo "$source: clang-format lays it out differently (make format)"
    status=1
done
exit ${status:-0}'
xargs -P "$(nproc)" -n 32 bash -c "$check" "$format" <<< "$sources"
