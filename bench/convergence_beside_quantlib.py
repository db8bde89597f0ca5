#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sobol points in Tilewalk and in QuantLib, each on one thread: errors by the number of paths, and the time to a basis point.

    bench/convergence_beside_quantlib.py --command build/release/tilewalk
    bench/convergence_beside_quantlib.py --command build/release/tilewalk --cases asian,heston --most 4096

QuantLib's engines LowDiscrepancy walk one set of points that nobody can randomise, so an error can't be told from one
price. Here it is the root of the mean square of prices less their truths over 16 trades of a kind, whose strikes go from
85 to 115 and volatilities from 15 to 30 %; Tilewalk's is the same figure of the same trades. The 16 share QuantLib's set
of points, so its lines are less smooth than ours. Truths are Tilewalk's from --truth paths and another seed.

QuantLib walks its Brownian bridge where an engine has one: Heston's has none and takes its points in the order of time, and
that of baskets has none and walks one step here. Both walk Heston by full truncation on the same 50 steps. The barrier is
watched on 52 dates, since QuantLib's continuous one draws what lies between steps from independent numbers. Samples are
2^k - 1: QuantLib leaves out the point 0, so these are whole nets of points. Not offered in Python for these engines:
scrambled points, other direction numbers than Jaeckel's, local volatility, rough volatility.

Seconds are those of a trade, from 16 trades: for QuantLib the processor's time of NPV(), which other work on the machine
hardly lengthens, for Tilewalk wall-clock time of planning and walking, the least of --times runs. The script fails if a
price is away from its truth beyond chance: Tilewalk's, QuantLib's from independent paths, its price by points beyond what as
many independent paths would be, and the truth of Europeans from Black's formula."""
import argparse
import datetime
import json
import math
import os
import subprocess
import sys
import tempfile
import time

import QuantLib as ql

TRADES = 16
RATE = 0.05
SPOT = 100.0
STRIKES = [85 + 2 * i for i in range(TRADES)]
VOLATILITIES = [0.15 + 0.01 * (7 * i % TRADES) for i in range(TRADES)]
HESTON = {"kappa": 1.5, "sigma": 0.5, "rho": -0.7, "steps": 50}
BARRIER, BARRIER_DATES = 90, 52
BASKET, CORRELATION = 10, 0.3
FIXINGS = 252
TODAY = ql.Date(15, 1, 2026)
DAYS = ql.Actual365Fixed()
FIXING_DAYS = [round(365 * (k + 1) / FIXINGS) for k in range(FIXINGS)]
# A correct price is further off once in 150,000 times with normal errors, once in 2,300 with errors of 16 units (Student's t).
MOST_ERRORS = 4.5
MOST_ERRORS_OF_16 = 6.5  # Student's t with 15 degrees: once in 100,000 times
FEWEST_PATHS_OF_OURS = 16 * 1024


def volatility_in_basket(i, j):
    return VOLATILITIES[i] + 0.01 * (j % 5)


