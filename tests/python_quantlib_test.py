# SPDX-License-Identifier: Apache-2.0
# optional: python/tilewalk/quantlib* python/tilewalk/book.py python/tilewalk/market.py
# Compares QuantLib's wheel with Tilewalk: random options have the same price in both, and tilewalk.quantlib names what it can't convert.
# Skipped without QuantLib or the Python package of this build.
import contextlib
import copy
import io
import json
import math
import re

import pythons

pythons.in_python_with("QuantLib")

import QuantLib as ql  # noqa: E402
import quantlib_cases as cases  # noqa: E402
import tilewalk  # noqa: E402
from quantlib_cases import COUNTS, NONE, TODAY  # noqa: E402
from tilewalk.quantlib import NotConveyed, from_option, join, known_models, known_options  # noqa: E402

# Allowed difference of two prices in standard errors. A right price exceeds it once in a million cases, and any of 204 right prices in one
# of 5,000 runs with new random numbers. Early exercise must lie within its bounds.
DEVIATIONS = 4.9
SEED = 7
failures = []


def expect(true, what):
    """Records a failure and continues, so that one mistake shows in all the cases that it affects."""
    if not true:
        failures.append(what)


def without_failures(test):
    """A test that fails with the list of all its failed expectations."""

    def checked():
        ql.Settings.instance().evaluationDate = TODAY
        failures.clear()
        test()
        assert not failures, "\n".join(failures)

    return checked


@without_failures
def test_both_price_alike():
    made = cases.random_cases(SEED)
    expect(len(made) >= 200, f"only {len(made)} cases")
    book = join(*(one.book for one in made))
    rows = {row.trade: row for row in tilewalk.price(book, paths=262144, random="philox")}
    for one in made:
        priced = [rows[trade["id"]] for trade in one.book["trades"]]
        case = (
            f"{one.kind}: QuantLib {one.price!r} +- {one.deviation!r}, within {one.allowance!r},"
            f" {json.dumps(one.book)[:2000]}"
        )
        if any(row.status != "priced" or row.value_error is None for row in priced):
            expect(False, f"{[row.message for row in priced]} of {case}")
            continue
        if one.ended_early:
            early_price_is_within_bounds(one, priced[0].early, case)
            continue
        price = math.fsum(row.value for row in priced)
        error = math.hypot(one.deviation, *(row.value_error for row in priced))
        expect(
            abs(price - one.price) <= DEVIATIONS * error + one.allowance, f"{price!r} +- {error!r} of {case}"
        )


def early_price_is_within_bounds(one, early, case):
    """The trained policy is worth less than the optimal one, by at most 2 %."""
    at_most = early["upper_bound"] + DEVIATIONS * early["upper_error"] + one.allowance
    at_least = early["lower_bound"] - DEVIATIONS * early["lower_error"] - one.allowance
    expect(at_least <= one.price <= at_most, f"bounds {early} of {case}")
    short = one.price - early["lower_bound"]
    expect(
        short <= 0.02 * one.price + DEVIATIONS * early["lower_error"] + one.allowance,
        f"policy {early} of {case}",
    )




def flat(rate, count=COUNTS[0]):
    return ql.YieldTermStructureHandle(ql.FlatForward(TODAY, rate, count))


def black(volatility, count=COUNTS[0]):
    return ql.BlackVolTermStructureHandle(ql.BlackConstantVol(TODAY, NONE, volatility, count))


def spot(price=100.0):
    return ql.QuoteHandle(ql.SimpleQuote(price))


def process():
    return ql.BlackScholesMertonProcess(spot(), flat(0.01), flat(0.03), black(0.2))


YEAR = ql.EuropeanExercise(TODAY + 365)
CALL = ql.PlainVanillaPayoff(ql.Option.Call, 100.0)


