# SPDX-License-Identifier: Apache-2.0
# optional: docs README.md CONTRIBUTING.md bench/README.md python/tilewalk engine/include/tilewalk engine/cli engine/reading/settings
# optional: products/library
"""Builds the documentation site as 'make docs' does, and checks the result.

Sphinx treats warnings as errors: broken links, pages outside every table of contents, invalid code. A
notebook is run, and a failing cell ends the build. Beyond that: product pages agree with the command;
every model, command, setting and market key has its place; pictures are right and have descriptions;
reading the site fetches nothing; and a sample of pages is drawn narrow and wide, light and dark."""
import csv
import html.parser
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import clusters
import page_check

source_dir = pathlib.Path(os.environ["TILEWALK_SOURCE_DIR"])
package = pathlib.Path(os.environ["TILEWALK_BINARY_DIR"]) / "python"
command = os.environ["TILEWALK_CLI"]
sys.path.insert(0, str(source_dir / "docs" / "generate"))
import formula  # noqa: E402
import payoff  # noqa: E402
import rates  # noqa: E402
from command import command_line  # noqa: E402

WIDE = dict(os.environ, COLUMNS="10000", TILEWALK_DEVICE="cpu")
SAMPLE = ("index.html", "tutorials/first_book.html", "howto/price_nightly.html", "reference/grammar.html", "reference/settings.html",
          "reference/products/barrier.html", "reference/products/callable_floater.html", "reference/models/g2.html",
          "reference/cpp/engine.html", "notebooks/first_book.html", "results.html")
PICTURES = ("reference/products/barrier.svg", "reference/products/autocallable.svg", "reference/models/heston.svg",
            "reference/models/g2_fan.svg", "reference/models/g2_terms.svg",
            "reference/grammar/terms.svg", "reference/grammar/primary.svg", "explanation/feeds.svg", "explanation/tiles.svg",
            "explanation/jump.svg", "explanation/bounds.svg")


class words_of_article(html.parser.HTMLParser):
    """The text of a page without its frame; of mathematics, the text that it was made from."""

    def __init__(self):
        super().__init__()
        self.depth, self.parts, self.is_said = 0, [], False

    def handle_starttag(self, tag, attrs):
        if tag == "article" or self.depth:
            self.depth += tag in ("article",)
        if self.depth and tag in ("td", "th", "p", "h1", "h2", "pre", "div", "tr"):
            self.parts.append(" ")
        if tag == "math" and self.depth and dict(attrs).get("alttext"):
            self.is_said = True
            self.parts.append(dict(attrs)["alttext"])

    def handle_endtag(self, tag):
        self.is_said = self.is_said and tag != "math"
        if self.depth and tag == "article":
            self.depth -= 1

    def handle_data(self, data):
        if self.depth and not self.is_said:
            self.parts.append(data)


def plain(text):
    return " ".join(text.replace("\N{PILCROW SIGN}", " ").replace("#\n", " ").split())


def words_of(text):
    reader = words_of_article()
    reader.feed(text)
    return plain("".join(reader.parts))


def article(path):
    return words_of(path.read_text(encoding="utf-8"))


def say(*arguments):
    return subprocess.run([command, *arguments], cwd=source_dir, env=WIDE, capture_output=True, text=True, check=True).stdout


def parts_of_page(text):
    """The output of `tilewalk products NAME`: pieces of text that a page must have."""
    for part in re.split(r"\n\n(?=\S)", text.rstrip("\n")):
        lines = [line for line in part.split("\n") if not re.fullmatch(r"=+", line)]
        if lines[0] in ("pays", "script", "example trade", "worth"):
            yield from ["\n".join(lines[1:])]
        elif lines[0].startswith("parameter"):
            continue  # CSV has them cell by cell
        else:
            yield "\n".join(lines)


def faults_of_product(name, said, parameters, shown):
    rows = [" ".join([*row[:3], row[3] or "required", *row[4:]]) for row in csv.reader(parameters.splitlines()[1:])]
    for part in [*parts_of_page(said), *rows]:
        if plain(part) not in shown:
            yield f"{name}: the page has not what the command says: {plain(part)[:200]}"


