# SPDX-License-Identifier: Apache-2.0
# The Python package against the command: equal bits of prices, sensitivities and gains from every form of a
# book; zero-copy columns; errors, cancellation, progress and threads.
import csv
import datetime
import io
import json
import math
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings

import pythons
from pythons import raises

pythons.in_python_with("numpy", "pandas", "pyarrow", "polars", "duckdb")

import duckdb  # noqa: E402
import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
import polars as pl  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.parquet  # noqa: E402
import tilewalk as tw  # noqa: E402

BOOK, MARKET, SCENARIOS = "configs/books/demo.yaml", "configs/markets/demo.yaml", "configs/scenarios/demo.yaml"
PATHS = 16384
TRADES = [
    {"id": "call", "product": "european", "underlying": "ACME", "option": "call", "strike": 100.0, "maturity": 1.0,
     "quantity": 500.0, "averaging_dates": None, "issued": None},
    {"id": "average", "product": "asian", "underlying": "ACME", "option": None, "strike": 100.0, "maturity": None,
     "quantity": None, "averaging_dates": ["2026-06-01", "2026-12-01"]},
    {"id": "dated", "product": "european", "underlying": "BETA", "option": "put", "strike": 50.0,
     "maturity": "2027-01-15", "quantity": -2.0, "averaging_dates": None},
]


def command(*arguments, code=0):
    done = subprocess.run([pythons.command, *arguments], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=pythons.environment())
    assert done.returncode == code, f"exit code {done.returncode}\n{done.stderr}"
    return done.stdout


def trades():
    return [{name: cell for name, cell in trade.items() if cell is not None} for trade in TRADES]


def same_as_csv(table, text):
    """Compares each column of a table with the column of that name in CSV, where a missing figure is empty."""
    rows = list(csv.DictReader(io.StringIO(text)))
    rows = [row for row in rows if row["trade"]]
    assert len(rows) == len(table) > 0
    columns = table.columns
    for name in rows[0]:
        assert name in columns, f"no column {name}"
        kind = table._core_table().kind(name)
        for row, cell in zip(rows, columns[name].tolist(), strict=True):
            told = row[name]
            if kind == "figures":
                assert (math.isnan(cell) and told == "") or float(told) == cell, (name, told, cell)
            elif kind == "counts":
                assert int(told or 0) == cell, (name, told, cell)
            elif kind == "flags":
                assert (told == "true") == cell, (name, told, cell)
            else:
                assert told == cell, (name, told, cell)
    return set(columns) - set(rows[0])


def test_prices_are_those_of_the_command():
    with tempfile.TemporaryDirectory() as folder:
        early = os.path.join(folder, "with_failures.yaml")
        text = pathlib.Path(BOOK).read_text(encoding="utf-8").replace("../markets", str(pathlib.Path("configs/markets").resolve()))
        broken = "trades:\n  - {id: broken, product: european, underlying: ACMEE, strike: 1, maturity: 1.0}\n"
        pathlib.Path(early).write_text(text.replace("trades:\n", broken, 1), encoding="utf-8")
        for book, code in ((BOOK, 0), ("configs/books/early.yaml", 0), (early, 3)):
            said = command("price", book, "--paths", str(PATHS), "--format", "csv", code=code)
            found = tw.price(book, paths=PATHS)
            assert same_as_csv(found, said) <= {"kind", "decisions"}
            assert found.to_csv() == said
            assert found.failed == (["broken"] if code else [])


def test_sensitivities_are_those_of_the_command():
    said = command("greeks", BOOK, "--paths", str(PATHS), "--format", "csv", "--trade", "acme_call", "--trade", "up_and_in")
    found = tw.greeks(BOOK, paths=PATHS, trades=["acme_call", "up_and_in"])
    assert same_as_csv(found, said) <= {"message", "kind", "walk"}
    assert found.to_csv() == said
    delta = found["acme_call"]["delta", "ACME.spot"]
    d1 = (math.log(100 / 105) + (tw.Market(MARKET)["USD.rate@1y"] - 0.015 + 0.22**2 / 2)) / 0.22
    closed = math.exp(-0.015) * 0.5 * (1 + math.erf(d1 / math.sqrt(2)))
    assert abs(delta.value - closed) < 1e-3, (delta.value, closed)
    assert found.prices == tw.price(BOOK, paths=PATHS, trades=["acme_call", "up_and_in"])
    assert len(found.totals) > 0 and found.prices.greeks is not None
    again = pickle.loads(pickle.dumps(found))
    assert again == found and again.to_csv() == said and again.totals.to_dict() == found.totals.to_dict()
    assert not any(math.isnan(error) for error in again.totals.column("standard_error").tolist())
    moves = tw.scenarios(BOOK, [{"ACME.spot": 1}], paths=PATHS, trades=["acme_call", "up_and_in"], explain=True)
    assert pickle.loads(pickle.dumps(moves)).base.greeks.to_csv() == moves.base.greeks.to_csv()


def test_gains_are_those_of_the_command():
    options = ("--paths", "4096", "--trade", "acme_call", "--trade", "down_and_out", "--format")
    said = command("scenarios", BOOK, "--scenarios", SCENARIOS, *options, "csv")
    found = tw.scenarios(BOOK, SCENARIOS, paths=4096, trades=["acme_call", "down_and_out"])
    assert found.to_csv() == said
    scenarios, trades_ = found.shape
    assert found.gains.shape == found.errors.shape == (scenarios, trades_) and scenarios == len(found.scenarios)
    rows = list(csv.DictReader(io.StringIO(said)))
    told = np.array([float(row["gain"]) for row in rows]).reshape(scenarios, trades_)
    assert np.array_equal(told, found.gains)
    for column, cube in (("standard_error", found.errors), ("converted_gain", found.converted_gains),
                         ("converted_error", found.converted_errors)):
        told = np.array([float(row[column] or "nan") for row in rows]).reshape(scenarios, trades_)
        assert np.array_equal(told, cube, equal_nan=True), column
    assert np.shares_memory(found.gains, found.to_pandas().to_numpy())
    assert found.to_pandas().loc[("stress", "crash"), "acme_call"] == found.gains[0, 0]
    risk = found.tails.to_pandas()
    history = (found.scenarios.column("set") == "history").nonzero()[0]
    worst = np.sort(found.converted_gains[history].sum(axis=1))
    assert risk.value_at_risk[0] == worst[math.ceil(0.01 * len(worst)) - 1]
    again = pickle.loads(pickle.dumps(found))
    assert again.to_csv() == said and again.to_json() == found.to_json() and len(again.shares) == len(found.shares)
    with tempfile.TemporaryDirectory() as folder:
        names = found.write_files(folder)
        assert "var.csv" in names and sorted(names) == sorted(os.listdir(folder))
    with tempfile.TemporaryDirectory() as folder:
        command("scenarios", BOOK, "--scenarios", SCENARIOS, *options[:-1], "--output", f"{folder}/said.parquet")
        for ending in ("parquet", "html", "csv"):
            found.write(f"{folder}/found.{ending}")
        read = [pa.parquet.read_table(f"{folder}/{name}.parquet") for name in ("said", "found")]
        assert read[0].equals(read[1]) and read[0].num_rows == len(rows)
        page = pathlib.Path(f"{folder}/found.html").read_text(encoding="utf-8")
        assert page == found.to_page() and "crash" in page and "Value at risk" in page
    assert 'command="scenarios"' in found.metrics("night") and 'book="night"' in found.metrics("night")
    cut = pickle.dumps(found._core.state()[:-3])
    raises(tw.InputError, lambda: tw._core.read_gains(pickle.loads(cut)), "cut short")


