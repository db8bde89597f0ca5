#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the wheels of the Python package into build/wheels: one with the stable ABI for Python 3.12 and
# later, and one for Python 3.11. Both contain the libraries of one build: build/release, or TILEWALK_BUILT,
# which have to exist (`cmake --preset release && cmake --build build/release --target tilewalk_commands
# tilewalk_verify tilewalk_bench`).
#
#     python/build_wheels.sh [PYTHON...]
#
# builds one for each of these interpreters; by default for python3.11 and for Debian 13's Python 3.13, which
# it unpacks with debootstrap (as root) under build/trixie from apt's mirror. The extension only takes headers
# and interpreter from there: compiled on Debian 12, the wheel needs no newer glibc than Debian 12's.
#
# Needs the packages of `.ci/install_packages.sh ci`, debootstrap, and the network for CMake (Debian 12's is
# too old to find the stable ABI) and the build's packages, which go into build/wheel_tools.
set -euo pipefail
cd "$(dirname "$0")/.."

tools=$PWD/build/wheel_tools
out=$PWD/build/wheels
trixie=$PWD/build/trixie
built=$(realpath "${TILEWALK_BUILT:-build/release}")
checks=${TILEWALK_WHEEL_CHECKS:-$PWD/build/python/bin}
most_bytes=12000000
for library in engine/libtilewalk_commands.a engine/libtilewalk_verify.a bench/libtilewalk_bench.a; do
    if [ ! -f "$built/$library" ]; then
        echo "$built has no $library: cmake --preset release &&" \
            "cmake --build build/release --target tilewalk_commands tilewalk_verify tilewalk_bench" >&2
        exit 2
    fi
done

# The tools are pure Python, except for CMake, which is a program: one copy of them serves every interpreter.
if [ ! -x "$tools/bin/cmake" ]; then
    "$checks/python" -m venv "$tools"
    "$tools/bin/pip" install --quiet 'cmake==3.31.10'
    "$tools/bin/pip" install --quiet --target "$tools/backend" scikit-build-core==1.1.2 nanobind==3.1.0
fi

# The apt mirror of this release, which also has the next one.
mirror_of_debian() {
    local mirror
    mirror=$(. /etc/os-release && [ "$ID" = debian ] && apt-get indextargets --format '$(REPO_URI)' "Release: $VERSION_CODENAME" \
        'Component: main' 2> /dev/null | head -n 1)
    if [ -z "$mirror" ]; then
        echo "Python 3.13 comes from a mirror of Debian, and apt is configured with none: add one to apt's sources," \
            "or name the interpreters to build for (python/build_wheels.sh PYTHON...)" >&2
        return 2
    fi
    echo "$mirror"
}

# Debian 13's interpreter, run by its own loader so that it works on an older glibc; it calls itself by this
# script's name.
python_of_trixie() {
    local mirror
    if [ ! -x "$trixie/usr/bin/python3.13" ]; then
        mirror=$(mirror_of_debian) || return
        debootstrap --variant=minbase --include=python3,libpython3-dev trixie "$trixie" "$mirror" >&2 || return
    fi
    # Only pyconfig.h is wanted from this folder: the headers of Debian 13's C library are not for this compiler.
    mkdir -p "$trixie/headers/x86_64-linux-gnu"
    ln -sfn "$trixie/usr/include/x86_64-linux-gnu/python3.13" "$trixie/headers/x86_64-linux-gnu/python3.13"
    cat > "$trixie/python3.13" <<END
#!/bin/sh
export PYTHONHOME=$trixie/usr CPLUS_INCLUDE_PATH=$trixie/headers C_INCLUDE_PATH=$trixie/headers
libraries=$trixie/usr/lib/x86_64-linux-gnu
exec \$libraries/ld-linux-x86-64.so.2 --argv0 "\$0" --library-path \$libraries:/usr/lib/x86_64-linux-gnu \\
    $trixie/usr/bin/python3.13 "\$@"
END
    chmod +x "$trixie/python3.13"
    echo "$trixie/python3.13"
}

pythons=("$@")
if [ ${#pythons[@]} -eq 0 ]; then
    python_of_trixie=$(python_of_trixie)
    pythons=(python3.11 "$python_of_trixie")
fi

mkdir -p "$out/raw"
for python in "${pythons[@]}"; do
    rm -f "$out"/raw/*.whl
    rm -rf build/wheel  # stale cache of another interpreter
    # Put the program cmake on PATH: its wrapper script would run in the other interpreter's home.
    PATH="$(echo "$tools"/lib/python*/site-packages/cmake/data/bin):$PATH" PYTHONPATH="$tools/backend" PYTHONDONTWRITEBYTECODE=1 "$python" - "$out/raw" "$built" <<'END'
import sys
from scikit_build_core.build import build_wheel
print(build_wheel(sys.argv[1], {"cmake.define.TILEWALK_BUILT": sys.argv[2]}))
END
    for wheel in "$out"/raw/*.whl; do
        PATH="$checks:$PATH" "$checks/auditwheel" repair --wheel-dir "$out" "$wheel"
    done
done
rm -r "$out/raw"

for wheel in "$out"/*.whl; do
    bytes=$(stat --format %s "$wheel")
    echo "$wheel: $bytes bytes"
    if [ "$bytes" -gt $most_bytes ]; then
        echo "found $bytes bytes, expected at most $most_bytes" >&2
        exit 1
    fi
    case $wheel in
        *abi3*) "$checks/abi3audit" --strict --verbose "$wheel" ;;
    esac
done
