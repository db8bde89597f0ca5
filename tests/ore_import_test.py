# SPDX-License-Identifier: Apache-2.0
# Compares the book that `tilewalk import` makes of a portfolio with ORE itself: ORE's reader accepts the portfolio, ORE's engines price it
# in a flat market as we price the book, and all schedules have the same dates. Skipped without the Python package open-source-risk-engine.
import csv
import io
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile
from datetime import date, timedelta

import clusters

HELPER = clusters.source_dir / "tests" / "ore_flat_market.py"
PORTFOLIO = clusters.source_dir / "tests" / "data" / "ore" / "portfolio.xml"
MARKET = """as_of: 2026-01-15
currencies: {USD: {rate: 0.04}, EUR: {rate: 0.025}}
assets:
  ACME: {currency: USD, spot: 100, dividend_yield: 0.01, volatility: 0.25}
  INDEX: {currency: USD, spot: 5000, dividend_yield: 0.015, volatility: 0.18}
  EUR_USD: {currency: USD, spot: 1.1, dividend_yield: 0.025, volatility: 0.1}
"""
# Relative differences allowed on top of our standard error, by trade: ORE prices these on a grid or on paths of its own.
SLACK = {"eq_american": 3e-3, "eq_asian": 5e-4, "eq_cliquet": 1e-3, "fx_tarf": 5e-3, "eq_accumulator": 1e-2,
         "eq_decumulator": 2e-3, "eq_autocallable": 2e-3}
EXACT = 1e-9
# Indices of ORE: the import must know the day count that ORE has for each.
INDICES = """AUD-AONIA AUD-BBSW-3M AUD-LIBOR-3M CAD-CDOR-3M CAD-CORRA CHF-LIBOR-6M CHF-SARON CHF-TOIS CLP-CAMARA CNH-HIBOR-3M
CNH-SHIBOR-3M CNY-REPOFIX-1W CNY-SHIBOR-3M COP-IBR CZK-PRIBOR-6M DEM-LIBOR-3M DKK-CIBOR-6M DKK-CITA EUR-EONIA EUR-ESTER
EUR-EURIBOR-1W EUR-EURIBOR-6M EUR-LIBOR-6M GBP-BoEBase GBP-LIBOR-6M GBP-SONIA HKD-HIBOR-3M HKD-HONIA HUF-BUBOR-6M IDR-IDRFIX-6M
IDR-JIBOR-6M ILS-TELBOR-3M INR-MIBOROIS INR-MIFOR-6M JPY-EYTIBOR-6M JPY-LIBOR-6M JPY-TIBOR-6M JPY-TONAR KRW-CD-3M KRW-KORIBOR-3M
MXN-TIIE-28D MYR-KLIBOR-3M NOK-NIBOR-6M NZD-BKBM-3M NZD-OCR PHP-PHIREF-6M PLN-POLONIA PLN-WIBOR-6M RON-ROBOR-6M RUB-MOSPRIME-3M
SAR-SAIBOR-3M SEK-SIOR SEK-STIBOR-3M SGD-SIBOR-6M SGD-SOR-6M SGD-SORA THB-BIBOR-6M THB-THBFIX-6M THB-THOR TRY-TRLIBOR-3M
TWD-TAIBOR-3M USD-AMERIBOR USD-FedFunds USD-LIBOR-3M USD-Prime USD-SOFR USD-SOFR-3M ZAR-JIBAR-3M""".split()
# Trades not compared with ORE: it annualises the future variance by the day count and the trade by 252 returns a year, and it has no engine
# for these Bermudan swaptions.
NOT_COMPARED = {"eq_variance", "swaption_bermudan"}