def test_files_of_values_and_differences():
    with tempfile.TemporaryDirectory() as folder:
        run = ("--paths", "4096", "--trade", "acme_call", "--trade", "asian_eur", "-o", "/dev/null", "--files")
        command("greeks", BOOK, "--greeks", "delta,vanna", *run, f"{folder}/greeks")
        command("price", BOOK, *run, f"{folder}/price")
        asked = {"paths": 4096, "trades": ["acme_call", "asian_eur"]}
        found = tw.differences(BOOK, vanna=True, **asked)
        prices = tw.price(BOOK, **asked)
        for name, written in (("greeks", found.write_files(f"{folder}/ours/greeks")),
                              ("price", tw.write_values(prices, f"{folder}/ours/price", BOOK))):
            assert sorted(written) == sorted(os.listdir(f"{folder}/{name}")) != []
            for file in written:
                assert pathlib.Path(f"{folder}/ours/{name}/{file}").read_bytes() == pathlib.Path(f"{folder}/{name}/{file}").read_bytes(), file
        raises(tw.FileError, lambda: found.write_files(f"{folder}/price/npv.csv"), "npv.csv")
    raises(tw.UsageError, lambda: tw.write_values(prices, "nowhere", trades(), MARKET), "acme_call")
    rows = found.to_pandas()
    delta = rows[(rows.trade == "acme_call") & (rows.key == "ACME.spot") & (rows.second_key == "")]
    moved = tw.scenarios(BOOK, [{"ACME.spot": 1}], **asked)
    assert delta["size"].tolist() == [1.0] and abs(delta.delta.iloc[0] / moved.gains[0, 0] - 1) < 1e-9
    assert (rows.second_key != "").any() and found.values["acme_call"].price == prices["acme_call"].price
    assert found.failures == []


def test_metrics():
    found = tw.price(BOOK, paths=1024)
    lines = found.metrics("desk").splitlines()
    assert any('book="desk"' in line and line.startswith("tilewalk_") for line in lines), lines
    assert any('command="greeks"' in line for line in tw.greeks(BOOK, paths=1024, trades="acme_call").metrics().splitlines())


def test_scenarios_from_dicts_and_lists():
    as_list = tw.scenarios(BOOK, [{"ACME.spot": "-20%"}, {"name": "up", "ACME.spot": 5}], paths=1024, trades="acme_call")
    as_dict = tw.scenarios(BOOK, {"stress": {"1": {"ACME.spot": {"relative": -0.2}}, "up": {"ACME.spot": 5}}},
                           paths=1024, trades="acme_call")
    assert np.array_equal(as_list.gains, as_dict.gains)
    market = tw.Market(MARKET)
    one = tw.price(BOOK, market.shifted("ACME.spot", -20), paths=1024, trades="acme_call", controls="none")
    base = tw.price(BOOK, market, paths=1024, trades="acme_call", controls="none")
    plain = tw.scenarios(BOOK, [{"ACME.spot": -20}], paths=1024, trades="acme_call", controls="none")
    assert plain.gains[0, 0] == one.columns["value"][0] - base.columns["value"][0]
    explained = tw.scenarios(BOOK, [{"ACME.spot": 1}], paths=1024, trades="acme_call", explain=True).explained.to_pandas()
    assert abs(explained.delta[0] - explained.gain[0]) < 0.1 * abs(explained.gain[0])
    raises(tw.UsageError, lambda: tw.scenarios(BOOK, [{"name": "a"}, {"name": "a"}]), "second scenario 'a'")
    raises(tw.InputError, lambda: tw.scenarios(BOOK, [{"ACMEE.spot": 1}]), "ACMEE.spot")


def test_every_form_of_a_book_has_the_same_bits():
    yaml = tw.Book({"market": MARKET, "trades": trades()})
    expected = tw.price(yaml, paths=PATHS)
    assert expected.failed == [], expected
    market = tw.Market(MARKET)
    frame = pd.DataFrame(TRADES)
    assert math.isnan(frame["quantity"][1])
    dates = pd.DataFrame(trades())
    dates["maturity"] = [1.0, None, pd.Timestamp("2027-01-15")]
    forms = {
        "dict": {"market": market, "trades": trades()},
        "list": trades(),
        "pandas": frame,
        "pandas by id": frame.set_index("id"),
        "dates": dates,
        "arrow": pa.Table.from_pylist([{**t, "maturity": None if t["maturity"] is None else str(t["maturity"])} for t in TRADES]),
        "polars": pl.DataFrame([{**t, "maturity": None if t["maturity"] is None else str(t["maturity"])} for t in TRADES]),
        "text": tw.Book.parse(yaml.to_yaml()),
        "pickle": pickle.loads(pickle.dumps(yaml)),
    }
    for name, form in forms.items():
        has_empty_quantity = name in ("pandas", "pandas by id", "dates", "arrow", "polars")
        more = {"default_quantity": 1} if has_empty_quantity else {}
        if has_empty_quantity:
            lost = tw.price(form, market, paths=64)
            assert lost.failed == ["average"] and "default_quantity=1 in Python" in lost["average"].message, name
            assert math.isnan(lost.to_pandas()["quantity"][1]), name
        found = tw.price(form, market, paths=PATHS, **more)
        assert [c.tolist() for c in (found.columns["price"], found.columns["value"], found.columns["standard_error"])] == \
               [c.tolist() for c in (expected.columns["price"], expected.columns["value"], expected.columns["standard_error"])], name
    own = tw.Book("configs/books/own_product.yaml")
    assert tw.price(pickle.loads(pickle.dumps(own)), paths=1024).columns["price"].tolist() == \
           tw.price(own, paths=1024).columns["price"].tolist()
    assert tw.price({"trades": [{"id": "d", "product": "european", "underlying": "ACME", "strike": np.float64(100),
                                 "maturity": datetime.date(2027, 1, 15)}]}, market, paths=1024).failed == []