@without_failures
def test_curves_agree_on_every_day():
    """Read back by this test's own interpolation between the market's dates, and compared with QuantLib's
    curve."""
    days = [TODAY, TODAY + 100, TODAY + 500, TODAY + 2000]
    bent = ql.YieldTermStructureHandle(ql.CubicZeroCurve(days, [0.01, 0.02, 0.035, 0.03], COUNTS[1]))
    levels = ql.BlackVarianceCurve(TODAY, days[1:], [0.3, 0.25, 0.28], COUNTS[1])
    moving = ql.BlackScholesMertonProcess(spot(), bent, bent, ql.BlackVolTermStructureHandle(levels))
    option = ql.EuropeanOption(CALL, ql.EuropeanExercise(days[-1]))
    for bound in (1e-6, 1e-9):
        market = from_option(option, moving, bound=bound)["market"]
        asset = market["assets"]["ASSET"]
        expect(market["currencies"]["USD"] == asset["dividend_yield"], "one curve is written in two ways")
        written = {
            (ql.DateParser.parseISO(day) - TODAY): factor
            for day, factor in market["currencies"]["USD"]["discount_factors"].items()
        }
        logarithms = {0: 0.0, **{day: math.log(factor) for day, factor in written.items()}}
        worst = max(
            abs(between(logarithms, day) - math.log(bent.discount(TODAY + day))) for day in range(2001)
        )
        expect(bound / 100 < worst <= bound, f"curves are off by {worst}, the bound is {bound}")
        variances = {
            0: 0.0,
            **{
                (ql.DateParser.parseISO(day) - TODAY): (
                    level * level * (ql.DateParser.parseISO(day) - TODAY) / 365
                )
                for day, level in asset["volatility"].items()
            },
        }
        worst = max(
            abs(between(variances, day) - levels.blackVariance(TODAY + day, 100.0)) for day in range(1, 2001)
        )
        expect(worst <= bound, f"variances are off by {worst}, the bound is {bound}")
        expect(len(variances) == 4, f"a variance with three corners is written by {len(variances)} numbers")


@without_failures
def test_parameters_count_in_years_of_365_days():
    """Models in 360-day years, rebuilt in QuantLib from the market's 365-day years, have the same prices."""
    count = COUNTS[1]
    rates, dividends, last = flat(0.03, count), flat(0.01, count), TODAY + 500
    option = ql.EuropeanOption(CALL, ql.EuropeanExercise(last))
    terms = (rates, dividends, spot(), 0.04, 1.5, 0.06, 0.5, -0.6)
    jumps = (0.4, -0.1, 0.12)
    for name, process, model, engine in (
        ("heston", ql.HestonProcess, ql.HestonModel, ql.AnalyticHestonEngine),
        ("bates", ql.BatesProcess, ql.BatesModel, ql.BatesEngine),
    ):
        moves = process(*terms, *(jumps if name == "bates" else ()))
        option.setPricingEngine(engine(model(moves), 192))
        price = option.NPV()
        market = from_option(option, moves)["market"]
        asset = market["assets"]["ASSET"]
        said = asset["model"][name]
        again = process(
            flat(market["currencies"]["USD"]["rate"]),
            flat(asset["dividend_yield"]),
            spot(asset["spot"]),
            *(said[one] for one in ("v0", "kappa", "theta", "sigma", "rho")),
            *(said[one] for one in ("jump_intensity", "jump_mean", "jump_sd") if one in said),
        )
        option.setPricingEngine(engine(model(again), 192))
        expect(abs(option.NPV() - price) < 1e-7, f"{name}: {option.NPV()!r} by {asset}, not {price!r}")
    start = TODAY + 365
    index = ql.IborIndex(
        "6M", ql.Period(6, ql.Months), 0, ql.USDCurrency(), NONE, ql.Unadjusted, False, count, rates
    )
    periods = ql.Schedule(
        start,
        start + 365 * 3,
        ql.Period(365, ql.Days),
        NONE,
        ql.Unadjusted,
        ql.Unadjusted,
        ql.DateGeneration.Forward,
        False,
    )
    swap = ql.VanillaSwap(ql.Swap.Payer, 1000.0, periods, 0.03, COUNTS[0], periods, index, 0.0, count)
    swaption = ql.Swaption(swap, ql.EuropeanExercise(start))
    for name, model, terms in (
        ("hull_white", ql.HullWhite, (0.05, 0.01)),
        ("g2", ql.G2, (0.3, 0.01, 0.05, 0.008, -0.5)),
    ):
        moves = model(rates, *terms)
        said = from_option(swaption, moves)["market"]["currencies"]["USD"]
        again = model(flat(said["rate"]), *said["model"][name].values())
        for strike in (0.9, 0.97):
            # Times are years of each curve's day counter, 360 or 365 days a year, so both prices are for the same days.
            price = moves.discountBondOption(ql.Option.Call, strike, 730 / 360, 1460 / 360)
            found = again.discountBondOption(ql.Option.Call, strike, 730 / 365, 1460 / 365)
            expect(abs(found - price) < 1e-10, f"{name}: {found!r} by {said}, not {price!r}")


