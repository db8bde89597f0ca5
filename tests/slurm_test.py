# SPDX-License-Identifier: Apache-2.0
# Prices a book's shards as a Slurm job array, with the commands of docs/clusters.md, on two nodes that are both this
# machine. One node is lost during its work, and Slurm requeues its task; one task asks to be tried again; the file equals
# that of a single process. A task with wrong input is not tried again. Skipped without slurmctld, slurmd and munged.
# label: long
import contextlib
import os
import pwd
import re
import signal
import socket
import sys

import clusters

munged, slurmctld, slurmd = clusters.need_tools("slurm-wlm, munge", "munged", "slurmctld", "slurmd")
clusters.need_tools("slurm-client", "sbatch", "squeue", "sinfo", "scontrol")
USER = pwd.getpwuid(os.getuid()).pw_name
NODES = ("first", "second")
LOST = "second"
TRIED_AGAIN = 3  # the shard whose first start exits with 75


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def write_configuration(root):
    """Configures a cluster of this user: keys, ports, states and logs lie in this folder."""
    root.mkdir()
    for name in ("munge", "state", *NODES):
        (root / name).mkdir(mode=0o755)
    key = root / "munge" / "key-file"
    key.touch(mode=0o600)
    key.write_bytes(os.urandom(128))
    host = socket.gethostname().split(".")[0]
    nodes = "\n".join(f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={free_port()} CPUs=1"
                      for name in NODES)
    # A requeued job waits for its credential to expire: 2 minutes by default, less here.
    (root / "slurm.conf").write_text(f"""\
ClusterName=tilewalk
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={free_port()}
SlurmUser={USER}
SlurmdUser={USER}
AuthType=auth/munge
AuthInfo=socket={root}/munge/socket,cred_expire=5
CredType=cred/munge
StateSaveLocation={root}/state
SlurmdSpoolDir={root}/%n
SlurmctldPidFile={root}/slurmctld.pid
SlurmdPidFile={root}/%n/slurmd.pid
ProctrackType=proctrack/linuxproc
SelectType=select/linear
SchedulerType=sched/builtin
SlurmdParameters=config_overrides
{nodes}
PartitionName=all Nodes=ALL Default=YES
""", encoding="utf-8")


@contextlib.contextmanager
def a_cluster(site):
    """The daemons, by name; they end with the block."""
    root = site.folder / "cluster"
    # munged requires that every user can traverse the path to its socket.
    site.folder.chmod(0o711)
    write_configuration(root)
    site.environment["SLURM_CONF"] = str(root / "slurm.conf")
    files = [f"--{name}={root / 'munge' / name}"
             for name in ("key-file", "socket", "pid-file", "log-file", "seed-file")]
    with contextlib.ExitStack() as daemons:
        started = {"munged": daemons.enter_context(site.start(munged, "--foreground", *files))}
        clusters.wait_for("a socket of munged", (root / "munge" / "socket").exists,
                          otherwise=lambda: site.read("munged.log"))
        started["slurmctld"] = daemons.enter_context(site.start(slurmctld, "-D"))
        for name in NODES:
            started[name] = daemons.enter_context(site.start(slurmd, "-D", "-N", name, log=f"{name}.log"))
        idle = lambda: site.run("sinfo -h -N -o %T || true").split() == ["idle"] * len(NODES)
        clusters.wait_for("two idle nodes", idle, otherwise=lambda: "".join(
            site.read(f"{name}.log") for name in ("slurmctld", *NODES)))
        yield started


def jobs(site):
    """The fields of each task of each array and of each other job, by name such as 1_3 or 5."""
    found = {}
    for line in site.run("scontrol show job --oneliner").splitlines():
        fields = dict(re.findall(r"(\w+)=(\S+)", line))
        of_array = f"{fields['ArrayJobId']}_{fields['ArrayTaskId']}" if "ArrayJobId" in fields else None
        found[of_array or fields["JobId"]] = fields
    return found


def wait_until_all_has_ended(site):
    clusters.wait_for("an empty queue", lambda: not site.run("squeue -h").strip(), 240,
                      lambda: site.run("squeue; scontrol show job") + site.read("slurmctld.log"))


def lose(site, daemon):
    """Ends a node like a power cut: daemon, step daemon and task, before any can report."""
    here = lambda: [w for w in site.running() if w.variables.get("SLURMD_NODENAME") == LOST]
    shard = clusters.wait_for(f"a task on the node {LOST}", here, otherwise=lambda: site.run("squeue"))[0]
    script = clusters.parent_of(shard.process)
    for process in (daemon.pid, clusters.parent_of(script), script, shard.process):
        os.kill(process, signal.SIGKILL)
    site.run(f"scontrol update nodename={LOST} state=down reason=lost")
    return shard.variables["SLURM_ARRAY_TASK_ID"]


[block] = clusters.commands_of("slurm_test.py")
plan, *_ = block.splitlines()

with clusters.a_site() as site, a_cluster(site) as daemons:
    site.say_what_the_command_is(f"""\
[ "$1$SLURM_ARRAY_TASK_ID$SLURM_RESTART_COUNT" = run{TRIED_AGAIN} ] && exit 75
exec {clusters.command} "$@\"""")
    site.run(block)
    lost = lose(site, daemons[LOST])
    wait_until_all_has_ended(site)
    found = jobs(site)
    tasks = {name.split("_")[1]: job for name, job in found.items() if "_" in name}
    told = "\n".join(f"{name}: {job}" for name, job in found.items())
    assert len(tasks) == 8 and all(job["JobState"] == "COMPLETED" for job in found.values()), told
    assert {name for name, job in tasks.items() if job["Restarts"] != "0"} == {lost, str(TRIED_AGAIN)}, told
    trades = site.compare_with_one_process(block)
    print(f"{trades} trades, {lost} lost with its node, {TRIED_AGAIN} tried again: the bytes of one process")

    # A job array of one task does not fit the plan of 8 shards, unless TILEWALK_SHARD names the shard.
    site.run("""rm shards/shard-5-of-8.* prices.csv
TILEWALK_SHARD=5/8 sbatch --array=5 docs/clusters/shard.sbatch shards
sbatch --array=6 docs/clusters/shard.sbatch shards""")
    wait_until_all_has_ended(site)
    *_, named, unnamed = sorted(jobs(site).values(), key=lambda job: int(job["JobId"]))
    assert (named["JobState"], named["ExitCode"]) == ("COMPLETED", "0:0"), named
    assert (unnamed["JobState"], unnamed["ExitCode"], unnamed["Restarts"]) == ("FAILED", "2:0", "0"), unnamed
    site.run("tilewalk merge shards -o prices.csv")
    site.compare_with_one_process(block)
    print("a missing shard by itself: the bytes of one process; without its name exit code 2, no other try")
sys.exit(0)