def test_columns_are_not_copied():
    found = tw.price(BOOK, paths=1024)
    table = found._core_table()
    price = table.array("price")
    address = price.__array_interface__["data"][0]
    assert table.array("price").__array_interface__["data"][0] == address
    frame = found.to_pandas()
    for name in table.names:
        if table.kind(name) in ("figures", "counts", "flags"):
            assert np.shares_memory(frame[name].to_numpy(), table.array(name)), name
    raises(ValueError, lambda: frame.loc.__setitem__((0, "price"), 1.0), "read-only")
    own = found.to_pandas(copy=True)
    own.loc[0, "price"], own.loc[1, "product"] = 1.0, own.loc[0, "product"]
    assert own["price"][0] == 1.0 != frame["price"][0] and own.drop(0).equals(own[1:]) and len(own.columns) == len(frame.columns)
    arrow = pa.table(found)
    assert arrow["price"].chunk(0).buffers()[1].address == address
    assert arrow["paths"].chunk(0).buffers()[1].address == table.array("paths").__array_interface__["data"][0]
    arrow.validate(full=True)
    assert arrow["shadow_difference"].null_count == len(found)
    assert arrow["trade"].to_pylist() == pl.DataFrame(found)["trade"].to_list() == found.columns["trade"].tolist()
    assert arrow["product"].to_pylist() == found.columns["product"].tolist() == [str(x) for x in pl.DataFrame(found)["product"]]
    assert duckdb.sql("select trade, price, thin from found order by price desc").limit(1).fetchall() == \
           [("autocall", found["autocall"].price, bool(found["autocall"].thin))]
    before = price.tolist()
    del found, table, frame
    assert price.tolist() == before and not price.flags.writeable
    assert arrow["price"].to_pylist() == before
    stream = tw.price(BOOK, paths=1024).__arrow_c_stream__()
    del stream  # unread


def test_counts_and_flags_that_are_not_there():
    found = tw.price([*trades(), {**trades()[0], "id": "wrong", "strike": "much"}], MARKET, paths=1024)
    assert found.failed == ["wrong"]
    arrow, plain = pa.table(found), found.to_dict()
    arrow.validate(full=True)
    with tempfile.TemporaryDirectory() as folder:
        found.write(f"{folder}/r.parquet")
        parquet = pa.parquet.read_table(f"{folder}/r.parquet")
    for name in ("paths", "thin", "training_paths", "line"):
        told = arrow[name].to_pylist()
        assert told == plain[name] == parquet[name].to_pylist() == pl.DataFrame(found)[name].to_list(), (name, told)
        assert (told[-1] is None) == (name != "line"), (name, told)
    assert found.columns["paths"].tolist()[-1] == 0 and not found.columns["thin"][-1]
    assert found.to_pandas()["paths"].tolist()[-1] == 0


def test_rows_and_their_forms():
    found = tw.price(BOOK, paths=1024)
    assert len(found) == 12 and "asian_eur" in found and "nobody" not in found
    assert found["asian_eur"].trade == found[5]["trade"] == "asian_eur" and found[-1].product == "variance_swap"
    assert found["asian_eur"].price == found.columns["price"][5]
    raises(KeyError, lambda: found["asian_er"], "did you mean 'asian_eur'")
    raises(IndexError, lambda: found[12])
    numbered = tw.price([{**trades()[0], "id": 17}], MARKET, paths=1024)
    assert numbered["17"].trade == "17"
    raises(IndexError, lambda: numbered[17], "results['17']")
    assert found["asian_eur"].where.line > 1 and found["asian_eur"].early is None and found["asian_eur"].kind is None
    again = pickle.loads(pickle.dumps(found))
    assert again == found and again.manifest == found.manifest and again.to_json(parts=True) == found.to_json(parts=True)
    other = tw.price(BOOK, paths=1024, seed=2)
    assert other != found and tw.read_results(found.to_json()) == found
    assert found.to_dict()["price"] == found.columns["price"].tolist() and found.to_dict()["shadow_difference"] == [None] * 12
    assert list(found.totals.columns["currency"]) == ["USD", "GBP", "EUR"]
    with tempfile.TemporaryDirectory() as folder:
        for ending, text in ((".json", found.to_json()), (".csv", found.to_csv()), (".txt", found.to_text())):
            found.write(f"{folder}/r{ending}")
            assert pathlib.Path(f"{folder}/r{ending}").read_text(encoding="utf-8") == text
        assert tw.read_results(f"{folder}/r.json") == found
        found.write(f"{folder}/r.parquet")
        found.write(f"{folder}/r.html")
        assert pa.parquet.read_table(f"{folder}/r.parquet")["price"].to_pylist() == found.columns["price"].tolist()
        assert "asian_eur" in pathlib.Path(f"{folder}/r.html").read_text(encoding="utf-8")
        raises(tw.UsageError, lambda: found.write(f"{folder}/r.doc"), ".doc", ".json")
        raises(tw.FileError, lambda: found.write(f"{folder}/none/r.csv"), "none/r.csv")
    assert tw.compare(found, again) and not tw.compare(found, tw.price(BOOK, paths=1024, shift={"ACME.spot": 5}))
    assert "acme_call" in tw.compare(found, tw.price(BOOK, paths=1024, shift={"ACME.spot": 5})).differing


