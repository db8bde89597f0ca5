# SPDX-License-Identifier: Apache-2.0
"""Readers of QuantLib's options: the supported classes and the trades that they become."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import QuantLib as ql

from .quantlib_asked import DAYS_A_YEAR, Asked, Conveyed, class_of, expect_only, listed, reads, refuse
from .quantlib_market import RATES

# ------------------------------------------------------------------------------------------------------------
# Payoffs and exercise


@dataclasses.dataclass(frozen=True)
class _Payoff:
    """A payoff of one price in plain terms; `held` fits QuantLib's constructors."""

    kind: str  # plain, cash, asset or gap
    option: str
    strike: float
    held: Any
    cash: float = 0.0
    paid_for: float = 0.0  # a gap's second strike


_PAYOFFS = {
    "PlainVanillaPayoff": "plain",
    "CashOrNothingPayoff": "cash",
    "AssetOrNothingPayoff": "asset",
    "GapPayoff": "gap",
}
_SIDES = {ql.Option.Call: "call", ql.Option.Put: "put"}


def _payoff(asked: Asked, *kinds: str) -> _Payoff:
    """The payoff of an option on one price. QuantLib reveals a plain one; others must be given."""
    own = asked.option.payoff()
    said = asked.said.get("payoff")
    held = ql.as_plain_vanilla_payoff(own) if said is None else said
    if held is None:
        refuse(
            "QuantLib does not tell what the payoff of this option is, only that it is no PlainVanillaPayoff;"
            " say it, from_option(..., payoff=), by the object that the option was made with"
        )
    kind = _PAYOFFS.get(class_of(held))
    known = [name for name, of in _PAYOFFS.items() if of in kinds]
    if kind not in kinds:
        refuse(
            f"found a payoff of QuantLib's class {class_of(held)}; known for a {class_of(asked.option)} "
            f"are {listed(known)}"
        )
    side, strike = _SIDES[held.optionType()], float(held.strike())
    _expect_same_payoff(own, held, strike)
    inside = strike * (2.0 if side == "call" else 0.5) if strike > 0 else 1.0
    cash = float(held(inside)) if kind == "cash" else 0.0
    # A gap call pays price - second strike, a gap put the reverse: find the second strike from one payment.
    paid_for = inside - held(inside) if side == "call" else inside + held(inside)
    return _Payoff(str(kind), side, strike, held, cash, paid_for)


def _expect_same_payoff(own: Any, said: Any, strike: float) -> None:
    """Checks that the given payoff equals the option's own at prices around the strike and far from it."""
    for share in (0.0, 0.25, 0.5, 1 - 1e-9, 1.0, 1 + 1e-9, 1.5, 2.0, 8.0):
        price = share * (strike or 1.0)
        if own(price) != said(price):
            refuse(
                f"the payoff that was said pays {said(price)!r} at a price of {price!r}, that of the option "
                f"{own(price)!r}"
            )


