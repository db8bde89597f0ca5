# SPDX-License-Identifier: Apache-2.0
"""Shards: parts of a request for many processes, in a shared folder."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from . import _core
from .book import book_of
from .differences import Differences
from .errors import UsageError
from .gains import Gains
from .market import market_of
from .progress import watching
from .results import Results, warn_of, Row

__all__ = ["Shards", "open", "plan"]

Path = str | os.PathLike[str]
_OF_REQUESTS = ("trades", "shift", "set", "strict", "confine", "demand_correlations")
_OF_MACHINES = ("threads", "device")


class Shards:
    """A plan in a folder."""

    def __init__(self, core: _core.Shards, folder: Path) -> None:
        self._core = core
        self.folder = os.fspath(folder)

    @property
    def count(self) -> int:
        """The number of shards."""
        return self._core.count

    @property
    def digest(self) -> str:
        """The digest of the request."""
        return self._core.digest

    @property
    def costs(self) -> list[float]:
        """The cost of each shard, in operations."""
        return self._core.costs

    @property
    def untrained(self) -> list[int]:
        """Indexes of trades that lack a policy: run the stage "training" before pricing."""
        return self._core.untrained

    @property
    def next(self) -> Shards | None:
        """The plan with more paths that `merge` wrote because figures missed the tolerance."""
        folder = self._core.next_folder
        return open(folder) if folder else None

    def run(
        self,
        number: int,
        *,
        stage: str = "pricing",
        journal: Path | None = None,
        progress: Any = None,
        cancel: Any = None,
        **settings: Any,
    ) -> Row:
        """Runs a shard, counted from 1. An interrupted shard resumes."""
        where = "" if journal is None else os.fspath(journal)
        with watching(progress) as hears:
            return Row(self._core.run(number, stage, where, settings, hears, cancel))

    def merge(self, *, progress: Any = None, cancel: Any = None) -> Results | Gains | Differences:
        """Merges all shards, bit for bit like one process; raises ShardsMissing while some are missing."""
        found, told = self._merged(progress, cancel)
        warn_of(*told)
        return found

    def _merged(self, progress: Any = None, cancel: Any = None) -> tuple[Results | Gains | Differences, tuple[Any, ...]]:
        """The results, and the objects whose remarks become warnings."""
        with watching(progress) as hears:
            out = self._core.merge(hears, cancel)
        if isinstance(out, _core.Gains):
            gains = Gains(out)
            return gains, (gains.base, gains)
        if isinstance(out, _core.Differences):
            differences = Differences(out)
            return differences, (differences.values,)
        found = Results(out)
        return found, (found,)

    def merge_training(self) -> None:
        """Adds the policies of all training shards to the plan."""
        self._core.merge_training()

    def __len__(self) -> int:
        return self.count

    def __repr__(self) -> str:
        return f"<Shards in {self.folder}: {self.count}>"


def plan(
    book: Any,
    count: int,
    folder: Path,
    market: Any = None,
    *,
    scenarios: Path | None = None,
    explain: bool = False,
    greeks: Sequence[str] | None = None,
    differences: bool = False,
    cross_gamma: bool = False,
    vanna: bool = False,
    method: str = "auto",
    view: str = "market",
    train_within: float = 60,
    progress: Any = None,
    cancel: Any = None,
    **how: Any,
) -> Shards:
    """Cuts a request into shards of about equal cost, in a folder.

    A book or market that is not a file is written into the folder, where every process finds it. `greeks` are the
    `wanted` of tilewalk.greeks, [] for all. `scenarios` is a file; merging then gives gains, which `explain` splits by
    sensitivities. `differences`, with `cross_gamma` and `vanna`, are those of tilewalk.differences.
    """
    request: dict[str, Any] = {name: how[name] for name in _OF_REQUESTS if name in how}
    settings = {name: held for name, held in how.items() if name not in _OF_REQUESTS}
    request["settings"] = settings
    request["book"] = _file_of(book, folder, "book.yaml")
    if market is not None:
        request["market"] = _file_of(market, folder, "market.yaml")
    if isinstance(scenarios, Mapping):
        raise UsageError("scenarios: found a dict, expected a file that all parts can read")
    if explain and scenarios is None:
        raise UsageError("explain: found no scenarios, expected a file of them")
    if differences + (greeks is not None) + (scenarios is not None) > 1:
        raise UsageError("plan: found two of greeks, scenarios and differences, expected at most one")
    request.update(differences=differences, cross_gamma=cross_gamma, vanna=vanna)
    request.update(scenarios=scenarios, explains=explain, greeks=None if greeks is None else list(greeks), method=method, view=view)
    local = {name: held for name, held in settings.items() if name in _OF_MACHINES}
    with watching(progress) as hears:
        return Shards(_core.Shards.plan(request, count, folder, train_within, local, hears, cancel), folder)


def open(folder: Path) -> Shards:
    """An existing plan."""
    return Shards(_core.Shards.open(folder), folder)


def _file_of(source: Any, folder: Path, name: str) -> str:
    if isinstance(source, (str, os.PathLike)):
        return os.path.abspath(source)
    written = market_of(source) if name == "market.yaml" else book_of(source)
    os.makedirs(folder, exist_ok=True)
    file = os.path.join(os.path.abspath(folder), name)
    written.write(file)
    return file