def test_what_time_steps_leave_is_a_column_and_a_mark():
    market = tw.Market({"as_of": "2026-01-15", "currencies": {"USD": {"rate": 0.03}}, "assets": {
        "H": {"currency": "USD", "spot": 100, "model": {"heston": {"v0": 0.04, "kappa": 1.5, "theta": 0.05, "sigma": 0.6, "rho": -0.7}}},
        "L": {"currency": "USD", "spot": 100, "volatility": 0.2}}})
    found = tw.price([{"id": "steps", "product": "european", "underlying": "H", "strike": 105, "maturity": 0.5},
                      {"id": "exact", "product": "european", "underlying": "L", "strike": 105, "maturity": 0.5},
                      {"id": "unknown", "product": "digital", "underlying": "H", "strike": 105, "maturity": 0.5}], market, paths=131072)
    told = found.column("error_steps").tolist()
    assert told[:2] == [0.007, 0] and math.isnan(told[2]), told
    assert [row.error_steps for row in found] == [0.007, 0, None]
    assert found.to_pandas()["error_steps"].tolist()[:2] == told[:2]
    assert pickle.loads(pickle.dumps(found)).column("error_steps").tolist()[:2] == told[:2]
    marked = found["steps"].standard_error < 0.007
    assert marked and found._repr_html_().count(">steps</span>") == 1
    assert math.isnan(found.totals.column("error_steps")[0])


def test_pages():
    page = tw.price([*trades(), {"id": "<b>x</b>", "product": "european", "underlying": "ACMEE", "strike": 1, "maturity": 1}],
                    MARKET, paths=1024)._repr_html_()
    assert "failed: unknown asset" in page and "<b>x" not in page and "&lt;b&gt;x" in page, page
    assert "prefers-color-scheme: dark" in page and page.count("<svg") == 3
    thin = tw.price(BOOK, paths=PATHS, trades=["digital"])
    assert ("thin</span>" in thin._repr_html_()) == bool(thin["digital"].thin) is True
    assert "ACME.spot" in tw.greeks(BOOK, paths=1024, trades="acme_call")._repr_html_()
    assert "strike" in tw.product("barrier")._repr_html_()


def test_errors():
    e = raises(tw.UsageError, lambda: tw.price(BOOK, pahts=3), "did you mean 'paths'")
    assert isinstance(e, ValueError) and e.kind == "usage"
    raises(tw.UsageError, lambda: tw.price(BOOK, progres=True), "did you mean 'progress'")
    raises(tw.UsageError, lambda: tw.price(BOOK, paths=0), "paths: found '0', expected")
    raises(tw.UsageError, lambda: tw.price(BOOK, paths=1.5), "1.5")
    raises(tw.UsageError, lambda: tw.price(BOOK, precision="singel"), "did you mean 'single'")
    assert tw.price(BOOK, paths=1e3, trades="acme_call")["acme_call"].paths == 1000
    raises(tw.FileError, lambda: tw.price("nowhere.yaml"), "nowhere.yaml")
    raises(tw.UsageError, lambda: tw.price(trades()), "market")
    e = raises(tw.InputError, lambda: tw.Book.parse("trades: 3\n", "mine.yaml"), "mine.yaml:1:9")
    assert (e.file, e.line, e.column, e.kind) == ("mine.yaml", 1, 9, "input") and e.message in str(e)
    copy = pickle.loads(pickle.dumps(e))
    assert (type(copy), str(copy), copy.line, copy.message) == (type(e), str(e), e.line, e.message)
    raises(tw.UsageError, lambda: tw.Book({"trades": [{"id": object()}]}), "type object")
    raises(tw.UsageError, lambda: tw.price(BOOK, trades=["acme_cal"]), "acme_call")
    raises(tw.UsageError, lambda: tw.Market(MARKET).shifted("ACME.spott", 1), "ACME.spot")
    row = tw.price([{"id": "a", "product": "european", "underlying": "ACME", "strik": 3, "maturity": 1}], MARKET)["a"]
    assert row.status == "failed" and "did you mean 'strike'" in row.message and row.kind == "input"
    nested = []
    nested.append(nested)
    raises(tw.UsageError, lambda: tw.Book({"trades": nested}), "nested")


def test_numbers_that_are_none_fail_their_trade_alone():
    good, market = trades(), tw.Market(MARKET)
    bad = {**good[0], "id": "endless", "strike": math.inf}
    for form in ([good[0], bad, *good[1:]], pd.DataFrame([good[0], bad, *good[1:]]), {"trades": [good[0], bad, *good[1:]]}):
        # A DataFrame has a cell for the quantity that a list leaves out, and `default_quantity` fills it.
        more = {"default_quantity": 1} if isinstance(form, pd.DataFrame) else {}
        found = tw.price(form, market, paths=1024, **more)
        assert found.failed == ["endless"] and "trades[1].strike: found 'inf'" in found["endless"].message, found
        assert found["call"].price == tw.price(good, market, paths=1024)["call"].price
    for number in (math.nan, -math.inf, np.float64("inf")):
        written = market.written()
        written["assets"]["ACME"]["volatility"] = number
        e = raises(tw.InputError, lambda: tw.Market(written), "assets.ACME.volatility", "finite")
        assert e.key_path == "assets.ACME.volatility"


def told(call):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        found = call()
    assert all(one.category is tw.RunWarning and one.filename == __file__ for one in heard), heard
    return found, [str(one.message) for one in heard]


def test_what_a_run_warns_of():
    market = tw.Market(MARKET).written()
    market["correlations"] = []
    pair = {"id": "two", "product": "basket", "basket": ["ACME", "BETA"], "weights": [0.5, 0.5], "strike": 70, "maturity": 1}
    assert tw.price([pair], MARKET, paths=1024).failed == []
    scenario = [{"ACME.spot": 1}]
    for call in (lambda: tw.price([pair], market, paths=1024), lambda: tw.greeks([pair], market, paths=16384, wanted="delta"),
                 lambda: tw.scenarios([pair], scenario, market, paths=4096).base,
                 lambda: tw.price_in([pair], [market, market], paths=1024)[0],
                 lambda: tw.open([pair]).price(market, paths=1024)):
        found, said = told(call)
        assert len(said) == 1 and "no correlation of ACME and BETA: taken as 0; add [ACME, BETA, 0]" in said[0], said
        assert found.remarks == said
    assert told(lambda: tw.price(trades(), MARKET, paths=1024))[1] == []
    few = "no standard errors: 1024 paths make {} of the run, and an error needs 16; use {} paths"
    found, said = told(lambda: tw.greeks(trades()[:1], MARKET, paths=1024, wanted="delta"))
    assert found.remarks == said == [few.format("1 part", 16384)], said
    found, said = told(lambda: tw.scenarios(trades()[:1], scenario, MARKET, paths=1024))
    assert found.remarks == said == [few.format("4 parts", 4096)], said
    wrong = [{"id": name, "product": "european", "underlying": "ACME", "strik": 3, "maturity": 1} for name in "ab"]
    found, said = told(lambda: tw.price(wrong, MARKET))
    assert len(said) == 1 and said[0].startswith("all 2 trades failed; the first: trade 'a': ") and "'strike'" in said[0], said
    assert told(lambda: tw.price([*wrong, *trades()], MARKET, paths=1024))[1] == []
    found, said = told(lambda: tw.price([], MARKET))
    assert found.remarks == said == ["the book has no trades"], said