def text_of(case):
    assets, pairs, trades = [], [], []
    for i in range(TRADES):
        models = {"heston": f"model: {{heston: {{v0: {VOLATILITIES[i] ** 2!r}, kappa: {HESTON['kappa']}, theta: {VOLATILITIES[i] ** 2!r}, "
                            f"sigma: {HESTON['sigma']}, rho: {HESTON['rho']}, scheme: full_truncation, steps_per_year: {HESTON['steps']}}}}}"}
        if case == "basket":
            names = [f"A{i}_{j}" for j in range(BASKET)]
            assets += [f"    {n}: {{currency: USD, spot: {SPOT}, volatility: {volatility_in_basket(i, j)!r}}}" for j, n in enumerate(names)]
            pairs += [f"[{names[j]}, {names[k]}, {CORRELATION}]" for j in range(BASKET) for k in range(j)]
            terms = f"product: basket, basket: [{', '.join(names)}], weights: {1 / BASKET!r}, strike: {STRIKES[i]}, maturity: 1.0"
        else:
            assets.append(f"    A{i}: {{currency: USD, spot: {SPOT}, {models.get(case, f'volatility: {VOLATILITIES[i]!r}')}}}")
            on = f"underlying: A{i}, strike: {STRIKES[i]}"
            terms = {"european": f"product: european, {on}, maturity: 1.0",
                     "heston": f"product: european, {on}, maturity: 1.0",
                     "asian": f"product: asian, {on}, averaging_dates: [{', '.join(repr(d / 365) for d in FIXING_DAYS)}]",
                     "barrier": f"product: barrier, {on}, maturity: 1.0, direction: down, barrier: {BARRIER}, monitoring: discrete, "
                                f"monitoring_dates: {{start: 0, end: 1, count: {BARRIER_DATES}}}"}[case]
        trades.append(f"  - {{id: T{i}, {terms}}}")
    return "\n".join(["market:", "  as_of: 2026-01-15", f"  currencies: {{USD: {{rate: {RATE}}}}}", "  assets:", *assets,
                      f"  correlations: {{complete: true, pairs: [{', '.join(pairs)}]}}", "trades:", *trades, ""])


class tilewalk:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder

    def prices(self, case, paths, seed, randomisations=16, threads=1):
        """Prices with their errors, and seconds a trade."""
        book, output = os.path.join(self.folder, f"{case}.yaml"), os.path.join(self.folder, "out.json")
        with open(book, "w", encoding="utf-8") as file:
            file.write(text_of(case))
        command = [self.arguments.command, "price", book, "--threads", str(threads), "--device", "cpu", "--controls", "none", "--random", "sobol",
                   "--construction", self.arguments.construction, "--randomisations", str(randomisations), "--paths", str(paths), "--seed", str(seed),
                   "--quiet", "--format", "json", "--output", output]
        done = subprocess.run(command, text=True, stderr=subprocess.PIPE, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr[-4000:]}")
        with open(output, encoding="utf-8") as file:
            found = json.load(file)
        self.manifest = found["manifest"]
        if any(r["paths"] != paths or r["randomisations"] != randomisations for r in found["rows"]) or len(found["rows"]) != TRADES:
            sys.exit(f"{case}: other paths than the {paths} that were asked for")
        return ([(r["price"], r["standard_error"]) for r in found["rows"]],
                (self.manifest["plan_seconds"] + self.manifest["path_seconds"]) / TRADES)


def flat(rate):
    return ql.YieldTermStructureHandle(ql.FlatForward(TODAY, rate, DAYS))


def spot():
    return ql.QuoteHandle(ql.SimpleQuote(SPOT))


def lognormal(volatility):
    surface = ql.BlackConstantVol(TODAY, ql.NullCalendar(), volatility, DAYS)
    return ql.BlackScholesMertonProcess(spot(), flat(0.0), flat(RATE), ql.BlackVolTermStructureHandle(surface))


