"""Every estimator, and models of many kinds, fitted to small data, for tests of model files."""

import inspect
import warnings
from functools import cache
from types import SimpleNamespace

import numpy as np
from force_molecules import ATOMS, energy, forces, geometries
from sklearn.base import BaseEstimator, is_classifier
from sklearn.gaussian_process import kernels as gp
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pellucid
from pellucid import (
    InterpretableKernelClassifier,
    InterpretableKernelRegressor,
    KernelClassifier,
    KernelFisherDiscriminant,
    KernelGLMRegressor,
    KernelRidge,
    KernelRidgeClassifier,
    LooSearch,
    models,
    preprocessing,
)
from pellucid.kernels import NTK, RBF, AdditivePairs, Linear, Matern, Periodic, Polynomial


@cache
def data():
    """Rows to fit (positive: compositions, too, are fitted to them), new rows, targets and weights."""
    rng = np.random.default_rng(3)
    X, new = rng.uniform(0.1, 1.0, (36, 3)), rng.uniform(0.1, 1.0, (7, 3))
    return SimpleNamespace(
        X=X,
        new=new,
        counts=rng.poisson(np.exp(2.0 * X[:, 0])).astype(float),
        labels=np.array(["no", "maybe", "yes"])[(3 * X[:, 1]).astype(int).clip(0, 2)],
        two=np.where(X[:, 1] > 0.5, "yes", "no"),
        weight=rng.integers(0, 3, 36).astype(float),
    )


def exported():
    """Every estimator class in the public names, whoever added it."""
    found = {}
    for module in (pellucid, models, preprocessing):
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value) and issubclass(value, BaseEstimator):
                found[name] = value
    return [found[name] for name in sorted(found)]


def new_rows(model):
    """Rows to predict: geometries for force fields."""
    return geometries(1, seed=1) if isinstance(model, pellucid.ForceField) else data().new


def fitted(model, target=None, **options):
    """A model fitted to the rows, by default to counts or two classes."""
    if isinstance(model, pellucid.ForceField):
        R = geometries(8)
        return model.fit(R, forces(R), energies=energy(R), atoms=ATOMS)
    y = target if target is not None else data().two if is_classifier(model) else data().counts
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(data().X, y, **options)


def variants():
    """Models, and what their fit is given, by a label."""
    d = data()
    return {
        "weights, some of them zero": (KernelRidge(Matern(0.4)), {"sample_weight": d.weight}),
        "several outputs": (
            KernelRidge(alpha_per_output=True),
            {"target": np.c_[d.counts, -d.counts, d.X[:, 2]]},
        ),
        "explicit features": (KernelRidge(Polynomial(2), solver="auto"), {}),
        "given alpha": (KernelRidge(RBF(0.3), alpha=0.1), {}),
        "two classes": (KernelRidgeClassifier(targets="fisher"), {"target": d.labels == "no"}),
        "classes as integers": (KernelFisherDiscriminant(), {"target": np.arange(36) % 4}),
        "three classes": (KernelRidgeClassifier(), {"target": d.labels}),
        "multinomial": (
            KernelClassifier(RBF(0.5), alpha=0.1),
            {"target": d.labels, "sample_weight": d.weight + 1.0},
        ),
        "coefficients of three classes": (
            InterpretableKernelClassifier(RBF(), alpha=1.0),
            {"target": d.labels},
        ),
        "hinge": (KernelClassifier(RBF(0.5), loss="hinge", alpha=0.1), {"target": d.labels == "no"}),
        "gamma, splitter": (KernelGLMRegressor(loss="gamma", cv=KFold(3)), {"target": d.counts + 0.5}),
        "poisson, offset": (KernelGLMRegressor(RBF(0.5), alpha=1.0), {"offset": d.X[:, 0]}),
        "landmarks": (KernelGLMRegressor(RBF(0.5), alpha=1.0, n_components=12), {}),
        "coefficients": (InterpretableKernelRegressor(RBF(0.5), loss="poisson", alpha=1.0, certify=0), {}),
        "coefficients of classes": (
            InterpretableKernelClassifier(NTK(2), alpha=1.0, cv=StratifiedKFold(3)),
            {"target": d.labels == "no"},
        ),
        "search, grid": (LooSearch(KernelRidge(RBF()), {"kernel__length_scale": [0.1, 1.0]}), {}),
        "search, grid of kernels": (LooSearch(KernelRidge(), {"kernel": [RBF(), "laplacian"]}), {}),
        "search, ard": (LooSearch(KernelRidgeClassifier(RBF()), ard=True), {"target": d.labels == "no"}),
        "pipeline": (make_pipeline(StandardScaler(), KernelRidge()), {}),
        "pipeline of compositions": (
            make_pipeline(
                preprocessing.IsometricLogRatio(), InterpretableKernelRegressor(alpha=1.0, certify=0)
            ),
            {},
        ),
        "composed": (
            KernelRidge(
                2.0 * RBF(0.3).on([0]) + (Linear() + 1.0) ** 2 * Periodic(0.7).on([1]) + Linear().exp()
            ),
            {},
        ),
        "pairs": (KernelRidge(AdditivePairs("rbf", 0.4)), {}),
        "kernel of scikit-learn": (KernelRidge(gp.ConstantKernel(2.0) * gp.RBF(0.5) + gp.DotProduct()), {}),
    }
