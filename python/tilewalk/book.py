# SPDX-License-Identifier: Apache-2.0
"""Books from files, from dicts and from tables of trades; products."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from . import _core
from .errors import UsageError, checked, shown
from .files import text_of_file, write_text
from .market import Market
from .pages import product_page
from .results import Row

__all__ = ["Book", "Imported", "Product", "book_of", "import_ore", "product", "products"]


class Book:
    """Trades with the market and settings that they ask for, from a path or from a dict like its file.

    Relative file names in a dict start from `folder`.
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | Mapping[str, Any],
        *,
        name: str = "book",
        folder: str | os.PathLike[str] = ".",
        strict: bool = False,
        confine: bool = False,
    ) -> None:
        if isinstance(source, Mapping):
            self._core = _core.Book.of(_plain(source), name, folder)
            self._folder = os.path.abspath(folder)
        else:
            self._core = _core.Book.load(source, strict, confine)
            self._folder = os.path.dirname(os.path.abspath(source))

    @classmethod
    def _of(cls, core: _core.Book, folder: str) -> Book:
        out = cls.__new__(cls)
        out._core = core
        out._folder = folder
        return out

    @classmethod
    def parse(cls, yaml: str, name: str = "book", folder: str | os.PathLike[str] = ".") -> Book:
        """A book from the text of its file."""
        return cls._of(_core.Book.parse(checked("a book", yaml), name, folder), os.path.abspath(folder))

    @classmethod
    def of_trades(
        cls,
        trades: Any,
        *,
        market: Any = None,
        products: Iterable[Any] = (),
        settings: Mapping[str, Any] | None = None,
        folder: str | os.PathLike[str] = ".",
        default_quantity: float | None = None,
    ) -> Book:
        """A book from a DataFrame (pandas, polars, Arrow) with a column for each parameter, or from a list of dicts.

        Empty cells (None, NaN) count as missing; a cell may be a list. `products` are files or dicts of your own. A
        trade with an empty `quantity` fails, unless `default_quantity` supplies one, which trades without that key use,
        too.
        """
        written: dict[str, Any] = {}
        if market is not None:
            written["market"] = market.written() if isinstance(market, Market) else market
        if own := list(products):
            written["products"] = own
        if settings:
            written["settings"] = dict(settings)
        written["trades"] = records_of(trades, default_quantity)
        return cls(written, name="trades", folder=folder)

    @property
    def market(self) -> Market | None:
        """The market that the book names or holds."""
        held = self._core.market
        return None if held is None else Market._of(held)

    @property
    def settings(self) -> dict[str, str]:
        """The settings that the book itself states."""
        out: dict[str, str] = self._core.settings
        return out

    @property
    def files(self) -> list[str]:
        """The files that were read."""
        return self._core.files

    def only(self, *trades: str) -> Book:
        """The same book with these trades alone, by id."""
        return self._of(self._core.only(list(trades)), self._folder)

    def written(self) -> dict[str, Any]:
        """The complete book as a dict like its file, with the market that it names or holds."""
        out: dict[str, Any] = self._core.written()
        return out

    def whole(self) -> dict[str, Any]:
        """The same with market, products and calendars included, so that it can be read anywhere."""
        out = self.written()
        if isinstance(out.get("market"), str) and self.market is not None:
            out["market"] = self.market.written()
        for part in ("products", "calendars"):
            if part in out:
                out[part] = self._with_files(out[part])
        return out

    def _with_files(self, part: Any) -> Any:
        if isinstance(part, list):
            return [self._with_files(item) if isinstance(item, str) else item for item in part]
        if isinstance(part, dict):
            return {name: self._with_files(item) if isinstance(item, str) else item for name, item in part.items()}
        file = os.path.join(self._folder, part)
        return _core.object_of_yaml(text_of_file(file), file)

    def to_yaml(self) -> str:
        """The text of a self-contained file."""
        return _core.yaml_of(self.whole())

    def write(self, file: str | os.PathLike[str]) -> None:
        """Writes it as YAML."""
        write_text(file, {".yaml": self.to_yaml, ".yml": self.to_yaml})

    def __len__(self) -> int:
        return len(self._core)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Book):
            return NotImplemented
        return bool(self._core is other._core or self.whole() == other.whole())

    def __hash__(self) -> int:
        return hash(len(self))

    def __getstate__(self) -> str:
        return self.to_yaml()

    def __setstate__(self, yaml: str) -> None:
        self._core = _core.Book.parse(yaml, "pickled book", ".")
        self._folder = os.path.abspath(".")

    def __repr__(self) -> str:
        return f"<Book of {len(self)} trades>"


def _is_missing(cell: Any) -> bool:
    if cell is None:
        return True
    if isinstance(cell, (str, list, tuple, dict)) or hasattr(cell, "shape") and getattr(cell, "shape", ()) != ():
        return False
    # NaN and NaT differ from themselves; pandas' NA has no truth value.
    return type(cell).__name__ in ("NAType", "NaTType") or bool(cell != cell)


