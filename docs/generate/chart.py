# SPDX-License-Identifier: Apache-2.0
"""Curves over an axis, as a picture that is light or dark with the page."""
import dataclasses
import math
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
    @media (prefers-color-scheme: dark) {
      .paper { fill: #131416; }
      .grid { stroke: #30363d; }
      .axis, .mark { stroke: #9aa4af; }
      .text { fill: #e6edf3; }
      .c0 { stroke: #79c0ff; } .c1 { stroke: #ffa657; } .c2 { stroke: #7ee787; } .c3 { stroke: #d2a8ff; }
    }
  """
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BELOW = 640, 340, 72, 16, 16, 52


@dataclasses.dataclass
class curve:
    name: str
    points: list[tuple[float, float]]
    is_dashed: bool = False


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers between the two."""
    step = 10 ** math.floor(math.log10((high - low) / most))
    step *= next(s for s in (1, 2, 5, 10) if (high - low) / (s * step) <= most)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]



def short(number: float, step: float) -> str:
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    return f"{number:,.{digits}f}"


def draw(title: str, curves: list[curve], across: str, up: str, mark: float | None = None) -> str:
    """A picture in SVG; `mark` is a place on the axis across with a line of its own."""
    xs = [x for c in curves for x, _ in c.points]
    ys = [y for c in curves for _, y in c.points]
    low_x, high_x = min(xs), max(xs)
    # Differences in the last digits are no shape of a curve.
    spread = max(max(ys) - min(ys), 1e-6 * max(map(abs, ys)), 1e-12)
    middle = (max(ys) + min(ys)) / 2
    low_y, high_y = (middle - 0.55 * spread, middle + 0.55 * spread)
    if spread < 1e-3 * abs(middle):
        low_y, high_y = middle - 0.01 * abs(middle), middle + 0.01 * abs(middle)

    def at_x(x: float) -> float:
        return LEFT + (x - low_x) / (high_x - low_x) * (WIDTH - LEFT - RIGHT)

    def at_y(y: float) -> float:
        return HEIGHT - BELOW - (y - low_y) / (high_y - low_y) * (HEIGHT - TOP - BELOW)

    safe = xml.sax.saxutils.escape
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT + 22 * len(curves)}" '
           f'viewBox="0 0 {WIDTH} {HEIGHT + 22 * len(curves)}" role="img">',
           f"  <title>{safe(title)}</title>", f"  <style>{STYLE}</style>",
           f'  <rect class="paper" width="{WIDTH}" height="{HEIGHT + 22 * len(curves)}"/>']
    across_ticks, up_ticks = ticks(low_x, high_x, 8), ticks(low_y, high_y)
    for x in across_ticks:
        out.append(f'  <path class="grid" d="M{at_x(x):.1f} {TOP} V{HEIGHT - BELOW}"/>')
        out.append(f'  <text class="text" x="{at_x(x):.1f}" y="{HEIGHT - BELOW + 19}" text-anchor="middle">'
                   f"{short(x, across_ticks[1] - across_ticks[0])}</text>")
    for y in up_ticks:
        out.append(f'  <path class="grid" d="M{LEFT} {at_y(y):.1f} H{WIDTH - RIGHT}"/>')
        out.append(f'  <text class="text" x="{LEFT - 8}" y="{at_y(y) + 4:.1f}" text-anchor="end">'
                   f"{short(y, up_ticks[1] - up_ticks[0])}</text>")
    out.append(f'  <path class="axis" d="M{LEFT} {TOP} V{HEIGHT - BELOW} H{WIDTH - RIGHT}"/>')
    if mark is not None and low_x <= mark <= high_x:
        out.append(f'  <path class="mark" d="M{at_x(mark):.1f} {TOP} V{HEIGHT - BELOW}"/>')
    for number, c in enumerate(curves):
        look = f"curve c{number % 4}" + (" dashed" if c.is_dashed else "")
        way = " ".join(f"{at_x(x):.1f},{at_y(y):.1f}" for x, y in c.points)
        out.append(f'  <polyline class="{look}" points="{way}"/>')
        y = HEIGHT + 22 * number + 6
        out.append(f'  <path class="{look}" d="M{LEFT} {y} h36"/>')
        out.append(f'  <text class="text" x="{LEFT + 46}" y="{y + 4}">{safe(c.name)}</text>')
    out.append(f'  <text class="text" x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - BELOW + 38}" text-anchor="middle">{safe(across)}</text>')
    out.append(f'  <text class="text" transform="translate(14 {(HEIGHT - BELOW + TOP) / 2:.0f}) rotate(-90)" text-anchor="middle">{safe(up)}</text>')
    return "\n".join([*out, "</svg>", ""])
