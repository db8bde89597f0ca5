# SPDX-License-Identifier: Apache-2.0
# Configures, builds and runs the project in tests/consumer against the installed package.
import os
import pathlib
import subprocess
import sys
import tempfile

source = pathlib.Path(os.environ["TILEWALK_SOURCE_DIR"]) / "tests" / "consumer"
package = os.environ["TILEWALK_PACKAGE_DIR"]
sanitize = os.environ["TILEWALK_SANITIZE"]


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(done.stdout, flush=True)
    if done.returncode != 0:
        sys.exit(f"failed with exit code {done.returncode}: {' '.join(map(str, command))}")


with tempfile.TemporaryDirectory() as build:
    run("cmake", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={package}",
        f"-DCMAKE_CXX_FLAGS={'-fsanitize=' + sanitize if sanitize else ''}")
    found = [line for line in (pathlib.Path(build) / "CMakeCache.txt").read_text().splitlines()
             if line.startswith("tilewalk_DIR")]
    if not any(package in line for line in found):
        sys.exit(f"another tilewalk than the one just installed was found: {found}")
    run("cmake", "--build", build)
    run(pathlib.Path(build) / "consumer")