def records_of(trades: Any, default_quantity: float | None = None) -> list[dict[str, Any]]:
    """The rows of a table of trades, without empty cells, except for an empty quantity, which becomes None."""
    if hasattr(trades, "read_all"):  # Arrow stream
        trades = trades.read_all()
    if hasattr(trades, "to_dicts"):  # polars
        rows = trades.to_dicts()
    elif hasattr(trades, "to_pylist"):  # Arrow
        _distinct(trades.schema.names)
        rows = trades.to_pylist()
    elif hasattr(trades, "iloc") and hasattr(trades, "columns"):  # pandas
        names = [str(name) for name in trades.columns]
        frame = trades
        if trades.index.name == "id" and "id" not in names:
            frame = trades.reset_index()
            names.insert(0, "id")
        _distinct(names)
        columns = [frame.iloc[:, place].tolist() for place in range(len(names))]
        rows = [dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True)]
    else:
        rows = [dict(_trade(place, row)) for place, row in enumerate(_iterated(trades))]
    out = [
        {str(name): _cell(str(name), cell) for name, cell in row.items() if name == "quantity" or not _is_missing(cell)}
        for row in rows
    ]
    if default_quantity is not None:
        for trade in out:
            if trade.get("quantity") is None:
                trade["quantity"] = default_quantity
    return out


def _distinct(names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise UsageError(f"a table of trades: found a second column '{name}', expected one")
        seen.add(name)


_BOOK_FORMS = "a path, a dict of a book, a Book, a table of trades, or a list of dicts"


def _iterated(trades: Any) -> Iterable[Any]:
    if type(trades).__name__ == "Series" or isinstance(trades, (bytes, bytearray)) or not isinstance(trades, Iterable):
        hint = "; a row of a frame goes into a list: [row.to_dict()]" if hasattr(trades, "to_dict") else ""
        raise UsageError(f"a book: found {shown(trades)}, expected {_BOOK_FORMS}{hint}")
    return trades


def _trade(place: int, row: Any) -> Mapping[str, Any]:
    if not isinstance(row, Mapping) and not (hasattr(row, "keys") and hasattr(row, "__getitem__")):
        raise UsageError(f"trades[{place}]: found {shown(row)}, expected a dict of a trade's parameters")
    trade: Mapping[str, Any] = row
    return trade


class _Unquoted(str):
    """A text written to YAML without quotes: a number if one is expected, otherwise a name, such as 0700."""

    is_unquoted = True


def _cell(name: str, cell: Any) -> Any:
    """A column of texts may mix numbers with dates; ids and portfolios stay text."""
    if _is_missing(cell):
        return None
    if isinstance(cell, str) and name not in ("id", "portfolio") and _NUMBER.fullmatch(cell):
        return _Unquoted(cell)
    return cell


_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def _plain(source: Mapping[str, Any]) -> dict[str, Any]:
    """A dict whose market and trades may be objects of this package or tables."""
    out = dict(source)
    if "product" in out and "trades" not in out:
        if not isinstance(out["product"], str):
            raise UsageError(
                'a book: found a dict of columns, expected a list of trades, as of frame.to_dict("records"), or the frame'
            )
        raise UsageError("a book: found a dict of one trade, expected a list of them: [trade]")
    if isinstance(out.get("market"), Market):
        out["market"] = out["market"].written()
    if "trades" in out and not isinstance(out["trades"], (list, tuple)):
        out["trades"] = records_of(out["trades"])
    return out


def book_of(
    source: Any,
    *,
    strict: bool = False,
    confine: bool = False,
    folder: str | os.PathLike[str] = ".",
    default_quantity: float | None = None,
) -> Book:
    """A book from anything that stands for one: a path, a dict, a Book, a table or a list of trades."""
    is_book = isinstance(source, Book)
    if is_book or isinstance(source, (str, os.PathLike, Mapping)):
        if default_quantity is not None:
            raise UsageError("default_quantity: found one beside a whole book, expected it beside a table or list of trades")
        return source if is_book else Book(source, strict=strict, confine=confine, folder=folder)
    return Book.of_trades(source, folder=folder, default_quantity=default_quantity)


class Imported:
    """A portfolio of another system as a book, with the unsupported trades and the reasons."""

    def __init__(self, found: dict[str, Any]) -> None:
        self.written: dict[str, Any] = found["book"]
        self.found: int = found["found"]
        self.imported: int = found["imported"]
        self.refused: list[Row] = [
            Row(zip(("trade", "message", "file", "line", "column"), one, strict=True)) for one in found["refused"]
        ]
        self.taken: list[str] = found["taken"]

    @property
    def book(self) -> Book:
        """The supported trades; the book names no market."""
        return Book(self.written, name="imported book")

    def __repr__(self) -> str:
        return f"<Imported {self.imported} of {self.found} trades>"


def import_ore(portfolio: str | os.PathLike[str], names: str | os.PathLike[str] | None = None) -> Imported:
    """Imports a portfolio in the XML of Open Source Risk Engine; `names` maps its names to those of the market."""
    return Imported(_core.import_ore(portfolio, names or ""))


class Product(Row):
    """A product: `name`, `summary`, `description`, `formula`, `parameters`, `script`, `example`."""

    def _repr_html_(self) -> str:
        return product_page(self)

    def __str__(self) -> str:
        return str(self["text"])

    def __repr__(self) -> str:
        return f"<Product {self['name']}: {self['summary']}>"


def products() -> dict[str, Product]:
    """The products of the library, by name."""
    return {page["name"]: Product(page) for page in _core.product_pages()}


def product(source: str | os.PathLike[str]) -> Product:
    """A product of the library by name, or your own, checked, from the path or text of its file."""
    name = os.fspath(source)
    if "\n" in name:
        return Product(_core.read_product(name))
    known = products()
    if name in known:
        return known[name]
    if name.endswith((".yaml", ".yml")) or os.sep in name or os.path.exists(name):
        return Product(_core.load_product(name))
    raise KeyError(f"no product '{name}'{_core.alternatives(name, 'known products:', sorted(known))}")
