"""Figures, by the data they draw."""

import subprocess
import sys

import numpy as np
import pytest
from oracles import blobs, curve

from pellucid import KernelRidge, KernelRidgeClassifier, LooSearch, plot_loo
from pellucid.kernels import RBF

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402

X, Y = curve(25, 2, q=2)
MODEL = KernelRidge(RBF()).fit(X, Y)
LOO = MODEL.loo_


@pytest.fixture(autouse=True)
def close_figures():
    yield
    pyplot.close("all")


def points(ax):
    return np.asarray(ax.collections[0].get_offsets())


@pytest.mark.parametrize("output", [0, 1])
def test_predictions_against_targets(output):
    ax = plot_loo(MODEL, output=output)
    assert np.allclose(points(ax), np.column_stack([LOO.predictions[:, output], Y[:, output]]))
    line = ax.lines[0]
    assert np.array_equal(line.get_xdata(), line.get_ydata())
    assert f"{LOO.rmse[output]:.4g}" in ax.get_title(loc="left")
    assert ax.get_ylabel() == "target"


@pytest.mark.parametrize(("kind", "across"), [("residuals", LOO.predictions), ("leverages", LOO.leverages)])
def test_residuals(kind, across):
    ax = plot_loo(LOO, kind, output=1)
    assert np.allclose(points(ax), np.column_stack([across[:, 1], LOO.residuals[:, 1]]))


def test_the_path():
    ax = plot_loo(MODEL, "path", output=1)
    curve_drawn, best = ax.lines
    assert np.allclose(curve_drawn.get_xdata(), LOO.path.alphas)
    assert np.allclose(curve_drawn.get_ydata(), np.sqrt(LOO.path.mse[:, 1]))
    i = LOO.path.mse[:, 1].argmin()
    assert best.get_xdata()[0] == LOO.path.alphas[i]
    assert ax.get_xscale() == "log"


def test_axes_are_used_and_models_of_all_kinds():
    _, ax = pyplot.subplots()
    assert plot_loo(MODEL, ax=ax) is ax
    rows, labels = blobs(2)
    classifier = KernelRidgeClassifier(RBF()).fit(rows, labels)
    assert len(points(plot_loo(classifier, "residuals"))) == 45
    search = LooSearch(KernelRidge(RBF()), {"kernel__length_scale": [0.5, 1.0]}).fit(X, Y[:, 0])
    assert len(points(plot_loo(search))) == 25


def test_what_cannot_be_drawn():
    with pytest.raises(ValueError, match="kind must be one of predictions, residuals, leverages, path"):
        plot_loo(MODEL, "histogram")
    with pytest.raises(ValueError, match="no path"):
        plot_loo(KernelRidge(RBF(), alpha=1.0).fit(X, Y), "path")


def test_matplotlib_is_not_needed_to_import():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from pellucid import plot_loo, KernelRidge\n"
        "model = KernelRidge(alpha=1.0).fit([[0.0], [1.0]], [0.0, 1.0])\n"
        "try:\n    plot_loo(model)\nexcept ImportError as error:\n    print(error)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install pellucid[plot]" in out.stdout
