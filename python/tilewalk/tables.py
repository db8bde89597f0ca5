# SPDX-License-Identifier: Apache-2.0
"""Tables of columns: NumPy arrays, DataFrames and Arrow streams share the engine's memory without a copy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import _core
from .pages import table_page

__all__ = ["Table"]


class Table:
    """Rows in columns. `columns` has NumPy arrays by name; numbers are views. A missing number is NaN, or 0 or False in
    counts and flags."""

    def __init__(self, core: _core.Table) -> None:
        self._table = core

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self._core_table().names)

    @property
    def columns(self) -> dict[str, np.ndarray[Any, Any]]:
        """A NumPy array for each column. Arrays of numbers are read-only views."""
        return {name: self.column(name) for name in self.names}

    def column(self, name: str) -> np.ndarray[Any, Any]:
        """One column as a NumPy array."""
        core = self._core_table()
        kind = core.kind(name)
        if kind == "texts":
            return np.array(core.strings(name), dtype=object)
        if kind == "coded":
            words = np.array(core.strings(name), dtype=object)
            return words[core.array(name)] if len(words) else np.empty(len(core), dtype=object)
        out: np.ndarray[Any, Any] = core.array(name)
        return out

    def to_dict(self) -> dict[str, list[Any]]:
        """Lists of plain Python values by column; None for a missing figure."""
        core = self._core_table()
        out: dict[str, list[Any]] = {}
        for name in self.names:
            kind = core.kind(name)
            values = self.column(name).tolist()
            if kind == "figures":
                values = [None if value != value else value for value in values]
            elif kind in ("counts", "flags"):
                values = [core.cell(name, row) for row in range(len(core))]
            out[name] = values
        return out

    def to_pandas(self, *, copy: bool = False) -> Any:
        """A DataFrame of pandas; columns with few distinct texts are categories.

        Numbers are not copied: they are read-only views, so that an assignment in place, such as `frame.loc[0, "price"]
        = 1`, fails. `copy=True` makes the frame's own copy.
        """
        import pandas as pd

        core = self._core_table()
        data: dict[str, Any] = {}
        for name in self.names:
            kind = core.kind(name)
            if kind == "texts":
                data[name] = self._strings_for_pandas(name)
            elif kind == "coded":
                words: Any = core.strings(name)
                data[name] = pd.Categorical.from_codes(core.array(name), words)
            else:
                data[name] = core.array(name)
        return pd.DataFrame(data, copy=copy)

    def _strings_for_pandas(self, name: str) -> Any:
        import pandas as pd

        return pd.array(self._core_table().strings(name), dtype="str")

    def to_arrow(self) -> Any:
        """A table of pyarrow. polars, DuckDB and others read `__arrow_c_stream__` themselves."""
        import pyarrow as pa

        return pa.table(self)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """An Arrow stream with one batch; ignores the requested schema, as Arrow allows."""
        return self._core_table().arrow_stream()

    def __len__(self) -> int:
        return len(self._core_table())

    def rows(self) -> Iterator[dict[str, Any]]:
        """Iterates over the rows as dicts."""
        columns = self.to_dict()
        for place in range(len(self)):
            yield {name: values[place] for name, values in columns.items()}

    def _core_table(self) -> _core.Table:
        return self._table

    def _repr_html_(self) -> str:
        return table_page(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} rows: {', '.join(self.names)}>"
