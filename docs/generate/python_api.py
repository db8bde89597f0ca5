# SPDX-License-Identifier: Apache-2.0
"""The page of the Python API, from the package's own docstrings and signatures, where the package can be imported."""
import importlib
import inspect
import types
import typing


def signature_of(thing: typing.Any) -> str:
    try:
        return str(inspect.signature(thing))
    except (TypeError, ValueError):
        return ""


def described(name: str, thing: typing.Any, level: str) -> list[str]:
    """The heading, signature and docstring of one thing, and those of its public members."""
    text = inspect.getdoc(thing) or ""
    head, _, rest = text.partition("\n")
    parts = [f"{level} `{name}`"]
    if callable(thing):
        # An extension writes the signature as the first line of its docstring.
        last = name.rpartition(".")[2]
        written = head if head.startswith(last + "(") else name.rpartition(".")[2] + signature_of(thing)
        text = rest.strip() if head.startswith(last + "(") else text
        if not inspect.isclass(thing) or signature_of(thing):
            parts.append(f"```python\n{written}\n```")
    if text:
        parts.append(text)
    if inspect.isclass(thing):
        for member, value in inspect.getmembers(thing):
            if not member.startswith("_") and getattr(value, "__doc__", None):
                parts += described(f"{name}.{member}", value, level + "#")
    return parts


def python_api_page() -> dict[str, str]:
    parts = ["# Python, name by name"]
    try:
        package: types.ModuleType | None = importlib.import_module("tilewalk")
    except ImportError:
        package = None
    if package is None or not hasattr(package, "__all__"):
        parts.append("The package `tilewalk` was not there when this site was built, so that this page has no names. "
                     "With the package in the environment of the build it lists every class and function.")
    else:
        parts.append((inspect.getdoc(package) or "").strip())
        for name in package.__all__:
            parts += described(name, getattr(package, name), "##")
    return {"reference/python_api": "\n\n".join(part for part in parts if part) + "\n"}
