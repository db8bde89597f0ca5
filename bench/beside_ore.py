#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Historical simulation beside ORE: the same trades, market and file of scenarios, revalued in full by both.

    build/python/bin/python3 bench/beside_ore.py --command build/release/tilewalk
    build/python/bin/python3 bench/beside_ore.py --command build/release/tilewalk --samples 4095 --paths 32768 --folder kept

ORE is the wheel open-source-risk-engine, run as its own command would be: XML files in, HISTSIM_VAR, a gain for each trade
and scenario out. Trades are European options, Asians and continuously watched barriers on one equity, which ORE prices by
closed forms, and one arithmetic Asian, which it prices by Monte Carlo (Sobol points with a bridge, the geometric Asian as a
control). The file of scenarios is ORE's, `Date,Scenario,Numeraire,...`: levels of a spot, of volatilities and of discount
factors of a rate and of a dividend yield by business day, made by random walks of a fixed seed. Tilewalk reads it by a table
of keys.

Both price the same contract and take the same scenarios by these conventions:
  - times are ACT/365F from the day of the market: A365 everywhere, calendars without holidays, no lag; payment on the day
    of exercise (the Asian's `Settlement`; options that ORE settles physically, since its cash-settled ones are another product);
  - a flat market whose curves move in parallel: then ORE's closed forms, which take one rate and one volatility, hold for
    the average of an Asian and for a barrier, too, and no interpolation matters;
  - returns are relative for spots and volatilities and logarithmic for discount factors, which is ORE's default and here
    `relative` and, for zero rates, `absolute`;
  - ORE leaves dividend yields alone unless `SimulateDividendYield` says otherwise, and takes scenarios between days that
    are one day of its calendar apart.

A gain differs by z = (ours - ORE's) / error. The error is ours, and for the arithmetic Asian also ORE's, which states none: it is
the root of the mean square, over scenarios, of what a quarter of its samples changes, and so rather too large. Ours is the
spread of 16 randomisations where Sobol points are walked, so z is of Student's law with 15 degrees of freedom, whose mean
square is 1.15; `as normal` is the normal number that is as rarely exceeded as the largest |z|. Nothing is allowed
for conventions, which are the same: 1e-9 of the trade's value for rounding, and the half of ORE's sixth and last decimal. Scenarios share their paths, so that the z of a trade go together,
and the mean square of each trade's is of few independent numbers: --seeds N asks for N more seeds of ours, whose mean squares
say whether our errors are right. Exit code 1: some z is above 4.5, as normal.

Then the sensitivities: ORE's SENSITIVITY and `sensitivity.csv` of `tilewalk scenarios --explain`, by the names of their factors, each
brought to a derivative. ORE's are differences of small moves (a rate 1e-4, a volatility 1e-5, a spot 1e-5 of itself) of closed forms, so next to derivatives; ours
may differ by 4.5 errors, by 1.25 times the size that `tilewalk greeks` states for the error of its own moves (`bias`, an estimate by halving them),
and by 1e-6 of the value. ORE has no derivatives of the arithmetic Asian: its differences are of few paths.

Seconds are wall-clock, of one thread each: for ORE of reading its files, the run and writing its reports, without the import of
the module; for Tilewalk of the whole command. ORE's time of the arithmetic Asian alone and of the others is its report `pricingstats`.
"""
import argparse
import csv
import datetime
import importlib.metadata
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile
import time

try:
    import ORE
except ImportError:
    sys.exit("this Python has no module ORE: .ci/install_packages.sh ci puts it under build/python")

TODAY = datetime.date(2026, 1, 15)
LIMIT = 4.5
ROUNDING = 1e-9  # relative to a trade's value
PRINTED = 5e-7   # half the last decimal of ORE's reports
LEVELS = (0.01, 0.025, 0.05)
SPOT, RATE, DIVIDENDS, VOLATILITY = 100.0, 0.035, 0.01, 0.2
MONTHS = [f"2026-{month:02d}-15" for month in range(2, 13)] + ["2027-01-15"]

EUROPEANS = [("call", "call", 100, "2027-01-15", 10), ("put", "put", 90, "2026-07-15", 20)]
ASIANS = [("arithmetic", "call", 100, "arithmetic", 10), ("geometric", "put", 95, "geometric", 10)]
BARRIERS = [("down_out", "call", 100, "2027-01-15", "down", "knock_out", 85, 10),
            ("up_in", "call", 105, "2026-10-15", "up", "knock_in", 120, 10),
            ("up_out", "call", 95, "2026-07-15", "up", "knock_out", 130, 20),
            ("down_in", "put", 100, "2027-01-15", "down", "knock_in", 80, 10)]
MONTE_CARLO = "arithmetic"  # the trade that ORE has no closed form for


def business_days(count):
    days = [TODAY]
    while len(days) < count:
        day = days[-1] - datetime.timedelta(1)
        while day.weekday() > 4:
            day -= datetime.timedelta(1)
        days.append(day)
    return days[::-1]


def write_scenarios(folder, days):
    draw = random.Random(2026)
    spot, volatility, rate, dividends = 98.0, 0.21, 0.033, 0.0095
    lines = ["Date,Scenario,Numeraire,DiscountCurve/USD/0,DiscountCurve/USD/1,EquitySpot/ACME/0,EquityVolatility/ACME/0,"
             "EquityVolatility/ACME/1,DividendYield/ACME/0,DividendYield/ACME/1"]
    for day in days:
        levels = (math.exp(-rate), math.exp(-2 * rate), spot, volatility, volatility, math.exp(-dividends),
                  math.exp(-2 * dividends))
        lines.append(",".join([day.isoformat(), "1", "1", *map(repr, levels)]))
        move = draw.gauss(0, 1)
        spot *= math.exp(0.0125 * move)
        volatility *= math.exp(-0.02 * move + 0.02 * draw.gauss(0, 1))
        rate += 0.0006 * draw.gauss(0, 1)
        dividends += 0.0001 * draw.gauss(0, 1)
    (folder / "scenarios.csv").write_text("\n".join(lines) + "\n", encoding="ascii")


def element(name, /, *inside, **attributes):
    given = "".join(f' {key}="{value}"' for key, value in attributes.items())
    return f"<{name}{given}>{''.join(map(str, inside))}</{name}>"


def parameters(values):
    return "".join(element("Parameter", value, name=name) for name, value in values.items())


def setup_of(folder, output, *analytics):
    setup = {"asofDate": TODAY, "inputPath": folder, "outputPath": folder / output, "logFile": "log.txt", "logMask": 15,
             "marketDataFile": "market.txt", "fixingDataFile": "fixings.txt", "implyTodaysFixings": "N",
             "curveConfigFile": "curves.xml", "conventionsFile": "conventions.xml", "marketConfigFile": "today.xml",
             "pricingEnginesFile": f"engines_{output}.xml", "portfolioFile": f"portfolio_{output}.xml",
             "observationModel": "None", "baseCurrency": "USD", "nThreads": 1}
    return element("ORE", element("Setup", parameters(setup)),
                   element("Markets", parameters(dict.fromkeys(("pricing", "simulation", "sensitivity"), "default"))),
                   element("Analytics", *(element("Analytic", parameters({"active": "Y", **given}), type=kind)
                                          for kind, given in analytics)))


def value_at_risk(days):
    return "historicalSimulationVar", {
        "historicalScenarioFile": "scenarios.csv", "simulationConfigFile": "simulation.xml",
        "historicalPeriod": f"{days[1]},{days[-1]}", "mporDays": 1, "mporCalendar": "WeekendsOnly",
        "mporOverlappingPeriods": "true", "quantiles": ",".join(map(str, LEVELS)), "includeExpectedShortfall": "Y",
        "breakdown": "N", "riskClassBreakdown": "N", "tradePnl": "Y", "outputFile": "var.csv"}


def sensitivities():
    return "sensitivity", {
        "marketConfigFile": "simulation.xml", "sensitivityConfigFile": "sensitivity.xml",
        "pricingEnginesFile": "engines_sensitivity.xml", "scenarioOutputFile": "scenario.csv",
        "sensitivityOutputFile": "sensitivity.csv", "outputSensitivityThreshold": 0, "outputPrecision": 16}


def shifts():
    def shift(kind, size, *more):
        return (element("ShiftType", kind), element("ShiftSize", size), *more, element("ShiftScheme", "Central"))

    return element(
        "SensitivityAnalysis",
        element("DiscountCurves", element("DiscountCurve", *shift("Absolute", 1e-4, element("ShiftTenors", "1Y")), ccy="USD")),
        element("EquitySpots", element("EquitySpot", *shift("Relative", "0.00001"), equity="ACME")),
        element("EquityVolatilities", element("EquityVolatility", *shift(
            "Absolute", "0.00001", element("ShiftExpiries", "1Y"), "<ShiftStrikes/>"), equity="ACME")),
        element("CrossGammaFilter", element("Pair", "EquitySpot/ACME,EquityVolatility/ACME")), element("ComputeGamma", "true"))


def market_files():
    quotes = [("DISCOUNT/RATE/USD/FLAT/1Y", math.exp(-RATE)), ("DISCOUNT/RATE/USD/FLAT/2Y", math.exp(-2 * RATE)),
              ("EQUITY/PRICE/ACME/USD", SPOT), ("EQUITY_DIVIDEND/RATE/ACME/USD/1Y", DIVIDENDS),
              ("EQUITY_OPTION/RATE_LNVOL/ACME/USD/1Y/ATMF", VOLATILITY)]
    names = [quote for quote, _ in quotes]
    zero = element("Zero", element("Id", "USD-ZERO"), element("TenorBased", "true"), element("DayCounter", "A365"),
                   element("Compounding", "Continuous"), element("CompoundingFrequency", "Annual"),
                   element("TenorCalendar", "NullCalendar"), element("SpotLag", 0), element("SpotCalendar", "NullCalendar"),
                   element("RollConvention", "Unadjusted"), element("EOM", "false"))

    def curve(kind, name, *inside):
        return element(kind, element("CurveId", name), element("CurveDescription", "flat"), element("Currency", "USD"), *inside)

    def quoted(*of):
        return element("Quotes", *(element("Quote", quote) for quote in of))

    direct = element("Direct", element("Type", "Discount"), quoted(*names[:2]), element("Conventions", "USD-ZERO"))
    curves = element(
        "CurveConfiguration",
        element("YieldCurves", curve(
            "YieldCurve", "FLAT", "<DiscountCurve/>", element("Segments", direct), element("InterpolationVariable", "Discount"),
            element("InterpolationMethod", "LogLinear"), element("YieldCurveDayCounter", "A365"),
            element("Extrapolation", "true"))),
        element("EquityCurves", curve(
            "EquityCurve", "ACME", element("ForecastingCurve", "FLAT"), element("Type", "DividendYield"),
            element("SpotQuote", names[2]), quoted(names[3]), element("DayCounter", "A365"), element("Extrapolation", "true"))),
        element("EquityVolatilities", curve(
            "EquityVolatility", "ACME", element("DayCounter", "A365"),
            element("Constant", element("QuoteType", "ImpliedVolatility"), element("VolatilityType", "Lognormal"),
                    element("Quote", names[4])))))
    kinds = ("DiscountingCurvesId", "EquityCurvesId", "EquityVolatilitiesId")
    today = element(
        "TodaysMarket", element("Configuration", *(element(kind, "default") for kind in kinds), id="default"),
        element("DiscountingCurves", element("DiscountingCurve", "Yield/USD/FLAT", currency="USD"), id="default"),
        element("EquityCurves", element("EquityCurve", "Equity/USD/ACME", name="ACME"), id="default"),
        element("EquityVolatilities", element("EquityVolatility", "EquityVolatility/USD/ACME", name="ACME"), id="default"))
    acme = element("Names", element("Name", "ACME"))
    simulation = element("Simulation", element("Parameters", element("DayCounter", "A365")), element(
        "Market", element("BaseCurrency", "USD"), element("Currencies", element("Currency", "USD")),
        element("YieldCurves", element("Configuration", element("Tenors", "1Y,2Y"), element("Interpolation", "LogLinear"),
                                       element("Extrapolation", "FlatFwd"), curve="")),
        element("Equities", element("Simulate", "true"), element("SimulateDividendYield", "true"), acme,
                element("DividendTenors", "1Y,2Y")),
        element("EquityVolatilities", element("Simulate", "true"), element("ReactionToTimeDecay", "ConstantVariance"), acme,
                element("Expiries", "1Y,2Y"))))
    return {"market.txt": "".join(f"{TODAY} {name} {value!r}\n" for name, value in quotes), "fixings.txt": "",
            "conventions.xml": element("Conventions", zero), "curves.xml": curves, "today.xml": today,
            "simulation.xml": simulation}


def engines(samples):
    monte_carlo = {"ProcessType": "Discrete", "BrownianBridge": "True", "AntitheticVariate": "False",
                   "ControlVariate": "True", "RequiredSamples": samples, "Seed": 42}
    chosen = {"EquityOption": "AnalyticEuropeanEngine", "EquityBarrierOption": "AnalyticBarrierEngine",
              "EquityAsianOptionGeometricPrice": "AnalyticDiscreteGeometricAPEngine",
              "EquityAsianOptionArithmeticPrice": "MCDiscreteArithmeticAPEngine"}
    return element("PricingEngines", *(
        element("Product", element("Model", "BlackScholesMerton"), "<ModelParameters/>", element("Engine", engine),
                element("EngineParameters", parameters(monte_carlo if engine.startswith("MC") else {})), type=product)
        for product, engine in chosen.items()))


def portfolio(only=None):
    def trade(name, kind, data):
        return name, element("Trade", element("TradeType", kind), element(
            "Envelope", element("CounterParty", "ANY"), element("NettingSetId", "ANY"), "<AdditionalFields/>"),
            element(kind + "Data", *data), id=name)

    def option(kind, day, *more):
        return element("OptionData", element("LongShort", "Long"), element("OptionType", kind.capitalize()), *more,
                       element("Style", "European"), element("Settlement", "Physical"),
                       element("ExerciseDates", element("ExerciseDate", day)))

    def on_acme(strike, quantity):
        return (element("Name", "ACME"), element("Currency", "USD"), element("Strike", strike), element("Quantity", quantity))

    trades = [trade(name, "EquityOption", (option(kind, day), *on_acme(strike, quantity)))
              for name, kind, strike, day, quantity in EUROPEANS]
    for name, kind, strike, mean, quantity in ASIANS:
        days = element("Dates", element("Calendar", "NullCalendar"), element("Convention", "Unadjusted"),
                       element("Dates", *(element("Date", day) for day in MONTHS)))
        trades.append(trade(name, "EquityAsianOption", (
            element("Currency", "USD"), element("Quantity", quantity),
            element("StrikeData", element("Value", strike), element("Currency", "USD")),
            element("Underlying", element("Type", "Equity"), element("Name", "ACME")),
            option(kind, MONTHS[-1], element("PayoffType", "Asian"), element("PayoffType2", mean.capitalize())),
            element("Settlement", MONTHS[-1]), element("ObservationDates", days))))
    for name, kind, strike, day, direction, knock, level, quantity in BARRIERS:
        barrier = element("BarrierData", element("Type", direction.capitalize() + "And" + knock[6:].capitalize()),
                          element("Levels", element("Level", level)))
        trades.append(trade(name, "EquityBarrierOption", (option(kind, day), barrier, *on_acme(strike, quantity))))
    return element("Portfolio", *(text for name, text in trades if only in (None, name)))


def run_ore(folder, output, samples, analytics, only=None):
    """Returns the seconds, and the application after it has written its reports."""
    (folder / f"engines_{output}.xml").write_text(engines(samples), encoding="ascii")
    (folder / f"portfolio_{output}.xml").write_text(portfolio(only), encoding="ascii")
    setup = folder / f"ore_{output}.xml"
    setup.write_text(setup_of(folder, output, *analytics), encoding="ascii")
    begin = time.monotonic()
    given = ORE.Parameters()
    given.fromFile(str(setup))
    app = ORE.OREApp(given, False)
    app.run()
    seconds = time.monotonic() - begin
    failures = list(app.getErrors())
    if failures:
        sys.exit(f"ORE failed; {folder / output / 'log.txt'} says why: {failures}")
    return seconds, app


def ask_ore_for_gains(folder, days, output, samples, only=None):
    """Returns the seconds, values and gains by trade, value at risk and shortfall by level, and seconds by
    trade."""
    npv = "npv", {"baseCurrency": "USD", "outputFileName": "npv.csv"}
    seconds, app = run_ore(folder, output, samples, (npv, value_at_risk(days)), only)

    def table(name):
        report = app.getReport(name)
        titles = [report.header(i) for i in range(report.columns())]
        with open(folder / output / f"{name}.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))[1:]
        return [dict(zip(titles, row)) for row in rows]

    values = {row["TradeId"]: float(row["NPV"]) for row in table("npv")}
    gains = {}
    for row in table("historical_PnL"):
        gains.setdefault(row["Portfolio"], {})[row["PLDate2"]] = float(row["PLAmount"])
    tails = table("var")[0]
    figures = {kind: [float(tails[f"{kind}_{level:.6f}"]) for level in LEVELS] for kind in ("Quantile", "ExpectedShortfall")}
    spent = {row["TradeId"]: (float(row["CumulativeTiming"]) * 1e-6, int(row["NumberOfPricings"]))
             for row in table("pricingstats")}
    return seconds, values, gains, figures, spent


def write_tilewalk(folder):
    (folder / "market.yaml").write_text(
        f"as_of: {TODAY}\ncurrencies: {{USD: {{rate: {RATE}}}}}\nassets: {{ACME: {{currency: USD, spot: {SPOT}, "
        f"dividend_yield: {DIVIDENDS}, volatility: {VOLATILITY}}}}}\n", encoding="ascii")
    trades = [f"{{id: {name}, product: european, underlying: ACME, option: {kind}, strike: {strike}, maturity: {day}, "
              f"quantity: {quantity}}}" for name, kind, strike, day, quantity in EUROPEANS]
    trades += [f"{{id: {name}, product: asian, mean: {mean}, underlying: ACME, option: {kind}, strike: {strike}, "
               f"averaging_dates: [{', '.join(MONTHS)}], quantity: {quantity}}}" for name, kind, strike, mean, quantity in ASIANS]
    trades += [f"{{id: {name}, product: barrier, underlying: ACME, option: {kind}, strike: {strike}, maturity: {day}, "
               f"direction: {direction}, kind: {knock}, barrier: {level}, quantity: {quantity}}}"
               for name, kind, strike, day, direction, knock, level, quantity in BARRIERS]
    (folder / "book.yaml").write_text("market: market.yaml\ntrades:\n" + "".join(f"  - {t}\n" for t in trades), encoding="ascii")
    (folder / "scenarios.yaml").write_text(f"""\
history:
  levels: scenarios.csv
  keys:
    EquitySpot/ACME/0: ACME.spot
    EquityVolatility/ACME/0: ACME.volatility
    DiscountCurve/USD/0: {{key: USD.rate, years: 1}}
    DividendYield/ACME/0: {{key: ACME.dividend_yield, years: 1}}
  returns: {{ACME.spot: relative, ACME.volatility: relative, USD.rate: absolute, ACME.dividend_yield: absolute}}
value_at_risk: {{levels: [{', '.join(map(str, LEVELS))}], currency: USD}}
""", encoding="ascii")


def run_tilewalk(command, folder, more):
    begin = time.monotonic()
    subprocess.run([command, "scenarios", folder / "book.yaml", "--scenarios", folder / "scenarios.yaml", "--threads", "1",
                    "--device", "cpu", "--files", folder / "tilewalk", "--format", "json", "--output", folder / "gains.json",
                    "--quiet", *more], check=True)
    seconds = time.monotonic() - begin

    def table(name):
        with open(folder / "tilewalk" / name, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    rows = json.loads((folder / "gains.json").read_text(encoding="utf-8"))["rows"]
    freedom = {row["trade"]: (row["randomisations"] or row["paths"] // 1024) - 1 for row in rows}
    values = {row["trade"]: (row["value"], row["value_error"]) for row in rows}
    gains = {}
    for row in table("gains.csv"):
        gains.setdefault(row["trade"], {})[row["scenario"]] = (float(row["gain"]), float(row["standard_error"]))
    return seconds, values, freedom, gains, table("risk.csv")


def root_mean_square(values):
    values = list(values)
    return math.sqrt(sum(v * v for v in values) / len(values))


def z_of(difference, error, allowed):
    """The difference of two figures in units of `error`, beyond what is allowed."""
    left = max(0.0, abs(difference) - allowed)
    return 0.0 if left == 0 else math.copysign(left / error if error > 0 else math.inf, difference)


def as_normal(z, freedom):
    """The normal number with the tail probability of z under Student's law (Wallace 1959)."""
    shrunk = math.sqrt(freedom * math.log1p(z * z / freedom)) * (8 * freedom + 1) / (8 * freedom + 3)
    return math.copysign(shrunk, z)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", default="build/release/tilewalk")
    parser.add_argument("--scenarios", type=int, default=250)
    parser.add_argument("--samples", type=int, default=16383, help="ORE's paths of the arithmetic Asian, 2^k - 1")
    parser.add_argument("--paths", default="131072", help="ours, of every trade")
    parser.add_argument("--random", default="auto")
    parser.add_argument("--seeds", type=int, default=0, help="so many more seeds of ours")
    parser.add_argument("--folder", help="keep all files in this folder")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as passing:
        folder = pathlib.Path(arguments.folder or passing).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        days = business_days(arguments.scenarios + 1)
        write_scenarios(folder, days)
        for name, text in market_files().items():
            (folder / name).write_text(text, encoding="ascii")
        write_tilewalk(folder)
        fewer = (arguments.samples + 1) // 4 - 1
        coarse = ask_ore_for_gains(folder, days, "fewer", fewer, only=MONTE_CARLO)
        ore_seconds, ore_values, ore_gains, ore_tails, spent = ask_ore_for_gains(
            folder, days, "all", arguments.samples)
        ways = ["--paths", arguments.paths, "--random", arguments.random]
        ours = run_tilewalk(arguments.command, folder, ways)
        more = [run_tilewalk(arguments.command, folder, [*ways, "--seed", str(1000 + i)]) for i in range(arguments.seeds)]
        derivatives = sensitivities_of_both(arguments.command, folder, arguments.samples, ways)
    version = subprocess.run([arguments.command, "--version"], capture_output=True, text=True, check=True).stdout.split("\n")[0]
    print(f"{version}; open-source-risk-engine {importlib.metadata.version('open-source-risk-engine')}")
    agree = compare(arguments, days, coarse, ore_seconds, ore_values, ore_gains, ore_tails, spent, *ours)
    if more:
        tell_of_seeds(ore_gains, more)
    agree = compare_sensitivities(*derivatives) and agree
    return 0 if agree else 1


# Reads sensitivities from a file of ORE: derivatives by trade and risk factors.
def derivatives_in(file):
    found = {}
    with open(file, newline="", encoding="utf-8") as opened:
        for row in csv.DictReader(opened):
            trade, first, second = row["#TradeId"], row["Factor_1"], row["Factor_2"]
            size, other = float(row["ShiftSize_1"]), float(row["ShiftSize_2"])
            if second:
                found[trade, first, second] = float(row["Gamma"]) / (size * other)
                continue
            found[trade, first] = float(row["Delta"]) / size
            if row["Gamma"] != "#N/A":
                found[trade, first, first] = float(row["Gamma"]) / size ** 2
    return found


def sensitivities_of_both(command, folder, samples, more):
    (folder / "sensitivity.xml").write_text(shifts(), encoding="ascii")
    run_ore(folder, "sensitivity", samples, (sensitivities(),))
    (folder / "moves.yaml").write_text("stress: {all: {ACME.spot: -20%, ACME.volatility: +5pt, USD.rate: +50bp, "
                                       "ACME.dividend_yield: +10bp}}\n", encoding="ascii")
    usual = ["--threads", "1", "--device", "cpu", "--format", "csv", "--quiet", *more]
    subprocess.run([command, "scenarios", folder / "book.yaml", "--scenarios", folder / "moves.yaml", "--explain", "--files",
                    folder / "moved", "--output", folder / "moved.csv", *usual], check=True)
    subprocess.run([command, "greeks", folder / "book.yaml", "--greeks", "delta,gamma,vega,volga,vanna,rho", "--output",
                    folder / "greeks.csv", *usual], check=True)
    errors = {}
    with open(folder / "greeks.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["trade"] and row["key"]:
                errors[row["trade"], row["measure"]] = float(row["standard_error"]), float(row["bias"])
    return (derivatives_in(folder / "sensitivity" / "sensitivity.csv"), derivatives_in(folder / "moved" / "sensitivity.csv"),
            errors)


def compare_sensitivities(theirs, ours, errors):
    spot, volatility, rate = "EquitySpot/ACME/0/spot", "EquityVolatility/ACME/0/1Y/ATM", "DiscountCurve/USD/0/1Y"
    # For each measure, the risk factors to differentiate by, and the size of the move per which `tilewalk greeks` states it.
    measures = {"delta": ((spot,), 1), "vega": ((volatility,), 0.01), "rho": ((rate,), 1e-4), "gamma": ((spot, spot), 1),
                "volga": ((volatility, volatility), 1e-4), "vanna": ((spot, volatility), 0.01)}
    print(f"\n{'sensitivities':<14}{'largest':>12}{'differs by':>12}{'our error':>12}{'error of moves':>16}{'max |z|':>9}"
          "   (largest of the seven trades, for the moves of tilewalk greeks)")
    worst = 0.0
    for measure, (factors, move) in measures.items():
        z, sizes, differences = [], [], []
        of = {trade: figures for (trade, name), figures in errors.items() if name == measure and trade != MONTE_CARLO}
        for trade, (error, bias) in of.items():
            value, other = ours[(trade, *factors)] * move, theirs[(trade, *factors)] * move
            sizes.append(abs(other))
            differences.append(abs(value - other))
            z.append(as_normal(z_of(value - other, error, 1.25 * bias + 1e-6 * abs(other) + 1e-9), 15))
        worst = max(worst, max(map(abs, z)))
        print(f"{measure:<14}{max(sizes):>12.6f}{max(differences):>12.6f}{max(e for e, _ in of.values()):>12.6f}"
              f"{max(b for _, b in of.values()):>16.6f}{max(map(abs, z)):>9.2f}")
    agree = worst <= LIMIT
    print(f"largest |z|, as normal, {worst:.2f}: {'they agree' if agree else f'they differ by more than {LIMIT} errors'}")
    return agree


def tell_of_seeds(ore_gains, runs):
    print(f"\n{len(runs)} more seeds, the trades that ORE has a closed form for: mean z^2 over all scenarios and seeds, the least and\n"
          "the largest of a seed, and the largest |z| of all, as normal")
    for trade in runs[0][3]:
        if trade == MONTE_CARLO:
            continue
        by_seed, largest = [], 0.0
        for _, values, freedom, gains, _ in runs:
            allowed = ROUNDING * abs(values[trade][0]) + PRINTED
            z = [z_of(gain - ore_gains[trade][s], error, allowed) for s, (gain, error) in gains[trade].items()]
            by_seed.append(root_mean_square(z) ** 2)
            largest = max(largest, as_normal(max(map(abs, z)), freedom[trade]))
        print(f"{trade:<12}{sum(by_seed) / len(by_seed):>8.2f}{min(by_seed):>8.2f}{max(by_seed):>8.2f}{largest:>8.2f}")


def compare(arguments, days, coarse, ore_seconds, ore_values, ore_gains, ore_tails, spent, seconds, values, freedom, gains, risk):
    names = [day.isoformat() for day in days[1:]]
    assert set(gains) == set(ore_gains) and all(list(of) == names for of in gains.values())
    ore_value_error = abs(ore_values[MONTE_CARLO] - coarse[1][MONTE_CARLO])
    ore_error = root_mean_square(ore_gains[MONTE_CARLO][s] - coarse[2][MONTE_CARLO][s] for s in names)
    print(f"{len(names)} scenarios, {len(gains)} trades; ORE's arithmetic Asian on {arguments.samples} samples, ours on "
          f"{arguments.paths} paths, --random {arguments.random}\n")
    print(f"{'trade':<12}{'value':>12}{'ORE':>12}{'difference':>11}{'our error':>10}{'ORE error':>10}{'z':>6} | gains: "
          f"{'root mean sq.':>13}{'difference':>11}"
          f"{'our error':>10}{'ORE error':>10}{'mean z^2':>9}{'max |z|':>8}{'as normal':>10}")
    worst = 0.0
    for trade, found in gains.items():
        value, error = values[trade]
        theirs, their_value = (ore_error, ore_value_error) if trade == MONTE_CARLO else (0.0, 0.0)
        allowed = ROUNDING * abs(value) + PRINTED
        z_of_value = z_of(value - ore_values[trade], math.hypot(error, their_value), allowed)
        differences = [found[s][0] - ore_gains[trade][s] for s in names]
        z = [z_of(d, math.hypot(found[s][1], theirs), allowed) for d, s in zip(differences, names)]
        largest = max(map(abs, z))
        normal = as_normal(largest, freedom[trade])
        worst = max(worst, normal, as_normal(abs(z_of_value), freedom[trade]))
        print(f"{trade:<12}{value:>12.6f}{ore_values[trade]:>12.6f}{value - ore_values[trade]:>11.6f}{error:>10.6f}"
              f"{their_value:>10.6f}{z_of_value:>6.2f} |        {root_mean_square(ore_gains[trade][s] for s in names):>13.6f}"
              f"{root_mean_square(differences):>11.6f}{root_mean_square(found[s][1] for s in names):>10.6f}{theirs:>10.6f}"
              f"{root_mean_square(z) ** 2:>9.3f}{largest:>8.2f}{normal:>10.2f}")
    print(f"\n{'of the book':<24}{'Tilewalk':>12}{'ORE':>12}{'difference':>12}{'our error':>11}{'z':>8}{'sampling':>12}")
    for kind, column in (("Quantile", "quantile"), ("ExpectedShortfall", "shortfall")):
        for level, row, theirs in zip(LEVELS, risk, ore_tails[kind]):
            assert float(row["level"]) == level
            ours, noise = float(row[column]), float(row[column + "_noise"])
            z = z_of(ours - theirs, math.hypot(noise, ore_error), PRINTED + ROUNDING * sum(value for value, _ in values.values()))
            worst = max(worst, as_normal(abs(z), min(freedom.values())))
            name = {"Quantile": "value at risk", "ExpectedShortfall": "shortfall"}[kind] + f" at {100 * level:g} %"
            print(f"{name:<24}{ours:>12.6f}{theirs:>12.6f}{ours - theirs:>12.6f}{noise:>11.6f}{z:>8.2f}"
                  f"{float(row[column + '_sampling']):>12.3f}")
    asian, pricings = spent[MONTE_CARLO]
    others = sum(taken for trade, (taken, _) in spent.items() if trade != MONTE_CARLO)
    few, few_pricings = coarse[4][MONTE_CARLO]
    print(f"\n{'of one thread':<64}{'seconds':>8}\n"
          f"{'Tilewalk, the command, all trades by Monte Carlo with errors':<64}{seconds:>8.2f}\n"
          f"{'ORE, the run':<64}{ore_seconds:>8.2f}\n"
          f"{'  its arithmetic Asian':<64}{asian:>8.2f}   {1e3 * asian / pricings:.2f} ms a price of {pricings}\n"
          f"{'  the same on a quarter of the samples':<64}{few:>8.2f}   {1e3 * few / few_pricings:.2f} ms a price\n"
          f"{'  the seven others, by closed forms':<64}{others:>8.2f}\n"
          f"{'  markets, instruments and reports':<64}{ore_seconds - asian - others:>8.2f}")
    agree = worst <= LIMIT
    print(f"\nlargest |z|, as normal, {worst:.2f}: {'they agree' if agree else f'they differ by more than {LIMIT} errors'}")
    return agree


if __name__ == "__main__":
    sys.exit(main())
