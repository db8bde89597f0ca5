# SPDX-License-Identifier: Apache-2.0
"""Decisions of a run about its trades, made before their paths were walked: inspect, edit, save and reuse them.

found = tilewalk.price("book.yaml").decisions
found["asian"].paths *= 4
tilewalk.price("book.yaml", market="tuesday.yaml", decisions=found)
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterator, MutableMapping
from typing import Any

from . import _core
from .errors import UsageError, checked, shown
from .files import text_of_file, write_text

__all__ = ["Decision", "Decisions", "read_decisions"]


@dataclasses.dataclass
class Decision:
    """The decisions about a trade. A member is None if there is none."""

    paths: int  # the run's, times a power of two
    randomisations: int | None = None  # of quasi-random points; None: independent paths
    construction: str | None = None  # of the points
    control: dict[str, Any] | None = None
    shifts: dict[str, Any] | None = None
    drops_control: bool = False  # if paths are shifted
    integrates_jumps: bool = False  # preintegration at dates that decide
    jumps: dict[str, Any] | None = None  # of the payoff, for sensitivities; None: find anew
    control_of_derivatives: dict[str, Any] | None = None  # empty: none for sensitivities; None: that of the price
    policy: dict[str, Any] | None = None  # for early exercise; None: train anew
    walk: str = "0000000000000000"  # fingerprint of its random numbers


class Decisions(MutableMapping[str, Decision]):
    """Decisions of a run by trade, for `decisions=`. They can be pickled and compared."""

    def __init__(self, text: str, name: str = "decisions") -> None:
        """Reads the text of a file of decisions or results."""
        read = json.loads(_core.decisions_json(checked(name, text), name))
        self._format: str = read["format"]
        self.seed: int = read["seed"]
        self.paths: int = read["paths"]
        self.failed: list[str] = read["failed"]
        self._trades = {one.pop("trade"): Decision(**one) for one in read["trades"]}

    def __getitem__(self, trade: str) -> Decision:
        if trade not in self._trades:
            raise KeyError(f"no trade '{trade}'{_core.alternatives(str(trade), 'trades:', list(self._trades))}")
        return self._trades[trade]

    def __setitem__(self, trade: str, decided: Decision) -> None:
        if not isinstance(decided, Decision):
            raise UsageError(f"a decision: found {shown(decided)}, expected a Decision")
        self._trades[checked("the id of a trade", trade)] = decided

    def __delitem__(self, trade: str) -> None:
        del self._trades[trade]

    def __iter__(self) -> Iterator[str]:
        return iter(self._trades)

    def __len__(self) -> int:
        return len(self._trades)

    def __eq__(self, other: object) -> bool:
        return self.__dict__ == other.__dict__ if isinstance(other, Decisions) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Decisions on {len(self)} trades>"

    def to_json(self) -> str:
        """The text of a file of decisions."""
        trades = [
            {"trade": trade} | {name: held for name, held in vars(of).items() if held is not None}
            for trade, of in self._trades.items()
        ]
        said = {"seed": self.seed, "paths": self.paths, "failed": self.failed, "trades": trades}
        return json.dumps({"format": self._format} | said)

    def write(self, file: str | os.PathLike[str]) -> None:
        """Writes a JSON file for `decisions=` and `--decisions`."""
        write_text(file, {".json": self.to_json})


def read_decisions(source: str | os.PathLike[str]) -> Decisions:
    """Decisions from a file of decisions or results, or from its text."""
    is_text = isinstance(source, str) and source.lstrip().startswith("{")
    return Decisions(str(source), "decisions") if is_text else Decisions(text_of_file(source), os.fspath(source))
