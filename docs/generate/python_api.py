# SPDX-License-Identifier: Apache-2.0
"""The page of the Python API: what the package exports, with its signatures and docstrings, read from its source."""
import ast
import pathlib
import re

PACKAGE = "python/tilewalk"


def signature(node: ast.FunctionDef, name: str, is_method: bool) -> str:
    """How it is called; a line for each argument where one line would be long."""
    arguments = node.args
    if is_method:
        plain = {d.id for d in node.decorator_list if isinstance(d, ast.Name)}
        if "staticmethod" not in plain:
            arguments = ast.parse(f"def f({ast.unparse(arguments)}): pass").body[0].args  # type: ignore[attr-defined]
            (arguments.posonlyargs or arguments.args).pop(0)
    returns = f" -> {ast.unparse(node.returns)}" if node.returns and name != "__init__" else ""
    line = f"({ast.unparse(arguments)}){returns}"
    if len(line) < 90:
        return line
    return "(\n    " + re.sub(r", (?=\*?\*?\w+(?::|=|,|$)|\*,)", ",\n    ", ast.unparse(arguments)) + f",\n){returns}"


def prose(text: str | None) -> list[str]:
    """A docstring as Markdown: what it indents, or begins with an import, is code."""
    out = []
    for part in (text or "").split("\n\n"):
        lines = part.split("\n")
        if part.startswith("import "):
            out.append(f"```python\n{part}\n```")
        elif all(line.startswith("    ") for line in lines if line.strip()) and part.strip():
            out.append("```python\n" + "\n".join(line[4:] for line in lines) + "\n```")
        elif part.strip():
            out.append(re.sub(r"(?<!\w)_", r"\\_", part.replace("<", "\\<").replace("*", "\\*")))
    return out


def described(name: str, node: ast.stmt) -> list[str]:
    """A function or a class, with its public members."""
    if isinstance(node, ast.FunctionDef):
        return [f"## `{name}`", f"```python\n{name}{signature(node, name, False)}\n```", *prose(ast.get_docstring(node))]
    assert isinstance(node, ast.ClassDef)
    bases = ", ".join(ast.unparse(b) for b in node.bases)
    members = [m for m in node.body if isinstance(m, ast.FunctionDef)]
    made = next((m for m in members if m.name == "__init__"), None)
    call = signature(made, "__init__", True) if made else f"({bases})" if bases else ""
    parts = [f"## `{name}`", f"```python\nclass {name}{call}\n```", *prose(ast.get_docstring(node))]
    if made and bases:
        parts.append(f"A `{bases}`.")
    for field in node.body:
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and not field.target.id.startswith("_"):
            parts.append(f"- `{ast.unparse(field)}`")
    for member in members:
        if member.name.startswith("_"):
            continue
        is_property = any(isinstance(d, ast.Name) and d.id == "property" for d in member.decorator_list)
        returns = f": {ast.unparse(member.returns)}" if member.returns else ""
        call = returns if is_property else signature(member, member.name, True)
        parts += [f"### `{name}.{member.name}`", f"```python\n{name}.{member.name}{call}\n```", *prose(ast.get_docstring(member))]
    return parts


def modules_of(root: pathlib.Path) -> dict[str, ast.Module]:
    return {path.stem: ast.parse(path.read_text(encoding="utf-8")) for path in sorted((root / PACKAGE).glob("*.py"))}


def exported(module: ast.Module) -> list[str]:
    """The names of `__all__`, in its order."""
    for node in module.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            return [ast.literal_eval(e) for e in node.value.elts]  # type: ignore[attr-defined]
    return []


def python_api_page(root: pathlib.Path) -> dict[str, str]:
    modules = modules_of(root)
    package = modules["__init__"]
    known = {node.name: node for module in modules.values() for node in module.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    parts = ["# Python API", *prose(ast.get_docstring(package)),
             "The functions and classes of the package `tilewalk`, with the types of their arguments. "
             "[Python in ten minutes](../python.md) shows how they go together."]
    names = [name for name in exported(package) if not name.startswith("_")]
    for name in sorted(names, key=lambda n: (n[0].isupper(), n.lower())):
        if name in known:
            parts += described(name, known[name])
        elif name in modules:
            parts += [f"## `{name}`", *prose(ast.get_docstring(modules[name]))]
            for inner in exported(modules[name]):
                node = next(n for n in modules[name].body if getattr(n, "name", "") == inner)
                parts += described(f"{name}.{inner}", node)
        else:
            raise SystemExit(f"{PACKAGE}/__init__.py exports {name}, which no module defines")
    return {"reference/python_api": "\n\n".join(parts) + "\n"}
