# SPDX-License-Identifier: Apache-2.0
"""The worth of a product's example against the price of its asset, and its payment where that price stands still.

Both curves are prices of the engine. The second one is that of markets in which nothing moves: volatilities of almost
nothing, no interest and no dividends. It jumps where a payoff does: steps of it are halved until they are flat, or too
narrow to be seen. A scenario far away takes no control, so none is taken at all, and gains add up to prices. All random
numbers are those of the example's own price.
"""
import json
import pathlib
import tempfile
import typing

from chart import curve, draw
from command import command_line

POINTS = 41
WIDEST, NARROWEST = 0.5, 0.01  # of prices: how far they move, and of rates
STILL = 1e-6
STEP = 0.03  # of all that a curve rises: larger steps between neighbours are halved
HALVINGS = 7  # then a step is a quarter of a pixel wide


def moves_of(keys: list[dict], every_key: list[dict]) -> tuple[list[str], dict, float]:
    """The numbers that move, what makes all else stand still, and today's price if it is the only one (else 0).

    `keys` are those that the price depends on. A volatility by term takes all its pillars down together.
    """
    spots = [k for k in keys if k["key"].endswith(".spot")]
    rates = [k["key"] for k in keys if k["key"].split("@")[0].endswith(".rate") and k["unit"].startswith("rate")]
    owners = {k["key"].partition(".")[0] for k in keys}
    still = {}
    for k in every_key:
        owner, _, name = k["key"].split("@")[0].partition(".")
        if owner in owners and name == "volatility":
            still[k["key"]] = {"set": STILL}
        elif owner in owners and (name in ("dividend_yield", "dividend") or name == "rate" and k["unit"].startswith("rate")):
            still[k["key"]] = {"set": 0}
    if not spots:
        return rates, {}, 0.0
    return [k["key"] for k in spots], still, spots[0]["value"] if len(spots) == 1 else 0.0


def with_jumps(values_at: typing.Callable[[list[float]], dict[float, float]], steps: list[float]) -> dict[float, float]:
    """Values at these places and, where they differ by much from one to the next, at places between."""
    values = values_at(steps)
    known = sorted(values)
    if len(known) < 2:
        return values
    least = STEP * (max(values.values()) - min(values.values()))
    pairs = list(zip(known, known[1:]))
    for _ in range(HALVINGS):
        pairs = [(low, high) for low, high in pairs if abs(values[high] - values[low]) > least]
        middles = [(low + high) / 2 for low, high in pairs]
        if not middles:
            break
        values |= values_at(middles)
        pairs = [part for (low, high), middle in zip(pairs, middles) if middle in values
                 for part in ((low, middle), (middle, high))]
    return values


def curves_of(tilewalk: command_line, example: str) -> tuple[list[curve], str, float | None]:
    """The curves, what the axis is, and where today is on it."""
    with tempfile.TemporaryDirectory() as folder:
        book, file = pathlib.Path(folder) / "book.yaml", pathlib.Path(folder) / "scenarios.json"
        book.write_text(f"market: {tilewalk.root}/configs/markets/demo.yaml\ntrades:\n  - {example}\n", encoding="utf-8")
        keys = tilewalk.data("market", str(book), "--keys", "--trade", "example")
        moved, still, today = moves_of(keys, tilewalk.data("market", str(book), "--keys"))
        is_rate = not any(k.endswith(".spot") for k in moved)
        width = NARROWEST * 2 if is_rate else WIDEST
        steps = [width * (2 * i / (POINTS - 1) - 1) for i in range(POINTS)]

        def values_at(wanted: list[float], beside: dict) -> tuple[dict, dict[float, float]]:
            """The example's own price, and its value by step, in markets where the numbers beside those that move are these."""
            scenarios = {}
            for number, step in enumerate(wanted):
                move = {key: {"absolute": step} if is_rate else {"relative": step} for key in moved}
                scenarios[str(number)] = (move | beside) or {"days": 0}
            file.write_text(json.dumps({"stress": scenarios}), encoding="utf-8")
            result = tilewalk.data("scenarios", str(book), "--scenarios", str(file), "--paths", "8192", "--random", "sobol",
                                   "--controls", "none")
            base = result["rows"][0]
            gains = {wanted[int(s["name"])]: s["gains"][0] for s in result["scenarios"]}
            return base, {step: base["price"] + gain for step, gain in gains.items() if gain is not None}

        base, today_values = values_at(steps, {})
        still_values = with_jumps(lambda wanted: values_at(wanted, still)[1], steps) if still else {}
    unit = base["currency"]

    def points(values: dict[float, float]) -> list[tuple[float, float]]:
        return [(today * (1 + s) if today else 100 * s, values[s]) for s in sorted(values)]

    curves = [curve(f"what it is worth today, in {unit}", points(today_values))]
    if still:
        stands = "its price stands" if today else "all prices stand"
        curves.append(curve(f"what it pays where {stands} still there, in {unit}", points(still_values), is_dashed=True))
    if is_rate:
        return curves, "move of all interest rates, in percentage points", 0.0
    if today:
        return curves, f"price of {moved[0].removesuffix('.spot')}", today
    return curves, "move of all prices, in %", 0.0


def draw_payoff(tilewalk: command_line, name: str, example: str) -> str:
    curves, across, today = curves_of(tilewalk, example)
    return draw(f"{name}: value and payment of the example", curves, across, "value", today)
