# SPDX-License-Identifier: Apache-2.0
"""Results of runs: prices and sensitivities, each with its standard error."""

from __future__ import annotations

import json
import operator
import os
import warnings
from collections.abc import Iterator
from typing import Any, Protocol

from . import _core
from .decisions import Decisions
from .errors import RunWarning, UsageError, checked, shown
from .files import text_of_file, write_by_ending
from .pages import price_page
from .tables import Table

__all__ = ["Comparison", "Greeks", "Results", "Row", "compare", "read_results", "warn_of"]

# Members that not every row of the JSON has.
_OF_SOME_TRADES = ("decisions", "early", "kind", "reported")


class Row(dict[str, Any]):
    """A trade's row: members of the JSON of results, also as attributes, such as `row.early.upper_bound`. None stands
    for a missing figure or part."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no member '{name}'{_core.alternatives(name, 'members:', list(self))}") from None


class _Written(Table):
    """Results that can be written and pickled."""

    def __init__(self, core: _core.Results) -> None:
        self._core = core

    @property
    def manifest(self) -> dict[str, Any]:
        """How the run was made: versions, settings, inputs with hashes, remarks."""
        out: dict[str, Any] = json.loads(self._core.json_of_rows([]))["manifest"]
        return out

    @property
    def remarks(self) -> list[str]:
        """Remarks on the whole run, a sentence each, such as correlations taken as 0."""
        return self._core.remarks

    @property
    def policies(self) -> str:
        """The exercise policies, for the setting `policy`; only of runs with keep_policies."""
        return self._core.policies

    @property
    def decisions(self) -> Decisions:
        """Decisions about trades, for the setting `decisions`; includes policies if the run kept them."""
        return Decisions(self._core.decisions_json())

    def _text(self, format: str, columns: int = 200, spreadsheet_safe: bool = False, parts: bool = False) -> str:
        raise NotImplementedError

    def to_json(self, parts: bool = False) -> str:
        """The text of the command's JSON, which reads back to the same bits; `parts` adds the means by part."""
        return self._text("json", parts=parts)

    def to_csv(self, spreadsheet_safe: bool = False) -> str:
        """The text of the command's CSV."""
        return self._text("csv", spreadsheet_safe=spreadsheet_safe)

    def to_text(self, columns: int = 200) -> str:
        """The command's table for people."""
        return self._text("table", columns=columns)

    def write(self, file: str | os.PathLike[str]) -> None:
        """Writes a file by its ending: .json, .csv, .txt, .parquet, or .html for a page for people."""
        write_by_ending(file, self)

    def to_page(self) -> str:
        """A self-contained page of HTML for people, with everything in the results."""
        return self._core.page()

    def to_parquet(self) -> bytes:
        """A file of Parquet with these columns."""
        return self._core.parquet(isinstance(self, Greeks))

    def metrics(self, name: str | None = None) -> str:
        """Metrics of the run in Prometheus text format; `name` labels the series (default: the first file)."""
        command = "greeks" if isinstance(self, Greeks) else "price"
        inputs = self.manifest["inputs"]
        return self._core.metrics(command, name or (inputs[0]["file"] if inputs else ""))

    def __getstate__(self) -> tuple[str, str]:
        state: tuple[str, str] = self._core.state()
        return state

    def __setstate__(self, state: tuple[str, str]) -> None:
        self._core = _core.read_results(state[0], "pickled results", state[1])

    def __str__(self) -> str:
        return self.to_text()

    def __eq__(self, other: object) -> bool:
        """True for equal figures, bit for bit; durations and machines do not count."""
        if not isinstance(other, type(self)):
            return NotImplemented
        return self is other or self._text("csv") == other._text("csv")

    __hash__ = None  # type: ignore[assignment]