def between(values, day):
    days = sorted(values)
    if day in values:
        return values[day]
    after = next(i for i, one in enumerate(days) if one > day)
    begin, end = days[after - 1], days[after]
    return values[begin] + (values[end] - values[begin]) * (day - begin) / (end - begin)


@without_failures
def test_books_are_plain():
    option = ql.EuropeanOption(CALL, YEAR)
    book = from_option(option, process(), id="call", underlying="ACME", currency="EUR", quantity=3)
    expected = {
        "market": {
            "as_of": "2026-01-15",
            "currencies": {"EUR": {"rate": 0.03}},
            "assets": {"ACME": {"currency": "EUR", "spot": 100.0, "volatility": 0.2, "dividend_yield": 0.01}},
        },
        "trades": [
            {
                "id": "call",
                "product": "european",
                "underlying": "ACME",
                "option": "call",
                "strike": 100.0,
                "maturity": "2027-01-15",
                "quantity": 3.0,
            }
        ],
    }
    expect(book == expected, f"{book} is not {expected}")
    second = from_option(
        ql.EuropeanOption(CALL, ql.EuropeanExercise(TODAY + 90)),
        process(),
        id="short",
        underlying="ACME",
        currency="EUR",
    )
    joined = join(book, second)
    expect(
        joined["market"] == book["market"] and len(joined["trades"]) == 2,
        f"flat markets do not join: {joined}",
    )
    expect(book == expected, "join changes a book")
    later = ql.VanillaOption(CALL, ql.AmericanExercise(TODAY + 90, TODAY + 365))
    early = from_option(later, process(), exercise_step=0.1)["trades"][0]
    expect(early["exercise_start"] == "2026-04-15", f"exercise that begins later becomes {early}")
    other = copy.deepcopy(second)
    other["market"]["assets"]["ACME"]["spot"] = 101.0
    refused("different things about ACME", lambda: join(book, other))
    refused("two trades with the id call", lambda: join(book, book))
    refused("as_of", lambda: join(book, {"market": {"as_of": "2026-01-16"}, "trades": []}))


@without_failures
def test_an_option_may_be_exercised_today():
    """Interest on the strike exceeds dividends and time value: exercise today is optimal."""
    days = [TODAY, TODAY + 180, TODAY + 360]
    put = ql.PlainVanillaPayoff(ql.Option.Put, 150.0)
    option = ql.VanillaOption(put, ql.BermudanExercise(days))
    book = from_option(option, process(), id="put", underlying="ACME", currency="EUR")
    found = book["trades"][0]["exercise_dates"]
    expect(found == [day.ISO() for day in days], f"exercise on {days} becomes {found}")
    worst, plain = ql.MinBasketPayoff(put), process()
    basket = from_option(
        ql.BasketOption(worst, ql.BermudanExercise(days)),
        [plain, plain],
        underlying=["A", "B"],
        payoff=worst,
        correlation=0.3,
        check=False,
    )["trades"][0]
    expect(basket["exercise_dates"] == found, f"exercise of a basket on {days} becomes {basket}")
    early = tilewalk.price(book, paths=16384)["put"].early
    expect(abs(early["policy_value"] - 50) < 1e-9, f"a put that is worth 50 today has the policy {early}")


