# SPDX-License-Identifier: Apache-2.0
"""Pages of what the engine has tables of: commands, settings, market keys, products, models."""
import csv
import json
import pathlib
import re
import tempfile
import textwrap

import markdown
from chart import curve, draw
from command import command_line
from formula import set_formula
from payoff import draw_payoff
from rates import draw_alike, draw_fan, draw_terms, moves_of


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;") or " "


def table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def block(text: str, language: str = "text") -> str:
    return f"```{language}\n{text.rstrip()}\n```\n"


def in_lines(example: str, widest: int = 92) -> str:
    """A trade in braces on as many lines as it takes."""
    lines = [""]
    for part in re.split(r"(?<=,) ", example):
        if lines[-1] and len(lines[-1]) + 1 + len(part) > widest:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + part
    return "\n     ".join(lines)


def toctree(names: list[str], caption: str = "") -> str:
    """The entries that lead to the pages of a table."""
    head = f":caption: {caption[0].upper()}{caption[1:]}\n" if caption else ""
    return f":::{{toctree}}\n:hidden:\n{head}\n" + "".join(f"{name}\n" for name in names) + ":::\n"


def commands_of(tilewalk: command_line) -> list[tuple[str, str]]:
    """Each command and its line of help."""
    said = tilewalk.say("--help").split("\nCommands:\n")[1].split("\nExamples:\n")[0]
    return re.findall(r"^  (\w+) +(\S.*)$", said, re.M)


def command_pages(tilewalk: command_line) -> dict[str, str]:
    """A page for each command: what it says of itself."""
    commands = commands_of(tilewalk)
    said = tilewalk.for_each(lambda c: tilewalk.say("help", c[0]), commands)
    pages = {"reference/commands/index":
             "# Commands\n\nEach page is the help of the command itself (`tilewalk help COMMAND`). "
             "[The command line](../../command_line.md) explains what they have in common.\n\n"
             + table(["command", "what it does"], [[f"[`tilewalk {name}`]({name}.md)", cell(does)] for name, does in commands])
             + "\n" + toctree([name for name, _ in commands])}
    for (name, does), text in zip(commands, said):
        page = f"# tilewalk {name}\n\n{does}.\n\n" + block(text.split("\n", 1)[1].lstrip())
        if "--help-gpu" in text:
            gpu = tilewalk.say(name, "--help-gpu")
            page += "\n## Options for GPUs\n\n" + block(gpu.split("\n\n", 1)[1])
        pages[f"reference/commands/{name}"] = page
    return pages


def rows_of(text: str) -> list[list[str]]:
    """The rows of a table that the command prints, below its line of dashes."""
    lines = text.split("\n")
    at = next(i for i, line in enumerate(lines) if re.fullmatch(r"-+(  -+)*", line))
    edges = [m.span() for m in re.finditer("-+", lines[at])]
    ends = [edges[i + 1][0] if i + 1 < len(edges) else None for i in range(len(edges))]
    rows = []
    for line in lines[at + 1:]:
        if not line.strip():
            break
        rows.append([line[begin:end].strip() for (begin, _), end in zip(edges, ends)])
    return rows


def settings_page(tilewalk: command_line) -> dict[str, str]:
    said = tilewalk.say("help", "settings")
    rows = [[f"`{name}`", cell(takes), f"`{preset}`" if preset else "it depends", cell(means)] for name, means, takes, preset
            in re.findall(r"^(\w+)\n    (.*)\n    takes (.*)\n    (?:default (.*)|left out: .*)$", said, re.M)]
    return {"reference/settings":
            "# Settings\n\nA setting of a run can be written in three places: `row_space` under `settings:` in a [book](../books.md), the option "
            "`--row-space`, and the variable `TILEWALK_ROW_SPACE`. An option overrides its variable, which overrides the book, which overrides the "
            "default. The table is `tilewalk help settings`.\n\n" + table(["setting", "takes", "default", "what it is"], rows)}


