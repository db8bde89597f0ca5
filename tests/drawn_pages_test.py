# SPDX-License-Identifier: Apache-2.0
# optional: engine/tell/page engine/tell/pictures docs/autocall.svg
"""Pages of results and pictures of trades as readers see them: drawn at two widths, light and dark, nothing
overlaps, is cut off or too faint; and the pages agree with the JSON of the same run."""
import html.parser
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import page_check

SOURCE = pathlib.Path(os.environ["TILEWALK_SOURCE_DIR"])
CLI = os.environ["TILEWALK_CLI"]
MOST_BYTES = 1_000_000
EVIL = ["<script>alert(1)</script>", "a & b", '"quoted"', "it's", "x" * 60, "</td></table>"]
VOID = set("br hr img input link meta wbr".split())


class Tables(html.parser.HTMLParser):
    """The tables of a page by name, as rows of cells with their classes, and texts by class."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tables, self.rows, self.cell, self.name = {}, None, None, ""
        self.code, self.classed, self.open = "", {}, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        has = dict(attributes)
        if tag not in VOID:
            self.open.append((tag, has.get("class", "")))
        if has.get("role") == "region":
            self.name = has["aria-label"]
        if tag == "tbody":
            self.rows = self.tables.setdefault(self.name, [])
        if tag == "tr" and self.rows is not None:
            self.rows.append([])
        if tag in ("td", "th") and self.rows is not None:
            self.rows[-1].append(["", has.get("class", "")])

    def handle_endtag(self, tag):
        if tag == "tbody":
            self.rows = None
        if self.open and self.open[-1][0] == tag:
            self.open.pop()

    def handle_data(self, data):
        if self.rows and self.rows[-1]:
            self.rows[-1][-1][0] += data
        elif self.open and self.open[-1][0] == "code":
            self.code += data
        if self.open and self.open[-1][1]:
            self.classed.setdefault(self.open[-1][1], []).append(data)

    def cells(self, name):
        return [[text for text, _ in row] for row in self.tables[name]]


def book_of(trades):
    """A book of so many trades, some with odd names, some thin and some that can't be priced."""
    lines = [f"market: {SOURCE}/configs/markets/demo.yaml", "settings: {paths: 16384, seed: 7}", "trades:"]
    for i in range(trades):
        name = (EVIL[i // 37 % len(EVIL)] + str(i) if i % 37 == 0 else f"trade_{i}").replace("'", "''")
        what = ["product: asian, underlying: ACME, option: call, strike: 95, quantity: 10, "
                "averaging_dates: {start: 2026-04-15, end: 2027-01-15, every: 3m}",
                f"product: european, underlying: BETA, option: put, strike: {40 + i % 50}, maturity: 1, quantity: -{5 + i}",
                f"product: digital, underlying: ACME, option: call, strike: {300 if i % 50 == 2 else 90}, maturity: 0.5",
                "product: european, underlying: NOBODY, strike: 3, maturity: 1"][3 if i % 97 == 7 else i % 3]
        lines.append(f"  - {{id: '{name}', {what}}}")
    return "\n".join(lines) + "\n"


def run(*arguments, exits=(0, 3)):
    done = subprocess.run([CLI, *map(str, arguments)], capture_output=True, text=True, cwd=SOURCE)
    if done.returncode not in exits:
        raise SystemExit(f"{arguments} ended with {done.returncode}\n{done.stderr}")
    return done


def same(shown, exact):
    """True if the text is the number, rounded to the digits shown."""
    shown = shown.strip()
    digits = shown.split("e")[0]
    places = len(digits.split(".")[1]) if "." in digits else 0
    power = int(shown.split("e")[1]) if "e" in shown else 0
    return abs(float(shown) - exact) <= 0.5000001 * 10.0 ** (power - places)


def expect(wrong, name, holds, why):
    if not holds:
        wrong.append(f"{name}: {why}")


def check_prices(wrong, name, page, told, lines):
    tables = Tables(page)
    rows = tables.cells("All trades")
    trades = [row["trade"] for row in told["rows"]]
    expect(wrong, name, [row[0] for row in rows] == trades, "the trades are not those of the JSON")
    for shown, row in zip(rows, told["rows"]):
        if row["status"] != "priced":
            expect(wrong, name, shown[1].startswith(row["status"]), f"{row['trade']}: shown as {shown[1]}")
            continue
        expect(wrong, name, same(shown[4], row["price"]), f"{row['trade']}: {shown[4]} for {row['price']}")
        expect(wrong, name, row["standard_error"] is None or same(shown[5] or "0", row["standard_error"]),
               f"{row['trade']}: error {shown[5]} for {row['standard_error']}")
        expect(wrong, name, ("thin" in shown[1]) == row["thin"], f"{row['trade']}: thin or not")
        left = row["error_steps"]
        expect(wrong, name, ("steps" in shown[1]) == (None not in (left, row["standard_error"]) and left > row["standard_error"]),
               f"{row['trade']}: steps or not")
    failed = [row["trade"] for row in told["rows"] if row["status"] == "failed"]
    failures = tables.cells("Trades that failed") if failed else []
    # The page puts more than three equal failures into one row, with the ids of the first five trades.
    if len(failed) > 3:
        expect(wrong, name, [row[0] for row in failures] == [f"{len(failed)} trades"] and
               f"({', '.join(failed[:5])}" in failures[0][2], "the failures are not those of the JSON")
        failures = [[failed[0], *row[1:]] for row in failures]
    else:
        expect(wrong, name, [row[0] for row in failures] == failed, "the failures are not those of the JSON")
    for trade, place, reason in failures:
        found = re.search(r":(\d+):(\d+)$", place)
        expect(wrong, name, found and trade in lines[int(found.group(1)) - 1].replace("''", "'") and "NOBODY" in reason,
               f"{trade}: failed at {place}: {reason}")
    values = tables.classed.get("value", [])
    expect(wrong, name, len(values) == len(told["totals"]), "a card for each total")
    for shown, total in zip(values, told["totals"]):
        exact = total["value"] if total["value_error"] is not None else float(f"{total['value']:.3g}")
        expect(wrong, name, same(shown, exact), f"total {shown} for {total['value']}")
    return tables


def check_scenarios(wrong, page, told):
    tables = Tables(page)
    (risk,) = [r for r in told["risks"] if r["is_converted"]] if "is_converted" in told["risks"][0] else told["risks"][-1:]
    for row, tail in zip(tables.cells("history: all trades, USD, converted"), risk["tails"]):
        expect(wrong, "tails", same(row[1], tail["quantile"]["value"]), f"{row[1]} for {tail['quantile']['value']}")
        expect(wrong, "tails", same(row[2], tail["quantile"]["noise"]), f"{row[2]} for {tail['quantile']['noise']}")
    total = next(t for t in told["totals"] if t.get("converted", t.get("is_converted")) and not t["portfolio"])
    gains = {s["name"]: g for s, g in zip(told["scenarios"], total["gains"]) if s["set"] == "ladder"}
    (heat,) = [n for n in tables.tables if "(down)" in n]
    cells = {f"ACME.spot={row[0][0]};ACME.volatility={column}": cell for row in tables.tables[heat]
             for column, cell in zip(("-5pt", "0pt", "+5pt"), row[1:])}
    expect(wrong, "heat map", cells.keys() == gains.keys(), "a cell for each scenario of the ladder")
    largest = max(map(abs, gains.values()))
    for at, (text, colour) in cells.items():
        expect(wrong, "heat map", same(text, gains[at]), f"{at}: {text} for {gains[at]}")
        part = gains[at] / largest
        steps = 0 if colour == "z" else int(colour[1]) * (1 if colour[0] == "p" else -1)
        expect(wrong, "heat map", abs(4 * part - steps) <= 0.5 + 1e-9, f"{at}: {part} of the largest is coloured {colour}")
    worst = sorted((g, s["name"]) for s, g in zip(told["scenarios"], total["gains"]))[:10]
    shown = [row[0] for row in tables.cells("Worst and best scenarios")][:10]
    expect(wrong, "scenarios", shown == [name for _, name in worst], f"the worst are {worst}, found {shown}")


def check_greeks(wrong, page, told):
    tables = Tables(page)
    for total in [g for g in told["greek_totals"] if g["measure"] == "vega" and "USD" in g["unit"]]:
        rows = tables.cells(f"vega, {total['unit']}")
        found = [row for row in rows if row[0] == (total["key"] or "all together")]
        expect(wrong, "vega", len(found) == 1 and same(found[0][1], total["value"]), f"{total['key']}: {found}")


def main():
    wrong, pages = [], {}
    with tempfile.TemporaryDirectory() as folder_name:
        folder = pathlib.Path(folder_name)
        book = folder / "the book's name & more.yaml"
        book.write_text(book_of(1000))
        demo = SOURCE / "configs/books/demo.yaml"
        cases = {
            "prices": ["price", book],
            "few prices": ["price", demo, "--paths", "16384", "--random", "philox"],
            "greeks": ["greeks", demo, "--paths", "16384"],
            "scenarios": ["scenarios", demo, "--paths", "16384", "--scenarios", SOURCE / "configs/scenarios/demo.yaml"],
        }
        told = {}
        for name, arguments in cases.items():
            report, results = folder / f"{name}.html", folder / f"{name}.json"
            arguments = [*map(str, arguments), "--format", "json", "-o", str(results), "--report", str(report)]
            run(*arguments)
            pages[name], told[name] = report.read_text(encoding="utf-8"), json.loads(results.read_text())
            words = shlex.split(Tables(pages[name]).code)
            expect(wrong, name, words[1:] == arguments, f"the command is {words}")
        before = told["prices"]["rows"]
        (folder / "prices.json").unlink()
        line = Tables(pages["prices"]).code
        done = subprocess.run(["sh", "-c", line], cwd=SOURCE, capture_output=True, text=True,
                              env={**os.environ, "PATH": f"{pathlib.Path(CLI).parent}:{os.environ['PATH']}"})
        expect(wrong, "prices", done.returncode == 3, f"{line} ends with {done.returncode}: {done.stderr}")
        after = json.loads((folder / "prices.json").read_text())["rows"]
        expect(wrong, "prices", before == after, "the command of the page makes other prices")
        lines = book.read_text().splitlines()
        check_prices(wrong, "prices", pages["prices"], told["prices"], lines)
        check_prices(wrong, "few prices", pages["few prices"], told["few prices"], [])
        check_greeks(wrong, pages["greeks"], told["greeks"])
        check_scenarios(wrong, pages["scenarios"], told["scenarios"])

        for trade in ("asian_running", "down_and_out", "autocall"):
            picture = folder / f"{trade}.svg"
            run("explain", demo, trade, "--picture", picture, "-o", folder / "told.txt")
            pages[f"picture of {trade}"] = picture.read_text(encoding="utf-8")
        shown = (SOURCE / "docs/autocall.svg").read_text(encoding="utf-8")
        expect(wrong, "docs/autocall.svg", shown == pages["picture of autocall"],
               "is another picture than 'tilewalk explain configs/books/demo.yaml autocall --picture' draws")
        done = run("explain", demo, "--picture", folder / "all.svg", exits=(2,))
        expect(wrong, "picture", "name it after the book" in done.stderr, done.stderr)
        # A report is written whole or not at all, and never over a file that the command reads.
        done = run("price", demo, "--report", demo, exits=(2,))
        expect(wrong, "report", "which is read" in done.stderr, done.stderr)

    wrong += page_check.faults_of(pages, page_check.Rules(most_bytes=MOST_BYTES))
    if page_check.chromium() is None and not wrong:
        print("skipped in part: no chromium to draw pages with")
        return 77
    print("\n".join(wrong[:60]) or f"{len(pages)} pages and pictures, nothing wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