@without_failures
def test_local_volatility_has_the_surface():
    """Vanillas on local-volatility paths have the prices of the surface, within two basis points of
    volatility as docs/models.md states. The price of a barrier differs from that by the volatility at its
    strike."""
    days, strikes = [TODAY + 182, TODAY + 365, TODAY + 730], [70.0, 85.0, 100.0, 115.0, 130.0]
    levels = ql.Matrix(
        [[0.2 + 0.004 * (i - 2) ** 2 - 0.02 * (i - 2) + 0.002 * j for j in range(3)] for i in range(5)]
    )
    surface = ql.BlackVarianceSurface(TODAY, NONE, days, strikes, levels, COUNTS[0])
    smiling = ql.BlackScholesMertonProcess(
        spot(), flat(0.01), flat(0.03), ql.BlackVolTermStructureHandle(surface)
    )
    said = {
        "smile": "local_volatility",
        "surface_dates": days,
        "surface_strikes": strikes,
        "horizon": days[-1],
    }
    books, prices, vegas = [], [], []
    for k, strike in enumerate(strikes[1:4]):
        option = ql.EuropeanOption(ql.PlainVanillaPayoff(ql.Option.Call, strike), YEAR)
        option.setPricingEngine(ql.AnalyticEuropeanEngine(smiling))
        books.append(from_option(option, smiling, id=f"strike_{k}", **said))
        prices.append(option.NPV())
        vegas.append(option.vega())
    for row, price, vega in zip(tilewalk.price(join(*books), paths=262144, random="philox"), prices, vegas):
        expect(
            row.status == "priced"
            and abs(row.price - price) <= DEVIATIONS * row.standard_error + 2e-4 * vega,
            f"{row.trade}: {row.price!r} +- {row.standard_error!r}, QuantLib {price!r}, {row.message}",
        )




def refused(with_words, call):
    try:
        call()
    except NotConveyed as error:
        expect(isinstance(error, (tilewalk.InputError, ValueError)), "NotConveyed is no error of Tilewalk")
        expect(with_words in str(error), f"{error} does not say '{with_words}'")
        return
    expect(False, f"not refused, which should say '{with_words}'")


