r"""A fitted model as numbers that other programs can compute with: features, axes, terms, response.

The score of output ``c`` is :math:`b_c + \sum_t g_{tc}(x)`. Three kinds of terms are enough for all our
models of terms and coefficients:

*products* of functions of single features, :math:`g = \sum_k \prod_a F_{ak}(x_a)`, where each :math:`F` is a
table on the points of an *axis*, straight between knots. A main effect is one such function; a surface is a
sum of a few products, because the table of a pair has low rank, and interpolating :math:`\sum_k l_k r_k^\top`
between the points is the same as interpolating the :math:`l_k` and :math:`r_k`.

*waves* :math:`g = a + \sum_k c_k \cos(\omega_k^\top u) + s_k \sin(\omega_k^\top u)` in features that were
*warped* to :math:`u` by such a table.

*lines* :math:`g = \gamma x`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Feature:
    """One input.

    Attributes
    ----------
    name : str
        Name of the column.
    levels : tuple of str or None
        Levels of a category, as text; ``None`` for numbers.
    dates : bool
        Whether the numbers are days since 1970.
    """

    name: str
    levels: tuple[str, ...] | None = None
    dates: bool = False


@dataclass(frozen=True)
class ScoreAxis:
    """Points of one feature; tables on it have ``size + 1`` entries, the last for all that is none of them.

    Attributes
    ----------
    feature : int
        Number of the feature.
    knots : ndarray
        Increasing numbers; empty where the points are levels.
    levels : int
        How many levels come first among the points, zero for numbers.
    size : int
        Number of points.
    missing : int or None
        Point of a missing value; ``None`` where the model needs one.
    other : int
        Point of a level that training did not see.
    """

    feature: int
    knots: np.ndarray
    levels: int
    size: int
    missing: int | None
    other: int

    @property
    def is_levels(self) -> bool:
        """Whether the points are levels."""
        return self.levels > 0

    def locate(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Point to the left of numbers (level numbers, -1 for unseen ones), and the way to the next."""
        gone, k = np.isnan(values), len(self.knots)
        w = np.zeros(len(values))
        if self.is_levels:
            i = np.where(gone | (values < 0), self.other, values).astype(np.intp)
        elif k < 2:
            i = np.full(len(values), 0 if k else self.size, dtype=np.intp)
        else:
            i = np.clip(np.searchsorted(self.knots, values, "right") - 1, 0, k - 2)
            w = np.clip((values - self.knots[i]) / (self.knots[i + 1] - self.knots[i]), 0.0, 1.0)
        if self.missing is not None:
            i[gone], w[gone] = self.missing, 0.0
        return i, w


@dataclass(frozen=True)
class Products:
    """A sum of products of tables.

    Attributes
    ----------
    name : str
        Name of the term.
    axes : tuple of int
        Numbers of one or two axes.
    factors : tuple of ndarray of shape (size + 1, K)
        Tables, for each of the axes.
    outputs : ndarray of shape (K,)
        Output to which each product belongs.
    """

    name: str
    axes: tuple[int, ...]
    factors: tuple[np.ndarray, ...]
    outputs: np.ndarray


@dataclass(frozen=True)
class Waves:
    """A sum of waves in one or two warped features.

    Attributes
    ----------
    name : str
        Name of the term.
    axes : tuple of int
        Numbers of the axes whose warps are the inputs.
    omega : ndarray of shape (K, len(axes))
        Frequencies.
    cos, sin : ndarray of shape (K, q)
        Weights.
    constant : ndarray of shape (q,)
        Constants.
    """

    name: str
    axes: tuple[int, ...]
    omega: np.ndarray
    cos: np.ndarray
    sin: np.ndarray
    constant: np.ndarray


@dataclass(frozen=True)
class Line:
    """A coefficient: ``coef`` of shape (q,) times the feature of this number."""

    name: str
    feature: int
    coef: np.ndarray


ScoreTerm = Products | Waves | Line


@dataclass(frozen=True)
class Response:
    """From scores to predictions.

    Attributes
    ----------
    link : str
        "identity"; "exp", of scores cut at -708 and 709; "logistic", of the second of two classes; "shares":
        logistic values of all classes divided by their sum; "softmax"; "none": classes without probabilities.
    classes : tuple or None
        The classes.
    slope : float
        What scores are multiplied with before the link.
    single : bool
        Whether a regression has one target, and predictions one dimension.
    """

    link: str
    classes: tuple[Any, ...] | None = None
    slope: float = 1.0
    single: bool = True

    @property
    def has_probabilities(self) -> bool:
        """Whether there are class probabilities."""
        return self.classes is not None and self.link != "none"

    def mean(self, scores: np.ndarray) -> np.ndarray:
        """Predictions of a regression, or probabilities of all classes, for scores of shape (n, q)."""
        scores = self.slope * scores
        if self.link == "exp":
            return np.exp(np.clip(scores, -708.0, 709.0))
        if self.link == "logistic":
            p = _expit(scores[:, 0])
            return np.column_stack([1.0 - p, p])
        if self.link == "shares":
            p = _expit(scores)
            return p / p.sum(axis=1, keepdims=True)
        if self.link == "softmax":
            e = np.exp(scores - scores.max(axis=1, keepdims=True))
            return e / e.sum(axis=1, keepdims=True)
        return scores

    def labels(self, scores: np.ndarray) -> np.ndarray:
        """Predicted classes."""
        assert self.classes is not None
        best = (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)
        return np.array(self.classes)[best]


def _expit(x: np.ndarray) -> np.ndarray:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * x)))


def low_rank(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Factors ``L`` and ``R`` with ``table = L Rᵀ`` to rounding, with as few columns as that takes.

    Examples
    --------
    >>> L, R = low_rank(np.outer([1.0, 2.0, 3.0], [1.0, 5.0]))
    >>> L.shape, bool(np.allclose(L @ R.T, [[1, 5], [2, 10], [3, 15]]))
    ((3, 1), True)
    """
    U, s, Vt = np.linalg.svd(table, full_matrices=False)
    r = int(np.sum(s > 1e-14 * max(table.shape) * np.max(s, initial=0.0)))
    root = np.sqrt(s[:r])
    L, R = U[:, :r] * root, Vt[:r].T * root
    L[~table.any(axis=1)], R[~table.any(axis=0)] = 0.0, 0.0
    return L, R


def sequence_of(values: Sequence[Any]) -> tuple[Any, ...]:
    """Classes as plain Python values."""
    return tuple(v.item() if isinstance(v, np.generic) else v for v in values)
