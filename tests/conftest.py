"""Real data for the tests that are marked ``data``."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def airfoil():
    """The airfoil self-noise data: five features and the sound pressure level."""
    folder = os.environ.get("PELLUCID_DATA")
    if not folder:
        pytest.skip("PELLUCID_DATA does not name a folder with the real datasets")
    pandas = pytest.importorskip("pandas")
    path = Path(folder) / "airfoil.parquet"
    if not path.exists():
        pytest.skip(f"the folder of PELLUCID_DATA has no {path.name}")
    table = pandas.read_parquet(path)
    return table.iloc[:, :-1].to_numpy(float), table.iloc[:, -1].to_numpy(float)
