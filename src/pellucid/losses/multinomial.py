"""The logistic loss of several classes."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp, softmax

from pellucid.losses.base import Loss
from pellucid.losses.constant import ONE_SIDED, check_weight


class Multinomial(Loss):
    """Negative log-likelihood of one class out of several, ``log Σ_c exp(η_c) − η_y``.

    Targets are class numbers ``y`` = 0, ..., C − 1. ``η`` has shape (n, C), one column per class; the inverse
    link is the softmax. Adding a number to all columns of a row changes nothing. Value and deviance have
    shape (n,), gradient and curvature (the diagonal of each row's C × C Hessian) have shape (n, C). The whole
    Hessian is ``diag(p) − p pᵀ``, never larger than ``½ (I − 11ᵀ/C)`` (Böhning 1992).

    References
    ----------
    D. Böhning, "Multinomial logistic regression algorithm", Annals of the Institute of Statistical
    Mathematics 44 (1992).

    Examples
    --------
    >>> from pellucid.losses import Multinomial
    >>> Multinomial().value([0, 2], [[5.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    array([0.0133859 , 1.09861229])
    """

    name = "multinomial"
    kind = "classification"
    multiclass = True

    def bound(self) -> float:
        """Return one half, the factor of Böhning's bound ``½ (I − 11ᵀ/C)`` for every number of classes."""
        return 0.5

    def _value(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        # log(1 + Σ_{c≠y} exp(η_c − η_y)): no cancellation, however sure the right class is
        rows, k = np.arange(len(y)), y.astype(np.intp)
        gap = eta - eta[rows, k][:, None]
        gap[rows, k] = -np.inf
        top = gap.max(axis=1)
        others = top + np.log(np.sum(np.exp(gap - top[:, None]), axis=1))
        return np.logaddexp(0.0, others)

    def _gradient(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        rows, k = np.arange(len(y)), y.astype(np.intp)
        G = softmax(eta, axis=1)
        G[rows, k] = 0.0
        G[rows, k] = -G.sum(axis=1)
        return G

    def _curvature(self, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
        P = softmax(eta, axis=1)
        return P * (1.0 - P)

    def _mean(self, eta: np.ndarray) -> np.ndarray:
        return softmax(_class_columns(eta), axis=1)

    def _pair(self, y: ArrayLike, eta: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        y, eta = np.asarray(y, dtype=np.float64), _class_columns(np.asarray(eta, dtype=np.float64))
        if y.shape != (len(eta),):
            raise ValueError(f"y must have shape ({len(eta)},) for eta of shape {eta.shape}, got {y.shape}.")
        _check_range(y, eta.shape[1])
        return y, eta

    def _allowed(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        wrong = y[(y < 0) | (y != np.rint(y))]
        if y.ndim != 1 or wrong.size:
            got = f"{wrong.flat[0]:g}" if wrong.size else f"shape {y.shape}"
            raise ValueError(
                f"The multinomial loss needs class numbers 0, 1, 2, ... of shape (n,), got {got}. Encode "
                f"labels first: classes, y = np.unique(labels, return_inverse=True)."
            )
        return y

    # -------------------------------------------------------------- constant
    def best_constant(  # type: ignore[override]  # one constant per class
        self,
        y: ArrayLike,
        weight: ArrayLike | None = None,
        offset: ArrayLike | None = None,
        *,
        n_classes: int | None = None,
    ) -> np.ndarray:
        """Return the constants, one per class, that minimise ``Σ_i s_i · loss(y_i, offset_i + b)``.

        Parameters
        ----------
        y, weight, offset
            As for other losses, but ``y`` are class numbers and ``offset`` has shape (n, C).
        n_classes : int, optional
            Number of classes ``C``; by default that of ``offset``, or the largest class number plus one.

        Returns
        -------
        ndarray of shape (C,)
            Without offset the logarithms of the classes' shares. A class without rows gets a finite constant
            that puts it at least 30 below the best class of every row, a probability below 1e-13.
        """
        y = self.check_targets(y)
        s = check_weight(weight, len(y))
        if offset is not None:
            offset = _class_columns(np.asarray(offset, dtype=np.float64))
            if len(offset) != len(y) or not np.all(np.isfinite(offset)):
                raise ValueError(
                    f"offset must be finite and of shape ({len(y)}, C), got shape {offset.shape}."
                )
            n_classes = offset.shape[1] if n_classes is None else n_classes
            if n_classes != offset.shape[1]:
                raise ValueError(f"offset has {offset.shape[1]} columns, but n_classes is {n_classes}.")
        C = max(int(y.max()) + 1, 2) if n_classes is None else n_classes
        _check_range(y, C)
        share = np.bincount(y.astype(np.intp), weights=s, minlength=C) / s.sum()
        present = share > 0
        keep = s > 0
        O = np.zeros((1, C)) if offset is None else offset[keep]  # noqa: E741
        b = np.empty(C)
        b[present] = np.log(share[present])
        if offset is not None:
            b[present] = _balance(O[:, present], s[keep] / s.sum(), share[present])
        best = np.max(O[:, present] + b[present], axis=1, keepdims=True)
        b[~present] = np.min(best - O[:, ~present], axis=0) - ONE_SIDED
        return b


def _balance(O: np.ndarray, s: np.ndarray, share: np.ndarray) -> np.ndarray:  # noqa: E741
    """Return ``b`` for which the average softmax of ``O + b`` equals ``share``, up to a common constant.

    It minimises the convex ``Σ_i s_i log Σ_c exp(O_ic + b_c) − shareᵀb``, weights adding up to one, by Newton
    steps that are damped, ``(H + δI)⁻¹``, as much as needed to lower it: with far-apart offsets ``H`` almost
    vanishes.
    """

    def look(b: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        P = softmax(O + b, axis=1)
        return float(s @ logsumexp(O + b, axis=1) - share @ b), P, s @ P - share

    b, damping = np.log(share) - s @ O, 1e-12
    objective, P, slope = look(b)
    for _ in range(1000):
        # the constant direction, in which the objective is flat, is made definite
        H = np.diag(s @ P + damping) - (P * s[:, None]).T @ P + 1.0 / len(share)
        step = np.linalg.solve(H, -slope)
        if np.max(np.abs(step)) <= 1e-15 * max(1.0, float(np.max(np.abs(O + b)))):
            break
        trial, P_trial, slope_trial = look(b + step)
        # close to the minimum the objective rounds to the same number, and the slope decides
        level = trial <= objective + 1e-13 * (1.0 + abs(objective))
        if trial < objective or (level and np.abs(slope_trial).max() < np.abs(slope).max()):
            b, objective, P, slope = b + step, trial, P_trial, slope_trial
            damping = max(damping / 10.0, 1e-14)
        elif damping < 1.0:
            damping *= 10.0
        else:
            break
    return b - logsumexp(b)


def _class_columns(eta: np.ndarray) -> np.ndarray:
    if eta.ndim != 2 or eta.shape[1] < 2:
        raise ValueError(f"eta must have shape (n, C) with one column per class, got {eta.shape}.")
    return eta


def _check_range(y: np.ndarray, n_classes: int) -> None:
    if y.size and not (y.min() >= 0 and y.max() < n_classes):
        raise ValueError(
            f"Class numbers must be 0 to {n_classes - 1} for {n_classes} classes, got {y.min():g} to "
            f"{y.max():g}."
        )
