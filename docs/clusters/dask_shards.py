# SPDX-License-Identifier: Apache-2.0
"""Walks the shards of a plan: dask_shards.py FOLDER SHARDS [--scheduler ADDRESS] [OPTION...]

Without an address the cluster is four processes on this machine. Further options, such as --stage training,
go to tilewalk run. Dask runs the task of a lost worker again on another one; the command goes on where the
journal of the shard ends.
"""
import argparse
import subprocess
import sys

from distributed import Client, LocalCluster, as_completed, get_worker


class try_again(Exception):
    """Exit code 75: the machine failed, not the input."""


def walk(folder, shard, options):
    """The exit code of one shard, its last words, and the worker that walked it."""
    words = ["tilewalk", "run", folder, "--shard", shard, *options]
    done = subprocess.run(words, stderr=subprocess.PIPE, text=True)
    if done.returncode == 75:
        raise try_again(f"shard {shard}: {done.stderr}")
    return done.returncode, done.stderr.strip(), get_worker().address


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("shards", type=int)
    parser.add_argument("--scheduler")
    given, options = parser.parse_known_args()

    cluster = given.scheduler or LocalCluster(n_workers=4, threads_per_worker=1, dashboard_address=None)
    failed = 0
    with Client(cluster) as client:
        shards = {client.submit(walk, given.folder, f"{i}/{given.shards}", options, retries=5, pure=False): i
                  for i in range(1, given.shards + 1)}
        for future in as_completed(shards):
            if future.status == "finished":
                code, words, worker = future.result()
            else:
                code, words, worker = 75, str(future.exception()), "no worker"
            failed = failed or code
            print(f"shard {shards[future]}/{given.shards}: exit code {code}, {worker}", flush=True)
            if code != 0:
                print(words, file=sys.stderr)
    return failed


if __name__ == "__main__":
    sys.exit(main())
