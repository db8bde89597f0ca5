# SPDX-License-Identifier: Apache-2.0
# The Python package as a new user meets it: arguments of a wrong type are reported with their place, files are written whole or not at all,
# streams may be closed, and Python may exit while threads still price.
import datetime
import decimal
import fractions
import os
import pathlib
import resource
import stat
import subprocess
import sys
import tempfile
import threading
import warnings

import pythons
from pythons import raises

pythons.in_python_with("numpy", "pandas", "pyarrow")

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
import pyarrow as pa  # noqa: E402
import tilewalk as tw  # noqa: E402

BOOK, MARKET = "configs/books/demo.yaml", "configs/markets/demo.yaml"
CALL = {"id": "a", "product": "european", "underlying": "ACME", "option": "call", "strike": 105, "maturity": 1.0}


def price_of(**terms):
    return tw.price([{**CALL, **terms}], MARKET, paths=1024)[0].price


def in_python(script, **how):
    return subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=pythons.environment(), timeout=120, **how)


def test_numbers_and_days_of_any_kind():
    as_float = price_of(strike=105.5)
    for strike in (decimal.Decimal("105.50"), fractions.Fraction(211, 2), np.float32(105.5), np.array(105.5), "105.5"):
        assert price_of(strike=strike) == as_float, strike
    a_day = price_of(maturity="2027-01-18")
    for day in (datetime.date(2027, 1, 18), pd.Timestamp("2027-01-18"), np.datetime64("2027-01-18"),
                np.datetime64("2027-01-18", "ns"), np.datetime64("2027-01-18", "s")):
        assert price_of(maturity=day) == a_day, repr(day)
    asian = {"id": "a", "product": "asian", "underlying": "ACME", "strike": 100}
    days = ["2026-06-01", "2026-12-01"]
    expected = tw.price([{**asian, "averaging_dates": days}], MARKET, paths=1024)[0].price
    for unit in ("D", "s", "ns"):
        same = [{**asian, "averaging_dates": np.array(days, dtype=f"datetime64[{unit}]")}]
        assert tw.price(same, MARKET, paths=1024)[0].price == expected, unit


def test_a_name_of_digits_is_no_number():
    asset = {"currency": "USD", "spot": 100, "volatility": 0.2}
    market = {"as_of": "2026-01-15", "currencies": {"USD": {"rate": 0.03}},
              "assets": {"0700": asset, "700": {**asset, "spot": 50}, "1E5": asset}}
    trades = [{**CALL, "id": name, "underlying": name} for name in ("0700", "700", "1E5")]
    as_written = [row.price for row in tw.price({"market": market, "trades": trades}, paths=1024)]
    assert min(as_written[0], as_written[2]) > as_written[1] >= 0
    for table in (trades, pd.DataFrame(trades)):
        found = tw.price(table, market, paths=1024)
        assert [row.trade for row in found] == ["0700", "700", "1E5"] and found.columns["price"].tolist() == as_written
    texts = [{**CALL, "strike": text, "maturity": "1.0"} for text in ("105", "105.0", "1.05e2", "+105", "105.")]
    found = [tw.price([one], MARKET, paths=64)[0].price for one in texts]
    assert found == [tw.price([CALL], MARKET, paths=64)[0].price] * len(texts), found


def test_an_empty_quantity_fails_its_trade():
    good = {**CALL, "quantity": 2}
    for empty in (None, float("nan"), pd.NA, np.nan):
        lost = tw.price([good, {**CALL, "id": "b", "quantity": empty}], MARKET, paths=64)
        assert lost.failed == ["b"] and "trades[1].quantity: found nothing" in lost["b"].message
        filled = tw.price([good, {**CALL, "id": "b", "quantity": empty}], MARKET, paths=64, default_quantity=-3)
        assert filled.columns["quantity"].tolist() == [2, -3]
    assert tw.price([CALL], MARKET, paths=64).columns["quantity"].tolist() == [1]
    assert tw.price(pd.DataFrame([CALL]), MARKET, paths=64).columns["quantity"].tolist() == [1]
    assert tw.price([CALL], MARKET, paths=64, default_quantity=5).columns["quantity"].tolist() == [5]
    again = tw.Book.of_trades(pd.DataFrame([good, {**CALL, "id": "b"}]), market=MARKET)
    assert tw.price(tw.Book.parse(again.to_yaml()), paths=64).failed == ["b"]
    raises(tw.UsageError, lambda: tw.price(BOOK, paths=64, default_quantity=1), "default_quantity")


