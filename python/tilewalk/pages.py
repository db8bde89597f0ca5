# SPDX-License-Identifier: Apache-2.0
"""Tables as HTML for notebooks, for light and dark themes."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .results import Results
    from .tables import Table

__all__ = ["price_page", "product_page", "table_page"]

MOST_ROWS = 60

# Colours follow the theme: by the notebook's classes, or by the system's preference.
STYLE = """<style>
.tilewalk {--tw-line: #d0d0d8; --tw-soft: #6b6b78; --tw-bar: #3b6fb6; --tw-bad: #b3261e; --tw-thin: #9a6700}
@media (prefers-color-scheme: dark) {
.tilewalk {--tw-line: #44444f; --tw-soft: #a0a0ad; --tw-bar: #7fb0f0; --tw-bad: #f2857d; --tw-thin: #e0b040}}
[data-jp-theme-light="true"] .tilewalk {--tw-line: #d0d0d8; --tw-soft: #6b6b78; --tw-bar: #3b6fb6;
--tw-bad: #b3261e; --tw-thin: #9a6700}
[data-jp-theme-light="false"] .tilewalk, .vscode-dark .tilewalk, html.theme--dark .tilewalk {
--tw-line: #44444f; --tw-soft: #a0a0ad; --tw-bar: #7fb0f0; --tw-bad: #f2857d; --tw-thin: #e0b040}
.tilewalk table {border-collapse: collapse; font-variant-numeric: tabular-nums}
.tilewalk th, .tilewalk td {padding: 2px 10px; border-bottom: 1px solid var(--tw-line); text-align: left}
.tilewalk .n {text-align: right}
.tilewalk .soft, .tilewalk caption {color: var(--tw-soft)}
.tilewalk caption {caption-side: bottom; text-align: left; padding: 4px 10px}
.tilewalk .bad {color: var(--tw-bad)}
.tilewalk .thin {color: var(--tw-thin)}
.tilewalk pre {margin: 4px 10px}
</style>"""


def number(x: float, error: float | None = None) -> str:
    """The digits that exceed the error, and two more."""
    if x != x:
        return ""
    if error is None or error != error or error <= 0:
        return f"{x:.12g}"
    places = max(0, 1 - math.floor(math.log10(error))) if error < 1e15 else 0
    return f"{x:.{min(places, 15)}f}"


def short(x: float) -> str:
    return "" if x != x else f"{x:.3g}"


def error_bar(low: float, price: float, high: float) -> str:
    """The confidence interval as a bar, scaled by its width relative to the price."""
    if not (low == low and high == high and price == price):
        return ""
    half = (high - low) / 2
    relative = half / abs(price) if price else math.inf
    # The width is logarithmic: from a millionth of the price (a dot) to the whole price (full width).
    share = 0.0 if relative <= 1e-6 else min(1.0, (math.log10(min(relative, 1.0)) + 6) / 6)
    reach = 2 + 38 * share
    title = f"95 % interval: {low:.10g} to {high:.10g}"
    return (
        f'<svg width="84" height="12" role="img" aria-label="{title}"><title>{title}</title>'
        f'<line x1="{42 - reach:.1f}" x2="{42 + reach:.1f}" y1="6" y2="6" stroke="var(--tw-bar)" stroke-width="2"/>'
        f'<circle cx="42" cy="6" r="2.5" fill="var(--tw-bar)"/></svg>'
    )


def page(head: list[tuple[str, bool]], rows: list[str], caption: str) -> str:
    heads = "".join(f'<th class="n">{escape(name)}</th>' if right else f"<th>{escape(name)}</th>" for name, right in head)
    return (
        f'{STYLE}<div class="tilewalk"><table><caption>{caption}</caption><thead><tr>{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def price_page(results: Results) -> str:
    """Prices with error bars, marks for thin ones and wide bounds, and failed trades with their reasons."""
    core = results._core_table()
    first = min(len(results), MOST_ROWS)
    failed = (results.column("status") == "failed").nonzero()[0].tolist()
    later = [place for place in failed if place >= first][:MOST_ROWS]
    rows: list[str] = []
    for row in [*range(first), *later]:
        cell = {name: core.cell(name, row) for name in _SHOWN}
        head = f"<td>{escape(cell['trade'])}</td><td>{escape(cell['product'])}</td>"
        if cell["status"] == "failed":
            place = ":".join(str(part) for part in (cell["file"], cell["line"], cell["column"]) if part)
            rows.append(
                f'<tr>{head}<td class="bad" colspan="5">failed: {escape(cell["message"])} '
                f'<span class="soft">{escape(place)}</span></td></tr>'
            )
            continue
        error = cell["standard_error"]
        marks = ""
        if cell["thin"]:
            marks += ' <span class="thin" title="few paths carry the variance: the error is in doubt">thin</span>'
        if cell["error_steps"] > error:
            marks += f' <span class="thin" title="time steps may leave {short(cell["error_steps"])}">steps</span>'
        if cell["wide"]:
            marks += ' <span class="thin" title="bounds are far apart: the price is its policy\'s">wide</span>'
        if cell["status"] != "priced":
            marks += f' <span class="thin">{escape(cell["status"])}</span>'
        if cell["message"]:
            marks += f' <span class="soft" title="{escape(cell["message"])}">note</span>'
        rows.append(
            f"<tr>{head}<td>{escape(cell['currency'])}</td>"
            f'<td class="n">{number(cell["price"], error)}</td><td class="n soft">{short(error)}{marks}</td>'
            f"<td>{error_bar(cell['low'], cell['price'], cell['high'])}</td>"
            f'<td class="n">{number(cell["value"], abs(cell["value_error"]))}</td></tr>'
        )
    names = [("trade", False), ("product", False), ("currency", False), ("price", True), ("standard error", True),
             ("95 % interval", False), ("value", True)]
    return page(names, rows, caption_of(results, first, len(failed), len(later)))


_SHOWN = (
    "trade", "product", "currency", "status", "price", "standard_error", "error_steps", "low", "high", "value", "value_error",
    "thin", "wide", "message", "file", "line", "column",
)


def caption_of(table: Table, first: int, failed: int = 0, later: int = 0) -> str:
    """The number of rows, and how many are shown: the first ones, then some failed ones."""
    said = f"{len(table)} row{'' if len(table) == 1 else 's'}"
    if failed:
        said += f", {failed} failed"
    if first < len(table):
        said += f"; the first {first} are shown{f', and {later} that failed' if later else ''}"
    return escape(said)


def table_page(table: Table) -> str:
    """A table without its empty columns."""
    core = table._core_table()
    shown = min(len(table), MOST_ROWS)
    kept: list[tuple[str, bool, list[str]]] = []
    for name in core.names:
        is_number = core.kind(name) in ("figures", "counts")
        cells = [text_of(core.cell(name, row)) for row in range(shown)]
        if any(cells):
            kept.append((name, is_number, cells))
    rows = [
        "<tr>" + "".join(f'<td class="n">{cells[row]}</td>' if right else f"<td>{cells[row]}</td>" for _, right, cells in kept)
        + "</tr>"
        for row in range(shown)
    ]
    return page([(name, right) for name, right, _ in kept], rows, caption_of(table, shown))


def text_of(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else ""
    if isinstance(cell, float):
        return number(cell) if cell != cell or abs(cell) >= 1e15 or cell == 0 else f"{cell:.8g}"
    return escape(str(cell))


def product_page(page_of: dict[str, Any]) -> str:
    """A product: description, parameters and script."""
    rows = [
        f"<tr><td>{escape(p['name'])}</td><td>{escape(p['type'])}</td><td>{escape(p['range'])}</td>"
        f"<td>{escape(p['default'] or 'required')}</td><td>{escape(p['help'])}</td></tr>"
        for p in page_of["parameters"]
    ]
    names = [(name, False) for name in ("parameter", "type", "range", "default", "meaning")]
    table = page(names, rows, escape(page_of["summary"]))
    script = f'<div class="tilewalk"><b>{escape(page_of["name"])}</b></div>{table}'
    return f'{script}<div class="tilewalk"><pre>{escape(page_of["script"])}</pre></div>'
