# SPDX-License-Identifier: Apache-2.0
"""Requests to `tilewalk.quantlib`: a QuantLib option with all arguments, the catalogue of readers, and shared
checks."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import QuantLib as ql

from .errors import InputError

DAYS_A_YEAR = 365.0  # Tilewalk counts all times in ACT/365F


class NotConveyed(InputError):
    """An object of QuantLib without a counterpart, or with too little accessible data."""


@dataclasses.dataclass
class Asked:
    """The option, its model and all other arguments."""

    option: Any
    model: Any
    said: dict[str, Any]
    names: list[str]
    currency: str
    bound: float
    today: Any
    horizon: int = 0

    def day(self, date: Any) -> int:
        """Days from today."""
        if not isinstance(date, ql.Date):
            refuse(f"found {date!r}, expected a QuantLib.Date")
        return int(date - self.today)

    def name(self) -> str:
        if len(self.names) != 1:
            refuse(f"found {len(self.names)} names of assets, expected one for an option on one asset")
        return self.names[0]

    def number(self, term: str) -> float:
        held = self.said[term]
        value = held.value() if hasattr(held, "value") else held
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            refuse(f"found {term}={held!r}, expected a number")
        return float(value)

    def dates(self, term: str) -> list[Any]:
        """Dates of an argument: increasing, none in the past."""
        held = list(self.said[term])
        days = [self.day(d) for d in held]
        if not held or days[0] < 0 or any(later <= earlier for earlier, later in zip(days, days[1:])):
            refuse(
                f"found {term}=[{', '.join(d.ISO() for d in held)}], expected at least one date, "
                f"in rising order and none before {self.today.ISO()}"
            )
        return held

    def choice(self, term: str, known: Mapping[int, Any], names: str) -> Any:
        held = self.said[term]
        if held not in known:
            refuse(f"found {term}={held!r}, expected one of {names}")
        return known[held]


@dataclasses.dataclass
class Conveyed:
    """Trades of Tilewalk, the days that the market has to cover, and the option rebuilt from the arguments."""

    trades: list[dict[str, Any]]
    days: list[Any]
    strike: float | None = None  # where a smile is read
    again: Any = None


@dataclasses.dataclass(frozen=True)
class Reader:
    """The required and optional arguments of an option, and the function that converts it."""

    needs: tuple[str, ...]
    may: tuple[str, ...]
    convey: Callable[[Asked], Conveyed]


READERS: dict[str, Reader] = {}
# Arguments about the market, valid for every option.
OF_MARKETS = ("smile", "surface_dates", "surface_strikes", "correlation")


def reads(
    *classes: str, needs: tuple[str, ...] = (), may: tuple[str, ...] = ()
) -> Callable[[Callable[[Asked], Conveyed]], Callable[[Asked], Conveyed]]:
    """Registers a reader for these classes of QuantLib."""

    def enter(convey: Callable[[Asked], Conveyed]) -> Callable[[Asked], Conveyed]:
        for name in classes:
            READERS[name] = Reader(needs, may, convey)
        return convey

    return enter


def refuse(message: str) -> NoReturn:
    raise NotConveyed(message)


def listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else list(words))


def class_of(held: Any) -> str:
    """QuantLib's class of an object, also for a derived class of the caller's."""
    for one in type(held).__mro__:
        if one.__module__.startswith("QuantLib"):
            return one.__name__
    return type(held).__name__


def expect_positive(name: str, value: float) -> None:
    if not (isinstance(value, (int, float)) and 0 < value < math.inf):
        refuse(f"found {name}={value!r}, expected a number above 0")


def evaluation_date() -> Any:
    today = ql.Settings.instance().evaluationDate
    return today if today != ql.Date() else ql.Date.todaysDate()


def expect_same_price(option: Any, again: Any) -> None:
    """Checks that the rebuilt option has the price of the original, by its own engine."""
    engine = option.pricingEngine()
    if engine is None:
        return
    try:
        price = option.NPV()
    except RuntimeError:
        return  # the engine can't price this option, so there is nothing to compare
    again.setPricingEngine(engine)
    try:
        found = again.NPV()
    except RuntimeError as error:
        refuse(f"what was said makes an option that the engine of QuantLib refuses: {error}")
    if same(found, price):
        return
    option.recalculate()
    if same(option.NPV(), price):  # distinguishes engines that redraw every time
        refuse(
            f"what was said makes another option: QuantLib prices it at {found!r} and the option at {price!r}"
        )


def same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-10, abs_tol=1e-12)


def expect_only(asked: Asked, term: str, where: bool, what: str) -> None:
    if term in asked.said and not where:
        refuse(f"found {term}, which is for {what} only")
