# SPDX-License-Identifier: Apache-2.0
# Compares the files that Tilewalk writes in ORE's columns with ORE itself. From the figures in our other files, which have all bits, ORE's
# own report writer makes the same bytes. From the same gains ORE's calculator finds the same value at risk and expected shortfall. ORE's
# Python module reads only our sensitivities and CRIF; the margin of SIMM 2.6 that it computes from the CRIF is computed here as well.
#
# Skipped without the Python package open-source-risk-engine.
import os
import pathlib
import subprocess
import sys
import tempfile

import clusters

COMMON = r'''
import csv, math, pathlib, sys
import ORE

folder = pathlib.Path(sys.argv[1])


def rows(name):
    with open(folder / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def figure(text):
    return float(text) if text else math.nan


def report(name, columns, lines, decimals=6):
    """The file as ORE writes it: text columns, dates and figures with so many decimals."""
    path = str(folder / ("ore_" + name))
    out = ORE.CSVFileReport(path, ",", True, "\0", "#N/A")
    adds = {"text": (out.addColumnString, out.addString), "date": (out.addColumnDate, out.addDate),
            "figure": (lambda title: out.addColumnReal(title, decimals), out.addReal)}
    for title, kind in columns:
        adds[kind][0](title)
    for line in lines:
        out.nextRow()
        for (_, kind), value in zip(columns, line):
            adds[kind][1](value)
    out.end()
    ours, theirs = (folder / name).read_bytes(), pathlib.Path(path).read_bytes()
    if ours != theirs:
        for a, b in zip(ours.decode().splitlines(), theirs.decode().splitlines()):
            if a != b:
                sys.exit(f"{name}: we write\n  {a}\nand ORE\n  {b}")
        sys.exit(f"{name} has another length than ORE's")
    print(f"{name}: {len(lines)} lines, the bytes of ORE")


def date(text):
    year, month, day = map(int, text.split("-"))
    return ORE.Date(day, month, year)


SENSITIVITY = ["TradeId", "IsPar", "Factor_1", "ShiftSize_1", "Factor_2", "ShiftSize_2", "Currency", "Base NPV", "Delta", "Gamma",
               "Currency(Trade)", "Base NPV(Trade)", "Delta(Trade)", "Gamma(Trade)"]


def read_sensitivities(folder, kinds):
    """ORE's own reader finds in a line what stands there, and its writer makes the same line."""
    written, head = rows("sensitivity.csv"), SENSITIVITY
    assert list(written[0]) == ["#" + head[0], *head[1:]], list(written[0])
    texts = {"TradeId", "IsPar", "Factor_1", "Factor_2", "Currency", "Currency(Trade)"}
    report("sensitivity.csv", [(title, "text" if title in texts else "figure") for title in head],
           [[text if title in texts else figure("" if text == "#N/A" else text) for title, text in zip(head, row.values())]
            for row in written], decimals=10)
    stream = ORE.SensitivityFileStream(str(folder / "sensitivity.csv"))
    for row in written:
        read = stream.next()
        assert (read.tradeId, read.isPar, read.currency) == (row["#TradeId"], False, row["Currency"]), read.tradeId
        assert read.baseNpv == float(row["Base NPV"]) and read.delta == float(row["Delta"]), row
        assert row["Gamma"] == "#N/A" or read.gamma == float(row["Gamma"]), row
        for key, rest, shift, at in ((read.key_1, read.desc_1, read.shift_1, 1), (read.key_2, read.desc_2, read.shift_2, 2)):
            assert shift == float(row[f"ShiftSize_{at}"]), row
            if not row[f"Factor_{at}"]:
                continue
            kind, name, index, described = row[f"Factor_{at}"].replace(r"\\/", "\0").split("/", 3)
            found = getattr(ORE.RiskFactorKey, "KeyType_" + kind)
            assert (key.keytype, key.name, key.index) == (found, name.replace("\0", "/"), int(index)), row
            assert rest == described, row
        assert read.isCrossGamma() == bool(row["Factor_2"]), row
    assert stream.next().tradeId == ""
    assert {row["Factor_1"].split("/")[0] for row in written} == kinds
    print(f"sensitivity.csv: {len(written)} lines, read by ORE as they stand")
    return written
'''

