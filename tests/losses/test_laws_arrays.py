import copy
import pickle

import numpy as np
import pytest

from pellucid.losses import Hinge, Logistic, Squared, SquaredHinge


def _results(loss, y, eta):
    yield from (loss.value(y, eta), loss.gradient(y, eta), loss.deviance(y, eta))
    if loss.smooth:
        yield loss.curvature(y, eta)
    if loss.linked:
        yield loss.mean(eta)


def test_results_are_float64_whatever_comes_in(loss, sample):
    y, eta = sample(loss, np.random.default_rng(0))
    for dtype in (np.float32, np.float64, np.longdouble):
        for result in _results(loss, y.astype(dtype), eta.astype(dtype)):
            assert isinstance(result, np.ndarray)
            assert result.dtype == np.float64
    eta = eta.astype(np.float32)
    for a, b in zip(_results(loss, y, eta), _results(loss, y, eta.astype(np.float64)), strict=True):
        np.testing.assert_array_equal(a, b)


def test_integers_and_lists_are_welcome(loss, sample):
    y, eta = sample(loss, np.random.default_rng(0))
    y, eta = np.ones(len(y)), np.rint(eta)  # one is a target of every loss
    for a, b in zip(
        _results(loss, y.astype(int).tolist(), eta.astype(int).tolist()), _results(loss, y, eta), strict=True
    ):
        np.testing.assert_array_equal(a, b)


def test_shapes_of_results_that_are_new_and_inputs_left_alone(loss, sample):
    y, eta = sample(loss, np.random.default_rng(0))
    assert loss.value(y, eta).shape == loss.deviance(y, eta).shape == y.shape
    assert loss.gradient(y, eta).shape == eta.shape
    if loss.smooth:
        assert loss.curvature(y, eta).shape == eta.shape
    y.flags.writeable = eta.flags.writeable = False
    for result in _results(loss, y, eta):
        assert result.flags.writeable
        assert not np.shares_memory(result, y)
        assert not np.shares_memory(result, eta)


def test_rows_do_not_know_each_other(loss, sample):
    y, eta = sample(loss, np.random.default_rng(0))
    order = np.random.default_rng(1).permutation(len(y))
    for a, b in zip(_results(loss, y[order], eta[order]), _results(loss, y, eta), strict=True):
        np.testing.assert_array_equal(a, b[order])
    for a, b in zip(_results(loss, y[:1], eta[:1]), _results(loss, y, eta), strict=True):
        np.testing.assert_array_equal(a, b[:1])


def test_numbers_in_place_of_arrays(scalar_loss):
    assert scalar_loss.value(1, 0.5).shape == ()
    assert scalar_loss.value(1, [0.5, 1.0]).shape == scalar_loss.gradient(1, [0.5, 1.0]).shape == (2,)
    if scalar_loss.smooth:
        assert scalar_loss.curvature([1, 1], 0.5).shape == (2,)


def test_one_column_of_targets_against_several_predictors(scalar_loss, sample):
    y, _ = sample(scalar_loss, np.random.default_rng(0))
    eta = np.random.default_rng(1).normal(size=(len(y), 3))
    for result in _results(scalar_loss, y[:, None], eta):
        assert result.shape == eta.shape
    np.testing.assert_array_equal(scalar_loss.value(y[:, None], eta)[:, 1], scalar_loss.value(y, eta[:, 1]))


def test_a_column_against_a_row_is_refused():
    with pytest.raises(ValueError, match="same number of dimensions"):
        Squared().value(np.zeros((5, 1)), np.zeros(5))


def test_what_a_margin_does_not_have_names_the_way_out():
    for loss in (Hinge(), SquaredHinge()):
        with pytest.raises(TypeError, match=r"no inverse link.*logistic"):
            loss.mean([0.0])
    with pytest.raises(TypeError, match="quadratic programme"):
        Hinge().curvature([1.0], [0.5])


def test_pickles_copies_and_compares(loss):
    for twin in (pickle.loads(pickle.dumps(loss)), copy.deepcopy(loss), type(loss)(**vars(loss))):
        assert twin == loss
        assert hash(twin) == hash(loss)
    assert loss != loss.name
    assert eval(repr(loss), {type(loss).__name__: type(loss)}) == loss


def test_different_losses_differ():
    assert Logistic() != Hinge()
    assert len({Logistic(), Logistic(), Hinge()}) == 2
    assert repr(Hinge()) == "Hinge()"