def _plain_inside(payoff: Any) -> tuple[str, float]:
    """Option type and strike of the plain payoff inside a basket payoff, from its values.

    A put pays its strike at price 0. A call's strike follows from a price within a factor of two of it, where the
    difference is exact.
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
        if not side or not math.isclose(
            payoff(price), max(sign * (price - strike), 0.0), rel_tol=1e-12, abs_tol=1e-300
        ):
            refuse("the payoff within that of the basket is no PlainVanillaPayoff; only those are known")
    return side, strike


def _exercise(asked: Asked, *known: int) -> Any:
    """The exercise of an option; its last day must not be past."""
    held = asked.option.exercise()
    names = {
        ql.Exercise.European: "European",
        ql.Exercise.American: "American",
        ql.Exercise.Bermudan: "Bermudan",
    }
    if held.type() not in known:
        refuse(
            f"found {names.get(held.type(), 'another')} exercise of a {class_of(asked.option)}; known is "
            f"{listed([names[one] for one in known])}"
        )
    if asked.day(held.lastDate()) <= 0:
        refuse(
            f"found {held.lastDate().ISO()} for the last day of exercise, which is not after"
            f" {asked.today.ISO()}"
        )
    return held


def _european(asked: Asked) -> tuple[Any, Any]:
    held = _exercise(asked, ql.Exercise.European)
    return held, held.lastDate()


# ------------------------------------------------------------------------------------------------------------
# Options on one asset


@reads("VanillaOption", "EuropeanOption", may=("payoff", "payoffAtExpiry", "exercise_step"))
def _vanilla(asked: Asked) -> Conveyed:
    exercise = _exercise(asked, ql.Exercise.European, ql.Exercise.American, ql.Exercise.Bermudan)
    early = exercise.type() != ql.Exercise.European
    payoff = _payoff(asked, *(("plain", "cash", "asset") if early else ("plain", "cash", "asset", "gap")))
    trade: dict[str, Any]
    if not early:
        expect_only(asked, "exercise_step", early, "American exercise")
        expect_only(asked, "payoffAtExpiry", early, "American exercise")
        trade = _on_one_day(payoff, exercise.lastDate())
    elif payoff.kind != "plain":
        trade = _touch(asked, payoff, exercise)
    elif asked.said.get("payoffAtExpiry"):
        refuse(
            "found payoffAtExpiry=True; early exercise that pays later is known of cash and assets at a touch"
            " only"
        )
    elif exercise.type() == ql.Exercise.American:
        if "exercise_step" not in asked.said:
            refuse(
                "an American option is exercised on days of Tilewalk's; say how many years lie between two,"
                " such as exercise_step=0.02: the fewer days, the less is it worth"
            )
        first = max(asked.day(exercise.dates()[0]), 0)
        trade = {
            "product": "american",
            "underlying": asked.name(),
            "option": payoff.option,
            "strike": payoff.strike,
            "maturity": exercise.lastDate().ISO(),
            "exercise_step": asked.number("exercise_step"),
        }
        if first > 0:
            trade["exercise_start"] = exercise.dates()[0].ISO()
    else:
        expect_only(asked, "exercise_step", False, "American exercise")
        days = [d.ISO() for d in exercise.dates() if asked.day(d) >= 0]
        trade = {
            "product": "bermudan_basket",
            "basket": [asked.name()],
            "option": payoff.option,
            "strike": payoff.strike,
            "exercise_dates": days,
        }
    if "basket" not in trade:
        trade["underlying"] = asked.name()
    return Conveyed([trade], [exercise.lastDate()], payoff.strike, ql.VanillaOption(payoff.held, exercise))


def _on_one_day(payoff: _Payoff, maturity: Any) -> dict[str, Any]:
    """A trade with this payoff of one price on one day."""
    terms: dict[str, Any] = {"option": payoff.option, "strike": payoff.strike, "maturity": maturity.ISO()}
    if payoff.kind == "plain":
        return {"product": "european", **terms}
    if payoff.kind == "cash":
        return {"product": "digital", **terms, "pays": "cash", "payout": payoff.cash}
    if payoff.kind == "asset":
        return {"product": "digital", **terms, "pays": "asset"}
    return {"product": "gap_option", **terms, "strike": payoff.paid_for, "trigger": payoff.strike}


def _touch(asked: Asked, payoff: _Payoff, exercise: Any) -> dict[str, Any]:
    """An American digital: pays on touching the strike, at once or on the last day."""
    if exercise.type() != ql.Exercise.American or asked.day(exercise.dates()[0]) > 0:
        refuse(
            "found a digital payoff with early exercise that begins later or on some days only; known is "
            "AmericanExercise from today on"
        )
    if "payoffAtExpiry" not in asked.said:
        refuse(
            "QuantLib does not tell payoffAtExpiry of an AmericanExercise again; say what it was made with, "
            "from_option(..., payoffAtExpiry=...)"
        )
    expect_only(asked, "exercise_step", False, "an American option with a plain payoff")
    trade = {
        "product": "one_touch",
        "direction": "up" if payoff.option == "call" else "down",
        "barrier": payoff.strike,
        "pays": payoff.kind,
        "maturity": exercise.lastDate().ISO(),
        "paid": "at_expiry" if asked.said["payoffAtExpiry"] else "at_hit",
    }
    return {**trade, "payout": payoff.cash} if payoff.kind == "cash" else trade


@reads("BarrierOption", needs=("barrierType", "barrier", "rebate"), may=("payoff",))
def _barrier(asked: Asked) -> Conveyed:
    exercise, maturity = _european(asked)
    payoff = _payoff(asked, "plain")
    types = {
        ql.Barrier.DownIn: ("down", "knock_in"),
        ql.Barrier.UpIn: ("up", "knock_in"),
        ql.Barrier.DownOut: ("down", "knock_out"),
        ql.Barrier.UpOut: ("up", "knock_out"),
    }
    direction, kind = asked.choice("barrierType", types, "ql.Barrier.DownIn, UpIn, DownOut and UpOut")
    barrier, rebate = asked.number("barrier"), asked.number("rebate")
    trade = {
        "product": "barrier",
        "underlying": asked.name(),
        "option": payoff.option,
        "strike": payoff.strike,
        "maturity": maturity.ISO(),
        "direction": direction,
        "kind": kind,
        "barrier": barrier,
        "rebate": rebate,
    }
    if kind == "knock_out":
        trade["rebate_paid"] = "at_hit"  # as QuantLib's engines assume
    again = ql.BarrierOption(asked.said["barrierType"], barrier, rebate, payoff.held, exercise)
    return Conveyed([trade], [maturity], payoff.strike, again)


@reads(
    "DoubleBarrierOption",
    needs=("barrierType", "barrier_lo", "barrier_hi", "rebate"),
    may=("payoff", "rebate_paid"),
)
def _double_barrier(asked: Asked) -> Conveyed:
    exercise, maturity = _european(asked)
    payoff = _payoff(asked, "plain")
    types = {ql.DoubleBarrier.KnockIn: "knock_in", ql.DoubleBarrier.KnockOut: "knock_out"}
    kind = asked.choice("barrierType", types, "ql.DoubleBarrier.KnockIn and KnockOut")
    low, high, rebate = asked.number("barrier_lo"), asked.number("barrier_hi"), asked.number("rebate")
    trade = {
        "product": "double_barrier",
        "underlying": asked.name(),
        "option": payoff.option,
        "strike": payoff.strike,
        "maturity": maturity.ISO(),
        "kind": kind,
        "lower": low,
        "upper": high,
    }
    if rebate != 0:
        if kind == "knock_out" and "rebate_paid" not in asked.said:
            refuse(
                "QuantLib's engines do not agree on when a rebate is paid that two barriers knock out; say"
                " it, rebate_paid='at_hit' or rebate_paid='at_expiry'"
            )
        trade["rebate"] = rebate
    if kind == "knock_out" and "rebate_paid" in asked.said:
        trade["rebate_paid"] = asked.said["rebate_paid"]
    again = ql.DoubleBarrierOption(asked.said["barrierType"], low, high, rebate, payoff.held, exercise)
    return Conveyed([trade], [maturity], payoff.strike, again)


@reads(
    "DiscreteAveragingAsianOption",
    needs=("averageType", "fixingDates"),
    may=("runningAccumulator", "pastFixings", "allPastFixings"),
)
def _asian(asked: Asked) -> Conveyed:
    exercise, maturity = _european(asked)
    payoff = _payoff(asked, "plain")
    means = {ql.Average.Arithmetic: "arithmetic", ql.Average.Geometric: "geometric"}
    mean = asked.choice("averageType", means, "ql.Average.Arithmetic and Geometric")
    dates = asked.dates("fixingDates")
    if dates[-1] != maturity:
        refuse(
            f"found the last fixing on {dates[-1].ISO()} and payment on {maturity.ISO()}; Tilewalk's asian"
            " pays on the last fixing"
        )
    if ("runningAccumulator" in asked.said) != ("pastFixings" in asked.said):
        refuse("runningAccumulator and pastFixings go together; say both or neither")
    if "allPastFixings" in asked.said and "pastFixings" in asked.said:
        refuse("found allPastFixings and pastFixings; say the one that the option was made with")
    trade = {
        "product": "asian",
        "underlying": asked.name(),
        "option": payoff.option,
        "mean": mean,
        "strike": payoff.strike,
        "averaging_dates": [d.ISO() for d in dates],
    }
    if "pastFixings" in asked.said:
        count, so_far = int(asked.number("pastFixings")), asked.number("runningAccumulator")
        again = ql.DiscreteAveragingAsianOption(
            asked.said["averageType"], so_far, count, dates, payoff.held, exercise
        )
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
    return Conveyed([trade], [maturity], payoff.strike, again)


@reads("ForwardVanillaOption", needs=("moneyness", "resetDate"))
def _forward_start(asked: Asked) -> Conveyed:
    exercise, maturity = _european(asked)
    payoff = _payoff(asked, "plain")
    trade = _started_forward(
        asked, payoff.option, asked.number("moneyness"), asked.said["resetDate"], maturity
    )
    again = ql.ForwardVanillaOption(asked.number("moneyness"), asked.said["resetDate"], payoff.held, exercise)
    return Conveyed([trade], [maturity], None, again)


def _started_forward(asked: Asked, side: str, share: float, reset: Any, maturity: Any) -> dict[str, Any]:
    if not 0 <= asked.day(reset) < asked.day(maturity):
        refuse(
            f"found a strike that is set on {reset.ISO()}, expected a day from {asked.today.ISO()} on and"
            f" before {maturity.ISO()}"
        )
    return {
        "product": "forward_start",
        "underlying": asked.name(),
        "option": side,
        "strike_date": reset.ISO(),
        "strike_factor": share,
        "maturity": maturity.ISO(),
    }


@reads("CliquetOption", needs=("payoff", "resetDates"))
def _cliquet(asked: Asked) -> Conveyed:
    """QuantLib's cliquet is a series of options, each struck at the price at which the previous one ends."""
    exercise, maturity = _european(asked)
    held = asked.said["payoff"]
    if class_of(held) != "PercentageStrikePayoff":
        refuse(
            f"found a payoff of QuantLib's class {class_of(held)} for a CliquetOption; known is "
            "PercentageStrikePayoff"
        )
    dates = asked.dates("resetDates")
    side = _SIDES[held.optionType()]
    trades = [
        _started_forward(asked, side, float(held.strike()), begin, end)
        for begin, end in zip(dates, [*dates[1:], maturity])
    ]
    again = ql.CliquetOption(held, ql.EuropeanExercise(maturity), dates)
    return Conveyed(trades, [maturity], None, again)