COMPARE = r'''
gains, totals, risks = rows("gains.csv"), rows("totals.csv"), rows("risk.csv")
likely = {row["set"] for row in risks}
dates = {}
for line in (folder / "pnl.csv").read_text(encoding="utf-8").splitlines()[1:]:
    dates.setdefault(len(dates), line.split(",")[3:5])
pnl = [figure(row["gain"]) for row in totals if row["set"] in likely]

head = [("Portfolio", "text"), ("RiskClass", "text"), ("RiskType", "text")]
levels = [float(row["level"]) for row in risks]
report("var.csv",
       head + [(f"{kind}_{level:.6f}", "figure") for kind in ("Quantile", "ExpectedShortfall") for level in levels],
       [["All"] * 3 + [figure(row[kind]) for kind in ("quantile", "shortfall") for row in risks]])
report("pnl.csv", head + [("PLDate1", "date"), ("PLDate2", "date"), ("PLAmount", "figure")],
       [["All"] * 3 + [date(dates[i][0]), date(dates[i][1]), gain] for i, gain in enumerate(pnl)])
trades = list(dict.fromkeys(row["trade"] for row in gains))
report("stress.csv",
       [("TradeId", "text"), ("ScenarioLabel", "text"), ("Base NPV", "figure"), ("Scenario NPV", "figure"),
        ("Sensitivity", "figure")],
       [[trade, row["scenario"], figure(row["base_value"]), figure(row["base_value"]) + figure(row["gain"]),
         figure(row["gain"])]
        for trade in trades for row in gains if row["trade"] == trade and row["set"] not in likely])

read_sensitivities(folder, {"EquitySpot", "EquityVolatility", "DividendYield", "DiscountCurve", "FXSpot", "FXVolatility", "Theta"})

calculator = ORE.HistoricalSimulationVarCalculator(pnl)
for row in risks:
    level, n = float(row["level"]), len(pnl)
    quantile, shortfall = calculator.var(level), calculator.expectedShortfall(level)
    assert quantile == float(row["quantile"]), f"at {level}: ORE has {quantile}, we {row['quantile']}"
    assert abs(shortfall - float(row["shortfall"])) <= 1e-12 * abs(shortfall), f"at {level}: ORE has {shortfall}"

# How ORE counts, for the numbers of tests/study/risk_test.cpp: one more than lies within the level.
for n, level, place in ((1000, 0.01, 11), (1000, 0.025, 26), (1000, 0.05, 51), (250, 0.01, 3), (250, 0.025, 7),
                        (250, 0.05, 13), (100, 0.01, 2), (101, 0.01, 2)):
    found = ORE.HistoricalSimulationVarCalculator([float(i + 1) for i in range(n)]).var(level)
    assert found == place, f"ORE takes place {found} of {n} at {level}, we {place}"
# The least gain is no quantile to ORE, which keeps no tail of that length; it is one to us.
assert math.isnan(ORE.HistoricalSimulationVarCalculator([float(i) for i in range(99)]).var(0.01))
# A shortfall takes all gains that are no greater than the quantile, as many as are alike.
assert ORE.HistoricalSimulationVarCalculator([-2.0] + [-1.0] * 99).expectedShortfall(0.01) == -1.01
print(f"value at risk and expected shortfall of {len(pnl)} gains at {len(risks)} levels: those of ORE")
'''

