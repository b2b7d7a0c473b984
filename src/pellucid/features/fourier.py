"""Random Fourier features, of all columns together and of pairs of columns, as scikit-learn transformers."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from pellucid._docs import inherit_docs, store_parameters
from pellucid.data.parameters import check_count
from pellucid.data.table import collected
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
    """Checks, frequencies and row blocks that both maps share.

    Parameters
    ----------
    kernel : str or Kernel, default="rbf"
        "rbf", "matern", "laplacian", "rational_quadratic", or a kernel that has a spectral sampler.
    sigma : float, default=1.0
        Length-scale by which columns are divided; larger is smoother. It multiplies that of ``kernel``.
    dtype : {"float32", "float64"}, default="float32"
        Precision of the features.
    random_state : int, RandomState instance or None, default=0
        Source of the frequencies.
    """

    n_features_out_: int
    _together = 0  # columns that a feature sees; all of them if zero

    def __init__(
        self,
        n_components: int = 20,
        *,
        kernel: Any = "rbf",
        sigma: float = 1.0,
        dtype: str = "float32",
        random_state: Any = 0,
    ) -> None:
        store_parameters(self, locals())

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the frequencies.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            At least two columns for pairs of them.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        check_count(self.n_components, "n_components", 1)
        if not isinstance(self.sigma, int | float | np.number) or not 0 < self.sigma < np.inf:
            raise ValueError(f"sigma must be a positive number, got {self.sigma!r}.")
        if self.dtype not in ("float32", "float64"):
            raise ValueError(f"dtype must be 'float32' or 'float64', got {self.dtype!r}.")
        D = self._rows(X, reset=True, least=max(1, self._together)).shape[1]
        rng = check_random_state(self.random_state)
        omega = resolve_kernel(self.kernel).sample_frequencies(
            (self.n_components + 1) // 2, self._together or D, rng
        )
        self.frequencies_ = omega / float(self.sigma)
        self._prepare(D)
        return self

    @abstractmethod
    def _prepare(self, D: int) -> None:
        """Store what features of ``D`` columns need."""

    @abstractmethod
    def _write(self, X: np.ndarray, out: np.ndarray) -> None:
        """Write the features of a block of rows."""

    def transform(self, X: Any) -> np.ndarray:
        """Return the features.

        Parameters
        ----------
        X : array-like of shape (n, n_features)

        Returns
        -------
        Z : ndarray of shape (n, n_features_out)
            cos ω₁, sin ω₁, cos ω₂ and so on; of pairs of columns first those of the first pair.
        """
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        self._require(len(X), self.n_features_out_)
        out = np.empty((len(X), self.n_features_out_), dtype=self.dtype)
        for rows in row_blocks(len(X), self.n_features_out_ * 8.0, _BLOCK):
            self._write(X[rows], out[rows])
        return out

    def _rows(self, X: Any, *, reset: bool, least: int = 1) -> np.ndarray:
        return validate_data(
            self, collected(X), reset=reset, dtype=[np.float64, np.float32], ensure_min_features=least
        )

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


@inherit_docs
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
    {kernel, sigma, dtype, random_state}

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

    _together = 2

    def _prepare(self, D: int) -> None:
        self._map = PairMap(self.frequencies_, D, np.dtype(self.dtype).type)
        self.pairs_, self.n_features_out_ = self._map.pairs, self._map.F

    def _write(self, X: np.ndarray, out: np.ndarray) -> None:
        self._map.features(X, out)


@inherit_docs
class RandomFourierFeatures(_FourierBase):
    r"""Random Fourier features of all columns together.

    .. math:: \phi(x) = \sqrt{\tfrac2d} \left(\cos \omega_1^T x,\; \sin \omega_1^T x,\; \dots\right), \qquad
              \mathrm{E}\, \phi(x)^T \phi(z) = k(x, z) .

    Parameters
    ----------
    n_components : int, default=100
        Number d of features; an odd one is raised by one.
    {kernel, sigma, dtype, random_state}

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
        store_parameters(self, locals())

    def _prepare(self, D: int) -> None:
        self.n_features_out_ = 2 * len(self.frequencies_)

    def _write(self, X: np.ndarray, out: np.ndarray) -> None:
        phase = (X.astype(float) @ self.frequencies_.T).astype(out.dtype)
        fourier_loops.sincos(phase, out.view(np.result_type(out.dtype, np.complex64)))
        out *= out.dtype.type(np.sqrt(2.0 / self.n_features_out_))