@reads("VarianceSwap", needs=("fixingDates",))
def _variance_swap(asked: Asked) -> Conveyed:
    """QuantLib's swap has continuously observed variance; Tilewalk's uses the given fixings."""
    swap = asked.option
    dates = asked.dates("fixingDates")
    if dates[0] != swap.startDate() or dates[-1] != swap.maturityDate() or len(dates) < 2:
        refuse(
            f"found fixingDates from {dates[0].ISO()} to {dates[-1].ISO()}, expected two at least, from the"
            f" swap's start {swap.startDate().ISO()} to its maturity {swap.maturityDate().ISO()}"
        )
    years = (dates[-1] - dates[0]) / DAYS_A_YEAR
    trade = {
        "product": "variance_swap",
        "underlying": asked.name(),
        "fixings": [d.ISO() for d in dates],
        "strike": swap.strike(),
        "strike_is": "variance",
        "annualisation": (len(dates) - 1) / years,
        "notional": swap.notional(),
        "quantity": 1.0 if swap.position() == ql.Position.Long else -1.0,
    }
    return Conveyed([trade], [dates[-1]])


@reads(
    "QuantoVanillaOption",
    needs=("foreignRiskFreeRate", "exchangeRateVolatility", "correlation", "foreign_currency"),
)
def _quanto(asked: Asked) -> Conveyed:
    """Pays in `currency`; the asset's `foreign_currency` has the curve foreignRiskFreeRate."""
    exercise, maturity = _european(asked)
    payoff = _payoff(asked, "plain")
    trade = _on_one_day(payoff, maturity)
    trade.update(underlying=asked.name(), currency=asked.currency)
    again = ql.QuantoVanillaOption(payoff.held, exercise)
    return Conveyed([trade], [maturity], payoff.strike, again)