def option_of(case, i):
    """A trade, and a function that makes its engine from traits, samples and seed."""
    payoff, exercise = ql.PlainVanillaPayoff(ql.Option.Call, STRIKES[i]), ql.EuropeanExercise(TODAY + 365)
    process = lognormal(VOLATILITIES[i])
    if case == "european":
        return ql.VanillaOption(payoff, exercise), lambda traits, n, seed: ql.MCEuropeanEngine(
            process, traits, timeSteps=1, brownianBridge=True, requiredSamples=n, seed=seed)
    if case == "asian":
        option = ql.DiscreteAveragingAsianOption(ql.Average.Arithmetic, [TODAY + d for d in FIXING_DAYS], payoff, exercise)
        return option, lambda traits, n, seed: ql.MCDiscreteArithmeticAPEngine(process, traits, brownianBridge=True, requiredSamples=n,
                                                                             seed=seed)
    if case == "barrier":
        option = ql.BarrierOption(ql.Barrier.DownOut, BARRIER, 0.0, payoff, exercise)
        # isBiased: the barrier is monitored after each step only, without a correction for the time between, as in this trade.
        return option, lambda traits, n, seed: ql.MCBarrierEngine(process, traits, timeSteps=BARRIER_DATES, brownianBridge=True,
                                                                requiredSamples=n, isBiased=True, seed=seed)
    if case == "basket":
        matrix = ql.Matrix(BASKET, BASKET, CORRELATION)
        for j in range(BASKET):
            matrix[j][j] = 1.0
        processes = ql.StochasticProcessArray([lognormal(volatility_in_basket(i, j)) for j in range(BASKET)], matrix)
        option = ql.BasketOption(ql.AverageBasketPayoff(payoff, BASKET), exercise)
        return option, lambda traits, n, seed: ql.MCEuropeanBasketEngine(processes, traits, timeSteps=1, requiredSamples=n, seed=seed)
    variance = VOLATILITIES[i] ** 2
    of_heston = ql.HestonProcess(flat(RATE), flat(0.0), spot(), variance, HESTON["kappa"], variance, HESTON["sigma"], HESTON["rho"],
                                 ql.HestonProcess.FullTruncation)
    return ql.VanillaOption(payoff, exercise), lambda traits, n, seed: ql.MCEuropeanHestonEngine(
        of_heston, traits, timeSteps=HESTON["steps"], requiredSamples=n, seed=seed)


def prices_of_quantlib(case, samples, traits, seed):
    prices, seconds = [], 0.0
    for i in range(TRADES):
        option, engine = option_of(case, i)
        begin = time.process_time()
        option.setPricingEngine(engine(traits, samples, seed))
        price = option.NPV()
        seconds += time.process_time() - begin
        prices.append((price, option.errorEstimate() if traits == "PseudoRandom" else math.nan))
    return prices, seconds / TRADES


def error_in_bp(prices, truths):
    """The root mean square error, in basis points of the spot."""
    return 1e4 / SPOT * math.sqrt(sum((p - t) ** 2 for (p, _), (t, _) in zip(prices, truths)) / len(truths))


def expect_agreement(who, case, prices, truths, most):
    for i, ((price, error), (truth, truth_error)) in enumerate(zip(prices, truths)):
        if not abs(price - truth) <= most * math.hypot(error, truth_error):
            sys.exit(f"{case}, strike {STRIKES[i]}: {who} says {price} +- {error}, the truth is {truth} +- {truth_error}")


def seconds_to(error, line):
    """The time to reach an error, by a power law between two points (paths, error, seconds); beyond the
    last one by the slope of all points, with time proportional to paths. A line that begins below the
    error needs at most its first time."""
    if line[0][1] <= error:
        return line[0][2], "at most"
    for (_, e0, s0), (_, e1, s1) in zip(line, line[1:]):
        if e1 <= error:
            return s0 * (s1 / s0) ** (math.log(error / e0) / math.log(e1 / e0)), "interpolated"
    x, y = [math.log(p) for p, _, _ in line], [math.log(e) for _, e, _ in line]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    slope = sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)
    if slope >= 0:
        sys.exit("errors that don't fall with the paths have no time to a basis point")
    return line[-1][2] * (error / line[-1][1]) ** (1 / slope), "extrapolated"


def line_of(measure, sizes, truths, times):
    """The line, and prices and seconds of its last point."""
    out = []
    for paths in sizes:
        runs = [measure(paths) for _ in range(times)]
        out.append((paths, error_in_bp(runs[0][0], truths), min(s for _, s in runs)))
    return out, runs[0]


def tell(who, line):
    for paths, error, seconds in line:
        print(f"    {who:9} {paths:8} paths   error {error:9.4f} bp   {1e3 * seconds:10.3f} ms", flush=True)


