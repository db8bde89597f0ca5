# SPDX-License-Identifier: Apache-2.0
"""Books from the objects of QuantLib's Python wheel: its options, swaptions, processes and models.

book = from_option(option, process)
tilewalk.price(book)

QuantLib's Python does not tell again all that an object was made with. What it hides is said to `from_option` under the
name that QuantLib's own constructor gives it, such as `barrierType=ql.Barrier.DownOut, barrier=85`. If the option has an
engine of QuantLib, the option is made anew from what was said, and has to have the same price there. What cannot be
conveyed is refused with what was found and what is known.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

import QuantLib as ql

from .errors import InputError

__all__ = ["NotConveyed", "from_option", "join", "known_models", "known_options"]

_DAYS_A_YEAR = 365.0  # every time of Tilewalk counts ACT/365F


class NotConveyed(InputError):
    """An object of QuantLib that has no counterpart, or of which QuantLib does not tell enough."""


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
    # What QuantLib was told and does not tell again, by the names of its constructors.
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
    # What QuantLib tells its engines, and not the option or the process.
    correlation: Any = None,
    foreignRiskFreeRate: Any = None,
    exchangeRateVolatility: Any = None,
    foreign_currency: str | None = None,
    # What Tilewalk asks for beyond QuantLib.
    rebate_paid: str | None = None,
    exercise_step: float | None = None,
    smile: str | None = None,
    surface_dates: Sequence[Any] | None = None,
    surface_strikes: Sequence[float] | None = None,
) -> dict[str, Any]:
    """The book of one option: a market and trades, as `tilewalk.price` takes it.

    `model` is the process or model that QuantLib's engine was given: see `known_models()`; a list of processes, with
    `correlation`, for options on several assets. Curves and variances by term are read on every day up to `horizon`
    (the last day of the option if left out), and the market's agree with them on each: the logarithms of discount
    factors, and total variances, within `bound`.

    Nothing is guessed: an argument that the option needs and one that it has no use for are refused alike.
    """
    given = dict(locals())
    said = {name: given[name] for name in _TERMS if given[name] is not None}
    name = _class_of(option)
    if name not in _READERS:
        _refuse(f"found an option of QuantLib's class {name}; known are {', '.join(known_options())}")
    reader = _READERS[name]
    missing = [term for term in reader.needs if term not in said]
    if missing:
        _refuse(
            f"QuantLib does not tell {_listed(missing)} of its {name} again; say what it was made with, "
            f"from_option(..., {', '.join(term + '=...' for term in missing)})"
        )
    idle = [term for term in said if term not in reader.needs + reader.may + _OF_MARKETS]
    if idle:
        _refuse(f"found {_listed(idle)}, of which {name} knows nothing; known are "
                f"{_listed(list(reader.needs + reader.may + _OF_MARKETS))}")
    _expect_positive("bound", bound)
    asked = _Asked(
        option=option,
        model=model,
        said=said,
        names=[underlying] if isinstance(underlying, str) else list(underlying),
        currency=currency,
        bound=bound,
        today=_today(),
    )
    conveyed = reader.convey(asked)
    if check and conveyed.again is not None:
        _expect_same_price(option, conveyed.again)
    last = max([asked.day(d) for d in conveyed.days])
    if horizon is not None and asked.day(horizon) < last:
        _refuse(f"found the horizon {horizon.ISO()} before {(asked.today + last).ISO()}, the last day of the option")
    asked.horizon = asked.day(horizon) if horizon is not None else last
    market = _market(asked, conveyed)
    trades = []
    for number, trade in enumerate(conveyed.trades, start=1):
        named = id if len(conveyed.trades) == 1 else f"{id}.{number}"
        trades.append({"id": named, **trade, "quantity": quantity * trade.get("quantity", 1.0)})
    return {"market": market, "trades": trades}


def join(*books: Mapping[str, Any]) -> dict[str, Any]:
    """One book of several: their trades, and the market that they have in common.

    Two books may name the same currency or asset if they say the same about it, to the bit; `horizon` makes the curves
    of two options the same, and `underlying` and `currency` give other names.
    """
    if not books:
        _refuse("found no book to join; expected one at least")
    market: dict[str, Any] = {}
    pairs: dict[frozenset[str], list[Any]] = {}
    trades: list[Any] = []
    for book in books:
        for part, held in book["market"].items():
            if part == "correlations":
                for pair in held:
                    key = frozenset(pair[:2])
                    if pairs.setdefault(key, pair)[2] != pair[2]:
                        _refuse(f"found correlations {pairs[key][2]} and {pair[2]} of {pair[0]} and {pair[1]}")
            elif isinstance(held, Mapping):
                ours = market.setdefault(part, {})
                for name, numbers in held.items():
                    if ours.setdefault(name, numbers) != numbers:
                        _refuse(f"found two books that say different things about {name} of {part}; give it the same "
                                "horizon in both, or another name (underlying=, currency=)")
            elif market.setdefault(part, held) != held:
                _refuse(f"found {part} {market[part]} and {held}; expected books of one {part}")
        trades += book["trades"]
    if pairs:
        market["correlations"] = list(pairs.values())
    seen: set[str] = set()
    for trade in trades:
        if trade["id"] in seen:
            _refuse(f"found two trades with the id {trade['id']}; give each an id of its own (id=)")
        seen.add(trade["id"])
    return {"market": market, "trades": trades}


def known_options() -> list[str]:
    """The classes of QuantLib's options that can be conveyed."""
    return sorted(_READERS)


def known_models() -> list[str]:
    """The classes of QuantLib's processes and models that can be conveyed."""
    return sorted(_LOGNORMAL + _HESTON + tuple(_RATES))


# ----------------------------------------------------------------------------------------------------------------------
# What is asked, and what comes of it