DIFFERENCES = r'''
written = read_sensitivities(folder, {"EquitySpot", "EquityVolatility", "DividendYield", "DiscountCurve", "FXSpot", "Theta"})
assert any(row["Factor_2"] for row in written) and any(row["Gamma"] == "#N/A" for row in written)
errors = rows("sensitivity_error.csv")
assert [list(row.values())[:7] for row in errors] == [list(row.values())[:7] for row in written]
assert all(row["Method"] == "bump" and float(row["Delta SE"]) >= 0 for row in errors)

# Values: the bytes of ORE's writer from the results, which hold them with all their bits.
values = {row["trade"]: row for row in rows("prices.csv")}
npv = rows("npv.csv")
columns = [("TradeId", "text"), ("TradeType", "text"), ("Maturity", "date"), ("MaturityTime", "figure"), ("NPV", "figure"),
           ("NpvCurrency", "text"), ("NPV(Base)", "figure"), ("BaseCurrency", "text"), ("Notional", "figure"),
           ("NotionalCurrency", "text"), ("Notional(Base)", "figure"), ("NettingSet", "text"), ("CounterParty", "text")]
assert list(npv[0]) == ["#" + columns[0][0], *[title for title, _ in columns[1:]]], list(npv[0])
ISDA = ORE.ActualActual(ORE.ActualActual.ISDA)
LAST = {"call": "2027-07-16", "put": "2027-01-15", "alone": "2027-01-15"}
RATES = {"USD": 1.0, "EUR": 1.16}


def npv_line(trade):
    row, last = values[trade], date(LAST[trade])
    value = float(row["quantity"]) * float(row["price"])
    return [trade, row["product"], last, ISDA.yearFraction(date("2026-01-15"), last), value, row["currency"],
            value * RATES[row["currency"]], "USD", math.nan, "#N/A", math.nan, {"alone": ""}.get(trade, "mixed"), ""]


report("npv.csv", columns, [npv_line(row["#TradeId"]) for row in npv])

# CRIF. The module's loader takes no other separator than a tab, and no call sets one.
crif = rows("crif.csv")
text = (folder / "crif.csv").read_text(encoding="utf-8")
assert "\t" not in text and '"' not in text
mapper = ORE.SimmBucketMapperBase()
for row in crif:
    for kind in ("Equity", "EquityVol"):
        if row["RiskType"] == "Risk_" + kind:
            mapper.addMapping(getattr(ORE.CrifRecord, "RiskType_" + kind), row["Qualifier"], row["Bucket"])
configuration = ORE.SimmConfiguration_ISDA_V2_6(mapper, 10)
loaded = ORE.Crif()
loaded.setCsvLoaderConfig(configuration)
loaded.fromCSVString(text.replace(",", "\t"))
# ORE adds up by portfolio and number.
sums = {}
for row in crif:
    key = tuple(row[name] for name in ("PortfolioID", "RiskType", "Qualifier", "Bucket", "Label1", "Label2"))
    sums[key] = sums.get(key, 0) + float(row["AmountUSD"])
found = {}
for record in loaded.records():
    kind = next(name for name in ("Risk_IRCurve", "Risk_Equity", "Risk_EquityVol", "Risk_FX")
                if record.riskType == getattr(ORE.CrifRecord, "RiskType_" + name[5:]))
    key = (record.nettingSetDetails.nettingSetId(), kind, record.qualifier, record.bucket, record.label1, record.label2)
    found[key] = record.amountUsd
    assert record.productClass == ORE.CrifRecord.ProductClass_Equity and record.amountCurrency == "USD"
    assert record.imModel == ORE.CrifRecord.IMModel_SIMM and record.amount == record.amountUsd
assert found == sums, (found, sums)
print(f"crif.csv: {len(crif)} lines, read by ORE as they stand")

# The margin of one portfolio, by hand: ISDA SIMM 2.6, effective from 2 December 2023, ten days. Amounts are too small
# for concentration, so all concentration factors are 1.
NORMAL_99, NORMAL_995 = 2.3263478740408408, 2.5758293035489004
RATE_WEIGHT = {"1y": 66, "2y": 66}              # regular volatility, basis points
RATE_CORRELATION = {("1y", "2y"): 0.94}         # between vertices of one curve
RATE_BETWEEN = 0.32                             # between currencies
EQUITY_WEIGHT = {"7": 34, "8": 28}              # per cent
EQUITY_BETWEEN = 0.33                           # between buckets 7 and 8
FX_WEIGHT = 7.4                                 # per cent, both of regular volatility
EQUITY_HVR, EQUITY_VRW = 0.60, 0.45             # historical volatility ratio, weight of vega
RATE_HVR = 0.47
CLASSES = {("rate", "equity"): 0.07, ("rate", "fx"): 0.14, ("equity", "fx"): 0.39}
DAYS = {"6m": 365 / 2, "1y": 365, "2y": 730}


def between(amounts, correlation):
    """The root of the sum over all pairs."""
    return math.sqrt(sum(a * b * (1 if i == k else correlation(i, k)) for i, a in amounts.items() for k, b in amounts.items()))


def capped(total, most):
    return max(min(total, most), -most)


def margin(lines):
    by_type = {}
    for (_, kind, qualifier, bucket, label, _), amount in lines.items():
        by_type.setdefault(kind, {})[qualifier, bucket, label] = amount
    # Delta of rates: by currency over vertices, then over currencies.
    curves = {}
    for (currency, _, label), amount in by_type["Risk_IRCurve"].items():
        curves.setdefault(currency, {})[label] = RATE_WEIGHT[label] * amount
    parts = {currency: between(weighted, lambda a, b: RATE_CORRELATION[min(a, b), max(a, b)]) for currency, weighted in curves.items()}
    sums = {currency: capped(sum(weighted.values()), parts[currency]) for currency, weighted in curves.items()}
    rate = math.sqrt(sum(k * k for k in parts.values())
                     + sum(RATE_BETWEEN * sums[a] * sums[b] for a in sums for b in sums if a != b))
    # Delta of equities: one name in each bucket.
    weighted = {bucket: EQUITY_WEIGHT[bucket] * amount for (_, bucket, _), amount in by_type["Risk_Equity"].items()}
    equity_delta = between(weighted, lambda a, b: EQUITY_BETWEEN)
    # Vega: the amount is for a point; sigma is what the weight of delta implies.
    vega, curvature = {}, {}
    for (_, bucket, label), amount in by_type["Risk_EquityVol"].items():
        sigma = EQUITY_WEIGHT[bucket] * math.sqrt(365 / 14) / NORMAL_99
        vega[bucket] = vega.get(bucket, 0) + EQUITY_VRW * EQUITY_HVR * sigma * amount
        curvature[bucket] = curvature.get(bucket, 0) + 0.5 * min(1, 14 / DAYS[label]) * sigma * amount
    equity_vega = between(vega, lambda a, b: EQUITY_BETWEEN)
    total, absolute = sum(curvature.values()), sum(map(abs, curvature.values()))
    theta = min(total / absolute, 0)
    scale = (NORMAL_995**2 - 1) * (1 + theta) - theta
    equity_curvature = max(0, total + scale * between(curvature, lambda a, b: EQUITY_BETWEEN**2))
    # Exchange rates: one currency other than that of calculation.
    fx = abs(FX_WEIGHT * by_type["Risk_FX"].get(("EUR", "", ""), 0))
    classes = {"rate": rate, "equity": equity_delta + equity_vega + equity_curvature, "fx": fx}
    return {"InterestRate": rate, "Equity": classes["equity"], "FX": fx,
            "All": between(classes, lambda a, b: CLASSES.get((a, b)) or CLASSES[b, a])}


calculator = ORE.SimmCalculator(loaded, configuration)
for portfolio in ("All", "mixed"):
    details = next(r.nettingSetDetails for r in loaded.records() if r.nettingSetDetails.nettingSetId() == portfolio)
    simm = calculator.finalSimmResults(ORE.SimmConfiguration.SimmSide_Call, details).second
    by_hand = margin({key: amount for key, amount in sums.items() if key[0] == portfolio})
    for risk, expected in by_hand.items():
        key = (ORE.CrifRecord.ProductClass_Equity, getattr(ORE.SimmConfiguration, "RiskClass_" + risk),
               ORE.SimmConfiguration.MarginType_All, "All")
        got = simm.get(*key) if simm.has(*key) else 0.0
        assert abs(got - expected) <= 1e-9 * by_hand["All"], f"{portfolio}, {risk}: ORE has {got}, by hand {expected}"
    print(f"margin of {portfolio}: {by_hand['All']:.2f} USD, by hand and by ORE")
'''