def faults_of_catalogues(site):
    products = [p["product"] for p in json.loads(say("products", "--format", "json"))]
    commands = re.findall(r"^  (\w+) +\S", say("--help").split("\nCommands:\n")[1].split("\nExamples:\n")[0], re.M)
    models = [line.split()[0] for line in say("help", "models").split("\n-")[1].split("\n\n")[0].split("\n")[1:]]
    for folder, names in (("products", products), ("commands", commands), ("models", models)):
        made = {p.stem for p in (site / "reference" / folder).glob("*.html")} - {"index"}
        if made != set(names):
            yield f"{folder}: pages and the command differ by {sorted(made ^ set(names))}"
    for name in products:
        shown = article(site / f"reference/products/{name}.html")
        yield from faults_of_product(name, say("products", name), say("products", name, "--format", "csv"), shown)
        if not (site / f"_images/{name}.svg").exists():
            yield f"{name}: no picture"
    settings = article(site / "reference/settings.html")
    for name in re.findall(r"^(\w+)$", say("help", "settings"), re.M):
        if f" {name} " not in settings:
            yield f"settings: {name} is missing"
    keys = article(site / "reference/market_keys.html")
    for line in say("help", "market-keys").split("\n\n")[1].split("\n")[1:]:
        if plain(line.replace("`", "")) not in keys:
            yield f"market keys: the page has not what the command says: {plain(line)}"
    for name in commands:
        if plain(say("help", name).split("\n", 1)[1]) not in article(site / f"reference/commands/{name}.html"):
            yield f"commands: the page of {name} is not its help"


# Formulas and the HTML that they become, without its parentheses, struts and invisible signs; and lines that are no formulas.
SET = {
    "call  max(S1(T) - K, 0)": "<td>call</td>\n<td><math><mi>max</mi><mrow><msub><mi>S</mi><mrow><mn>1</mn></mrow></msub><mrow><mi>T</mi></mrow>"
                               "<mo>\N{MINUS SIGN}</mo><mi>K</mi><mo>,</mo><mn>0</mn></mrow></math></td>",
    "notional * coupon(k) paid (put)": "<p><math><mtext>notional</mtext><mo>\N{DOT OPERATOR}</mo><msub><mtext>coupon</mtext><mrow><mi>k</mi></mrow></msub>"
                                       "</math> paid (put)</p>",
    "a day t(k-1) <= T": "<p>a day <math><msub><mi>t</mi><mrow><mi>k</mi><mo>\N{MINUS SIGN}</mo><mn>1</mn></mrow></msub>"
                         "<mo>\N{LESS-THAN OR EQUAL TO}</mo><mi>T</mi></math></p>",
    "sum of a(i) K^2": "<p><math><mo>\N{N-ARY SUMMATION}</mo><msub><mi>a</mi><mrow><mi>i</mi></mrow></msub><mspace width=\"0.2em\"/>"
                       "<msup><mrow><mi>K</mi></mrow><mn>2</mn></msup></math></p>",
}
NOT_SET = ("max(S - K, 0", "max(S - K), 0)", "S *", "* S", "K = = S", "mx(S - K, 0)", "max S", "k(U - L)", "exp(S, K)", "S(T)(2)",
           "paid (at T", "pay $5")


def can_be_set(text):
    try:
        return bool(formula.set_formula(text))
    except ValueError:
        return False


def faults_of_formulas(products):
    """Formulas that can't be set or lose words, and lines that become something else than they should."""
    for name, text in products.items():
        if not can_be_set(text) or words_of(f"<article>{formula.set_formula(text)}</article>") != plain(text):
            yield f"{name}: its formula can't be set, or has other words then"
    for text, wanted in SET.items():
        made = re.sub(r' alttext="[^"]*"|<mo stretchy="false">[()]</mo>|<mo>&#x2061;</mo>|<mspace height="[^"]*"/>', "", formula.set_formula(text))
        if wanted not in made:
            yield f"'{text}' is set as {made}"
    yield from (f"'{text}' is set, though it is no formula" for text in NOT_SET if can_be_set(text))


# Payments of these products' examples if their asset stays at a constant price s.
PAYMENTS = {"european": lambda s: max(s - 100, 0), "digital": lambda s: 100.0 * (s > 7000), "asian": lambda s: max(s - 100, 0),
            "reverse_convertible": lambda s: 1000 * min(1, s / 95) + 80}


def faults_of_curves(payments):
    """Compares the curves of pictures with the terms of the examples and with the command's prices."""
    for name, payment in payments.items():
        page = json.loads(say("products", name, "--format", "json"))
        (today, still), _, spot = payoff.curves_of(command_line(pathlib.Path(command), source_dir), page["example"])
        for s, paid in still.points:
            if abs(paid - payment(s)) > 1e-4 * (1 + abs(payment(s))):
                yield f"{name}: where the price stands still at {s} the picture has {paid}, the terms say {payment(s)}"
        value = next(v for s, v in today.points if abs(s - spot) < 1e-9 * spot)
        if abs(value - page["worth"]["price"]) > 0.01 * abs(page["worth"]["price"]):
            yield f"{name}: the picture has the value {value} today, the command {page['worth']['price']}"

