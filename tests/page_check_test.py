# SPDX-License-Identifier: Apache-2.0
# optional: tests/page_check.py
"""The page checker finds each kind of fault, on small pages with one fault each, and none on a correct page."""
import sys

import page_check

PAGE = ("<!doctype html><html lang=en><head><meta charset=utf-8><title>a page</title><style>"
        ":root{{color-scheme:light dark}}body{{margin:8px;color:#222;background:#fff;font:16px sans-serif}}"
        "@media(prefers-color-scheme:dark){{body{{color:#eee;background:#111}}}}{style}</style></head>"
        "<body><h1>Heading</h1>{body}</body></html>")
PICTURE = '<svg role="img" aria-label="a picture" width="200" height="60" viewBox="0 0 200 60">{}</svg>'

SOUND = {
    "plain": PAGE.format(style="", body="<h2>Part</h2><p>" + "Text that is long enough to be folded. " * 8 + "</p>"
                         "<table><tr><th scope=col>a</th></tr><tr><td>1</td></tr></table>"),
    "picture": PAGE.format(style="text{fill:#222}", body=PICTURE.format('<rect width="200" height="60" fill="#fff"/>'
                                                                        '<text x="4" y="20">word</text>')),
}
# Pages with one fault each, and words that the message must contain: faults found in the source, then in the picture.
OF_SOURCES = {
    "a script": ("<script>1</script>", "a script"),
    "a handler": ("<p onclick='x()'>a</p>", "a script in 'onclick'"),
    "an image from elsewhere": ("<img alt='' src='https://example.org/a.png'>", "refers to"),
    "an element that is not closed": ("<p><b>a</p>", "</p> closes <b>"),
    "an element that is closed twice": ("<p>a</p></p>", "</p> closes"),
    "two of one id": ("<p id=a>a</p><p id=a>b</p>", "is there twice"),
    "a link to nowhere": ("<a href='#b'>a</a>", "nothing has the id 'b'"),
    "a heading too deep": ("<h3>a</h3>", "<h3> follows <h1>"),
    "a second title": ("<h1>a</h1>", "2 headings <h1>"),
    "a head without a scope": ("<table><tr><th>a</th></tr></table>", "<th> has no scope"),
    "a picture without a name": ("<svg role=img><rect/></svg>", "<svg> has no name"),
    "a picture without a role": ("<svg aria-label=a><rect/></svg>", "<svg> has no role"),
    "a style from elsewhere": ("<style>p{background:url(https://example.org/a)}</style>", "loads"),
}
OF_PAGES = {
    "a wide box": ("", "<div style='width:1400px'>a</div>", "sticks out sideways"),
    "one text over another": ("", "<div style='position:relative'><p>first words</p>"
                              "<p style='position:absolute;top:0;left:5px;margin:0'>second words</p></div>",
                              "lie over each other"),
    "one text of a picture over another": ("", PICTURE.format('<text x="4" y="20">first</text><text x="20" y="24">second</text>'),
                                           "lie over each other"),
    "a faint text": ("p{color:#999}", "<p>faint in the light</p>", "light: p is too faint"),
    "a text faint in the dark": ("p{color:#333}", "<p>faint in the dark</p>", "dark: p is too faint"),
    "a text on a dark cell": ("", PICTURE.format('<rect width="200" height="60" fill="#444"/>'
                                                 '<text x="4" y="20" fill="#222">word</text>'), "is too faint"),
    "a text that fades": ("", "<p style='opacity:0.4'>faded</p>", "is too faint"),
    "a text beyond its picture": ("", PICTURE.format('<text x="150" y="20" fill="#777">a long sentence</text>'), "by its picture"),
    "a text that a box hides": ("", "<div style='width:60px;overflow:hidden;white-space:nowrap'>a long sentence</div>",
                                "is cut off"),
    "a box that only a mouse scrolls": ("", "<div style='width:60px;overflow:auto;white-space:nowrap'>a long sentence</div>",
                                        "by a mouse alone"),
    "a text left of the page": ("", "<p style='margin-left:-60px'>a sentence</p>", "by the left edge"),
    "a fault in a fold": ("", "<details><summary>more</summary><p style='color:#fff;background:#eee'>hidden</p></details>",
                          "is too faint"),
    "no text": ("body{visibility:hidden}", "", "no text is drawn"),
}


def main():
    wrong = []
    for name, text in SOUND.items():
        wrong += [f"{name}: {fault}" for fault in page_check.source_faults(text)]
    for name, (body, expected) in OF_SOURCES.items():
        found = page_check.source_faults(PAGE.format(style="", body=body))
        if not any(expected in fault for fault in found):
            wrong.append(f"{name}: expected '{expected}', found {found}")
    for change, expected in ((("<html lang=en>", "<html>"), "says no language"), (("a page", ""), "no title"),
                             (("<!doctype html>", ""), "no doctype")):
        found = page_check.source_faults(SOUND["plain"].replace(*change))
        if not any(expected in fault for fault in found):
            wrong.append(f"{change}: expected '{expected}', found {found}")
    if not page_check.source_faults(SOUND["plain"], page_check.Rules(most_bytes=100)):
        wrong.append("a page of too many bytes passes")
    if page_check.chromium() is None:
        print("\n".join(wrong) or "skipped in part: no chromium to draw pages with")
        return 1 if wrong else 77
    wrong += page_check.drawn_faults(SOUND)
    pages = {name: PAGE.format(style=style, body=body) for name, (style, body, _) in OF_PAGES.items() if name != "no text"}
    found = page_check.drawn_faults(pages)
    for name, (_, _, expected) in OF_PAGES.items():
        if name != "no text" and not any(fault.startswith(f"{name}: ") and expected in fault for fault in found):
            wrong.append(f"{name}: expected '{expected}', found {[f for f in found if f.startswith(name)]}")
    style, body, expected = OF_PAGES["no text"]
    if not any(expected in fault for fault in page_check.drawn_faults({"no text": PAGE.format(style=style, body=body)},
                                                                      schemes=("light",))):
        wrong.append("no text: passes")
    print("\n".join(wrong) or f"{len(OF_SOURCES) + len(OF_PAGES)} faults seen")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