def test_a_book_without_trades():
    sentence = "the book has no trades"
    for empty in ([], {"market": MARKET, "trades": []}):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = tw.price(empty, MARKET, paths=64)
            assert tw.validate(empty, MARKET) == []
        assert [str(one.message) for one in told] == [sentence, sentence] and found.remarks == [sentence]
        for run in (tw.price, tw.greeks, tw.validate):
            raises(tw.InputError, lambda: run(empty, MARKET, strict=True), sentence)


def test_columns_and_indices_of_tables():
    frame = pd.DataFrame([CALL])
    twice = pd.concat([frame, pd.DataFrame({"strike": [50.0]})], axis=1)
    raises(tw.UsageError, lambda: tw.price(twice, MARKET), "found a second column 'strike'")
    raises(tw.UsageError, lambda: tw.price(pa.Table.from_arrays([["a"], ["b"]], names=["id", "id"]), MARKET),
           "found a second column 'id'")
    expected = tw.price(frame, MARKET, paths=64)
    table = pa.Table.from_pandas(frame)
    for same in (frame.set_index("id"), frame.set_index("id", drop=False), table.to_batches()[0], table.to_reader()):
        assert tw.price(same, MARKET, paths=64) == expected, type(same)


def test_what_is_no_value_is_named_with_its_place():
    def second(**terms):
        return lambda: tw.price([CALL, {**CALL, "id": "b", **terms}], MARKET, paths=64)

    raises(tw.UsageError, second(strike=1j), "trades[1].strike: found an object of type complex")
    raises(tw.UsageError, second(maturity=datetime.timedelta(days=3)), "trades[1].maturity: ", "timedelta")
    raises(tw.UsageError, second(maturity=np.timedelta64(3, "ns")), "trades[1].maturity: ", "timedelta64")
    raises(tw.UsageError, second(averaging_dates=[0.5, {1.0}]), "trades[1].averaging_dates[1]: found an object of type set")
    raises(tw.UsageError, second(id="a\udcff"), "trades[1].id: ", "surrogate")
    raises(tw.UsageError, lambda: tw.price("caf\udce9.yaml"), "surrogate")
    raises(tw.UsageError, lambda: tw.price([CALL], MARKET, trades=["a\udcff"]), "trades: ", "surrogate")
    raises(tw.UsageError, lambda: tw.Book.parse("trades: [{id: a\ud800}]"), "a book: ", "surrogate")
    raises(tw.UsageError, lambda: tw.Market.parse("as_of: \ud800"), "a market: ", "surrogate")
    raises(tw.UsageError, lambda: tw.read_results('{"\ud800": 1}'), "results: ", "surrogate")
    raises(tw.UsageError, lambda: tw.Market({"as_of": "2026-01-15", "assets": {"A": {"spot": b"1"}}}), "assets.A.spot: ")


