#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The workloads in QuantLib: its Monte Carlo engines, on one CPU thread and a part of the paths."""
import peer

# QuantLib takes the paths of a workload divided by this: it walks some five million path-steps a second, so all would take too long.
SHARE = 32


def open_quantlib(arguments):
    import QuantLib

    return quantlib_peer(QuantLib)


class quantlib_peer:
    def __init__(self, ql):
        self.ql = ql
        self.version = ql.__version__
        self.device = "CPU, one thread"
        self.today = ql.Date(15, 1, 2026)
        ql.Settings.instance().evaluationDate = self.today
        self.days = ql.Actual365Fixed()

    def pricers(self, precision):
        if precision != "float64":
            return {}
        return {
            ("monte_carlo", "asian"): self.asian,
            ("monte_carlo", "heston"): self.heston,
            ("monte_carlo", "bermudan_put"): self.bermudan_put,
        }

    def flat(self, rate):
        return self.ql.YieldTermStructureHandle(self.ql.FlatForward(self.today, rate, self.days))

    def spot(self, w):
        return self.ql.QuoteHandle(self.ql.SimpleQuote(w["spot"]))

    def lognormal(self, w):
        volatility = self.ql.BlackConstantVol(self.today, self.ql.NullCalendar(), w["volatility"], self.days)
        return self.ql.BlackScholesMertonProcess(self.spot(w), self.flat(0.0), self.flat(w["rate"]),
                                                 self.ql.BlackVolTermStructureHandle(volatility))

    def last_day(self, w):
        return self.today + int(round(365 * w["years"]))

    def run(self, w, option, engine):
        """Gives each run its own seed, as other libraries continue their streams."""
        w["paths"] = max(1024, w["paths"] // SHARE)
        seed = iter(range(42, 1 << 30))

        def price():
            option.setPricingEngine(engine(w["paths"], next(seed)))
            return option.NPV(), option.errorEstimate()
        return price

    def asian(self, w):
        ql, process = self.ql, self.lognormal(w)
        payoff = ql.PlainVanillaPayoff(ql.Option.Call, w["strike"])
        # QuantLib's fixings are on whole days: the day nearest to the time of each step.
        fixings = [self.today + int(round(365 * w["dt"] * (k + 1))) for k in range(w["steps"])]
        option = ql.DiscreteAveragingAsianOption(ql.Average.Arithmetic, fixings, payoff,
                                                 ql.EuropeanExercise(self.last_day(w)))
        return self.run(w, option, lambda paths, seed: ql.MCDiscreteArithmeticAPEngine(
            process, "PseudoRandom", requiredSamples=paths, seed=seed))

    def heston(self, w):
        ql = self.ql
        process = ql.HestonProcess(self.flat(w["rate"]), self.flat(0.0), self.spot(w), w["variance"], w["reversion"],
                                   w["mean_variance"], w["volatility_of_variance"], w["correlation"],
                                   ql.HestonProcess.FullTruncation)
        option = ql.VanillaOption(ql.PlainVanillaPayoff(ql.Option.Call, w["strike"]),
                                  ql.EuropeanExercise(self.last_day(w)))
        return self.run(w, option, lambda paths, seed: ql.MCEuropeanHestonEngine(
            process, "PseudoRandom", timeSteps=w["steps"], requiredSamples=paths, seed=seed))

    def bermudan_put(self, w):
        """Longstaff and Schwartz's American on as many dates as the workload has."""
        ql, process = self.ql, self.lognormal(w)
        option = ql.VanillaOption(ql.PlainVanillaPayoff(ql.Option.Put, w["strike"]),
                                  ql.AmericanExercise(self.today, self.last_day(w)))
        return self.run(w, option, lambda paths, seed: ql.MCAmericanEngine(
            process, "PseudoRandom", timeSteps=w["steps"], requiredSamples=paths, seed=seed, polynomOrder=3,
            nCalibrationSamples=paths))


if __name__ == "__main__":
    raise SystemExit(peer.main("quantlib", open_quantlib))
