# SPDX-License-Identifier: Apache-2.0
"""The command that is documented, and what it says."""
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import typing


@dataclasses.dataclass
class command_line:
    path: pathlib.Path
    root: pathlib.Path  # of the project; commands run there
    jobs: int = 2

    def say(self, *arguments: str) -> str:
        """The output of the command, on lines as long as they like."""
        variables = {name: value for name, value in os.environ.items() if not name.startswith("TILEWALK_")}
        variables |= {"COLUMNS": "10000", "TILEWALK_DEVICE": "cpu"}
        done = subprocess.run([self.path, *arguments], cwd=self.root, env=variables, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"tilewalk {' '.join(arguments)}: exit code {done.returncode}\n{done.stderr}")
        return done.stdout

    def data(self, *arguments: str) -> typing.Any:
        return json.loads(self.say(*arguments, "--format", "json"))

    def for_each(self, work: typing.Callable, items: typing.Iterable) -> list:
        """The results of `work` for each item, in their order, with several commands at once."""
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as crew:
            return list(crew.map(work, items))
