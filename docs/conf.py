"""How Sphinx makes a site of these pages: ``make docs``."""

import gc
import sys
from importlib.metadata import version as installed
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # for the tools, which are in no package that is installed

# Sphinx creates millions of nodes that exist until the end. With the default thresholds, visiting
# them again and again takes more than half of the time.
gc.set_threshold(100_000, 20, 100)

project = "steersman"
copyright = "the authors of steersman"
version = release = installed("steersman")

extensions = ["myst_parser", "sphinx.ext.autodoc", "tools.markdown_pages", "tools.pages"]
exclude_patterns = ["_build", "captures", "code", "decisions/README.md"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

# In source order.
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "undoc-members": True}
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_class_signature = "mixed"
add_module_names = False
# It counts the modules of types, too, which are not shown.
python_maximum_signature_line_length = 140
# The names on a page of the reference stand beside it; a method is set in below its class.
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = "steersman"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5cad", "color-brand-content": "#0b5cad"},
    "dark_css_variables": {"color-brand-primary": "#7db8f0", "color-brand-content": "#7db8f0"},
}
pygments_style = "friendly"
pygments_dark_style = "github-dark"