@without_failures
def test_what_cannot_be_conveyed_is_refused():
    european, plain = ql.EuropeanOption(CALL, YEAR), process()
    say = from_option
    refused("class SimpleChooserOption", lambda: say(ql.SimpleChooserOption(TODAY + 90, 100.0, YEAR), plain))
    refused("class float", lambda: say(european, 0.2))
    merton = ql.Merton76Process(spot(), flat(0.01), flat(0.03), black(0.2), spot(0.1), spot(0.1), spot(0.1))
    refused("class Merton76Process", lambda: say(european, merton))
    refused("class HullWhite", lambda: say(european, ql.HullWhite(flat(0.03))))
    # The caller must give the arguments that QuantLib does not let one read from an option, and give them rightly.
    barrier = ql.BarrierOption(ql.Barrier.DownOut, 85.0, 0.0, CALL, YEAR)
    refused("barrierType, barrier and rebate", lambda: say(barrier, plain))
    refused("barrierType=7", lambda: say(barrier, plain, barrierType=7, barrier=85.0, rebate=0.0))
    barrier.setPricingEngine(ql.AnalyticBarrierEngine(plain))
    right = {"barrierType": ql.Barrier.DownOut, "barrier": 85.0, "rebate": 0.0}
    expect(say(barrier, plain, **right)["trades"][0]["barrier"] == 85.0, "a barrier is lost")
    for wrong in ({"barrier": 86.0}, {"rebate": 1.0}, {"barrierType": ql.Barrier.DownIn}):
        refused("makes another option", lambda: say(barrier, plain, **{**right, **wrong}))
    refused("that the engine of QuantLib refuses", lambda: say(barrier, plain, **{**right, "barrier": 185.0}))
    refused("barrier, of which EuropeanOption knows nothing", lambda: say(european, plain, barrier=85.0))
    refused("which is for American exercise only", lambda: say(european, plain, exercise_step=0.1))
    refused("knows nothing", lambda: say(european, plain, correlation=0.5))
    digital = ql.VanillaOption(ql.CashOrNothingPayoff(ql.Option.Call, 100.0, 7.0), YEAR)
    refused("is no PlainVanillaPayoff", lambda: say(digital, plain))
    refused(
        "the payoff that was said pays 8.0",
        lambda: say(digital, plain, payoff=ql.CashOrNothingPayoff(ql.Option.Call, 100.0, 8.0)),
    )
    share = ql.PercentageStrikePayoff(ql.Option.Call, 1.0)
    refused("class PercentageStrikePayoff", lambda: say(ql.VanillaOption(share, YEAR), plain, payoff=share))
    american = ql.VanillaOption(CALL, ql.AmericanExercise(TODAY, TODAY + 365))
    refused("exercise_step", lambda: say(american, plain))
    touch = ql.VanillaOption(
        ql.CashOrNothingPayoff(ql.Option.Call, 120.0, 7.0), ql.AmericanExercise(TODAY, TODAY + 365)
    )
    refused(
        "payoffAtExpiry", lambda: say(touch, plain, payoff=ql.CashOrNothingPayoff(ql.Option.Call, 120.0, 7.0))
    )
    refused(
        "American exercise of a BarrierOption",
        lambda: say(
            ql.BarrierOption(ql.Barrier.DownOut, 85.0, 0.0, CALL, ql.AmericanExercise(TODAY, TODAY + 365)),
            plain,
            **right,
        ),
    )
    refused("not after 2026-01-15", lambda: say(ql.EuropeanOption(CALL, ql.EuropeanExercise(TODAY)), plain))
    dates = [TODAY + 100, TODAY + 200]
    asian = ql.DiscreteAveragingAsianOption(ql.Average.Arithmetic, dates, CALL, YEAR)
    refused(
        "payment on 2027-01-15",
        lambda: say(asian, plain, averageType=ql.Average.Arithmetic, fixingDates=dates),
    )
    refused(
        "in rising order",
        lambda: say(asian, plain, averageType=ql.Average.Arithmetic, fixingDates=dates[::-1]),
    )
    refused(
        "go together",
        lambda: say(
            ql.DiscreteAveragingAsianOption(ql.Average.Arithmetic, [*dates, TODAY + 365], CALL, YEAR),
            plain,
            averageType=ql.Average.Arithmetic,
            fixingDates=[*dates, TODAY + 365],
            pastFixings=2,
        ),
    )
    double = ql.DoubleBarrierOption(ql.DoubleBarrier.KnockOut, 80.0, 120.0, 1.0, CALL, YEAR)
    refused(
        "rebate_paid",
        lambda: say(
            double,
            plain,
            barrierType=ql.DoubleBarrier.KnockOut,
            barrier_lo=80.0,
            barrier_hi=120.0,
            rebate=1.0,
        ),
    )
    refused("horizon 2026-02-14", lambda: say(european, plain, horizon=TODAY + 30))
    refused("bound=0", lambda: say(european, plain, bound=0))
    what_baskets_and_markets_refuse(european)
    what_swaptions_refuse()


