"""Write the model files of this folder: ``python write.py folder``, with an earlier pellucid installed.

The files that are here were written by version 0.1.0 before its modules became packages.
"""

import inspect
import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, is_classifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pellucid
from pellucid import features, models, preprocessing
from pellucid.kernels import RBF, Linear

SMALL = {"n_basis": 4, "random_state": 0, "certify": 0}
METHODS = ("predict", "decision_function", "predict_proba", "transform")


def estimators():
    """Every public estimator with small settings, and models of parts that these do not have."""
    found = {}
    for module in (pellucid, models, features, preprocessing):
        public = {name: getattr(module, name) for name in module.__all__}
        found |= {
            name: c for name, c in public.items() if inspect.isclass(c) and issubclass(c, BaseEstimator)
        }
    for name, cls in sorted(found.items()):
        model = cls(pellucid.KernelRidge()) if "estimator" in inspect.signature(cls).parameters else cls()
        settings = SMALL | ({} if name == "KernelFisherDiscriminant" else {"n_components": 8})
        yield name, model.set_params(**{key: settings[key] for key in settings if key in model.get_params()})
    yield "composed", make_pipeline(StandardScaler(), pellucid.KernelRidge(RBF(0.5).on([0]) + Linear()))
    for name in ("AdditiveKernelRegressor", "SparseAdditiveRegressor", "ISKRegressor"):
        cls = found[name]
        yield f"levels_{name}", cls(**{key: SMALL[key] for key in SMALL if key in cls().get_params()})


def rows(rng, n, *, levels):
    """Positive numbers, or numbers and a column of levels."""
    X = rng.uniform(0.1, 1.0, (n, 2)).round(2)
    if not levels:
        return X
    towns = rng.choice(["Aa", "Bb", "Cc"], n)
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "town": towns.astype(object)})


def main(folder):
    """Fit, save, and write what the models say of new rows."""
    answers = {}
    for name, model in estimators():
        rng = np.random.default_rng(11)
        X, new = (rows(rng, n, levels=name.startswith("levels")) for n in (20, 5))
        first, second = np.asarray(X)[:, :2].T.astype(float)
        counts = rng.poisson(np.exp(2.0 * first)).astype(float)
        labels = np.where(second + 0.3 * rng.normal(size=20) > 0.5, "yes", "no")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, labels if is_classifier(model) or "Discriminant" in name else counts)
            said = {way: getattr(model, way)(new).tolist() for way in METHODS if hasattr(model, way)}
        answers[name] = {"rows": np.asarray(new).tolist(), "said": said}
        pellucid.save(model, folder / f"{name}.pellucid")
    (folder / "answers.json").write_text(json.dumps(answers, indent=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
