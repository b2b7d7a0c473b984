"""The API reference names what there is, and all that is public."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

import pellucid
from pellucid import kernels, losses, preprocessing

API = Path(__file__).parents[1] / "docs" / "api.rst"


def listed():
    """Names under each ``autosummary`` of the page, by the module in which they are looked up."""
    found: dict[str, list[str]] = {}
    module, inside = "", False
    for line in API.read_text(encoding="utf-8").splitlines():
        if current := re.match(r"\.\. currentmodule:: (\S+)", line):
            module, inside = current[1], False
        elif line.startswith(".. autosummary::"):
            inside = True
        elif inside and re.match(r"   [A-Za-z]", line):
            found.setdefault(module, []).append(line.strip())
        elif line and not line.startswith(" "):
            inside = False
    return found


@pytest.mark.parametrize(("module", "names"), listed().items(), ids=listed())
def test_every_name_of_the_page_exists(module, names):
    for name in names:
        place = importlib.import_module(module)
        for part in name.split("."):
            if not hasattr(place, part):
                importlib.import_module(f"{place.__name__}.{part}")
            place = getattr(place, part)


@pytest.mark.parametrize("package", [pellucid, kernels, losses, preprocessing], ids=lambda p: p.__name__)
def test_every_public_name_is_on_the_page(package):
    told = {*listed()[package.__name__], "ALIASES", "REGISTRY"}  # tables, not to be called
    public = [name for name in package.__all__ if not inspect.ismodule(getattr(package, name))]
    assert [name for name in public if name not in told] == []
