# SPDX-License-Identifier: Apache-2.0
"""Markets as values: each change makes a new one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from . import _core
from .errors import UsageError, checked, shown
from .files import write_text
from .results import Row
from .tables import Table

__all__ = ["Calibration", "Market", "Numbers", "calibrate", "market_of"]


class Numbers(Table):
    """Numbers of a market by their keys: a table, and `numbers["ACME.spot"]`."""

    def __getitem__(self, key: str) -> float:
        found = self._table.places("key", key)
        if not found:
            known = self._table.strings("key")
            raise KeyError(f"no market key '{key}'{_core.alternatives(key, 'keys:', known)}")
        return float(self._table.cell("value", found[0]))

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and bool(self._table.places("key", key))

    def keys(self) -> list[str]:
        """The market keys, in the order of the market's file."""
        return self._table.strings("key")


class Market:
    """A market as of a day, from a path or from a dict like its file."""

    def __init__(
        self,
        source: str | os.PathLike[str] | Mapping[str, Any],
        *,
        name: str = "market",
        strict: bool = False,
        confine: bool = False,
    ) -> None:
        if isinstance(source, Mapping):
            self._core = _core.Market.of(dict(source), name)
        else:
            self._core = _core.Market.load(source, strict, confine)

    @classmethod
    def _of(cls, core: _core.Market) -> Market:
        out = cls.__new__(cls)
        out._core = core
        return out

    @classmethod
    def parse(cls, yaml: str, name: str = "market") -> Market:
        """A market from the text of its file."""
        return cls._of(_core.Market.parse(checked("a market", yaml), name))

    @property
    def as_of(self) -> str:
        """The day, as YYYY-MM-DD."""
        return self._core.as_of

    @property
    def remarks(self) -> list[str]:
        """Remarks on what was read."""
        return self._core.remarks

    @property
    def files(self) -> list[str]:
        """The files that were read."""
        return self._core.files

    def numbers(self) -> Numbers:
        """All numbers by their market keys."""
        return Numbers(self._core.numbers())

    def changes(self) -> Numbers:
        """The numbers that differ from the file."""
        return Numbers(self._core.changes())

    def number(self, key: str) -> Row:
        """A number with its unit."""
        return Row(self._core.number(key))

    def __getitem__(self, key: str) -> float:
        return float(self._core.number(key)["value"])

    def shifted(self, key: str, by: float) -> Market:
        """A new market with one number increased by an amount."""
        return self._of(self._core.changed([(key, _number(key, by))], []))

    def with_(self, key: str, value: float) -> Market:
        """A new market with one number set to a value."""
        return self._of(self._core.changed([], [(key, _number(key, value))]))

    def changed(
        self, values: Mapping[str, float] | None = None, *, shift: Mapping[str, float] | None = None
    ) -> Market:
        """A new market with several numbers set or shifted at once."""
        return self._of(self._core.changed(_pairs("shift", shift), _pairs("set", values)))

    def written(self) -> dict[str, Any]:
        """The complete market as a dict like its file."""
        out: dict[str, Any] = self._core.written()
        return out

    def to_yaml(self) -> str:
        """The text of its file."""
        return self._core.yaml()

    def write(self, file: str | os.PathLike[str]) -> None:
        """Writes it as YAML."""
        write_text(file, {".yaml": self.to_yaml, ".yml": self.to_yaml})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Market):
            return NotImplemented
        return bool(self._core is other._core or self.written() == other.written())

    def __hash__(self) -> int:
        return hash(self.as_of)

    def __getstate__(self) -> str:
        return self.to_yaml()

    def __setstate__(self, yaml: str) -> None:
        self._core = _core.Market.parse(yaml, "pickled market")

    def _repr_html_(self) -> str:
        return self.numbers()._repr_html_()

    def __repr__(self) -> str:
        return f"<Market as of {self.as_of} with {len(self.numbers())} numbers>"


def _number(key: str, number: Any) -> float:
    try:
        return float(number)
    except (TypeError, ValueError):
        raise UsageError(f"{key}: found {shown(number)}, expected a number in the unit of the key") from None


def _pairs(name: str, changes: Mapping[str, float] | None) -> list[tuple[str, float]]:
    if changes is None:
        return []
    if not hasattr(changes, "items"):
        raise UsageError(f'{name}: found {shown(changes)}, expected a dict by market key, such as {{"ACME.spot": -5}}')
    return [(str(key), _number(str(key), number)) for key, number in changes.items()]


def market_of(
    source: Market | str | os.PathLike[str] | Mapping[str, Any], strict: bool = False, confine: bool = False
) -> Market:
    """A market from anything that stands for one."""
    return source if isinstance(source, Market) else Market(source, strict=strict, confine=confine)


class Calibration:
    """Models fitted to quotes; `market` contains them."""

    def __init__(self, found: dict[str, Any]) -> None:
        self.as_of: str = found["as_of"]
        self.fits: list[Row] = [Row(fit) for fit in found["fits"]]
        self.is_sound: bool = found["is_sound"]
        self.market: Market = Market.parse(found["market"], "calibrated market")
        self._text: str = found["text"]

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<Calibration of {len(self.fits)} models, {'sound' if self.is_sound else 'not sound'}>"


def calibrate(quotes: str | os.PathLike[str] | Mapping[str, Any], *, cancel: Any = None) -> Calibration:
    """Fits models to the quotes of a file or of a dict like it."""
    read = _core.Quotes.of(dict(quotes)) if isinstance(quotes, Mapping) else _core.Quotes.load(quotes)
    return Calibration(_core.calibrate(read, cancel))