# By case: the largest number of paths for QuantLib (minutes for all cases), and the number for the more precise reference price.
CASES = {"european": (1 << 17, 1 << 22), "asian": (1 << 14, 1 << 21), "barrier": (1 << 16, 1 << 22), "basket": (1 << 16, 1 << 23),
         "heston": (1 << 18, 1 << 21)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", default="tilewalk")
    parser.add_argument("--cases", default=",".join(CASES), help="with commas between them")
    parser.add_argument("--construction", default="bridge")
    parser.add_argument("--truth", type=int, default=0, help="paths of truths (default: by case)")
    parser.add_argument("--ours", type=int, default=1 << 17, help="the most paths of Tilewalk's lines")
    parser.add_argument("--most", type=int, default=1 << 30, help="the most paths of QuantLib's lines")
    parser.add_argument("--times", type=int, default=5)
    arguments = parser.parse_args()
    cases = arguments.cases.split(",")
    if unknown := [c for c in cases if c not in CASES]:
        parser.error(f"found {unknown[0]}, expected some of {', '.join(CASES)}")
    ql.Settings.instance().evaluationDate = TODAY
    summary = []
    with tempfile.TemporaryDirectory() as folder:
        ours = tilewalk(arguments, folder)
        for case in cases:
            most, paths_of_truth = CASES[case]
            most, paths_of_truth = min(most, arguments.most), arguments.truth or paths_of_truth
            truths, _ = ours.prices(case, paths_of_truth, seed=7, randomisations=64, threads=0)
            in_bp = 1e4 / SPOT * math.sqrt(sum(error ** 2 for _, error in truths) / TRADES)
            print(f"{case}: truths from {paths_of_truth} paths, error {in_bp:.5f} bp", flush=True)
            sizes = [1 << k for k in range(8, most.bit_length())]
            theirs, last = line_of(lambda n: prices_of_quantlib(case, n - 1, "LowDiscrepancy", 1), sizes, truths, 1)
            tell("QuantLib", theirs)
            few = min(sizes[-1], 1 << 15)
            by_paths, _ = prices_of_quantlib(case, few, "PseudoRandom", 42)
            expect_agreement("QuantLib", case, by_paths, truths, MOST_ERRORS)
            points, _ = last
            by_chance = [(price, error * math.sqrt(few / sizes[-1])) for (price, _), (_, error) in zip(points, by_paths)]
            expect_agreement("QuantLib by points", case, by_chance, truths, MOST_ERRORS)
            if case == "european":
                exact = []
                for i in range(TRADES):
                    option, _ = option_of(case, i)
                    option.setPricingEngine(ql.AnalyticEuropeanEngine(lognormal(VOLATILITIES[i])))
                    exact.append((option.NPV(), 0.0))
                expect_agreement("Black's formula", case, exact, truths, MOST_ERRORS)
            sizes = [1 << k for k in range(FEWEST_PATHS_OF_OURS.bit_length() - 1, arguments.ours.bit_length())]
            mine, _ = line_of(lambda n: ours.prices(case, n, seed=42), sizes, truths, arguments.times)
            tell("Tilewalk", mine)
            expect_agreement("Tilewalk", case, ours.prices(case, sizes[-1], seed=43)[0], truths, MOST_ERRORS_OF_16)
            if 2 * in_bp > min(e for _, e, _ in theirs + mine):
                sys.exit(f"{case}: the truths' error is more than half of an error that is held against them: take more --truth paths")
            summary.append((case, seconds_to(1, theirs), seconds_to(1, mine)))
        m = ours.manifest
        print(f"\nTime to an error of 1 bp of the spot on one thread, milliseconds. {m['machine']}; "
              f"Tilewalk {m['version']}, construction {arguments.construction}; QuantLib {ql.__version__}; "
              f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d}.")
        print(f"    {'':10} {'QuantLib':>26} {'Tilewalk':>26}   ratio")
        for case, (theirs, how), (mine, my_how) in summary:
            least = "at least " if my_how == "at most" else "at most " if how == "at most" else ""
            print(f"    {case:10} {1e3 * theirs:11.2f} ({how:12}) {1e3 * mine:11.3f} ({my_how:12})   {least}{theirs / mine:.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
