# SPDX-License-Identifier: Apache-2.0
# Parquet files of prices, totals, sensitivities and gains, read by pyarrow, polars and DuckDB, which share no code with Tilewalk. They find
# the same columns, texts and bits as in the CSV files, and null where a field is empty. Skipped without these Python packages.
import os
import pathlib
import subprocess
import sys
import tempfile

import clusters

READ = r'''
import json, os, pathlib, pty, subprocess, sys

import duckdb
import numpy
import polars
import pyarrow
import pyarrow.csv
import pyarrow.parquet

command, source = sys.argv[1:]
# Columns that are in no CSV.
BESIDE = {"message", "kind", "walk", "first_day", "last_day"}
DATES = {"first_day", "last_day"}


def run(*words, code=0, **options):
    done = subprocess.run([command, *words, "--quiet"], capture_output=True, text=True, **options)
    assert done.returncode == code, f"{words}: {done.returncode}\n{done.stderr}"
    return done.stderr


def of_csv(file):
    """The file as texts, and none where a field is empty."""
    head = file.open(encoding="utf-8").readline().rstrip("\n").split(",")
    texts = {name: pyarrow.string() for name in head}
    return pyarrow.csv.read_csv(file, parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
                                convert_options=pyarrow.csv.ConvertOptions(
                                    column_types=texts, null_values=[""], strings_can_be_null=True,
                                    quoted_strings_can_be_null=False))


def same_column(name, ours, theirs):
    """A column by a reader of Parquet against that of CSV, which is texts."""
    ours = ours.combine_chunks() if isinstance(ours, pyarrow.ChunkedArray) else ours
    theirs = theirs.combine_chunks()
    empty = numpy.asarray(theirs.is_null())
    if pyarrow.types.is_floating(ours.type):
        assert (numpy.asarray(ours.is_null()) == empty).all(), name
        wanted = numpy.array([float(x) for x in theirs.drop_null().to_pylist()], dtype=float)
        found = numpy.asarray(ours.drop_null(), dtype=float)
        assert (wanted.view("int64") == found.view("int64")).all(), name
        return
    found = ours.to_pylist()
    if pyarrow.types.is_boolean(ours.type):
        found = [None if x is None else str(x).lower() for x in found]
    elif pyarrow.types.is_integer(ours.type):
        found = [None if x is None else str(x) for x in found]
    else:
        found = [x or None for x in found]  # a text of nothing is no field in CSV
    wanted = theirs.to_pylist()
    assert found == wanted, (name, [pair for pair in zip(found, wanted) if pair[0] != pair[1]][:3])


def alike(first, second):
    """Tables of two readers, whose columns may have types of other widths."""
    assert first.column_names == second.column_names, (first.column_names, second.column_names)
    for name in first.column_names:
        a, b = first[name].combine_chunks(), second[name].combine_chunks()
        if pyarrow.types.is_floating(a.type):
            assert (numpy.asarray(a.is_null()) == numpy.asarray(b.is_null())).all(), name
            a, b = (numpy.asarray(x.drop_null(), dtype=float).view("int64") for x in (a, b))
            assert (a == b).all(), name
        else:
            assert a.to_pylist() == b.to_pylist(), name


def check(parquet, csv, dates=()):
    """Reads a file by three readers, compares them and CSV, and returns the table."""
    file = pyarrow.parquet.ParquetFile(parquet)
    table = file.read()
    wanted = of_csv(csv)
    more = [name for name in table.column_names if name not in wanted.column_names]
    assert set(more) <= BESIDE, more
    assert [name for name in table.column_names if name not in more] == wanted.column_names
    assert table.num_rows == wanted.num_rows == file.metadata.num_rows
    for name in wanted.column_names:
        same_column(name, table[name], wanted[name])
    for field in table.schema:
        assert field.nullable, field
        assert (field.type == pyarrow.date32()) == (field.name in DATES), field
    assert file.metadata.created_by.startswith("tilewalk version "), file.metadata.created_by
    manifest = json.loads(file.metadata.metadata[b"tilewalk"])["manifest"]
    assert manifest["seed"] == 5 and manifest["inputs"], manifest
    for group in range(file.metadata.num_row_groups):
        of = file.metadata.row_group(group)
        assert of.num_rows <= 1 << 17
        for k in range(of.num_columns):
            name = of.column(k).path_in_schema
            part = table[name].slice(group << 17, of.num_rows)
            told = of.column(k).statistics
            assert told.null_count == part.null_count, name
            # Texts by their bytes, which is the order of Python's.
            values = part.drop_null().to_pylist()
            ends = (min(values), max(values)) if values else ()
            if not ends or isinstance(ends[0], str) and max(len(x.encode()) for x in ends) > 256:
                assert not told.has_min_max, name
            else:
                assert told.has_min_max and (told.min, told.max) == ends, (name, told, ends)
                if ends[0] == 0 and isinstance(ends[0], float):
                    assert numpy.signbit(told.min), f"{name}: -0 may be among them"
    alike(table, polars.read_parquet(parquet).to_arrow())
    rows = duckdb.sql(f"select * from read_parquet('{parquet}')").to_arrow_table()
    alike(table, rows)
    assert duckdb.sql(f"select count(*) from parquet_metadata('{parquet}')").fetchall()[0][0] == \
        file.metadata.num_row_groups * table.num_columns
    return table


def price(name, text, *words, code=0):
    book = pathlib.Path(name + ".yaml")
    book.write_text(text, encoding="utf-8")
    for form in ("parquet", "csv"):
        run("price", str(book), "-o", f"{name}.{form}", "--totals", f"{name}_totals.{form}", *words, code=code)
    check(pathlib.Path(name + "_totals.parquet"), pathlib.Path(name + "_totals.csv"))
    return check(pathlib.Path(name + ".parquet"), pathlib.Path(name + ".csv"))


HEAD = f"market: {source}/configs/markets/demo.yaml\nsettings: {{paths: 2048, seed: 5}}\n"
CALL = "product: european, underlying: ACME, option: call, strike: 100, maturity: 1.0"

assert price("none", HEAD + "trades: []\n").num_rows == 0
one = price("one", HEAD + f"trades: [{{id: call, {CALL}}}]\n")
assert one.num_rows == 1 and one["thin"].to_pylist() == [False] and one["paths"].to_pylist() == [2048]

# Texts of any script, in quotes and with commas; trades that fail, of one path, thin ones, and answers.
MIXED = HEAD + f"""trades:
  - {{id: "\u00c5lesund \u20ac \u65e5\u672c, \\"a\\"", {CALL}, quantity: -0.1}}
  - {{id: failed, {CALL.replace('ACME', 'ACMEE')}}}
  - {{id: smile, {CALL}, report: implied_volatility}}
  - {{id: early, {CALL.replace('european', 'american').replace('call', 'put')}}}
  - {{id: far, {CALL.replace('strike: 100', 'strike: 300')}}}
"""
mixed = price("mixed", MIXED, code=3)
assert mixed["trade"].to_pylist()[0] == '\u00c5lesund \u20ac \u65e5\u672c, "a"'
assert [mixed["price"].is_valid().to_pylist()[k] for k in (0, 1)] == [True, False]
assert "ACMEE" in mixed["message"].to_pylist()[1] and mixed["error_from"].to_pylist()[1] is None
assert mixed["report"].to_pylist()[2] == "implied_volatility" and mixed["report"].to_pylist()[0] is None

for form in ("parquet", "csv"):
    run("greeks", "mixed.yaml", "--greeks", "delta,vega", "-o", f"greeks.{form}", code=3)
greeks = check(pathlib.Path("greeks.parquet"), pathlib.Path("greeks.csv"))
assert "" in greeks["trade"].to_pylist(), "totals are there"

# A cube of a million gains, of which most are of trades that the scenario does not move.
trades = "".join(f"  - {{id: t{k}, {CALL.replace('ACME', 'ACME' if k < 3 else 'BETA')}, quantity: {k + 1}}}\n"
                 for k in range(1000))
pathlib.Path("many.yaml").write_text(HEAD + "trades:\n" + trades)
pathlib.Path("moves.yaml").write_text("stress:\n" + "".join(
    f"  s{k}: {{ACME.spot: {0.05 * (k - 500)}}}\n" for k in range(1000)))
for form in ("parquet", "csv"):
    run("scenarios", "many.yaml", "--scenarios", "moves.yaml", "-o", f"gains.{form}")
gains = check(pathlib.Path("gains.parquet"), pathlib.Path("gains.csv"))
assert gains.num_rows == 1_000_000
assert pyarrow.parquet.ParquetFile("gains.parquet").metadata.num_row_groups == 8
assert duckdb.sql("select count(distinct scenario), count(distinct trade), sum(gain) > 0 from 'gains.parquet'"
                  ).fetchall()[0] == (1000, 1000, True)
# Readers skip groups of rows by what they hold: none that is wanted.
assert duckdb.sql("select count(*) from 'gains.parquet' where scenario = 's999'").fetchall()[0][0] == 1000
assert polars.scan_parquet("gains.parquet").filter(polars.col("gain") > 0).collect().height == \
    sum(x > 0 for x in gains["gain"].to_pylist())
size = [pathlib.Path(f"gains.{form}").stat().st_size for form in ("parquet", "csv")]

# Days between which a market moved are dates.
pathlib.Path("small.yaml").write_text(HEAD + f"trades: [{{id: call, {CALL}}}]\n")
for form in ("parquet", "csv"):
    run("scenarios", "small.yaml", "--scenarios", f"{source}/configs/scenarios/demo.yaml", "-o", f"days.{form}")
days = check(pathlib.Path("days.parquet"), pathlib.Path("days.csv"))
known = [(a, b) for a, b in zip(days["first_day"].to_pylist(), days["last_day"].to_pylist()) if a]
assert len(known) == 260 and all(a < b and (b - a).days <= 7 for a, b in known), known[:3]
levels = pathlib.Path(f"{source}/configs/scenarios/history.csv").read_text().split()
assert {str(a) for a, _ in known} <= {line.split(",")[0] for line in levels}

# No terminal gets bytes; a pipe does.
ours, theirs = pty.openpty()
told = subprocess.run([command, "price", "one.yaml", "--format", "parquet"], stdout=theirs, stderr=subprocess.PIPE, text=True)
assert told.returncode == 2 and "--format: parquet is binary; write it to a file" in told.stderr, told
piped = subprocess.run([command, "price", "one.yaml", "--format", "parquet"], capture_output=True).stdout
assert pyarrow.parquet.read_table(pyarrow.BufferReader(piped)).column_names == one.column_names
print(f"prices, totals, sensitivities and {gains.num_rows} gains ({size[0] >> 20} MiB, {size[1] >> 20} MiB as CSV): "
      f"the bits of CSV by pyarrow {pyarrow.__version__}, polars {polars.__version__}, duckdb {duckdb.__version__}", flush=True)
os._exit(0)  # the threads of three libraries do not always end well in one process
'''

for module in ("pyarrow", "polars", "duckdb"):
    python = clusters.need_python_with(module)
with tempfile.TemporaryDirectory() as folder:
    source = pathlib.Path(os.environ["TILEWALK_SOURCE_DIR"]).resolve()
    cli = str(pathlib.Path(os.environ["TILEWALK_CLI"]).resolve())
    done = subprocess.run([python, "-c", READ, cli, str(source)], cwd=folder)
sys.exit(done.returncode)
