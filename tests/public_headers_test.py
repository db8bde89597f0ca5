# SPDX-License-Identifier: Apache-2.0
# optional: engine/include
# Compiles each public header alone, with no include folder but its own, and checks that it includes only
# itself, the standard library and the C library's headers.
import os
import pathlib
import subprocess
import sys
import tempfile

include_dir = pathlib.Path(os.environ["TILEWALK_SOURCE_DIR"]) / "engine" / "include"
third_parties = ("yaml-cpp", "fmt", "nlohmann", "CLI", "spdlog", "Eigen", "eigen3", "boost", "cuda", "gtest", "mpfr.h")
flags = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wsign-conversion", "-Werror"]


def complaint(source_text):
    """Why the text does not do as a public header's only user; empty if it does."""
    with tempfile.TemporaryDirectory() as folder:
        source, listed = pathlib.Path(folder) / "user.cpp", pathlib.Path(folder) / "included"
        source.write_text(source_text)
        done = subprocess.run([os.environ["CXX"], *flags, "-I", include_dir, "-fsyntax-only", "-MD", "-MF", listed, source],
                              capture_output=True, text=True)
        if done.returncode != 0:
            return done.stderr
        included = listed.read_text().replace("\\\n", " ").split()
    for word in included:
        path = pathlib.Path(word)
        if include_dir not in path.parents and any(name in path.parts for name in third_parties):
            return f"pulls in {path}"
    return ""


# First shows that the check can fail: on a source that does not compile, and on a header of another library.
if not complaint("unknown_type value;\n"):
    sys.exit("the check accepts a source that does not compile")
if pathlib.Path("/usr/include/yaml-cpp/yaml.h").exists() and not complaint("#include <yaml-cpp/yaml.h>\n"):
    sys.exit("the check accepts a header of another library")

headers = sorted((include_dir / "tilewalk").glob("*.h"))
failures = 0
for header in headers:
    # Includes the header twice, to detect a missing include guard.
    line = f'#include "tilewalk/{header.name}"\n'
    why = complaint(line + line)
    print(f"{header.name}: {why or 'stands alone'}")
    failures += bool(why)
if not headers:
    sys.exit(f"no public header under {include_dir}")
sys.exit(1 if failures else 0)
