# SPDX-License-Identifier: Apache-2.0
# On an emulated processor without FMA the command says which instructions are missing and exits with 2. On one with AVX2 alone its prices
# have the same bits as on this machine. Skipped without qemu-x86_64 (Debian: qemu-user).
import csv
import io
import os
import platform
import shutil
import subprocess
import sys

qemu = shutil.which("qemu-x86_64")
if qemu is None or platform.machine() != "x86_64" or os.environ.get("TILEWALK_SANITIZE"):
    print("SKIPPED: qemu-x86_64 is not installed, or this build is not for it")
    sys.exit(77)

command = os.environ["TILEWALK_CLI"]
book = os.path.join(os.environ["TILEWALK_SOURCE_DIR"], "configs", "books", "demo.yaml")


def price(*before):
    asked = [*before, command, "price", book, "--paths", "1025", "--threads", "1", "--format", "csv"]
    return subprocess.run(asked, capture_output=True, text=True, timeout=600)


refused = price(qemu, "-cpu", "Nehalem")
assert refused.returncode == 2, refused
assert refused.stdout == "", refused
assert "no fused multiply-add" in refused.stderr and "x86-64-v3" in refused.stderr, refused

here = price()
assert here.returncode == 0, here
on_haswell = price(qemu, "-cpu", "Haswell")
assert on_haswell.returncode == 0, on_haswell
rows = list(csv.DictReader(io.StringIO(here.stdout)))
assert len(rows) > 5 and all(row["status"] == "priced" for row in rows), rows
assert here.stdout == on_haswell.stdout, "other bits on a Haswell:\n" + on_haswell.stdout
print(f"{len(rows)} trades: the same bits on a Haswell, refused on a Nehalem")
