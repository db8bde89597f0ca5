# SPDX-License-Identifier: Apache-2.0
"""Calls of the engine on a book: price, greeks, scenarios, explain, validate, warm and so on.

Each takes a book (a path, a dict, a Book, or a DataFrame of trades), a market (a path, a dict, a Market; that of the
book if left out), the options below, and any setting of a run by its name, such as `paths=1e6, seed=7`. One RunWarning
a call tells what `results.remarks` keeps: correlations that were taken as 0, a book without trades, and that no trade
could be priced.

trades               the ids of the trades that count; None: all
shift, set           changes of the market by its keys, {"ACME.spot": -5}
progress             True, a callable that takes a dict, or an object like tqdm
cancel               an object with is_set(), such as threading.Event: the run raises Cancelled soon after
strict, confine      how files are read, as by the options of the command
default_quantity     of trades in a table or list whose quantity is empty; without it they fail
demand_correlations  fail trades that take a correlation which the market does not state
keep_policies        keep the policies by which trades are ended early, as `results.policies`
journal              a folder that keeps what is done, so that a run that was ended goes on where it was
instruction_set      "auto", or one of the processor's; no price depends on it
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from . import _core
from .book import Book, book_of
from .differences import Differences
from .errors import InputError, RunWarning, UsageError, checked, shown
from .files import in_memory, write_reports, write_text
from .gains import Gains
from .kernels import TunedKernels, WarmedKernels
from .market import Market, market_of
from .progress import watching
from .results import Greeks, Results, Row, warn_of

__all__ = [
    "Dependence",
    "Picture",
    "Problem",
    "Problems",
    "Session",
    "depends_on",
    "differences",
    "explain",
    "greeks",
    "open",
    "picture",
    "price",
    "price_in",
    "scenarios",
    "settings",
    "tune",
    "validate",
    "warm",
    "write_values",
]

_OF_READING = ("trades", "shift", "set", "strict", "confine", "folder", "default_quantity")
_OF_RUNS = ("progress", "cancel", "demand_correlations", "keep_policies", "journal", "instruction_set")


_NO_TRADES = "the book has no trades"


class _Asked:
    """The parts of a call: book, market, settings and options."""

    def __init__(self, book: Any, market: Any, how: Mapping[str, Any], needs_market: bool = True) -> None:
        self.settings = {name: held for name, held in how.items() if name not in _OF_READING + _OF_RUNS}
        self.options = {name: how[name] for name in _OF_RUNS if name in how}
        if self.options.get("journal") is not None:
            self.options["journal"] = os.fspath(self.options["journal"])
        strict, confine = bool(how.get("strict")), bool(how.get("confine"))
        self.options["demand_correlations"] = self.options.get("demand_correlations") or strict
        self.book: Book = book_of(
            book,
            strict=strict,
            confine=confine,
            folder=how.get("folder", "."),
            default_quantity=how.get("default_quantity"),
        )
        if strict and not len(self.book):
            raise InputError(f"{_NO_TRADES}, expected at least one where files are read strictly")
        if how.get("trades") is not None:
            self.book = self.book.only(*listed_texts("trades", how["trades"], "the id of a trade"))
        self.progress = self.options.pop("progress", None)
        check_cancel(self.options.get("cancel"))
        if not needs_market:
            return
        found = self.book.market if market is None else market_of(market, strict, confine)
        if found is None:
            raise UsageError("the book names no market; write market: in the book or give market=")
        if how.get("shift") or how.get("set"):
            found = found.changed(how.get("set"), shift=how.get("shift"))
        self.market: Market = found

    def run(self, function: Any, *arguments: Any) -> Any:
        """Calls a function of the extension with the settings and options of the call."""
        with watching(self.progress) as hears, in_memory(self.settings) as settings:
            return function(*arguments, settings, {**self.options, "progress": hears})


def check_cancel(cancel: Any) -> None:
    """Raises UsageError for an object without is_set()."""
    if cancel is not None and not hasattr(cancel, "is_set"):
        raise UsageError(f"cancel: found {shown(cancel)}, expected an object with is_set(), such as threading.Event")


def listed_texts(name: str, wanted: Any, what: str) -> list[str]:
    """One text or several; ids may be numbers, as in tables."""
    if isinstance(wanted, str):
        return [checked(name, wanted)]
    if not isinstance(wanted, Iterable):
        raise UsageError(f"{name}: found {shown(wanted)}, expected {what}, or a list of such texts")
    out = list(wanted)
    for one in out:
        if not isinstance(one, str):
            hint = f"; did you mean '{one}'?" if hasattr(one, "__index__") else ""
            raise UsageError(f"{name}: found {shown(one)}, expected {what}, a text{hint}")
    return [checked(name, one) for one in out]


def price(book: Any, market: Any = None, **how: Any) -> Results:
    """Prices a book: every trade with its standard error.

    A book is a path, a dict, a Book, a table of trades or a list of dicts; without `market` it names its own.
    `help(tilewalk.runs)` lists options such as `trades`, `shift` and `progress`, and `tilewalk.settings()` settings
    such as `paths` and `seed`.
    """
    asked = _Asked(book, market, how)
    out = Results(asked.run(_core.price, asked.book._core, asked.market._core))
    warn_of(out)
    return out


def price_in(book: Any, markets: Iterable[Any], **how: Any) -> list[Results]:
    """Prices a book in many markets at once, on common random numbers.

    Options and settings: `help(tilewalk.runs)`.
    """
    asked = _Asked(book, None, how, needs_market=False)
    if isinstance(markets, (str, os.PathLike, Market, Mapping)) or not isinstance(markets, Iterable):
        raise UsageError(f"price_in: found {shown(markets)}, expected a list of markets; tw.price() takes one")
    of = [market_of(one)._core for one in markets]
    out = [Results(one) for one in asked.run(_core.price_in, asked.book._core, of)]
    warn_of(*out)
    return out


def greeks(
    book: Any,
    market: Any = None,
    *,
    wanted: Sequence[str] | str | None = None,
    method: str = "auto",
    view: str = "market",
    **how: Any,
) -> Greeks:
    """Prices a book with its sensitivities to market numbers, all with standard errors.

    `wanted` are measures ("delta") and patterns of market keys ("*.rate@2y"); empty: all of first order. Options and
    settings: `help(tilewalk.runs)`.
    """
    asked = _Asked(book, market, how)
    out = _greeks(asked, partial(_core.greeks, asked.book._core), wanted, method, view)
    warn_of(out)
    return out


def _greeks(asked: _Asked, find: Callable[..., Any], wanted: Sequence[str] | str | None, method: str, view: str) -> Greeks:
    which = [] if wanted is None else listed_texts("wanted", wanted, "a measure or a pattern of market keys")
    return Greeks(asked.run(find, asked.market._core, which, method, view))


def differences(
    book: Any, market: Any = None, *, cross_gamma: bool = False, vanna: bool = False, **how: Any
) -> Differences:
    """Prices a book and revalues it for standard shifts of market numbers, on common random numbers.

    `cross_gamma` and `vanna` add simultaneous shifts: of two spots, and of a spot and a volatility. Options and
    settings: `help(tilewalk.runs)`.
    """
    asked = _Asked(book, market, how)
    out = _differences(asked, partial(_core.differences, asked.book._core), cross_gamma, vanna)
    warn_of(out.values)
    return out


def _differences(asked: _Asked, find: Callable[..., Any], cross_gamma: bool, vanna: bool) -> Differences:
    return Differences(asked.run(find, asked.market._core, cross_gamma, vanna))


def write_values(
    results: Results, folder: str | os.PathLike[str], book: Any, market: Any = None, **how: Any
) -> list[str]:
    """Writes the files of `tilewalk price --files` into a folder, and returns their names.

    Book and market have to be those of the results, since the files need more than results contain.
    """
    asked = _Asked(book, market, {**how, "trades": results._core_table().strings("trade")})
    if len(asked.book) != len(results):
        raise UsageError(f"write_values: found results of {len(results)} trades and a book of {len(asked.book)} of them")
    told = _core.valued(asked.book._core, asked.market._core, results._core)
    return write_reports(folder, _core.value_files(), told.report)


def scenarios(
    book: Any,
    scenarios: str | os.PathLike[str] | Mapping[str, Any] | Iterable[Mapping[str, Any]],
    market: Any = None,
    *,
    explain: bool = False,
    **how: Any,
) -> Gains:
    """Values the gains and losses of a book in other markets, on common random numbers.

    Scenarios are a file, a dict like it, or a list of dicts of moves by market key, such as {"ACME.spot": "-20%"},
    optionally with a "name" and the "days" that pass:
    [{"name": "down", "ACME.spot": -10, "USD.rate@1y": -0.01}, {"days": 1}].
    Options and settings: `help(tilewalk.runs)`.
    """
    asked = _Asked(book, market, how)
    out = _scenarios(asked, partial(_core.scenarios, asked.book._core), scenarios, explain, how.get("folder", "."))
    warn_of(out.base, out)
    return out


def _scenarios(asked: _Asked, find: Callable[..., Any], scenarios: Any, explain: bool, folder: Any) -> Gains:
    if isinstance(scenarios, (str, os.PathLike)):
        of = _core.ScenarioList.load(scenarios, asked.market._core)
    elif not isinstance(scenarios, Iterable):
        raise UsageError(f"scenarios: found {shown(scenarios)}, expected a file, a dict of one, or a list of dicts of moves")
    else:
        written = dict(scenarios) if isinstance(scenarios, Mapping) else _listed(scenarios)
        of = _core.ScenarioList.of(written, asked.market._core, folder)
    of.explains = of.explains or explain
    return Gains(asked.run(find, asked.market._core, of))


def _listed(moves: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for place, one in enumerate(moves, 1):
        if not isinstance(one, Mapping):
            raise UsageError(
                f'scenarios: found {shown(one)}, expected a dict of moves by market key, such as {{"ACME.spot": "-20%"}}'
            )
        rest = dict(one)
        name = str(rest.pop("name", place))
        for word in ("shift", "set"):
            if isinstance(rest.get(word), Mapping):
                raise UsageError(
                    f"scenarios: found '{word}' in '{name}', expected the market keys themselves, as in "
                    '{"name": "down", "ACME.spot": -10}'
                )
        if name in named:
            raise UsageError(f"scenarios: found a second scenario '{name}', expected different names")
        named[name] = rest
    return {"stress": named}


def explain(book: Any, market: Any = None, *, program: bool = False, **how: Any) -> list[Row]:
    """The plan of each trade: terms, forwards, volatilities, dates, grid; `program` adds its listing."""
    asked = _Asked(book, market, how)
    text = asked.run(_core.explain, asked.book._core, asked.market._core, program)
    return [Row(plan) for plan in json.loads(text)["trades"]]


class Picture:
    """A picture of a trade, in SVG."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def write(self, file: str | os.PathLike[str]) -> None:
        """Writes it as .svg."""
        write_text(file, {".svg": lambda: self.svg})