# ------------------------------------------------------------------------------------------------------------
# Options on several assets


@reads("BasketOption", needs=("payoff",), may=("a",))
def _basket(asked: Asked) -> Conveyed:
    exercise = _exercise(asked, ql.Exercise.European, ql.Exercise.Bermudan)
    held = asked.said["payoff"]
    kind = class_of(held)
    kinds = {
        "MinBasketPayoff": "minimum",
        "MaxBasketPayoff": "maximum",
        "AverageBasketPayoff": "average",
        "SpreadBasketPayoff": "spread",
    }
    if kind not in kinds:
        refuse(
            f"found a payoff of QuantLib's class {kind} for a BasketOption; known are {listed(list(kinds))}"
        )
    side, strike = _plain_inside(held)
    _expect_same_payoff(asked.option.payoff(), held, strike)
    count = len(asked.names)
    if kind != "AverageBasketPayoff":
        expect_only(asked, "a", False, "the weights of an AverageBasketPayoff")
    elif "a" not in asked.said:
        refuse(
            "QuantLib does not tell the weights of its AverageBasketPayoff again; say what it was made with, "
            "from_option(..., a=[...])"
        )
    elif len(asked.said["a"]) != count:
        refuse(f"found {len(asked.said['a'])} weights for {count} assets, expected one for each")
    trade: dict[str, Any] = {"option": side, "strike": strike, "maturity": exercise.lastDate().ISO()}
    if exercise.type() == ql.Exercise.Bermudan:
        if kind not in ("MinBasketPayoff", "MaxBasketPayoff"):
            refuse(
                f"found Bermudan exercise of a basket with a {kind}; known are MinBasketPayoff and"
                " MaxBasketPayoff"
            )
        del trade["maturity"]
        trade.update(
            product="bermudan_basket",
            basket=asked.names,
            price=kinds[kind],
            exercise_dates=[d.ISO() for d in exercise.dates() if asked.day(d) >= 0],
        )
    elif kind == "SpreadBasketPayoff":
        if count != 2:
            refuse(f"found {count} assets for a SpreadBasketPayoff, expected two: the first less the second")
        trade.update(product="spread", long_asset=asked.names[0], short_asset=asked.names[1])
    elif kind == "AverageBasketPayoff":
        trade.update(product="basket", basket=asked.names, weights=[float(one) for one in asked.said["a"]])
    else:
        trade.update(product="worst_of" if kind == "MinBasketPayoff" else "best_of", basket=asked.names)
    return Conveyed([trade], [exercise.lastDate()], None, ql.BasketOption(_again(asked, held), exercise))


