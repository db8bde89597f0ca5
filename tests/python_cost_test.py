# SPDX-License-Identifier: Apache-2.0
# The program that `tilewalk bench python` runs, on a small book and few rows: it reports a time for each thing that it promises, the
# package has the bits of the command, and no array is copied. The times themselves are ignored.
import json
import os
import subprocess
import sys
import tempfile

import pythons

pythons.in_python_with("numpy", "pandas", "pyarrow")


def lines_of(**variables):
    done = subprocess.run([sys.executable, "-B", "bench/python_cost.py", pythons.command, "--trades", "20", "--paths", "1024",
                           "--times", "2", "--rows", "300"], stdout=subprocess.PIPE, text=True, check=True,
                          env=pythons.environment(**variables))
    return {line["what"]: line for line in map(json.loads, done.stdout.splitlines())}


def test_everything_is_measured_and_right():
    lines = lines_of()
    assert list(lines) == ["command", "python", "start of python", "python that runs", "columns of results",
                           "DataFrame of results", "Arrow table of results"], lines
    for what, line in lines.items():
        assert len(line["milliseconds"]) == (1 if what == "columns of results" else 2), line
        assert not line.keys() & {"wrong", "skipped"}, line
        assert line.get("copied_bytes", 0) == 0, line
    assert lines["DataFrame of results"]["rows"] == 300
    assert (lines["python"]["trades"], lines["python"]["paths"]) == (20, 1024)


def test_other_bits_are_told():
    """A package that prices with another seed."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "sitecustomize.py"), "w") as other:
            other.write("import sys\nif sys.argv[0] == '-c':\n    import tilewalk\n    price = tilewalk.price\n"
                        "    tilewalk.price = lambda book, **options: price(book, seed=43, **options)\n")
        wrong = lines_of(PYTHONPATH=os.pathsep.join([str(pythons.package), folder]))
    assert wrong["python"]["wrong"] == "the package has other bits", wrong


pythons.run_all(globals())