def test_options_of_the_wrong_type():
    price = lambda **how: lambda: tw.price(BOOK, paths=64, **how)  # noqa: E731
    raises(tw.UsageError, price(trades=5), "trades: found 5, expected the id of a trade")
    raises(tw.UsageError, price(trades=[17]), "trades: found 17", "did you mean '17'")
    raises(tw.UsageError, price(shift=5), "shift: found 5, expected a dict by market key")
    raises(tw.UsageError, price(shift={"ACME.spot": "-20%"}), "ACME.spot: found '-20%', expected a number")
    raises(tw.UsageError, price(set={"ACME.spot": None}), "ACME.spot: found None, expected a number")
    raises(tw.UsageError, price(progress=5), "progress: found 5")
    raises(tw.UsageError, price(cancel=5), "cancel: found 5")
    raises(tw.UsageError, price(replay=np.zeros((1, 64), complex)), "replay: found shocks of type complex128")
    raises(tw.UsageError, price(replay=[[0.0] * 64]), "replay: found an object of type list, expected a file or an array")
    raises(tw.UsageError, price(policy=5), "policy: found 5")
    raises(tw.UsageError, lambda: tw.greeks(BOOK, paths=64, wanted=5), "wanted: found 5")
    raises(tw.UsageError, lambda: tw.price_in(BOOK, MARKET, paths=64), "price_in: found 'configs/markets/demo.yaml'")
    raises(tw.UsageError, lambda: tw.scenarios(BOOK, 5), "scenarios: found 5")
    raises(tw.UsageError, lambda: tw.scenarios(BOOK, ["down"]), "scenarios: found 'down'")
    raises(tw.UsageError, lambda: tw.Market(MARKET).shifted("ACME.spot", "x"), "ACME.spot: found 'x'")
    raises(tw.UsageError, lambda: tw.price(BOOK.encode()), "found an object of type bytes")
    raises(tw.UsageError, lambda: tw.price(pd.DataFrame([CALL]).to_dict(), MARKET), 'frame.to_dict("records")')
    results = tw.price([CALL, {**CALL, "id": "b"}], MARKET, paths=64)
    raises(tw.UsageError, lambda: tw.compare(results, 5), "compare: found 5")
    raises(AttributeError, lambda: results["a"].prise, "no member 'prise'; did you mean 'price'?")
    raises(TypeError, lambda: results[1.5], "found 1.5, expected the id of a trade or a place")
    assert results[np.int64(1)].trade == results["b"].trade == "b"


def test_shocks_in_any_layout():
    shocks = np.random.default_rng(1).standard_normal((1, 1, 128))
    price = lambda of: tw.price(BOOK, trades="acme_call", paths=64, replay=of)[0].price  # noqa: E731
    expected = price(shocks[0, :, ::2].copy())
    for same in (shocks[:, :, ::2], np.asfortranarray(shocks[:, :, ::2]), shocks[:, :, ::2].astype(">f8")):
        assert price(same) == expected, same.dtype


def test_messages_name_the_setting_of_a_file_in_memory():
    shocks = np.zeros((1, 64))
    shocks[0, 3] = np.nan
    e = raises(tw.InputError, lambda: tw.price(BOOK, trades="acme_call", paths=64, replay=shocks), "replay: found nan")
    assert e.file == "replay" and "/proc" not in str(e)
    e = raises(tw.InputError, lambda: tw.price(BOOK, paths=64, policy="{bad"), "policy:1:2: ")
    assert (e.file, e.line, e.column) == ("policy", 1, 2) and "/proc" not in str(e)


def test_a_file_is_whole_or_stays():
    results = tw.price(BOOK, paths=64)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "prices.json"
        file.write_text("yesterday")
        file.chmod(0o640)
        link = pathlib.Path(folder) / "latest.json"
        link.symlink_to(file)
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))  # imitates a full disk
        try:
            for name in (file, link, file.with_suffix(".csv"), file.with_suffix(".html"), file.with_suffix(".parquet")):
                raises(tw.FileError, lambda name=name: results.write(name), "can't write: File too large")
            raises(tw.FileError, lambda: tw.Market(MARKET).write(file.with_suffix(".yaml")), "File too large")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert sorted(os.listdir(folder)) == ["latest.json", "prices.json"] and file.read_text() == "yesterday"
        results.write(link)
        assert link.is_symlink() and tw.read_results(file) == results
        assert stat.S_IMODE(file.stat().st_mode) == 0o640
        assert sorted(os.listdir(folder)) == ["latest.json", "prices.json"]
        raises(tw.FileError, lambda: results.write(f"{folder}/none/prices.json"), "No such file or directory")
        results.write(f"{folder}/prices.parquet")
        raises(tw.InputError, lambda: tw.read_results(f"{folder}/prices.parquet"), "prices.parquet: found the byte 0x",
               "expected text in UTF-8")
        os.mkfifo(f"{folder}/pipe.csv")
        heard = []
        reader = threading.Thread(target=lambda: heard.append(pathlib.Path(f"{folder}/pipe.csv").read_text()))
        reader.start()
        results.write(f"{folder}/pipe.csv")
        reader.join()
        assert heard == [results.to_csv()]