class Results(_Written):
    """Prices, a row for each trade in the order of the book."""

    def _core_table(self) -> _core.Table:
        return self._core.rows()

    def _text(self, format: str, columns: int = 200, spreadsheet_safe: bool = False, parts: bool = False) -> str:
        return self._core.text(format, columns, spreadsheet_safe, parts)

    def __len__(self) -> int:
        return len(self._core)

    def __getitem__(self, trade: str | int) -> Row:
        """The row of a trade by its id or its index in the book."""
        if not isinstance(trade, str):
            try:
                trade = operator.index(trade)
            except TypeError:
                raise TypeError(f"a row: found {shown(trade)}, expected the id of a trade or a place") from None
            place = trade + len(self) if trade < 0 else trade
            if not 0 <= place < len(self):
                hint = f"; ids are texts: results['{trade}']" if str(trade) in self else ""
                raise IndexError(f"no row {trade} among {len(self)}{hint}")
        else:
            found = self._core_table().places("trade", trade)
            if not found:
                known = self._core_table().strings("trade")
                raise KeyError(f"no trade '{trade}'{_core.alternatives(trade, 'trades:', known)}")
            place = found[0]
        row: Row = json.loads(self._core.json_of_rows([place], True), object_hook=Row)["rows"][0]
        return Row({**dict.fromkeys(_OF_SOME_TRADES), **row})

    def __iter__(self) -> Iterator[Row]:
        for place in range(len(self)):
            yield self[place]

    def __contains__(self, trade: object) -> bool:
        return isinstance(trade, str) and bool(self._core_table().places("trade", trade))

    @property
    def failed(self) -> list[str]:
        """The ids of trades that could not be priced; their rows have the reason in `message`."""
        return self._core.failures()

    @property
    def totals(self) -> Table:
        """A row for each currency; errors include correlations between trades."""
        return Table(self._core.totals())

    @property
    def greeks(self) -> Greeks | None:
        """The sensitivities, if these results have any."""
        return Greeks(self._core) if self._core.has_greeks else None

    def _repr_html_(self) -> str:
        return price_page(self)

    def __repr__(self) -> str:
        failed = len(self.failed)
        return f"<Results of {len(self)} trades{f', {failed} failed' if failed else ''}>"


class Greeks(_Written):
    """Sensitivities, a row for each trade, measure and market key; `prices` are the prices of the same run."""

    def _core_table(self) -> _core.Table:
        return self._core.greeks()

    def _text(self, format: str, columns: int = 200, spreadsheet_safe: bool = False, parts: bool = False) -> str:
        return self._core.text_of_greeks(format, columns, spreadsheet_safe, parts)

    def __len__(self) -> int:
        return len(self._core_table())

    def __getitem__(self, trade: str) -> dict[tuple[str, str], Row]:
        """The sensitivities of a trade, by measure and market key; the key "" is that to all numbers together."""
        table = self._core_table()
        names = table.names
        out: dict[tuple[str, str], Row] = {}
        for place in table.places("trade", trade):
            row = Row({name: table.cell(name, place) for name in names})
            out[row.measure, row.key] = row
        if not out:
            known = self._core.rows().strings("trade")
            raise KeyError(f"no sensitivities of a trade '{trade}'{_core.alternatives(trade, 'trades:', known)}")
        return out

    @property
    def prices(self) -> Results:
        """The prices of the same run."""
        return Results(self._core)

    @property
    def totals(self) -> Table:
        """The sensitivities of all trades together, by currency, measure and key."""
        return Table(self._core.greek_totals())

    def __repr__(self) -> str:
        return f"<Greeks of {len(self._core)} trades: {len(self)} rows>"


class _Remarked(Protocol):
    @property
    def remarks(self) -> list[str]: ...


def warn_of(*found: _Remarked) -> None:
    """Issues one warning with all remarks, at the caller of the calling function."""
    if told := dict.fromkeys(remark for one in found for remark in one.remarks):
        warnings.warn("; ".join(told), RunWarning, stacklevel=3)


def read_results(source: str | os.PathLike[str]) -> Results:
    """Results from a file of JSON or from its text, bit for bit."""
    is_text = isinstance(source, str) and source.lstrip().startswith("{")
    text = checked("results", str(source)) if is_text else text_of_file(source)
    return Results(_core.read_results(text, "results" if is_text else os.fspath(source)))


class Comparison:
    """Two results, trade by trade; prices agree within `limit` standard errors, or within a tolerance."""

    def __init__(self, core: _core.Comparison, limit: float, tolerance: float | None, relative: bool) -> None:
        self._core = core
        self._rule = (limit, tolerance, relative)

    @property
    def rows(self) -> list[Row]:
        """A row for each trade, including `agrees`."""
        return [Row(row) for row in self._core.rows(*self._rule)]

    @property
    def differing(self) -> list[str]:
        """The ids of trades that do not agree."""
        return [row.trade for row in self.rows if not row.agrees]

    def __bool__(self) -> bool:
        return not self.differing

    def __str__(self) -> str:
        return self._core.text(*self._rule)


def compare(
    first: Results, second: Results, *, limit: float = 4.5, tolerance: float | None = None, relative: bool = False
) -> Comparison:
    """Compares two results in standard errors; a tolerance is an amount, or a fraction of the first price."""
    for one in (first, second):
        if not isinstance(one, Results):
            raise UsageError(f"compare: found {shown(one)}, expected Results")
    if limit < 0 or (tolerance is not None and tolerance < 0):
        raise UsageError("a limit and a tolerance are no less than 0")
    return Comparison(_core.compare(first._core, second._core), limit, tolerance, relative)
