# SPDX-License-Identifier: Apache-2.0
"""Looks at a page as its readers will: the source by itself, and the page as headless chromium draws it.

    page_check.py FILE.html|FILE.svg ...    prints what is wrong with each file, and exits 1 if anything is

The source has to be well-formed, whole in itself (no script, nothing that is loaded) and accessible: a language, a title,
headings in their order, scopes of table heads, names of pictures. Drawn at several widths, in light and dark, nothing may
stick out sideways, no text may lie over another or be cut off, and each text needs a contrast of 4.5 to what is behind it.
"""
import argparse
import dataclasses
import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

WIDTHS = (400, 1280)
SCHEMES = ("light", "dark")
LEAST_CONTRAST = 4.5
VOID = set("area base br col embed hr img input link meta source track wbr".split())


@dataclasses.dataclass(frozen=True)
class Rules:
    """What a kind of page may contain. The default is a self-contained page."""
    most_bytes: int | None = None
    scripts: bool = False  # allowed
    links: bool = False  # to other pages, and to resources beside the page


class Reader(html.parser.HTMLParser):
    """Reads a page strictly: elements are closed in order."""

    def __init__(self, rules):
        super().__init__(convert_charrefs=True)
        self.rules, self.faults = rules, []
        self.open, self.ids, self.wanted = [], set(), []
        self.headings, self.texts, self.pictures = [], {}, []

    def fault(self, text):
        line, column = self.getpos()
        self.faults.append(f"{line}:{column + 1}: {text}")

    def handle_starttag(self, tag, attributes):
        self.element(tag, attributes)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        if "svg" not in self.open and tag not in VOID and tag != "svg":
            self.fault(f"<{tag}/> is not closed in HTML")
        self.element(tag, attributes)

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.fault(f"</{tag}> closes {'<' + self.open[-1] + '>' if self.open else 'nothing'}")
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data):
        if self.open:
            self.texts[self.open[-1]] = self.texts.get(self.open[-1], "") + data
            if self.open[-1] == "title" and "svg" in self.open and self.pictures and data.strip():
                self.pictures[-1][1] = True
        if self.open and self.open[-1] == "style":
            for found in re.findall(r"@import|url\(\s*['\"]?(?!#|data:)[^)]*", data):
                if not self.rules.links:
                    self.fault(f"loads '{found}'")

    def element(self, tag, attributes):
        has = dict(attributes)
        if len(has) < len(attributes):
            self.fault(f"<{tag}> has an attribute twice")
        if tag == "script" and not self.rules.scripts:
            self.fault("a script")
        for name, value in attributes:
            if name.startswith("on") and not self.rules.scripts:
                self.fault(f"a script in '{name}'")
            if name in ("href", "xlink:href", "src", "srcset", "data", "action", "poster"):
                self.reference(tag, name, value or "")
            if name in ("aria-labelledby", "aria-describedby", "for"):
                self.wanted += [(self.getpos(), one) for one in (value or "").split()]
            if name == "style" and "url(" in (value or "") and not self.rules.links:
                self.fault(f"loads '{value}'")
        if "id" in has:
            if has["id"] in self.ids:
                self.fault(f"the id '{has['id']}' is there twice")
            self.ids.add(has["id"])
        if tag == "html" and not has.get("lang"):
            self.fault("<html> says no language")
        if re.fullmatch("h[1-6]", tag):
            level = int(tag[1])
            if level > (self.headings[-1] if self.headings else 0) + 1:
                self.fault(f"<{tag}> follows {'<h%d>' % self.headings[-1] if self.headings else 'no heading'}")
            self.headings.append(level)
        if tag == "th" and has.get("scope") not in ("col", "row", "colgroup", "rowgroup"):
            self.fault("<th> has no scope")
        if tag == "img" and "alt" not in has:
            self.fault("<img> has no alt")
        if tag == "svg" and has.get("aria-hidden") != "true":
            if has.get("role") not in ("img", "graphics-document"):
                self.fault("<svg> has no role")
            self.pictures.append([self.getpos(), bool(has.get("aria-label") or has.get("aria-labelledby"))])

    def reference(self, tag, name, value):
        if value.startswith("#"):
            self.wanted.append((self.getpos(), value[1:]))
        elif not self.rules.links and not value.startswith("data:"):
            self.fault(f"<{tag}> refers to '{value}'")

    def all_faults(self):
        for tag in self.open:
            self.faults.append(f"<{tag}> is never closed")
        for (line, column), one in self.wanted:
            if one and one not in self.ids:
                self.faults.append(f"{line}:{column + 1}: nothing has the id '{one}'")
        for (line, column), is_named in self.pictures:
            if not is_named:
                self.faults.append(f"{line}:{column + 1}: <svg> has no name")
        return self.faults


