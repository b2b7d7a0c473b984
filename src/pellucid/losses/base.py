"""What a loss is: value, derivatives and deviance of single rows, and the constant that fits them best."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logit

from pellucid.losses.constant import (
    ONE_SIDED,
    check_constant_data,
    check_weight,
    expanding_bracket,
    zero_of_slope,
)

_PERFECT = 1e-300  # deviance of a row that is nothing: a mean of zero has the least logarithm there is

REGISTRY: dict[str, type[Loss]] = {}
"""Every concrete loss class by its ``name``, filled as classes are defined; the law tests run over it."""


class Loss(ABC):
    """The cost of predicting ``η`` where ``y`` was observed, convex in ``η``.

    All methods work element by element, take anything that NumPy takes, and return new float64 arrays. They
    stay free of overflow, of warnings and of NaN for every ``η`` that a diverging solver may come up with.
    Targets are taken as they are; :meth:`check_targets` is the gate to pass them through once.

    A new loss needs a ``name`` of its own, a ``kind``, ``_value`` and ``_gradient``; further ``_deviance`` if
    the value at a perfect fit is not zero, ``_curvature`` if it is smooth, ``_mean`` if its link has an
    inverse, ``_allowed`` if not every number is a target, and ``_best_constant`` if there is a closed form.
    A loss with a number of its own, such as a dispersion, takes it in its constructor; where ``None`` leaves
    it open, ``_estimated`` finds it from targets and predictions.
    """

    name: ClassVar[str]
    """The word by which estimators know the loss."""
    kind: ClassVar[str]
    """What the targets are: ``"regression"``, ``"counts"``, ``"proportions"``, ``"classification"``,
    ``"ordinal"`` or ``"survival"``."""
    link: ClassVar[str] = "identity"
    """How the mean follows from ``η``: ``"identity"``, ``"log"`` or ``"logit"``."""
    degree: ClassVar[int] = 0
    """Power of the targets' unit in which values count, as 2 for squared errors; 0 where targets have no
    unit that could be chosen."""
    smooth: ClassVar[bool] = True
    """Whether Newton steps apply; ``False`` means no curvature, to be solved as a quadratic programme."""
    linked: ClassVar[bool] = True
    """Whether ``η`` has an inverse link, so that :meth:`mean` gives an expected target or a probability."""
    joint: ClassVar[bool] = False
    """Whether the loss has inner parameters that all rows share and that take the intercept's place, such as
    thresholds or a baseline hazard. The methods of rows are those at given inner parameters."""
    multiclass: ClassVar[bool] = False
    """Whether ``η`` has one column per class, of shape (n, C), instead of one number per row."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__name__.startswith("_"):
            return
        name = vars(cls).get("name")
        if not isinstance(name, str):
            raise TypeError(f"The loss {cls.__name__} needs a name of its own, such as name = 'huber'.")
        known = REGISTRY.get(name)
        if known and (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
            raise TypeError(f"The name {name!r} of the loss {cls.__name__} is taken by {known.__name__}.")
        REGISTRY[name] = cls

    # ---------------------------------------------------------------- values
    def value(self, y: ArrayLike, eta: ArrayLike) -> np.ndarray:
        """Loss of every row, up to a term that does not depend on ``eta``."""
        return self._rows(self._value, y, eta)

    def gradient(self, y: ArrayLike, eta: ArrayLike) -> np.ndarray:
        """Derivative of the loss with respect to ``eta``; at a kink, one of its subgradients."""
        return self._rows(self._gradient, y, eta)

    def curvature(self, y: ArrayLike, eta: ArrayLike) -> np.ndarray:
        """Second derivative of the loss with respect to ``eta``, never negative."""
        if not self.smooth:
            raise TypeError(
                f"The {self.name} loss has no curvature, so Newton steps do not apply to it: solve it as a "
                f"quadratic programme, or choose a smooth loss."
            )
        return self._rows(self._curvature, y, eta)

    def expected_curvature(self, y: ArrayLike, eta: ArrayLike, weight: ArrayLike | None = None) -> np.ndarray:
        """Curvature of every row to be expected beside ``eta``, whatever its target: what the row is worth.

        Steps with it are those of Fisher scoring, and squares of slopes over it estimate a dispersion. It is
        the curvature itself where targets have no part in that, and where a loss knows no better.
        """
        y, eta = self._pair(y, eta)
        s = np.ones(y.shape) if weight is None else np.asarray(weight, dtype=np.float64)
        return np.asarray(self._expected_curvature(y, eta, s), dtype=np.float64)

    @property
    def bends_by_target(self) -> bool:
        """Whether the curvature of a row depends on its target, so that the expected one is another."""
        return type(self)._expected_curvature is not Loss._expected_curvature

    def deviance(self, y: ArrayLike, eta: ArrayLike) -> np.ndarray:
        """Twice the log-likelihood lost against a perfect fit, per row: never negative, zero if perfect."""
        return self._rows(self._deviance, y, eta)

    def mean(self, eta: ArrayLike) -> np.ndarray:
        """Expected target at ``eta``, the inverse link; for classes the probability."""
        return np.asarray(self._mean(np.asarray(eta, dtype=np.float64)), dtype=np.float64)

    def bound(self) -> float:
        """Smallest number that no curvature exceeds, infinite where there is none.

        With it, one factorisation of ``bound · ZᵀSZ + αI`` serves every step of a fit.
        """
        return np.inf

    def _rows(
        self, method: Callable[[np.ndarray, np.ndarray], np.ndarray], y: ArrayLike, eta: ArrayLike
    ) -> np.ndarray:
        with np.errstate(over="ignore"):
            return np.asarray(method(*self._pair(y, eta)), dtype=np.float64)

    @abstractmethod
    def _value(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        """Values for float64 arrays whose shapes fit; so for the other methods with an underscore."""

    @abstractmethod
    def _gradient(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray: ...

    def _deviance(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        return 2.0 * self._value(y, eta)  # where the value is zero at a perfect fit

    def _curvature(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        raise NotImplementedError(f"{type(self).__name__} is smooth, but does not define _curvature.")

    def _expected_curvature(self, y: np.ndarray, eta: np.ndarray, s: np.ndarray) -> np.ndarray:
        return self.curvature(y, eta)

    def _mean(self, eta: np.ndarray) -> np.ndarray:
        raise TypeError(
            f"The {self.name} loss has no inverse link: its predictor has a sign and a size, but no "
            f"expected target or probability. Use loss='logistic' for probabilities."
        )

    def _pair(self, y: ArrayLike, eta: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        y, eta = np.asarray(y, dtype=np.float64), np.asarray(eta, dtype=np.float64)
        if y.ndim and eta.ndim and y.ndim != eta.ndim:
            # (n, 1) against (n,) would silently become (n, n)
            raise ValueError(
                f"y and eta must have the same number of dimensions, got shapes {y.shape} and {eta.shape}."
            )
        return y, eta

    def predictor(self, mean: ArrayLike) -> np.ndarray:
        """Linear predictor for an expected target, the link: what :meth:`mean` undoes."""
        m = np.asarray(mean, dtype=np.float64)
        if self.link == "log":
            return np.log(np.maximum(m, np.finfo(float).tiny))
        return logit(np.clip(m, 1e-300, 1.0 - 1e-16)) if self.link == "logit" else m.copy()

    # -------------------------------------------------------------- nuisance
    @property
    def is_open(self) -> bool:
        """Whether a number of the loss itself, such as a dispersion, was left to be found from data."""
        return any(value is None for value in vars(self).values())

    def estimated(self, y: ArrayLike, eta: ArrayLike, weight: ArrayLike | None = None) -> Loss:
        """The loss with what it leaves open estimated beside ``eta``, at best one of held-out predictions.

        A solver alternates between the two. A loss that leaves nothing open is returned as it is.
        """
        if not self.is_open:
            return self
        y, eta = self._pair(y, eta)
        largest = 1.0 if weight is None else float(np.max(weight))
        return self._estimated(y, eta, check_weight(weight, len(y)) * largest)  # sums count observations

    def _estimated(self, y: np.ndarray, eta: np.ndarray, s: np.ndarray) -> Loss:
        raise NotImplementedError(f"{type(self).__name__} leaves a number open, but does not estimate it.")

    def profiled(self, y: ArrayLike, eta: ArrayLike, weight: ArrayLike | None = None) -> Loss:
        """The loss with the inner parameters that are best beside ``eta``; itself if it has none."""
        return self

    def coupling(self, y: np.ndarray, eta: np.ndarray, weight: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """Matrix ``M``, of shape (k, r), of the Hessian ``ZᵀWZ − MᵀM`` once inner parameters give way."""
        return np.zeros((0, Z.shape[1]))

    def in_unit(self, unit: float) -> Loss:
        """The loss for targets that were divided by ``unit``."""
        return self

    # --------------------------------------------------------------- targets
    def check_targets(self, y: ArrayLike, weight: np.ndarray | None = None) -> np.ndarray:
        """Return targets as float64, or say what is wrong with them and what to do about it.

        ``weight`` are the row weights, for losses whose targets have a meaning only together with them.
        """
        try:
            y = np.asarray(y)
            if np.iscomplexobj(y):
                raise TypeError
            targets = y.astype(np.float64, copy=False)
        except (TypeError, ValueError):
            raise ValueError(
                f"The {self.name} loss needs numeric targets; encode labels as numbers first."
            ) from None
        if targets.size == 0 or targets.ndim == 0:
            raise ValueError(f"Targets must be an array of at least one row, got shape {targets.shape}.")
        if not np.all(np.isfinite(targets)):
            raise ValueError("Targets contain NaN or infinity: drop or impute these rows first.")
        return self._allowed(targets, weight)

    def _allowed(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        """Return finite targets, or raise ``ValueError`` if this loss is not defined on some of them."""
        return y

    # -------------------------------------------------------------- constant
    def best_constant(
        self, y: ArrayLike, weight: ArrayLike | None = None, offset: ArrayLike | None = None
    ) -> float:
        """Return the constant ``b`` that minimises ``Σ_i s_i · loss(y_i, offset_i + b)``.

        Parameters
        ----------
        y : array of shape (n,)
            Targets.
        weight : array of shape (n,), optional
            Row weights ``s``, not all zero; ones if not given.
        offset : array of shape (n,), optional
            Known part of the linear predictor; zeros if not given.

        Returns
        -------
        float
            Always finite. Where the best constant would be infinite, as for rows of one class or counts that
            are all zero, it is cut where ``offset + b`` has reached -30 or 30 for every row, a probability or
            expected count of 1e-13. Where a whole interval is best, a finite point of it.
        """
        y, s, o = check_constant_data(y, weight, offset)
        return float(self._best_constant(y, s, o))

    def _best_constant(self, y: np.ndarray, s: np.ndarray, o: np.ndarray) -> float:
        """Return the best constant for weights above zero with maximum one."""

        def slope(b: float) -> float:
            return float(s @ self.gradient(y, o + b))

        bracket = expanding_bracket(slope, -float(s @ o) / float(s.sum()))
        if isinstance(bracket, float):  # the slope never changes sign, and this is the sign of the way down
            return self._one_sided(bracket, o)
        return zero_of_slope(slope, *bracket)

    def _one_sided(self, sign: float, o: np.ndarray) -> float:
        return ONE_SIDED - float(o.min()) if sign > 0 else -ONE_SIDED - float(o.max())

    def total_deviance(self, y: ArrayLike, eta: ArrayLike, weight: ArrayLike) -> float:
        """Weighted sum of the deviance of rows, of which the model may have seen none."""
        return float(np.asarray(weight) @ self.deviance(y, eta))

    def explained(self, y: np.ndarray, eta: np.ndarray, weight: np.ndarray, offset: np.ndarray) -> float:
        """Share of the deviance that ``eta`` explains, D²; R² for squared loss.

        The null model is the best constant beside the offset. Where it is perfect, D² is 1 for a perfect
        ``eta`` and 0 otherwise; an infinite one would be for counts that are all zero, or rows of one class.
        """
        if self.joint:
            null = self.profiled(y, offset, weight).total_deviance(y, offset, weight)
        elif self._at_the_end(y[weight > 0]):
            null = 0.0
        else:
            null = self.total_deviance(y, offset + self.best_constant(y, weight, offset), weight)
        lost = self.total_deviance(y, eta, weight)
        if null > 0:
            return 1.0 - lost / null
        return 1.0 if lost <= _PERFECT * float(weight.sum()) else 0.0

    def _at_the_end(self, y: np.ndarray) -> bool:
        """Whether targets are all the same one that a mean only comes near to."""
        ends = {"log": (0.0,), "logit": (0.0, 1.0)}.get(self.link, ())
        return any(bool(np.all(y == end)) for end in ends)

    # -------------------------------------------------------------- identity
    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *sorted(vars(self).items())))

    def __repr__(self) -> str:
        options = ", ".join(f"{key}={value!r}" for key, value in vars(self).items())
        return f"{type(self).__name__}({options})"
