# SPDX-License-Identifier: Apache-2.0
"""How Sphinx makes the site from the pages that docs/generate writes ('make docs')."""
import re

from docutils import nodes
from latex2mathml.converter import convert

project = "Tilewalk"
author = "The Tilewalk authors"
html_title = "Tilewalk"
extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence"]
myst_fence_as_directive = ["math"]
myst_heading_anchors = 5
root_doc = "index"
html_theme = "furo"
html_math_renderer = "mathml"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_show_sourcelink = False
# The reader's system chooses light or dark, for pictures too; static/site.css hides the theme's button, which pictures can't follow.
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "github-dark"
smartquotes = False  # the page says what the command says, to the letter
highlight_language = "text"


def set_formula(translator, node):
    """Writes a formula as MathML, which browsers set by themselves, without a script or a network."""
    display = "block" if isinstance(node, nodes.math_block) else "inline"
    translator.body.append(convert(node.astext(), display=display))
    raise nodes.SkipNode


def setup(app):
    """Sets formulas, and lets boxes that scroll sideways be scrolled by the keyboard, too."""
    def with_focus(_app, _page, _template, context, _doctree):
        body = context.get("body", "")
        body = body.replace('<div class="highlight"><pre>', '<div class="highlight"><pre tabindex="0">')
        for box in ("table-wrapper", "math-wrapper"):
            body = body.replace(f'<div class="{box}', f'<div tabindex="0" class="{box}')
        context["body"] = re.sub(r"<img [^>]*>", r'<span class="picture" tabindex="0">\g<0></span>', body)

    app.add_html_math_renderer("mathml", (set_formula, None), (set_formula, None))
    app.connect("html-page-context", with_focus, priority=900)