# Moves of the assets in %, at which the payment of the autocallable's example jumps: at its call levels and its protection.
JUMPS = 0.0, -2.5, -5.0, -7.5, -40.0


def faults_of_jumps(name, places):
    """Expects jumps of the payment at these places, and elsewhere a rise by at most a tenth of the range per
    unit of the axis."""
    page = json.loads(say("products", name, "--format", "json"))
    (_, still), _, _ = payoff.curves_of(command_line(pathlib.Path(command), source_dir), page["example"])
    whole = max(v for _, v in still.points) - min(v for _, v in still.points)
    steep = [(a, b) for (a, v), (b, w) in zip(still.points, still.points[1:]) if abs(w - v) > 0.1 * whole * (b - a)]
    if any(b - a > 0.02 for a, b in steep):
        yield f"{name}: the picture slopes where the payment jumps: {steep}"
    for place in places:
        if not any(a - 0.01 <= place <= b + 0.01 for a, b in steep):
            yield f"{name}: the payment jumps at {place}, the picture at {steep}"


# Hull-White parameters of the dollar in configs/books/rates.yaml, which give the yearly standard deviation of a zero rate by term.
SPEED, VOLATILITY = 0.03, 0.009


def deviation(term):
    def reach(years):
        return (1 - math.exp(-SPEED * years)) / SPEED

    return VOLATILITY * math.sqrt((1 - math.exp(-2 * SPEED)) / (2 * SPEED)) * reach(term) / term


def faults_of_rates(deviation):
    """Compares pictures of a rate model with closed forms: with one normal factor all rates move together."""
    found = rates.moves_of(command_line(pathlib.Path(command), source_dir), "configs/books/rates.yaml", "USD")
    for term, wide, alike in zip(rates.TERMS, found.deviation, found.alike):
        if abs(wide - deviation(term)) > 0.01 * wide:
            yield f"hull_white: the picture has {wide} as the deviation of a rate of {term} years, the model {deviation(term)}"
        if abs(alike - 1) > 1e-6:
            yield f"hull_white: the picture has {alike} as the correlation of a rate of {term} years, the model 1"
    law = found.rates[1]
    wide = math.log((1 + law.quantile(0.95)) / (1 + law.quantile(0.05))) / (2 * 1.644854)
    if abs(wide - deviation(1)) > 0.01 * wide:
        yield f"hull_white: the fan has the deviation {wide} after a year, the model {deviation(1)}"


def package_for(python):
    """The package of the build if it exists and fits this Python, else an empty folder."""
    done = subprocess.run([python, "-c", "import tilewalk"], env={**os.environ, "PYTHONPATH": str(package)}, stderr=subprocess.DEVNULL)
    return package if done.returncode == 0 else package / "none"


def faults_of_notebooks(python, site):
    """Cells that print nothing; without the package no cell prints."""
    if package_for(python) == package:
        shown = article(site / "notebooks/first_book.html")
        for words in ("did you mean 'strike'?", "knock_out", "'barrier': 90.0"):
            if words not in shown:
                yield f"notebooks: no cell prints {words}"


def faults_of_pictures(site):
    """Pictures without a description."""
    for path in site.rglob("*.html"):
        for picture in re.findall(r"<img\b[^>]*>", path.read_text(encoding="utf-8")):
            if not re.search(r'\balt="[^"]{4,}"', picture):
                yield f"{path.relative_to(site)}: {picture} has no text in its place"


def faults_of_fetching(site):
    """Resources that a page would fetch from elsewhere."""
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        for what in re.findall(r'<(?:script|img|iframe)\b[^>]*\bsrc="((?:https?:)?//[^"]*)"', text):
            yield f"{path.relative_to(site)} fetches {what}"
        for what in re.findall(r'<link\b[^>]*\bhref="((?:https?:)?//[^"]*)"', text):
            yield f"{path.relative_to(site)} fetches {what}"
    for path in site.rglob("*.css"):
        for what in re.findall(r"url\(['\"]?((?:https?:)?//[^)'\"]*)|@import\s+[^;]*//[^;]*", path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(site)} fetches {what}"


