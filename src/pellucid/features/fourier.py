"""Random Fourier features, of all columns together and of pairs of columns, as scikit-learn transformers."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from pellucid.exceptions import NotEnoughMemoryError
from pellucid.features import fourier_loops
from pellucid.features.pairs import PairMap
from pellucid.kernels import RBF, Kernel, Laplacian, Matern, RationalQuadratic
from pellucid.linalg import available_memory, format_bytes, row_blocks

NAMES = {
    "rbf": RBF,
    "gaussian": RBF,
    "matern": Matern,
    "laplacian": Laplacian,
    "rational_quadratic": RationalQuadratic,
}
_BLOCK = 1 << 26  # bytes of features that are made at a time, and that any machine has


def resolve_kernel(kernel: Any) -> Kernel:
    """Return the kernel for one or the name of one; its length-scale is 1 where a name is given."""
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str) and kernel in NAMES:
        return NAMES[kernel]()
    raise ValueError(
        f"kernel must be one of {', '.join(NAMES)}, or a kernel of the difference of rows from "
        f"pellucid.kernels, such as Matern(nu=2.5); got {kernel!r}."
    )


class _FourierBase(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Checks and row blocks that both maps share."""

    n_components: int
    kernel: Any
    sigma: float
    dtype: str
    random_state: Any

    def _check(self) -> None:
        n = self.n_components
        if not isinstance(n, int | np.integer) or isinstance(n, bool) or n < 1:
            raise ValueError(f"n_components must be a whole number of at least 1, got {n!r}.")
        if not isinstance(self.sigma, int | float | np.number) or not 0 < self.sigma < np.inf:
            raise ValueError(f"sigma must be a positive number, got {self.sigma!r}.")
        if self.dtype not in ("float32", "float64"):
            raise ValueError(f"dtype must be 'float32' or 'float64', got {self.dtype!r}.")

    def _frequencies(self, n: int, dim: int) -> np.ndarray:
        rng = check_random_state(self.random_state)
        return resolve_kernel(self.kernel).sample_frequencies(n, dim, rng) / float(self.sigma)

    def _rows(self, X: Any, *, reset: bool, least: int = 1) -> np.ndarray:
        return validate_data(self, X, reset=reset, dtype=[np.float64, np.float32], ensure_min_features=least)

    def _require(self, n: int, width: int) -> None:
        need = float(n) * width * np.dtype(self.dtype).itemsize
        if need <= _BLOCK:
            return
        have = available_memory()
        if need > 0.9 * have:
            fits = int(0.9 * have / (width * np.dtype(self.dtype).itemsize))
            raise NotEnoughMemoryError(
                f"The features of {n} rows, {width} numbers each, need {format_bytes(need)}, but only "
                f"{format_bytes(have)} of memory is available. About {fits} rows would fit: transform them "
                f"in parts, or lower n_components (now {self.n_components})."
            )

    @property
    def _n_features_out(self) -> int:
        """Number of features, for names of columns."""
        return self.n_features_out_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


