# SPDX-License-Identifier: Apache-2.0
"""Curves over an axis, as a picture that is light or dark with the page."""
import dataclasses
import math
import typing
import xml.sax.saxutils

STYLE = """
    .paper { fill: #ffffff; }
    .grid { stroke: #d8dee4; stroke-width: 1; }
    .axis { fill: none; stroke: #57606a; stroke-width: 1; }
    .mark { stroke: #57606a; stroke-width: 1; stroke-dasharray: 2 4; }
    .text { fill: #1f2328; font: 13px sans-serif; }
    .curve { fill: none; stroke-width: 2.2; stroke-linejoin: round; }
    .c0 { stroke: #0550ae; } .c1 { stroke: #bc4c00; } .c2 { stroke: #116329; } .c3 { stroke: #8250df; }
    .dashed { stroke-dasharray: 7 4; }
    .b0 { fill: #ddf4ff; stroke: none; } .b1 { fill: #a5d6ff; stroke: none; }
    @media (prefers-color-scheme: dark) {
      .paper { fill: #131416; }
      .grid { stroke: #30363d; }
      .axis, .mark { stroke: #9aa4af; }
      .text { fill: #e6edf3; }
      .c0 { stroke: #79c0ff; } .c1 { stroke: #ffa657; } .c2 { stroke: #7ee787; } .c3 { stroke: #d2a8ff; }
      .b0 { fill: #0c2d4d; } .b1 { fill: #1a4a7a; }
    }
  """
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BELOW = 640, 340, 72, 16, 16, 52


@dataclasses.dataclass
class curve:
    name: str
    points: list[tuple[float, float]]
    is_dashed: bool = False


@dataclasses.dataclass
class band:
    """The area between two curves."""
    name: str
    low: list[tuple[float, float]]
    high: list[tuple[float, float]]


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers between the two."""
    step = 10 ** math.floor(math.log10((high - low) / most))
    step *= next(s for s in (1, 2, 5, 10) if (high - low) / (s * step) <= most)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def short(number: float, step: float) -> str:
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    return f"{number:,.{digits}f}"


def path(points: list[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def draw(title: str, curves: list[curve], across: str, up: str, mark: float | None = None, bands: typing.Sequence[band] = (),
         least: float | None = None) -> str:
    """A picture in SVG; `mark` is a place on the axis across with a line of its own, `least` what the axis up shows at least."""
    lines = [c.points for c in curves] + [side for b in bands for side in (b.low, b.high)]
    xs = [x for points in lines for x, _ in points]
    ys = [y for points in lines for _, y in points] + ([] if least is None else [least])
    low_x, high_x = min(xs), max(xs)
    # A curve that moves by rounding alone must look flat: its height counts as 1e-6 of its values at least.
    spread = max(max(ys) - min(ys), 1e-6 * max(map(abs, ys)), 1e-12)
    middle = (max(ys) + min(ys)) / 2
    low_y, high_y = (middle - 0.55 * spread, middle + 0.55 * spread)
    if spread < 1e-3 * abs(middle):
        low_y, high_y = middle - 0.01 * abs(middle), middle + 0.01 * abs(middle)
    if least is not None:
        low_y = max(low_y, least)

    def at(x: float, y: float) -> tuple[float, float]:
        return (LEFT + (x - low_x) / (high_x - low_x) * (WIDTH - LEFT - RIGHT),
                HEIGHT - BELOW - (y - low_y) / (high_y - low_y) * (HEIGHT - TOP - BELOW))

    safe = xml.sax.saxutils.escape
    keys = len(curves) + len(bands)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT + 22 * keys}" '
           f'viewBox="0 0 {WIDTH} {HEIGHT + 22 * keys}" role="img">',
           f"  <title>{safe(title)}</title>", f"  <style>{STYLE}</style>",
           f'  <rect class="paper" width="{WIDTH}" height="{HEIGHT + 22 * keys}"/>']
    for number, b in enumerate(bands):
        sides = [at(*p) for p in b.low] + [at(*p) for p in reversed(b.high)]
        out.append(f'  <polygon class="b{number % 2}" points="{path(sides)}"/>')
    across_ticks, up_ticks = ticks(low_x, high_x, 10), ticks(low_y, high_y)
    for x in across_ticks:
        out.append(f'  <path class="grid" d="M{at(x, 0)[0]:.1f} {TOP} V{HEIGHT - BELOW}"/>')
        out.append(f'  <text class="text" x="{at(x, 0)[0]:.1f}" y="{HEIGHT - BELOW + 19}" text-anchor="middle">'
                   f"{short(x, across_ticks[1] - across_ticks[0])}</text>")
    for y in up_ticks:
        out.append(f'  <path class="grid" d="M{LEFT} {at(0, y)[1]:.1f} H{WIDTH - RIGHT}"/>')
        out.append(f'  <text class="text" x="{LEFT - 8}" y="{at(0, y)[1] + 4:.1f}" text-anchor="end">'
                   f"{short(y, up_ticks[1] - up_ticks[0])}</text>")
    out.append(f'  <path class="axis" d="M{LEFT} {TOP} V{HEIGHT - BELOW} H{WIDTH - RIGHT}"/>')
    if mark is not None and low_x <= mark <= high_x:
        out.append(f'  <path class="mark" d="M{at(mark, 0)[0]:.1f} {TOP} V{HEIGHT - BELOW}"/>')
    for number, c in enumerate(curves):
        look = f"curve c{number % 4}" + (" dashed" if c.is_dashed else "")
        out.append(f'  <polyline class="{look}" points="{path([at(*p) for p in c.points])}"/>')
        y = HEIGHT + 22 * number + 6
        out.append(f'  <path class="{look}" d="M{LEFT} {y} h36"/>')
        out.append(f'  <text class="text" x="{LEFT + 46}" y="{y + 4}">{safe(c.name)}</text>')
    for number, b in enumerate(bands):
        y = HEIGHT + 22 * (len(curves) + number) + 6
        out.append(f'  <rect class="b{number % 2}" x="{LEFT}" y="{y - 7}" width="36" height="14"/>')
        out.append(f'  <text class="text" x="{LEFT + 46}" y="{y + 4}">{safe(b.name)}</text>')
    out.append(f'  <text class="text" x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - BELOW + 38}" text-anchor="middle">{safe(across)}</text>')
    out.append(f'  <text class="text" transform="translate(14 {(HEIGHT - BELOW + TOP) / 2:.0f}) rotate(-90)" text-anchor="middle">{safe(up)}</text>')
    return "\n".join([*out, "</svg>", ""])
