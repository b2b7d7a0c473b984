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

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import expit, softmax

from pellucid.losses import Ordinal


@dataclass(frozen=True)
class Feature:
    """One input."""

    name: str
    levels: tuple[str, ...] | None = None  # of a category, as text; None for numbers
    dates: bool = False  # whether the numbers are days since 1970


@dataclass(frozen=True)
class ScoreAxis:
    """Points of one feature; tables have ``size + 1`` entries, the last for all that is none of them."""

    feature: int  # number of the feature
    knots: np.ndarray  # increasing numbers; empty where the points are levels
    levels: int  # how many levels come first among the points, zero for numbers
    size: int  # number of points
    missing: int | None  # point of a missing value; None where the model needs one
    other: int  # point of a level that training did not see

    @classmethod
    def of(cls, feature: int, knots: Any, levels: int = 0) -> Self:
        """The axis of a model that takes no missing values."""
        size = levels or len(knots)
        return cls(feature, np.asarray([] if levels else knots, dtype=float), levels, size, None, size)

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
    """A sum of products of tables."""

    name: str
    axes: tuple[int, ...]  # numbers of one or two axes
    factors: tuple[np.ndarray, ...]  # a table of shape (size + 1, K) for each of the axes
    outputs: np.ndarray  # (K,): output to which each product belongs


@dataclass(frozen=True)
class Waves:
    """A sum of waves in one or two warped features."""

    name: str
    axes: tuple[int, ...]  # numbers of the axes whose warps are the inputs
    omega: np.ndarray  # (K, len(axes)): frequencies
    cos: np.ndarray  # (K, q): weights
    sin: np.ndarray  # (K, q)
    constant: np.ndarray  # (q,)


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

    Links are "identity"; "exp", of scores cut at -708 and 709; "expit", of a proportion; "ordered", of
    quantiles that may have crossed; "logistic", of the second of two classes;
    "shares": logistic values of all classes divided by their sum; "softmax"; "ordinal", of ordered classes
    with thresholds between them; "none": classes without probabilities.
    """

    link: str
    classes: tuple[Any, ...] | None = None
    slope: float = 1.0  # what scores are multiplied with before the link
    single: bool = True  # whether a regression has one target, and predictions one dimension
    thresholds: tuple[float, ...] = ()  # between ordinal classes, whose link is "ordinal"
    ranks: tuple[int, ...] = ()  # of the levels of quantiles, whose link is "ordered"

    @property
    def has_probabilities(self) -> bool:
        """Whether there are class probabilities."""
        return self.classes is not None and self.link != "none"

    def mean(self, scores: np.ndarray) -> np.ndarray:
        """Predictions of a regression, or probabilities of all classes, for scores of shape (n, q)."""
        scores = self.slope * scores
        if self.link == "exp":
            return np.exp(np.clip(scores, -708.0, 709.0))
        if self.link == "expit":
            return np.asarray(expit(scores))
        if self.link == "softmax":
            return np.asarray(softmax(scores, axis=1))
        if self.link == "logistic":
            return np.hstack([1.0 - expit(scores), expit(scores)])
        if self.link == "shares":
            return np.asarray(expit(scores) / expit(scores).sum(axis=1, keepdims=True))
        if self.link == "ordinal":
            return Ordinal(self.thresholds).probabilities(scores[:, 0])
        if self.link == "ordered":
            return np.asarray(np.sort(scores, axis=1)[:, list(self.ranks)])
        return scores

    def labels(self, scores: np.ndarray) -> np.ndarray:
        """Predicted classes."""
        assert self.classes is not None
        scores = self.mean(scores) if self.link == "ordinal" else scores
        best = (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)
        return np.array(self.classes)[best]


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
