"""Sphinx configuration. The build reads nothing from the network."""

from typing import Any

import pellucid

project = "pellucid"
author = "the pellucid developers"
copyright = f"2026, {author}"
version = release = pellucid.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build"]
default_role = "literal"
# A reference listed in a docstring need not be cited in its text.
suppress_warnings = ["ref.citation", "ref.footnote"]

html_theme = "pydata_sphinx_theme"
html_title = "pellucid"
html_show_sourcelink = False
html_theme_options = {
    "show_prev_next": False,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
}

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's Parameters section already states the types
numpydoc_show_class_members = False  # the class template lists the members

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["auto_examples"],
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"/_",
    "doc_module": ("pellucid",),
    "backreferences_dir": None,
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "run_stale_examples": True,  # the library may have changed even if the script has not
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
}


def skip_foreign_members(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out of a class page what scikit-learn's base classes bring along."""
    if what != "class":
        return None
    # What a property, a cached property or a class method wraps knows the module it was written in.
    wrapped = (getattr(obj, name, None) for name in ("fget", "func", "__func__"))
    function = next((f for f in wrapped if f is not None), obj)
    module = getattr(function, "__module__", None)
    # A field without a default has nothing to show but Sphinx's own mark.
    if isinstance(module, str) and not module.startswith(("pellucid", "sphinx")):
        return True
    return None


def setup(app: Any) -> None:
    """Register the hook above."""
    app.connect("autodoc-skip-member", skip_foreign_members)
