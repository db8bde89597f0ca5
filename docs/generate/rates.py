# SPDX-License-Identifier: Apache-2.0
"""Pictures of what a model does to interest rates, from prices of the engine.

A payment of one that is made only where a rate is below a level, divided by the price of one for certain on that day, is how
likely that is, as the market prices it: a few levels by date make a fan. Means of rates, of their squares and of their products
tell how much rates of each term move, and how alike.
"""
import dataclasses
import json
import math
import pathlib
import statistics
import tempfile

from chart import band, curve, draw
from command import command_line

YEARS = (1, 2, 3, 4, 5, 6, 8, 10)
TERMS = (1, 2, 3, 4, 5, 7, 10)
AWAY = (-2.1, -1.4, -0.7, 0.0, 0.7, 1.4, 2.1)  # levels, in standard deviations from the mean
MOMENTS = ("one", "alone", "squared", "product_of_both")
RUN = ("--paths", "8192", "--random", "sobol", "--controls", "none")
NORMAL = statistics.NormalDist()
PRODUCTS = """
  - product: rate_of_a_year
    summary: The simple rate of a year, its square, or one; paid at its end, where the rate is below a level.
    parameters:
      what: {type: choice, choices: [one, alone, squared], help: What is paid.}
      fixing: {type: date, help: When the year begins.}
      end: {type: date, help: When it ends.}
      level: {type: rate, default: 100, help: The level.}
    example: {currency: USD, what: one, fixing: 1.0, end: 2.0}
    script: |
      on fixing:
          rate = forward_rate(currency, fixing, end)
          if rate < level:
              if what == one:
                  pay 1 on end
              elif what == alone:
                  pay rate on end
              else:
                  pay rate * rate on end
  - product: zero_rates
    summary: Zero rates of two terms seen on a day, multiplied or alone.
    parameters:
      what: {type: choice, choices: [one, alone, squared, product_of_both], help: The factors.}
      seen: {type: date, help: When they are seen.}
      end: {type: date, help: The end of the term of x.}
      other: {type: date, help: That of y.}
    example: {currency: USD, what: alone, seen: 1.0, end: 3.0, other: 2.0}
    script: |
      on seen:
          x = -log(bond(currency, end)) / year_fraction(today, end)
          y = -log(bond(currency, other)) / year_fraction(today, other)
          if what == one:
              pay 1
          elif what == alone:
              pay x
          elif what == squared:
              pay x * x
          else:
              pay x * y
"""


@dataclasses.dataclass
class law:
    """The rate of a year from some day on: its mean, and how likely it is below each of some levels."""
    mean: float
    below: list[tuple[float, float]]

    def quantile(self, share: float) -> float:
        """The level below which the rate is in that share of the cases; between levels the law is taken for nearly normal."""
        wanted = NORMAL.inv_cdf(share)
        points = [(NORMAL.inv_cdf(found), level) for level, found in self.below if 0 < found < 1]
        (z0, low), (z1, high) = next(pair for pair in zip(points, points[1:]) if pair[1][0] >= wanted)
        return low + (high - low) * (wanted - z0) / (z1 - z0)


@dataclasses.dataclass
class moves:
    """The rate of a year by when it begins; of zero rates seen in a year, by term, the standard deviation, and the correlation
    with that of one year."""
    rates: dict[int, law]
    deviation: list[float]
    alike: list[float]


class prices:
    """Prices of trades on the rates of a currency, in the market of a book."""

    def __init__(self, tilewalk: command_line, book: str, currency: str, folder: pathlib.Path):
        self.tilewalk, self.currency, self.folder = tilewalk, currency, folder
        tilewalk.say("market", book, "--output", str(folder / "market.yaml"))

    def of(self, trades: list[dict]) -> list[float]:
        lines = "".join(f"  - {json.dumps({'id': str(n), **trade, 'currency': self.currency})}\n" for n, trade in enumerate(trades))
        (self.folder / "book.yaml").write_text(f"market: market.yaml\nproducts:{PRODUCTS}trades:\n{lines}", encoding="utf-8")
        return [row["price"] for row in self.tilewalk.data("price", str(self.folder / "book.yaml"), *RUN)["rows"]]


def moves_of(tilewalk: command_line, book: str, currency: str) -> moves:
    with tempfile.TemporaryDirectory() as folder:
        market = prices(tilewalk, book, currency, pathlib.Path(folder))
        years = [{"product": "rate_of_a_year", "fixing": float(t), "end": t + 1.0} for t in YEARS]
        found = market.of([{**year, "what": what} for year in years for what in MOMENTS[:3]]
                          + [{"product": "zero_rates", "what": what, "seen": 1.0, "end": 1.0 + term, "other": 1.0 + TERMS[0]}
                             for term in TERMS for what in MOMENTS])
        ones, means, squares = (found[i:3 * len(YEARS):3] for i in range(3))
        of_terms = [found[i:i + 4] for i in range(3 * len(YEARS), len(found), 4)]
        means = [mean / one for mean, one in zip(means, ones)]
        wide = [math.sqrt(square / one - mean ** 2) for square, one, mean in zip(squares, ones, means)]
        levels = [[mean + away * deviation for away in AWAY] for mean, deviation in zip(means, wide)]
        paid = market.of([{**year, "what": "one", "level": level} for year, here in zip(years, levels) for level in here])
    rates = {t: law(means[i], [(level, paid[i * len(AWAY) + k] / ones[i]) for k, level in enumerate(levels[i])])
             for i, t in enumerate(YEARS)}
    x, xx, xy = ([row[i] / row[0] for row in of_terms] for i in (1, 2, 3))
    deviation = [math.sqrt(square - mean ** 2) for mean, square in zip(x, xx)]
    return moves(rates, deviation, [(both - mean * x[0]) / (own * deviation[0]) for both, mean, own in zip(xy, x, deviation)])


def draw_fan(model: str, found: moves) -> str:
    def along(share: float) -> list[tuple[float, float]]:
        return [(t, 100 * found.rates[t].quantile(share)) for t in YEARS]

    return draw(f"{model}: quantiles of the rate of a year", [curve("as often above as below", along(0.5)),
                 curve("the mean, which is today's forward rate", [(t, 100 * found.rates[t].mean) for t in YEARS], is_dashed=True)],
                "years until the rate is fixed", "rate of a year, in %",
                bands=[band("in 90 of 100 cases", along(0.05), along(0.95)), band("in 50 of 100 cases", along(0.25), along(0.75))])


def draw_terms(model: str, found: moves) -> str:
    points = [(float(term), 1e4 * one) for term, one in zip(TERMS, found.deviation)]
    return draw(f"{model}: moves of zero rates over a year, by term", [curve("standard deviation of what a year brings", points)],
                "term of the rate, in years", "basis points", least=0.0)


def draw_alike(model: str, found: moves) -> str:
    points = [(float(term), one) for term, one in zip(TERMS, found.alike)]
    return draw(f"{model}: correlation of zero rates with that of one year", [curve("correlation with the rate of one year", points)],
                "term of the rate, in years", "correlation", least=0.0)
