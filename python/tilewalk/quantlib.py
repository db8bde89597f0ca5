# SPDX-License-Identifier: Apache-2.0
"""Books from the objects of QuantLib's Python wheel: its options, swaptions, processes and models.

book = from_option(option, process)
tilewalk.price(book)

QuantLib's Python does not tell again all that an object was made with. Arguments that it hides are said to
`from_option` under the names that QuantLib's own constructors give them, such as
`barrierType=ql.Barrier.DownOut, barrier=85`. If the option has an engine of QuantLib, the option is made anew
from what was said, and has to have the same price there. An option that cannot be conveyed is refused with
what was found and what is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import quantlib_options  # noqa: F401, by which its readers enter the catalogue
from .quantlib_asked import (
    OF_MARKETS,
    READERS,
    Asked,
    NotConveyed,
    class_of,
    evaluation_date,
    expect_positive,
    expect_same_price,
    listed,
    refuse,
)
from .quantlib_market import HESTON, LOGNORMAL, RATES, market_of

__all__ = ["NotConveyed", "from_option", "join", "known_models", "known_options"]


def from_option(
    option: Any,
    model: Any,
    *,
    id: str = "option",
    underlying: str | Sequence[str] = "ASSET",
    currency: str = "USD",
    quantity: float = 1.0,
    horizon: Any = None,
    bound: float = 1e-9,
    check: bool = True,
    # Arguments of QuantLib's constructors that its objects do not give back.
    payoff: Any = None,
    payoffAtExpiry: bool | None = None,
    barrierType: int | None = None,
    barrier: float | None = None,
    barrier_lo: float | None = None,
    barrier_hi: float | None = None,
    rebate: float | None = None,
    averageType: int | None = None,
    fixingDates: Sequence[Any] | None = None,
    runningAccumulator: float | None = None,
    pastFixings: int | None = None,
    allPastFixings: Sequence[float] | None = None,
    moneyness: float | None = None,
    resetDate: Any = None,
    resetDates: Sequence[Any] | None = None,
    a: Sequence[float] | None = None,
    Q1: int | None = None,
    Q2: int | None = None,
    # Arguments that QuantLib gives to pricing engines, not to options or processes.
    correlation: Any = None,
    foreignRiskFreeRate: Any = None,
    exchangeRateVolatility: Any = None,
    foreign_currency: str | None = None,
    # Arguments that only Tilewalk has.
    rebate_paid: str | None = None,
    exercise_step: float | None = None,
    smile: str | None = None,
    surface_dates: Sequence[Any] | None = None,
    surface_strikes: Sequence[float] | None = None,
) -> dict[str, Any]:
    """Returns the book of one option: a market and trades, for `tilewalk.price`.

    `model` is the process or model that QuantLib's engine was given: see `known_models()`; a list of
    processes, with `correlation`, for options on several assets. Curves and variances by term are read on
    every day up to `horizon` (the last day of the option if left out), and the market's agree with them on
    each: the logarithms of discount factors, and total variances, within `bound`.

    Nothing is guessed: a missing argument and a superfluous one are both errors.
    """
    given = dict(locals())
    terms = {term for reader in READERS.values() for term in reader.needs + reader.may}.union(OF_MARKETS)
    said = {term: held for term, held in given.items() if term in terms and held is not None}
    name = class_of(option)
    if name not in READERS:
        refuse(f"found an option of QuantLib's class {name}; known are {', '.join(known_options())}")
    reader = READERS[name]
    missing = [term for term in reader.needs if term not in said]
    if missing:
        refuse(
            f"QuantLib does not tell {listed(missing)} of its {name} again; say what it was made with, "
            f"from_option(..., {', '.join(term + '=...' for term in missing)})"
        )
    idle = [term for term in said if term not in reader.needs + reader.may + OF_MARKETS]
    if idle:
        refuse(
            f"found {listed(idle)}, of which {name} knows nothing; known are "
            f"{listed(list(reader.needs + reader.may + OF_MARKETS))}"
        )
    expect_positive("bound", bound)
    asked = Asked(
        option=option,
        model=model,
        said=said,
        names=[underlying] if isinstance(underlying, str) else list(underlying),
        currency=currency,
        bound=bound,
        today=evaluation_date(),
    )
    conveyed = reader.convey(asked)
    if check and conveyed.again is not None:
        expect_same_price(option, conveyed.again)
    last = max([asked.day(d) for d in conveyed.days])
    if horizon is not None and asked.day(horizon) < last:
        refuse(
            f"found the horizon {horizon.ISO()} before {(asked.today + last).ISO()}, the last day of the"
            " option"
        )
    asked.horizon = asked.day(horizon) if horizon is not None else last
    market = market_of(asked, conveyed)
    trades = []
    for number, trade in enumerate(conveyed.trades, start=1):
        named = id if len(conveyed.trades) == 1 else f"{id}.{number}"
        trades.append({"id": named, **trade, "quantity": quantity * trade.get("quantity", 1.0)})
    return {"market": market, "trades": trades}


def join(*books: Mapping[str, Any]) -> dict[str, Any]:
    """Joins several books: their trades, and their common market.

    Books may share a currency or asset if their data are equal to the bit; `horizon` makes the curves of two options
    equal, and `underlying` and `currency` rename.
    """
    if not books:
        refuse("found no book to join; expected one at least")
    market: dict[str, Any] = {}
    pairs: dict[frozenset[str], list[Any]] = {}
    trades: list[Any] = []
    for book in books:
        for part, held in book["market"].items():
            if part == "correlations":
                for pair in held:
                    key = frozenset(pair[:2])
                    if pairs.setdefault(key, pair)[2] != pair[2]:
                        refuse(f"found correlations {pairs[key][2]} and {pair[2]} of {pair[0]} and {pair[1]}")
            elif isinstance(held, Mapping):
                ours = market.setdefault(part, {})
                for name, numbers in held.items():
                    if ours.setdefault(name, numbers) != numbers:
                        refuse(
                            f"found two books that say different things about {name} of {part}; give it the"
                            " same horizon in both, or another name (underlying=, currency=)"
                        )
            elif market.setdefault(part, held) != held:
                refuse(f"found {part} {market[part]} and {held}; expected books of one {part}")
        trades += book["trades"]
    if pairs:
        market["correlations"] = list(pairs.values())
    seen: set[str] = set()
    for trade in trades:
        if trade["id"] in seen:
            refuse(f"found two trades with the id {trade['id']}; give each an id of its own (id=)")
        seen.add(trade["id"])
    return {"market": market, "trades": trades}


def known_options() -> list[str]:
    """The supported classes of QuantLib's options."""
    return sorted(READERS)


def known_models() -> list[str]:
    """The supported classes of QuantLib's processes and models."""
    return sorted(LOGNORMAL + HESTON + tuple(RATES))


# ------------------------------------------------------------------------------------------------------------
