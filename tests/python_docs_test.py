# SPDX-License-Identifier: Apache-2.0
# Runs every snippet of docs/python.md, in one process, and the notebook, cell by cell, without failure. Also checks that the notebook is
# stored without outputs.
import contextlib
import io
import os
import pathlib
import re
import sys
import tempfile
import traceback

import pythons

pythons.in_python_with("numpy", "pandas", "polars", "pyarrow", "nbclient", "ipykernel")

import nbclient  # noqa: E402
import nbformat  # noqa: E402

PAGE = pathlib.Path("docs/python.md")
HERE = "tests/python_docs_test.py"
OTHERS = ("tests/python_dask_test.py",)
NOTEBOOK = pathlib.Path("docs/notebooks/first_book.ipynb").resolve()


def scratch(folder):
    """A folder in which the paths of the page lead to the project's files."""
    (pathlib.Path(folder) / "configs").symlink_to(pathlib.Path("configs").resolve())
    return folder


def test_the_page():
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"^<!-- not run: by (\S+?),[^\n]*-->\n```python\n(.*?)^```", text, re.M | re.S)
    assert len(blocks) == text.count("```python\n") >= 10
    known = {"__name__": "page"}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(scratch(folder)):
        for by, block in blocks:
            if by in OTHERS:
                compile(block, "docs/python.md", "exec")
                continue
            assert by == HERE, by
            said = io.StringIO()
            try:
                with contextlib.redirect_stdout(said):
                    exec(compile(block, "docs/python.md", "exec"), known)
            except Exception:
                traceback.print_exc()
                raise AssertionError(f"the block fails:\n{block}\nafter it said\n{said.getvalue()}") from None
        assert sorted(os.listdir(".")) == ["asian.svg", "configs", "monday.json", "risk", "today.json"]


def test_the_comments_of_the_page():
    """A comment quotes the message."""
    import tilewalk as tw

    said = tw.price([{"id": "a", "product": "european", "underlying": "ACME", "strik": 100, "maturity": 1}],
                    "configs/markets/demo.yaml")["a"].message
    quoted = re.search(r"# (trades.0..strik: .*) \.\.\.$", PAGE.read_text(encoding="utf-8"), re.M).group(1)
    assert said.startswith(quoted), (said, quoted)


def test_the_notebook():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "the notebook is kept without outputs"
    with tempfile.TemporaryDirectory() as folder:
        runs = nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3",
                                       resources={"metadata": {"path": folder}})  # it needs no file of the project
        runs.execute(env={**pythons.environment(), "HOME": folder})
    shown = [out for cell in notebook.cells if cell.cell_type == "code" for out in cell.outputs]
    pages = ["".join(out.data["text/html"]) for out in shown if out.output_type == "execute_result" and "text/html" in out.data]
    assert len(pages) >= 2 and "<svg" in pages[1] and "knock_out" in pages[1], [p[:200] for p in pages]
    assert any("image/svg+xml" in out.data for out in shown if out.output_type == "execute_result")
    broken = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("import tilewalk\ntilewalk.price('nowhere.yaml')")])
    try:
        nbclient.NotebookClient(broken, timeout=60, kernel_name="python3").execute(env=pythons.environment())
    except nbclient.exceptions.CellExecutionError as e:
        assert "nowhere.yaml" in str(e)
    else:
        raise AssertionError("a notebook that fails is taken for one that does not")


if __name__ == "__main__":
    sys.exit(pythons.run_all(dict(globals())))
