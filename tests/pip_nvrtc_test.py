# SPDX-License-Identifier: Apache-2.0
# Tests NVRTC as `pip install nvidia-cuda-nvrtc` installs it, on a machine without any other CUDA: Tilewalk finds it, takes both of its
# libraries from the same package, compiles kernels to the same bytes as the toolkit of that version, and on a GPU prices with the bits of
# the CPU.
#
#     python3 tests/pip_nvrtc_test.py [COMMAND or WHEEL]
#
# Tests the given tilewalk command, or the one in the given wheel; without an argument, the one that TILEWALK_CLI names. NVRTC's package
# must be in a Python environment, the running one (PyTorch brings it) or build/python; skipped without. Installed toolkits are hidden by a
# private mount namespace. Where none can be made, TILEWALK_TEST_MOVES_TOOLKITS=1 lets the test rename the toolkits and back, on a machine
# without other users.
import glob
import json
import os
import shlex
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

SOURCE = Path(os.environ.get("TILEWALK_SOURCE_DIR", Path(__file__).parent.parent)).resolve()
CLI = str(Path(sys.argv[1] if len(sys.argv) > 1 else os.environ["TILEWALK_CLI"]).resolve())
TOOLKITS = sorted(name for name in glob.glob("/usr/local/cuda*") if not os.path.islink(name))
PACKAGES = ("nvidia/cu13", "nvidia/cuda_nvrtc")

BOOK = f"""\
market: {SOURCE}/configs/markets/demo.yaml
settings: {{paths: 65536, seed: 7, random: philox, controls: none}}
trades:
  - {{id: call, product: european, underlying: ACME, option: call, strike: 100, maturity: 1.0}}
  - {{id: barrier, product: barrier, underlying: ACME, option: call, strike: 100, maturity: 1.0, direction: down, barrier: 85}}
"""


def skip(why: str) -> None:
    print(f"SKIPPED {why}")
    sys.exit(77)


def package() -> Path:
    """The folder of the libraries of pip's NVRTC."""
    environments = [Path(sys.prefix), SOURCE / "build/python"]
    for environment in environments:
        for site in sorted(environment.glob("lib/python3*/site-packages")):
            for name in PACKAGES:
                if list((site / name / "lib").glob("libnvrtc.so.1?")):
                    return site / name / "lib"
    skip(f"no nvidia-cuda-nvrtc in {' or '.join(map(str, environments))}")
    raise AssertionError


UNSHARE = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]


def command_of(wheel: str, folder: Path) -> str:
    """A command over an unpacked wheel, run by this interpreter."""
    zipfile.ZipFile(wheel).extractall(folder / "site")
    script = folder / "tilewalk"
    script.write_text(f'#!/bin/sh\nPYTHONPATH={folder}/site:$PYTHONPATH exec {sys.executable} -m tilewalk "$@"\n')
    script.chmod(0o755)
    return str(script)


