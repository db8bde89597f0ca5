# SPDX-License-Identifier: Apache-2.0
"""Books on a cluster of Dask: shards on its workers, merged to the bits of one process.

Workers need this package and nothing else: a plan travels to them with all files that it names, and results travel
back. Dask replaces a lost worker; a shard that failed on a machine is tried again.
"""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import tempfile
import uuid
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from . import _core, shards
from .book import Book, book_of
from .differences import Differences
from .errors import MachineFailure, UsageError
from .gains import Gains
from .market import Market, market_of
from .results import Results, warn_of

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["Submitted", "submit"]

# Plans contain absolute names, so every worker keeps them in a folder of the same name.
_SHELF = pathlib.Path("/tmp")
_FOUND = re.compile(r"(shard|training)-\d+-of-\d+\.(kept|json)")


class Submitted:
    """A request whose shards Dask runs. `result()` waits for them and merges."""

    def __init__(self, plan: shards.Shards, walk: Callable[[shards.Shards], list[Any]]) -> None:
        self.plan = plan
        self.futures = walk(plan)
        self._walk = walk
        self._folder = plan.folder  # also holds the plans of later rounds

    def result(self, timeout: float | None = None) -> Results | Gains | Differences:
        """The results, bit for bit those of one process. Raises what a shard has raised.

        A request with a tolerance takes rounds, each with more paths. This method submits their shards, and `timeout`
        applies to each round.
        """
        from distributed import wait

        while True:
            wait(self.futures, timeout=timeout)
            for future in self.futures:
                _unpack(future.result(), pathlib.Path(self.plan.folder))
            found, told = self.plan._merged()
            more = self.plan.next
            if more is None:
                warn_of(*told)
                return found
            self.plan, self.futures = more, self._walk(more)

    def cancel(self) -> None:
        """Cancels the remaining shards."""
        for future in self.futures:
            future.cancel()
        self.close()

    def close(self) -> None:
        """Removes this machine's plan; results stay valid."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Submitted:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def submit(
    book: Any,
    scenarios: Any = None,
    client: Client | None = None,
    *,
    market: Any = None,
    count: int | None = None,
    retries: int = 5,
    **how: Any,
) -> Submitted:
    """Cuts a request into `count` shards (four for each worker) and submits them.

    `how` are the arguments of tilewalk.shards.plan: greeks, settings and so on. Exercise policies are found here,
    before anything is submitted. A shard takes one thread of its worker unless `threads` says otherwise.
    """
    if client is None:
        from distributed import get_client

        client = get_client()
    folder = _SHELF / f"tilewalk-{uuid.uuid4().hex}"
    folder.mkdir(mode=0o700)
    local = {name: how.pop(name) for name in ("threads", "device") if name in how}
    try:
        whole = _gathered(book, market, how)
        request = dict(how)
        if scenarios is not None:
            request["scenarios"] = _scenarios_in(folder, scenarios, whole)
        parts = count or 4 * max(1, len(client.scheduler_info(n_workers=-1)["workers"]))
        plan = shards.plan(whole, parts, folder, train_within=float("inf"), **request)

        def walk(plan: shards.Shards) -> list[Any]:
            parcel = client.scatter({"at": plan.folder, "root": str(folder), "files": _pack(folder, plan.folder)}, broadcast=True)
            return [
                client.submit(
                    _walk, parcel, number, local, retries=retries, pure=False, key=f"tilewalk-{plan.digest[:16]}-{number}-{folder.name[-8:]}"
                )
                for number in range(1, plan.count + 1)
            ]

        return Submitted(plan, walk)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _gathered(book: Any, market: Any, how: Mapping[str, Any]) -> Book:
    """The book including its market, without names of files on this machine."""
    trades = book_of(book, strict=bool(how.get("strict")), confine=bool(how.get("confine")))
    of = trades.market if market is None else market_of(market)
    if of is None:
        raise UsageError("the book names no market; write market: in the book or give market=")
    if len(of.files) > 1:
        raise UsageError(
            f"the market names {of.files[1]}, which workers may not have; put it on a disk that all of them see and "
            "use tilewalk.shards"
        )
    for name in ("replay", "policy", "decisions"):
        if name in how or name in trades.settings:
            raise UsageError(f"{name} names a file, which workers may not have; use tilewalk.shards")
    return _with_market(trades, of)


def _with_market(trades: Book, market: Market) -> Book:
    return Book({**trades.whole(), "market": market.written()})


def _scenarios_in(folder: pathlib.Path, scenarios: Any, book: Book) -> str:
    """A file of scenarios in the folder, with the tables that it names."""
    inside = folder / "scenarios"
    inside.mkdir()
    if isinstance(scenarios, Mapping):
        (inside / "scenarios.yaml").write_text(_core.yaml_of(dict(scenarios)), encoding="utf-8")
        return str(inside / "scenarios.yaml")
    if book.market is None:
        raise UsageError("scenarios need a market")
    file = pathlib.Path(scenarios).resolve()
    for name in {str(file), *_core.ScenarioList.load(scenarios, book.market._core).files}:
        source = pathlib.Path(name).resolve()
        if not source.is_relative_to(file.parent):
            raise UsageError(f"{file}: names {source}, which is not below its folder: workers may not have it")
        target = inside / source.relative_to(file.parent)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    return str(inside / file.name)


def _pack(root: pathlib.Path, plan: str) -> dict[str, bytes]:
    """The files that a plan needs, the plan last, without results of an earlier round."""
    files = [file for file in sorted(root.rglob("*")) if file.is_file() and not _FOUND.fullmatch(file.name)]
    files.sort(key=lambda file: file == _plan_in(plan))
    return {str(file.relative_to(root)): file.read_bytes() for file in files}


def _plan_in(folder: str) -> pathlib.Path:
    return pathlib.Path(folder) / "plan.json"


def _unpack(files: Mapping[str, bytes], folder: pathlib.Path) -> None:
    for name, content in files.items():
        target = folder / name
        if target.exists() and target.read_bytes() == content:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as passing:
            passing.write(content)
        os.replace(passing.name, target)


def _walk(parcel: Mapping[str, Any], number: int, local: Mapping[str, Any]) -> dict[str, bytes]:
    """Runs on a worker: does a shard and returns its file of results."""
    folder = pathlib.Path(parcel["at"])
    if not _plan_in(parcel["at"]).exists():
        root = pathlib.Path(parcel["root"])
        root.mkdir(mode=0o700, exist_ok=True)
        _unpack(parcel["files"], root)  # the plan is written last
    plan = shards.open(folder)
    done = plan.run(number, **{"threads": 1, **local})
    file = folder / done["file"]
    if not file.is_file():
        raise MachineFailure(f"{file}: what shard {number} found is not there")
    return {str(file.relative_to(folder)): file.read_bytes()}
