#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian or Ubuntu packages that are missing: install_packages.sh demo|test|bench|ci. As root or through
# sudo; otherwise it prints the line to run and exits 2. Does nothing, fast, when all is there.
set -euo pipefail

goal=${1:-demo}
# The sanitizers' and the fuzzer's runtime is a package of its own: of the clang that there is, else of the usual one.
clang_runtime() {
    if command -v clang++ > /dev/null; then
        echo "libclang-rt-$(clang++ -dumpversion | cut -d. -f1)-dev"
    else
        echo libclang-rt-dev
    fi
}
# A tool is there if it can be run, wherever it came from; a library is there if its package is.
tools=("c++:g++" "cmake:cmake" "make:make" "ninja:ninja-build")
libraries=(libc6-dev libyaml-cpp-dev libfmt-dev libcli11-dev nlohmann-json3-dev libeigen3-dev)
case $goal in
    demo) ;;
    test | bench | ci)
        tools+=("python3:python3" "patch:patch")
        libraries+=(libgtest-dev libmpfr-dev librandom123-dev)
        ;;&
    bench | ci) libraries+=(libbenchmark-dev libquantlib0-dev) ;;&
    ci) libraries+=("$(clang_runtime)") ;;&
    ci) tools+=("clang++:clang" "clang-format:clang-format" "mold:mold" "qemu-x86_64:qemu-user") ;;&
    test | bench | ci) ;;
    *)
        echo "usage: $0 demo|test|bench|ci" >&2
        exit 2
        ;;
esac

missing=()
for tool in "${tools[@]}"; do
    command -v "${tool%%:*}" > /dev/null || missing+=("${tool#*:}")
done
if command -v dpkg-query > /dev/null; then
    present=$(dpkg-query --show --showformat '${Package} ${db:Status-Status}\n' "${libraries[@]}" 2> /dev/null || true)
    for library in "${libraries[@]}"; do
        grep -qx "$library installed" <<< "$present" || missing+=("$library")
    done
elif [ ${#missing[@]} -gt 0 ]; then
    echo "Missing: ${missing[*]}. This is neither Debian nor Ubuntu: please install them and ${libraries[*]}." >&2
    exit 2
fi
[ ${#missing[@]} -eq 0 ] && exit 0

install=(apt-get install --yes --no-install-recommends "${missing[@]}")
if [ "$(id -u)" -eq 0 ]; then
    as_root=()
elif command -v sudo > /dev/null && { [ -t 0 ] || sudo -n true 2> /dev/null; }; then
    as_root=(sudo)
else
    echo "Some packages are missing and need an administrator. Run this, then try again:" >&2
    echo "    apt-get update && ${install[*]}" >&2
    exit 2
fi

echo "Installing ${missing[*]}" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${as_root[@]}" apt-get update && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive "${install[@]}"; } > "$log" 2>&1; then
    cat "$log" >&2
    echo "The packages could not be installed; the lines above say why." >&2
    exit 2
fi