@dataclasses.dataclass
class _Asked:
    """The option, its model and all that was said beside them."""

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
            _refuse(f"found {date!r}, expected a QuantLib.Date")
        return int(date - self.today)

    def name(self) -> str:
        if len(self.names) != 1:
            _refuse(f"found {len(self.names)} names of assets, expected one for an option on one asset")
        return self.names[0]

    def number(self, term: str) -> float:
        held = self.said[term]
        value = held.value() if hasattr(held, "value") else held
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            _refuse(f"found {term}={held!r}, expected a number")
        return float(value)

    def dates(self, term: str) -> list[Any]:
        """Dates that were said: in order, none of them gone."""
        held = list(self.said[term])
        days = [self.day(d) for d in held]
        if not held or days[0] < 0 or any(later <= earlier for earlier, later in zip(days, days[1:])):
            _refuse(f"found {term}=[{', '.join(d.ISO() for d in held)}], expected at least one date, "
                    f"in rising order and none before {self.today.ISO()}")
        return held

    def choice(self, term: str, known: Mapping[int, Any], names: str) -> Any:
        held = self.said[term]
        if held not in known:
            _refuse(f"found {term}={held!r}, expected one of {names}")
        return known[held]


@dataclasses.dataclass
class _Conveyed:
    """Trades of Tilewalk, the days that the market has to reach, and the option made again from what was said."""

    trades: list[dict[str, Any]]
    days: list[Any]
    strike: float | None = None  # at which a smile would be read
    again: Any = None


@dataclasses.dataclass(frozen=True)
class _Reader:
    needs: tuple[str, ...]
    may: tuple[str, ...]
    convey: Callable[[_Asked], _Conveyed]


_READERS: dict[str, _Reader] = {}
_OF_MARKETS = ("smile", "surface_dates", "surface_strikes", "correlation")
_TERMS = (
    "payoff", "payoffAtExpiry", "barrierType", "barrier", "barrier_lo", "barrier_hi", "rebate", "averageType",
    "fixingDates", "runningAccumulator", "pastFixings", "allPastFixings", "moneyness", "resetDate", "resetDates", "a",
    "Q1", "Q2", "correlation", "foreignRiskFreeRate", "exchangeRateVolatility", "foreign_currency", "rebate_paid",
    "exercise_step", "smile", "surface_dates", "surface_strikes",
)  # fmt: skip


def _reads(
    *classes: str, needs: tuple[str, ...] = (), may: tuple[str, ...] = ()
) -> Callable[[Callable[[_Asked], _Conveyed]], Callable[[_Asked], _Conveyed]]:
    """Enters a reader in the catalogue, by the classes of QuantLib that it reads."""

    def enter(convey: Callable[[_Asked], _Conveyed]) -> Callable[[_Asked], _Conveyed]:
        for name in classes:
            _READERS[name] = _Reader(needs, may, convey)
        return convey

    return enter


def _refuse(message: str) -> NoReturn:
    raise NotConveyed(message)


def _listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else list(words))


def _class_of(held: Any) -> str:
    """QuantLib's class of an object; a class of the caller's that derives from it counts as that."""
    for one in type(held).__mro__:
        if one.__module__.startswith("QuantLib"):
            return one.__name__
    return type(held).__name__


def _expect_positive(name: str, value: float) -> None:
    if not (isinstance(value, (int, float)) and 0 < value < math.inf):
        _refuse(f"found {name}={value!r}, expected a number above 0")


def _today() -> Any:
    today = ql.Settings.instance().evaluationDate
    return today if today != ql.Date() else ql.Date.todaysDate()


def _expect_same_price(option: Any, again: Any) -> None:
    """The option that was made again has the price of the option itself, by the engine that it has."""
    engine = option.pricingEngine()
    if engine is None:
        return
    try:
        price = option.NPV()
    except RuntimeError:
        return  # the engine cannot price this option, so that it tells nothing about it
    again.setPricingEngine(engine)
    try:
        found = again.NPV()
    except RuntimeError as error:
        _refuse(f"what was said makes an option that the engine of QuantLib refuses: {error}")
    if _same(found, price):
        return
    option.recalculate()
    if _same(option.NPV(), price):  # an engine that draws anew each time could not tell them apart
        _refuse(f"what was said makes another option: QuantLib prices it at {found!r} and the option at {price!r}")


def _same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-10, abs_tol=1e-12)


# ----------------------------------------------------------------------------------------------------------------------
# Payoffs and exercise


@dataclasses.dataclass(frozen=True)
class _Payoff:
    """What a payoff of one price is; `held` can be given to QuantLib's constructors."""

    kind: str  # plain, cash, asset or gap
    option: str
    strike: float
    held: Any
    cash: float = 0.0
    paid_for: float = 0.0  # a gap's second strike


_PAYOFFS = {"PlainVanillaPayoff": "plain", "CashOrNothingPayoff": "cash", "AssetOrNothingPayoff": "asset",
            "GapPayoff": "gap"}  # fmt: skip
_SIDES = {ql.Option.Call: "call", ql.Option.Put: "put"}


def _payoff(asked: _Asked, *kinds: str) -> _Payoff:
    """The payoff of an option on one price. QuantLib tells a plain one; another has to be said."""
    own = asked.option.payoff()
    said = asked.said.get("payoff")
    held = ql.as_plain_vanilla_payoff(own) if said is None else said
    if held is None:
        _refuse("QuantLib does not tell what the payoff of this option is, only that it is no PlainVanillaPayoff; say it, "
                "from_option(..., payoff=), by the object that the option was made with")
    kind = _PAYOFFS.get(_class_of(held))
    known = [name for name, of in _PAYOFFS.items() if of in kinds]
    if kind not in kinds:
        _refuse(f"found a payoff of QuantLib's class {_class_of(held)}; known for a {_class_of(asked.option)} "
                f"are {_listed(known)}")
    side, strike = _SIDES[held.optionType()], float(held.strike())
    _expect_same_payoff(own, held, strike)
    inside = strike * (2.0 if side == "call" else 0.5) if strike > 0 else 1.0
    cash = float(held(inside)) if kind == "cash" else 0.0
    # A gap pays the price less the second strike, or the other way round.
    paid_for = inside - held(inside) if side == "call" else inside + held(inside)
    return _Payoff(str(kind), side, strike, held, cash, paid_for)


def _expect_same_payoff(own: Any, said: Any, strike: float) -> None:
    """What was said pays the same as the option's own payoff at prices around the strike and far from it."""
    for share in (0.0, 0.25, 0.5, 1 - 1e-9, 1.0, 1 + 1e-9, 1.5, 2.0, 8.0):
        price = share * (strike or 1.0)
        if own(price) != said(price):
            _refuse(f"the payoff that was said pays {said(price)!r} at a price of {price!r}, that of the option "
                    f"{own(price)!r}")


