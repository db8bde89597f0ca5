# SPDX-License-Identifier: Apache-2.0
# ORE itself is asked for the files that Tilewalk writes in its columns: its own writer of reports makes them
# anew, to the byte, from the figures that our files hold with all their bits, and its own calculator finds value
# at risk and expected shortfall of the same gains. The module of the wheel has no reader for these files but for
# sensitivities, which it reads. Needs the Python package open-source-risk-engine; skipped without.
import os
import pathlib
import subprocess
import sys
import tempfile

import clusters

COMPARE = r'''
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

# Sensitivities: what ORE's own reader finds in a line is what stands there, and its writer makes the same line.
written = rows("sensitivity.csv")
head = ["TradeId", "IsPar", "Factor_1", "ShiftSize_1", "Factor_2", "ShiftSize_2", "Currency", "Base NPV", "Delta", "Gamma",
        "Currency(Trade)", "Base NPV(Trade)", "Delta(Trade)", "Gamma(Trade)"]
assert list(written[0]) == ["#" + head[0], *head[1:]], list(written[0])
texts = {"TradeId", "IsPar", "Factor_1", "Factor_2", "Currency", "Currency(Trade)"}
report("sensitivity.csv", [(title, "text" if title in texts else "figure") for title in head],
       [[text if title in texts else figure("" if text == "#N/A" else text) for title, text in zip(head, row.values())]
        for row in written], decimals=10)
types = {"EquitySpot": ORE.RiskFactorKey.KeyType_EquitySpot, "EquityVolatility": ORE.RiskFactorKey.KeyType_EquityVolatility,
         "DividendYield": ORE.RiskFactorKey.KeyType_DividendYield, "DiscountCurve": ORE.RiskFactorKey.KeyType_DiscountCurve,
         "FXSpot": ORE.RiskFactorKey.KeyType_FXSpot, "FXVolatility": ORE.RiskFactorKey.KeyType_FXVolatility,
         "Theta": ORE.RiskFactorKey.KeyType_Theta}
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
        assert (key.keytype, key.name, key.index) == (types[kind], name.replace("\0", "/"), int(index)), row
        assert rest == described, row
    assert read.isCrossGamma() == bool(row["Factor_2"]), row
assert stream.next().tradeId == ""
assert {row["Factor_1"].split("/")[0] for row in written} == set(types)
print(f"sensitivity.csv: {len(written)} lines, read by ORE as they stand")

calculator = ORE.HistoricalSimulationVarCalculator(pnl)
for row in risks:
    level, n = float(row["level"]), len(pnl)
    quantile, shortfall = calculator.var(level), calculator.expectedShortfall(level)
    assert quantile == float(row["quantile"]), f"at {level}: ORE has {quantile}, we {row['quantile']}"
    assert abs(shortfall - float(row["shortfall"])) <= 1e-12 * abs(shortfall), f"at {level}: ORE has {shortfall}"

# How ORE counts, for the numbers of tests/risk_test.cpp: one more than lies within the level.
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

python = clusters.need_python_with("ORE")
program = pathlib.Path(os.environ["TILEWALK_BINARY_DIR"]) / "tests" / "scenario_report_test"
if not program.exists():
    clusters.skip(f"{program} is not built")
with tempfile.TemporaryDirectory() as folder:
    written = subprocess.run([program, "--gtest_filter=ore_files.are_written_for_the_test_of_ore"], capture_output=True,
                             text=True, env={**os.environ, "TILEWALK_ORE_FOLDER": folder})
    assert written.returncode == 0, written.stdout
    compared = subprocess.run([python, "-c", COMPARE, folder], text=True)
sys.exit(compared.returncode)
