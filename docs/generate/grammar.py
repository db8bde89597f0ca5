# SPDX-License-Identifier: Apache-2.0
"""The page of the payoff language's grammar: docs/reference/grammar.ebnf, each rule drawn as a railroad."""
import dataclasses
import math
import pathlib
import re
import xml.sax.saxutils

TOKEN = re.compile(r'\s*(?:"([^"]+)"|(\w+)|([][(){}|=;]))')
STYLE = """
    .paper { fill: #ffffff; }
    .rail { fill: none; stroke: #57606a; stroke-width: 1.6; }
    .stop { fill: #57606a; }
    .word { fill: #ddf4ff; stroke: #0550ae; }
    .rule { fill: #fff8e6; stroke: #9a6700; }
    .kind { fill: #f4f6f8; stroke: #57606a; }
    .text { fill: #1f2328; font: 13px monospace; }
    @media (prefers-color-scheme: dark) {
      .paper { fill: #131416; }
      .rail { stroke: #9aa4af; }
      .stop { fill: #9aa4af; }
      .word { fill: #0c2d4d; stroke: #79c0ff; }
      .rule { fill: #2b2412; stroke: #d29922; }
      .kind { fill: #22272e; stroke: #9aa4af; }
      .text { fill: #e6edf3; }
    }
  """
CHARACTER, HIGH, GAP, TURN = 7.9, 26, 14, 10
WIDEST = 640


@dataclasses.dataclass
class form:
    """A construct: word, symbol, sequence, choice, maybe or repeated."""
    kind: str
    text: str = ""
    parts: list["form"] = dataclasses.field(default_factory=list)


class reader:
    def __init__(self, text: str):
        self.tokens = [(m[1], m[2], m[3]) for m in TOKEN.finditer(text)]
        self.at = 0

    def sign(self) -> str:
        return self.tokens[self.at][2] or "" if self.at < len(self.tokens) else ""

    def choice(self) -> form:
        parts = [self.sequence()]
        while self.sign() == "|":
            self.at += 1
            parts.append(self.sequence())
        return parts[0] if len(parts) == 1 else form("choice", parts=parts)

    def sequence(self) -> form:
        parts = []
        while self.at < len(self.tokens) and self.sign() not in ("|", ";", "]", "}", ")"):
            parts.append(self.item())
        return parts[0] if len(parts) == 1 else form("sequence", parts=parts)

    def item(self) -> form:
        word, name, sign = self.tokens[self.at]
        self.at += 1
        if word:
            return form("word", word)
        if name:
            return form("symbol", name)
        inner = self.choice()
        self.at += 1
        return inner if sign == "(" else form("maybe" if sign == "[" else "repeated", parts=[inner])


@dataclasses.dataclass
class rule:
    name: str
    text: str  # as it stands in the file
    tree: form
    remark: str


def read_rules(text: str) -> tuple[str, list[rule]]:
    """The remark at the head of the file, and its rules with the comment in front of each."""
    head, *_ = re.findall(r"\(\*\s*(.*?)\s*\*\)", text, re.S)
    rules = []
    body = text[text.index("*)") + 2:]
    for remark, name, right in re.findall(r"(?:\(\*\s*(.*?)\s*\*\)\s*)?^(\w+) =(.*?) ;$", body, re.M | re.S):
        rules.append(rule(name, f"{name} ={right} ;", reader(right).choice(), " ".join(remark.split())))
    return " ".join(head.split()), rules


@dataclasses.dataclass
class drawing:
    """A part of a diagram: its rail enters on the left and leaves on the right, `up` below its top."""
    width: float
    up: float
    down: float
    marks: list[str] = dataclasses.field(default_factory=list)


def moved(marks: list[str], x: float, y: float) -> str:
    return f'<g transform="translate({x:.1f} {y:.1f})">' + "".join(marks) + "</g>"


def box(text: str, look: str) -> drawing:
    width = CHARACTER * len(text) + 18
    corner = 3 if look == "rule" else HIGH / 2
    return drawing(width, HIGH / 2, HIGH / 2, [
        f'<rect class="{look}" x="0" y="{-HIGH / 2}" width="{width:.1f}" height="{HIGH}" rx="{corner}"/>',
        f'<text class="text" x="{width / 2:.1f}" y="4.5" text-anchor="middle">{xml.sax.saxutils.escape(text)}</text>'])


def in_a_row(parts: list[drawing]) -> drawing:
    x, marks = 0.0, []
    for number, part in enumerate(parts):
        if number:
            marks.append(f'<path class="rail" d="M{x:.1f} 0 h{GAP}"/>')
            x += GAP
        marks.append(moved(part.marks, x, 0))
        x += part.width
    return drawing(x, max(p.up for p in parts), max(p.down for p in parts), marks)


def bent(*points: tuple[float, float]) -> str:
    """A rail along the points, with round corners; each part of it is level or upright."""
    out = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for (x0, y0), (x, y), (x1, y1) in zip(points, points[1:], points[2:]):
        before, after = math.hypot(x - x0, y - y0), math.hypot(x1 - x, y1 - y)
        turn = min(TURN, before / 2, after / 2)
        out += (f" L{x + (x0 - x) * turn / before:.1f} {y + (y0 - y) * turn / before:.1f}"
                f" Q{x:.1f} {y:.1f} {x + (x1 - x) * turn / after:.1f} {y + (y1 - y) * turn / after:.1f}")
    return f'<path class="rail" d="{out} L{points[-1][0]:.1f} {points[-1][1]:.1f}"/>'