def source_faults(text, rules=Rules()):
    """The faults in the source of a page, or of a picture (SVG), a line each."""
    faults = []
    if rules.most_bytes is not None and len(text.encode()) > rules.most_bytes:
        faults.append(f"{len(text.encode())} bytes, expected at most {rules.most_bytes}")
    reader = Reader(rules)
    reader.feed(text)
    reader.close()
    faults += reader.all_faults()
    if not is_picture(text):
        if reader.headings.count(1) != 1:
            faults.append(f"{reader.headings.count(1)} headings <h1>, expected one")
        if not reader.texts.get("title", "").strip():
            faults.append("no title")
        if not re.match(r"\s*<!doctype html>", text, re.I):
            faults.append("no doctype")
    return faults


def is_picture(text):
    return re.match(r"\s*(<\?xml[^>]*>\s*)?<svg\b", text) is not None


def chromium():
    """The browser, or None."""
    return next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)


# Script that draws the page in a frame of each width, for its media queries, and then puts the faults in place of the frames.
MEASURE = r"""
const LEAST = %(least)s, asked = %(asked)s;
const visible = (e) => { const s = e.ownerDocument.defaultView.getComputedStyle(e); return s.visibility === 'visible' && s.display !== 'none' && +s.opacity > 0; };
const parsed = (text) => {
  if (!text || text === 'none' || text === 'transparent') return [0, 0, 0, 0];
  const n = (text.match(/-?[\d.]+(e-?\d+)?/g) || []).map(Number);
  if (text.startsWith('color(srgb')) return [255 * n[0], 255 * n[1], 255 * n[2], n.length > 3 ? n[3] : 1];
  return text.startsWith('rgb') ? [n[0], n[1], n[2], n.length > 3 ? n[3] : 1] : [0, 0, 0, 0];
};
const over = (top, under) => { const a = top[3]; return [0, 1, 2].map((i) => a * top[i] + (1 - a) * under[i]).concat([1]); };
const luminance = (c) => { const l = c.slice(0, 3).map((x) => { x /= 255; return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; }); return 0.2126 * l[0] + 0.7152 * l[1] + 0.0722 * l[2]; };
const contrast = (a, b) => { const x = luminance(a), y = luminance(b); return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05); };
const opacity = (e) => { let o = 1; for (; e && e.nodeType === 1; e = e.parentElement) o *= +e.ownerDocument.defaultView.getComputedStyle(e).opacity; return o; };
const shown = (text) => text.replace(/\s+/g, ' ').trim().slice(0, 60);
const place = (e) => e.tagName.toLowerCase() + (e.id ? '#' + e.id : '') + (e.getAttribute('class') ? '.' + e.getAttribute('class').split(/\s+/).join('.') : '');

// The colour that an element paints at a point of the frame, with its opacity; none: [.., 0].
function painted(e, x, y, view) {
  const s = view.getComputedStyle(e);
  if (e instanceof view.SVGGeometryElement) {
    const m = e.getScreenCTM(); if (!m) return [0, 0, 0, 0];
    const p = new view.DOMPoint(x, y).matrixTransform(m.inverse());
    let c = [0, 0, 0, 0];
    const o = opacity(e);
    if (s.fill !== 'none' && e.isPointInFill(p)) { c = parsed(s.fill); c[3] *= +s.fillOpacity * o; }
    if (s.stroke !== 'none' && e.isPointInStroke(p)) { const t = parsed(s.stroke); t[3] *= +s.strokeOpacity * o; c = c[3] > 0 ? over(t, c) : t; }
    return c;
  }
  const c = parsed(s.backgroundColor); c[3] *= opacity(e); return c;
}

function behind(e, x, y, doc, view, canvas) {
  const layers = [];
  for (const one of doc.elementsFromPoint(x, y)) {
    if (one instanceof view.SVGElement && (one === e || e.contains(one))) continue;
    if (one instanceof view.SVGTextContentElement) continue;
    const c = painted(one, x, y, view);
    if (c[3] > 0) layers.push(c);
    if (c[3] >= 1) break;
  }
  return layers.reverse().reduce((under, top) => over(top, under), canvas);
}

function measure(doc, view, width, report) {
  for (const d of doc.querySelectorAll('details')) d.open = true;
  const root = doc.documentElement;
  if (root.scrollWidth > root.clientWidth + 1) {
    let worst = null;
    for (const e of doc.querySelectorAll('body *')) {
      const r = e.getBoundingClientRect();
      if (r.right > root.clientWidth + 1 && (!worst || r.right > worst[0])) worst = [r.right, place(e)];
    }
    report('sticks out sideways', worst ? worst[1] : 'body', `${root.scrollWidth} of ${root.clientWidth} pixels`);
  }
  const canvas = view.matchMedia('(prefers-color-scheme: dark)').matches && view.getComputedStyle(root).colorScheme.includes('dark') ? [18, 18, 18, 1] : [255, 255, 255, 1];
  const texts = [];
  const walker = doc.createTreeWalker(doc.body, view.NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const e = node.parentElement;
    if (!node.data.trim() || !e || ['STYLE', 'SCRIPT', 'title', 'desc', 'TITLE', 'OPTION'].includes(e.tagName) || !visible(e)) continue;
    const range = doc.createRange(); range.selectNodeContents(node);
    for (const r of range.getClientRects()) if (r.width > 1 && r.height > 1) texts.push({node, e, r, text: shown(node.data)});
  }
  // A text's box is as high as its font; its letters take less.
  const box = (r) => ({left: r.left, right: r.right, top: r.top + 0.18 * r.height, bottom: r.bottom - 0.18 * r.height});
  const by_top = texts.map((t) => ({...t, b: box(t.r)})).sort((a, b) => a.b.top - b.b.top);
  for (let i = 0; i < by_top.length; ++i) {
    for (let k = i + 1; k < by_top.length && by_top[k].b.top < by_top[i].b.bottom; ++k) {
      const a = by_top[i], c = by_top[k];
      const wide = Math.min(a.b.right, c.b.right) - Math.max(a.b.left, c.b.left);
      const high = Math.min(a.b.bottom, c.b.bottom) - Math.max(a.b.top, c.b.top);
      if (a.node !== c.node && wide > 1 && high > 1) report('lie over each other', place(a.e), `'${a.text}' and '${c.text}'`);
    }
  }
  for (const t of texts) {
    // Cut off: beyond the page, its picture, or a box that hides what flows over. Text that can be scrolled to can be read,
    // by a keyboard only where the box takes the focus.
    if (t.r.left < -1) report('is cut off', place(t.e), `'${t.text}' by the left edge of the page`);
    const svg = t.e.closest('svg');
    if (svg) {
      const v = svg.getBoundingClientRect();
      if (t.r.left < v.left - 1 || t.r.right > v.right + 1 || t.r.top < v.top - 2 || t.r.bottom > v.bottom + 2)
        report('is cut off', place(t.e), `'${t.text}' by its picture`);
    }
    for (let a = t.e; a && a !== doc.body && !(a instanceof view.SVGElement); a = a.parentElement) {
      const s = view.getComputedStyle(a);
      if (s.overflowX === 'visible' && s.overflowY === 'visible') continue;
      const v = a.getBoundingClientRect();
      const out_x = t.r.left < v.left - 1 || t.r.right > v.right + 1, out_y = t.r.top < v.top - 2 || t.r.bottom > v.bottom + 2;
      const hides = (o) => o === 'hidden' || o === 'clip';
      if ((out_x && hides(s.overflowX)) || (out_y && hides(s.overflowY))) report('is cut off', place(t.e), `'${t.text}' by ${place(a)}`);
      else if ((out_x || out_y) && a.tabIndex < 0) report('can be scrolled to by a mouse alone', place(a), `'${t.text}'`);
    }
  }
  const told = new Set();
  for (const t of texts) {
    const s = view.getComputedStyle(t.e);
    const is_svg = t.e instanceof view.SVGElement;
    const ink = parsed(is_svg ? s.fill : s.color);
    ink[3] *= opacity(t.e) * (is_svg ? +s.fillOpacity : 1);
    for (const part of [0.1, 0.5, 0.9]) {
      const x = t.r.left + part * t.r.width, y = (t.r.top + t.r.bottom) / 2;
      const under = behind(t.e, x, y, doc, view, canvas);
      const c = contrast(over(ink, under), under);
      if (c >= LEAST) continue;
      const key = place(t.e) + '|' + s.color + s.fill + under;
      if (!told.has(key)) report('is too faint', place(t.e), `'${t.text}' has a contrast of ${c.toFixed(2)}`);
      told.add(key);
      break;
    }
  }
  return texts.length;
}

(async () => {
  const all = [];
  let texts = 0, dark = matchMedia('(prefers-color-scheme: dark)').matches;
  for (const one of asked.pages) for (const width of asked.widths) {
    const frame = document.createElement('iframe');
    frame.style.cssText = `width:${width}px;height:900px;border:0;display:block`;
    const loaded = new Promise((done) => frame.addEventListener('load', done));
    frame.srcdoc = one.text;
    document.body.append(frame);
    await loaded;
    const doc = frame.contentDocument, view = frame.contentWindow;
    for (const d of doc.querySelectorAll('details')) d.open = true;
    frame.style.height = doc.documentElement.scrollHeight + 'px';
    let count = 0;
    const report = (what, where, detail) => { if (++count <= 20) all.push({page: one.name, width, what, where, detail}); };
    texts += measure(doc, view, width, report);
    frame.remove();
  }
  const out = document.createElement('pre');
  out.id = 'findings';
  out.textContent = JSON.stringify({all, texts, dark});
  document.body.replaceChildren(out);
})();
"""


