# SPDX-License-Identifier: Apache-2.0
# The shards of a book under Dask, by the commands of docs/clusters.md: a worker is killed while it walks,
# another walks its shard again, and the file equals that of one process. Skipped without the Python package
# distributed.
# label: long
import os
import pathlib
import signal
import sys

import clusters

python = clusters.need_python_with("distributed")
[block] = clusters.commands_of("dask_test.py")
plan, run, merge = block.splitlines()

with clusters.a_site() as site:
    before, after = site.environment["PATH"].split(":", 1)
    site.environment["PATH"] = f"{before}:{pathlib.Path(python).parent}:{after}"
    site.run(plan)
    with site.start("bash", "-c", f"exec {run}", log="dask.log") as walk:
        os.kill(site.first_walk("dask.log").parent, signal.SIGKILL)
        code = walk.wait(timeout=300)
        said = site.read("dask.log")
    assert code == 0, f"exit code {code}\n{said}"
    assert said.count("exit code 0") == 8, said
    site.run(merge)
    trades = site.compare_with_one_process(block)
    print(f"{trades} trades, a worker killed: the bytes of one process\n{said}")
sys.exit(0)