def picture(book: Any, trade: str, market: Any = None, *, sample: int = 10, **how: Any) -> Picture:
    """A time line of a trade's dates, and `sample` of the paths that price it."""
    asked = _Asked(book, market, how)
    return Picture(asked.run(_core.picture, asked.book._core, asked.market._core, trade, sample))


class Problem(NamedTuple):
    """A trade that can't be priced, and its place."""

    trade: str
    message: str
    file: str
    line: int
    column: int


class Problems(list[Problem]):
    """The trades that can't be priced; empty if all can. `missing_correlations` are taken as 0."""

    missing_correlations: list[tuple[str, str]]


def validate(book: Any, market: Any = None, **how: Any) -> Problems:
    """Checks a book, its market and every trade without pricing."""
    asked = _Asked(book, market, how)
    if not len(asked.book):
        warnings.warn(_NO_TRADES, RunWarning, stacklevel=2)
    found, missing = asked.run(_core.validate, asked.book._core, asked.market._core)
    out = Problems(Problem(*one) for one in found)
    out.missing_correlations = missing
    return out


class Dependence(NamedTuple):
    """The market numbers that a trade's price depends on; `failure` says why they are unknown."""

    trade: str
    numbers: dict[str, float]
    failure: str


def depends_on(book: Any, market: Any = None, **how: Any) -> dict[str, Dependence]:
    """The market numbers that each trade depends on, found without walking a path."""
    asked = _Asked(book, market, how)
    found = asked.run(_core.depends_on, asked.book._core, asked.market._core)
    return {one[0]: Dependence(*one) for one in found}