def market_keys_page(tilewalk: command_line) -> dict[str, str]:
    """The forms of keys, as the command tells them, and those of the market to start from."""
    first, forms, last = tilewalk.say("help", "market-keys").rstrip("\n").split("\n\n")
    head, *lines = forms.split("\n")
    key, unit = head.index("key"), head.index("unit")
    rows = [[cell(line[:key].strip()), f"`{cell(line[key:unit].strip())}`", cell(line[unit:].strip())] for line in lines]
    keys = tilewalk.data("market", "configs/markets/demo.yaml", "--keys")
    return {"reference/market_keys":
            f"# Market keys\n\n{' '.join(first.split())}\n\n" + table(["form in the market", "key", "unit"], rows)
            + "\n" + " ".join(last.split()).replace("tilewalk market FILE --keys", "`tilewalk market FILE --keys`")
            + " [The market](../market.md#market-keys) explains how to change numbers by their keys.\n\n## Keys of the demo market\n\n"
            "[configs/markets/demo.yaml](../../configs/markets/demo.yaml) has these keys:\n\n"
            + table(["key", "value", "unit"], [[f"`{cell(k['key'])}`", f"{k['value']:.7g}", cell(k["unit"])] for k in keys])}


SECTIONS = ("pays", "script", "example trade", "worth")


def sections_of(said: str) -> dict[str, str]:
    """The output of `tilewalk products NAME`, by its heads; the text above them is under `about`."""
    found = {"about": ""}
    for part in re.split(r"\n\n(?=\S)", said.rstrip("\n"))[1:]:
        head, _, rest = part.partition("\n")
        if head in SECTIONS:
            found[head] = textwrap.dedent(rest)
        elif not head.startswith("parameter"):  # CSV has them cell by cell
            found["about"] += part + "\n\n"
    return found


def product_page(tilewalk: command_line, name: str, site: pathlib.Path) -> str:
    """One product, as `tilewalk products NAME` tells of it, and its picture."""
    said = sections_of(tilewalk.say("products", name))
    parameters = csv.DictReader(tilewalk.say("products", name, "--format", "csv").splitlines())
    (site / f"reference/products/{name}.svg").write_text(draw_payoff(tilewalk, name, said["example trade"]), encoding="utf-8")
    market = "configs/markets/demo.yaml"
    parts = [f"# {name}", said["about"]]
    if "pays" in said:
        parts += ["## What it pays", set_formula(said["pays"])]
    parts += ["## Parameters",
              table(["parameter", "type", "range", "default", "meaning"],
                    [[f"`{p['parameter']}`", cell(p["type"]), cell(p["range"]), f"`{p['default']}`" if p["default"] else "required", cell(p["help"])]
                     for p in parameters]),
              "## An example", block(f"trades:\n  - {in_lines(said['example trade'])}", "yaml"),
              "It is worth " + said["worth"].replace(market, f"[{market}](../../../{market})") + ".",
              f"![{name}: value and payment of the example, by the price of the underlying]({name}.svg)",
              "The solid curve is the value of the example if only the prices or rates on the axis differ from that market. Early exercise follows "
              "the policy of the market itself. The dashed curve is the undiscounted payment if the path stays at the price on the axis from "
              "today to the end.",
              "## The script", block(said["script"], "text"),
              f"`tilewalk products {name}` shows the same in a terminal. The script is written in [the payoff language](../../language.md)."]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def product_pages(tilewalk: command_line, site: pathlib.Path) -> dict[str, str]:
    (site / "reference/products").mkdir(parents=True, exist_ok=True)
    entries = tilewalk.data("products")
    texts = tilewalk.for_each(lambda e: product_page(tilewalk, e["product"], site), entries)
    pages = {f"reference/products/{e['product']}": text for e, text in zip(entries, texts)}
    groups: dict[str, list[dict]] = {}
    for entry in sorted(entries, key=lambda e: e["group"]):
        groups.setdefault(entry["group"], []).append(entry)
    pages["reference/products/index"] = (
        "# Product pages\n\nA page for each product of the library, as `tilewalk products NAME` shows it, with a picture of its example.\n\n"
        + "\n\n".join(f"## {group[0].upper()}{group[1:]}\n\n"
                      + table(["product", "what it pays"], [[f"[`{e['product']}`]({e['product']}.md)", cell(e["summary"])] for e in members])
                      + "\n" + toctree([e["product"] for e in members], group)
                      for group, members in groups.items()))
    return pages


