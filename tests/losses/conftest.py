"""Every registered loss: a test with an argument ``loss`` runs on each, and finds its data in ``sample``."""

import numpy as np
import pytest

from pellucid.exceptions import RateWarning
from pellucid.losses import REGISTRY, Expectile, Huber, NegativeBinomial, Ordinal, Quantile, Tweedie

WITH_OPTIONS = [Expectile(0.9), Huber(2.0), Quantile(0.05, bandwidth=0.3)]
WITH_OPTIONS += [
    NegativeBinomial(0.01),
    NegativeBinomial(20.0),
    Tweedie(1.1),
    Tweedie(1.9),
    Ordinal((-1.0, 0.5, 2.0, 4.0)),
]
ALL = [REGISTRY[name]() for name in sorted(REGISTRY)] + WITH_OPTIONS
SELECTIONS = {
    "loss": ALL,
    "linked_loss": [loss for loss in ALL if loss.linked],
    "smooth_loss": [loss for loss in ALL if loss.smooth],
    "scalar_loss": [loss for loss in ALL if not loss.multiclass],
    "binary_loss": [loss for loss in ALL if loss.kind == "classification" and not loss.multiclass],
}


def pytest_generate_tests(metafunc):
    for argument, selection in SELECTIONS.items():
        if argument in metafunc.fixturenames:
            metafunc.parametrize(argument, selection, ids=[repr(loss) for loss in selection])


def draw_targets(loss, rng, n):
    """Return the first kind of targets that a loss accepts, so that a new loss needs no entry here."""
    amounts = rng.gamma(2.0, size=n) + 0.1
    for y in (rng.normal(size=n), amounts, rng.integers(0, 5, n), rng.integers(0, 2, n)):
        try:
            return loss.check_targets(y)
        except (ValueError, RateWarning):  # warnings are errors here
            continue
    raise AssertionError(f"{loss} accepts none of the targets that the tests know")


def draw(loss, rng, n=40, scale=2.0):
    """Return targets and linear predictors of the shape that a loss expects."""
    y = draw_targets(loss, rng, n)
    shape = (n, max(int(y.max()) + 1, 2)) if loss.multiclass else n
    return y, scale * rng.normal(size=shape)


@pytest.fixture(scope="session")
def sample():
    return draw


@pytest.fixture(scope="session")
def slope():
    """The derivative of a weighted sum of losses with respect to a constant, or one per class."""

    def slope(loss, y, weight, eta):
        return np.asarray(weight) @ loss.gradient(y, eta)

    return slope
