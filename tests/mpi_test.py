# SPDX-License-Identifier: Apache-2.0
# optional: docs/clusters.md engine/walk/kept engine/study/shards engine/cli/commands/shards.cpp engine/cli/shard* engine/cli/plans*
# The shards of a book under Open MPI, by the commands of docs/clusters.md, give the bits of a single process, also if a rank is killed and
# the command is repeated. Skipped without mpirun (Debian: openmpi-bin).
import os
import signal
import sys

import clusters

clusters.need_tools("openmpi-bin", "mpirun")
# Lets mpirun start four ranks on a machine of any size, and as root in a container. Open MPI 4 and 5 name one variable differently.
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
       "OMPI_MCA_rmaps_base_oversubscribe": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}

staged, block = clusters.commands_of("mpi_test.py")
plan, run, merge = block.splitlines()


with clusters.a_site(**MPI) as site:
    site.run(plan)
    with site.start("bash", "-c", f"exec {run}", log="ranks.log") as ranks:
        os.kill(site.first_walk("ranks.log").process, signal.SIGKILL)
        assert ranks.wait(timeout=120) != 0, f"mpirun says that all is well:\n{site.read('ranks.log')}"
    said = site.run(merge, expected=75)
    assert not (site.folder / "prices.csv").exists(), said
    said = site.run(f"{run}\n{merge}")
    for shard in range(1, 5):
        assert f"shard {shard} of 4, as OMPI_COMM_WORLD_RANK={shard - 1} says" in said, said
    trades = site.compare_with_one_process(block)
    print(f"{trades} trades, a rank killed, the same line again: the bytes of one process")

with clusters.a_site(**MPI) as site:
    site.run(staged)
    trades = site.compare_with_one_process(staged)
    print(f"{trades} trades with policies of a stage before, 4 ranks: the bytes of one process")
sys.exit(0)