# Books and a market of configs/ that have an asset, or a currency, of each model.
BOOKS_OF_MODELS = ("configs/books/smiles.yaml", "configs/books/jumps.yaml", "configs/books/rates.yaml", "configs/markets/demo.yaml")
STRIKES = [0.6 + 0.08 * i for i in range(11)]
YEARS = (0.25, 1.0)


def owners_of_models(tilewalk: command_line) -> dict[str, tuple[str, str, list[dict]]]:
    """For each model a book, an asset or currency of it that moves so, and the market's numbers of that."""
    found: dict[str, tuple[str, str, list[dict]]] = {}
    for book in BOOKS_OF_MODELS:
        keys = tilewalk.data("market", book, "--keys")
        for owner in dict.fromkeys(k["key"].partition(".")[0] for k in keys):
            mine = [k for k in keys if k["key"].startswith(owner + ".")]
            for model in {k["key"].split(".")[1] for k in mine if k["key"].count(".") > 1 and k["unit"].startswith("parameter of")}:
                found.setdefault(model, (book, owner, mine))
            if any(re.fullmatch(r"\w+\.volatility(@[^,]*)?", k["key"]) for k in mine) and any(k["key"].endswith(".spot") for k in mine):
                found.setdefault("black_scholes", (book, owner, mine))
            if any("," in k["key"] and ".volatility@" in k["key"] for k in mine):
                found.setdefault("local_volatility", (book, owner, mine))
    return found


def draw_smile(tilewalk: command_line, model: str, book: str, owner: str, keys: list[dict]) -> str:
    """Volatilities that calls and puts on the asset imply, by strike, from prices of the engine."""
    spot = next(k["value"] for k in keys if k["key"] == f"{owner}.spot")
    trades = [{"id": f"{years} {strike:.2f}", "product": "european", "underlying": owner, "option": "call" if strike > 1 else "put",
               "strike": round(strike * spot, 6), "maturity": years, "report": "implied_volatility"} for years in YEARS for strike in STRIKES]
    with tempfile.TemporaryDirectory() as folder:
        file, market = pathlib.Path(folder) / "book.yaml", pathlib.Path(folder) / "market.yaml"
        tilewalk.say("market", book, "--output", str(market))
        file.write_text(json.dumps({"market": str(market), "trades": trades}), encoding="utf-8")
        rows = tilewalk.data("price", str(file), "--paths", "16384")["rows"]
    values = {row["trade"]: row["reported"]["value"] for row in rows if row["status"] == "priced" and row["reported"]}
    curves = [curve("1 year" if years == 1 else f"{years:g} years", points) for years in YEARS
              if len(points := [(strike * 100, 100 * values[name]) for strike in STRIKES if (name := f"{years} {strike:.2f}") in values
                                and values[name] is not None]) > 2]
    return draw(f"{model}: implied volatility by strike", curves, "strike, in % of the spot", "implied volatility, in %", 100.0)


def written_in(text: str, owner: str) -> str:
    """The entry of an asset or a currency as the text of a book or a market has it, under the key of its section."""
    entry = re.search(rf"^( +){owner}:.*\n(?:\1 +.*\n|\n)*", text, re.M)
    sections = re.findall(r"^ *(assets|currencies):", text[:entry.start()], re.M) if entry else []
    if not sections:
        raise SystemExit(f"no text of an asset or a currency '{owner}' to show on the page of its model")
    return f"{sections[-1]}:\n" + textwrap.indent(textwrap.dedent(entry[0]).rstrip("\n"), "  ")


