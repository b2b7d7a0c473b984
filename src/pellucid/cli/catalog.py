"""The models that can be named on the command line, and the rivals that ``compare`` puts beside them."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pellucid
from pellucid.cli.errors import UserError
from pellucid.losses.convert import losses_of


@dataclass(frozen=True)
class Choice:
    """A model by name: its classes, which tables it takes, and how its time grows with the rows."""

    name: str
    title: str
    regressor: Callable[..., Any]
    classifier: Callable[..., Any]
    takes: str = "all"
    """As in :class:`~pellucid.cli.table_spec.TableSpec`."""
    counts: bool = False
    """Whether it has losses for counts."""
    growth: float = 1.0
    """Time grows at most with this power of the number of rows."""

    def make(self, task: str, options: dict[str, Any]) -> Any:
        """The estimator for a task, with those of its parameters that were named."""
        cls = self.classifier if task == "classification" else self.regressor
        parameters = inspect.signature(cls).parameters
        if task == "counts":
            if not self.counts:
                raise UserError(
                    f"The model {self.name} has no Poisson loss for counts; take additive or glm."
                )
            options = {"loss": "poisson"} | options
        elif task == "regression" and self.counts:
            options = {"loss": "squared"} | options
        for name, value in options.items():
            if name not in parameters:
                raise UserError(f"The model {self.name} has no option --{name} for {task}.")
            if name == "loss" and task == "counts" and value not in losses_of("counts"):
                known = " and ".join(losses_of("counts"))
                raise UserError(f"Counts go with the losses {known}, not with {value!r}; see --task.")
        return cls(**options)


_KERNEL: dict[str, Any] = {"takes": "numbers", "growth": 2.5}

MODELS = {
    name: Choice(name, title, getattr(pellucid, regressor), getattr(pellucid, classifier), **more)
    for name, title, regressor, classifier, more in (
        (
            "additive", "curves and surfaces that add up; nothing to tune",
            "AdditiveKernelRegressor", "AdditiveKernelClassifier", {"counts": True},
        ),
        (
            "sparse-additive", "curves of single features, most of them zero",
            "SparseAdditiveRegressor", "SparseAdditiveClassifier", {"takes": "filled"},
        ),
        (
            "isk", "curves and pairs from random Fourier features",
            "ISKRegressor", "ISKClassifier", {"takes": "filled"},
        ),
        (
            "interpretable", "a kernel model as coefficients, with a certificate",
            "InterpretableKernelRegressor", "InterpretableKernelClassifier", {**_KERNEL, "counts": True},
        ),
        (
            "ridge", "kernel ridge regression with exact leave-one-out",
            "KernelRidge", "KernelRidgeClassifier", _KERNEL,
        ),
        (
            "glm", "kernel model with Poisson, gamma or logistic loss",
            "KernelGLMRegressor", "KernelClassifier", {**_KERNEL, "counts": True},
        ),
    )
}  # fmt: skip


def find(name: str) -> Choice:
    """The model of a name."""
    if name not in MODELS:
        raise UserError(f"There is no model {name!r}; there are {', '.join(MODELS)}.")
    return MODELS[name]


def fit(
    model: Any, X: Any, y: Any, weight: Any = None, known: dict[str, Any] | None = None, name: str = "model"
) -> Any:
    """Fit an estimator with weights, offset and exposure, as far as they were given."""
    extra = dict(known or {})
    taken = inspect.signature(model.fit).parameters
    for key in extra:
        if key not in taken:
            raise UserError(
                f"The model {name} takes no {key} for this task; take additive, glm or interpretable."
            )
    if weight is not None:
        extra["sample_weight"] = weight
    return model.fit(X, y, **extra)


def predict(model: Any, X: Any, known: dict[str, Any] | None = None, how: str = "predict") -> Any:
    """Predict with the offset and exposure that were given."""
    return getattr(model, how)(X, **(known or {}))
