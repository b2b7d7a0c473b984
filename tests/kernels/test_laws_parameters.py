import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.gaussian_process import kernels as gp

from pellucid.kernels import RBF, AdditivePairs, Constant, Linear, Matern, Periodic, SklearnKernel


def test_params_round_trip(kernel, X):
    params = kernel.get_params()
    assert copy.deepcopy(kernel).set_params(**params) == kernel
    assert kernel.set_params() is kernel
    with pytest.raises(ValueError, match="Invalid parameter 'nonsense' for kernel"):
        kernel.set_params(nonsense=1.0)


def test_theta(kernel):
    theta, before = kernel.theta, copy.deepcopy(kernel)
    assert theta.ndim == 1
    assert len(kernel.theta_names) == len(set(kernel.theta_names)) == len(theta)
    assert_allclose(kernel.with_theta(theta).theta, theta, rtol=0, atol=1e-14)
    changed = kernel.with_theta(kernel.theta + 0.5)
    assert kernel == before
    assert_allclose(changed.theta, kernel.theta + 0.5, rtol=0, atol=1e-14)
    assert (changed == kernel) == (kernel.theta.size == 0)
    with pytest.raises(ValueError, match=r"theta has \d+ entries, but the kernel"):
        kernel.with_theta(np.zeros(kernel.theta.size + 1))


def test_operands_are_copied(kernel):
    before = copy.deepcopy(kernel)
    composed = [kernel + RBF(5.0), 2.0 * kernel, kernel**2, kernel.exp(), kernel.on([0, 1, 2]), sum([kernel])]
    kept = copy.deepcopy(composed)
    for k in composed:
        for part in k.parts().values():
            for name in part.hyperparameters:
                setattr(part, name, 123.0)
    assert kernel == before
    for k in kept:
        for one, other in zip(k._nodes(), kernel._nodes(), strict=False):
            assert one is not other


def test_ard_has_the_same_values(kernel, X):
    wide = kernel.with_ard(X.shape[1])
    assert_allclose(wide(X), kernel(X), rtol=1e-12)
    for part in wide.parts().values():
        assert "length_scale" not in part.hyperparameters or np.ndim(part.length_scale) == 1


def test_changing_an_operand_afterwards_changes_nothing_else():
    part = RBF(1.0)
    whole = part + part
    part.set_params(length_scale=9.0)
    assert whole == RBF(1.0) + RBF(1.0)
    whole.set_params(rbf_1__length_scale=3.0)
    assert whole == RBF(3.0) + RBF(1.0)
    assert part == RBF(9.0)


def test_arrays_are_copied():
    scales = np.array([1.0, 2.0])
    kernel = RBF(scales)
    scales[0] = 7.0
    assert kernel == RBF([1.0, 2.0])


def test_names_of_parameters():
    kernel = (2.0 * RBF(3.0) + Linear() * RBF([1.0, 2.0])) ** 2 + AdditivePairs()
    assert list(kernel.get_params()) == [
        "power__exponent",
        "constant__value",
        "rbf_1__length_scale",
        "linear__length_scale",
        "linear__origin",
        "rbf_2__length_scale",
        "additive_pairs__base",
        "additive_pairs__length_scale",
    ]
    assert kernel.theta_names == [
        "constant__value",
        "rbf_1__length_scale",
        "linear__length_scale",
        "rbf_2__length_scale[0]",
        "rbf_2__length_scale[1]",
        "additive_pairs__length_scale",
    ]
    assert RBF().theta_names == ["length_scale"]


def test_set_params_of_parts():
    kernel = 2.0 * RBF() + Matern() ** 2
    kernel.set_params(constant__value=3, rbf__length_scale=[1, 2], matern__nu=0.5, power__exponent=3)
    assert kernel == 3.0 * RBF([1.0, 2.0]) + Matern(nu=0.5) ** 3


def test_set_params_checks_and_changes_all_or_nothing():
    kernel = Matern(1.0, nu=1.5)
    with pytest.raises(ValueError, match="nu must be"):
        kernel.set_params(length_scale=2.0, nu=7.0)
    assert kernel == Matern(1.0, nu=1.5)


def test_parameters_of_a_scikit_learn_kernel_inside_a_sum():
    kernel = SklearnKernel(gp.ConstantKernel(2.0) * gp.RBF(0.8)) + RBF(3.0)
    assert_allclose(kernel.theta, np.log([2.0, 0.8, 3.0]))
    assert kernel.theta_names[-1] == "rbf__length_scale"
    kernel.set_params(sklearn_kernel__k2__length_scale=0.5)
    assert_allclose(np.exp(kernel.theta), [2.0, 0.5, 3.0])
    assert_allclose(kernel.with_theta(np.zeros(3)).theta, 0.0)


def test_fixed_parameters_of_scikit_learn_stay_fixed():
    kernel = SklearnKernel(gp.ConstantKernel(2.0, "fixed") * gp.RBF([0.5, 0.8]))
    assert kernel.theta_names == ["k2__length_scale[0]", "k2__length_scale[1]"]
    assert_allclose(np.exp(kernel.theta), [0.5, 0.8])


def test_ard_gives_each_part_as_many_scales_as_it_sees_columns():
    kernel = (RBF(2.0) + Periodic().on([0])).with_ard(3) + Constant()
    assert_array_equal(kernel.get_params()["rbf__length_scale"], [2.0, 2.0, 2.0])
    assert_array_equal(kernel.get_params()["periodic__length_scale"], [1.0])
    already = RBF([1.0, 2.0])
    assert already.with_ard(2) == already
