# SPDX-License-Identifier: Apache-2.0
"""A notebook as a page: its cells, and what they print when they are run with the package of the build."""
import json
import os
import pathlib


def is_built(package: pathlib.Path) -> bool:
    return any((package / "tilewalk").glob("_core*.so"))


def run(root: pathlib.Path, text: str, package: pathlib.Path) -> dict:
    """The notebook with the outputs of its cells; a cell that fails ends it."""
    import nbclient
    import nbformat

    variables = {name: value for name, value in os.environ.items() if not name.startswith("TILEWALK_")}
    variables |= {"PYTHONPATH": str(package.resolve()), "PYTHONDONTWRITEBYTECODE": "1", "TILEWALK_DEVICE": "cpu"}
    cells = nbformat.reads(text, as_version=4)
    client = nbclient.NotebookClient(cells, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(root)}},
                                     extra_arguments=["--log-level=ERROR"])
    client.execute(env=variables)
    return cells


def shown(output: dict) -> str:
    """The output of a cell: as HTML or a picture where it says so, else as text."""
    data = output.get("data", {})
    if body := "".join(data.get("text/html", "") or data.get("image/svg+xml", "")).rstrip():
        # With `tabindex` the keyboard can scroll a box sideways.
        body = body.replace("<pre>", '<pre tabindex="0">')
        return f":::{{raw}} html\n<div class=\"cell-output\" tabindex=\"0\">\n{body}\n</div>\n:::"
    text = "".join(output.get("text", data.get("text/plain", ""))).rstrip("\n")
    return f"```text\n{text}\n```" if text else ""


def page_of(root: pathlib.Path, path: pathlib.Path, package: pathlib.Path) -> str:
    """The cells as Markdown, with what they print if the package is there."""
    text = path.read_text(encoding="utf-8")
    notebook = run(root, text, package) if is_built(package) else json.loads(text)
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"]).rstrip("\n")
        if cell["cell_type"] == "markdown":
            parts.append(source)
        elif cell["cell_type"] == "code" and source:
            parts += [f"```python\n{source}\n```", *filter(None, map(shown, cell.get("outputs", [])))]
    return "\n\n".join(parts) + "\n"