VOLATILITIES = r'''
# Volatilities of rates: one line of ours, alone, to ORE's margin of SIMM 2.6. The amount is volatility x derivative, to
# which the weight of vega goes as it stands.
VEGA_WEIGHT, RATE_HVR, NORMAL_995 = 0.23, 0.47, 2.5758293035489004
lines = (folder / "crif.csv").read_text(encoding="utf-8").splitlines()
ours = [row for row in rows("crif.csv") if row["RiskType"] == "Risk_IRVol"]
assert [(row["Qualifier"], row["Label1"]) for row in ours] == [("USD", "1y"), ("USD", "3y")], ours
assert all(row["Bucket"] == row["Label2"] == "" and row["ProductClass"] == "RatesFX" for row in ours)
configuration = ORE.SimmConfiguration_ISDA_V2_6(ORE.SimmBucketMapperBase(), 10)
signs = set()
for row in ours:
    line = next(text for text in lines if ",Risk_IRVol,USD,," + row["Label1"] + "," in text)
    loaded = ORE.Crif()
    loaded.setCsvLoaderConfig(configuration)
    loaded.fromCSVString((lines[0] + "\n" + line + "\n").replace(",", "\t"))
    (record,) = loaded.records()
    amount = float(row["Amount"])
    assert record.riskType == ORE.CrifRecord.RiskType_IRVol and record.amountUsd == amount, (record.amountUsd, row)
    signs.add(amount > 0)
    details = record.nettingSetDetails
    simm = ORE.SimmCalculator(loaded, configuration).finalSimmResults(ORE.SimmConfiguration.SimmSide_Call, details).second

    def margin_of(kind):
        return simm.get(ORE.CrifRecord.ProductClass_RatesFX, ORE.SimmConfiguration.RiskClass_InterestRate,
                        getattr(ORE.SimmConfiguration, "MarginType_" + kind), "All")

    vega = VEGA_WEIGHT * abs(amount)
    # Curvature of one line: the sum and its spread, by fourteen days of the time to expiry; a loss has none.
    days = {"1y": 365, "3y": 3 * 365}[row["Label1"]]
    curvature = max(0, NORMAL_995**2 * 0.5 * 14 / days * amount / RATE_HVR**2)
    for kind, expected in (("Vega", vega), ("Curvature", curvature)):
        assert abs(margin_of(kind) - expected) <= 1e-9 * abs(amount), f"{kind}: ORE has {margin_of(kind)}, by hand {expected}"
    print(f"vega margin of {amount:.2f} USD at {row['Label1']}: {vega:.2f} USD, by hand and by ORE")
assert signs == {True, False}, ours
'''