def equations_of(root: pathlib.Path) -> dict[str, str]:
    text = (root / "docs/reference/equations.md").read_text(encoding="utf-8")
    text = markdown.captioned(text)
    return {name: part.strip() for name, part in re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", text, re.M | re.S)}


def parameters_of(tilewalk: command_line, model: str) -> str:
    """The table of what a model takes, as the command tells it."""
    rows = re.findall(r"^(\S+)\n    (.*)\n    takes (.*)\n    (.*)$", tilewalk.say("help", "models", model), re.M)
    if not rows:
        return "None of its own: the asset has a `volatility`."
    return table(["parameter", "takes", "if left out", "meaning"],
                 [[f"`{name}`", cell(takes), cell(left_out), cell(meaning)] for name, meaning, takes, left_out in rows])


def model_pages(tilewalk: command_line, root: pathlib.Path, site: pathlib.Path) -> dict[str, str]:
    (site / "reference/models").mkdir(parents=True, exist_ok=True)
    said = tilewalk.say("help", "models")
    models, schemes, steps = (rows_of(part) for part in re.split(r"\n\n(?=How |Bias )", said))
    scheme_of, steps_of = dict(schemes), {name: rest for name, *rest in steps}
    owners, equations = owners_of_models(tilewalk), equations_of(root)
    if missing := [name for name, *_ in models if name not in owners or name not in equations]:
        raise SystemExit(f"models without an equation in docs/reference/equations.md or an asset in {', '.join(BOOKS_OF_MODELS)}: {missing}")

    def page(row: list[str]) -> str:
        name, moves, summary = row
        book, owner, keys = owners[name]
        mine = [k for k in keys if f".{name}." in k["key"]] or keys
        parts = [f"# {name}", f"{summary[0].upper()}{summary[1:]}. A model of {moves}.", "## Equations", equations[name],
                 "## In a market", f"The entry of {owner} in [{book}](../../../{book}):",
                 block(written_in((root / book).read_text(encoding="utf-8"), owner), "yaml"),
                 "## Parameters", parameters_of(tilewalk, name),
                 "## Market keys", f"These are the parameters of {owner} by their market keys, for shifts, Greeks and scenarios:",
                 table(["market key", "value", "unit"], [[f"`{k['key']}`", f"{k['value']:.7g}", cell(k["unit"])] for k in mine])]
        order, leaves = steps_of[name]
        most, _, included = leaves.partition(", ")
        parts += ["## Discretisation",
                  f"Scheme: {cell(scheme_of[name])}." + (f" Weak order: {order}." if order else "")
                  + (f" With the steps that the model chooses itself, an option of up to five years is off by at most {most} basis points "
                     f"of the spot{', ' * bool(included)}{included}." if most[:1].isdigit() else "")]
        if moves == "interest rates":
            found = moves_of(tilewalk, book, owner)
            for kind, drawn in (("fan", draw_fan), ("terms", draw_terms), ("alike", draw_alike)):
                (site / f"reference/models/{name}_{kind}.svg").write_text(drawn(name, found), encoding="utf-8")
            parts += ["## Distribution of rates", f"![{name}: quantiles of the rate of a year, by the years until it is fixed]({name}_fan.svg)",
                      f"Quantiles of the simple one-year rate in {owner}, by the years until it is fixed, under the forward measure of its payment. "
                      "The probability of a rate below a level is the price of one unit paid at the end of that year if it is, divided by the price "
                      "of one unit paid for certain. The mean is today's forward rate.",
                      "## Volatility of rates",
                      f"![{name}: standard deviation of zero rates over a year, by term]({name}_terms.svg)",
                      "The standard deviation of zero rates one year ahead, by term. Under mean reversion long rates move less than short ones, because "
                      "a shock decays with time.",
                      "## Correlation of rates",
                      f"![{name}: correlation of zero rates with that of one year, by term]({name}_alike.svg)",
                      "Correlation of zero rates with that of one year. With one factor all rates move together. With more factors the curve can turn "
                      "and bend.",
                      "All three pictures come from prices on 8,192 paths."]
        elif any(k["key"] == f"{owner}.spot" for k in keys):
            (site / f"reference/models/{name}.svg").write_text(draw_smile(tilewalk, name, book, owner, keys), encoding="utf-8")
            parts += ["## Volatility smile", f"![{name}: implied volatility by strike]({name}.svg)",
                      f"Black volatilities implied by calls above the spot and puts below it on {owner}, from prices on 16,384 paths."]
        parts += ["[Models](../../models.md) explains schemes, errors and calibration. [Market keys](../../market.md#market-keys) explains the keys."]
        return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"

    texts = tilewalk.for_each(page, models)
    pages = {f"reference/models/{row[0]}": text for row, text in zip(models, texts)}
    pages["reference/models/index"] = (
        "# Model pages\n\nA page for each model that an asset or a currency can name under `model` (`tilewalk help models`).\n\n"
        + table(["model", "moves", "what it is"], [[f"[`{name}`]({name}.md)", cell(moves), cell(summary)] for name, moves, summary in models])
        + "\n" + toctree([name for name, *_ in models]))
    return pages