def run(*words):
    done = subprocess.run([clusters.command, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, f"{words}: exit code {done.returncode}\n{done.stderr}"
    return done.stdout


def values_of(book):
    """Value and standard error by trade of the portfolio; premiums and floors belong to their trade."""
    found = {}
    for row in csv.DictReader(io.StringIO(run("price", book, "--paths", "65536", "--device", "cpu", "--format", "csv"))):
        assert row["status"] == "priced", row
        trade = row["trade"].removesuffix("_premium").removesuffix("_floor")
        value, error = found.get(trade, (0.0, 0.0))
        found[trade] = value + float(row["value"]), math.hypot(error, float(row["value_error"]))
    return found


def variance_swap():
    """The value of eq_variance: the mean of squared returns between 262 business days, by the law of each."""
    days = [date(2026, 1, 15) + timedelta(days=i) for i in range(366)]
    days = [day for day in days if day.weekday() < 5]
    years = [(b - a).days / 365 for a, b in zip(days, days[1:])]
    drift = 0.04 - 0.01 - 0.25**2 / 2
    variance = 252 / len(years) * sum(0.25**2 * dt + (drift * dt)**2 for dt in years)
    return math.exp(-0.04) * 50000 * 100 / (2 * 0.2) * (variance - 0.2**2)


def compare_prices(python, folder):
    text = PORTFOLIO.read_text(encoding="utf-8")
    there = int(subprocess.run([python, HELPER, "ids", PORTFOLIO], capture_output=True, text=True, check=True).stdout)
    assert there == text.count("<Trade ") == 34, there
    (folder / "market.yaml").write_text(MARKET, encoding="utf-8")
    (folder / "names.yaml").write_text("assets: {RIC:.IDX: INDEX}\n", encoding="utf-8")
    book = folder / "book.yaml"
    run("import", PORTFOLIO, "--names", folder / "names.yaml", "--market", folder / "market.yaml", "--output", book)
    ours = values_of(book)
    ore = folder / "ore"
    ore.mkdir()
    subprocess.run([python, HELPER, "price", ore, PORTFOLIO], stdout=subprocess.DEVNULL, check=True)
    theirs = json.loads((ore / "npv.json").read_text(encoding="utf-8"))
    assert ours.keys() == theirs.keys(), ours.keys() ^ theirs.keys()
    for trade, (value, error) in ours.items():
        if trade in NOT_COMPARED:
            continue
        expected = theirs[trade]
        assert expected is not None, f"ORE has no price of {trade}"
        if trade == "fx_digital_foreign":  # in EUR
            expected *= 1.1
        allowed = 4.5 * error + max(SLACK.get(trade, 0), EXACT) * abs(expected)
        assert abs(value - expected) <= allowed, f"{trade}: {value} +- {error}, ORE has {expected}"
        assert abs(expected) > 1, f"{trade}: a price of nothing compares nothing"
    value, error = ours["eq_variance"]
    assert abs(value - variance_swap()) <= 4.5 * error, f"{value} +- {error}, by its law {variance_swap()}"
    # Rates are almost constant and the holder gains by every coupon, so exercise on the first date is optimal.
    assert abs(ours["swaption_bermudan"][0] / theirs["swaption"] - 1) <= EXACT, ours["swaption_bermudan"]
    print(f"{len(ours) - len(NOT_COMPARED)} trades have the prices of ORE")


def compare_counts(python, folder):
    """The day count of a leg must be the one ORE uses for its index; any other is refused."""
    there = json.loads(subprocess.run([python, HELPER, "counts", ",".join(INDICES)], capture_output=True, text=True,
                                      check=True).stdout)
    written = {"Actual/360": "A360", "Actual/365 (Fixed)": "A365", "Actual/Actual (ISDA)": "ACT/ACT"}
    trades = ""
    for index, count in there.items():
        tenor = index.split("-")[2] if index.count("-") == 2 else "6M"
        schedule = (f"<ScheduleData><Rules><StartDate>2027-01-15</StartDate><EndDate>2030-01-15</EndDate><Tenor>{tenor}</Tenor>"
                    "<Calendar>NullCalendar</Calendar><Convention>U</Convention></Rules></ScheduleData>")
        for name, word in written.items():
            both = "".join(f"<LegData><LegType>{kind}</LegType><Payer>{payer}</Payer><Currency>{index[:3]}</Currency>"
                           f"<Notionals><Notional>1</Notional></Notionals><DayCounter>{word}</DayCounter>{schedule}{data}</LegData>"
                           for kind, payer, data in (("Fixed", "true", "<FixedLegData><Rates><Rate>0.03</Rate></Rates></FixedLegData>"),
                                                     ("Floating", "false", f"<FloatingLegData><Index>{index}</Index></FloatingLegData>")))
            trades += f'<Trade id="{index} {name}"><TradeType>Swap</TradeType><SwapData>{both}</SwapData></Trade>\n'
    (folder / "indices.xml").write_text(f"<Portfolio>\n{trades}</Portfolio>\n", encoding="utf-8")
    done = subprocess.run([clusters.command, "import", folder / "indices.xml"], capture_output=True, text=True)
    assert done.returncode == 3, done.stderr
    refused = set()
    for line in done.stderr.splitlines():
        if ": trade " not in line:
            continue
        assert ", by which " in line, line
        refused.add(line.split(": trade ")[1].split(": found")[0])
    expected = {f"{index} {name}" for index, count in there.items() for name in written if name != count}
    assert refused == expected, refused ^ expected
    print(f"{len(there)} indices are counted as ORE counts them")


def rule_of(dice):
    start = date(2026, 1, 1) + timedelta(days=dice.randrange(700))
    end = start + timedelta(days=dice.randrange(20, 2500))
    conventions = ("F", "MF", "P", "MP", "U")
    return {"StartDate": start.isoformat(), "EndDate": end.isoformat(),
            "Tenor": dice.choice(("1M", "2M", "3M", "6M", "1Y", "1W", "2W", "30D", "7D")),
            "Calendar": dice.choice(("WeekendsOnly", "TARGET", "NullCalendar")), "Convention": dice.choice(conventions),
            "TermConvention": dice.choice(conventions), "Rule": dice.choice(("Forward", "Forward", "Backward", "Zero"))}


def compare_schedules(python, folder):
    dice = random.Random(20260115)
    rules = [rule_of(dice) for _ in range(400)]
    (folder / "rules.json").write_text(json.dumps(rules), encoding="utf-8")
    expected = json.loads(subprocess.run([python, HELPER, "schedules", folder / "rules.json"], capture_output=True, text=True,
                                         check=True).stdout)
    trades = ""
    for i, rule in enumerate(rules):
        fields = "".join(f"<{name}>{text}</{name}>" for name, text in rule.items())
        trades += (f'<Trade id="t{i}"><TradeType>EquityCliquetOption</TradeType><EquityCliquetOptionData>'
                   "<Underlying><Type>Equity</Type><Name>ACME</Name></Underlying><Currency>USD</Currency><Notional>1</Notional>"
                   "<LongShort>Long</LongShort><OptionType>Call</OptionType><Moneyness>1</Moneyness>"
                   f"<ScheduleData><Rules>{fields}</Rules></ScheduleData></EquityCliquetOptionData></Trade>\n")
    (folder / "schedules.xml").write_text(f"<Portfolio>\n{trades}</Portfolio>\n", encoding="utf-8")
    listed = subprocess.run([python, "-c", "import ORE, sys\n"
                             "for d in range(46000, 50000):\n"
                             "    day = ORE.Date(d)\n"
                             "    if not ORE.TARGET().isBusinessDay(day) and day.weekday() not in (1, 7): print('  -', day.ISO())"],
                            capture_output=True, text=True, check=True).stdout
    (folder / "target.yaml").write_text("holidays:\n" + listed, encoding="utf-8")
    (folder / "calendars.yaml").write_text("calendars: {TARGET: target.yaml}\n", encoding="utf-8")
    book = run("import", folder / "schedules.xml", "--names", folder / "calendars.yaml")
    found = {}
    for entry in book.split("  - {")[1:]:
        words = " ".join(entry.split())
        found[words.split("id: ")[1].split(",")[0]] = words.split("fixings: [")[1].split("]")[0].split(", ")
    for i, rule in enumerate(rules):
        assert found[f"t{i}"] == expected[i], f"{rule}\nours {found[f't{i}']}\nORE  {expected[i]}"
    print(f"{len(rules)} schedules have the dates of ORE, {sum(map(len, expected))} in all")


def main():
    python = clusters.need_python_with("ORE")
    with tempfile.TemporaryDirectory() as name:
        compare_counts(python, pathlib.Path(name))
        compare_schedules(python, pathlib.Path(name))
        compare_prices(python, pathlib.Path(name))


if __name__ == "__main__":
    sys.exit(main())
