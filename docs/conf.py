# SPDX-License-Identifier: Apache-2.0
"""How Sphinx makes the site from the pages that docs/generate writes ('make docs')."""
import re

project = "Tilewalk"
author = "The Tilewalk authors"
html_title = "Tilewalk"
extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 5
root_doc = "index"
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_show_sourcelink = False
# Light or dark is what the reader's system says: pictures follow it, and no button of the page's.
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "github-dark"
smartquotes = False  # the page says what the command says, to the letter
highlight_language = "text"


def setup(app):
    """Boxes that scroll sideways can be scrolled by the keyboard, too."""
    def with_focus(_app, _page, _template, context, _doctree):
        body = context.get("body", "")
        body = body.replace('<div class="highlight"><pre>', '<div class="highlight"><pre tabindex="0">')
        body = body.replace('<div class="table-wrapper', '<div tabindex="0" class="table-wrapper')
        context["body"] = re.sub(r"<img [^>]*>", r'<span class="picture" tabindex="0">\g<0></span>', body)

    app.connect("html-page-context", with_focus, priority=900)