def test_what_is_no_book():
    frame = pd.DataFrame(trades())
    raises(tw.UsageError, lambda: tw.price(frame.iloc[0], MARKET), "type Series", "expected a path", "[row.to_dict()]")
    assert tw.price([frame.iloc[0]], MARKET, paths=1024).failed == []
    raises(tw.UsageError, lambda: tw.price(None, MARKET), "found None, expected a path")
    raises(tw.UsageError, lambda: tw.price(3, MARKET), "found 3, expected a path")
    raises(tw.UsageError, lambda: tw.price(trades()[0], MARKET), "one trade", "[trade]")
    raises(tw.UsageError, lambda: tw.price(["a"], MARKET), "trades[0]: found 'a', expected a dict")
    raises(tw.UsageError, lambda: tw.scenarios(BOOK, [{"name": "down", "shift": {"ACME.spot": -1}}]), "'shift' in 'down'")


def test_days_and_series_in_markets():
    market = tw.Market(MARKET).written()
    plain = {"2026-06-15": 0.02, "2027-01-15": 0.03}
    days = {pd.Timestamp("2026-06-15"): 0.02, datetime.date(2027, 1, 15): 0.03}
    read = []
    for rates in (plain, days, pd.Series(plain), pd.Series(days.values(), index=pd.to_datetime(list(plain)))):
        market["currencies"]["USD"] = {"zero_rates": rates}
        read.append(tw.Market(market))
    assert all(one == read[0] for one in read[1:])
    weights = {"id": "two", "product": "basket", "basket": pd.Series(["ACME", "BETA"]), "weights": pd.Series([0.5, 0.5]),
               "strike": 70, "maturity": 1}
    assert tw.price([weights], MARKET, paths=1024).failed == []


def test_markets_are_values():
    market = tw.Market(MARKET)
    up = market.shifted("ACME.spot", 5)
    assert (market["ACME.spot"], up["ACME.spot"]) == (100, 105) and up == market.with_("ACME.spot", 105) != market
    assert market.changed({"ACME.spot": 90}, shift={"ACME.volatility": 0.01})["ACME.volatility"] == 0.23
    assert up.changes().keys() == ["ACME.spot"] and market.as_of == "2026-01-15"
    assert market.numbers()["ACME.spot"] == 100 and "ACME.spot" in market.numbers()
    assert market.number("ACME.spot").unit != "" and market.numbers().to_pandas().shape[1] == 3
    assert tw.Market(market.written()) == market == tw.Market.parse(market.to_yaml()) == pickle.loads(pickle.dumps(market))
    assert hash(up) == hash(market.shifted("ACME.spot", 5))
    by_shift = tw.price(BOOK, paths=1024, shift={"ACME.spot": 5})
    assert tw.price(BOOK, up, paths=1024).columns["price"].tolist() == by_shift.columns["price"].tolist()
    both = tw.price_in(BOOK, [market, up], paths=1024)
    assert both[1].columns["price"].tolist() == by_shift.columns["price"].tolist()
    said = command("price", BOOK, "--paths", "1024", "--shift", "ACME.spot=+5", "--format", "csv")
    assert by_shift.to_csv() == said


def test_sessions():
    opened = tw.open(BOOK)
    market = tw.Market(MARKET)
    for moved in (market, market.shifted("ACME.spot", 1), market.shifted("ACME.spot", 1)):
        plain = tw.price(BOOK, moved, paths=1024, controls="none")
        assert opened.price(moved, paths=1024, controls="none") == plain
    assert opened.facts.plans == 12 and opened.facts.trades_planned < 36
    how = {"trades": None, "paths": 1024}
    assert opened.greeks(market, wanted="delta", **how) == tw.greeks(BOOK, market, wanted="delta", **how)
    moves = [{"ACME.spot": "-20%"}]
    gains, plain = opened.scenarios(moves, market, **how), tw.scenarios(BOOK, moves, market, **how)
    assert gains.base == plain.base and np.array_equal(gains.gains, plain.gains, equal_nan=True)
    assert opened.differences(market, **how).values == tw.differences(BOOK, market, **how).values
    raises(tw.UsageError, lambda: tw.open(BOOK, paths=1024), "paths")
    raises(tw.UsageError, lambda: opened.greeks(market, wanted="dleta", paths=1024), "delta")


def test_shocks_of_ones_own():
    shocks = np.random.default_rng(1).standard_normal((1, PATHS))
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/shocks.npy", shocks)
        expected = tw.price(BOOK, trades="acme_call", replay=f"{folder}/shocks.npy", paths=PATHS, controls="none")

    class speaks_dlpack:
        def __dlpack__(self, **how):
            return shocks.__dlpack__(**how)

        def __dlpack_device__(self):
            return shocks.__dlpack_device__()

    for form in (shocks, shocks[:, np.newaxis, :], np.asfortranarray(shocks), speaks_dlpack()):
        found = tw.price(BOOK, trades="acme_call", replay=form, paths=PATHS, controls="none")
        assert found["acme_call"].price == expected["acme_call"].price
        told = found.manifest
        assert told["settings"]["replay"] == "shocks.npy in memory" and "/proc/" not in str(told), told
        assert told["inputs"][-1]["file"] == "shocks.npy in memory" and len(told["inputs"][-1]["hash"]) == 64
    market, t = tw.Market(MARKET), 1.0
    rate = market["USD.rate@1y"]
    spots = 100 * np.exp((rate - 0.015 - 0.22**2 / 2) * t + 0.22 * math.sqrt(t) * shocks[0])
    plain = math.exp(-rate) * np.maximum(spots - 105, 0).mean()
    assert abs(plain / found["acme_call"].price - 1) < 1e-9, (plain, found["acme_call"].price)
    raises(tw.UsageError, lambda: tw.price(BOOK, replay=shocks.astype(int)), "int64", "float64")
    raises(tw.UsageError, lambda: tw.price(BOOK, replay=shocks[0]), "(16384,)", "(steps, paths)")
    opened = len(os.listdir("/proc/self/fd"))
    tw.price(BOOK, trades="acme_call", replay=shocks, paths=PATHS)
    assert len(os.listdir("/proc/self/fd")) == opened


