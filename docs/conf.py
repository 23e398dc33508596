"""The site: `make docs` builds it into target/docs."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "_ext"))

import outcore

project = "Outcore"
author = "the authors of Outcore"
copyright = "the authors of Outcore, Apache-2.0"
version = release = outcore.__version__

extensions = [
    "myst_nb",
    "outcore_docs",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]
exclude_patterns = ["_ext"]
nitpicky = True
# What annotations name that is not ours, and what has no page: types of other packages, private names, type variables.
nitpick_ignore_regex = [
    ("py:.*", r"(numpy|np|collections|pathlib|os|typing|types|scipy|sklearn|pandas|polars|pyarrow|concurrent)(\..*)?"),
    ("py:.*", r"(optional|array-like|callable|iterable|path|ArrayLike|NoneType|Ellipsis)"),
    ("py:.*", r"outcore\.(_|array\._|ml\._).*"),
]

# Notebooks run whenever the site is built. An error in one is a warning with its traceback, and `-W` fails for that.
nb_execution_mode = "force"
nb_execution_show_tb = True
nb_execution_timeout = 300
nb_execution_in_temp = True
nb_merge_streams = True

myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence", "deflist"]

# Blocks without a mark are commands, layouts and the like.
highlight_language = "text"

autodoc_member_order = "groupwise"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
autosummary_generate = False
napoleon_numpy_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
python_use_unqualified_type_names = True
maximum_signature_line_length = 100
add_module_names = False
toc_object_entries_show_parents = "hide"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_copy_empty_lines = False

html_theme = "pydata_sphinx_theme"
html_title = f"Outcore {release}"
html_static_path = ["_static"]
html_css_files = ["outcore.css"]
html_copy_source = False
html_show_sourcelink = False
# Dashes alone: quotes in docstrings are those of values, such as "tab".
smartquotes_action = "D"
html_theme_options = {
    "logo": {"text": "Outcore"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 6,
    "show_nav_level": 1,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "tango",
    "pygments_dark_style": "github-dark",
}