def test_closed_streams():
    def told(closed):
        arguments = [sys.executable, "-m", "tilewalk", "price", BOOK, "--paths", "64", "--quiet", "-o", "/dev/null"]
        return subprocess.run(["sh", "-c", f'exec "$@" {closed}', "sh", *arguments], stderr=subprocess.PIPE, text=True,
                              env=pythons.environment())

    for closed in (">&-", "<&-", ">&- 2>&-", "<&- >&- 2>&-"):
        done = told(closed)
        assert done.returncode == 0 and "Traceback" not in done.stderr, (closed, done)
    done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "-m", "tilewalk", "price", BOOK, "--paths", "64"],
                          stderr=subprocess.PIPE, text=True, env=pythons.environment())
    assert done.returncode != 0 and "standard output: can't write" in done.stderr, done


AT_WORK = """
import sys, threading, time
import tilewalk as tw
started = threading.Event()
def hears(news):
    started.set()
def work():
    {work}
threading.Thread(target=work, daemon=True).start()
started.wait(60)
time.sleep(0.1)
kept = tw.price("configs/books/demo.yaml", paths=64)
{last}
"""
LONG = "tw.price('configs/books/demo.yaml', paths=2**30, controls='none', random='philox', progress=hears)"


def test_python_ends_while_a_thread_prices():
    done = in_python(AT_WORK.format(work=LONG, last="sys.exit(3)"))
    assert (done.returncode, done.stderr) == (3, ""), done
    looks = "tw.price('configs/books/demo.yaml', paths=2**30, progress=lambda news: (hears(news), time.sleep(0.2)))"
    done = in_python(AT_WORK.format(work=looks, last=""))
    assert (done.returncode, done.stderr) == (0, ""), done
    rows = "results = tw.price('configs/books/demo.yaml', paths=4096); started.set()\n    while True: results.to_json(True)"
    for _ in range(3):
        done = in_python(AT_WORK.format(work=rows, last=""))
        assert (done.returncode, done.stderr) == (0, ""), done
    writes = ("gains = tw.scenarios('configs/books/demo.yaml', 'configs/scenarios/demo.yaml', paths=4096); started.set()\n"
              "    while True: gains.to_json()")
    for _ in range(3):
        done = in_python(AT_WORK.format(work=writes, last=""))
        assert (done.returncode, done.stderr) == (0, ""), done


def test_exit_handlers_and_forks_may_price():
    late = ("import atexit\n"
            "atexit.register(lambda: print(len(tw.price('configs/books/demo.yaml', paths=64)), flush=True))\n")
    # Exit handlers run in reverse order, so this one, registered first, runs after the package's.
    done = in_python(late + "import tilewalk as tw\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "12\n", ""), done
    forks = AT_WORK.format(work=LONG, last="""
import os
child = os.fork()
if child == 0:
    print(len(tw.price("configs/books/demo.yaml", paths=64)), flush=True)
    sys.exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""")
    done = in_python(forks)
    assert (done.returncode, done.stdout, done.stderr) == (0, "12\n7\n", ""), done


def test_a_machine_that_gives_no_thread():
    script = f"""
import os, resource
import tilewalk as tw
if os.geteuid() == 0:
    os.setuid(65534)  # no limit of threads holds for root
book, market = tw.Book({BOOK!r}), tw.Market({MARKET!r})
resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
print(tw.price(book, market, paths=1024).to_csv(), end="")
"""
    done = in_python(script)
    assert (done.returncode, done.stdout) == (0, tw.price(BOOK, paths=1024).to_csv()), done


def test_a_notebook_shows_what_failed():
    trades = pd.DataFrame([{**CALL, "id": f"t{place}"} for place in range(200)])
    well = tw.price(trades, MARKET, paths=64)._repr_html_()
    assert "200 rows; the first 60 are shown<" in well and ">t59<" in well and ">t60<" not in well
    trades.loc[[3, 150], "strike"] = -1
    shown = tw.price(trades, MARKET, paths=64)._repr_html_()
    assert "200 rows, 2 failed; the first 60 are shown, and 1 that failed<" in shown
    assert ">t150<" in shown and ">t151<" not in shown and shown.count("failed: trades[") == 2


def test_help_tells_where_options_are():
    import tilewalk.runs

    for function in (tw.price, tw.price_in, tw.greeks, tw.scenarios, tw.differences):
        assert "help(tilewalk.runs)" in function.__doc__, function.__name__
    for option in tilewalk.runs._OF_READING + tilewalk.runs._OF_RUNS:
        assert option in tilewalk.runs.__doc__, option


pythons.run_all(dict(globals()))