def _plain_inside(payoff: Any) -> tuple[str, float]:
    """Side and strike of the plain payoff within one of a basket, read off its values.

    A put pays its strike at a price of 0. A call's is found at a price within a factor of two of it, where the
    difference of two numbers is exact.
    """
    if payoff(0.0) > 0:
        side, strike = "put", float(payoff(0.0))
    else:
        side, price = "call", 1.0
        while payoff(price) > 0 and price > 1e-300:
            price /= 2
        while payoff(price) == 0 and price < 1e300:
            price *= 2
        strike = price - payoff(price)
        if strike <= 0 and payoff(0.0) != -strike:
            side = ""
    sign = 1 if side == "call" else -1
    for share in (0.0, 0.25, 0.5, 1 - 1e-6, 1.0, 1 + 1e-6, 1.5, 2.0, 8.0, 1e3):
        price = share * (strike or 1.0)
        if not side or not math.isclose(payoff(price), max(sign * (price - strike), 0.0), rel_tol=1e-12, abs_tol=1e-300):
            _refuse("the payoff within that of the basket is no PlainVanillaPayoff; only those are known")
    return side, strike


def _exercise(asked: _Asked, *known: int) -> Any:
    """The exercise of an option; the last of its days is still to come."""
    held = asked.option.exercise()
    names = {ql.Exercise.European: "European", ql.Exercise.American: "American", ql.Exercise.Bermudan: "Bermudan"}
    if held.type() not in known:
        _refuse(f"found {names.get(held.type(), 'another')} exercise of a {_class_of(asked.option)}; known is "
                f"{_listed([names[one] for one in known])}")
    if asked.day(held.lastDate()) <= 0:
        _refuse(f"found {held.lastDate().ISO()} for the last day of exercise, which is not after {asked.today.ISO()}")
    return held


def _european(asked: _Asked) -> tuple[Any, Any]:
    held = _exercise(asked, ql.Exercise.European)
    return held, held.lastDate()


# ----------------------------------------------------------------------------------------------------------------------
# Options on one asset


@_reads("VanillaOption", "EuropeanOption", may=("payoff", "payoffAtExpiry", "exercise_step"))
def _vanilla(asked: _Asked) -> _Conveyed:
    exercise = _exercise(asked, ql.Exercise.European, ql.Exercise.American, ql.Exercise.Bermudan)
    early = exercise.type() != ql.Exercise.European
    payoff = _payoff(asked, *(("plain", "cash", "asset") if early else ("plain", "cash", "asset", "gap")))
    trade: dict[str, Any]
    if not early:
        _expect_only(asked, "exercise_step", early, "American exercise")
        _expect_only(asked, "payoffAtExpiry", early, "American exercise")
        trade = _on_one_day(payoff, exercise.lastDate())
    elif payoff.kind != "plain":
        trade = _touch(asked, payoff, exercise)
    elif asked.said.get("payoffAtExpiry"):
        _refuse("found payoffAtExpiry=True; early exercise that pays later is known of cash and assets at a touch only")
    elif exercise.type() == ql.Exercise.American:
        if "exercise_step" not in asked.said:
            _refuse("an American option is exercised on days of Tilewalk's; say how many years lie between two, such as "
                    "exercise_step=0.02: the fewer days, the less is it worth")
        first = max(asked.day(exercise.dates()[0]), 0)
        trade = {"product": "american", "underlying": asked.name(), "option": payoff.option, "strike": payoff.strike,
                 "maturity": exercise.lastDate().ISO(), "exercise_step": asked.number("exercise_step")}
        if first > 0:
            trade["exercise_start"] = exercise.dates()[0].ISO()
    else:
        _expect_only(asked, "exercise_step", False, "American exercise")
        days = [d.ISO() for d in exercise.dates() if asked.day(d) >= 0]
        trade = {"product": "bermudan_basket", "basket": [asked.name()], "option": payoff.option,
                 "strike": payoff.strike, "exercise_dates": days}
    if "basket" not in trade:
        trade["underlying"] = asked.name()
    return _Conveyed([trade], [exercise.lastDate()], payoff.strike, ql.VanillaOption(payoff.held, exercise))


def _expect_only(asked: _Asked, term: str, where: bool, what: str) -> None:
    if term in asked.said and not where:
        _refuse(f"found {term}, which is for {what} only")


def _on_one_day(payoff: _Payoff, maturity: Any) -> dict[str, Any]:
    """What one price pays on one day."""
    terms: dict[str, Any] = {"option": payoff.option, "strike": payoff.strike, "maturity": maturity.ISO()}
    if payoff.kind == "plain":
        return {"product": "european", **terms}
    if payoff.kind == "cash":
        return {"product": "digital", **terms, "pays": "cash", "payout": payoff.cash}
    if payoff.kind == "asset":
        return {"product": "digital", **terms, "pays": "asset"}
    return {"product": "gap_option", **terms, "strike": payoff.paid_for, "trigger": payoff.strike}


def _touch(asked: _Asked, payoff: _Payoff, exercise: Any) -> dict[str, Any]:
    """An American digital: it pays when the price touches the strike, or on the last day if it did."""
    if exercise.type() != ql.Exercise.American or asked.day(exercise.dates()[0]) > 0:
        _refuse("found a digital payoff with early exercise that begins later or on some days only; known is "
                "AmericanExercise from today on")
    if "payoffAtExpiry" not in asked.said:
        _refuse("QuantLib does not tell payoffAtExpiry of an AmericanExercise again; say what it was made with, "
                "from_option(..., payoffAtExpiry=...)")
    _expect_only(asked, "exercise_step", False, "an American option with a plain payoff")
    trade = {"product": "one_touch", "direction": "up" if payoff.option == "call" else "down",
             "barrier": payoff.strike, "pays": payoff.kind, "maturity": exercise.lastDate().ISO(),
             "paid": "at_expiry" if asked.said["payoffAtExpiry"] else "at_hit"}
    return {**trade, "payout": payoff.cash} if payoff.kind == "cash" else trade


