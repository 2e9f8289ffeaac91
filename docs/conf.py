"""Sphinx settings. The API pages, the table of methods and the commands are written from the code before each build."""

import os
import sys
from importlib.metadata import version as installed
from pathlib import Path
from urllib.request import Request, urlopen

from numpydoc.xref import DEFAULT_LINKS

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
from api_pages import targets_of_types, write_all, write_pages  # noqa: E402
from method_table import table  # noqa: E402
from program_reference import reference  # noqa: E402
from rival_table import rival_table  # noqa: E402

sys.path.insert(0, str(HERE / "figures"))
import pages  # noqa: E402

os.environ.setdefault("SCIPY_ARRAY_API", "1")
project = "proxembed"
author = "The proxembed developers"
version = release = installed("proxembed")
extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.intersphinx",
    "mathml",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "fitted_names",
    "name_links",
]
exclude_patterns = ["_build", "decisions", "examples"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"
nitpicky = True
smartquotes = False  # two dashes are an option
numpydoc_show_class_members = False
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"
numpydoc_xref_aliases = targets_of_types()
autodoc_typehints = "none"

RESULTS = [path.relative_to(HERE).with_suffix("").as_posix() for path in (HERE / "results").rglob("*.md")]
WIDE = [
    "index",
    "install",
    "glossary",
    "generated/methods",
    "generated/rivals",
    *RESULTS,
]  # no sidebars: their tables need the room
LISTS = [f"howto/from_{name}" for name in ("sklearn", "rdimtools", "drtoolbox")] + ["generated/gallery/index"]
html_theme = "pydata_sphinx_theme"
html_title = "proxembed"
html_static_path = ["_static"]
html_css_files = ["proxembed.css"]
html_show_sourcelink = False
html_theme_options = {
    "show_prev_next": False,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 8,
    "navbar_align": "left",
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": {"**": ["page-toc"]} | {page: [] for page in WIDE + LISTS},
}
html_sidebars = {page: [] for page in [*WIDE, "read_the_page", "how_it_judges"]}

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "generated/gallery",
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("proxembed",),
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"__init__\.py",
    "abort_on_example_error": True,
    "within_subsection_order": "example_order.Listed",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "min_reported_time": 1,
    "thumbnail_size": (800, 560),
    "parallel": 2,
    "matplotlib_animations": False,
}

INVENTORIES = {
    "python": "https://docs.python.org/3",
    "numpy": "https://numpy.org/doc/stable",
    "scipy": "https://docs.scipy.org/doc/scipy",
    "sklearn": "https://scikit-learn.org/stable",
    "pandas": "https://pandas.pydata.org/docs",
    "matplotlib": "https://matplotlib.org/stable",
}


def inventories(folder: Path) -> dict[str, tuple[str, str]]:
    """The inventories of other projects that can be had: fetched once and kept beside the build; without a network
    they are left out, and names of other projects are plain text."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, address in INVENTORIES.items():
        path = folder / f"{name}.inv"
        if not path.exists():
            try:
                with urlopen(Request(f"{address}/objects.inv", headers={"User-Agent": "sphinx"}), timeout=5) as answer:
                    path.write_bytes(answer.read())
            except OSError as error:
                print(f"no links to {name}: {address} cannot be reached ({error})")
                break
    return {
        name: (address, str(folder / f"{name}.inv"))
        for name, address in INVENTORIES.items()
        if (folder / f"{name}.inv").exists()
    }


intersphinx_mapping = inventories(HERE / "_build" / "inventories")
if not intersphinx_mapping:
    DEFAULT_LINKS.clear()  # of the types that docstrings name: shown as plain words
nitpick_ignore_regex = [("py:.*", r"(?!proxembed\.).*"), ("std:.*", r"(python|numpy):.*")]

write_pages(HERE / "generated" / "api")
write_all(HERE / "generated", table() | rival_table() | reference(version))
pages.draw(HERE / "generated" / "figures")
