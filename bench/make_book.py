#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a book of made-up trades in the market configs/markets/demo.yaml: either like a desk's, or over the whole library.

    bench/make_book.py --trades 10000 --output book.yaml
    bench/make_book.py --trades 200 --cover --output cover.yaml
    bench/make_book.py --each-kind --output kinds.yaml
    bench/make_book.py --library --trades 1000 --output library.yaml

The same arguments give the same book. With --cover the book begins with one trade of every kind (each choice that a
product's payoff can make, discrete and continuous barriers, past fixings, quanto, cash dividends, one to five assets);
--each-kind stops after them. With --library all products that `tilewalk products` lists take turns: a product without a
maker here is drawn around its example, and trades that its script refuses are left out.
"""
import argparse
import datetime
import itertools
import json
import math
import os
import random
import subprocess
import sys
import tempfile

AS_OF = datetime.date(2026, 1, 15)
# Spot, volatility and currency by asset, close enough to the demo market's for plausible terms of trades.
ASSETS = {
    "ACME": (100.0, 0.22, "USD"),
    "BETA": (48.20, 0.31, "USD"),
    "GAMMA": (65.40, 0.26, "EUR"),
    "DELTA": (11.85, 0.19, "GBP"),
    "INDEX": (6900.0, 0.17, "USD"),
    "CASHCOW": (82.50, 0.18, "USD"),
}
CURRENCIES = ("USD", "EUR", "GBP", "JPY")
# The demo market has past fixings of these assets on these days.
FIXED_ASSETS = ("ACME", "BETA", "INDEX")
FIXED_DAYS = ("2025-12-15", "2025-12-31", "2026-01-05", "2026-01-12", "2026-01-15")


def number(x, digits=5):
    """Formats with `digits` significant digits; never in scientific notation."""
    rounded = round(x, digits - 1 - math.floor(math.log10(abs(x)))) if x else 0.0
    return f"{rounded:.10f}".rstrip("0").rstrip(".")


def date_after(years):
    return AS_OF + datetime.timedelta(days=round(365 * years))


class dice:
    """Draws from random.random alone, the one method whose sequence Python promises to keep. Values pinned
    by name are used unchanged."""

    def __init__(self, seed):
        self._random = random.Random(seed)
        self.pinned = {}

    def between(self, low, high):
        return low + (high - low) * self._random.random()

    def often(self, probability):
        return self._random.random() < probability

    def one_of(self, name, values):
        drawn = values[int(self._random.random() * len(values))]
        return self.pinned.get(name, drawn)

    def flag(self, name, probability):
        drawn = self.often(probability)
        return self.pinned.get(name, drawn)

    def whole(self, low, high):
        return low + int(self._random.random() * (high - low + 1))

    def some(self, values, count):
        left = list(values)
        return [left.pop(int(self._random.random() * len(left))) for _ in range(count)]


def pick_asset(d, running=False):
    return d.one_of("underlying", FIXED_ASSETS if running else tuple(ASSETS))


def near_spot(d, asset, years, deviations=1.0):
    spot, volatility, _ = ASSETS[asset]
    return spot * math.exp(d.between(-deviations, deviations) * volatility * math.sqrt(years))


def maturity(d, shortest=0.1, longest=3.0):
    """A time in years, and in the form of a book."""
    years = d.between(shortest, longest)
    if d.often(0.5):
        day = date_after(years)
        return (day - AS_OF).days / 365, day.isoformat()
    text = number(years, 4)
    return float(text), text


def european(d):
    asset = pick_asset(d)
    years, when = maturity(d)
    return {"underlying": asset, "option": d.one_of("option", ("call", "put")),
            "strike": number(near_spot(d, asset, years)), "maturity": when}


def digital(d):
    asset = pick_asset(d)
    years, when = maturity(d)
    return {"underlying": asset, "option": d.one_of("option", ("call", "put")),
            "strike": number(near_spot(d, asset, years)), "payout": number(d.between(1, 100), 3), "maturity": when}


def asian(d):
    running = d.flag("running", 0.1)
    asset = pick_asset(d, running)
    years = d.between(0.25, 1.5)
    if running:
        first = d.whole(0, 2)
        days = list(FIXED_DAYS[first:])
        days += [(AS_OF + datetime.timedelta(days=7 * k)).isoformat() for k in range(1, 2 + int(52 * years))]
        dates = "[" + ", ".join(days) + "]"
    elif d.often(0.5):
        dates = f"{{start: 0, end: {number(years, 3)}, count: {d.whole(4, 60)}}}"
    else:
        every = d.one_of("every", ("1w", "2w", "1m"))
        end = date_after(years)
        dates = (f"{{start: {AS_OF}, end: {end}, every: {every}, calendar: weekends, roll: following}}")
    return {"underlying": asset, "option": d.one_of("option", ("call", "put")),
            "strike": number(near_spot(d, asset, years / 3)), "averaging_dates": dates}


def barrier(d):
    monitoring = d.one_of("monitoring", ("continuous", "discrete"))
    running = d.flag("running", 0.1)
    asset = pick_asset(d, running)
    spot, volatility, _ = ASSETS[asset]
    years, when = maturity(d, 0.25, 2.0)
    direction = d.one_of("direction", ("down", "up"))
    away = (-1 if direction == "down" else 1) * d.between(0.5, 2.0)
    out = {"underlying": asset, "option": d.one_of("option", ("call", "put")),
           "strike": number(near_spot(d, asset, years)), "maturity": when, "direction": direction,
           "kind": d.one_of("kind", ("knock_out", "knock_in")),
           "barrier": number(spot * math.exp(away * volatility * math.sqrt(years)))}
    if monitoring == "discrete":
        out["monitoring"] = "discrete"
        if running or "-" in when:
            days = list(FIXED_DAYS[1:4]) if running else []
            weeks = max(2, int((date_after(years) - AS_OF).days / 7) - 1)
            days += [(AS_OF + datetime.timedelta(days=7 * k)).isoformat() for k in range(1, weeks)]
            if "-" not in when:
                out["maturity"] = date_after(years).isoformat()
            out["monitoring_dates"] = "[" + ", ".join(days) + "]"
        else:
            out["monitoring_dates"] = f"{{start: 0, end: {when}, count: {d.whole(4, 60)}}}"
    elif running:
        out["monitoring_start"] = FIXED_DAYS[0]
    elif d.often(0.2):
        out["monitoring_start"] = number(years * d.between(0.1, 0.5), 3)
        if "-" in when:
            out["monitoring_start"] = date_after(years * 0.3).isoformat()
    if d.flag("has_rebate", 0.5):
        out["rebate"] = number(spot * d.between(0.01, 0.05), 3)
        if out["kind"] == "knock_out":
            out["rebate_paid"] = d.one_of("rebate_paid", ("at_hit", "at_expiry"))
    return out


def autocallable(d):
    count = d.one_of("assets", (1, 2, 2, 3, 3, 3, 4, 5))
    running = d.flag("running", 0.05) and count <= len(FIXED_ASSETS)
    basket = d.some(FIXED_ASSETS if running else tuple(ASSETS), count)
    if "cash" in d.pinned:
        basket = d.some([a for a in ASSETS if a != "CASHCOW"], count)
        if d.pinned["cash"] is not None:
            basket[d.pinned["cash"]] = "CASHCOW"
    per_year = d.one_of("per_year", (1, 2, 4))
    notes = per_year * d.whole(1, 3)
    times = [(k + 1) / per_year for k in range(notes)]
    if running:
        observations = [FIXED_DAYS[1]] + [date_after(t).isoformat() for t in times]
    else:
        observations = [number(t, 4) for t in times]
    notes = len(observations)
    rate = d.between(0.04, 0.14) / per_year
    last = d.between(0.8, 1.0)
    # The first call level of a running note is so high that it can't have been called on a past date.
    calls = [1.2 if running and k == 0 else 1 + (last - 1) * k / max(1, notes - 1) for k in range(notes)]
    coupons = [rate * (k + 1) for k in range(notes)]
    return {"basket": "[" + ", ".join(basket) + "]",
            "initial_level": "[" + ", ".join(number(ASSETS[a][0] * d.between(0.95, 1.05)) for a in basket) + "]",
            "observations": "[" + ", ".join(observations) + "]",
            "call_level": "[" + ", ".join(number(x, 4) for x in calls) + "]",
            "coupon": "[" + ", ".join(number(x, 4) for x in coupons) + "]",
            "protection": number(d.between(0.5, 0.8), 3), "notional": "1000"}


def variance_swap(d):
    running = d.flag("running", 0.1)
    asset = pick_asset(d, running)
    years = d.between(0.25, 1.0)
    every, annualisation = ("1w", 52) if running else d.one_of("every", (("business_day", 252), ("1w", 52)))
    if running:
        days = list(FIXED_DAYS[d.whole(0, 2):])
        days += [(AS_OF + datetime.timedelta(days=7 * k)).isoformat() for k in range(1, 2 + int(52 * years))]
        dates = "[" + ", ".join(days) + "]"
    else:
        forward = d.flag("forward_start", 0.3)
        start = date_after(0.1) if forward else AS_OF
        dates = (f"{{start: {start}, end: {date_after(years + 0.1)}, every: {every}, calendar: weekends, "
                 "roll: following, include_start: true}")
    volatility = ASSETS[asset][1] * d.between(0.8, 1.2)
    strike_is = d.one_of("strike_is", ("volatility", "variance"))
    strike = volatility if strike_is == "volatility" else volatility * volatility
    return {"underlying": asset, "fixings": dates, "strike": number(strike, 4), "strike_is": strike_is,
            "annualisation": str(annualisation), "notional": "10000"}


MAKERS = {"european": european, "digital": digital, "asian": asian, "barrier": barrier,
          "autocallable": autocallable, "variance_swap": variance_swap}
# How often each product occurs in a desk's book, by the share of trades.
WEIGHTS = {"european": 0.30, "digital": 0.10, "asian": 0.18, "barrier": 0.22, "autocallable": 0.14,
           "variance_swap": 0.06}


def split_flow(text):
    """Splits a mapping in flow style into {key: text of its value}."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "[{") - (c in "]}")
        if c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    return {key.strip(): value.strip() for key, value in (part.split(":", 1) for part in parts)}


class page:
    """A product as described by `tilewalk products --format json`: trades are its example, with other
    choices and amounts."""

    def __init__(self, told):
        self.example = split_flow(told["example"].strip().strip("{}"))
        del self.example["id"], self.example["product"]
        self.choices = {p["name"]: p["range"].split(" | ") if p["type"] == "choice" else ["true", "false"]
                        for p in told["parameters"] if p["type"] in ("choice", "boolean")}
        self.amounts = [p["name"] for p in told["parameters"]
                        if p["type"] == "amount" and self.example.get(p["name"], "[")[0] not in "[{"]

    def kinds(self):
        yield {"quanto": False}
        if "currency" not in self.example:
            yield {"quanto": True}
        for name, values in self.choices.items():
            for value in values:
                if value != self.example.get(name):
                    yield {"quanto": False, name: value}

    def draw(self, d):
        terms = dict(self.example)
        for name, values in self.choices.items():
            choice = d.one_of(name, values)
            # Replaces a choice of the example in a quarter of the cases: choices drawn at random rarely fit together.
            if d.often(0.25) and not d.pinned or name in d.pinned:
                terms[name] = choice
        for name in self.amounts:
            factor = d.between(0.95, 1.05)
            if not d.pinned:
                terms[name] = number(float(terms[name]) * factor)
        return terms


def kinds():
    """Yields every kind of trade, as (product, pinned values)."""
    options = ("call", "put")
    plain_and_cash = ("ACME", "CASHCOW")
    for product in ("european", "digital"):
        for option, asset in itertools.product(options, plain_and_cash):
            yield product, {"option": option, "underlying": asset, "quanto": False}
        yield product, {"option": "call", "underlying": "INDEX", "quanto": True}
    for option, asset in itertools.product(options, plain_and_cash):
        yield "asian", {"option": option, "underlying": asset, "running": False, "quanto": False}
        yield "asian", {"option": option, "underlying": "GAMMA", "running": False, "quanto": True}
    for option in options:
        yield "asian", {"option": option, "underlying": "ACME", "running": True, "quanto": False}
    for asset, option, direction, monitoring in itertools.product(
            plain_and_cash, options, ("down", "up"), ("continuous", "discrete")):
        same = {"underlying": asset, "option": option, "direction": direction, "monitoring": monitoring,
                "running": False, "quanto": False}
        yield "barrier", {**same, "kind": "knock_in", "has_rebate": True}
        for rebate_paid in ("at_hit", "at_expiry"):
            yield "barrier", {**same, "kind": "knock_out", "has_rebate": True, "rebate_paid": rebate_paid}
    for monitoring, running in itertools.product(("continuous", "discrete"), (False, True)):
        yield "barrier", {"underlying": "INDEX", "monitoring": monitoring, "running": running, "has_rebate": False,
                          "quanto": True}
    for count in range(1, 6):
        yield "autocallable", {"assets": count, "running": False, "cash": None, "quanto": False}
        yield "autocallable", {"assets": count, "running": False, "cash": None, "quanto": True}
        for place in sorted({0, count - 1}):
            yield "autocallable", {"assets": count, "running": False, "cash": place, "quanto": False}
        if count <= len(FIXED_ASSETS):
            yield "autocallable", {"assets": count, "running": True, "quanto": False}
    for strike_is, asset in itertools.product(("volatility", "variance"), plain_and_cash):
        for forward in (False, True):
            yield "variance_swap", {"strike_is": strike_is, "underlying": asset, "running": False,
                                    "forward_start": forward, "quanto": False}
    for strike_is in ("volatility", "variance"):
        yield "variance_swap", {"strike_is": strike_is, "underlying": "INDEX", "running": True, "quanto": True}


# Terms of trades for what examples leave out: choices, one asset and several, dividends, fixings, other currencies.
WEEKLY = "{start: 2026-01-15, end: 2027-01-15, every: 1w, calendar: weekends, roll: following}"
MONTHLY = "{start: 2026-01-15, end: 2027-01-15, every: 1m, calendar: weekends, roll: following}"
RUNNING = "[2025-12-15, 2025-12-31, 2026-01-15, 2026-04-15, 2026-07-15, 2027-01-15]"
TWO = "basket: [ACME, BETA], initial_level: [100, 48.20]"
THREE = "basket: [GAMMA, CASHCOW, INDEX], initial_level: [65.40, 82.50, 6900]"
WRITTEN = (
    ("basket", "basket: [ACME, CASHCOW], option: put, strike: 180, maturity: 1.0, currency: EUR"),
    ("spread", "long_asset: CASHCOW, short_asset: ACME, option: put, strike: -15, maturity: 1.0, currency: EUR"),
    ("exchange", "received_asset: GAMMA, given_asset: CASHCOW, maturity: 2.0"),
    *((f"{which}_of", f"{basket}, option: {option}, strike: 1, maturity: 1.0")
      for which in ("best", "worst") for basket in (TWO, THREE) for option in ("put", "or_cash")),
    ("rainbow", f"{TWO}, weights: [0.6, 0.4], option: put, maturity: 1.0"),
    ("rainbow", f"{THREE}, weights: [0, 1, 0], maturity: 1.0, currency: USD"),
    ("himalaya", f"{TWO}, observations: [2025-12-31, 2027-01-15]"),
    ("himalaya", f"{THREE}, observations: [1.0, 2.0], strike: 0.9"),
    ("volatility_swap", f"underlying: CASHCOW, fixings: {WEEKLY}, strike: 0.18, annualisation: 52"),
    ("volatility_swap", f"underlying: ACME, fixings: {RUNNING}, strike: 0.2, annualisation: 6, currency: EUR"),
    *(("corridor_variance_swap", f"underlying: {asset}, fixings: {WEEKLY}, strike: 0.2, lower: 80, upper: 100, "
       f"annualisation: 52, deciding_fixing: {fixing}, strike_on: {on}")
      for asset, fixing, on in (("ACME", "earlier", "counted"), ("ACME", "later", "all"), ("CASHCOW", "later", "counted"))),
    ("range_accrual", f"basket: [ACME, CASHCOW], lower: [80, 70], observations: {WEEKLY}, coupon: 0.06, maturity: 2027-02-15"),
    ("range_accrual", f"basket: [ACME, BETA, INDEX], lower: [80, 40, 6000], upper: [120, 60, 8000], observations: {RUNNING}, "
     "coupon: 0.06, maturity: 2027-02-15, redeems: true, currency: EUR"),
    *(("phoenix_autocallable", f"{basket}, observations: {MONTHLY}, coupon: 0.01, memory: {memory}, watched: {watched}"
       f"{'' if watched == 'at_maturity' else ', watching_dates: ' + WEEKLY}")
      for basket in (TWO, THREE) for memory in ("true", "false")
      for watched in ("at_maturity", "on_dates", "continuous")),
    ("phoenix_autocallable", f"basket: [ACME], initial_level: 110, observations: {RUNNING}, coupon: 0.02, watched: continuous, "
     "watching_start: 2025-12-15, currency: EUR"),
    ("reverse_convertible", f"{THREE}, coupon_dates: [0.5, 1.0], coupon: 0.05, maturity: 1.0, currency: GBP"),
    ("barrier_reverse_convertible", f"{TWO}, barrier: 0.7, watching_dates: {WEEKLY}, coupon_dates: [2026-07-15], coupon: 0.05, "
     "maturity: 2027-01-15"),
    ("barrier_reverse_convertible", f"{THREE}, barrier: 0.7, watched: on_dates, watching_dates: {WEEKLY}, coupon_dates: "
     "[2026-07-15], coupon: 0.05, maturity: 2027-01-15, currency: USD"),
    ("capital_protected_note", f"{THREE}, participation: 0.8, maturity: 3.0"),
    *(("accumulator", f"underlying: {asset}, side: {side}, strike: {strike}, barrier: {barrier}, watched: {watched}, "
       f"observations: {WEEKLY}")
      for asset, side, strike, barrier in (("ACME", "accumulate", 90, 108), ("CASHCOW", "decumulate", 90, 70))
      for watched in ("on_dates", "continuous")),
    *(("target_redemption_forward", f"underlying: {asset}, side: {side}, strike: {strike}, fixings: {MONTHLY}, target: 20, "
       f"at_target: {rule}")
      for asset, side, strike in (("ACME", "buy", 95), ("CASHCOW", "sell", 88)) for rule in ("full", "exact", "none")),
)


def make_trade(d, index, product, pinned, pages):
    d.pinned = pinned
    terms = (MAKERS.get(product) or pages[product].draw)(d)
    named = (value.strip("[]").split(", ")[0] for value in terms.values())
    first = next((name for name in named if name in ASSETS), None)
    if first is not None:  # a trade without an asset states its currency
        quanto = d.flag("quanto", 0.12)
        foreign = d.one_of("currency", tuple(c for c in CURRENCIES if c != ASSETS[first][2]))
        if quanto:
            terms["currency"] = foreign
    if d.often(0.3):
        terms["quantity"] = str(d.whole(-500, 500) or 1)
    text = ", ".join(f"{key}: {value}" for key, value in terms.items())
    return f"  - {{id: {product}_{index:05d}, product: {product}, {text}}}"


def read_pages(command):
    told = subprocess.run([command, "products", "--format", "json"], check=True, capture_output=True, text=True)
    return {p["product"]: page(p) for p in json.loads(told.stdout)}


def refused_lines(command, text):
    """Returns the line numbers of trades that their own products refuse."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="ascii") as book:
        book.write(text)
        book.flush()
        said = subprocess.run([command, "validate", book.name], capture_output=True, text=True)
        if said.returncode not in (0, 3):
            raise SystemExit(f"make_book.py: {said.stderr}")
        lines = (said.stdout + said.stderr).splitlines()
        return {int(line[len(book.name) + 1:].split(":")[0]) for line in lines if line.startswith(book.name + ":")}


def drawn_product(d):
    at = d.between(0, sum(WEIGHTS.values()))
    for product, weight in WEIGHTS.items():
        at -= weight
        if at < 0:
            return product
    return product


def made_lines(trades, seed, cover, pages):
    d = dice(seed)
    every_kind = list(kinds()) if cover else []
    every_kind += [(name, pinned) for name in pages if name not in MAKERS for pinned in pages[name].kinds() if cover]
    written = WRITTEN if cover else ()
    covered = len(written) + len(every_kind)
    if trades is None:
        trades = covered
    if trades < covered:
        raise SystemExit(f"make_book.py: --cover takes {covered} trades, found --trades {trades}")
    for i, (product, terms) in enumerate(written):
        yield f"  - {{id: {product}_{i:05d}_written, product: {product}, {terms}}}", True
    for i in itertools.count():
        if i < len(every_kind):
            product, pinned = every_kind[i]
        elif len(written) + i < trades or pages:
            product, pinned = list(pages)[i % len(pages)] if pages else drawn_product(d), {}
        else:
            return
        yield make_trade(d, i, product, pinned, pages), i < len(every_kind)


def make_book(trades, seed, cover, market, paths, pages, command):
    def head(count):
        return [f"# Made by bench/make_book.py with seed {seed}.", f"market: {market}",
                f"settings: {{paths: {paths}, seed: 42}}", f"trade_count: {count}", "trades:"]

    lines = []
    source = made_lines(trades, seed, cover, pages)
    while trades is None or len(lines) < trades:
        wanted = [line for line, is_kind in itertools.islice(source, 256) if trades is not None or is_kind]
        if not wanted:
            break
        # A trade drawn around an example may have choices that don't fit together: `tilewalk validate` refuses it, and it is dropped.
        refused = refused_lines(command, "\n".join(head(len(wanted)) + wanted) + "\n") if pages else set()
        lines += [line for i, line in enumerate(wanted) if i + len(head(0)) + 1 not in refused]
    lines = lines[:trades]
    return "\n".join(head(len(lines)) + lines) + "\n"


def main():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trades", type=int, default=None)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--paths", type=int, default=65536)
    parser.add_argument("--cover", action="store_true", help="begin with one trade of every kind")
    parser.add_argument("--each-kind", action="store_true", help="one trade of every kind and no more")
    parser.add_argument("--library", action="store_true", help="every product of the library takes its turn")
    parser.add_argument("--command", default=os.path.join(root, "build/release/tilewalk"),
                        help="the tilewalk that --library asks")
    parser.add_argument("--market", default=os.path.join(root, "configs/markets/demo.yaml"))
    parser.add_argument("--output", default="-")
    args = parser.parse_args()
    if args.trades is None and not args.each_kind:
        parser.error("say how many --trades, or --each-kind")
    text = make_book(None if args.each_kind else args.trades, args.seed, args.cover or args.each_kind, args.market,
                     args.paths, read_pages(args.command) if args.library else {}, args.command)
    if args.output == "-":
        sys.stdout.write(text)
    else:
        with open(args.output, "w", encoding="ascii") as out:
            out.write(text)


if __name__ == "__main__":
    main()