def article_with_styles(site, path):
    """A page's article and styles, without scripts, pictures and the frame, which lies beside a narrow page."""
    text = (site / path).read_text(encoding="utf-8")

    def style(href):
        file = ((site / path).parent / href.split("?")[0]).resolve()
        return file.read_text(encoding="utf-8") if file.suffix == ".css" else ""

    styles = "".join(style(href) for href in re.findall(r'<link rel="stylesheet"[^>]*href="([^"]+)"', text))
    shown = re.search(r"<article\b.*</article>", text, re.S)[0]
    return f"<!doctype html><html lang=en><head><title>a page</title><style>{styles}body {{ margin: 0; padding: 0 16px; }}</style></head><body>{re.sub('<img[^>]*>', '', shown)}</body></html>"


def as_wide_as_the_page(picture):
    return re.sub(r'^<svg ([^>]*?)width="\d+" height="\d+" ', r"<svg \1", picture)


def faults_of_drawing(site):
    """The faults of a sample of pages and pictures as a browser draws them."""
    articles = {name: article_with_styles(site, name) for name in SAMPLE}
    pictures = {name: as_wide_as_the_page(next(site.glob(f"_images/{pathlib.Path(name).name}")).read_text(encoding="utf-8")) for name in PICTURES}
    # A browser can't tell the background behind scrolled text, so lines are folded to check the dark scheme.
    folded = {name: text.replace("</style>", "pre { white-space: pre-wrap !important; }</style>") for name, text in articles.items()}
    return (page_check.drawn_faults(articles, schemes=("light",)) + page_check.drawn_faults(folded, widths=(1280,), schemes=("dark",))
            + page_check.drawn_faults(pictures, widths=(700,)))


def build(python, folder):
    site = folder / "html"
    subprocess.run([python, "-B", source_dir / "docs" / "generate", folder / "source", "--command", command,
                    "--package", package_for(python)], check=True)
    done = subprocess.run([python, "-B", "-m", "sphinx", "-q", "-n", "-W", "--keep-going", "-j", "2", "-b", "html", "-c",
                           source_dir / "docs", folder / "source", site], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0 or done.stdout.strip():
        sys.exit(f"sphinx ends with {done.returncode} and says\n{done.stdout}")
    return site


def prove_that_looking_can_fail():
    said = "call\n====\n\nA call.\n\npays\n    max(S - K, 0)\n\nparameter  type\n---------  ----\nstrike     amount\n\nscript\n    pay 1\n"
    parameters = "parameter,type,range,default,help\nstrike,amount,,,The strike.\n"
    sound = plain("call A call. max(S - K, 0) strike amount required The strike. pay 1")
    assert not list(faults_of_product("call", said, parameters, sound))
    for word in ("A call.", "S - K", "strike amount", "The strike.", "pay 1"):
        assert list(faults_of_product("call", said, parameters, sound.replace(word, ""))), f"without '{word}' nothing is said"
    with tempfile.TemporaryDirectory() as folder:
        site = pathlib.Path(folder)
        (site / "a.html").write_text('<link rel="stylesheet" href="https://fonts.example.org/a.css"><a href="https://example.org">a</a>')
        (site / "a.css").write_text("@font-face { src: url(https://example.org/a.woff) }")
        assert len(list(faults_of_fetching(site))) == 2
        (site / "b.html").write_text('<img src="a.svg" alt="a curve"><img src="b.svg" alt=""><img src="c.svg">')
        assert len(list(faults_of_pictures(site))) == 2


def main():
    prove_that_looking_can_fail()
    assert len(list(faults_of_curves({"european": lambda s: max(s - 101, 0)}))) > 10, "another strike was not noticed"
    assert len(list(faults_of_jumps("autocallable", [-30.0]))) == 1, "another protection was not noticed"
    assert len(list(faults_of_rates(lambda term: 1.03 * deviation(term)))) > 5, "another volatility was not noticed"
    assert len(list(faults_of_formulas({"call": "max(S - K, 0"}))) == 1, "an open parenthesis was not noticed"
    formulas = {p["product"]: p["formula"] for p in json.loads(say("products", "--format", "json"))}
    assert not (faults := list(faults_of_formulas(formulas))), "\n".join(faults)
    python = clusters.need_python_with("sphinx, myst_parser, furo, latex2mathml, nbclient, ipykernel")
    with tempfile.TemporaryDirectory() as folder:
        site = build(python, pathlib.Path(folder))
        faults = [*faults_of_catalogues(site), *faults_of_curves(PAYMENTS), *faults_of_jumps("autocallable", JUMPS),
                  *faults_of_rates(deviation), *faults_of_notebooks(python, site), *faults_of_pictures(site), *faults_of_fetching(site)]
        if page_check.chromium():
            faults += faults_of_drawing(site)
        pages = len(list(site.rglob("*.html")))
    print("\n".join(faults) or f"{pages} pages, 0 faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