def can_unshare() -> bool:
    made = subprocess.run([*UNSHARE, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True)
    return made.returncode == 0


def run(*words: str, hidden: bool, expected: int = 0, **variables: str) -> str:
    """The output of the command, in an environment without variables about toolkits."""
    names = ("VIRTUAL_ENV", "CONDA_PREFIX", "CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH", "PYTHONUSERBASE",
             "TILEWALK_CUDA_LIBRARY_PATH")
    environment = {k: v for k, v in os.environ.items() if k not in names} | {"HOME": "/nonexistent"} | variables
    command = [CLI, *words]
    if hidden and can_unshare():
        mounts = "".join(f"mount -t tmpfs none {shlex.quote(name)} && " for name in TOOLKITS)
        command = [*UNSHARE, "bash", "-c", f'{mounts}exec "$@"', "bash", *command]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert ended.returncode == expected, f"{command} ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}"
    return ended.stdout


def hide_by_name(back: bool) -> None:
    for name in TOOLKITS:
        os.rename(*((name + ".hidden", name) if back else (name, name + ".hidden")))


def cuda(**variables: str) -> dict[str, str]:
    found: dict[str, str] = json.loads(run("devices", "--format", "json", **variables, hidden=True))["cuda"]
    return found


def kernels(folder: str) -> dict[str, bytes]:
    """Machine code by the name under which it is kept."""
    files = sorted(Path(folder).rglob("*.cubin"))
    assert files, f"no kernel in {folder}"
    return {file.name: file.read_bytes() for file in files}


def check(folder: Path, outside: dict[str, str], work: Path) -> None:
    environment = str(folder).split("/lib/python3")[0]
    none = cuda()
    if none["compiler"] and not os.path.samefile(none["compiler_folder"], folder):
        skip(f"there is an NVRTC in {none['compiler_folder']}, which is not hidden")
    # Even without VIRTUAL_ENV, a Python process may find NVRTC beside modules that it has loaded.
    assert none["compiler"] or "pip install nvidia-cuda-nvrtc" in none["why_no_compiler"], none
    found = cuda(VIRTUAL_ENV=environment)
    assert os.path.realpath(found["compiler_folder"]) == os.path.realpath(folder), found
    by_name = cuda(TILEWALK_CUDA_LIBRARY_PATH=str(folder))
    assert by_name["compiler"] == found["compiler"], by_name
    elsewhere = cuda(VIRTUAL_ENV=environment, TILEWALK_CUDA_LIBRARY_PATH="/nowhere")
    assert elsewhere["compiler"] == "" and "is set, so nothing else" in elsewhere["why_no_compiler"], elsewhere
    print(f"{found['compiler']} in {found['compiler_folder']}, with {', '.join(TOOLKITS) or 'nothing'} hidden")

    book = str(work / "book.yaml")
    Path(book).write_text(BOOK)
    by_pip = str(work / "by_pip")
    warm = ("warm", book, "--arch", "sm_90")
    run(*warm, hidden=True, VIRTUAL_ENV=environment, TILEWALK_CACHE_DIR=by_pip)
    made = kernels(by_pip)
    compared = "no toolkit of this version to compare with"
    if outside["compiler"] == found["compiler"] and os.path.realpath(outside["compiler_folder"]) != str(folder):
        by_toolkit = str(work / "by_toolkit")
        run(*warm, hidden=False, TILEWALK_CACHE_DIR=by_toolkit)
        assert kernels(by_toolkit) == made, f"other bytes than those of {outside['compiler_folder']}"
        compared = f"the bytes of {outside['compiler_folder']}"
    print(f"{len(made)} kernels compiled: {compared}")

    device = json.loads(run("devices", "--format", "json", hidden=True, VIRTUAL_ENV=environment))
    if not device["auto"]["gpus"]:
        assert os.environ.get("TILEWALK_REQUIRE_GPU") != "1", device
        return
    price = ("price", book, "--format", "csv", "--quiet")
    on_gpu = run(*price, "--device", "cuda", hidden=True, VIRTUAL_ENV=environment,
                 TILEWALK_CACHE_DIR=str(work / "on_gpu"))
    assert on_gpu == run(*price, "--device", "cpu", hidden=True), "the GPU has other bits than the CPU"
    print(f"{on_gpu.count(chr(10)) - 1} prices on {device['gpus'][0]['name']}: the bits of the CPU")


def main() -> None:
    global CLI
    folder = package()
    moves = not can_unshare()
    if moves and os.environ.get("TILEWALK_TEST_MOVES_TOOLKITS") != "1":
        skip("no mount namespace can be made, so toolkits can't be hidden")
    with tempfile.TemporaryDirectory() as work:
        if CLI.endswith(".whl"):
            CLI = command_of(CLI, Path(work))
        outside = json.loads(run("devices", "--format", "json", hidden=False))["cuda"]
        if moves:
            outside = dict.fromkeys(outside, "")  # renamed toolkits can't be compared with
            hide_by_name(back=False)
        try:
            check(folder, outside, Path(work))
        finally:
            if moves:
                hide_by_name(back=True)


main()
