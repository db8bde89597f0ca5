# SPDX-License-Identifier: Apache-2.0
"""How Sphinx makes the site from the pages that docs/generate writes ('make docs')."""
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
pygments_style = "tango"
pygments_dark_style = "github-dark"
highlight_language = "text"