def _again(asked: Asked, held: Any) -> Any:
    """An AverageBasketPayoff with the given weights; other payoffs unchanged."""
    if class_of(held) != "AverageBasketPayoff":
        return held
    side, strike = _plain_inside(held)
    plain = ql.PlainVanillaPayoff(ql.Option.Call if side == "call" else ql.Option.Put, strike)
    return ql.AverageBasketPayoff(plain, ql.Array([float(one) for one in asked.said["a"]]))


@reads("MargrabeOption", needs=("Q1", "Q2"))
def _margrabe(asked: Asked) -> Conveyed:
    exercise, maturity = _european(asked)
    if len(asked.names) != 2:
        refuse(f"found {len(asked.names)} names of assets, expected two: the one received and the one given")
    trade = {
        "product": "exchange",
        "received_asset": asked.names[0],
        "given_asset": asked.names[1],
        "received_units": asked.number("Q1"),
        "given_units": asked.number("Q2"),
        "maturity": maturity.ISO(),
    }
    return Conveyed(
        [trade], [maturity], None, ql.MargrabeOption(asked.said["Q1"], asked.said["Q2"], exercise)
    )


# ------------------------------------------------------------------------------------------------------------
# Swaptions


@reads("Swaption")
def _swaption(asked: Asked) -> Conveyed:
    """QuantLib reveals all of a swaption. Its swap has to be like Tilewalk's: one curve, no spread, payments at the end
    of each period."""
    option, swap = asked.option, asked.option.underlying()
    if class_of(asked.model) not in RATES:
        refuse(
            f"found a model of QuantLib's class {class_of(asked.model)}; known for swaptions are"
            f" {listed(list(RATES))}"
        )
    exercise = _exercise(asked, ql.Exercise.European, ql.Exercise.Bermudan)
    methods = (
        ql.Settlement.PhysicalOTC,
        ql.Settlement.PhysicalCleared,
        ql.Settlement.CollateralizedCashPrice,
    )
    if option.settlementMethod() not in methods:
        refuse(
            "found settlement by the par yield curve or a zero coupon curve; known is what the swap is worth:"
            " ql.Settlement.PhysicalOTC, PhysicalCleared and CollateralizedCashPrice"
        )
    if swap.spread() != 0:
        refuse(f"found a spread of {swap.spread()!r} over the floating rate; known are swaptions without")
    fixed = [ql.as_fixed_rate_coupon(flow) for flow in swap.fixedLeg()]
    floating = [ql.as_floating_rate_coupon(flow) for flow in swap.floatingLeg()]
    for leg, what in ((fixed, "fixed"), (floating, "floating")):
        if any(one is None for one in leg):
            refuse(
                f"found a {what} leg with something else than its coupons; known are swaps without exchange"
                " of notionals"
            )
        _expect_plain_leg(leg, what)
    begin, end = fixed[0].accrualStartDate(), fixed[-1].accrualEndDate()
    if (floating[0].accrualStartDate(), floating[-1].accrualEndDate()) != (begin, end):
        refuse("found legs that do not begin and end on the same days; known are swaps whose legs do")
    nominal = fixed[0].nominal()
    if any(one.nominal() != nominal for one in fixed + floating):
        refuse("found a notional that changes; known are swaps with one notional")
    days = [d for d in exercise.dates() if asked.day(d) >= 0]
    side = "payer" if swap.type() == ql.Swap.Payer else "receiver"
    trade: dict[str, Any] = {
        "option": side,
        "strike": swap.fixedRate(),
        "day_count": _day_count(fixed),
        "payments": [one.date().ISO() for one in fixed],
        "notional": nominal,
        "currency": asked.currency,
    }
    if exercise.type() == ql.Exercise.European:
        trade.update(product="swaption", expiry=days[0].ISO(), begin=begin.ISO())
        if begin < days[0]:
            refuse(f"found a swap that begins on {begin.ISO()}, before exercise on {days[0].ISO()}")
    else:
        starts = {one.accrualStartDate().ISO() for one in fixed} & {
            one.accrualStartDate().ISO() for one in floating
        }
        for one in days:
            if one.ISO() not in starts:
                refuse(
                    f"found exercise on {one.ISO()}, on which no period of both legs begins; Tilewalk's swap"
                    " accrues from the day of exercise"
                )
        trade.update(product="bermudan_swaption", exercise_dates=[one.ISO() for one in days])
    _expect_one_curve(asked, swap, end)
    return Conveyed([trade], [fixed[-1].date()])


