# SPDX-License-Identifier: Apache-2.0
"""Differences of values for standard shifts of a market, as risk systems take them."""

from __future__ import annotations

import os

from . import _core
from .files import write_reports
from .results import Results
from .tables import Table

__all__ = ["Differences"]


class Differences(Table):
    """Differences of each trade's value for shifts of the market, with standard errors, and the values.

    `delta` is V(up) - V and `gamma` V(up) - 2 V + V(down), in the trade's currency and, as `base_delta` and so on, in
    the base currency; `second_key` names the second of two simultaneous shifts.
    """

    def __init__(self, core: _core.Differences) -> None:
        super().__init__(core.rows())
        self._core = core

    @property
    def values(self) -> Results:
        """The prices of the same run."""
        return Results(self._core.values())

    @property
    def currency(self) -> str:
        """The base currency; empty if each trade keeps its own."""
        return self._core.currency

    @property
    def failures(self) -> list[str]:
        """Shifts for which a trade has no value, a sentence each."""
        return self._core.failures

    @property
    def remarks(self) -> list[str]:
        """Remarks on the run, a sentence each."""
        return self._core.remarks

    def write_files(self, folder: str | os.PathLike[str]) -> list[str]:
        """Writes the files of `tilewalk greeks --files` into a folder, and returns their names."""
        return write_reports(folder, self._core.files, self._core.report)
