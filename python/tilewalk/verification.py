# SPDX-License-Identifier: Apache-2.0
"""Verification: prices random trades with known prices and judges their errors together."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any

from . import _core
from .errors import UsageError, shown
from .files import write_by_ending
from .progress import watching
from .results import Row
from .runs import check_cancel, listed_texts
from .tables import Table

__all__ = ["Verification", "verify"]


class Verification(Table):
    """A row for each bound on a figure: over all trades (an empty product), and by product.

    `verdict` is holds or out; `false_alarm` is the probability that a correct engine misses the bound. Rows with a
    `mistake` are those of the engine with that mistake planted.
    """

    def __init__(self, core: _core.Verification) -> None:
        super().__init__(core.rows())
        self._core = core

    @property
    def passed(self) -> bool:
        """True if every bound holds, every trade was priced, and every planted mistake was noticed."""
        return self._core.holds

    @property
    def mistakes(self) -> list[Row]:
        """The planted mistakes: `name`, `what`, `caught`, `noticed_by`, `times_the_bound`."""
        return [Row({name: held for name, held in made.items() if name != "engine"}) for made in self._all()["mistakes"]]

    @property
    def worst(self) -> list[Row]:
        """The trades farthest from their true price, each with a `book` to price it again."""
        return [Row(one) for one in self._all()["engine"]["worst"]]

    def _all(self) -> Any:
        return json.loads(self.to_json())

    def to_json(self) -> str:
        """The text of the command's JSON: everything."""
        return self._core.text("json")

    def to_csv(self) -> str:
        """The text of the command's CSV."""
        return self._core.text("csv")

    def to_text(self, columns: int = 200) -> str:
        """The command's table for people."""
        return self._core.text("table", columns)

    def write(self, file: str | os.PathLike[str]) -> None:
        """Writes a file by its ending: .json, .csv or .txt."""
        write_by_ending(file, self)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<Verification: {'passed' if self.passed else 'NOT PASSED'}, {len(self)} bounds>"


def verify(
    *,
    trades: int | None = None,
    products: Iterable[str] | str = (),
    greeks: bool = False,
    plant: str = "",
    progress: Any = None,
    cancel: Any = None,
    **settings: Any,
) -> Verification:
    """Prices random trades with known prices, and judges their errors.

    `greeks` verifies sensitivities instead of prices. `plant` makes one mistake by name, or "all" in turn, and checks
    that it is noticed. Settings are paths, seed, threads, device, precision, random and construction.
    """
    most = _core.most_verified_trades
    if trades is not None and not (hasattr(trades, "__index__") and 1 <= trades <= most):
        raise UsageError(f"trades: found {shown(trades)}, expected a whole number from 1 to {most}")
    if not isinstance(plant, str):
        raise UsageError(f"plant: found {shown(plant)}, expected the name of a mistake, or 'all'")
    which = listed_texts("products", products, "a product's name")
    check_cancel(cancel)
    with watching(progress) as hears:
        how = {"progress": hears, "cancel": cancel}
        return Verification(_core.verify(trades, which, bool(greeks), plant, settings, how))