class PairwiseFourierFeatures(_FourierBase):
    r"""Random Fourier features of every pair of columns, with the same frequencies for all pairs.

    Row x becomes, for each pair :math:`p < q` of D columns and each of d/2 frequencies,

    .. math:: \sqrt{\tfrac{2}{K d}} \left(\cos \omega_i^T x^{(p,q)},\; \sin \omega_i^T x^{(p,q)}\right),
              \qquad K = \tfrac{D (D - 1)}{2},

    so that the inner product of two rows estimates the mean over all pairs of the kernel of the pair. By
    :math:`e^{i(\omega_1 u + \omega_2 v)} = e^{i \omega_1 u} e^{i \omega_2 v}` only O(D d) sines and cosines
    are taken per row; the K d features are products of them.

    Columns should be on one scale, and new rows within the range of the training rows: features never go
    flat.

    Parameters
    ----------
    n_components : int, default=20
        Number d of features per pair; an odd one is raised by one, as they come as cosine and sine. The error
        of the estimate falls like :math:`1/\sqrt d`.
    kernel : str or Kernel, default="rbf"
        "rbf", "matern", "laplacian", "rational_quadratic", or a kernel that has a spectral sampler.
    sigma : float, default=1.0
        Length-scale by which columns are divided; larger is smoother. It multiplies that of ``kernel``.
    dtype : {"float32", "float64"}, default="float32"
        Precision of the features.
    random_state : int, RandomState instance or None, default=0
        Source of the frequencies.

    Attributes
    ----------
    frequencies_ : ndarray of shape (d / 2, 2)
        The frequencies.
    pairs_ : list of tuples
        The pairs of columns, in the order of the features.
    n_features_out_ : int
        Number of features K d.

    Notes
    -----
    With numba installed (extra ``fast``) the loops are compiled; results agree to rounding error.

    References
    ----------
    Zhang, H., Nakadai, S., Fukumizu, K.: From black-box to white-box: interpretable learning with kernel
    machines (2018).
    Rahimi, A., Recht, B.: Random features for large-scale kernel machines (2007).

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.features import PairwiseFourierFeatures
    >>> X = np.random.default_rng(0).normal(size=(5, 4))
    >>> Z = PairwiseFourierFeatures(n_components=10).fit_transform(X)
    >>> Z.shape, Z.dtype
    ((5, 60), dtype('float32'))
    >>> np.sum(Z**2, axis=1).round(4)
    array([1., 1., 1., 1., 1.], dtype=float32)
    """

    def __init__(
        self,
        n_components: int = 20,
        *,
        kernel: Any = "rbf",
        sigma: float = 1.0,
        dtype: str = "float32",
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.sigma = sigma
        self.dtype = dtype
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the frequencies.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            At least two columns.
        y : None
            Ignored.

        Returns
        -------
        self : PairwiseFourierFeatures
        """
        self._check()
        X = self._rows(X, reset=True, least=2)
        self.frequencies_ = self._frequencies((self.n_components + 1) // 2, 2)
        self._map = PairMap(self.frequencies_, X.shape[1], np.dtype(self.dtype).type)
        self.pairs_ = self._map.pairs
        self.n_features_out_ = self._map.F
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the features.

        Parameters
        ----------
        X : array-like of shape (n, n_features)

        Returns
        -------
        Z : ndarray of shape (n, K d)
            Pairs in the order of ``pairs_``; within a pair cos ω₁, sin ω₁, cos ω₂ and so on.
        """
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        self._require(len(X), self._map.F)
        out = np.empty((len(X), self._map.F), dtype=self.dtype)
        for rows in row_blocks(len(X), self._map.F * out.itemsize, _BLOCK):
            self._map.features(X[rows], out[rows])
        return out


class RandomFourierFeatures(_FourierBase):
    r"""Random Fourier features of all columns together.

    .. math:: \phi(x) = \sqrt{\tfrac2d} \left(\cos \omega_1^T x,\; \sin \omega_1^T x,\; \dots\right), \qquad
              \mathrm{E}\, \phi(x)^T \phi(z) = k(x, z) .

    Parameters
    ----------
    n_components : int, default=100
        Number d of features; an odd one is raised by one.
    kernel, sigma, dtype, random_state
        As in :class:`PairwiseFourierFeatures`.

    Attributes
    ----------
    frequencies_ : ndarray of shape (d / 2, n_features)
        The frequencies.
    n_features_out_ : int
        Number of features d.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.features import RandomFourierFeatures
    >>> from pellucid.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(3, 4))
    >>> Z = RandomFourierFeatures(20000, dtype="float64").fit_transform(X)
    >>> bool(np.max(np.abs(Z @ Z.T - RBF()(X))) < 0.03)
    True
    """

    def __init__(
        self,
        n_components: int = 100,
        *,
        kernel: Any = "rbf",
        sigma: float = 1.0,
        dtype: str = "float32",
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.sigma = sigma
        self.dtype = dtype
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the frequencies.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        y : None
            Ignored.

        Returns
        -------
        self : RandomFourierFeatures
        """
        self._check()
        X = self._rows(X, reset=True)
        self.frequencies_ = self._frequencies((self.n_components + 1) // 2, X.shape[1])
        self.n_features_out_ = 2 * len(self.frequencies_)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the features.

        Parameters
        ----------
        X : array-like of shape (n, n_features)

        Returns
        -------
        Z : ndarray of shape (n, d)
            cos ω₁, sin ω₁, cos ω₂ and so on.
        """
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        d = self.n_features_out_
        self._require(len(X), d)
        out = np.empty((len(X), d), dtype=self.dtype)
        scale = out.dtype.type(np.sqrt(2.0 / d))
        for rows in row_blocks(len(X), d * 8.0, _BLOCK):
            phase = (X[rows].astype(float) @ self.frequencies_.T).astype(out.dtype)
            fourier_loops.sincos(phase, out[rows].view(np.result_type(out.dtype, np.complex64)))
            out[rows] *= scale
        return out