EXCHANGE_RATE = r'''
# An option on an exchange rate that is an asset: its margin of SIMM 2.6 by hand and by ORE. All is of one pair, so that
# what is added up over vertices is all there is.
WEIGHT, HVR, VRW, NORMAL_99, NORMAL_995 = 7.4, 0.57, 0.48, 2.3263478740408408, 2.5758293035489004
DAYS = {"1y": 365, "2y": 730}
ours = rows("crif.csv")
amounts = {(row["RiskType"], row["Qualifier"], row["Label1"]): float(row["Amount"]) for row in ours}
assert all(row["ProductClass"] == "RatesFX" and row["Bucket"] == ("1" if row["RiskType"] == "Risk_IRCurve" else "")
           for row in ours), ours
configuration = ORE.SimmConfiguration_ISDA_V2_6(ORE.SimmBucketMapperBase(), 10)
loaded = ORE.Crif()
loaded.setCsvLoaderConfig(configuration)
loaded.fromCSVString((folder / "crif.csv").read_text(encoding="utf-8").replace(",", "\t"))
held = loaded.records()  # records die with it
records = list(held)
assert len(records) == len(ours)
details = records[0].nettingSetDetails
simm = ORE.SimmCalculator(loaded, configuration).finalSimmResults(ORE.SimmConfiguration.SimmSide_Call, details).second
sigma = WEIGHT * math.sqrt(365 / 14) / NORMAL_99
by_vertex = {label: amounts["Risk_FXVol", "EURUSD", label] for label in DAYS}
curvature = sum(0.5 * 14 / DAYS[label] * sigma * amount for label, amount in by_vertex.items())
expected = {"Delta": WEIGHT * abs(amounts["Risk_FX", "EUR", ""]),
            "Vega": VRW * HVR * sigma * abs(sum(by_vertex.values())),
            "Curvature": max(0, curvature + (NORMAL_995**2 - 1) * abs(curvature))}
for kind, amount in expected.items():
    got = simm.get(ORE.CrifRecord.ProductClass_RatesFX, ORE.SimmConfiguration.RiskClass_FX,
                   getattr(ORE.SimmConfiguration, "MarginType_" + kind), "All")
    assert amount > 1000 and abs(got - amount) <= 1e-9 * amount, f"{kind}: ORE has {got}, by hand {amount}"
assert {key[1] for key in amounts if key[0] == "Risk_IRCurve"} == {"EUR", "USD"}, amounts
print("margin of an exchange rate:", ", ".join(f"{kind} {amount:.2f} USD" for kind, amount in expected.items()), "by hand and by ORE")
'''

FX_MARKET = """as_of: 2026-01-15
currencies: {USD: {rate: 0.035}}
assets: {EUR_USD: {currency: USD, spot: 1.16, dividend_yield: 0.02, volatility: 0.07}}
simm: {currency: USD, EUR_USD: {fx: EUR}}
"""
FX_BOOK = """market: market.yaml
settings: {paths: 16384}
trades:
  - {id: call, product: european, underlying: EUR_USD, option: call, strike: 1.15, maturity: 1.5, quantity: 1000000}
"""

RATE_QUOTES = """as_of: 2026-01-15
currencies: {USD: {zero_rates: {1.0: 0.0351, 5.0: 0.0361}}}
calibrate:
  USD:
    hull_white:
      swaptions:
        - {expiry: 1, tenor: 4, volatility: 0.0084, type: normal}
        - {expiry: 3, tenor: 2, volatility: 0.0091, type: normal}
"""
RATE_BOOK = """market: market.yaml
settings: {paths: 16384}
trades:
  - {id: early, product: bermudan_swaption, currency: USD, strike: 0.036, exercise_dates: [1.0, 3.0], payments: [2.0, 3.0, 4.0, 5.0], notional: 1000000}
"""