class BrowserFailed(Exception):
    """The browser could not draw."""


def in_a_page(text):
    """A picture as a page, as a browser would show the file."""
    if not is_picture(text):
        return text
    return f"<!doctype html><html lang=en><meta name=color-scheme content='light dark'><body style='margin:0'>{text}</body></html>"


def run_browser(arguments, seconds=120):
    """The standard output of headless chromium."""
    with tempfile.TemporaryDirectory() as profile:
        command = [chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
                   "--disable-dev-shm-usage", "--disable-extensions", f"--user-data-dir={profile}", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    if done.returncode != 0:
        raise BrowserFailed(f"{' '.join(command)}\nexit code {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def preferring(scheme):
    return f"--blink-settings=preferredColorScheme={0 if scheme == 'dark' else 1}"


def drawn_faults(pages, widths=WIDTHS, schemes=SCHEMES):
    """The faults of pages as drawn, a line each. `pages` maps names to texts."""
    asked = {"widths": list(widths), "pages": [{"name": n, "text": in_a_page(t)} for n, t in pages.items()]}
    script = MEASURE % {"least": LEAST_CONTRAST, "asked": json.dumps(asked).replace("</", "<\\/").replace("<!--", "<\\!--")}
    faults = []
    for scheme in schemes:
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "measure.html"
            page.write_text("<!doctype html><meta charset=utf-8><meta name=color-scheme content='light dark'>"
                            f"<body style='margin:0'><script>{script}</script>", encoding="utf-8")
            dom = run_browser([preferring(scheme), "--window-size=1600,1000", "--virtual-time-budget=600000",
                               "--dump-dom", page.as_uri()], seconds=300)
        found = re.search(r'<pre id="findings">(.*?)</pre>', dom, re.S)
        if not found:
            raise BrowserFailed(f"the page was not measured: {dom[-2000:]}")
        told = json.loads(html.unescape(found.group(1)))
        if told["dark"] != (scheme == "dark"):
            raise BrowserFailed(f"the browser does not prefer {scheme}")
        if told["texts"] == 0:
            faults.append(f"{scheme}: no text is drawn")
        for one in told["all"]:
            faults.append(f"{one['page']}: {one['width']} pixels, {scheme}: {one['where']} {one['what']}: {one['detail']}")
    return faults


def faults_of(pages, rules=Rules(), widths=WIDTHS, schemes=SCHEMES):
    """All faults of pages, given as texts by name. Without a browser only their sources are read."""
    faults = [f"{name}: {fault}" for name, text in pages.items() for fault in source_faults(text, rules)]
    return faults + (drawn_faults(pages, widths, schemes) if chromium() else [])


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("files", nargs="+", type=pathlib.Path)
    arguments.add_argument("--most-bytes", type=int)
    arguments.add_argument("--scripts", action="store_true", help="pages may have scripts")
    arguments.add_argument("--links", action="store_true", help="pages may lead elsewhere, and load what stands beside them")
    asked = arguments.parse_args()
    rules = Rules(asked.most_bytes, asked.scripts, asked.links)
    faults = faults_of({str(file): file.read_text(encoding="utf-8") for file in asked.files}, rules)
    print("\n".join(faults) or f"{len(asked.files)} looked at, nothing wrong")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