@_reads("BarrierOption", needs=("barrierType", "barrier", "rebate"), may=("payoff",))
def _barrier(asked: _Asked) -> _Conveyed:
    exercise, maturity = _european(asked)
    payoff = _payoff(asked, "plain")
    types = {ql.Barrier.DownIn: ("down", "knock_in"), ql.Barrier.UpIn: ("up", "knock_in"),
             ql.Barrier.DownOut: ("down", "knock_out"), ql.Barrier.UpOut: ("up", "knock_out")}
    direction, kind = asked.choice("barrierType", types, "ql.Barrier.DownIn, UpIn, DownOut and UpOut")
    barrier, rebate = asked.number("barrier"), asked.number("rebate")
    trade = {"product": "barrier", "underlying": asked.name(), "option": payoff.option, "strike": payoff.strike,
             "maturity": maturity.ISO(), "direction": direction, "kind": kind, "barrier": barrier, "rebate": rebate}
    if kind == "knock_out":
        trade["rebate_paid"] = "at_hit"  # as QuantLib's engines have it
    again = ql.BarrierOption(asked.said["barrierType"], barrier, rebate, payoff.held, exercise)
    return _Conveyed([trade], [maturity], payoff.strike, again)


@_reads("DoubleBarrierOption", needs=("barrierType", "barrier_lo", "barrier_hi", "rebate"),
        may=("payoff", "rebate_paid"))
def _double_barrier(asked: _Asked) -> _Conveyed:
    exercise, maturity = _european(asked)
    payoff = _payoff(asked, "plain")
    types = {ql.DoubleBarrier.KnockIn: "knock_in", ql.DoubleBarrier.KnockOut: "knock_out"}
    kind = asked.choice("barrierType", types, "ql.DoubleBarrier.KnockIn and KnockOut")
    low, high, rebate = asked.number("barrier_lo"), asked.number("barrier_hi"), asked.number("rebate")
    trade = {"product": "double_barrier", "underlying": asked.name(), "option": payoff.option,
             "strike": payoff.strike, "maturity": maturity.ISO(), "kind": kind, "lower": low, "upper": high}
    if rebate != 0:
        if kind == "knock_out" and "rebate_paid" not in asked.said:
            _refuse("QuantLib's engines do not agree on when a rebate is paid that two barriers knock out; say it, "
                    "rebate_paid='at_hit' or rebate_paid='at_expiry'")
        trade["rebate"] = rebate
    if kind == "knock_out" and "rebate_paid" in asked.said:
        trade["rebate_paid"] = asked.said["rebate_paid"]
    again = ql.DoubleBarrierOption(asked.said["barrierType"], low, high, rebate, payoff.held, exercise)
    return _Conveyed([trade], [maturity], payoff.strike, again)


@_reads("DiscreteAveragingAsianOption", needs=("averageType", "fixingDates"),
        may=("runningAccumulator", "pastFixings", "allPastFixings"))
def _asian(asked: _Asked) -> _Conveyed:
    exercise, maturity = _european(asked)
    payoff = _payoff(asked, "plain")
    means = {ql.Average.Arithmetic: "arithmetic", ql.Average.Geometric: "geometric"}
    mean = asked.choice("averageType", means, "ql.Average.Arithmetic and Geometric")
    dates = asked.dates("fixingDates")
    if dates[-1] != maturity:
        _refuse(f"found the last fixing on {dates[-1].ISO()} and payment on {maturity.ISO()}; Tilewalk's asian pays on the "
                "last fixing")
    if ("runningAccumulator" in asked.said) != ("pastFixings" in asked.said):
        _refuse("runningAccumulator and pastFixings go together; say both or neither")
    if "allPastFixings" in asked.said and "pastFixings" in asked.said:
        _refuse("found allPastFixings and pastFixings; say the one that the option was made with")
    trade = {"product": "asian", "underlying": asked.name(), "option": payoff.option, "mean": mean,
             "strike": payoff.strike, "averaging_dates": [d.ISO() for d in dates]}
    if "pastFixings" in asked.said:
        count, so_far = int(asked.number("pastFixings")), asked.number("runningAccumulator")
        again = ql.DiscreteAveragingAsianOption(asked.said["averageType"], so_far, count, dates, payoff.held, exercise)
        past = so_far / count if mean == "arithmetic" and count else so_far ** (1.0 / count) if count else 0.0
    else:
        seen = [float(one) for one in asked.said.get("allPastFixings", ())]
        again = ql.DiscreteAveragingAsianOption(asked.said["averageType"], dates, payoff.held, exercise, seen)
        count = len(seen)
        if mean == "arithmetic":
            past = math.fsum(seen) / count if count else 0.0
        else:
            past = math.exp(math.fsum(math.log(one) for one in seen) / count) if count else 0.0
    if count:
        trade["average_so_far"], trade["weight_so_far"] = past, count
    return _Conveyed([trade], [maturity], payoff.strike, again)


@_reads("ForwardVanillaOption", needs=("moneyness", "resetDate"))
def _forward_start(asked: _Asked) -> _Conveyed:
    exercise, maturity = _european(asked)
    payoff = _payoff(asked, "plain")
    trade = _started_forward(asked, payoff.option, asked.number("moneyness"), asked.said["resetDate"], maturity)
    again = ql.ForwardVanillaOption(asked.number("moneyness"), asked.said["resetDate"], payoff.held, exercise)
    return _Conveyed([trade], [maturity], None, again)


def _started_forward(asked: _Asked, side: str, share: float, reset: Any, maturity: Any) -> dict[str, Any]:
    if not 0 <= asked.day(reset) < asked.day(maturity):
        _refuse(f"found a strike that is set on {reset.ISO()}, expected a day from {asked.today.ISO()} on and before "
                f"{maturity.ISO()}")
    return {"product": "forward_start", "underlying": asked.name(), "option": side, "strike_date": reset.ISO(),
            "strike_factor": share, "maturity": maturity.ISO()}


@_reads("CliquetOption", needs=("payoff", "resetDates"))
def _cliquet(asked: _Asked) -> _Conveyed:
    """QuantLib's cliquet is a row of options, each on the price at which the one before ends."""
    exercise, maturity = _european(asked)
    held = asked.said["payoff"]
    if _class_of(held) != "PercentageStrikePayoff":
        _refuse(f"found a payoff of QuantLib's class {_class_of(held)} for a CliquetOption; known is "
                "PercentageStrikePayoff")
    dates = asked.dates("resetDates")
    side = _SIDES[held.optionType()]
    trades = [_started_forward(asked, side, float(held.strike()), begin, end)
              for begin, end in zip(dates, [*dates[1:], maturity])]
    again = ql.CliquetOption(held, ql.EuropeanExercise(maturity), dates)
    return _Conveyed(trades, [maturity], None, again)


