# SPDX-License-Identifier: Apache-2.0
"""The market of a book, from QuantLib's processes and models: curves, volatilities, correlations and rates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import QuantLib as ql

from .quantlib_asked import DAYS_A_YEAR, Asked, Conveyed, class_of, expect_only, listed, refuse, same

LOGNORMAL = (
    "BlackProcess",
    "BlackScholesMertonProcess",
    "BlackScholesProcess",
    "GarmanKohlagenProcess",
    "GeneralizedBlackScholesProcess",
)
HESTON = ("BatesModel", "BatesProcess", "HestonModel", "HestonProcess")


def market_of(asked: Asked, conveyed: Conveyed) -> dict[str, Any]:
    market: dict[str, Any] = {"as_of": asked.today.ISO(), "currencies": {}}
    name = class_of(asked.option)
    if name == "Swaption":
        market["currencies"][asked.currency] = _moving_rates(asked)
        return market
    several = name in ("BasketOption", "MargrabeOption")
    if several and not (isinstance(asked.model, (list, tuple)) and len(asked.model) == len(asked.names)):
        refuse(
            f"expected a list of processes for a {name}, one for each of {listed(asked.names)}"
            " (underlying=): QuantLib's StochasticProcessArray does not tell its processes again"
        )
    models = list(asked.model) if several else [asked.model]
    if not several and isinstance(asked.model, (list, tuple)):
        refuse(f"found a list of processes, expected one for a {name}")
    assets = market["assets"] = {}
    curves = []
    for asset, model in zip(asked.names, models):
        assets[asset], discount = _asset(asked, conveyed, model)
        curves.append(discount)
    for curve in curves[1:]:
        if curve != curves[0]:
            refuse(
                "found processes with different riskFreeRates; expected one discount curve for all assets of"
                " an option"
            )
    if len(assets) != len(models):
        refuse(f"found a name of an asset twice among {listed(asked.names)}")
    market["currencies"][asked.currency] = curves[0]
    if name == "QuantoVanillaOption":
        _quanto_market(asked, market)
    elif several:
        market["correlations"] = _correlations(asked)
    elif "correlation" in asked.said:
        refuse(f"found a correlation, of which {name} knows nothing")
    return market


def _asset(asked: Asked, conveyed: Conveyed, model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """An asset in market form, and the discount curve of its process."""
    name = class_of(model)
    if name not in LOGNORMAL + HESTON:
        refuse(
            f"found a model of QuantLib's class {name}; known for options on assets are "
            f"{', '.join(LOGNORMAL + HESTON)}"
        )
    asset: dict[str, Any] = {"currency": asked.currency}
    if name in LOGNORMAL:
        process = model
        asset["spot"] = process.stateVariable().value()
        asset.update(_volatility(asked, conveyed, process))
    else:
        process, asset["model"] = _heston(asked, model)
        asset["spot"] = process.s0().value()
        for term in ("smile", "surface_dates", "surface_strikes"):
            expect_only(asked, term, False, "processes with a Black volatility")
    rate, dividends = process.riskFreeRate(), process.dividendYield()
    dividend = _curve(asked, dividends, "dividendYield")
    if dividend != {"rate": 0.0}:
        asset["dividend_yield"] = dividend.get("rate", dividend)
    return asset, _curve(asked, rate, "riskFreeRate")


def _curve(asked: Asked, handle: Any, what: str) -> dict[str, Any]:
    """Discount factors at days chosen such that log-linear interpolation, as in Tilewalk, is accurate."""
    if handle.referenceDate() != asked.today:
        refuse(
            f"found a {what} of {handle.referenceDate().ISO()}, expected one of {asked.today.ISO()},"
            " QuantLib's evaluation date"
        )
    try:
        factors = [handle.discount(asked.today + day) for day in range(asked.horizon + 1)]
    except RuntimeError as error:
        refuse(f"the {what} cannot be read up to {(asked.today + asked.horizon).ISO()}: {error}")
    logarithms = [math.log(one) for one in factors]
    days = _nodes(logarithms, asked.bound)
    if len(days) == 1:
        return {"rate": _plain(-logarithms[-1] * DAYS_A_YEAR / asked.horizon)}
    return {"discount_factors": {(asked.today + day).ISO(): factors[day] for day in days}}


def _plain(value: float) -> float:
    """Rounds the last digits, so that two horizons give the same number."""
    return float(round(value, 14)) + 0.0


def _nodes(values: Sequence[float], bound: float) -> list[int]:
    """Days, including the last, such that linear interpolation misses no value by more than the bound."""
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


def _clock(asked: Asked, handle: Any, what: str) -> float:
    """Years of a curve's day count in 365 days, a constant for day counts that count days."""
    counter = handle.dayCounter()
    rates = [
        counter.yearFraction(asked.today, asked.today + day) * DAYS_A_YEAR / day
        for day in range(1, asked.horizon + 1)
    ]
    if max(rates) - min(rates) > 1e-12:
        refuse(
            f"found a {what} whose time counts {counter.name()}; parameters of a model can be conveyed where"
            " time is a count of days, such as Actual/365 (Fixed) or Actual/360"
        )
    return float(rates[-1])


