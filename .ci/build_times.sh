#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures what a build takes on this machine, without ccache: cold, and to the test of one file that was touched. Prints the
# rows of the table in CONTRIBUTING.md. Takes half an hour on two cores, which should have nothing else to do.
#
#     .ci/build_times.sh [FOLDER]     builds in FOLDER, a new one in /tmp if left out
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-$(mktemp -d /tmp/build_times.XXXXXX)}
export CCACHE_DISABLE=1

# seconds COMMAND...: how long it takes
seconds() {
    local begin
    begin=$(date +%s.%N)
    "$@" > "$folder/log" 2>&1 || { tail -n 40 "$folder/log" >&2 && return 1; }
    awk -v a="$begin" -v b="$(date +%s.%N)" 'BEGIN {printf "%.0f", b - a}'
}
# row WHAT SECONDS
row() { printf '| %s | %d:%02d |\n' "$1" $(($2 / 60)) $(($2 % 60)); }
# touched PRESET FILE TEST FILTER: from a change of a file to the answer of its test
touched() {
    touch "$2"
    row "$1: \`$2\` touched, until \`$3\` has passed" \
        "$(seconds bash -c "ninja -C '$folder/$1' $3 && '$folder/$1/tests/$3' --gtest_brief=1 --gtest_filter='$4'")"
}
touched_all() {
    touched "$1" engine/study/price.cpp study_tests 'engine.*'
    touched "$1" engine/models/model.h models_tests 'rates.*'
    touched "$1" kernels/feeds/smem_rolling.h kernels_tests 'kernels_on_host_of_feeds.*'
}
configured() {
    cmake --preset "$1" -B "$folder/$1" -G Ninja -DCMAKE_CXX_COMPILER_LAUNCHER= -DTILEWALK_TESTS=ON > "$folder/log"
}

echo "$(nproc) cores, $(c++ --version | head -n 1), $(date -u +%F)"
mkdir -p "$folder"
configured release
row "release: the command, cold (\`make demo\`)" "$(seconds ninja -C "$folder/release" tilewalk_cli)"
row "release: all else that \`make test\` builds" "$(seconds ninja -C "$folder/release")"
touched_all release
configured dev
ninja -C "$folder/dev" study_tests models_tests kernels_tests > "$folder/log"
touched_all dev
[ $# -gt 0 ] || rm -rf "$folder"