@_reads("VarianceSwap", needs=("fixingDates",))
def _variance_swap(asked: _Asked) -> _Conveyed:
    """QuantLib's swap is on the variance of every moment; Tilewalk's is on that of the fixings that were said."""
    swap = asked.option
    dates = asked.dates("fixingDates")
    if dates[0] != swap.startDate() or dates[-1] != swap.maturityDate() or len(dates) < 2:
        _refuse(f"found fixingDates from {dates[0].ISO()} to {dates[-1].ISO()}, expected two at least, from the swap's start "
                f"{swap.startDate().ISO()} to its maturity {swap.maturityDate().ISO()}")
    years = (dates[-1] - dates[0]) / _DAYS_A_YEAR
    trade = {"product": "variance_swap", "underlying": asked.name(), "fixings": [d.ISO() for d in dates],
             "strike": swap.strike(), "strike_is": "variance", "annualisation": (len(dates) - 1) / years,
             "notional": swap.notional(), "quantity": 1.0 if swap.position() == ql.Position.Long else -1.0}
    return _Conveyed([trade], [dates[-1]])


@_reads("QuantoVanillaOption", needs=("foreignRiskFreeRate", "exchangeRateVolatility", "correlation",
                                      "foreign_currency"))
def _quanto(asked: _Asked) -> _Conveyed:
    """Paid in `currency`; the asset's own, `foreign_currency`, has the curve foreignRiskFreeRate."""
    exercise, maturity = _european(asked)
    payoff = _payoff(asked, "plain")
    trade = _on_one_day(payoff, maturity)
    trade.update(underlying=asked.name(), currency=asked.currency)
    again = ql.QuantoVanillaOption(payoff.held, exercise)
    return _Conveyed([trade], [maturity], payoff.strike, again)


# ----------------------------------------------------------------------------------------------------------------------
# Options on several assets


@_reads("BasketOption", needs=("payoff",), may=("a",))
def _basket(asked: _Asked) -> _Conveyed:
    exercise = _exercise(asked, ql.Exercise.European, ql.Exercise.Bermudan)
    held = asked.said["payoff"]
    kind = _class_of(held)
    kinds = {"MinBasketPayoff": "minimum", "MaxBasketPayoff": "maximum", "AverageBasketPayoff": "average",
             "SpreadBasketPayoff": "spread"}
    if kind not in kinds:
        _refuse(f"found a payoff of QuantLib's class {kind} for a BasketOption; known are {_listed(list(kinds))}")
    side, strike = _plain_inside(held)
    _expect_same_payoff(asked.option.payoff(), held, strike)
    count = len(asked.names)
    if kind != "AverageBasketPayoff":
        _expect_only(asked, "a", False, "the weights of an AverageBasketPayoff")
    elif "a" not in asked.said:
        _refuse("QuantLib does not tell the weights of its AverageBasketPayoff again; say what it was made with, "
                "from_option(..., a=[...])")
    elif len(asked.said["a"]) != count:
        _refuse(f"found {len(asked.said['a'])} weights for {count} assets, expected one for each")
    trade: dict[str, Any] = {"option": side, "strike": strike, "maturity": exercise.lastDate().ISO()}
    if exercise.type() == ql.Exercise.Bermudan:
        if kind not in ("MinBasketPayoff", "MaxBasketPayoff"):
            _refuse(f"found Bermudan exercise of a basket with a {kind}; known are MinBasketPayoff and MaxBasketPayoff")
        del trade["maturity"]
        trade.update(product="bermudan_basket", basket=asked.names, price=kinds[kind],
                     exercise_dates=[d.ISO() for d in exercise.dates() if asked.day(d) >= 0])
    elif kind == "SpreadBasketPayoff":
        if count != 2:
            _refuse(f"found {count} assets for a SpreadBasketPayoff, expected two: the first less the second")
        trade.update(product="spread", long_asset=asked.names[0], short_asset=asked.names[1])
    elif kind == "AverageBasketPayoff":
        trade.update(product="basket", basket=asked.names, weights=[float(one) for one in asked.said["a"]])
    else:
        trade.update(product="worst_of" if kind == "MinBasketPayoff" else "best_of", basket=asked.names)
    return _Conveyed([trade], [exercise.lastDate()], None, ql.BasketOption(_again(asked, held), exercise))


def _again(asked: _Asked, held: Any) -> Any:
    """An AverageBasketPayoff with the weights that were said; another payoff as it is."""
    if _class_of(held) != "AverageBasketPayoff":
        return held
    side, strike = _plain_inside(held)
    plain = ql.PlainVanillaPayoff(ql.Option.Call if side == "call" else ql.Option.Put, strike)
    return ql.AverageBasketPayoff(plain, ql.Array([float(one) for one in asked.said["a"]]))


@_reads("MargrabeOption", needs=("Q1", "Q2"))
def _margrabe(asked: _Asked) -> _Conveyed:
    exercise, maturity = _european(asked)
    if len(asked.names) != 2:
        _refuse(f"found {len(asked.names)} names of assets, expected two: the one received and the one given")
    trade = {"product": "exchange", "received_asset": asked.names[0], "given_asset": asked.names[1],
             "received_units": asked.number("Q1"), "given_units": asked.number("Q2"), "maturity": maturity.ISO()}
    return _Conveyed([trade], [maturity], None, ql.MargrabeOption(asked.said["Q1"], asked.said["Q2"], exercise))


# ----------------------------------------------------------------------------------------------------------------------
# Swaptions


