# SPDX-License-Identifier: Apache-2.0
# optional: docs/clusters.md docs/clusters engine/walk/kept engine/study/shards engine/cli/commands/shards.cpp engine/cli/shard* engine/cli/plans*
# The Kubernetes manifests of docs/clusters fit the strict schema of the API and tell exit codes apart as the page says. Their commands, run
# as a kubelet would, make the same file as a single process. Skipped without the Python package kubernetes_validate.
import json
import os
import re
import subprocess
import sys

import clusters

python = clusters.need_python_with("kubernetes_validate")
folder = clusters.source_dir / "docs" / "clusters"
# The oldest Kubernetes that can retry each index by itself. Manifests must also fit the newest that the package knows.
FIRST = "1.33"


def faults(path, *version):
    """The schema's findings; None if there are none."""
    done = subprocess.run([python, "-m", "kubernetes_validate", "--strict", *version, str(path)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout if done.returncode != 0 else ""


def read(path):
    """The manifest, parsed by the YAML reader of the package."""
    script = "import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1]))))"
    return json.loads(subprocess.check_output([python, "-c", script, str(path)]))


def action(spec, exit_code, conditions=()):
    """The action of a Job on a failed pod, by the first matching rule."""
    for rule in spec["podFailurePolicy"]["rules"]:
        codes = rule.get("onExitCodes")
        if codes and exit_code in codes["values"]:
            return rule["action"]
        if any(c["type"] in conditions and c["status"] == "True" for c in rule.get("onPodConditions", ())):
            return rule["action"]
    return "Count"


def container_of(spec):
    [container] = spec["template"]["spec"]["containers"]
    return container


def at_home(line, spec, site):
    """The command with the folder of the site in place of the mount."""
    [mount] = container_of(spec)["volumeMounts"]
    return re.sub(rf"(?<= ){mount['mountPath']}(?=/)", str(site.folder), line)


manifests = {name: folder / f"{name}_job.yaml" for name in ("run", "merge")}
for path in manifests.values():
    for version in ((), ("-k", FIRST)):
        assert not (found := faults(path, *version)), found
with clusters.a_site() as site:
    text = manifests["run"].read_text(encoding="utf-8")
    for right, wrong in (("backoffLimitPerIndex", "backoffLimitPerIndx"), ("onExitCodes", "onExitCode"),
                         ("completions: 8", "completions: eight")):
        assert right in text, right
        (site.folder / "wrong.yaml").write_text(text.replace(right, wrong), encoding="utf-8")
        assert faults(site.folder / "wrong.yaml", "-k", FIRST), f"{wrong} was not noticed"

run, merge = (read(path)["spec"] for path in manifests.values())
assert run["completionMode"] == "Indexed" and run["template"]["spec"]["restartPolicy"] == "Never"
by_code = [rule["onExitCodes"] for rule in run["podFailurePolicy"]["rules"] if "onExitCodes" in rule]
assert all(rule["containerName"] == container_of(run)["name"] for rule in by_code), by_code
found = [action(run, code) for code in (1, 2, 75, 137, 143)] + [action(run, 143, ["DisruptionTarget"])]
assert found == ["FailIndex", "FailIndex", "Count", "Count", "Count", "Ignore"], found

[block] = clusters.commands_of("kubernetes_test.py")
with clusters.a_site() as site:
    plan = at_home(block.splitlines()[0], run, site)
    site.run(plan)
    for index in range(run["completions"]):
        site.run(at_home(" ".join(container_of(run)["command"]), run, site), JOB_COMPLETION_INDEX=str(index))
    site.run(at_home(" ".join(container_of(merge)["command"]), merge, site))
    trades = site.compare_with_one_process(plan)
    print(f"{trades} trades, {run['completions']} pods: the bytes of one process")
sys.exit(0)
