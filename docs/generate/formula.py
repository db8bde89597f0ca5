# SPDX-License-Identifier: Apache-2.0
"""What a product pays, set for the site: the text of its `formula` as HTML, and the mathematics in it as MathML.

Mathematics are single letters (`K`, `S1`), numbers, `...`, functions of these, and names of several letters beside an operator or with
an index: `notional * coupon(k)`. Indices are set low: `t(k-1)`. All else is prose. Two spaces or more end a column.
"""
import html
import re
import typing

TOKEN = re.compile(r" *(?:(?P<number>\d+(?:\.\d+)?)|(?P<name>[A-Za-z]\w+(?:-[A-Za-z]\w+)+|[A-Za-z]\w*)|(?P<mark>\.\.\.|[<>]=|[-+*/^=<>(),;:]))")
OPERATORS = {"+": "+", "-": "−", "*": "⋅", "/": "/", "=": "=", "<": "&lt;", ">": "&gt;", "<=": "≤", ">=": "≥"}
FUNCTIONS = ("max", "min", "exp", "ln", "sqrt")
SUMS = {"sum": "∑", "integral": "∫"}  # with `of`
OF_ALL = ("lowest", "highest", "average")
WRITTEN_OUT = {"rho": "ρ", "dt": "dt"}  # letters that are words in the text
INDEX = re.compile(r"\(([ijkn]|\d)([-+]\d)?\)")
APPLY, SPACE = "<mo>&#x2061;</mo>", '<mspace width="0.2em"/>'
STRUT = '<mspace height="0.8em"/>'  # lowers an index where the reader has no font for mathematics