def _heston(asked: Asked, model: Any) -> tuple[Any, dict[str, Any]]:
    """The process of a Heston or Bates model, and its parameters in years of 365 days.

    QuantLib's processes hide their parameters; models made of them do not.
    """
    name = class_of(model)
    if name == "HestonProcess":
        model = ql.HestonModel(model)
    elif name == "BatesProcess":
        model = ql.BatesModel(model)
    jumps = name.startswith("Bates")
    process = model.process()
    clock = _clock(asked, process.riskFreeRate(), "riskFreeRate")
    terms = {
        "v0": model.v0() * clock,
        "kappa": model.kappa() * clock,
        "theta": model.theta() * clock,
        "sigma": model.sigma() * clock,
        "rho": model.rho(),
    }
    if not jumps:
        return process, {"heston": terms}
    terms.update(jump_intensity=model.lambda_parameter() * clock, jump_mean=model.nu(), jump_sd=model.delta())
    return process, {"bates": terms}


def _volatility(asked: Asked, conveyed: Conveyed, process: Any) -> dict[str, Any]:
    """The volatility of a lognormal asset by term, or the local volatility of a surface."""
    handle, spot = process.blackVolatility(), process.stateVariable().value()
    if handle.referenceDate() != asked.today:
        refuse(
            f"found a volatility of {handle.referenceDate().ISO()}, expected one of {asked.today.ISO()},"
            " QuantLib's evaluation date"
        )
    smile = asked.said.get("smile")
    if smile not in (None, "at_strike", "local_volatility"):
        refuse(f"found smile={smile!r}, expected 'at_strike' or 'local_volatility'")
    if smile != "local_volatility":
        for term in ("surface_dates", "surface_strikes"):
            expect_only(asked, term, False, "smile='local_volatility'")
    dates = [asked.today + day for day in sorted({max(1, asked.horizon * k // 12) for k in range(1, 13)})]
    try:
        smiles = any(
            not same(handle.blackVol(d, spot * share, True), handle.blackVol(d, spot, True))
            for d in dates
            for share in (0.5, 0.8, 0.95, 1.05, 1.25, 2.0)
        )
        if smiles and smile is None:
            refuse(
                "found a volatility that depends on the strike. smile='at_strike' takes it at the strike of"
                " the option, as QuantLib's analytic engines do; smile='local_volatility' with surface_dates"
                " and surface_strikes makes paths that have the whole surface"
            )
        if smile == "local_volatility":
            return _surface(asked, handle)
        if smiles and conveyed.strike is None:
            refuse(
                f"found smile='at_strike' for a {class_of(asked.option)}, which has no strike in money of"
                " one asset"
            )
        strike = conveyed.strike if smiles and conveyed.strike is not None else spot
        if not smiles:
            _expect_own_local_volatility(process, handle, spot, dates)
        variances = [0.0] + [
            handle.blackVariance(asked.today + day, strike, True) for day in range(1, asked.horizon + 1)
        ]
    except RuntimeError as error:
        refuse(f"the volatility cannot be read up to {(asked.today + asked.horizon).ISO()}: {error}")
    return {"volatility": _by_term(asked, variances)}


def _by_term(asked: Asked, variances: Sequence[float]) -> Any:
    """A number, or volatilities by date with linear total variance between them, as in Tilewalk."""
    days = _nodes(variances, asked.bound)
    levels = {
        (asked.today + day).ISO(): _plain(math.sqrt(variances[day] * DAYS_A_YEAR / day)) for day in days
    }
    return levels if len(days) > 1 else next(iter(levels.values()))


def _expect_own_local_volatility(process: Any, handle: Any, spot: float, dates: Iterable[Any]) -> None:
    """Checks that a process does not have a local volatility unrelated to its Black volatility."""
    local, step = process.localVolatility(), 1 / 365.0
    for date in dates:
        time = handle.timeFromReference(date)
        variance = (
            handle.blackVariance(time + step, spot, True) - handle.blackVariance(time, spot, True)
        ) / step
        for share in (0.5, 1.0, 2.0):
            found = local.localVol(time, spot * share, True)
            if abs(found * found - variance) > 1e-6 * max(variance, 1e-4):
                refuse(
                    f"found a process with a local volatility of its own, {found:.6g} on {date.ISO()} where"
                    f" its Black volatility has {math.sqrt(variance):.6g}; known is the local volatility of"
                    " the Black volatility"
                )


def _surface(asked: Asked, handle: Any) -> dict[str, Any]:
    """Black volatilities on a grid of dates and strikes: exact on the grid, interpolated by Tilewalk between."""
    if "surface_dates" not in asked.said or "surface_strikes" not in asked.said:
        refuse(
            "smile='local_volatility' needs surface_dates and surface_strikes: QuantLib does not tell where a"
            " surface has its quotes"
        )
    strikes = [float(one) for one in asked.said["surface_strikes"]]
    quotes = {
        date.ISO(): {repr(strike): handle.blackVol(date, strike, True) for strike in strikes}
        for date in asked.dates("surface_dates")
    }
    return {"model": {"local_volatility": {"surface": {"by_strike": quotes}}}}


def _quanto_market(asked: Asked, market: dict[str, Any]) -> None:
    foreign, asset = asked.said["foreign_currency"], asked.name()
    if foreign == asked.currency:
        refuse(f"found {foreign} for both currencies of a quanto option, expected two")
    market["assets"][asset]["currency"] = foreign
    market["currencies"][foreign] = _curve(asked, asked.said["foreignRiskFreeRate"], "foreignRiskFreeRate")
    handle = asked.said["exchangeRateVolatility"]
    if any(
        not same(
            handle.blackVol(asked.today + asked.horizon, rate, True),
            handle.blackVol(asked.today + asked.horizon, 1.0, True),
        )
        for rate in (0.5, 2.0)
    ):
        refuse("found an exchangeRateVolatility that depends on the strike; known is one by term")
    variances = [0.0] + [
        handle.blackVariance(asked.today + day, 1.0, True) for day in range(1, asked.horizon + 1)
    ]
    pair = foreign + asked.currency
    market["fx"] = {pair: {"rate": 1.0, "volatility": _by_term(asked, variances)}}
    market["correlations"] = [[asset, pair, asked.number("correlation")]]


def _correlations(asked: Asked) -> list[list[Any]]:
    """Pairs of assets, from a matrix or a StochasticProcessArray."""
    held = asked.said.get("correlation")
    count = len(asked.names)
    if held is None:
        refuse(
            "QuantLib's processes do not tell their correlation; say it: correlation=, a matrix, the "
            "StochasticProcessArray that was made with one, or a number for two assets"
        )
    if isinstance(held, ql.StochasticProcessArray):
        # The correlation follows from the covariances over a day.
        covariance = held.covariance(0.0, held.initialValues(), 1 / 365.0)
        size = covariance.rows()
        rows = [
            [covariance[i][j] / math.sqrt(covariance[i][i] * covariance[j][j]) for j in range(size)]
            for i in range(size)
        ]
    elif isinstance(held, (int, float)) and count == 2:
        rows = [[1.0, float(held)], [float(held), 1.0]]
    elif isinstance(held, ql.Matrix):
        rows = [[held[i][j] for j in range(held.columns())] for i in range(held.rows())]
    else:
        try:
            rows = [[float(one) for one in row] for row in held]
        except TypeError:
            refuse(
                f"found correlation={held!r}, expected a matrix, a StochasticProcessArray, or a number for"
                " two assets"
            )
    if len(rows) != count or any(len(row) != count for row in rows):
        refuse(
            f"found a correlation of {len(rows)} rows for {count} assets, expected {count} rows of {count}"
        )
    for i in range(count):
        if abs(rows[i][i] - 1) > 1e-12 or any(abs(rows[i][j] - rows[j][i]) > 1e-12 for j in range(i)):
            refuse("found a correlation that is no symmetric matrix with ones on its diagonal")
    return [[asked.names[j], asked.names[i], rows[i][j]] for i in range(count) for j in range(i)]


def _hull_white(parameters: Sequence[float], clock: float) -> dict[str, Any]:
    reversion, volatility = parameters
    return {"hull_white": {"mean_reversion": reversion * clock, "volatility": volatility * clock**1.5}}


def _g2(parameters: Sequence[float], clock: float) -> dict[str, Any]:
    a, sigma, b, eta, rho = parameters
    return {
        "g2": {
            "a": a * clock,
            "sigma": sigma * clock**1.5,
            "b": b * clock,
            "eta": eta * clock**1.5,
            "rho": rho,
        }
    }


RATES = {"HullWhite": _hull_white, "G2": _g2}


def _moving_rates(asked: Asked) -> dict[str, Any]:
    """A currency with a rate model, in years of 365 days."""
    curve = asked.model.termStructure()
    clock = _clock(asked, curve, "termStructure")
    moves = RATES[class_of(asked.model)](list(asked.model.params()), clock)
    return {**_curve(asked, curve, "termStructure"), "model": moves}