MARKET = """as_of: 2026-01-15
currencies: {USD: {zero_rates: {1.0: 0.035, 2.0: 0.034}}, EUR: {rate: 0.02}}
assets:
  ACME: {currency: USD, spot: 100, dividend_yield: 0.015, volatility: 0.22}
  BETA: {currency: EUR, spot: 50, volatility: {0.5: 0.30, 1.5: 0.31}}
fx: {EURUSD: {rate: 1.16, volatility: 0.07}}
simm:
  currency: USD
  ACME: {qualifier: "ISIN:US0000000001", bucket: 7}
  BETA: {qualifier: "ISIN:DE0000000002", bucket: 8}
"""
BOOK = """market: market.yaml
settings: {paths: 16384}
trades:
  - {id: call, product: european, underlying: ACME, option: call, strike: 100, maturity: 2027-07-16, quantity: 500, portfolio: mixed}
  - {id: put, product: european, underlying: BETA, option: put, strike: 52, maturity: 1.0, quantity: -200, portfolio: mixed}
  - {id: alone, product: european, underlying: ACME, option: put, strike: 90, maturity: 1.0, quantity: -10}
"""


python = clusters.need_python_with("ORE")
program = pathlib.Path(os.environ["TILEWALK_BINARY_DIR"]) / "tests" / "scenario_report_test"
if not program.exists():
    clusters.skip(f"{program} is not built")
with tempfile.TemporaryDirectory() as folder:
    written = subprocess.run([program, "--gtest_filter=ore_files.are_written_for_the_test_of_ore"], capture_output=True,
                             text=True, env={**os.environ, "TILEWALK_ORE_FOLDER": folder})
    assert written.returncode == 0, written.stdout
    compared = subprocess.run([python, "-c", COMMON + COMPARE, folder], text=True)
    if compared.returncode:
        sys.exit(compared.returncode)
with tempfile.TemporaryDirectory() as folder:
    (pathlib.Path(folder) / "market.yaml").write_text(MARKET, encoding="utf-8")
    (pathlib.Path(folder) / "book.yaml").write_text(BOOK, encoding="utf-8")
    for arguments in (["greeks", "book.yaml", "--greeks", "delta,vanna", "--files", ".", "-o", "greeks.csv"],
                      ["price", "book.yaml", "-o", "prices.csv"]):
        subprocess.run([os.environ["TILEWALK_CLI"], *arguments], cwd=folder, check=True)
    compared = subprocess.run([python, "-c", COMMON + DIFFERENCES, folder], text=True)
    if compared.returncode:
        sys.exit(compared.returncode)
with tempfile.TemporaryDirectory() as folder:
    (pathlib.Path(folder) / "market.yaml").write_text(FX_MARKET, encoding="utf-8")
    (pathlib.Path(folder) / "book.yaml").write_text(FX_BOOK, encoding="utf-8")
    subprocess.run([os.environ["TILEWALK_CLI"], "greeks", "book.yaml", "--greeks", "delta", "--files", ".", "-o", "greeks.csv"],
                   cwd=folder, check=True)
    compared = subprocess.run([python, "-c", COMMON + EXCHANGE_RATE, folder], text=True)
    if compared.returncode:
        sys.exit(compared.returncode)
with tempfile.TemporaryDirectory() as folder:
    (pathlib.Path(folder) / "quotes.yaml").write_text(RATE_QUOTES, encoding="utf-8")
    (pathlib.Path(folder) / "book.yaml").write_text(RATE_BOOK, encoding="utf-8")
    subprocess.run([os.environ["TILEWALK_CLI"], "calibrate", "quotes.yaml", "-o", "market.yaml"], cwd=folder, check=True)
    with open(pathlib.Path(folder) / "market.yaml", "a", encoding="utf-8") as market:
        market.write("simm: {currency: USD}\n")
    subprocess.run([os.environ["TILEWALK_CLI"], "greeks", "book.yaml", "--greeks", "delta", "--files", ".", "-o", "greeks.csv"],
                   cwd=folder, check=True)
    compared = subprocess.run([python, "-c", COMMON + VOLATILITIES, folder], text=True)
sys.exit(compared.returncode)