class reader:
    """A cell of a formula, read from left to right."""

    def __init__(self, text: str):
        self.text, self.at, self.tokens, end = text, 0, [], 0  # kind, text, begin and end of each
        while end < len(text):
            found = TOKEN.match(text, end) or self.fail(f"nothing here is written '{text[end:].strip()[0]}'")
            end = found.end()
            self.tokens.append((found.lastgroup, found[found.lastgroup], found.start(found.lastgroup), end))
        self.tokens += [("end", "", end, end)] * 3

    def fail(self, why: str) -> typing.NoReturn:
        raise ValueError(f"'{self.text}' can't be set as a formula: {why}")

    def next(self) -> str:
        return self.tokens[self.at][1]

    def take(self, wanted: str = "") -> str:
        if wanted and self.next() != wanted:
            self.fail(f"expected '{wanted}', found '{self.next()}'")
        self.at += 1
        return self.tokens[self.at - 1][1]

    def is_called(self, at: int) -> bool:
        """Whether arguments follow: their parenthesis stands close to the name."""
        return self.tokens[at + 1][1:3] == ("(", self.tokens[at][3])

    def is_letter(self, at: int) -> bool:
        """Whether a variable is named; `a` in front of a word is an article."""
        (kind, name, _, _), after = self.tokens[at:at + 2]
        is_article = name == "a" and after[0] == "name" and after[1] != "and"
        return kind == "name" and not is_article and (re.fullmatch(r"[A-Za-z]\d?", name) is not None or name in WRITTEN_OUT)

    def begins(self, at: int) -> bool:
        """Whether mathematics begin here, rather than words."""
        (kind, name, _, _), after = self.tokens[at:at + 2]
        if kind != "name":
            return self.begins(at + 1) if name == "(" else kind != "end" and name not in (",", ";", ":", ")")
        if name in OF_ALL:
            return self.is_letter(at + 1)
        is_sum = name in SUMS and after[1] == "of"
        return is_sum or self.is_letter(at) or self.is_called(at) or name in FUNCTIONS or after[1] in (*OPERATORS, "^", "...")

    def term(self) -> str:
        """Operands and what joins them: an operator, or a space where letters are multiplied and beside `...`."""
        out = self.power()
        while True:
            is_beside_dots = self.next() == "..." or self.tokens[self.at - 1][1] == "..." and self.tokens[self.at][0] != "mark"
            if self.next() in OPERATORS:
                out += f"<mo>{OPERATORS[self.take()]}</mo>{self.power()}"
            elif self.is_letter(self.at) or self.next() == "ln" or is_beside_dots and self.begins(self.at):
                out += SPACE + self.power()
            else:
                return out

    def power(self) -> str:
        out = self.operand()
        return f"<msup><mrow>{out}</mrow>{self.operand()}</msup>" if self.next() == "^" and self.take() else out

    def operand(self) -> str:
        kind, name, _, end = self.tokens[self.at]
        is_letter, is_called = self.is_letter(self.at), self.is_called(self.at)
        if name == "(":
            return self.arguments(most=1)
        if kind != "number" and kind != "name" and name not in ("-", "..."):
            self.fail(f"expected a number or a name, found '{name}'")
        self.take()
        if kind != "name":
            return f"<mn>{name}</mn>" if kind == "number" else "<mi>…</mi>" if name == "..." else f'<mo form="prefix">−</mo>{self.operand()}'
        if name in SUMS and self.next() == "of" and self.take():
            return f"<mo>{SUMS[name]}</mo>{self.power()}"
        if name in OF_ALL:
            return f"<mtext>{name}&#xa0;</mtext>{self.power()}"
        if name in FUNCTIONS:
            if name == "ln" and not is_called:
                return f"<mi>ln</mi>{SPACE}{self.power()}"
            shown = self.arguments(most=9 if name in ("max", "min") else 1)
            return f"<msqrt>{shown}</msqrt>" if name == "sqrt" else f"<mi>{name}</mi>{APPLY}{shown}"
        shown = f"<mi>{WRITTEN_OUT.get(name, name[0])}</mi>" if is_letter else f"<mtext>{name}</mtext>"
        if is_letter and name[-1].isdigit():
            shown = f"<msub>{shown}<mrow>{STRUT}<mn>{name[-1]}</mn></mrow></msub>"
        if is_called and INDEX.match(self.text, end) and self.take("("):
            shown = f"<msub>{shown}<mrow>{STRUT}{self.term()}</mrow></msub>"
            self.take(")")
        elif is_called:
            shown += APPLY + self.arguments(most=9) if is_letter and name[0].isupper() else self.fail(f"'{name}' is no function")
        return shown

    def arguments(self, most: int) -> str:
        self.take("(")
        out = [self.term()]
        while self.next() == "," and len(out) < most and self.take():
            out.append(self.term())
        self.take(")")
        return '<mrow><mo stretchy="false">(</mo>' + "<mo>,</mo>".join(out) + '<mo stretchy="false">)</mo></mrow>'

    def cell(self) -> str:
        """The whole as HTML. Mathematics have as their `alttext` what they were made from."""
        out, done, depth = "", 0, 0
        while self.tokens[self.at][0] != "end":
            begin, is_mathematics = self.tokens[self.at][2], self.begins(self.at)
            shown = self.term() if is_mathematics else self.take()
            depth += (shown == "(") - (shown == ")")
            if depth < 0 or is_mathematics and done == begin > 0:
                self.fail(f"found '{self.text[begin:]}' behind '{self.text[:begin]}'")
            out += self.text[done:begin]
            done = self.tokens[self.at - 1][3]
            out += f'<math alttext="{html.escape(self.text[begin:done])}">{shown}</math>' if is_mathematics else shown
        return out if depth == 0 else self.fail("found '(' without ')'")


def set_formula(text: str) -> str:
    """Tables of the lines that stand in columns, and the others, in a box that scrolls. Raises ValueError for what can't be read."""
    out = ""
    for line in text.rstrip("\n").split("\n"):
        cells = [reader(cell).cell() for cell in re.split(r" {2,}", line.rstrip())]
        row = "</td>\n<td>".join(cells)  # on lines of their own, between which the search sees a space
        out += f"<p>{row}</p>\n" if len(cells) == 1 else f"<table>\n<tr><td>{row}</td></tr>\n</table>\n"
    return f'<div class="formula" tabindex="0">\n{out}</div>\n'.replace("</table>\n<table>\n", "")