def what_baskets_and_markets_refuse(european):
    say, plain = from_option, process()
    worst = ql.MinBasketPayoff(CALL)
    basket, names = ql.BasketOption(worst, YEAR), ["A", "B"]
    array = ql.StochasticProcessArray([plain, process()], ql.Matrix([[1.0, 0.3], [0.3, 1.0]]))
    refused("payoff=...", lambda: say(basket, [plain, plain], underlying=names, correlation=0.3))
    refused(
        "list of processes", lambda: say(basket, array, underlying=names, payoff=worst, correlation=array)
    )
    refused(
        "do not tell their correlation", lambda: say(basket, [plain, plain], underlying=names, payoff=worst)
    )
    refused(
        "no symmetric matrix",
        lambda: say(basket, [plain, plain], underlying=names, payoff=worst, correlation=[[1, 0.3], [0.4, 1]]),
    )
    refused(
        "different riskFreeRates",
        lambda: say(
            basket,
            [plain, ql.BlackScholesMertonProcess(spot(), flat(0.01), flat(0.04), black(0.2))],
            underlying=names,
            payoff=worst,
            correlation=0.3,
        ),
    )
    refused(
        "found a name of an asset twice",
        lambda: say(basket, [plain, plain], underlying=["A", "A"], payoff=worst, correlation=0.3),
    )
    told = say(basket, [plain, plain], underlying=names, payoff=worst, correlation=array)["market"][
        "correlations"
    ]
    expect(
        told == [["A", "B", told[0][2]]] and abs(told[0][2] - 0.3) < 1e-15,
        f"the correlation of an array is {told}",
    )
    average = ql.AverageBasketPayoff(CALL, ql.Array([0.5, 0.5]))
    weighted = ql.BasketOption(average, YEAR)
    weighted.setPricingEngine(
        ql.MCEuropeanBasketEngine(array, "pseudorandom", timeSteps=1, requiredSamples=1024, seed=5)
    )
    refused(
        "a=[...]", lambda: say(weighted, [plain, plain], underlying=names, payoff=average, correlation=array)
    )
    refused(
        "makes another option",
        lambda: say(
            weighted, [plain, plain], underlying=names, payoff=average, correlation=array, a=[0.5, 0.6]
        ),
    )
    refused(
        "is no PlainVanillaPayoff",
        lambda: say(
            ql.BasketOption(ql.MinBasketPayoff(ql.CashOrNothingPayoff(ql.Option.Call, 100.0, 1.0)), YEAR),
            [plain, plain],
            underlying=names,
            correlation=0.3,
            payoff=ql.MinBasketPayoff(ql.CashOrNothingPayoff(ql.Option.Call, 100.0, 1.0)),
        ),
    )
    surface = ql.BlackVarianceSurface(
        TODAY, NONE, [TODAY + 365], [80.0, 120.0], ql.Matrix([[0.3], [0.2]]), COUNTS[0]
    )
    smiling = ql.BlackScholesMertonProcess(
        spot(), flat(0.01), flat(0.03), ql.BlackVolTermStructureHandle(surface)
    )
    refused("depends on the strike", lambda: say(european, smiling))
    refused("smile='at_strke'", lambda: say(european, smiling, smile="at_strke"))
    refused("needs surface_dates", lambda: say(european, smiling, smile="local_volatility"))
    own = ql.GeneralizedBlackScholesProcess(
        spot(),
        flat(0.01),
        flat(0.03),
        black(0.2),
        ql.LocalVolTermStructureHandle(ql.LocalConstantVol(TODAY, 0.3, COUNTS[0])),
    )
    refused("a local volatility of its own, 0.3", lambda: say(european, own))
    yesterday = ql.YieldTermStructureHandle(ql.FlatForward(TODAY - 1, 0.03, COUNTS[0]))
    refused(
        "a riskFreeRate of 2026-01-14",
        lambda: say(european, ql.BlackScholesMertonProcess(spot(), flat(0.01), yesterday, black(0.2))),
    )
    short = ql.YieldTermStructureHandle(ql.ZeroCurve([TODAY, TODAY + 100], [0.01, 0.02], COUNTS[0]))
    refused(
        "cannot be read up to 2027-01-15",
        lambda: say(european, ql.BlackScholesMertonProcess(spot(), flat(0.01), short, black(0.2))),
    )
    thirty = flat(0.03, ql.Thirty360(ql.Thirty360.BondBasis))
    heston = ql.HestonProcess(thirty, flat(0.0), spot(), 0.04, 1.5, 0.05, 0.3, -0.5)
    refused("count of days", lambda: say(european, heston))