def _expect_plain_leg(leg: Sequence[Any], what: str) -> None:
    for earlier, later in zip(leg, leg[1:]):
        if later.accrualStartDate() != earlier.accrualEndDate():
            refuse(
                f"found a gap before {later.accrualStartDate().ISO()} in the {what} leg; known are legs"
                " without"
            )
    for one in leg:
        if one.date() != one.accrualEndDate():
            refuse(
                f"found payment on {one.date().ISO()} of the {what} coupon that ends on"
                f" {one.accrualEndDate().ISO()}; known are legs that pay when a period ends"
            )


def _day_count(fixed: Sequence[Any]) -> str:
    """Tilewalk's day count that gives every coupon QuantLib's years."""
    known = {
        "act_365f": ql.Actual365Fixed(),
        "act_360": ql.Actual360(),
        "act_act": ql.ActualActual(ql.ActualActual.ISDA),
        "thirty_360": ql.Thirty360(ql.Thirty360.BondBasis),
    }
    for name, counter in known.items():
        if all(
            abs(counter.yearFraction(one.accrualStartDate(), one.accrualEndDate()) - one.accrualPeriod())
            < 1e-14
            for one in fixed
        ):
            return name
    refuse(
        f"found coupons counted by {fixed[0].dayCounter().name()}, to which none of act_365f, act_360,"
        " act_act (ISDA) and thirty_360 (bond basis) comes to the same"
    )


def _expect_one_curve(asked: Asked, swap: Any, end: Any) -> None:
    forward = swap.iborIndex().forwardingTermStructure()
    discount = asked.model.termStructure()
    for day in range(0, asked.day(end) + 1):
        date = asked.today + day
        try:
            same = abs(math.log(forward.discount(date) / discount.discount(date))) <= asked.bound
        except RuntimeError as error:
            refuse(f"the curve of the swap's index cannot be read: {error}")
        if not same:
            refuse(
                f"found an index whose curve is not that of the model on {date.ISO()}; known are swaptions on"
                " one curve"
            )