def test_decisions_are_values():
    folder = tempfile.TemporaryDirectory()
    file = pathlib.Path(folder.name) / "decided.json"
    kept = tw.price(BOOK, paths=65536)
    decided = kept.decisions
    assert list(decided) == sorted(row.trade for row in kept) and decided.paths == 65536 and decided.failed == []
    assert pickle.loads(pickle.dumps(decided)) == decided == tw.read_decisions(kept.to_json())
    decided.write(file)
    assert tw.read_decisions(file) == decided
    again = tw.price(BOOK, decisions=file)
    assert again.columns["price"].tolist() == kept.columns["price"].tolist()
    trade = next(trade for trade, of in decided.items() if of.control)
    decided[trade].paths *= 2
    decided[trade].control = None
    assert decided != kept.decisions
    row = tw.price(BOOK, decisions=decided)[trade]
    assert row.paths == 131072 and row.decisions is None and row.standard_error > kept[trade].standard_error
    del decided[trade]
    assert "found no decisions on the trade" in tw.price(BOOK, decisions=decided)[trade].message
    raises(KeyError, lambda: decided["nobody"], "nobody", "trades:")
    raises(tw.UsageError, lambda: decided.__setitem__(trade, {"paths": 1}), "expected a Decision")
    raises(tw.InputError, lambda: tw.read_decisions('{"format": "tilewalk-decisions-9"}'), "tilewalk-decisions-9")


def test_early_exercise_and_convergence():
    book = "configs/books/early.yaml"
    first = tw.price(book, paths=4096, keep_policies=True)
    assert first.policies.startswith("{") and first.columns["policy_value"].tolist() != [0]
    again = tw.price(book, paths=4096, policy=first.policies)
    assert again.failed == [] and pickle.loads(pickle.dumps(first)).policies == first.policies
    row = next(row for row in first if row.early)
    assert row.early.upper_bound == row.early["upper_bound"] and set().union(*first) == set(row) | {"part_means"}
    assert row.early["lower_bound"] <= row.price <= row.early["upper_bound"] or row.early["lower_bound"] is None
    narrow = tw.price(BOOK, trades="asian_eur", tolerance="0.05", paths="1M", controls="none", random="philox")
    assert narrow["asian_eur"].high - narrow["asian_eur"].low <= 0.1 and narrow["asian_eur"].paths < 1_000_000
    kept = tw.price(BOOK, paths=PATHS)
    assert first.decisions[row.trade].policy["trade"] == row.trade and kept.decisions != first.decisions
    assert tw.price(BOOK, paths=PATHS, decisions=kept).columns["price"].tolist() == kept.columns["price"].tolist()


def test_what_is_known_before_a_path():
    assert tw.validate(BOOK) == []
    problems = tw.validate([{"id": "a", "product": "european", "underlying": "ACMEE", "strike": 1, "maturity": 1}], MARKET)
    assert [p.trade for p in problems] == ["a"] and "ACMEE" in problems[0].message
    assert set(tw.depends_on(BOOK, trades="acme_call")["acme_call"].numbers) == \
           {"USD.rate@1y", "ACME.spot", "ACME.dividend_yield", "ACME.volatility"}
    plan = tw.explain(BOOK, trades="acme_call", program=True)[0]
    assert plan.product == "european" and "program" in plan and "program" not in tw.explain(BOOK, trades="acme_call")[0]
    assert json.loads(command("explain", BOOK, "acme_call", "--format", "json"))["trades"][0]["terms"] == plan.terms
    assert "paths" in tw.settings() and tw.settings()["precision"].choices
    assert len(tw.products()) > 20 and tw.product("european").parameters[0]["name"] == "underlying"
    own = pathlib.Path("configs/products/best_close_call.yaml")
    assert tw.product(own).name == tw.product(own.read_text(encoding="utf-8")).name == "best_close_call"
    raises(tw.InputError, lambda: tw.product(own.read_text(encoding="utf-8").replace("pay ", "pya ")), "pya")
    raises(KeyError, lambda: tw.product("europeen"), "did you mean 'european'")
    assert "<svg" in tw.picture(BOOK, "asian_eur")._repr_svg_()
    raises(tw.FileError, lambda: tw.import_ore("nowhere.xml"), "nowhere.xml")
    devices = tw.devices()
    assert devices.processor["threads"] >= 1 and (devices.why_no_gpu or devices.gpus)
    fitted = tw.calibrate("configs/calibration/svi.yaml")
    assert fitted.is_sound and fitted.fits and fitted.market.as_of


LONG = dict(paths=2**30, trades=["autocall"], controls="none", random="philox")


def test_cancelling():
    event = threading.Event()
    threading.Timer(0.3, event.set).start()
    raises(tw.Cancelled, lambda: tw.price(BOOK, cancel=event, **LONG))

    class stop(Exception):
        pass

    def hears(news):
        if news["path_steps_done"] > 0:
            raise stop

    raises(stop, lambda: tw.price(BOOK, progress=hears, **LONG))

    class asked:
        def __init__(self, answer):
            self.answer = answer

        def is_set(self):
            if isinstance(self.answer, type):
                raise self.answer
            return self.answer

    raises(tw.Cancelled, lambda: tw.price(BOOK, cancel=asked(1), **LONG))
    raises(tw.Cancelled, lambda: tw.price(BOOK, cancel=asked("yes"), **LONG))
    raises(stop, lambda: tw.price(BOOK, cancel=asked(stop), **LONG))
    raises(ValueError, lambda: tw.price(BOOK, cancel=asked(np.array([1, 2])), **LONG))
    raises(tw.UsageError, lambda: tw.price(BOOK, cancel=object(), **LONG), "expected an object with is_set()")
    script = ("import tilewalk as tw, sys\nprint('on', flush=True)\n"
              f"try:\n    tw.price('{BOOK}', **{LONG!r})\nexcept KeyboardInterrupt:\n    print('stopped'); sys.exit(5)\n")
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=pythons.environment()) as run:
        assert run.stdout.readline() == "on\n"
        time.sleep(0.5)
        run.send_signal(signal.SIGINT)
        said, _ = run.communicate(timeout=60)
        assert (run.returncode, said) == (5, "stopped\n")