def what_swaptions_refuse():
    curve, start = flat(0.03), TODAY + ql.Period(1, ql.Years)

    def swaption(
        index_curve=curve,
        spread=0.0,
        counter=None,
        exercise=None,
        settled=(),
        calendar=NONE,
        floating_years=3,
        paid=ql.Unadjusted,
    ):
        index = ql.IborIndex(
            "6M",
            ql.Period(6, ql.Months),
            0,
            ql.USDCurrency(),
            NONE,
            ql.Unadjusted,
            False,
            COUNTS[1],
            index_curve,
        )
        fixed, floating = (
            ql.Schedule(
                start,
                start + ql.Period(years, ql.Years),
                ql.Period(months, ql.Months),
                calendar,
                ql.Unadjusted,
                ql.Unadjusted,
                ql.DateGeneration.Forward,
                False,
            )
            for months, years in ((12, 3), (6, floating_years))
        )
        counter = counter or ql.Actual360()
        swap = ql.VanillaSwap(
            ql.Swap.Payer, 1000.0, fixed, 0.03, counter, floating, index, spread, COUNTS[1], paid
        )
        return ql.Swaption(swap, exercise or ql.BermudanExercise(list(fixed)[:-1]), *settled)

    model, say = ql.HullWhite(curve, 0.03, 0.01), from_option
    expect(
        say(swaption(), model)["trades"][0]["product"] == "bermudan_swaption",
        "a Bermudan swaption is another product",
    )
    # 15 January 2028 is a Saturday, so payment is on Monday.
    refused(
        "payment on 2028-01-17 of the fixed coupon that ends on 2028-01-15",
        lambda: say(swaption(calendar=ql.TARGET(), paid=ql.Following), model),
    )
    refused("legs that do not begin and end", lambda: say(swaption(floating_years=2), model))
    refused("a spread of 0.001", lambda: say(swaption(spread=0.001), model))
    refused("whose curve is not that of the model", lambda: say(swaption(index_curve=flat(0.031)), model))
    refused("to which none of", lambda: say(swaption(counter=ql.Business252()), model))
    refused(
        "on which no period of both legs begins",
        lambda: say(swaption(exercise=ql.BermudanExercise([start, start + 100])), model),
    )
    refused(
        "settlement by the par yield curve",
        lambda: say(swaption(settled=(ql.Settlement.Cash, ql.Settlement.ParYieldCurve)), model),
    )
    refused(
        "class HestonModel",
        lambda: say(
            swaption(), ql.HestonModel(ql.HestonProcess(curve, curve, spot(), 0.04, 1.0, 0.04, 0.3, 0.0))
        ),
    )


PAGE = pythons.source_dir / "docs" / "python_quantlib.md"


@without_failures
def test_page_says_what_is_so():
    """Python blocks of the page run in order; a text block after one is its output."""
    text = PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| .* \|$", text, re.M)
    named = sorted(name for row in rows for name in re.findall(r"`(\w+)`", row))
    expect(named == known_options(), f"the page's table has {named}, known are {known_options()}")
    blocks = re.findall(r"^```(python|text)\n(.*?)^```", text, re.M | re.S)
    expect(len(blocks) >= 5, f"the page has {len(blocks)} blocks")
    names, printed = {}, ""
    for kind, block in blocks:
        if kind == "text":
            expect(printed == block, f"the page says\n{block}and its block prints\n{printed}")
            continue
        with contextlib.redirect_stdout(io.StringIO()) as heard:
            exec(compile(block, PAGE.name, "exec"), names)
        printed = heard.getvalue()
    off = re.findall(r"([+-][0-9.]+) standard errors", printed)
    expect(
        len(off) == 2 and all(abs(float(one)) < DEVIATIONS for one in off),
        f"the last block of the page prints {printed}",
    )


@without_failures
def test_what_is_known_is_listed():
    for name in [*known_options(), *known_models()]:
        expect(hasattr(ql, name), f"{name} is no class of QuantLib")


pythons.run_all(globals())
