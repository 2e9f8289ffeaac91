"""Sphinx settings. The pages of the methods and their table are written from the registry before each build."""

import sys
from importlib.metadata import version as installed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from method_pages import write_pages  # noqa: E402

project = "proxembed"
author = "The proxembed developers"
version = release = installed("proxembed")
extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.mathjax"]
myst_enable_extensions = ["dollarmath"]
exclude_patterns = ["_build", "results", "decisions"]
nitpicky = False
numpydoc_show_class_members = False
autodoc_typehints = "none"
html_theme = "pydata_sphinx_theme"
html_title = "proxembed"
html_theme_options = {"show_prev_next": False, "navigation_with_keys": False}
html_show_sourcelink = False

write_pages(Path(__file__).parent / "methods")
