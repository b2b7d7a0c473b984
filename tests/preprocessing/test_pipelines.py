import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.compose import make_column_transformer
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pellucid.preprocessing import (
    AdditiveLogRatio,
    CenteredLogRatio,
    Closure,
    IsometricLogRatio,
    PowerTransform,
    ReplaceZeros,
)


@pytest.mark.parametrize("ratio", [AdditiveLogRatio(), CenteredLogRatio(), IsometricLogRatio()], ids=repr)
def test_zeros_replaced_before_logarithms(counts, ratio):
    found = make_pipeline(ReplaceZeros(), ratio).fit_transform(counts)
    assert_allclose(found, ratio.fit_transform(ReplaceZeros().fit_transform(counts)))


def test_the_response_is_found_whatever_the_totals(positive):
    rng = np.random.default_rng(5)
    y = np.log(positive[:, 0] / positive[:, 1])
    model = make_pipeline(CenteredLogRatio(), StandardScaler(), Ridge(1e-8))
    assert cross_val_score(model, rng.lognormal(sigma=4.0, size=(30, 1)) * positive, y).min() > 0.999


def test_power_is_searched(counts):
    y = np.sqrt(counts[:, 0] / counts.sum(axis=1))
    model = make_pipeline(PowerTransform(), Ridge(1e-6))
    grid = {"powertransform__power": [0.25, 0.5, 1.0], "powertransform__chi": [False]}
    assert GridSearchCV(model, grid).fit(counts, y).best_params_["powertransform__power"] == 0.5


def test_names_run_through_a_pipeline(soils):
    model = make_pipeline(Closure(), ReplaceZeros(), CenteredLogRatio(), StandardScaler())
    frame = model.set_output(transform="pandas").fit_transform(soils)
    assert list(frame.columns) == ["clr(sand)", "clr(silt)", "clr(clay)"]


def test_some_columns_of_a_frame(soils):
    soils["depth"] = [1.0, 2.0, -3.0]
    columns = make_column_transformer(
        (IsometricLogRatio(), ["sand", "silt", "clay"]),
        remainder="passthrough",
        verbose_feature_names_out=False,
    )
    frame = columns.set_output(transform="pandas").fit_transform(soils)
    assert list(frame.columns) == ["ilr(sand|rest)", "ilr(silt|clay)", "depth"]
