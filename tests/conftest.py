"""Real data for the tests that are marked ``data``."""

import os
from pathlib import Path

import numpy as np
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


# A module's RNG is as it was after import when a test begins, so that no test depends on which ran before it.
_STATES: dict[str, dict] = {}


def _generator(item):
    rng = getattr(getattr(item, "module", None), "RNG", None)
    return rng if isinstance(rng, np.random.Generator) else None


def pytest_collection_finish(session):
    for item in session.items:
        rng = _generator(item)
        if rng is not None:
            _STATES[item.module.__name__] = rng.bit_generator.state


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    rng = _generator(item)
    if rng is not None:
        rng.bit_generator.state = _STATES[item.module.__name__]
