"""Real molecules: symmetry groups that are known, and errors that fall with the number of geometries."""

import os
from pathlib import Path

import numpy as np
import pytest

from pellucid import ForceField
from pellucid.models.forces.symmetries import find_symmetries

pytestmark = pytest.mark.data


def molecule(name):
    folder = os.environ.get("PELLUCID_DATA")
    if not folder or not (Path(folder) / f"rmd17_{name}.npz").exists():
        pytest.skip("PELLUCID_DATA has no rMD17 files")
    return np.load(Path(folder) / f"rmd17_{name}.npz")


@pytest.mark.parametrize(("name", "size"), [("ethanol", 6), ("malonaldehyde", 4), ("aspirin", 6)])
def test_symmetry_groups(name, size):
    data = molecule(name)
    for n in (100, 1000):
        assert len(find_symmetries(data["R_train"][:n], data["z"].astype(int))) == size


def test_errors_fall_with_more_geometries():
    data = molecule("ethanol")
    error = []
    for n in (25, 100):
        field = ForceField().fit(
            data["R_train"][:n], data["F_train"][:n], energies=data["E_train"][:n], atoms=data["z"]
        )
        found = field.predict(data["R_test"][:200])
        truth = data["E_test"][:200], data["F_test"][:200]
        error.append([np.abs(one - other).mean() for one, other in zip(found, truth, strict=True)])
    assert error[1][0] < 0.6 * error[0][0]
    assert error[1][1] < 0.6 * error[0][1]
    assert error[1][1] < 1.4  # kcal/mol/Å, 6 % of the mean force