def in_rows(parts: list[drawing]) -> drawing:
    """A sequence, on several rows where one is too wide."""
    rows: list[list[drawing]] = [[]]
    for part in parts:
        if rows[-1] and sum(p.width + GAP for p in rows[-1]) + part.width > WIDEST:
            rows.append([])
        rows[-1].append(part)
    lines = [in_a_row(row) for row in rows]
    if len(lines) == 1:
        return lines[0]
    width = max(line.width for line in lines) + 2 * TURN
    marks, y = [], 0.0
    for number, line in enumerate(lines):
        if number:
            before, y = y, y + lines[number - 1].down + line.up + 2 * TURN
            middle = y - line.up - TURN
            end = TURN + lines[number - 1].width
            marks.append(bent((end, before), (width, before), (width, middle), (0, middle), (0, y), (TURN, y)))
        else:
            marks.append(f'<path class="rail" d="M0 0 h{TURN}"/>')
        marks.append(moved(line.marks, TURN, y))
    marks.append(f'<path class="rail" d="M{TURN + lines[-1].width:.1f} {y:.1f} H{width:.1f}"/>')
    # The rail arrives at the end of the last row; a bend takes it back up to the first row, where it leaves the drawing.
    marks.append(bent((width, y), (width + TURN, y), (width + TURN, 0), (width + 2 * TURN, 0)))
    return drawing(width + 2 * TURN, lines[0].up, y + lines[-1].down, marks)


def side_by_side(parts: list[drawing]) -> drawing:
    """Ways one below the other, of which one is gone."""
    width = max(p.width for p in parts) + 4 * TURN
    marks, y = [], 0.0
    for number, part in enumerate(parts):
        if number:
            y += parts[number - 1].down + part.up + 8
            marks.append(f'<path class="rail" d="M0 0 q{TURN} 0 {TURN} {TURN} V{y - TURN:.1f} q0 {TURN} {TURN} {TURN}"/>')
            marks.append(f'<path class="rail" d="M{2 * TURN + part.width:.1f} {y:.1f} H{width - 2 * TURN:.1f} q{TURN} 0 {TURN} -{TURN} V{TURN} q0 -{TURN} {TURN} -{TURN}"/>')
        else:
            marks.append(f'<path class="rail" d="M0 0 h{2 * TURN} M{2 * TURN + part.width:.1f} 0 H{width:.1f}"/>')
        marks.append(moved(part.marks, 2 * TURN, y))
    return drawing(width, parts[0].up, y + parts[-1].down, marks)


def around(part: drawing) -> drawing:
    """None, one or more: the rail goes straight on, and back below through the part."""
    width = part.width + 4 * TURN
    y = part.up + 12
    return drawing(width, 6, y + part.down, [
        f'<path class="rail" d="M0 0 H{width:.1f}"/>',
        f'<path class="rail" d="M{2 * TURN} {y:.1f} q-{TURN} 0 -{TURN} -{TURN} V{TURN} q0 -{TURN} {TURN} -{TURN}"/>',
        f'<path class="rail" d="M{2 * TURN + part.width:.1f} {y:.1f} q{TURN} 0 {TURN} -{TURN} V{TURN} q0 -{TURN} -{TURN} -{TURN}"/>',
        f'<path class="stop" d="M{2 * TURN + 7} -4 l-7 4 l7 4 z"/>' if part.width > 40 else "",
        moved(part.marks, 2 * TURN, y)])


def drawn(f: form) -> drawing:
    if f.kind == "word":
        return box(f.text, "word")
    if f.kind == "symbol":
        return box(f.text, "kind" if f.text.isupper() else "rule")
    parts = [drawn(p) for p in f.parts]
    if f.kind == "sequence":
        return in_rows(parts)
    if f.kind == "choice":
        return side_by_side(parts)
    if f.kind == "maybe":
        return side_by_side([drawing(parts[0].width, 6, 6, [f'<path class="rail" d="M0 0 H{parts[0].width:.1f}"/>']), parts[0]])
    return around(parts[0])


def diagram(r: rule) -> str:
    track = drawn(r.tree)
    width, up = track.width + 60, track.up + 10
    height = up + track.down + 12
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" role="img">',
        f"  <title>{r.name}</title>", f"  <style>{STYLE}</style>", f'  <rect class="paper" width="{width:.0f}" height="{height:.0f}"/>',
        f'  <g transform="translate(0 {up:.1f})"><circle class="stop" cx="10" cy="0" r="4"/><path class="rail" d="M10 0 H30"/>'
        + moved(track.marks, 30, 0)
        + f'<path class="rail" d="M{30 + track.width:.1f} 0 H{width - 10:.1f}"/><circle class="stop" cx="{width - 10:.1f}" cy="0" r="4"/></g>',
        "</svg>", ""])


def grammar_page(root: pathlib.Path, site: pathlib.Path, pages: dict[str, str]) -> dict[str, str]:
    """The page that stands in docs/, with the rules below it."""
    head, rules = read_rules((root / "docs/reference/grammar.ebnf").read_text(encoding="utf-8"))
    folder = site / "reference/grammar"
    folder.mkdir(parents=True, exist_ok=True)
    parts = [pages["reference/grammar"].rstrip("\n"), head.replace("_ that", "\\_ that")]
    for r in rules:
        (folder / f"{r.name}.svg").write_text(diagram(r), encoding="utf-8")
        parts += [f"## {r.name}", *([r.remark] if r.remark else []), f"![the rule {r.name}, drawn](grammar/{r.name}.svg)", f"```text\n{r.text}\n```"]
    return {"reference/grammar": "\n\n".join(parts) + "\n"}