class Session:
    """A book that is planned once, for many calls in slightly changing markets."""

    def __init__(self, book: Any, *, instruction_set: str = "auto", **how: Any) -> None:
        asked = _Asked(book, None, how, needs_market=False)
        if asked.settings:
            raise UsageError(f"open: {', '.join(asked.settings)} are settings of each call, not of the book")
        self.book = asked.book
        self._core = _core.open(asked.book._core, instruction_set)

    def price(self, market: Any = None, **how: Any) -> Results:
        """Prices the book; plans only trades that depend on what has changed."""
        asked = _Asked(self.book, market, how)
        out = Results(asked.run(self._core.price, asked.market._core))
        warn_of(out)
        return out

    def greeks(
        self,
        market: Any = None,
        *,
        wanted: Sequence[str] | str | None = None,
        method: str = "auto",
        view: str = "market",
        **how: Any,
    ) -> Greeks:
        """Like `tilewalk.greeks`, with the same bits."""
        out = _greeks(_Asked(self.book, market, how), self._core.greeks, wanted, method, view)
        warn_of(out)
        return out

    def scenarios(
        self,
        scenarios: str | os.PathLike[str] | Mapping[str, Any] | Iterable[Mapping[str, Any]],
        market: Any = None,
        *,
        explain: bool = False,
        **how: Any,
    ) -> Gains:
        """Like `tilewalk.scenarios`, with the same bits."""
        out = _scenarios(_Asked(self.book, market, how), self._core.scenarios, scenarios, explain, how.get("folder", "."))
        warn_of(out.base, out)
        return out

    def differences(self, market: Any = None, *, cross_gamma: bool = False, vanna: bool = False, **how: Any) -> Differences:
        """Like `tilewalk.differences`, with the same bits."""
        out = _differences(_Asked(self.book, market, how), self._core.differences, cross_gamma, vanna)
        warn_of(out.values)
        return out

    @property
    def facts(self) -> Row:
        """What is kept between calls."""
        return Row(self._core.facts())


