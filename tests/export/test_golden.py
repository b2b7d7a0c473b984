"""Model files of an earlier version load, and predict what they predicted.

A failure that says a class is not known: it was renamed or left its layer, and belongs into
``registry.RENAMED``. One that says a parameter is missing: it is new, and belongs into ``fields.LATER``.
The files were written by ``golden/write.py``.
"""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from model_files import saved
from saved_models import exported

from pellucid import load
from pellucid.export.model_file import registry

FOLDER = Path(__file__).parent / "golden"
ANSWERS = json.loads((FOLDER / "answers.json").read_text())


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
def test_models_of_an_earlier_version(name):
    model = load(FOLDER / f"{name}.pellucid")
    answer = ANSWERS[name]
    rows = answer["rows"]
    if name.startswith("levels"):
        rows = pytest.importorskip("pandas").DataFrame(rows, columns=["a", "b", "town"])
    for method, before in answer["said"].items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            now = np.asarray(getattr(model, method)(rows))
        if now.dtype.kind == "U":
            assert now.tolist() == before
        else:
            np.testing.assert_allclose(now, before, rtol=1e-10, atol=1e-10)
    params = getattr(model, "steps", None) is None and model.get_params(deep=False)
    for key in params or ():
        assert hasattr(model, key)
    assert saved(load(saved(model))) == saved(model)  # as a file of this version


def test_there_is_one_of_every_estimator():
    later = {"ForceField"}  # than the files
    assert {cls.__name__ for cls in exported()} - later <= set(ANSWERS)
    assert sum(path.stat().st_size for path in FOLDER.glob("*.pellucid")) < 300_000


def test_classes_that_have_another_name_now():
    for before, now in registry.RENAMED.items():
        cls = registry.find(before)
        assert cls is not None
        assert cls.__name__ in (before.rpartition(".")[2], now.rpartition(".")[2])


def test_a_class_that_changes_its_name(monkeypatch):
    table = {"kernels.old_home.OldName": "kernels.stationary.RBF", "features.x.OldName": "kernels.y.Linear"}
    monkeypatch.setattr(registry, "RENAMED", table)
    assert [registry.find(before).__name__ for before in table] == ["RBF", "Linear"]
    assert registry.find("kernels.new_home.OldName") is None


def test_editing_a_model_of_an_earlier_version_says_what_to_do():
    model = load(FOLDER / "AdditiveKernelRegressor.pellucid")
    rows = np.asarray(ANSWERS["AdditiveKernelRegressor"]["rows"])
    with pytest.raises(ValueError, match="fit it again to edit it"):
        model.edit(rows, rows[:, 0], smooth={model.term_names_[0]: 2.0})
