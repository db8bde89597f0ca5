# SPDX-License-Identifier: Apache-2.0
"""Gains of a book in scenarios: a NumPy cube, and tables of totals, tails and explanations."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import _core
from .files import write_reports, write_by_ending
from .results import Results
from .tables import Table

__all__ = ["Gains"]

Cube = np.ndarray[Any, np.dtype[np.float64]]


class Gains:
    """Gains by scenario and trade with standard errors; arrays are read-only views."""

    def __init__(self, core: _core.Gains) -> None:
        self._core = core

    @property
    def gains(self) -> Cube:
        """gains[scenario, trade] in the trade's currency, including its quantity; NaN if it failed."""
        return self._core.gains()

    @property
    def errors(self) -> Cube:
        """The standard errors of the gains."""
        return self._core.errors()

    @property
    def converted_gains(self) -> Cube | None:
        """The gains in the scenarios' currency, if they name one."""
        return self._core.converted_gains()

    @property
    def converted_errors(self) -> Cube | None:
        """The standard errors of converted_gains."""
        return self._core.converted_errors()

    @property
    def scenarios(self) -> Table:
        """A row for each scenario, in the order of the first axis of the cube."""
        return Table(self._core.scenarios())

    @property
    def trades(self) -> list[str]:
        """The ids of the trades, in the order of the second axis."""
        return self.base._core_table().strings("trade")

    @property
    def portfolios(self) -> list[str]:
        """The portfolio of each trade, or an empty text."""
        return self._core.portfolios

    @property
    def base(self) -> Results:
        """The prices in the base market; the manifest covers the whole request."""
        return Results(self._core.base())

    @property
    def totals(self) -> Table:
        """Gains of the whole book (an empty portfolio) and of portfolios, by scenario and currency."""
        return Table(self._core.totals())

    @property
    def tails(self) -> Table:
        """Value at risk and expected shortfall of likely sets, with their noise."""
        return Table(self._core.tails())

    @property
    def shares(self) -> Table:
        """The share of each trade in the tails."""
        return Table(self._core.shares())

    @property
    def explained(self) -> Table:
        """The part of each gain that sensitivities explain, if requested."""
        return Table(self._core.explained())

    @property
    def failures(self) -> Table:
        """Trades that failed in a scenario, with the reason."""
        return Table(self._core.failures())

    @property
    def remarks(self) -> list[str]:
        """Remarks on the run."""
        return self._core.remarks

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of scenarios and of trades."""
        out: tuple[int, int] = self._core.shape
        return out

    def to_pandas(self, *, copy: bool = False) -> Any:
        """The cube as a DataFrame: a row for each scenario, a column for each trade.

        Numbers are a read-only view; `copy=True` makes the frame's own copy.
        """
        import pandas as pd

        names = self.scenarios
        index = pd.MultiIndex.from_arrays([names.column("set"), names.column("scenario")], names=["set", "scenario"])
        return pd.DataFrame(self.gains, index=index, columns=pd.Index(self.trades, name="trade"), copy=copy)

    def to_json(self) -> str:
        """The text of the command's JSON: everything."""
        return self._core.text("json")

    def to_csv(self) -> str:
        """The text of the command's CSV: a line for each scenario and trade."""
        return self._core.text("csv")

    def to_text(self, columns: int = 200) -> str:
        """The command's table for people."""
        return self._core.text("table", columns)

    def write(self, file: str | os.PathLike[str]) -> None:
        """Writes a file by its ending: .json, .csv, .txt, .parquet, or .html for a page for people."""
        write_by_ending(file, self)

    def to_page(self) -> str:
        """A self-contained page of HTML for people: prices in the base market, gains and tails."""
        return self._core.page()

    def to_parquet(self) -> bytes:
        """A file of Parquet with the columns of the CSV."""
        return self._core.parquet()

    def metrics(self, name: str | None = None) -> str:
        """Metrics of the run in Prometheus text format; `name` labels the series (default: the first file)."""
        inputs = self.base.manifest["inputs"]
        return self._core.metrics(name or (inputs[0]["file"] if inputs else ""))

    def write_files(self, folder: str | os.PathLike[str]) -> list[str]:
        """Writes the files for risk systems into a folder, and returns their names."""
        return write_reports(folder, (name for name, _ in _core.scenario_files()), self._core.report)

    def __getstate__(self) -> bytes:
        return self._core.state()

    def __setstate__(self, state: bytes) -> None:
        self._core = _core.read_gains(state)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return (self.tails if len(self.tails) else self.totals)._repr_html_()

    def __repr__(self) -> str:
        scenarios, trades = self.shape
        return f"<Gains of {trades} trades in {scenarios} scenarios>"