@_reads("Swaption")
def _swaption(asked: _Asked) -> _Conveyed:
    """QuantLib tells all of a swaption. The swap has to be what Tilewalk's are: one curve, no spread, paid at the end
    of each period."""
    option, swap = asked.option, asked.option.underlying()
    if _class_of(asked.model) not in _RATES:
        _refuse(f"found a model of QuantLib's class {_class_of(asked.model)}; known for swaptions are {_listed(list(_RATES))}")
    exercise = _exercise(asked, ql.Exercise.European, ql.Exercise.Bermudan)
    methods = (ql.Settlement.PhysicalOTC, ql.Settlement.PhysicalCleared, ql.Settlement.CollateralizedCashPrice)
    if option.settlementMethod() not in methods:
        _refuse("found settlement by the par yield curve or a zero coupon curve; known is what the swap is worth: "
                "ql.Settlement.PhysicalOTC, PhysicalCleared and CollateralizedCashPrice")
    if swap.spread() != 0:
        _refuse(f"found a spread of {swap.spread()!r} over the floating rate; known are swaptions without")
    fixed = [ql.as_fixed_rate_coupon(flow) for flow in swap.fixedLeg()]
    floating = [ql.as_floating_rate_coupon(flow) for flow in swap.floatingLeg()]
    for leg, what in ((fixed, "fixed"), (floating, "floating")):
        if any(one is None for one in leg):
            _refuse(f"found a {what} leg with something else than its coupons; known are swaps without exchange of notionals")
        _expect_plain_leg(leg, what)
    begin, end = fixed[0].accrualStartDate(), fixed[-1].accrualEndDate()
    if (floating[0].accrualStartDate(), floating[-1].accrualEndDate()) != (begin, end):
        _refuse("found legs that do not begin and end on the same days; known are swaps whose legs do")
    nominal = fixed[0].nominal()
    if any(one.nominal() != nominal for one in fixed + floating):
        _refuse("found a notional that changes; known are swaps with one notional")
    days = [d for d in exercise.dates() if asked.day(d) >= 0]
    side = "payer" if swap.type() == ql.Swap.Payer else "receiver"
    trade: dict[str, Any] = {"option": side, "strike": swap.fixedRate(), "day_count": _day_count(fixed),
                             "payments": [one.date().ISO() for one in fixed], "notional": nominal,
                             "currency": asked.currency}
    if exercise.type() == ql.Exercise.European:
        trade.update(product="swaption", expiry=days[0].ISO(), begin=begin.ISO())
        if begin < days[0]:
            _refuse(f"found a swap that begins on {begin.ISO()}, before exercise on {days[0].ISO()}")
    else:
        starts = ({one.accrualStartDate().ISO() for one in fixed} & {one.accrualStartDate().ISO() for one in floating})
        for one in days:
            if one.ISO() not in starts:
                _refuse(f"found exercise on {one.ISO()}, on which no period of both legs begins; Tilewalk's swap accrues from "
                        "the day of exercise")
        trade.update(product="bermudan_swaption", exercise_dates=[one.ISO() for one in days])
    _expect_one_curve(asked, swap, end)
    return _Conveyed([trade], [fixed[-1].date()])


def _expect_plain_leg(leg: Sequence[Any], what: str) -> None:
    for earlier, later in zip(leg, leg[1:]):
        if later.accrualStartDate() != earlier.accrualEndDate():
            _refuse(f"found a gap before {later.accrualStartDate().ISO()} in the {what} leg; known are legs without")
    for one in leg:
        if one.date() != one.accrualEndDate():
            _refuse(f"found payment on {one.date().ISO()} of the {what} coupon that ends on {one.accrualEndDate().ISO()}; "
                    "known are legs that pay when a period ends")


def _day_count(fixed: Sequence[Any]) -> str:
    """The convention of Tilewalk's by which every coupon has the years that QuantLib counts."""
    known = {"act_365f": ql.Actual365Fixed(), "act_360": ql.Actual360(),
             "act_act": ql.ActualActual(ql.ActualActual.ISDA), "thirty_360": ql.Thirty360(ql.Thirty360.BondBasis)}
    for name, counter in known.items():
        if all(abs(counter.yearFraction(one.accrualStartDate(), one.accrualEndDate()) - one.accrualPeriod()) < 1e-14
               for one in fixed):
            return name
    _refuse(f"found coupons counted by {fixed[0].dayCounter().name()}, to which none of act_365f, act_360, act_act "
            "(ISDA) and thirty_360 (bond basis) comes to the same")


def _expect_one_curve(asked: _Asked, swap: Any, end: Any) -> None:
    forward = swap.iborIndex().forwardingTermStructure()
    discount = asked.model.termStructure()
    for day in range(0, asked.day(end) + 1):
        date = asked.today + day
        try:
            same = abs(math.log(forward.discount(date) / discount.discount(date))) <= asked.bound
        except RuntimeError as error:
            _refuse(f"the curve of the swap's index cannot be read: {error}")
        if not same:
            _refuse(f"found an index whose curve is not that of the model on {date.ISO()}; known are swaptions on one curve")


# ----------------------------------------------------------------------------------------------------------------------
# The market


_LOGNORMAL = ("BlackProcess", "BlackScholesMertonProcess", "BlackScholesProcess", "GarmanKohlagenProcess",
              "GeneralizedBlackScholesProcess")  # fmt: skip
_HESTON = ("BatesModel", "BatesProcess", "HestonModel", "HestonProcess")


def _market(asked: _Asked, conveyed: _Conveyed) -> dict[str, Any]:
    market: dict[str, Any] = {"as_of": asked.today.ISO(), "currencies": {}}
    name = _class_of(asked.option)
    if name == "Swaption":
        market["currencies"][asked.currency] = _moving_rates(asked)
        return market
    several = name in ("BasketOption", "MargrabeOption")
    if several and not (isinstance(asked.model, (list, tuple)) and len(asked.model) == len(asked.names)):
        _refuse(f"expected a list of processes for a {name}, one for each of {_listed(asked.names)} (underlying=): QuantLib's "
                "StochasticProcessArray does not tell its processes again")
    models = list(asked.model) if several else [asked.model]
    if not several and isinstance(asked.model, (list, tuple)):
        _refuse(f"found a list of processes, expected one for a {name}")
    assets = market["assets"] = {}
    curves = []
    for asset, model in zip(asked.names, models):
        assets[asset], discount = _asset(asked, conveyed, model)
        curves.append(discount)
    for curve in curves[1:]:
        if curve != curves[0]:
            _refuse("found processes with different riskFreeRates; expected one discount curve for all assets of an option")
    if len(assets) != len(models):
        _refuse(f"found a name of an asset twice among {_listed(asked.names)}")
    market["currencies"][asked.currency] = curves[0]
    if name == "QuantoVanillaOption":
        _quanto_market(asked, market)
    elif several:
        market["correlations"] = _correlations(asked)
    elif "correlation" in asked.said:
        _refuse(f"found a correlation, of which {name} knows nothing")
    return market