def test_progress():
    heard = []
    run = dict(paths=2**19, trades=["autocall", "asian_eur"], controls="none", random="philox")
    tw.price(BOOK, progress=heard.append, **run)
    assert heard and heard[-1]["trades_done"] <= heard[-1]["trades"] == 2

    class bar:
        total, done = None, 0

        def update(self, n):
            self.done += n

    shown = bar()
    tw.price(BOOK, progress=shown, **run)
    assert shown.total and 0 < shown.done <= shown.total
    done = subprocess.run([sys.executable, "-c", f"import tilewalk as tw\ntw.price('{BOOK}', progress=True, **{run!r})"],
                          stderr=subprocess.PIPE, text=True, env=pythons.environment(), check=True)
    lines = done.stderr.splitlines()
    assert 1 <= len(lines) <= 10 and all(line.startswith("tilewalk: ") and "%" in line for line in lines), done.stderr


def test_threads():
    expected = tw.price(BOOK, paths=PATHS).columns["price"].tolist()
    found, counted = [], []
    threads = [threading.Thread(target=lambda: found.append(tw.price(BOOK, paths=PATHS).columns["price"].tolist()))
               for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        counted.append(1)  # impossible if a run kept the interpreter locked
        time.sleep(0.001)
    assert found == [expected] * 4 and len(counted) > 3


def test_shards():
    with tempfile.TemporaryDirectory() as folder:
        plan = tw.shards.plan(tw.Book(BOOK), 3, f"{folder}/plan", MARKET, paths=PATHS, trades=["asian_eur", "autocall"])
        e = raises(tw.ShardsMissing, plan.merge, "1-3")
        assert e.which == [1, 2, 3] and isinstance(e, tw.MachineFailure)
        for number in (3, 1, 2):
            assert not tw.shards.open(f"{folder}/plan").run(number, threads=1).was_done
        merged = plan.merge()
        one = tw.price(BOOK, paths=PATHS, trades=["asian_eur", "autocall"])
        assert merged.columns["price"].tolist() == one.columns["price"].tolist()
        assert merged.columns["standard_error"].tolist() == one.columns["standard_error"].tolist()
        wide = {"tolerance": "0.0001", "paths": "128k", "controls": "none", "random": "philox", "trades": ["asian_eur"]}
        plan = tw.shards.plan(BOOK, 1, f"{folder}/wide", **wide)
        plan.run(1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert plan.merge().columns["price"].tolist() == tw.price(BOOK, **wide).columns["price"].tolist()
        assert plan.next is None, "these are the most paths"
        moved = tw.shards.plan(BOOK, 2, f"{folder}/moves", scenarios=SCENARIOS, paths=1024, trades=["acme_call"])
        for number in (1, 2):
            moved.run(number)
        assert moved.merge().to_csv() == tw.scenarios(BOOK, SCENARIOS, paths=1024, trades=["acme_call"]).to_csv()
        by_differences = {"vanna": True, "paths": 1024, "trades": ["acme_call"]}
        differences = tw.shards.plan(BOOK, 2, f"{folder}/differences", differences=True, **by_differences)
        for number in (1, 2):
            differences.run(number)
        assert differences.merge().columns["delta"].tolist() == tw.differences(BOOK, **by_differences).columns["delta"].tolist()
        raises(tw.UsageError, lambda: tw.shards.plan(BOOK, 2, folder, differences=True, greeks=[]), "at most one")


def test_kernels_ahead_of_runs():
    heard = []
    found = tw.warm(BOOK, architectures=["sm_90", "sm_80"], trades="acme_call", progress=heard.append)
    assert found.names == ["kernel", "architecture", "outcome", "seconds", "bytes", "products", "message"] and len(found) > 0
    assert heard[-1] == {"kernels_done": len(found), "kernels": len(found)}, heard
    columns = found.to_dict()
    assert set(columns["architecture"]) == {"sm_90", "sm_80"}
    there = [outcome in ("compiled", "from cache") for outcome in columns["outcome"]]
    assert there == [message == "" for message in columns["message"]] == [bool(size) for size in columns["bytes"]]
    assert found.failed == [name for name, is_there in zip(columns["kernel"], there) if not is_there]
    # The command finds the kernels that tw.warm has compiled in the same cache.
    said = command("warm", BOOK, "--arch", "sm_90", "--arch", "sm_80", "--trade", "acme_call", code=3 if found.failed else 0)
    lines = [line.split() for line in said.splitlines() if " sm_" in line]
    assert [line[:2] for line in lines] == [list(both) for both in zip(columns["kernel"], columns["architecture"])]
    assert all((line[2] == "from") == is_there for line, is_there in zip(lines, there)), said
    counted = f"{sum(there)} from the cache, {len(found.failed)} failed"
    assert counted in said and f"{len(found)} kernels: " in str(found) and f", {len(found.failed)} failed" in str(found)
    raises(tw.UsageError, lambda: tw.warm(BOOK, architectures="90"), "architectures: found '90', expected an architecture")
    raises(tw.UsageError, lambda: tw.warm(BOOK, architectures="sm_90", pahts=3), "did you mean 'paths'")
    for seconds in (0, -1, 3601, math.nan):
        raises(tw.UsageError, lambda: tw.tune(BOOK, seconds=seconds), "seconds: found ", "a number above 0, up to 3600")
    raises(tw.UsageError, lambda: tw.tune(BOOK, prefetch="none"), "left out or auto")
    stopped = threading.Event()
    stopped.set()
    why = tw.devices().why_no_gpu
    if why:
        for call in (lambda: tw.warm(BOOK), lambda: tw.tune(BOOK), lambda: tw.tune(BOOK, greeks=True)):
            raises(tw.DeviceError, call, why)
        for words in (("warm", BOOK), ("tune", BOOK)):
            done = subprocess.run([pythons.command, *words], text=True, stderr=subprocess.PIPE, env=pythons.environment())
            told = str(raises(tw.DeviceError, lambda: getattr(tw, words[0])(words[1])))
            assert (done.returncode, done.stderr) == (75, f"tilewalk: {told}\n"), done.stderr
        return
    heard = []
    tuned = tw.tune(BOOK, trades="acme_call", seconds=0.2, progress=heard.append)
    assert tuned.failed == [] and all("doing" in news for news in heard), heard
    for row in tuned.rows():
        assert row["times_as_fast"] >= 1 and pathlib.Path(row["kept_in"]).exists() and row["kernel"] in str(tuned)
    raises(tw.Cancelled, lambda: tw.tune(BOOK, cancel=stopped))


def test_verification():
    asked = ("--product", "european", "--trades", "200", "--paths", "2048")
    heard = []
    found = tw.verify(products="european", trades=200, paths=2048, progress=heard.append)
    said = command("verify", *asked, "--format", "csv")
    assert found.passed and found.to_csv() == said
    rows = list(csv.DictReader(io.StringIO(said)))
    assert found.names == list(rows[0]) and len(found) == len(rows)
    for name in found.names:
        is_text = name in ("mistake", "product", "known_by", "statistic", "verdict")
        assert found.column(name).tolist() == [row[name] if is_text else float(row[name]) for row in rows], name
    assert heard and heard[-1]["trades"] == 200 and found.mistakes == [] and "known_by" not in found.worst[0]
    worst = tw.price(tw.Book.parse(found.worst[0].book, "worst.yaml"))
    assert worst.to_dict()["price"] == [found.worst[0].price]
    assert str(found).splitlines()[0] == command("verify", *asked, "--format", "table").splitlines()[0]
    # The mistake `floor` is noticed; `discount_forgotten` concerns rights, which these trades don't have.
    for plant, code in (("floor", 0), ("discount_forgotten", 5)):
        planted = tw.verify(products=["european"], trades=200, paths=2048, plant=plant)
        assert planted.to_csv() == command("verify", *asked, "--plant", plant, "--format", "csv", code=code)
        assert planted.passed == (code == 0) and [m.name for m in planted.mistakes] == [plant]
        assert planted.mistakes[0].caught == planted.passed
    with tempfile.TemporaryDirectory() as folder:
        found.write(f"{folder}/verdict.json")
        assert json.loads(pathlib.Path(f"{folder}/verdict.json").read_text(encoding="utf-8"))["holds"] is True
        raises(tw.UsageError, lambda: found.write(f"{folder}/verdict.html"), ".json")
    of_greeks = tw.verify(products="european", greeks=True, trades=20, paths=16384)
    assert of_greeks.passed and "sensitivities" in str(of_greeks)
    raises(tw.UsageError, lambda: tw.verify(products="europeen"), "did you mean 'european'")
    raises(tw.UsageError, lambda: tw.verify(plant="day_cont"), "did you mean 'day_count'")
    raises(tw.UsageError, lambda: tw.verify(controls="none"), "verify: unknown setting 'controls'", "paths")
    raises(tw.UsageError, lambda: tw.verify(trades=0), "trades: found 0, expected a whole number from 1 to 1000000")
    raises(tw.UsageError, lambda: tw.verify(trades=1), "expected at least one of each")
    event = threading.Event()
    threading.Timer(0.5, event.set).start()
    raises(tw.Cancelled, lambda: tw.verify(cancel=event))


def test_the_command_inside():
    inside = [sys.executable, "-m", "tilewalk"]
    arguments = ["price", BOOK, "--paths", "1024", "--format", "csv"]
    done = subprocess.run([*inside, *arguments], stdout=subprocess.PIPE, text=True, env=pythons.environment(), check=True)
    assert done.stdout == command(*arguments)
    workers = subprocess.run([*inside, *arguments, "--workers", "2"], stdout=subprocess.PIPE, text=True,
                             env=pythons.environment(), check=True)
    assert workers.stdout == done.stdout
    wrong = subprocess.run([*inside, "pirce"], stderr=subprocess.PIPE, text=True, env=pythons.environment())
    assert wrong.returncode == 2 and "did you mean 'price'" in wrong.stderr


def test_the_command_inside_has_those_that_are_programs_elsewhere():
    def both(*words):
        """The output of the package's command and of the built one, which starts the programs beside it."""
        if words[0] == "help" and "--man" in words:
            told = []
            for by in ([sys.executable, "-m", "tilewalk"], [pythons.command]):
                with tempfile.TemporaryDirectory() as folder:
                    subprocess.run([*by, *words, folder], env=pythons.environment(), check=True)
                    told.append({page.name: page.read_text(encoding="utf-8") for page in pathlib.Path(folder).iterdir()})
            return told
        return [subprocess.run([*by, *words], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=pythons.environment())
                for by in ([sys.executable, "-m", "tilewalk"], [pythons.command])]

    pages, expected = both("help", "--man")
    assert pages == expected and r"\-\-feeds" in pages["tilewalk-bench.1"] and r"\-\-plant" in pages["tilewalk-verify.1"]
    for words in (("help", "verify"), ("bench", "--help"), ("completion", "bash"), ("completion", "zsh"), ("verify", "--description"),
                  ("verify", "--product", "digital", "--trades", "60", "--paths", "1024", "--format", "csv", "--quiet"),
                  ("verify", "--product", "digitl"), ("bench", "prefech"), ("bench", "prefetch", "nowhere.yaml"), ("bench",)):
        inside, built = both(*words)
        assert (inside.returncode, inside.stdout, inside.stderr) == (built.returncode, built.stdout, built.stderr), (words, inside, built)
    inside, built = both("bench", "models", "black_scholes", "--device", "cpu", "--seconds", "0.001")
    assert (inside.returncode, built.returncode) == (0, 0), (inside, built)
    # Left out are the first line, which describes the run, and the last, which has the number of rows.
    rows, expected = ([json.loads(line) for line in one.stdout.splitlines()[1:-1]] for one in (inside, built))
    assert [row["axes"] for row in rows] == [row["axes"] for row in expected] and len(rows) > 1
    assert [row["figures"].get("price") for row in rows] == [row["figures"].get("price") for row in expected]


pythons.run_all(dict(globals()))