def open(book: Any, **how: Any) -> Session:
    """Opens a book for many calls."""
    return Session(book, **how)


def warm(book: Any, market: Any = None, *, architectures: Iterable[str] | str = (), **how: Any) -> WarmedKernels:
    """Compiles the GPU kernels of a book into the cache, also on machines without a GPU.

    `architectures` are the targets, such as "sm_90"; by default those of this machine's GPUs. `progress` receives
    `kernels_done` and `kernels`. Options and settings: `help(tilewalk.runs)`.
    """
    targets = listed_texts("architectures", architectures, "an architecture such as 'sm_90'")
    asked = _Asked(book, market, how)
    return WarmedKernels(*asked.run(_core.warm, asked.book._core, asked.market._core, targets))


def tune(
    book: Any,
    market: Any = None,
    *,
    seconds: float = _core.default_tuning_seconds,
    greeks: bool = False,
    **how: Any,
) -> TunedKernels:
    """Times kernel variants of a book on this machine's GPU, and keeps the fastest for later runs.

    `seconds` limits the time for each kernel, without compilation; `greeks` tunes the kernels of sensitivities.
    `progress` receives what is being timed as `doing`. Options and settings: `help(tilewalk.runs)`.
    """
    if isinstance(seconds, str) or not hasattr(seconds, "__float__"):
        raise UsageError(f"seconds: found {shown(seconds)}, expected a number")
    asked = _Asked(book, market, how)
    return TunedKernels(*asked.run(_core.tune, asked.book._core, asked.market._core, float(seconds), bool(greeks)))


def settings() -> dict[str, Row]:
    """The settings of a run by name: meaning, choices, default, and whether prices depend on them."""
    return {row["name"]: Row(row) for row in _core.setting_rows()}