def _asset(asked: _Asked, conveyed: _Conveyed, model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """An asset as the market writes it, and the discount curve of its process."""
    name = _class_of(model)
    if name not in _LOGNORMAL + _HESTON:
        _refuse(f"found a model of QuantLib's class {name}; known for options on assets are "
                f"{', '.join(_LOGNORMAL + _HESTON)}")
    asset: dict[str, Any] = {"currency": asked.currency}
    if name in _LOGNORMAL:
        process = model
        asset["spot"] = process.stateVariable().value()
        asset.update(_volatility(asked, conveyed, process))
    else:
        process, asset["model"] = _heston(asked, model)
        asset["spot"] = process.s0().value()
        for term in ("smile", "surface_dates", "surface_strikes"):
            _expect_only(asked, term, False, "processes with a Black volatility")
    rate, dividends = process.riskFreeRate(), process.dividendYield()
    dividend = _curve(asked, dividends, "dividendYield")
    if dividend != {"rate": 0.0}:
        asset["dividend_yield"] = dividend.get("rate", dividend)
    return asset, _curve(asked, rate, "riskFreeRate")


def _curve(asked: _Asked, handle: Any, what: str) -> dict[str, Any]:
    """Discount factors whose logarithms are linear between the days that are written, as Tilewalk has them."""
    if handle.referenceDate() != asked.today:
        _refuse(f"found a {what} of {handle.referenceDate().ISO()}, expected one of {asked.today.ISO()}, QuantLib's "
                "evaluation date")
    try:
        factors = [handle.discount(asked.today + day) for day in range(asked.horizon + 1)]
    except RuntimeError as error:
        _refuse(f"the {what} cannot be read up to {(asked.today + asked.horizon).ISO()}: {error}")
    logarithms = [math.log(one) for one in factors]
    days = _nodes(logarithms, asked.bound)
    if len(days) == 1:
        return {"rate": _plain(-logarithms[-1] * _DAYS_A_YEAR / asked.horizon)}
    return {"discount_factors": {(asked.today + day).ISO(): factors[day] for day in days}}


def _plain(value: float) -> float:
    """Without the rounding of the last digits, which would make one number two for two horizons."""
    return round(value, 14) + 0.0


def _nodes(values: Sequence[float], bound: float) -> list[int]:
    """The days, up to the last, between which lines from value to value leave none by more than the bound."""
    found = [len(values) - 1]
    waiting = [(0, len(values) - 1)]
    while waiting:
        begin, end = waiting.pop()
        slope = (values[end] - values[begin]) / (end - begin)
        worst, farthest = begin, bound
        for day in range(begin + 1, end):
            gap = abs(values[day] - values[begin] - slope * (day - begin))
            if gap > farthest:
                worst, farthest = day, gap
        if worst > begin:
            found.append(worst)
            waiting += [(begin, worst), (worst, end)]
    return sorted(found)


def _clock(asked: _Asked, handle: Any, what: str) -> float:
    """Years of a curve's day count in a year of 365 days, which is one number for a count of days."""
    counter = handle.dayCounter()
    rates = [counter.yearFraction(asked.today, asked.today + day) * _DAYS_A_YEAR / day
             for day in range(1, asked.horizon + 1)]
    if max(rates) - min(rates) > 1e-12:
        _refuse(f"found a {what} whose time counts {counter.name()}; parameters of a model can be conveyed where time is a "
                "count of days, such as Actual/365 (Fixed) or Actual/360")
    return rates[-1]


def _heston(asked: _Asked, model: Any) -> tuple[Any, dict[str, Any]]:
    """The process of a model of Heston's or Bates's, and its parameters in years of 365 days.

    QuantLib's processes tell no parameters, but the models that it makes of them do.
    """
    name = _class_of(model)
    if name == "HestonProcess":
        model = ql.HestonModel(model)
    elif name == "BatesProcess":
        model = ql.BatesModel(model)
    jumps = name.startswith("Bates")
    process = model.process()
    clock = _clock(asked, process.riskFreeRate(), "riskFreeRate")
    terms = {"v0": model.v0() * clock, "kappa": model.kappa() * clock, "theta": model.theta() * clock,
             "sigma": model.sigma() * clock, "rho": model.rho()}
    if not jumps:
        return process, {"heston": terms}
    terms.update(jump_intensity=model.lambda_parameter() * clock, jump_mean=model.nu(), jump_sd=model.delta())
    return process, {"bates": terms}


def _volatility(asked: _Asked, conveyed: _Conveyed, process: Any) -> dict[str, Any]:
    """The volatility of a lognormal asset by term, or the local volatility of a surface."""
    handle, spot = process.blackVolatility(), process.stateVariable().value()
    if handle.referenceDate() != asked.today:
        _refuse(f"found a volatility of {handle.referenceDate().ISO()}, expected one of {asked.today.ISO()}, QuantLib's "
                "evaluation date")
    smile = asked.said.get("smile")
    if smile not in (None, "at_strike", "local_volatility"):
        _refuse(f"found smile={smile!r}, expected 'at_strike' or 'local_volatility'")
    if smile != "local_volatility":
        for term in ("surface_dates", "surface_strikes"):
            _expect_only(asked, term, False, "smile='local_volatility'")
    dates = [asked.today + day for day in sorted({max(1, asked.horizon * k // 12) for k in range(1, 13)})]
    try:
        smiles = any(not _same(handle.blackVol(d, spot * share, True), handle.blackVol(d, spot, True))
                     for d in dates for share in (0.5, 0.8, 0.95, 1.05, 1.25, 2.0))
        if smiles and smile is None:
            _refuse("found a volatility that depends on the strike. smile='at_strike' takes it at the strike of the option, as "
                    "QuantLib's analytic engines do; smile='local_volatility' with surface_dates and surface_strikes makes "
                    "paths that have the whole surface")
        if smile == "local_volatility":
            return _surface(asked, handle)
        if smiles and conveyed.strike is None:
            _refuse(f"found smile='at_strike' for a {_class_of(asked.option)}, which has no strike in money of one asset")
        strike = conveyed.strike if smiles and conveyed.strike is not None else spot
        if not smiles:
            _expect_own_local_volatility(process, handle, spot, dates)
        variances = [0.0] + [handle.blackVariance(asked.today + day, strike, True) for day in range(1, asked.horizon + 1)]
    except RuntimeError as error:
        _refuse(f"the volatility cannot be read up to {(asked.today + asked.horizon).ISO()}: {error}")
    return {"volatility": _by_term(asked, variances)}


def _by_term(asked: _Asked, variances: Sequence[float]) -> Any:
    """A number, or volatilities by date between which total variance is linear, as Tilewalk has them."""
    days = _nodes(variances, asked.bound)
    levels = {(asked.today + day).ISO(): _plain(math.sqrt(variances[day] * _DAYS_A_YEAR / day)) for day in days}
    return levels if len(days) > 1 else next(iter(levels.values()))


def _expect_own_local_volatility(process: Any, handle: Any, spot: float, dates: Iterable[Any]) -> None:
    """A process may have been given a local volatility that has nothing to do with its Black volatility."""
    local, step = process.localVolatility(), 1 / 365.0
    for date in dates:
        time = handle.timeFromReference(date)
        variance = (handle.blackVariance(time + step, spot, True) - handle.blackVariance(time, spot, True)) / step
        for share in (0.5, 1.0, 2.0):
            found = local.localVol(time, spot * share, True)
            if abs(found * found - variance) > 1e-6 * max(variance, 1e-4):
                _refuse(f"found a process with a local volatility of its own, {found:.6g} on {date.ISO()} where its Black "
                        f"volatility has {math.sqrt(variance):.6g}; known is the local volatility of the Black volatility")


def _surface(asked: _Asked, handle: Any) -> dict[str, Any]:
    """Black volatilities on a grid of dates and strikes, met on the grid; between them Tilewalk has its own lines."""
    if "surface_dates" not in asked.said or "surface_strikes" not in asked.said:
        _refuse("smile='local_volatility' needs surface_dates and surface_strikes: QuantLib does not tell where a surface has "
                "its quotes")
    strikes = [float(one) for one in asked.said["surface_strikes"]]
    quotes = {date.ISO(): {repr(strike): handle.blackVol(date, strike, True) for strike in strikes}
              for date in asked.dates("surface_dates")}
    return {"model": {"local_volatility": {"surface": {"by_strike": quotes}}}}


def _quanto_market(asked: _Asked, market: dict[str, Any]) -> None:
    foreign, asset = asked.said["foreign_currency"], asked.name()
    if foreign == asked.currency:
        _refuse(f"found {foreign} for both currencies of a quanto option, expected two")
    market["assets"][asset]["currency"] = foreign
    market["currencies"][foreign] = _curve(asked, asked.said["foreignRiskFreeRate"], "foreignRiskFreeRate")
    handle = asked.said["exchangeRateVolatility"]
    if any(not _same(handle.blackVol(asked.today + asked.horizon, rate, True),
                     handle.blackVol(asked.today + asked.horizon, 1.0, True)) for rate in (0.5, 2.0)):
        _refuse("found an exchangeRateVolatility that depends on the strike; known is one by term")
    variances = [0.0] + [handle.blackVariance(asked.today + day, 1.0, True) for day in range(1, asked.horizon + 1)]
    pair = foreign + asked.currency
    market["fx"] = {pair: {"rate": 1.0, "volatility": _by_term(asked, variances)}}
    market["correlations"] = [[asset, pair, asked.number("correlation")]]


def _correlations(asked: _Asked) -> list[list[Any]]:
    """Pairs of assets, from a matrix or from the StochasticProcessArray that was given one."""
    held = asked.said.get("correlation")
    count = len(asked.names)
    if held is None:
        _refuse("QuantLib's processes do not tell their correlation; say it: correlation=, a matrix, the "
                "StochasticProcessArray that was made with one, or a number for two assets")
    if isinstance(held, ql.StochasticProcessArray):
        # Covariances over a day, as QuantLib's arrays have them, hold the correlation.
        covariance = held.covariance(0.0, held.initialValues(), 1 / 365.0)
        size = covariance.rows()
        rows = [[covariance[i][j] / math.sqrt(covariance[i][i] * covariance[j][j]) for j in range(size)]
                for i in range(size)]
    elif isinstance(held, (int, float)) and count == 2:
        rows = [[1.0, float(held)], [float(held), 1.0]]
    elif isinstance(held, ql.Matrix):
        rows = [[held[i][j] for j in range(held.columns())] for i in range(held.rows())]
    else:
        try:
            rows = [[float(one) for one in row] for row in held]
        except TypeError:
            _refuse(f"found correlation={held!r}, expected a matrix, a StochasticProcessArray, or a number for two assets")
    if len(rows) != count or any(len(row) != count for row in rows):
        _refuse(f"found a correlation of {len(rows)} rows for {count} assets, expected {count} rows of {count}")
    for i in range(count):
        if abs(rows[i][i] - 1) > 1e-12 or any(abs(rows[i][j] - rows[j][i]) > 1e-12 for j in range(i)):
            _refuse("found a correlation that is no symmetric matrix with ones on its diagonal")
    return [[asked.names[j], asked.names[i], rows[i][j]] for i in range(count) for j in range(i)]


def _hull_white(parameters: Sequence[float], clock: float) -> dict[str, Any]:
    reversion, volatility = parameters
    return {"hull_white": {"mean_reversion": reversion * clock, "volatility": volatility * clock**1.5}}


def _g2(parameters: Sequence[float], clock: float) -> dict[str, Any]:
    a, sigma, b, eta, rho = parameters
    return {"g2": {"a": a * clock, "sigma": sigma * clock**1.5, "b": b * clock, "eta": eta * clock**1.5, "rho": rho}}


_RATES = {"HullWhite": _hull_white, "G2": _g2}


def _moving_rates(asked: _Asked) -> dict[str, Any]:
    """A currency whose rates move, in years of 365 days."""
    curve = asked.model.termStructure()
    clock = _clock(asked, curve, "termStructure")
    moves = _RATES[_class_of(asked.model)](list(asked.model.params()), clock)
    return {**_curve(asked, curve, "termStructure"), "model": moves}
